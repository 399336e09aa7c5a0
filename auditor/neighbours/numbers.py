"""Numbers in a range: the ladder of numbers to try first, random numbers, and numbers near a given one."""

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeVar

import numpy as np

from auditor.errors import InvalidInputError, require_number

Number = int | float
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Range:
    """The numbers from ``low`` to ``high``, both included, or the integers among them."""

    low: Number
    high: Number
    integer: bool

    @classmethod
    def of(cls, name: str, ends: Sequence[Number], integer: bool = True) -> "Range":
        """Return the range called ``name``. Raises InvalidInputError unless both ends are finite and in order."""
        if isinstance(ends, dict) or not hasattr(ends, "__len__") or len(ends) != 2:
            raise InvalidInputError(f"{name} is {ends!r}; it must be the two ends, [low, high]")
        low, high = ends
        for end, value in (("low", low), ("high", high)):
            require_number(f"the {end} end of {name}", value, -math.inf, math.inf)
        if not (low <= high and math.isfinite(float(high) - float(low))):
            raise InvalidInputError(
                f"{name} goes from {low!r} to {high!r}; low must be at most high, and high − low a finite float"
            )
        return cls(low, high, integer)

    @property
    def has_integer_ends(self) -> bool:
        """Whether both ends were written as integers."""
        return isinstance(self.low, int) and isinstance(self.high, int)

    @property
    def middle(self) -> Number:
        """The middle of the range; for integers, rounded down."""
        return (self.low + self.high) // 2 if self.integer else (self.low + self.high) / 2

    def nearest(self, number: Number) -> Number:
        """Return the number from ``low`` to ``high`` that is nearest to ``number``."""
        return min(self.high, max(self.low, number))

    def __contains__(self, number: Number) -> bool:
        return self.low <= number <= self.high

    def ladder(self) -> list[Number]:
        """Return both ends, the middle, 1-2-5 steps above ``low`` and around 0, and one step below ``high``.

        >>> Range(0, 100, True).ladder()
        [0, 1, 2, 5, 10, 20, 50, 99, 100]
        >>> Range(-1, 1, False).ladder()
        [-1.0, -0.9, -0.1, 0.0, 0.1, 0.9, 1.0]
        """
        low, high, integer = self.low, self.high, self.integer
        span = high - low
        top = math.floor(math.log10(span)) if span > 0 else 0
        decades = range(0 if integer else top - 1, top + 1)
        steps: list[Number] = [
            m * 10**d if d >= 0 else m / 10**-d for d in decades for m in ((1, 2, 5) if integer else (1,))
        ]
        marks = {low, high, self.middle}
        marks |= {low + s for s in steps} | {high - s for s in steps[:1]}
        if low < 0 < high:
            marks |= {0, *steps, *(-s for s in steps)}
        marks |= {*self.halfway()}
        return sorted({self._typed(m) for m in marks if m in self})

    def halfway(self) -> list[Number]:
        """Return integers halfway between two floats: the smallest, and those whose neighbouring floats are farthest apart. As a
        float, such an integer and the next one differ by far more than 1.

        >>> Range(0, 2**60, True).halfway(), Range(0, 2**53, True).halfway()
        ([9007199254740993, 576460752303423552], [])
        """
        top = max(abs(int(self.low)), abs(int(self.high))).bit_length() if self.integer else 0
        halves = [2**k + 2 ** (k - 53) for k in sorted({53, top - 2, top - 1}) if k >= 53]
        numbers = list[Number]()
        for sign in (1, -1):
            inside = [sign * half for half in halves if sign * half in self and sign * (half + 1) in self]
            numbers += dict.fromkeys([*inside[:1], *inside[-1:]])
        return numbers

    def off_grid(self) -> list[Number]:
        """Return 1 (or what is 1 above ``low``), and a number near a third of the width that is no multiple of a round share
        of the ends: noise in steps that these numbers are multiples of hides neither.

        >>> Range(0, 100, True).off_grid(), Range(-600, 600, True).off_grid(), Range(0, 1, False).off_grid()
        ([1, 31], [1, -199], [0.317])
        """
        low, high, width = self.low, self.high, self.high - self.low
        third = low + width * 0.317
        if self.integer:
            about = int(low) + int(width) // 3
            third = min(
                range(max(int(low), about - 50), min(int(high), about + 50) + 1),
                key=lambda n: (math.gcd(n, 30 * int(high)) + math.gcd(n - int(low), 30 * int(width)), abs(n - about)),
            )
        numbers = (1 if low < 1 < high else low + 1, third)
        return list(dict.fromkeys(self._typed(number) for number in numbers if low < number < high))

    def edges(self) -> list[Number]:
        """Return both ends, the middle, the numbers next to the high and to the low end, and those a little inside.

        >>> Range(0, 100, True).edges(), Range(0, 1, False).edges()
        ([0, 100, 50, 99, 1, 97, 3], [0.0, 1.0, 0.5, 0.9, 0.1, 0.97, 0.03])
        """
        marks, width = self.ladder(), self.high - self.low
        inside = max(1, int(width) * 3 // 100 | 1) if self.integer else 0.03 * width
        numbers = self.low, self.high, self.middle, marks[-2:][0], marks[:2][-1], self.high - inside, self.low + inside
        return [self._typed(self.nearest(number)) for number in numbers]

    def few(self, most: int) -> list[Number]:
        """Return all numbers of the range in rising order if there are at most ``most``, else none. The numbers of a
        range of reals are its floats, which are few far from zero.

        >>> Range(0, 3, True).few(4), Range(0, 1, False).few(4), Range(2**50, 2**50 + 0.5, False).few(4)
        ([0, 1, 2, 3], [], [1125899906842624.0, 1125899906842624.2, 1125899906842624.5])
        """
        if self.integer:
            return list(range(int(self.low), int(self.high) + 1)) if self.high - self.low < most else []
        floats = [float(self.low)]
        while floats[-1] < self.high and len(floats) <= most:
            floats.append(math.nextafter(floats[-1], math.inf))
        return list[Number](floats) if len(floats) <= most else []

    def draw(self, rng: np.random.Generator) -> Number:
        """Draw uniformly or, with probability one half, uniformly in the logarithm of the distance from ``low``."""
        low, high = self.low, self.high
        if low == high:
            return self._typed(low)
        if rng.random() < 0.5:
            x = _uniform(low, high, rng)
        else:
            smallest = 1.0 if self.integer else (high - low) * 1e-4
            x = low + math.exp(_uniform(math.log(smallest), math.log(max(high - low, smallest)), rng))
        return self._typed(self.nearest(round(x) if self.integer else x))

    def near(self, value: Number, rng: np.random.Generator) -> Number:
        """Move a number up or down by a step. Its size is uniform or log-uniform, up to the width of the range."""
        step = Range(0, self.high - self.low, self.integer).draw(rng)
        return self._typed(self.nearest(value + (step if rng.random() < 0.5 else -step)))

    def simpler(self, value: Number) -> list[Number]:
        """Return numbers of the range that are simpler than ``value`` by :func:`spelling`, the boldest changes first.

        >>> Range(0, 1000, True).simpler(137)
        [0, 1, 100, 140, 130, 68, 102, 119, 128, 132, 134, 135, 136]
        """
        goal = self.nearest(0)
        candidates: list[Number] = [goal, self.low, self.high, goal + 1, goal - 1]
        for digits in range(1, 17):
            unit = Fraction(10) ** (math.floor(math.log10(abs(value))) + 1 - digits) if value else Fraction(1)
            candidates += [round(Fraction(value) / unit) * unit, math.trunc(Fraction(value) / unit) * unit]  # type: ignore[list-item]
        step = Fraction(value) - Fraction(goal)
        while abs(step) >= 1:
            step /= 2
            candidates.append(math.trunc(Fraction(value) - step))
        inside = (x for x in candidates if x in self and (not self.integer or x == int(x)))
        typed = dict.fromkeys(int(x) if self.integer else float(x) for x in inside)
        return [x for x in typed if spelling(x) < spelling(value)]

    def has(self, value: Any) -> bool:
        """Whether a value is in the range and has the type of the range's numbers (int or float)."""
        return type(value) is (int if self.integer else float) and value in self

    def _typed(self, number: Number) -> Number:
        """Return the number in the type of all numbers of the range, so that the type does not reveal the side."""
        return number if self.integer else float(number)


def _uniform(low: Number, high: Number, rng: np.random.Generator) -> float:
    """Return what ``rng.uniform`` does, in a third of the time: a search draws millions of records."""
    return float(low) + (float(high) - float(low)) * rng.random()


def spelling(value: Any) -> tuple[int, int, float]:
    """Return the key of the order of simplicity: characters, then digits other than 0, then distance from 0.

    >>> sorted([137, 0.25, -1, 200, 1e6, 199, 7, 0], key=spelling)
    [0, 7, -1, 200, 137, 199, 0.25, 1000000.0]
    """
    text = repr(value).removesuffix(".0")
    is_finite = isinstance(value, int | float) and math.isfinite(value)
    return len(text), sum(character in "123456789" for character in text), abs(float(value)) if is_finite else 0.0


def arrangements(low: T, high: T, n: int) -> list[tuple[T, ...]]:
    """Return n values at two ends: all at one, in turns, in two blocks, and all but the last, or the first, at one.

    >>> arrangements(0, 1, 3)[::2]
    [(0, 0, 0), (0, 1, 0), (0, 1, 1), (0, 0, 1), (1, 0, 0)]
    """
    half, few = n // 2, min(1, n)
    patterns = [
        pattern
        for a, b in ((low, high), (high, low))
        for pattern in (
            (a,) * n,
            ((a, b) * n)[:n],
            (a,) * half + (b,) * (n - half),
            (a,) * (n - few) + (b,) * few,
            (b,) * few + (a,) * (n - few),
        )
    ]
    return [pattern for i in range(5) for pattern in patterns[i::5]]


def one_changed(vector: Sequence[Any], changes: Callable[[Any], Sequence[Any]]) -> Iterator[tuple[Any, ...]]:
    """Yield the vector with one value replaced, for each value and each of the ``changes`` of this value."""
    for i, value in enumerate(vector):
        yield from (with_value(vector, i, changed) for changed in changes(value))


def blocks_changed(vector: Sequence[Any], value: Any) -> Iterator[tuple[Any, ...]]:
    """Yield the vector with ``value`` in place of half of all other values, of a quarter, and so on down to four."""
    others = [i for i, number in enumerate(vector) if number != value]
    for block in itertools.islice(blocks([str(i) for i in others]), 1, None):
        places = {*others[block]}
        if len(places) < 4:  # fewer are changed one by one
            return
        yield tuple(value if i in places else number for i, number in enumerate(vector))


def blocks(rows: Sequence[str]) -> Iterator[slice]:
    """Yield slices of rows, which are given as texts: of all rows, halves, quarters and so on down to single rows.

    A block equal to the block before it is skipped: removing either block leaves the same rows.
    """
    size = len(rows)
    while size > 0:
        for start in range(0, len(rows), size):
            block = slice(start, start + size)
            if start == 0 or rows[start - size : start] != rows[block]:
                yield block
        size //= 2


def with_value(vector: Sequence[Any], place: int, value: Any) -> tuple[Any, ...]:
    """Return the vector with ``value`` at one place."""
    return (*vector[:place], value, *vector[place + 1 :])
