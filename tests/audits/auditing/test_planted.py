"""Faults planted into a mechanism after a pass, and which of them the same search finds."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import auditor
from auditor.auditing.flow import carry_out
from auditor.auditing.planted import EFFECTS, PlantedFault, effects_for, planted_faults
from auditor.blackbox.canonical import from_batch, from_list
from auditor.blackbox.outputs import Outputs
from auditor.blackbox.sample import Sample
from auditor.blackbox.sampling import Execution
from auditor.cli import main
from auditor.config.load import load_configuration
from auditor.neighbours.facts import Fact
from auditor.neighbours.pair import Pair

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
    faults = [planted_faults(PEOPLE, numbers(100), np.random.default_rng(3), 12) for _ in range(2)]
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
    assert len(planted_faults(PEOPLE, numbers(100), np.random.default_rng(3), most)) == most


def test_nothing_is_planted_after_a_violation_or_if_there_is_one_pair() -> None:
    assert auditor.audit(broken, auditor.PureDP(1.0), PEOPLE, planted=40, **OPTIONS).planted is None
    assert auditor.audit(count, auditor.PureDP(1.0), [([], [1.0])], planted=40, **OPTIONS).planted is None


def test_a_pass_that_proves_no_loss_is_weak() -> None:
    """A coin that reads no data passes any claim, and so does a mechanism that cannot read the form of its data sets."""
    result = auditor.audit(lambda value, size, rng: rng.integers(0, 2, size), auditor.PureDP(1.0), PEOPLE, **OPTIONS)
    assert result.bound is not None
    assert result.bound.value == 0
    assert result.weak
    assert any(warning.startswith("weak: no loss above noise was seen") for warning in result.warnings)
    # This mechanism does ignore its data, and outputs with common random numbers show it.
    assert any(warning.startswith("with the same seed, outputs were identical") for warning in result.warnings)
    lossless = auditor.audit(lambda value, size, rng: rng.integers(0, 2, size), auditor.PureDP(0.0), PEOPLE, **OPTIONS)
    assert not any(warning.startswith("weak: no loss") for warning in lossless.warnings)


def test_a_loss_that_does_not_show_is_not_taken_for_none() -> None:
    """A sound median by the exponential mechanism loses up to ε on some data sets, and less than its noise hides on most."""

    def median(records: Any, size: int, rng: np.random.Generator) -> Any:
        ranks = np.searchsorted(np.sort(records), np.arange(10))
        weights = np.exp(-0.01 * np.abs(ranks - len(records) / 2))
        return rng.choice(10, size, p=weights / weights.sum())

    domain = auditor.Records((0, 9), integer=True, size=(0, 10))
    result = auditor.audit(median, auditor.PureDP(1.0), domain, **OPTIONS | {"samples": 1_000})
    assert result.bound is not None
    assert result.bound.value == 0
    [words] = [warning for warning in result.warnings if "no loss" in warning]
    outputs, pairs = result.outputs.bound, result.tried.pairs
    assert (
        f"no loss above noise was seen: {outputs:,} outputs for the bound, on the most promising of {pairs:,} pairs"
        in words
    )
    assert not any("identical" in warning or "did not read" in warning for warning in result.warnings)


def test_a_search_that_sees_too_little_is_weak(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A search of 750 outputs misses most planted faults."""
    domain = auditor.Records((0, 9), integer=True, size=(0, 10))
    few = OPTIONS | {"samples": 2_000, "planted": 40}
    result = auditor.audit(lambda value, size, rng: rng.integers(0, 2, size), auditor.PureDP(1.0), domain, **few)
    assert result.planted is not None and result.planted.too_few
    assert result.weak
    [warning] = [warning for warning in result.warnings if warning.startswith("weak: the search found")]
    times, more = result.planted.with_more or (0, 0)
    assert more > len(result.planted.found)
    assert f"raise `samples` to {2_000 * times:,}, which finds {more} of them" in warning
    (tmp_path / "coin.py").write_text("def coin(value, size, rng):\n    return rng.integers(0, 2, size)\n")
    (tmp_path / "coin.yaml").write_text(
        "version: 1\nsamples: 2_000\nplanted: 40\nseed: 1\nexecution: {workers: 1, isolate: false}\naudits:\n"
        "  - {name: coin, mechanism: coin.py:coin, claim: {epsilon: 1.0},\n"
        "     neighbours: {domain: records, record: {integer: true, low: 0, high: 9}, size: {low: 0, high: 10}}}\n"
    )
    monkeypatch.chdir(tmp_path)
    assert main(["run", "coin.yaml", "--quiet"]) == 0
    assert main(["run", "coin.yaml", "--quiet", "--strict"]) == 1


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
