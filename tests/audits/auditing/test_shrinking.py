"""Shrinking after a violation: the smallest pair that still breaks the claim, end to end. It never affects the verdict."""

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from made_results import changed
from scipy.stats import binom

import auditor
from auditor.auditing import planned
from auditor.auditing.consistent import read_report
from auditor.auditing.flow import carry_out, run
from auditor.auditing.outcome import settle
from auditor.auditing.plan import Plan, Progress, Settings
from auditor.blackbox.batches import Phase
from auditor.blackbox.mechanism import PythonSource
from auditor.blackbox.sampling import Execution
from auditor.bounds.evidence import Counts, GuessCounts
from auditor.bounds.guesses import guess_epsilon
from auditor.neighbours.domains import Pairs
from auditor.neighbours.pair import pair_words
from auditor.neighbours.shrinking import complexity
from auditor.report.html import to_html
from auditor.report.phrases import finding
from auditor.results.files import to_json
from auditor.results.result import RunResult
from auditor.verdict import Verdict

CLAIM = auditor.PureDP(0.5)
AT_MOST, AT_LEAST = auditor.Probability(0.5, at_most=True), auditor.Probability(0.5, at_least=True)


def leaks_large_values(data: Any, size: int, rng: np.random.Generator) -> Any:
    """Count the records; with too little noise if more than three have a value above 7."""
    scale = 0.5 if len(data) > 3 and np.any(data > 7) else 2.5
    return len(data) + rng.laplace(0, scale, size)


def response(bit: Any, size: int, rng: np.random.Generator) -> Any:
    """Report for each pair of values which of them is odd, truthfully three times in four: ε = ln 3 if one of them is
    odd, else 0."""
    return (int(bit) % 2) ^ (rng.random(size) < 0.25)


def many(data: Any, size: int, rng: np.random.Generator) -> Any:
    """Report an event that is likely only if the sum of the records exceeds 30."""
    return rng.random(size) < (0.9 if sum(data) > 30 else 0.1)


def few(data: Any, size: int, rng: np.random.Generator) -> Any:
    return ~many(data, size, rng)


def mean(data: Any) -> Any:
    return sum(data) / max(1, len(data))


OPTIONS: Any = {"samples": 100_000, "seed": 7, "workers": 1, "isolate": False}


def audit(mechanism: Any, neighbours: Any, claim: Any = CLAIM, **options: Any) -> Any:
    return auditor.audit(mechanism, claim, neighbours, **{**OPTIONS, **options})


SMALL = auditor.Records((0, 10), size=(0, 30), integer=True)
ANSWERS = Pairs([(n, n + 1) for n in range(10, 50)])


@pytest.fixture(scope="module")
def leaky() -> Any:
    return audit(leaks_large_values, SMALL)


def test_only_what_the_fault_needs_remains(leaky: Any) -> None:
    pair = leaky.smallest.pair
    assert leaky.verdict is Verdict.VIOLATION
    # With ε = 2 on one side of the fault and 0.4 on the other, the two noise scales differ as well: 3 and 4 records show the fault.
    assert sorted((len(pair.left), len(pair.right))) in ([3, 4], [4, 5])
    longer = max(pair.left, pair.right, key=len)
    assert sorted(longer)[-1] in {8, 9, 10}, "one culprit"
    assert sum(v != 0 for v in longer) <= 2, "and nothing else, but for the record in which the sides differ"


def test_what_is_reported_breaks_the_claim_by_counts_of_its_own(leaky: Any) -> None:
    entry = json.loads(to_json(leaky.to_dict()))["smallest"]
    event, bound = entry["event"], entry["bound"]
    (hl, nl), (hr, nr) = event["counts"]["left"], event["counts"]["right"]
    tally = Counts(hl, nl, hr, nr)
    nothing = Counts(0, nl, 0, nr)
    if event["opposite"]:
        opposite = Counts(
            event["opposite"]["counts"]["left"][0],
            nl,
            event["opposite"]["counts"]["right"][0],
            nr,
        )
        counts = GuessCounts(tally, opposite)
    else:
        left = event["guess"] == "left"
        counts = GuessCounts(tally if left else nothing, nothing if left else tally, one_tailed=True)
    assert guess_epsilon(counts, 0.0, 1 - bound["confidence"]) == pytest.approx(bound["value"])
    assert bound["value"] > 0.5
    assert complexity(leaky.smallest.pair) < complexity(leaky.pair)
    assert leaky.smallest.event["counts"] != leaky.event["counts"]


@pytest.mark.parametrize(
    ("mechanism", "claim", "method"),
    [
        (leaks_large_values, CLAIM, "fixed"),
        (leaks_large_values, CLAIM, "two-intervals"),
        (many, AT_MOST, "fixed"),
        (few, AT_LEAST, "fixed"),
        (mean, auditor.Sensitivity(0.3), "fixed"),
        (many, auditor.Probability(0.95, at_most=True), "fixed"),
        (mean, auditor.Sensitivity(10), "fixed"),
    ],
)
def test_shrinking_leaves_verdict_bound_and_p_value_as_they_were(mechanism: Any, claim: Any, method: str) -> None:
    on, off = (audit(mechanism, SMALL, claim, shrink=shrink, method=method, samples=40_000) for shrink in (True, False))
    as_before = changed(on, smallest=None, reproduce=None, outputs=off.outputs, seconds=0.0)
    assert as_before == changed(off, reproduce=None, seconds=0.0)
    assert (off.smallest, off.outputs.shrink) == (None, 0)
    assert (on.smallest is not None) == (on.verdict is Verdict.VIOLATION)
    assert replace(on.outputs, shrink=0, further=0) == off.outputs
    assert (on.outputs.shrink, on.outputs.further, on.reproduce) == (0, 0, None) or on.verdict is Verdict.VIOLATION


def test_another_level_takes_the_smallest_along_as_long_as_the_claim_is_refuted(leaky: Any) -> None:
    ended = carry_out(planned(leaks_large_values, CLAIM, SMALL, **OPTIONS))
    assert ended.result().judgement == leaky.judgement
    again = ended.result(1e-5)
    assert (again.verdict, again.smallest) == (Verdict.VIOLATION, leaky.smallest)
    assert again.bound.value < leaky.bound.value
    weak = carry_out(planned(response, auditor.PureDP(1.0), ANSWERS, **{**OPTIONS, "samples": 40_000}))
    assert weak.result().verdict is Verdict.VIOLATION
    assert weak.p_value is not None
    lost = weak.result(weak.p_value / 10)
    assert (lost.verdict, lost.smallest, lost.reproduce) == (Verdict.NO_VIOLATION_FOUND, None, None)
    [settled] = settle([ended], 0.001, 1)
    assert settled.smallest == leaky.smallest


ALPHA, RUNS = 0.05, 60


def settled(seed: int, claim: Any, mechanism: Any, **options: Any) -> Any:
    settings = Settings.of({"seed": seed, "workers": 1, "isolate": False, **options})
    return run(Plan("some", PythonSource("m", function=mechanism), claim, ANSWERS, ALPHA, settings))


# --- Claims of other kinds ---


def test_on_the_only_data_set_there_is_nothing_is_drawn_to_shrink_it() -> None:
    result = audit(many, [([20, 20], [20, 20])], AT_MOST)
    assert (result.verdict, result.smallest, result.outputs.shrink) == (Verdict.VIOLATION, None, 0)


@pytest.mark.parametrize(("mechanism", "claim"), [(many, AT_MOST), (few, AT_LEAST)])
def test_the_smallest_data_set_on_which_a_probability_is_wrong(mechanism: Any, claim: Any) -> None:
    result = audit(mechanism, SMALL, claim, search=100_000)
    small = result.smallest
    assert result.verdict is Verdict.VIOLATION
    assert (small.pair.right, str(small.pair.relation)) == (None, "alone")
    assert sum(small.pair.left) - min(small.pair.left) <= 30 < sum(small.pair.left), "no record can be left out"
    assert complexity(small.pair) < complexity(result.pair)
    [hits, trials] = small.event["counts"]["left"]
    tail = (
        binom.sf(hits - 1, trials, small.bound.value) if claim.at_most else binom.cdf(hits, trials, small.bound.value)
    )
    assert tail == pytest.approx(1 - small.bound.confidence)
    assert trials < result.outputs.shrink <= 100_000
    assert f"{pair_words(small.pair)}, where the event happens in {hits:,} of {trials:,} trials" in finding(result)


def size_of_13(data: Any) -> Any:
    return 9.0 if len(data) >= 13 else 0.0


@pytest.mark.parametrize(
    ("query", "claim", "smallest"),
    [
        (size_of_13, auditor.Sensitivity(1), ((0,) * 12, (0,) * 13)),
        (lambda data: -sum(v > 6 for v in data), auditor.Monotone(), ((), (7,))),
        (lambda data: sum(data) ** 2, auditor.Sensitivity(1000), None),
    ],
)
def test_the_smallest_counterexample_to_a_query(query: Any, claim: Any, smallest: Any) -> None:
    result = audit(query, SMALL, claim)
    small = result.smallest
    assert result.verdict is Verdict.VIOLATION
    assert sorted((small.pair.left, small.pair.right), key=len) == [*smallest] if smallest else small
    answers = {side: query(np.array(small.pair.dataset(side), int)) for side in ("left", "right")}
    assert dict(small.event["values"]) == answers
    assert small.bound.value == abs(answers["left"] - answers["right"]) > claim.value
    assert small.bound.confidence == 1
    assert f"{pair_words(small.pair)}, where the query answers {answers['left']} and {answers['right']}." in finding(
        result
    )


class Turncoat:
    """Keeps the rules for a number of calls, and breaks them from then on."""

    def __init__(self, mechanism: Any) -> None:
        self.mechanism, self.calls, self.allowed = mechanism, 0, math.inf

    def __call__(self, *arguments: Any) -> Any:
        self.calls += 1
        output = self.mechanism(*arguments)
        return output if self.calls <= self.allowed else output[:-1]


class TurncoatMechanism(Turncoat):
    def __call__(self, data: Any, size: int, rng: np.random.Generator) -> Any:
        return super().__call__(data, size, rng)


class TurncoatQuery(Turncoat):
    def __call__(self, data: Any) -> Any:
        return super().__call__(data)


@pytest.mark.parametrize(
    ("mechanism", "claim", "options"),
    [
        (TurncoatMechanism(leaks_large_values), CLAIM, {}),
        (TurncoatMechanism(many), AT_MOST, {}),
        # The simplest pairs do not break this claim, so that shrinking asks for new ones.
        (TurncoatQuery(lambda data: np.array([sum(data) * (len(data) > 20), 0])), auditor.Sensitivity(3), {}),
    ],
)
def test_a_mechanism_that_breaks_the_rules_while_it_is_shrunk_is_violated_all_the_same(
    mechanism: Any, claim: Any, options: dict[str, Any]
) -> None:
    def once(shrink: bool) -> Any:
        mechanism.calls = 0
        return audit(mechanism, SMALL, claim, samples=40_000, isolate=False, shrink=shrink, **options)

    off = once(shrink=False)
    mechanism.allowed = mechanism.calls + 1
    on = once(shrink=True)
    assert (on.verdict, on.bound, on.event, on.smallest) == (Verdict.VIOLATION, off.bound, off.event, None)
    warning, *others = on.warnings
    assert warning.startswith("the search for the smallest pair that breaks the claim stopped early: ")
    assert all(other.startswith("the search for what hides behind the violation stopped early: ") for other in others)


@pytest.mark.parametrize(
    ("mechanism", "claim", "options"),
    [
        (leaks_large_values, CLAIM, {}),
        (many, AT_MOST, {}),
        (mean, auditor.Sensitivity(0.3), {}),
    ],
)
def test_the_smallest_of_every_kind_is_kept_shown_and_seen_again(
    mechanism: Any, claim: Any, options: dict[str, Any], tmp_path: Path
) -> None:
    result = audit(mechanism, SMALL, claim, **options)
    run = RunResult("some", 0.999, [result], 1.0)
    (tmp_path / "report.json").write_text(to_json(run.to_dict()), encoding="utf-8")
    read = read_report(tmp_path / "report.json")
    assert to_json(read.to_dict()) == to_json(run.to_dict())
    assert finding(read.audits[0]) == finding(result)
    assert "still breaks the claim</caption>" in to_html(read)
    names = vars(auditor) | {"auditor": auditor, "numpy": np, mechanism.__name__: mechanism}
    again = eval(result.reproduce.replace("seed=", "workers=1, isolate=False, seed="), names | vars(auditor.claims))
    assert again.verdict is Verdict.VIOLATION
    assert again.bound.method == result.bound.method
    assert again.pair.to_dict()["left"] == result.smallest.pair.to_dict()["left"]


def honest(bit: Any, size: int, rng: np.random.Generator) -> Any:
    return rng.random(size) < 0.75


def test_the_bound_on_the_smallest_data_set_exceeds_the_truth_as_seldom_as_it_says() -> None:
    """A false failure has probability below 1e-6."""
    claim = auditor.Probability(0.3, at_most=True)
    results = [s for seed in range(RUNS) if (s := settled(seed, claim, honest, samples=2000, search=2000).smallest)]
    assert len(results) > RUNS / 2, "or nothing is tested"
    allowed = binom.isf(1e-6, RUNS, ALPHA)
    assert sum(smallest.bound.value > 0.75 for smallest in results) <= allowed
    rates = [hits / trials for hits, trials in (smallest.event["counts"]["left"] for smallest in results)]
    assert sum(rate > 0.75 for rate in rates) > allowed


def cliff(data: Any, size: int, rng: np.random.Generator) -> Any:
    """Count the records; with too little noise from 200 records on."""
    return len(data) + rng.laplace(0, 0.5 if len(data) >= 200 else 2.5, size)


LARGE = auditor.Records(choices=[0], size=(0, 1000))


def boom(data: Any, size: int, rng: np.random.Generator) -> Any:
    """Raise with probability 1/3 if there are three records or more."""
    if len(data) >= 3 and rng.random() < 0.3:
        raise ValueError("too many")
    return rng.normal(size=size)


def test_a_cliff_stops_the_shrinking() -> None:
    result = audit(cliff, LARGE, search=100_000, samples=200_000)
    pair = result.smallest.pair
    assert result.verdict is Verdict.VIOLATION
    assert max(len(pair.left), len(pair.right)) >= 200, "no smaller pair breaks the claim"
    assert max(len(pair.left), len(pair.right)) <= 210
    assert f"[0 × {len(pair.left)}] and [0 × {len(pair.right)}]" in finding(result)


def test_progress_of_shrinking_is_told() -> None:
    shown: list[Progress] = []
    execution = Execution(workers=1, isolate=False)
    source = PythonSource("cliff", function=leaks_large_values)
    result = run(Plan("some", source, CLAIM, SMALL, 0.001, Settings(40_000, execution=execution)), shown.append)
    phases = [progress.phase for progress in shown]
    first, last = phases.index(Phase.SHRINK), len(phases) - phases[::-1].index(Phase.CONFIRM)
    assert phases[first:last] == sorted(phases[first:last])
    assert set(phases[last:]) <= {Phase.SEARCH}, "a few pairs are looked at for what hides behind the violation"
    assert {Phase.SHRINK, Phase.CONFIRM} <= set(phases)
    assert all(0 < progress.done <= progress.planned for progress in shown)
    assert result.smallest is not None


def test_exceptions_are_shrunk_like_any_output() -> None:
    result = audit(boom, SMALL, samples=20_000, search=20_000)
    smallest = result.smallest or result
    assert result.verdict is Verdict.VIOLATION
    assert sorted((len(smallest.pair.left), len(smallest.pair.right))) == [2, 3]
    assert "ValueError" in smallest.event["description"]


def test_one_case_against_a_certainty_is_shrunk_with_few_outputs() -> None:
    def never_with_five(data: Any, size: int) -> Any:
        return np.full(size, len(data) < 5)

    result = audit(
        never_with_five,
        SMALL,
        auditor.Probability(1, at_least=True),
        samples=1000,
        search=100_000,
    )
    assert result.verdict is Verdict.VIOLATION
    assert (result.smallest or result).pair.left == (0, 0, 0, 0, 0)


def test_no_record_can_be_left_out_of_the_smallest_counterexample() -> None:
    """By the definition of neighbours, and without the code of the search and the domain."""
    small = audit(lambda data: sum(data) ** 2, SMALL, auditor.Sensitivity(1000)).smallest.pair
    short, long = sorted((small.left, small.right), key=len)
    assert abs(sum(long) ** 2 - sum(short) ** 2) > 1000
    for i in range(len(short)):
        fewer = [*short[:i], *short[i + 1 :]]
        added = sum(long) - sum(short)
        assert abs((sum(fewer) + added) ** 2 - sum(fewer) ** 2) <= 1000
