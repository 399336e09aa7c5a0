"""Numbers in a range: the ladder of those worth trying first, random ones, and ones near another."""

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, TypeVar

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


Spelling = tuple[int, int, float]


def spelling(value: Any) -> Spelling:
    """Return the place of a value in the order of simplicity: characters, then digits other than 0, then distance from 0.

    >>> sorted([137, 0.25, -1, 200, 1e6, 199, 7, 0], key=spelling)
    [0, 7, -1, 200, 137, 199, 0.25, 1000000.0]
    """
    text = repr(value).removesuffix(".0")
    is_finite = isinstance(value, int | float) and math.isfinite(value)
    return len(text), sum(character in "123456789" for character in text), abs(float(value)) if is_finite else 0.0


def simpler_numbers(value: Number, low: Number, high: Number, integer: bool) -> list[Number]:
    """Return numbers of a range that are simpler than one of it by :func:`spelling`, the boldest changes first.

    >>> simpler_numbers(137, 0, 1000, True)
    [0, 1, 100, 140, 130, 68, 102, 119, 128, 132, 134, 135, 136]
    """
    goal = min(high, max(low, 0))
    found: list[Number] = [goal, low, high, goal + 1, goal - 1]
    for digits in range(1, 17):
        unit = Fraction(10) ** (math.floor(math.log10(abs(value))) + 1 - digits) if value else Fraction(1)
        found += [round(Fraction(value) / unit) * unit, math.trunc(Fraction(value) / unit) * unit]  # type: ignore[list-item]
    step = Fraction(value) - Fraction(goal)
    while abs(step) >= 1:
        step /= 2
        found.append(math.trunc(Fraction(value) - step))
    inside = (x for x in found if low <= x <= high and (not integer or x == int(x)))
    typed = dict.fromkeys(int(x) if integer else float(x) for x in inside)
    return [x for x in typed if spelling(x) < spelling(value)]


def check_range(name: str, bounds: Sequence[Number]) -> tuple[Number, Number]:
    """Return the ends of a range, or raise InvalidInputError unless both are finite and in order."""
    if isinstance(bounds, dict) or not hasattr(bounds, "__len__") or len(bounds) != 2:
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
