"""Faults planted into a mechanism after a pass, and which of them the same search finds."""

import json
import math
from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import auditor
from auditor.auditing.flow import carry_out
from auditor.auditing.planted import (
    EFFECTS,
    RARELY,
    PlantedFault,
    effects_for,
    faults_of_kinds,
    planted_faults,
    probed_from,
    shown_by_outputs,
)
from auditor.auditing.warnings import Caveat, select_caveats
from auditor.blackbox.canonical import from_batch, from_list
from auditor.blackbox.outputs import Outputs
from auditor.blackbox.sample import Sample
from auditor.blackbox.sampling import Execution
from auditor.cli import main
from auditor.config.load import load_configuration
from auditor.methods import method_for
from auditor.neighbours.facts import Fact
from auditor.neighbours.pair import Pair
from auditor.neighbours.search import Listed
from auditor.results.result import Probed

Rng = np.random.Generator
PEOPLE = auditor.Records((0.0, 1.0), size=(0, 10))
OPTIONS: dict[str, Any] = {"samples": 20_000, "seed": 1, "workers": 1, "isolate": False}
EMPTY = PlantedFault(Fact("no records"), EFFECTS[0])


def count(records: Any, size: int, rng: Rng) -> Any:
    return len(records) + rng.laplace(size=size)


def broken(records: Any, size: int, rng: Rng) -> Any:
    return len(records) + rng.laplace(0, 0.2, size)


def numbers(size: int, shape: tuple[int, ...] = ()) -> Outputs:
    return from_batch(np.random.default_rng(0).laplace(size=(size, *shape)), size)


def some_faults(most: int) -> list[PlantedFault]:
    of_kinds = faults_of_kinds(Listed(PEOPLE), numbers(100), np.random.default_rng(3), most, (*EFFECTS, RARELY), {})
    return planted_faults(of_kinds, most, rarely=True)


@pytest.mark.parametrize("effect", EFFECTS, ids=lambda effect: effect.words)
@pytest.mark.parametrize("shape", [(), (3,)])
def test_an_effect_changes_the_outputs_that_are_hit_and_no_others(effect: Any, shape: tuple[int, ...]) -> None:
    outputs, hit = numbers(200, shape), np.arange(200) % 3 == 0
    changed = effect.change(outputs, hit)
    if changed is None:
        assert shape == () and effect.words.startswith("a part is missing")
        return
    assert changed.size == 200
    names = [column.name for column in changed.columns]
    same = [_row(changed, names, i) == _row(outputs, names, i) for i in range(200)]
    assert np.array_equal(same, ~hit)


def _row(outputs: Outputs, names: list[str], i: int) -> list[Any]:
    columns = [outputs.column(name) for name in names]
    return [c.numbers[i] if c.codes is None or c.codes[i] < 0 else c.atoms[c.codes[i]] for c in columns]


def test_outputs_of_texts_can_only_be_null() -> None:
    texts = from_list(["yes", "no"] * 50)
    changed = [effect.words for effect in EFFECTS if effect.change(texts, np.ones(100, np.bool_)) is not None]
    assert changed == [effect.words for effect in EFFECTS if "null" in effect.words]


def test_a_fault_shows_on_data_with_the_fact_only() -> None:
    facts_of_audit: dict[str, frozenset[Fact]] = {}
    assert EMPTY.touched(Pair([], [1]), facts_of_audit) == (True, False)
    assert EMPTY.touched(Pair([1], []), facts_of_audit) == (False, True)
    assert EMPTY.touched(Pair([2], [1]), facts_of_audit) == (False, False)
    sample = Sample(numbers(100), numbers(100))

    def means(seen: Sample) -> tuple[float, float]:
        return seen.left.column("output").numbers.mean(), seen.right.column("output").numbers.mean()

    left, right = means(EMPTY.planted_in(sample, (True, False)))
    assert right == means(sample)[1]
    assert left > means(sample)[0] + 5


def test_faults_tell_neighbours_apart_and_are_the_same_for_a_seed() -> None:
    faults = [some_faults(12) for _ in range(2)]
    assert faults[0] == faults[1]
    assert len(set(faults[0])) == 12
    rng = np.random.default_rng(4)
    pairs = [*PEOPLE.corners(), *(PEOPLE.random(rng) for _ in range(1000))]
    facts: dict[str, frozenset[Fact]] = {}
    for fault in faults[0]:
        assert any(left != right for left, right in (fault.touched(pair, facts) for pair in pairs)), fault


@pytest.fixture(scope="module")
def passed() -> auditor.AuditResult:
    return auditor.audit(count, auditor.PureDP(1.0), PEOPLE, planted=6, **OPTIONS)


def test_a_pass_says_what_the_search_found_of_planted_faults(passed: auditor.AuditResult) -> None:
    planted = passed.planted
    assert passed.verdict == "no_violation_found" and planted is not None
    assert 3 <= planted.all <= 6
    assert len(planted.found) >= 3
    assert str(passed).splitlines()[1].startswith(f"Planted faults found: {len(planted.found)} of {planted.all}")
    assert passed.to_dict()["tried"]["planted"]["found"] == list(planted.found)


def test_faults_change_nothing_else_of_the_audit(passed: auditor.AuditResult) -> None:
    again, without = (auditor.audit(count, auditor.PureDP(1.0), PEOPLE, planted=most, **OPTIONS) for most in (6, 0))
    assert again.planted == passed.planted
    assert without.planted is None
    assert (passed.bound, passed.pair, passed.outputs) == (without.bound, without.pair, without.outputs)


@pytest.mark.parametrize("most", [1, 2, 12])
def test_as_many_faults_are_planted_as_are_asked_for(most: int) -> None:
    assert len(some_faults(most)) == most


def test_nothing_is_planted_after_a_violation_or_if_there_is_one_pair() -> None:
    assert auditor.audit(broken, auditor.PureDP(1.0), PEOPLE, planted=40, **OPTIONS).planted is None
    assert auditor.audit(count, auditor.PureDP(1.0), [([], [1.0])], planted=40, **OPTIONS).planted is None


def test_a_pass_that_proves_no_loss_is_weak() -> None:
    """A coin that reads no data passes any claim, and so does a mechanism that cannot read the form of its data sets."""
    result = auditor.audit(lambda value, size, rng: rng.integers(0, 2, size), auditor.PureDP(1.0), PEOPLE, **OPTIONS)
    assert result.bound is not None
    assert result.bound.value == 0
    assert result.weak
    # This mechanism does ignore its data, and outputs with the same noise show it.
    assert any(warning.startswith("weak: with the same seed, outputs were identical") for warning in result.warnings)
    lossless = auditor.audit(lambda value, size, rng: rng.integers(0, 2, size), auditor.PureDP(0.0), PEOPLE, **OPTIONS)
    assert any(warning.startswith("with the same seed") for warning in lossless.warnings)
    assert not any(warning.startswith("weak: with the same seed") for warning in lossless.warnings)


def test_a_loss_that_does_not_show_is_not_taken_for_none() -> None:
    """A sound median by the exponential mechanism loses up to ε on some data sets, and less than its noise hides on most."""

    def median(records: Any, size: int, rng: np.random.Generator) -> Any:
        ranks = np.searchsorted(np.sort(records), np.arange(10))
        weights = np.exp(-0.01 * np.abs(ranks - len(records) / 2))
        return rng.choice(10, size, p=weights / weights.sum())

    domain = auditor.Records((0, 9), integer=True, size=(0, 10))
    for samples in (1_000, 20_000):
        result = auditor.audit(median, auditor.PureDP(1.0), domain, **OPTIONS | {"samples": samples})
        assert result.bound is not None
        assert result.bound.value == 0
        assert not any("no loss" in warning or "identical" in warning for warning in result.warnings)


def test_only_faults_that_the_outputs_would_show_are_planted() -> None:
    """By counting: an effect is planted if and only if so many outputs refute it in 95 of 100 cases."""
    effects = [*effects_for(auditor.PureDP(1.0)), RARELY]
    words = {
        samples: {
            each.words for each in shown_by_outputs(effects, method_for(auditor.PureDP(1.0), "fixed", 1e-3, samples))
        }
        for samples in (1_000, 20_000, 200_000)
    }
    often = {
        "the answer is shifted",
        "1 of 10 answers is null",
        "the answer has two decimals",
        "a part is missing from half of the answers",
    }
    assert words[1_000] == often | {"the loss is twice the claim"}
    assert words[20_000] == words[1_000] | {"1 of 100 answers is null"}
    assert words[200_000] == words[20_000] | {"1 of 1,000 answers is null"}
    # A rule for μ never abstains, and a rare answer shows it nothing.
    of_mu = shown_by_outputs(
        effects_for(auditor.GaussianDP(1.0)), method_for(auditor.GaussianDP(1.0), "fixed", 1e-3, 20_000)
    )
    assert {each.words for each in of_mu} == often - {"1 of 10 answers is null"} | {"the loss is twice the claim"}
    assert shown_by_outputs(effects, method_for(auditor.PureDP(8.0), "fixed", 1e-3, 4_000)) == []


def test_kinds_of_facts_have_equal_shares_of_the_faults() -> None:
    faults = some_faults(41)
    kinds = Counter(fault.fact.kind for fault in faults if fault.fact.kind != "any content")
    assert len(set(faults)) == 41 and len(kinds) >= 6
    # Four effects change a number, so a kind with a single fact has four faults.
    assert min(kinds.values()) == 4 and max(kinds.values()) <= 7


def test_a_search_that_sees_too_little_is_weak(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A search of 375 outputs among a hundred values misses most planted faults."""
    domain = auditor.Records((0, 99), integer=True, size=(0, 60))
    few = OPTIONS | {"samples": 1_000, "planted": 40}

    def even(records: Any, size: int, rng: Rng) -> Any:
        return rng.random(size) < 0.5 + 0.1 * (len(records) % 2)

    result = auditor.audit(even, auditor.PureDP(1.0), domain, **few)
    assert result.planted is not None and result.planted.too_few
    assert result.weak
    found = "weak: of 40 planted faults that these outputs would show on the right pair, the search finds "
    found += f"{len(result.planted.found)}"
    [warning] = [warning for warning in result.warnings if warning.startswith(found)]
    if result.planted.with_more is None:
        assert "would not be enough: name fewer data sets" in warning
    else:
        times, more = result.planted.with_more
        assert f"raise `samples` to {1_000 * times:,}, with which it finds {more}" in warning and more > 15
    accepted = auditor.audit(even, auditor.PureDP(1.0), domain, weak="a coin is enough", **few)
    assert accepted.weak and accepted.accepted == "a coin is enough" and accepted.warnings == result.warnings
    (tmp_path / "coin.py").write_text(
        "def even(records, size, rng):\n    return rng.random(size) < 0.5 + 0.1 * (len(records) % 2)\n"
    )
    monkeypatch.chdir(tmp_path)

    def ends(weak: str, *options: str) -> int:
        (tmp_path / "coin.yaml").write_text(
            "version: 1\nsamples: 1_000\nplanted: 40\nseed: 1\nexecution: {workers: 1, isolate: false}\naudits:\n"
            f"  - {{name: coin, mechanism: coin.py:even, claim: {{epsilon: 1.0}}{weak},\n"
            "     neighbours: {domain: records, record: {integer: true, low: 0, high: 99}, size: {low: 0, high: 60}}}\n"
        )
        return main(["run", "coin.yaml", "--quiet", *options])

    assert (ends(""), ends("", "--strict")) == (0, 1)
    assert ends(", weak: it is a coin", "--strict") == 0
    [entry] = json.loads((tmp_path / "reports/coin/report.json").read_text(encoding="utf-8"))["audits"]
    assert (entry["weak"], entry["accepted"], entry["passed"]) == (True, "it is a coin", True)
    assert main(["show", "reports/coin/report.json"]) == 0
    assert ends(", weak: allowed") == 2


def test_a_search_that_misses_single_values_is_weak(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a hundred values, 1,500 outputs cannot try each. A fault that shows on one of them is missed, and the pass says so."""
    hundred = auditor.Records((0, 99), integer=True, size=(0, 10))
    options = OPTIONS | {"samples": 4_000, "planted": 40}
    passes = [auditor.audit(count, auditor.PureDP(1.0), hundred, **options | {"seed": seed}) for seed in range(1, 6)]
    weak = [one for one in passes if one.planted is not None and "a certain value" in one.planted.kinds_missed]
    # Three of 24 are found on average, and all but one of ten searches find at most six.
    assert len(weak) >= 3
    for one in weak:
        assert one.planted is not None and one.weak
        found, of_kind = one.planted.kinds_missed["a certain value"]
        assert of_kind == 24 and found <= 6
        # Of all faults, this search finds most: without the kinds, nothing would be said.
        assert len(one.planted.found) > 15
        [warning] = [warning for warning in one.warnings if warning.startswith("weak: ")]
        assert f", but {found} of 24 on data with a certain value" in warning or "and" in warning
        assert "raise `samples` to " in warning and warning.endswith("with which it finds enough of them")
    # A recording keeps which kinds are missed.
    (tmp_path / "count.py").write_text(
        "def count(records, size, rng):\n    return len(records) + rng.laplace(size=size)\n"
    )
    (tmp_path / "count.yaml").write_text(
        "version: 1\nsamples: 4_000\nplanted: 40\nseed: 2\nexecution: {workers: 1, isolate: false}\naudits:\n"
        "  - {name: count, mechanism: count.py:count, claim: {epsilon: 1.0},\n"
        "     neighbours: {domain: records, record: {integer: true, low: 0, high: 99}, size: {low: 0, high: 10}}}\n"
    )
    monkeypatch.chdir(tmp_path)
    assert main(["run", "count.yaml", "--quiet", "--record", "kept"]) == 0
    assert main(["replay", "kept", "--quiet", "--out", "again"]) == 0
    run, replayed = (
        json.loads(file.read_text(encoding="utf-8"))["audits"][0]["tried"]["planted"]
        for file in (tmp_path / "reports/count/report.json", next(tmp_path.glob("again/**/report.json")))
    )
    assert run == replayed and run["kinds_missed"]


@pytest.mark.parametrize("more", [None, (4, 20)])
def test_what_a_store_kept_is_as_it_was(more: tuple[int, int] | None) -> None:
    probed = Probed(["a fault"], ["another"], more, {"a certain value": (3, 24)})
    assert probed_from(json.loads(json.dumps(asdict(probed)))) == probed


def test_a_search_that_tries_each_value_is_not_weak() -> None:
    four = auditor.Records((0, 3), integer=True, size=(0, 10))
    for seed in range(1, 4):
        options = OPTIONS | {"samples": 4_000, "planted": 40, "seed": seed}
        result = auditor.audit(count, auditor.PureDP(1.0), four, **options)
        assert result.planted is not None and not result.planted.kinds_missed
        assert not result.weak


def test_a_proof_for_the_whole_domain_is_never_weak() -> None:
    """This holds however much a search with so few outputs might have missed."""
    file = Path(__file__).parents[3] / "configs" / "quickstart.yaml"
    [plan, *_] = load_configuration(file, samples=100, workers=1).plans
    execution = Execution(workers=1, isolate=False)
    proved, unproved = (
        carry_out(plan.with_settings(prove=prove, execution=execution)).result() for prove in (True, False)
    )
    assert unproved.weak
    assert proved.proof is not None and proved.proof.proved
    assert not proved.weak
    assert not any(warning.startswith("weak") for warning in proved.warnings)


def test_a_warning_of_a_proved_claim_does_not_call_it_weak() -> None:
    caveats = [Caveat("weak: nothing differs"), Caveat("weak: not read", "unless violated"), Caveat("all are slow")]
    shown = [select_caveats(caveats, ["weak: few"], violated=False, proved=proved) for proved in (True, False)]
    assert shown[0] == ("nothing differs", "all are slow")
    assert shown[1] == ("weak: not read", "weak: few", "weak: nothing differs", "all are slow")


def test_an_effect_of_twice_the_claim_shows_on_both_sides() -> None:
    claim = auditor.PureDP(1.0)
    *_, effect = effects_for(claim)
    assert math.log(effect.share / effect.otherwise) == pytest.approx(2.0)
    fault, sample = PlantedFault(Fact("no records"), effect), Sample(numbers(4_000), numbers(4_000))

    def nulls(seen: Sample) -> list[float]:
        columns = [side.columns[0] for side in (seen.left, seen.right)]
        return [0.0 if column.codes is None else float((column.codes >= 0).mean()) for column in columns]

    # Five standard deviations: both fail by chance with probability 1e-6.
    expected = pytest.approx([effect.share, effect.otherwise], abs=5 * math.sqrt(1 / 4 / 4_000))
    assert nulls(fault.planted_in(sample, (True, False))) == expected


@pytest.mark.parametrize("claim", [auditor.PureDP(0.0), auditor.PureDP(400.0)])
def test_a_claim_that_has_no_twice_has_no_such_effect(claim: auditor.PureDP) -> None:
    assert effects_for(claim) == list(EFFECTS)


def test_an_audit_without_a_search_has_no_look_at_a_fault() -> None:
    result = auditor.audit(count, auditor.PureDP(1.0), PEOPLE, search=0, planted=40, **OPTIONS)
    assert result.verdict == "no_violation_found"
