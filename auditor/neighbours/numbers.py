"""Numbers in a range: the ladder of those worth trying first, random ones, and ones near another."""

import math
from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np

from auditor.errors import InvalidInputError, require_number

Number = int | float
T = TypeVar("T")


def ladder(low: Number, high: Number, integer: bool) -> list[Number]:
    """Return both ends, the middle, and 1-2-5 steps away from ``low``, from 0, and below ``high``.

    >>> ladder(0, 100, True)
    [0, 1, 2, 5, 10, 20, 50, 99, 100]
    >>> ladder(-1, 1, False)
    [-1.0, -0.9, -0.1, 0.0, 0.1, 0.9, 1.0]
    """
    span = high - low
    top = math.floor(math.log10(span)) if span > 0 else 0
    decades = range(0 if integer else top - 1, top + 1)
    steps: list[Number] = [
        m * 10**d if d >= 0 else m / 10**-d for d in decades for m in ((1, 2, 5) if integer else (1,))
    ]
    marks = {low, high, (low + high) // 2 if integer else (low + high) / 2}
    marks |= {low + s for s in steps} | {high - s for s in steps[:1]}
    if low < 0 < high:
        marks |= {0, *steps, *(-s for s in steps)}
    # One type for all, so that the type of a data set tells nothing of the side.
    return sorted({m if integer else float(m) for m in marks if low <= m <= high})


def random_number(low: Number, high: Number, integer: bool, rng: np.random.Generator) -> Number:
    """Draw uniformly, or uniformly in the logarithm of the distance from ``low``, with equal chance."""
    if low == high:
        return low if integer else float(low)
    if rng.random() < 0.5:
        x = rng.uniform(low, high)
    else:
        smallest = 1.0 if integer else (high - low) * 1e-4
        x = low + math.exp(rng.uniform(math.log(smallest), math.log(max(high - low, smallest))))
    x = min(high, max(low, round(x) if integer else x))
    return x if integer else float(x)


def nearby(value: Number, low: Number, high: Number, integer: bool, rng: np.random.Generator) -> Number:
    """Change a number by a step of any size, small ones as likely as large ones."""
    step = random_number(0, high - low, integer, rng)
    moved = value + (step if rng.random() < 0.5 else -step)
    moved = min(high, max(low, moved))
    return moved if integer else float(moved)


def check_range(name: str, bounds: Sequence[Number]) -> tuple[Number, Number]:
    """Return the ends of a range, or raise InvalidInputError unless both are finite and in order."""
    if len(bounds) != 2:
        raise InvalidInputError(f"{name} is {bounds!r}; it must be the two ends, [low, high]")
    low, high = bounds
    for end, value in (("low", low), ("high", high)):
        require_number(f"the {end} end of {name}", value, -math.inf, math.inf)
    if not (low <= high and math.isfinite(float(high) - float(low))):
        raise InvalidInputError(
            f"{name} goes from {low!r} to {high!r}; low must be at most high, and high − low a finite float"
        )
    return low, high


def retry(attempt: Callable[[], T | None], what: str) -> T:
    """Return the first answer that is not None; a domain that gives none in 1000 tries is as good as empty."""
    for _ in range(1000):
        answer = attempt()
        if answer is not None:
            return answer
    raise InvalidInputError(f"{what} holds (almost) no neighbouring pairs; widen its range")
