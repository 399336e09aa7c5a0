"""The number from which on a condition holds, by doubling and halving. The condition must be monotone."""

import math
from collections.abc import Callable
from typing import TypeVar

N = TypeVar("N", int, float)


def beginning(
    holds: Callable[[N], bool], low: N, high: N, is_near: Callable[[N, N], bool], most: float = math.inf
) -> tuple[float, float]:
    """Return near numbers: a condition fails at the first and holds at the second; (∞, ∞) if it fails up to ``most``.

    ``high`` is doubled until the condition holds at ``high``, and ``halved`` narrows the last interval. The condition
    is not tested at the given ``low``.

    >>> beginning(lambda x: x >= 5, 0, 1, lambda low, high: high - low <= 2)
    (4, 6)
    """
    while not holds(high):
        low, high = high, 2 * high
        if high > most:
            return math.inf, math.inf
    return halved(holds, low, high, is_near)


def halved(holds: Callable[[N], bool], low: N, high: N, is_near: Callable[[N, N], bool]) -> tuple[N, N]:
    """Return two nearer numbers such that the condition fails at the first and holds at the second.

    The condition must fail at ``low`` and hold at ``high``; neither is tested. The interval is halved until
    ``is_near(low, high)``, or until no number lies between its ends. Integers stay integers.

    >>> halved(lambda x: x * x >= 2, 0, 100, lambda low, high: high - low <= 1)
    (1, 2)
    """
    while not is_near(low, high):
        middle = (low + high) // 2 if isinstance(low, int) else (low + high) / 2
        if middle in (low, high):
            break
        low, high = (low, middle) if holds(middle) else (middle, high)
    return low, high


def smallest_number(holds: Callable[[float], bool], most: float) -> float:
    """Return the least number above 0, to four digits, from which on the condition holds; ∞ if it fails up to ``most``.

    >>> round(smallest_number(lambda x: x * x >= 2, 100.0), 4), smallest_number(lambda x: False, 100.0)
    (1.4143, inf)
    """
    return beginning(holds, 0.0, 1.0, lambda low, high: high - low <= 1e-4 * high, most)[1]
