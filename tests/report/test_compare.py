"""Two runs compared: what fails a release, what is only told, and that another seed or sample size is no alarm."""

import itertools
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from made_results import changed, event_of, made

import auditor
from auditor.bounds.evidence import Bound
from auditor.claims import Claim
from auditor.cli import main
from auditor.events.observed import BothAnswers, Hits, Observed, ObservedBets, ObservedReport, QueryAnswers
from auditor.neighbours.pair import Pair, Relation
from auditor.report.compare import FALSE_RISE, Change, ChangeKind, compare, shown
from auditor.report.formats import write_reports
from auditor.results.result import AuditResult, OutputsSpent, RunResult
from auditor.verdict import Verdict

pytestmark = pytest.mark.usefixtures("without_plots")


def event(wins: int, guesses: int, trials: int = 200_000, description: str = "output ≤ 0.5") -> Observed:
    """Return an event that guesses "left" so often, and wins so often."""
    half = trials // 2
    counts = {"left": [wins, half], "right": [guesses - wins, half]}
    return event_of({"description": description, "guess": "left", "counts": counts, "opposite": None})


def result(**changes: Any) -> AuditResult:
    usual: dict[str, Any] = {
        "name": "some audit",
        "mechanism": "module:function",
        "claim": auditor.PureDP(1.0),
        "verdict": Verdict.NO_VIOLATION_FOUND,
        "expected": Verdict.NO_VIOLATION_FOUND,
        "outputs": OutputsSpent(0, 20_000, 200_000),
        "stop_reason": "all 200,000 outputs drawn",
        "seconds": 1.0,
        "reproducible": True,
        "seed": 7,
        "bound": Bound("epsilon", 0.38, 0.999, "guesses"),
        "pair": Pair(0, 1, Relation.SUBSTITUTE),
        "event": event(60_000, 100_000),
        "power": {"80%": 1.02, "95%": 1.03},
    }
    return made(**{**usual, **changes})


HIGHER = {"bound": Bound("epsilon", 0.83, 0.999, "guesses"), "event": event(70_000, 100_000)}
VIOLATION = {"verdict": Verdict.VIOLATION, "bound": Bound("epsilon", 1.4, 0.999, "guesses")}
NO_ANSWER = {"verdict": Verdict.INCONCLUSIVE, "bound": None, "event": None, "pair": None, "power": None}
TWIN = {**VIOLATION, "expected": Verdict.VIOLATION}
FEWER = OutputsSpent(0, 2_000, 20_000)


def run(*audits: AuditResult) -> RunResult:
    return RunResult("some run", 0.999, audits, 2.0)


def changes(old: dict[str, Any], new: dict[str, Any]) -> list[tuple[str, str]]:
    found = compare(run(result(**old)), run(result(**new)))
    return [(str(change.kind), change.what) for change in found]


CASES: list[tuple[str, dict[str, Any], dict[str, Any], list[tuple[str, str]]]] = [
    ("nothing", {}, {}, []),
    ("a new violation", {}, VIOLATION, [("worse", "a new violation: ε ≥ 1.400, above the claimed ε = 1")]),
    ("a new violation, now expected", {}, TWIN, [("worse", "a new violation")]),
    ("after no answer", NO_ANSWER, VIOLATION, [("worse", "a new violation")]),
    ("a known violation", VIOLATION, VIOLATION, []),
    ("a twin that breaks more", TWIN, {**TWIN, **HIGHER}, []),
    ("a violation that is gone", VIOLATION, {}, [("better", "the violation is gone")]),
    ("a twin not caught", TWIN, {"expected": Verdict.VIOLATION}, [("worse", "the expected violation is no longer found")]),
    ("no answer", {}, {**NO_ANSWER, "stop_reason": "it hangs"}, [("worse", "now inconclusive: it hangs")]),
    ("an answer", NO_ANSWER, {}, [("better", "there is an answer now")]),
    ("expected otherwise", {}, {"expected": Verdict.VIOLATION}, [("worse", "ended as expected before; now no violation")]),
    ("a bound that rose", {}, HIGHER, [("worse", "the bound rose beyond chance: ε ≥ 0.830, before ε ≥ 0.380")]),
    ("a bound that fell", HIGHER, {}, [("better", "the bound fell beyond chance")]),
    ("a bound that moved", {}, {"event": event(60_300, 100_000)}, []),
    ("another pair", {}, {**HIGHER, "pair": Pair(0, 2, Relation.SUBSTITUTE)}, [("note", "the bound rose, on a different pair")]),
    ("a rise of no weight", {"event": event(51_000, 100_000)}, {"event": event(52_400, 100_000)}, []),
    ("another relation", {}, {"pair": Pair(0, 1, Relation.ADD_REMOVE)}, [("worse", "relation changed from substitute to")]),
    ("another mechanism", {}, {"mechanism": "module:other"}, [("note", "mechanism changed from module:function to module:other")]),
    ("the pair turned", {}, {**HIGHER, "pair": Pair(1, 0, Relation.SUBSTITUTE)}, [("worse", "the bound rose beyond chance")]),
    (
        "another threshold",
        {},
        {**HIGHER, "event": event(70_000, 100_000, description="output ≤ -2e-05")},
        [("worse", "the bound rose beyond chance")],
    ),
    (
        "another event",
        {},
        {**HIGHER, "event": event(70_000, 100_000, description="output > 0.5")},
        [("note", "the bound rose, by a different event")],
    ),
    (
        "a learned score",
        {"event": event(60_000, 100_000, description="learned evidence > 0.5")},
        {**HIGHER, "event": event(70_000, 100_000, description="learned evidence > 0.5")},
        [("note", "the bound rose, by a different event")],
    ),
    (
        "more outputs",
        {"outputs": OutputsSpent(0, 10_000, 200_000)},
        HIGHER,
        [("note", "the bound rose, with more outputs")],
    ),
    (
        "power that fell",
        {},
        {"outputs": FEWER, "power": {"80%": 1.08, "95%": 1.1}},
        [("worse", "power fell: detects 1.100 with 95 % probability, before 1.030 (20,000 outputs, before 200,000)")],
    ),
    ("power lost", {}, {"outputs": FEWER, "power": {"80%": np.inf, "95%": np.inf}}, [("worse", "power fell: detects ∞")]),
    ("another event's power", {}, {"power": {"80%": 1.08, "95%": 1.1}}, []),
    ("power that rose", {"outputs": FEWER, "power": {"80%": 1.08, "95%": 1.1}}, {}, [("better", "power rose")]),
    ("fewer outputs", {"power": None}, {"power": None, "outputs": FEWER}, [("worse", "power fell: 20,000 outputs, before")]),
    ("a few less", {"power": None}, {"power": None, "outputs": OutputsSpent(0, 20_000, 150_000)}, []),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "expected"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_what_a_change_means(old: dict[str, Any], new: dict[str, Any], expected: list[tuple[str, str]]) -> None:
    found = changes(old, new)
    assert [kind for kind, _ in found] == [kind for kind, _ in expected]
    for (_, what), (_, told) in zip(found, expected, strict=True):
        assert what.startswith(told)
        assert len(what.splitlines()) == 1


CLAIMS: list[tuple[Claim, Claim, str]] = [
    (auditor.PureDP(1), auditor.PureDP(2), "worse"),
    (auditor.PureDP(2), auditor.PureDP(1), "better"),
    (auditor.PureDP(1), auditor.ApproximateDP(1, 1e-5), "worse"),
    (auditor.ApproximateDP(1, 1e-6), auditor.ApproximateDP(1, 1e-5), "worse"),
    (auditor.ApproximateDP(1, 1e-6), auditor.ApproximateDP(0.5, 1e-5), "worse"),
    (auditor.RenyiDP(2, 1), auditor.RenyiDP(4, 1), "better"),
    (auditor.RenyiDP(4, 1), auditor.RenyiDP(2, 1), "worse"),
    (auditor.Probability(0.9, at_least=True), auditor.Probability(0.8, at_least=True), "worse"),
    (auditor.Probability(0.1, at_most=True), auditor.Probability(0.2, at_most=True), "worse"),
    (auditor.PrivacyProfile([(1, 0.1), (2, 0.01)]), auditor.PrivacyProfile([(1, 0.1), (2, 0.02)]), "worse"),
    (auditor.PrivacyProfile([(1, 0.1), (2, 0.01)]), auditor.PrivacyProfile([(1, 0.1)]), "worse"),
    (auditor.PrivacyProfile([(1, 0.1)]), auditor.PrivacyProfile([(0.9, 0.1)]), "better"),
]


@pytest.mark.parametrize(("old", "new", "kind"), CLAIMS, ids=[f"{old} to {new}" for old, new, _ in CLAIMS])
def test_a_claim_that_was_weakened_fails_and_one_that_was_strengthened_is_told(
    old: Claim, new: Claim, kind: str
) -> None:
    [(found, what)] = changes({"claim": old}, {"claim": new})
    assert found == kind
    assert f"claim changed from {old} to {new}" in what


def test_audits_that_vanished_fail_and_those_that_appeared_are_told() -> None:
    first, second, third = (result(name=name) for name in ("first", "second", "third"))
    found = compare(run(first, second), run(third, first))
    assert [(change.audit, change.kind) for change in found] == [
        ("third", ChangeKind.NOTE),
        ("second", ChangeKind.WORSE),
    ]


# --- Beyond chance ---


@pytest.mark.parametrize("delta", [0.0, 0.01])
def test_limits_are_those_of_what_the_event_shows(delta: float) -> None:
    """The rates' own ε, ln((p − δ)/q), lies between; a share of 1e-6 of seeds would fail, this one was seen not to."""
    p, q, n = 0.4, 0.1, 20_000
    rng = np.random.default_rng(1)
    claim = auditor.ApproximateDP(3, delta) if delta else auditor.PureDP(3)
    truth, missed = np.log((p - delta) / q), 0
    for _ in range(200):
        hits = [int(rng.binomial(n, rate)) for rate in (p, q)]
        limits = shown(result(claim=claim, event=event(hits[0], sum(hits), 2 * n)), 0.2)
        assert limits is not None
        missed += not limits[0] <= truth <= limits[1]
        assert limits[1] - limits[0] < 0.2
    assert missed <= 0.2 * 200 + 4.9 * np.sqrt(200 * 0.2 * 0.8)


def test_what_is_certain_has_no_width_and_what_has_no_upper_limit_is_not_compared() -> None:
    query = {"claim": auditor.Sensitivity(1), "event": QueryAnswers("…", BothAnswers(0, 1)), "power": None}
    exact = {**query, "bound": Bound("sensitivity", 0.5, 1.0, "largest difference found")}
    assert shown(result(**exact), 0.1) == (0.5, 0.5)
    more = {**exact, "bound": Bound("sensitivity", 0.9, 1.0, "largest difference found")}
    assert changes(exact, more) == [
        ("worse", "the bound rose beyond chance: sensitivity ≥ 0.900, before sensitivity ≥ 0.500")
    ]
    bets = ObservedBets("bets", (0.0,), (1.0,))
    assert shown(result(event=bets), 0.1) is None
    assert shown(result(**NO_ANSWER), 0.1) is None


def test_a_probability_promised_to_be_large_gets_worse_as_it_falls() -> None:
    def seen(hits: int) -> dict[str, Any]:
        counts = ObservedReport("…", Hits((hits, 10_000)), confirmed=True)
        bound = Bound("probability", hits / 10_000, 0.999, "Clopper-Pearson, lower limit")
        claim = auditor.Probability(0.5, at_least=True)
        return {"claim": claim, "event": counts, "bound": bound, "power": None, "pair": Pair(0, None, Relation.ALONE)}

    assert [kind for kind, _ in changes(seen(9_000), seen(6_000))] == ["worse"]
    assert [kind for kind, _ in changes(seen(6_000), seen(9_000))] == ["better"]


def laplace(data: Any, size: int, rng: np.random.Generator, scale: float = 1.0) -> Any:
    return rng.laplace(data, scale, size)


def gaussian(data: Any, size: int, rng: np.random.Generator, scale: float = 1.0) -> Any:
    return rng.normal(data, scale, size)


def response(bit: int, size: int, rng: np.random.Generator, scale: float = 0.3) -> Any:
    return bit ^ (rng.random(size) < scale)


def vector(data: Any, size: int, rng: np.random.Generator) -> Any:
    return rng.laplace(np.array(data, float), 3.0, (size, len(data)))


MECHANISMS: list[tuple[Any, Claim, Any, Any]] = [
    (laplace, auditor.PureDP(2), (0, 1), 0.6),
    (gaussian, auditor.ApproximateDP(9, 1e-3), (0, 1), 0.4),
    (gaussian, auditor.GaussianDP(2), (0, 1), 0.6),
    (gaussian, auditor.PrivacyProfile([(3, 0.05), (5, 1e-3)]), (0, 1), 0.6),
    (response, auditor.PureDP(2), (0, 1), 0.15),
    (vector, auditor.PureDP(2.5), ([0] * 6, [1] * 6), None),
]


def audited(mechanism: Any, claim: Claim, pair: Any, seed: int, samples: int, **parameters: float) -> RunResult:
    options: Any = {"samples": samples, "seed": seed, "workers": 1, "isolate": False, "parameters": parameters}
    return run(changed(auditor.audit(mechanism, claim, [pair], **options), name="one"))


def rises(runs: list[RunResult]) -> list[Change]:
    """Return the bounds that are said to have risen beyond chance, over all ordered pairs of runs."""
    found = [change for old, new in itertools.permutations(runs, 2) for change in compare(old, new)]
    return [change for change in found if change.what.startswith("the bound rose beyond chance")]


@pytest.mark.parametrize(("mechanism", "claim", "pair", "changed"), MECHANISMS)
def test_another_seed_or_sample_size_is_no_alarm_and_a_mechanism_that_leaks_more_is_one(
    mechanism: Any, claim: Any, pair: Any, changed: float | None
) -> None:
    same = [audited(mechanism, claim, pair, seed, samples) for seed in range(3) for samples in (4_000, 20_000)]
    assert rises(same) == []
    if changed is not None:
        leaking = audited(mechanism, claim, pair, 9, 20_000, scale=changed)
        assert leaking.verdict is not Verdict.VIOLATION
        assert len(rises([same[1], leaking])) == 1


@pytest.mark.statistical
@pytest.mark.parametrize(("mechanism", "claim", "pair", "changed"), MECHANISMS)
def test_hardly_any_of_many_reruns_is_an_alarm(mechanism: Any, claim: Any, pair: Any, changed: float | None) -> None:
    """Among 55,500 pairs of runs of ten mechanisms, of which these are some, there was none; here 2,550 pairs each."""
    runs = [audited(mechanism, claim, pair, seed, size) for seed in range(17) for size in (1_000, 5_000, 30_000)]
    assert len(rises(runs)) <= FALSE_RISE * len(runs) * (len(runs) - 1)


# --- Command line ---

CONFIG = """
version: 1
seed: 3
samples: 4000
execution: {workers: 1, isolate: false}
audits:
  - name: first
    mechanism: mechanisms_to_compare.py:laplace
    parameters: {scale: 1.0}
    claim: {epsilon: 2.0}
    neighbours: {pairs: [{left: 0, right: 1}]}
  - name: second
    mechanism: mechanisms_to_compare.py:laplace
    claim: {epsilon: 2.0}
    neighbours: {pairs: [{left: 0, right: 1}]}
"""


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    source = "def laplace(data, size, rng, scale=1.0):\n    return rng.laplace(data, scale, size)\n"
    Path("mechanisms_to_compare.py").write_text(source, encoding="utf-8")
    file = tmp_path / "some.yaml"
    file.write_text(CONFIG, encoding="utf-8")
    assert main(["run", "some.yaml"]) == 0
    (tmp_path / "reports" / "some" / "report.json").rename(tmp_path / "baseline.json")
    yield file


def test_a_run_that_is_no_worse_than_its_baseline_passes(config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for options in ([], ["--seed", "4"], ["--only", "second"], ["--quiet"]):
        assert main(["run", "some.yaml", "--baseline", "baseline.json", *options]) == 0
        assert "compared with baseline.json: nothing worse, nothing better" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("change", "line"),
    [
        (("scale: 1.0", "scale: 0.6"), "worse   first: the bound rose beyond chance: "),
        (("scale: 1.0", "scale: 0.3"), "worse   first: a new violation: "),
        (("name: first", "name: third"), "worse   first: vanished: "),
        (("epsilon: 2.0", "epsilon: 3.0"), "worse   first: claim changed from ε = 2 to ε = 3, which promises less"),
        (("samples: 4000", "samples: 1000"), "worse   first: power fell: "),
    ],
)
def test_a_run_that_is_worse_than_its_baseline_fails_with_one_clear_line(
    config: Path, capsys: pytest.CaptureFixture[str], change: tuple[str, str], line: str
) -> None:
    config.write_text(CONFIG.replace(*change, 1), encoding="utf-8")
    assert main(["run", "some.yaml", "--baseline", "baseline.json", "--quiet"]) == 1
    assert len([told for told in capsys.readouterr().out.splitlines() if told.startswith(line)]) == 1
    assert main(["compare", "baseline.json", "reports/some/report.json"]) == 1
    assert line in capsys.readouterr().out
    assert main(["compare", "reports/some/report.json", "baseline.json"]) == (1 if "vanished" in line else 0)


def test_a_baseline_may_be_the_report_that_is_written_over(config: Path) -> None:
    Path("baseline.json").rename("reports/some/report.json")
    config.write_text(CONFIG.replace("scale: 1.0", "scale: 0.6"), encoding="utf-8")
    assert main(["run", "some.yaml", "--baseline", "reports/some/report.json"]) == 1
    assert main(["run", "some.yaml", "--baseline", "reports/some/report.json"]) == 0


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (None, "there is no file"),
        ("{", "is not a report"),
        ("[]", "is not a report"),
        ('{"version": 2, "audits": []}', "it has version 2"),
        ('{"version": 1, "audits": [{}]}', "is not a report"),
    ],
)
def test_a_file_that_is_no_report_is_an_error_before_anything_runs(
    config: Path, capsys: pytest.CaptureFixture[str], text: str | None, told: str
) -> None:
    broken = config.parent / "broken.json"
    if text is not None:
        broken.write_text(text, encoding="utf-8")
    assert main(["run", "some.yaml", "--baseline", "broken.json"]) == 2
    assert main(["compare", "broken.json", "baseline.json"]) == 2
    assert main(["compare", "baseline.json", "broken.json"]) == 2
    assert capsys.readouterr().err.count(told) == 3
    assert not Path("reports/some/report.json").exists()


def test_every_configuration_has_its_own_baseline(config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("other.yaml").write_text(CONFIG, encoding="utf-8")
    for arguments, told in (
        (["some.yaml", "other.yaml", "--baseline", "baseline.json"], '"other" has no baseline'),
        (["other.yaml", "--baseline", "baseline.json"], 'is a report of "some"; the run is of other'),
        (["some.yaml", "--baseline", "baseline.json", "--baseline", "baseline.json"], 'are both of "some"'),
    ):
        assert main(["run", *arguments]) == 2
        assert told in capsys.readouterr().err


def test_a_report_that_is_read_is_the_one_that_was_written(tmp_path: Path) -> None:
    from auditor.results.reader import read_report

    whole = run(result(), result(name="b", **NO_ANSWER), result(name="c", power={"80%": np.inf, "95%": np.inf}))
    again = read_report(write_reports(whole, tmp_path))
    assert json.dumps(again.to_dict(), default=str) == json.dumps(whole.to_dict(), default=str)
    assert compare(whole, again) == []


RECORDS = """
version: 1
seed: 5
samples: 20000
execution: {workers: 1, isolate: false}
audits:
  - name: sum
    mechanism: mechanisms_of_records.py:noisy_sum
    parameters: {scale: 5.0}
    claim: {epsilon: 5.0}
    neighbours: {domain: records, record: {low: 0, high: 10}, size: {low: 1, high: 9}, relation: add_remove}
"""


def test_where_the_search_found_another_pair_that_of_the_baseline_is_looked_at_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    source = (
        "def noisy_sum(data, size, rng, scale):\n    return float(data.sum()) + rng.laplace(scale=scale, size=size)\n"
    )
    Path("mechanisms_of_records.py").write_text(source, encoding="utf-8")
    Path("sum.yaml").write_text(RECORDS, encoding="utf-8")
    assert main(["run", "sum.yaml"]) == 0
    report = Path("reports/sum/report.json")
    report.rename("baseline.json")
    # Another mechanism of the same name, and another seed, with which the search ends elsewhere.
    Path("sum.yaml").write_text(RECORDS.replace("scale: 5.0", "scale: 3.0"), encoding="utf-8")
    pairs = {}
    for seed in ("4", "6"):
        assert main(["run", "sum.yaml", "--baseline", "baseline.json", "--seed", seed, "--quiet"]) == 1
        pairs[seed] = json.loads(report.read_text(encoding="utf-8"))["audits"][0]["pair"]
        assert "worse   sum: the bound rose beyond chance: " in capsys.readouterr().out
    assert len({str(pair) for pair in pairs.values()}) > 1
    # The same mechanism whose baseline looked at a pair that tells less: the search found more, the mechanism does no more.
    Path("sum.yaml").write_text(RECORDS, encoding="utf-8")
    weak = RECORDS.replace(
        "domain: records, record: {low: 0, high: 10}, size: {low: 1, high: 9}, ",
        "pairs: [{left: [1.0, 3.0], right: [3.0]}], ",
    )
    source = source.replace("data.sum()", "sum(data)")
    Path("mechanisms_of_lists.py").write_text(source, encoding="utf-8")
    Path("weak.yaml").write_text(weak.replace("of_records", "of_lists"), encoding="utf-8")
    assert main(["run", "weak.yaml"]) == 0
    told = Path("reports/weak/report.json").read_text(encoding="utf-8").replace('"name": "weak"', '"name": "sum"')
    Path("weak.json").write_text(told, encoding="utf-8")
    capsys.readouterr()
    assert main(["run", "sum.yaml", "--baseline", "weak.json", "--quiet"]) == 0
    assert "note    sum: the bound rose, on a different pair: " in capsys.readouterr().out
    assert main(["compare", "weak.json", "reports/sum/report.json"]) == 0


def test_power_on_an_event_that_is_promised_to_be_likely_falls_as_what_would_be_caught_becomes_rarer() -> None:
    claim = auditor.Probability(0.9, at_least=True)
    made = {"claim": claim, "event": None, "bound": Bound("probability", 0.91, 0.999, "Clopper-Pearson, lower limit")}
    old = {**made, "power": {"80%": 0.88, "95%": 0.87}}
    assert changes(old, {**made, "power": {"80%": 0.86, "95%": 0.8}, "outputs": FEWER}) == [
        ("worse", "power fell: detects 0.800 with 95 % probability, before 0.870 (20,000 outputs, before 200,000)")
    ]
    assert changes(old, {**made, "power": {"80%": 0.88, "95%": 0.86}, "outputs": FEWER}) == []
