"""The error budget of a file, and what a bound says of a claim."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditor.bounds.evidence import Bound
from auditor.claims import PureDP
from auditor.errors import InvalidInputError
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
