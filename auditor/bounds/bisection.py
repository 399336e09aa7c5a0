"""The threshold from which on a monotone condition holds, by doubling and bisection."""

import math
from collections.abc import Callable
from typing import TypeVar

N = TypeVar("N", int, float)


def bracket_threshold(
    holds: Callable[[N], bool], low: N, high: N, is_near: Callable[[N, N], bool], most: float = math.inf
) -> tuple[float, float]:
    """Return two near numbers: the condition fails at the first and holds at the second; (∞, ∞) if it fails up to ``most``.

    ``high`` is doubled until the condition holds there; then ``narrow_bracket`` bisects the last interval. The condition
    is not tested at the given ``low``.

    >>> bracket_threshold(lambda x: x >= 5, 0, 1, lambda low, high: high - low <= 2)
    (4, 6)
    """
    while not holds(high):
        low, high = high, 2 * high
        if high > most:
            return math.inf, math.inf
    return narrow_bracket(holds, low, high, is_near)


def narrow_bracket(holds: Callable[[N], bool], low: N, high: N, is_near: Callable[[N, N], bool]) -> tuple[N, N]:
    """Return two nearer numbers such that the condition fails at the first and holds at the second.

    The condition must fail at ``low`` and hold at ``high``; neither is tested. The interval is bisected until
    ``is_near(low, high)``, or until no number lies between its ends. Integers stay integers.

    >>> narrow_bracket(lambda x: x * x >= 2, 0, 100, lambda low, high: high - low <= 1)
    (1, 2)
    """
    while not is_near(low, high):
        middle = (low + high) // 2 if isinstance(low, int) else (low + high) / 2
        if middle in (low, high):
            break
        low, high = (low, middle) if holds(middle) else (middle, high)
    return low, high


def find_threshold(holds: Callable[[float], bool], most: float) -> float:
    """Return the least number above 0, to four digits, from which on the condition holds; ∞ if it fails up to ``most``.

    >>> round(find_threshold(lambda x: x * x >= 2, 100.0), 4), find_threshold(lambda x: False, 100.0)
    (1.4143, inf)
    """
    return bracket_threshold(holds, 0.0, 1.0, lambda low, high: high - low <= 1e-4 * high, most)[1]
