"""Where a condition begins to hold that holds for all larger numbers once it holds: by doubling, then by halving."""

import math
from collections.abc import Callable
from typing import TypeVar

N = TypeVar("N", int, float)


def doubled(holds: Callable[[N], bool], low: N, high: N, most: float = math.inf) -> tuple[N, N] | None:
    """Return two numbers such that a condition fails at the first and holds at the second; None if it fails up to ``most``.

    The second is ``high`` times a power of two, and the first is half of it. The condition is not tested at ``low``, which is the
    first number if ``high`` is the second.

    >>> doubled(lambda x: x >= 5, 0, 1), doubled(lambda x: x >= 5, 0, 1, most=4)
    ((4, 8), None)
    """
    while not holds(high):
        low, high = high, 2 * high
        if high > most:
            return None
    return low, high


def halved(holds: Callable[[N], bool], low: N, high: N, is_near: Callable[[N, N], bool]) -> tuple[N, N]:
    """Return two nearer numbers such that a condition fails at the first and holds at the second.

    It must fail at ``low`` and hold at ``high``; neither is tested. The interval between them is halved until
    ``is_near(low, high)``, or until no number lies between. Integers stay integers.

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
    """Return the smallest number above 0, to four digits, from which on a condition holds; infinite if none up to ``most`` does.

    >>> round(smallest_number(lambda x: x * x >= 2, 100.0), 4), smallest_number(lambda x: False, 100.0)
    (1.4143, inf)
    """
    ends = doubled(holds, 0.0, 1.0, most)
    return math.inf if ends is None else halved(holds, *ends, lambda low, high: high - low <= 1e-4 * high)[1]
