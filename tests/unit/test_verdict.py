"""The error budget of a file, and the verdict on a claim given a bound."""

import itertools
import math
import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditor.auditing.evidence import Evidence
from auditor.auditing.ledger import Ledger
from auditor.auditing.outcome import Audit, settle
from auditor.auditing.parallel import run_concurrently
from auditor.auditing.plan import Listener, Plan
from auditor.blackbox.mechanism import PythonSource
from auditor.blackbox.sampling import Execution
from auditor.bounds.evidence import Bound
from auditor.claims import PureDP
from auditor.errors import InvalidInputError
from auditor.neighbours.domains import Pairs
from auditor.results.result import Judgement
from auditor.verdict import Verdict, alpha_for_each, holm_levels, judge


@pytest.mark.parametrize(
    ("bound", "verdict"),
    [
        (0.0, Verdict.NO_VIOLATION_FOUND),
        (1.0, Verdict.NO_VIOLATION_FOUND),
        (math.nextafter(1.0, 2.0), Verdict.VIOLATION),
        (math.inf, Verdict.VIOLATION),
        (-math.inf, Verdict.NO_VIOLATION_FOUND),
        (math.nan, Verdict.INCONCLUSIVE),
    ],
)
def test_a_claim_is_violated_only_by_a_bound_strictly_above_it(bound: float, verdict: Verdict) -> None:
    assert judge(PureDP(1.0), Bound("epsilon", bound, 0.99, "m")) is verdict


@given(st.floats(1e-12, 1 - 1e-12), st.integers(1, 1000))
def test_the_shares_of_all_audits_make_up_the_allowed_error(confidence: float, audits: int) -> None:
    assert alpha_for_each(confidence, audits) * audits == pytest.approx(1 - confidence)


@pytest.mark.parametrize("confidence", [0, 1, -0.1, 1.5, math.nan])
def test_a_confidence_outside_0_and_1_is_told(confidence: float) -> None:
    with pytest.raises(InvalidInputError, match="must lie strictly between 0 and 1"):
        alpha_for_each(confidence, 1)


P_VALUES = st.lists(st.floats(0, 1) | st.sampled_from([0.0, 0.01, 0.02, 0.05]), min_size=1, max_size=8)


@given(P_VALUES, st.floats(0.001, 0.5))
def test_holm_refutes_what_the_textbook_refutes(p_values: list[float], alpha: float) -> None:
    """Reject in the order of p as long as p ≤ α/(number of claims left), and nothing after the first that fails."""
    refuted: set[int] = set()
    left = sorted(range(len(p_values)), key=p_values.__getitem__)
    while left and p_values[left[0]] <= alpha / len(left):
        refuted.add(left.pop(0))
    levels = holm_levels(p_values, alpha)
    assert {i for i, level in enumerate(levels) if p_values[i] <= level} == refuted


@given(P_VALUES, st.floats(0.001, 0.5))
def test_holm_is_never_below_an_even_share_and_never_above_the_whole(p_values: list[float], alpha: float) -> None:
    levels = holm_levels(p_values, alpha)
    assert all(alpha / len(p_values) <= level <= alpha for level in levels)


def test_holm_of_nothing_is_nothing() -> None:
    assert holm_levels([], 0.05) == []


def holm_by_closed_testing(p_values: Sequence[float], alpha: float) -> set[int]:
    """Refute what every intersection that contains it refutes by Bonferroni: another definition of the same procedure."""
    indices = range(len(p_values))
    sets = [c for size in range(1, len(p_values) + 1) for c in itertools.combinations(indices, size)]
    return {i for i in indices if all(min(p_values[j] for j in c) <= alpha / len(c) for c in sets if i in c)}


@given(st.lists(st.floats(0, 0.2) | st.sampled_from([0.0, 0.01, 0.02, 0.05]), min_size=1, max_size=6))
def test_holm_is_the_closure_of_bonferroni(p_values: list[float]) -> None:
    levels = holm_levels(p_values, 0.1)
    assert {i for i, level in enumerate(levels) if p_values[i] <= level} == holm_by_closed_testing(p_values, 0.1)


@pytest.mark.parametrize("true_claims", [1, 2, 3])
def test_the_chance_of_any_false_alarm_in_a_file_stays_at_alpha(true_claims: int) -> None:
    """Exact, over a grid of 20 equally likely p-values for each sound claim; those of the broken ones are tiny."""
    alpha, grid = 0.2, (np.arange(20) + 1) / 20
    broken = [1e-9, 1e-8]
    alarms = 0
    for p_values in itertools.product(grid.tolist(), repeat=true_claims):
        levels = holm_levels([*p_values, *broken], alpha)
        alarms += any(p <= level for p, level in zip(p_values, levels, strict=False))
    assert alarms / 20**true_claims <= alpha + 1e-12
    if true_claims == 1:
        assert alarms / 20 == pytest.approx(alpha)  # the level is used in full: the broken ones cost nothing


def test_one_shared_p_value_is_no_false_alarm_more() -> None:
    """Holm's method holds under any dependence; here all sound claims have the same p-value."""
    alpha, grid = 0.2, (np.arange(1000) + 1) / 1000
    alarms = sum(any(p <= level for level in holm_levels([p] * 4, alpha)) for p in grid.tolist())
    assert alarms / 1000 <= alpha


# --- settle ---


CLAIM = PureDP(1.0)


@dataclass(frozen=True)
class Refuting(Evidence):
    """Evidence whose bound is 2 at levels that refute, else 0.5."""

    p: float
    claim: PureDP = CLAIM

    def bound(self, alpha: float) -> float:
        return 2.0 if self.p <= alpha else 0.5

    def p_value(self) -> float:
        return self.p

    def judge(self, alpha: float) -> Judgement:
        bound = Bound("epsilon", self.bound(alpha), 1 - alpha, "m")
        return Judgement(judge(self.claim, bound), "all drawn", bound, p_value=self.p, alpha=alpha)


NOTHING_RANDOM = Judgement(Verdict.NO_VIOLATION_FOUND, "all looked at", Bound("sensitivity", 0.5, 1.0, "m"))


def ended(name: str, p_value: float | None) -> Audit:
    """An audit that has ended after 3 seconds; without a p-value where nothing is random."""
    plan = Plan(name, PythonSource("m", function=abs), PureDP(1.0), Pairs([(0, 1)]), 0.01)
    evidence = NOTHING_RANDOM if p_value is None else Refuting(p_value)
    return Audit(Ledger(plan, lambda progress: None), evidence).close().with_seconds(3.0)


def test_the_seconds_of_audits_side_by_side_sum_to_the_time_they_took() -> None:
    def run(plan: Plan, listener: Listener) -> Audit:
        time.sleep(0.1 * int(plan.name))
        return ended(plan.name, None)

    plans = [ended(name, None).plan for name in "1122334"]
    plans = [plan.with_settings(execution=Execution(workers=2)) for plan in plans]
    began = time.monotonic()
    seconds = [audit.result().seconds or 0.0 for audit in run_concurrently(plans, run, lambda progress: None)]
    assert sum(seconds) == pytest.approx(time.monotonic() - began, abs=0.1)


@given(st.lists(st.none() | st.floats(0, 0.2), max_size=6), st.integers(0, 3))
def test_settling_gives_every_audit_the_level_that_holm_gives(p_values: list[float | None], not_run: int) -> None:
    results = [ended(str(i), p) for i, p in enumerate(p_values)]
    settled = settle(results, 0.1, len(p_values) + not_run)
    expected = [1.0 if p is None else p for p in p_values] + [1.0] * not_run
    levels = holm_levels(expected, 0.1)
    refuted = {i for i, p in enumerate(expected) if p <= levels[i]}
    assert [after.name for after in settled] == [before.plan.name for before in results]
    for i, (before, after) in enumerate(zip(results, settled, strict=True)):
        assert after.seconds == 3.0
        p = p_values[i]
        if p is None:
            assert after.judgement == before.answer
        else:
            assert (after.verdict is Verdict.VIOLATION) == (i in refuted)
            assert after.alpha == levels[i]
            assert after.judgement == Refuting(p).judge(levels[i])


def test_audits_that_gave_no_answer_keep_their_share() -> None:
    """Audits that fail are counted, or else the others would be tested at a larger level."""
    [settled] = settle([ended("a", 0.03)], 0.1, 4)
    assert settled.alpha == pytest.approx(0.025)
    assert settled.verdict is Verdict.NO_VIOLATION_FOUND
    [settled] = settle([ended("a", 0.03)], 0.1, 1)
    assert settled.verdict is Verdict.VIOLATION
