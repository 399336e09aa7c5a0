"""When a stated number lies below the exact one, when an interval decides, and which verdict follows."""

import math

import pytest

from auditor.accountants.outcome import Coverage, Statement, judged, rounded_outward
from auditor.accountants.target import States
from auditor.exact import Interval
from auditor.verdict import Verdict


@pytest.mark.parametrize(
    ("states", "stated", "low", "high", "below"),
    [
        ("epsilon", 1.0, 1.0000005, 1.0000005, False),  # within the tolerance
        ("epsilon", 1.0, 1.000002, 1.000002, True),
        ("epsilon", 1.0, 0.5, 2.0, False),  # inside
        ("epsilon", 1.0, math.inf, math.inf, True),
        ("epsilon", math.inf, math.inf, math.inf, False),
        ("epsilon", math.inf, 1.0, math.inf, False),
        ("epsilon", 0.0, 1e-12, 1e-12, False),  # within what root finding loses
        ("epsilon", -1.0, 0.0, 0.0, False),
        ("epsilon", -1.0, 0.1, 0.1, True),
        ("delta", 0.0, 1e-16, 1e-16, False),
        ("delta", 0.0, 1e-13, 1e-13, True),
        ("delta", 1e-13, 1e-12, 1e-12, True),
        ("renyi", 1e-9, 2e-9, 2e-9, True),
    ],
)
def test_what_lies_below(states: States, stated: float, low: float, high: float, below: bool) -> None:
    assert Statement({}, stated, low, high).is_below(states, 1e-6) == below


def test_the_tolerance_is_relative_and_may_be_set() -> None:
    statement = Statement({}, 1.0, 1.0000005, 1.0000005)
    assert statement.is_below("epsilon", 1e-7)
    assert not Statement({}, 1.0, 1.05, 1.05).is_below("epsilon", 0.1)


@pytest.mark.parametrize(
    ("stated", "low", "high", "decided"),
    [
        (1.0, 0.5, 2.0, False),
        (2.0, 0.5, 2.0, True),
        (0.4, 0.5, 2.0, True),
        (1.0, 0.995, 1.005, True),
        (1.0, 0.5, math.inf, False),
    ],
)
def test_what_an_interval_decides(stated: float, low: float, high: float, decided: bool) -> None:
    assert Statement({}, stated, low, high).is_decided("epsilon", 1e-6) == decided


@pytest.mark.parametrize(
    ("shown", "coverage", "verdict"),
    [
        (Statement({}, 1.0, 2.0, 2.0), Coverage(1, 1), Verdict.VIOLATION),
        (Statement({}, 1.0, 2.0, 3.0), Coverage(9, 1, undecided=8), Verdict.VIOLATION),
        (Statement({}, 3.0, 2.0, 2.0), Coverage(9, 9), Verdict.NO_VIOLATION_FOUND),
        (Statement({}, 3.0, 2.0, 2.0), Coverage(9, 3, undecided=6), Verdict.INCONCLUSIVE),
        (Statement({}, 3.0, 2.0, 2.0), Coverage(9, 3, refused=6), Verdict.NO_VIOLATION_FOUND),
        (None, Coverage(9, 0, refused=9), Verdict.INCONCLUSIVE),
        (None, Coverage(9, 0, outside=9), Verdict.INCONCLUSIVE),
        (Statement({}, 1.5, 1.0, 2.0), Coverage(1, 0, undecided=1), Verdict.INCONCLUSIVE),
    ],
)
def test_the_verdict(shown: Statement | None, coverage: Coverage, verdict: Verdict) -> None:
    assert judged("epsilon", 1e-6, shown, coverage) is verdict


@pytest.mark.parametrize(("low", "high"), [(1 / 3, 2 / 3), (1e-30, 1e-30), (0.0, math.inf), (1.0, 1.0)])
def test_ends_are_rounded_outward(low: float, high: float) -> None:
    ends = rounded_outward(Interval(low, high, ""))
    assert ends[0] <= low <= high <= ends[1]
    assert ends[0] >= low * (1 - 1e-9)
    assert ends[1] <= high * (1 + 1e-9)


def test_ratios_are_those_that_hold() -> None:
    assert Statement({}, 2.0, 4.0, 5.0).ratio == 2.0
    assert Statement({}, 10.0, 4.0, 5.0).looseness == 2.0
    assert Statement({}, 0.0, 4.0, 5.0).ratio == math.inf
    assert Statement({}, 0.0, 0.0, 0.0).ratio == 0.0
    assert Statement({}, math.inf, 4.0, 5.0).ratio == 0.0
