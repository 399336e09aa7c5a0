"""How a bound grows with its outputs: what they counted after each part of them, and the bound that would have given.

For the eye only. The bound of an audit is that of all its outputs; to stop where it looks best would break its confidence.
"""

import bisect
import itertools
from collections.abc import Callable, Sequence
from typing import TypeVar

C = TypeVar("C")

# Points of the curve.
LOOKS = 16


def added_up(pieces: Sequence[tuple[int, C]]) -> list[tuple[int, C]]:
    """Return (outputs, counts) at about LOOKS even steps; the last holds all pieces."""
    sums = list(itertools.accumulate(pieces, lambda a, b: (a[0] + b[0], a[1] + b[1])))
    sizes = [outputs for outputs, _ in sums]
    steps = (bisect.bisect_left(sizes, sizes[-1] * look / LOOKS) for look in range(1, LOOKS + 1))
    return [sums[at] for at in dict.fromkeys(steps)]


def growth(looks: Sequence[tuple[int, C]], bound: Callable[[C], float]) -> list[tuple[int, float]]:
    """Return (outputs, bound) for each look."""
    return [(outputs, bound(counts)) for outputs, counts in looks]
