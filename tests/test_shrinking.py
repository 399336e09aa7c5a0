"""After a violation: the smallest pair that still breaks, from end to end. It never touches the verdict."""

import json
import math
import shlex
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

import auditor
from auditor.auditing import Plan, Progress, run, settle
from auditor.blackbox.batches import Phase
from auditor.blackbox.mechanism import TRIAL, Source
from auditor.blackbox.sampling import Execution
from auditor.bounds.evidence import Counts, GuessCounts
from auditor.bounds.guesses import guess_epsilon
from auditor.config.load import Overrides, load_configuration
from auditor.neighbours.domains import Pairs
from auditor.neighbours.shrink import complexity
from auditor.report.files import to_json
from auditor.report.markdown import to_markdown
from auditor.report.result import RunResult
from auditor.report.words import finding
from auditor.verdict import Verdict

CLAIM = auditor.PureDP(0.5)
LN3 = math.log(3)


def leaks_large_values(data: Any, size: int, rng: np.random.Generator) -> Any:
    """Count the records; without enough noise where more than three hold a value above 7."""
    scale = 0.5 if len(data) > 3 and np.any(data > 7) else 2.5
    return len(data) + rng.laplace(0, scale, size)


def cliff(data: Any, size: int, rng: np.random.Generator) -> Any:
    """Count the records; without enough noise from 200 of them on."""
    return len(data) + rng.laplace(0, 0.5 if len(data) >= 200 else 2.5, size)


def sound(data: Any, size: int, rng: np.random.Generator) -> Any:
    return len(data) + rng.laplace(0, 2.5, size)


def response(bit: Any, size: int, rng: np.random.Generator) -> Any:
    """Tell for every pair of values, truthfully three times in four, which is odd: ε = ln 3 where one is, else 0."""
    return (int(bit) % 2) ^ (rng.random(size) < 0.25)


def audit(mechanism: Any, neighbours: Any, claim: Any = CLAIM, **options: Any) -> Any:
    return auditor.audit(mechanism, claim, neighbours, **{"samples": 100_000, "seed": 7, "workers": 1, **options})


SMALL = auditor.Records((0, 10), size=(0, 30), integer=True)
ANSWERS = Pairs([(n, n + 1) for n in range(10, 50)])
LARGE = auditor.Records(choices=[0], size=(0, 1000))


@pytest.fixture(scope="module")
def leaky() -> Any:
    return audit(leaks_large_values, SMALL)


def test_only_what_the_fault_needs_remains(leaky: Any) -> None:
    pair = leaky.smallest.pair
    assert leaky.verdict is Verdict.VIOLATION
    # At ε = 2 on one side of the fault and 0.4 on the other, noise of two scales differs, too: the fault shows on 3 and 4.
    assert sorted((len(pair.left), len(pair.right))) in ([3, 4], [4, 5])
    longer = max(pair.left, pair.right, key=len)
    assert sorted(longer)[-1] in {8, 9, 10}, "one culprit"
    assert sum(v != 0 for v in longer) == 1, "and nothing else"


def test_a_cliff_stops_the_shrinking() -> None:
    result = audit(cliff, LARGE, search=100_000)
    pair = result.smallest.pair
    assert result.verdict is Verdict.VIOLATION
    assert max(len(pair.left), len(pair.right)) >= 200, "no smaller pair breaks the claim"
    assert max(len(pair.left), len(pair.right)) <= 210
    assert f"[0 × {len(pair.left)}] and [0 × {len(pair.right)}]" in finding(result)


def test_what_is_reported_breaks_the_claim_by_counts_of_its_own(leaky: Any) -> None:
    entry = json.loads(to_json(leaky.to_dict()))["smallest"]
    event, bound = entry["event"], entry["bound"]
    (hl, nl), (hr, nr) = event["counts"]["left"], event["counts"]["right"]
    seen = Counts(hl, nl, hr, nr)
    nothing = Counts(0, nl, 0, nr)
    if event["opposite"]:
        opposite = Counts(
            event["opposite"]["counts"]["left"][0],
            nl,
            event["opposite"]["counts"]["right"][0],
            nr,
        )
        counts = GuessCounts(seen, opposite)
    else:
        left = event["guess"] == "left"
        counts = GuessCounts(seen if left else nothing, nothing if left else seen, one_tailed=True)
    assert guess_epsilon(counts, 0.0, 1 - bound["confidence"]) == pytest.approx(bound["value"])
    assert bound["value"] > 0.5
    assert complexity(leaky.smallest.pair) < complexity(leaky.pair)
    assert leaky.smallest.event["counts"] != leaky.event["counts"]


@pytest.mark.parametrize(
    ("mechanism", "domain", "method"),
    [(leaks_large_values, SMALL, "fixed"), (leaks_large_values, SMALL, "two-intervals"), (sound, SMALL, "fixed")],
)
def test_shrinking_leaves_verdict_bound_and_p_value_as_they_were(mechanism: Any, domain: Any, method: str) -> None:
    on, off = (audit(mechanism, domain, shrink=shrink, method=method, samples=40_000) for shrink in (True, False))
    assert (on.verdict, on.bound, on.p_value, on.event, on.pair) == (
        off.verdict,
        off.bound,
        off.p_value,
        off.event,
        off.pair,
    )
    assert (off.smallest, off.outputs.shrink) == (None, 0)
    assert (on.smallest is not None) == (mechanism is not sound)


def test_a_sound_mechanism_is_not_shrunk() -> None:
    result = audit(sound, SMALL)
    assert (result.verdict, result.smallest, result.outputs.shrink, result.reproduce) == (
        Verdict.NO_VIOLATION_FOUND,
        None,
        0,
        None,
    )


@pytest.mark.parametrize("samples", [4000, 20_000])
@pytest.mark.parametrize("claim", [CLAIM, auditor.ApproximateDP(0.5, 1e-6), auditor.ZeroConcentratedDP(0.1)])
def test_what_is_spent_is_told_and_within_the_budget(samples: int, claim: Any) -> None:
    drawn = 0

    def counting(data: Any, size: int, rng: np.random.Generator) -> Any:
        nonlocal drawn
        drawn += size
        return len(data) + rng.laplace(0, 0.1, size)

    result = audit(counting, SMALL, claim, samples=samples, isolate=False)
    assert result.verdict is Verdict.VIOLATION
    assert 0 < result.outputs.shrink <= samples
    # Before anything else it is asked twice whether it repeats itself.
    assert drawn == 2 * TRIAL + sum(result.outputs.to_dict().values())


def test_workers_change_nothing() -> None:
    one, two = (
        audit(leaks_large_values, SMALL, workers=workers, samples=30_000, backend="threading", isolate=False)
        for workers in (1, 2)
    )
    assert one.smallest is not None
    assert (one.smallest.to_dict(), one.outputs) == (two.smallest.to_dict(), two.outputs)


def test_pairs_spelled_out_shrink_to_each_other_only() -> None:
    pairs = [([0, 0, 0, 0, 8, 8], [0, 0, 0, 0, 8]), ([0, 0, 0, 9], [0, 0, 0])]
    domain = Pairs([(np.array(a), np.array(b)) for a, b in pairs])
    result = audit(leaks_large_values, domain, samples=40_000)
    found = result.smallest.pair if result.smallest else result.pair
    assert found.to_dict()["left"] in (pairs[0][0], pairs[1][0])


def test_another_level_takes_the_smallest_along_as_long_as_the_claim_is_refuted(leaky: Any) -> None:
    again = leaky.at_level(1e-5)
    assert (again.verdict, again.smallest.to_dict()) == (Verdict.VIOLATION, leaky.smallest.to_dict())
    assert again.bound.value < leaky.bound.value
    weak = audit(response, ANSWERS, auditor.PureDP(1.0), samples=40_000)
    assert weak.verdict is Verdict.VIOLATION
    lost = weak.at_level(weak.p_value / 10)
    assert (lost.verdict, lost.smallest, lost.reproduce) == (Verdict.NO_VIOLATION_FOUND, None, None)
    [settled] = settle([leaky], 0.001, 1)
    assert settled.smallest.to_dict() == leaky.smallest.to_dict()


def test_a_violation_says_how_to_see_it_again(leaky: Any) -> None:
    def call() -> Any:
        names = {"auditor": auditor, "numpy": np, "PureDP": auditor.PureDP, "leaks_large_values": leaks_large_values}
        return eval(leaky.reproduce.replace("seed=", "workers=1, seed="), names)

    assert "auditor.audit(leaks_large_values" in leaky.reproduce
    again = call()
    assert again.verdict is Verdict.VIOLATION
    assert again.pair.to_dict()["left"] == leaky.smallest.pair.to_dict()["left"]


def test_the_smallest_is_told_in_words(leaky: Any) -> None:
    told = finding(leaky)
    assert "The smallest that still breaks it: [" in told
    assert "The smallest" not in finding(replace(leaky, smallest=None))


ALPHA, RUNS = 0.05, 120


def respond(seed: int, claimed: float, samples: int) -> Any:
    execution = Execution(workers=1, isolate=False)
    source, claim = Source("response", function=response), auditor.PureDP(claimed)
    return run(Plan("some", source, claim, ANSWERS, ALPHA, samples=samples, seed=seed, execution=execution))


def test_the_bound_on_the_smallest_pair_exceeds_the_truth_as_seldom_as_it_says() -> None:
    """A false failure has probability below 1e-6."""
    found = [result.smallest for seed in range(RUNS) if (result := respond(seed, 0.2, 8000)).smallest is not None]
    assert len(found) > RUNS / 2, "or nothing is tested"
    # Confirmed or not, each run has at most one number that can be too large.
    allowed = binom.isf(1e-6, RUNS, ALPHA)
    assert sum(smallest.bound.value > LN3 for smallest in found) <= allowed
    # The mistake on purpose, the estimate from the same counts in place of the bound, would be noticed.
    assert sum(estimate(smallest.event) > LN3 for smallest in found) > allowed


def estimate(event: Any) -> float:
    """Return the log-odds of a right guess on one tail."""
    left, right = event["counts"]["left"][0], event["counts"]["right"][0]
    return abs(math.log(left / right))


def test_false_alarms_stay_at_their_level_with_shrinking_on() -> None:
    """A false failure has probability below 1e-6."""
    alarms = sum(respond(seed, LN3, 2000).verdict is Verdict.VIOLATION for seed in range(RUNS))
    assert alarms <= binom.isf(1e-6, RUNS, ALPHA)


def test_progress_of_shrinking_is_told() -> None:
    told: list[Progress] = []
    execution = Execution(workers=1, isolate=False)
    source = Source("cliff", function=leaks_large_values)
    result = run(Plan("some", source, CLAIM, SMALL, 0.001, samples=40_000, execution=execution), told.append)
    phases = [progress.phase for progress in told]
    assert phases == sorted(phases)
    assert {Phase.SHRINK, Phase.CONFIRM} <= set(phases)
    assert all(0 < progress.done <= progress.planned for progress in told)
    assert result.smallest is not None


def boom(data: Any, size: int, rng: np.random.Generator) -> Any:
    """Raise where there are three records or more, one time in three."""
    if len(data) >= 3 and rng.random() < 0.3:
        raise ValueError("too many")
    return rng.normal(size=size)


def test_exceptions_are_shrunk_like_any_output() -> None:
    result = audit(boom, SMALL, samples=20_000, search=20_000)
    found = result.smallest or result
    assert result.verdict is Verdict.VIOLATION
    assert sorted((len(found.pair.left), len(found.pair.right))) == [2, 3]
    assert "ValueError" in found.event["description"]


FILE = """
version: 1
shrink: {of_file}
seed: 3
audits:
  - name: it's one
    mechanism: somewhere:mechanism
    claim: {{epsilon: 1}}
    neighbours: {{pairs: [{{left: 0, right: 1}}]}}
  - name: other
    mechanism: somewhere:mechanism
    claim: {{epsilon: 1}}
    neighbours: {{pairs: [{{left: 0, right: 1}}]}}
    shrink: {of_audit}
"""


@pytest.mark.parametrize(("of_file", "of_audit"), [("true", "false"), ("false", "true")])
def test_files_and_audits_turn_it_on_and_off(of_file: str, of_audit: str, tmp_path: Path) -> None:
    file = tmp_path / "some.yaml"
    file.write_text(FILE.format(of_file=of_file, of_audit=of_audit))
    plans = load_configuration(file).plans
    assert [plan.shrink for plan in plans] == [of_file == "true", of_audit == "true"]
    assert plans[0].rerun == (str(file), "--only", "it's one", "--seed", "3")
    assert load_configuration(file, Overrides(samples=500)).plans[1].rerun[-2:] == ("--samples", "500")


def test_a_violation_of_a_file_is_told_with_its_command_line() -> None:
    source = Source("cliff", function=leaks_large_values)
    execution = Execution(workers=1, isolate=False)
    rerun = ("a file.yaml", "--only", "it's one", "--seed", "3")
    result = run(Plan("it's one", source, CLAIM, SMALL, 0.001, samples=100_000, execution=execution, rerun=rerun))
    assert result.reproduce is not None
    assert shlex.split(result.reproduce) == ["auditor", "run", *rerun]
    told = to_markdown(RunResult("some", 0.999, [result], 1.0))
    assert f"` {result.reproduce} `" in told
