"""Bisection against a search of all numbers, and for conditions that never hold."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditor.bounds.bisection import bracket_threshold, find_threshold, narrow_bracket


@given(st.integers(1, 10**6), st.integers(1, 50))
def test_integers_end_side_by_side_at_the_first_that_holds(first: int, start: int) -> None:
    low, high = bracket_threshold(lambda x: x >= first, 0, start, lambda low, high: high - low <= 1)
    assert (low, high) == (first - 1, first)
    assert isinstance(high, int)
    ends = bracket_threshold(lambda x: x >= first, 0, start, lambda low, high: True)
    assert ends[0] < first <= ends[1]
    assert ends[1] == start or ends[0] * 2 == ends[1]


@given(st.floats(1e-6, 1e6))
def test_numbers_are_found_to_four_digits_and_never_too_small(first: float) -> None:
    threshold = find_threshold(lambda x: x >= first, 2e6)
    assert first <= threshold <= first * (1 + 1.1e-4)


def test_only_numbers_between_the_ends_are_asked() -> None:
    asked: list[float] = []

    def holds(x: float) -> bool:
        asked.append(x)
        return x >= 0.3

    narrow_bracket(holds, 0.0, 1.0, lambda low, high: high - low <= 0.1)
    assert asked == [0.5, 0.25, 0.375, 0.3125]


@pytest.mark.parametrize("most", [0.5, 1.0, 1e6])
def test_a_condition_that_never_holds_has_no_answer(most: float) -> None:
    assert bracket_threshold(lambda x: False, 0.0, 1.0, lambda low, high: True, most) == (math.inf, math.inf)
    assert find_threshold(lambda x: False, most) == math.inf


def test_halving_ends_where_doubles_leave_no_room() -> None:
    low, high = narrow_bracket(lambda x: x >= 1.0, 0.0, 2.0, lambda low, high: False)
    assert (low, high) == (math.nextafter(1.0, 0.0), 1.0)
