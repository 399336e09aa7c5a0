"""Which settings of the parameters are tried: ends, values near them, round numbers, corners, spaced ones and random ones."""

import itertools
import math
from collections.abc import Iterator, Sequence
from typing import TypeAlias

import numpy as np

from auditor.accountants.target import Accountant, Range, Value

Setting: TypeAlias = dict[str, Value]

# A range with log that starts at 0 is spaced down to this share of its high end.
LEAST_SHARE = 1e-30
MOST_ROUND, MOST_CORNERS = 14, 32
# Numbers that people write.
USUAL = (1.0, 0.1, 0.01, 0.5, 2.0, 10.0, 100.0, 1000.0, 1e-5, 1e-6, 1e-9, 0.0)
# How far from an end values lie that are near it, as a share of the value.
NEAR = (1e-7, 1e-3)


def special_values(space: Range | Sequence[Value]) -> list[Value]:
    """Return the ends of a range, values near them, and round numbers between; of choices, all.

    >>> special_values(Range(0.0, 1.0))[:4], special_values(Range(1, 10, integer=True))
    ([0.0, 1.0, 1e-07, 0.001], [1, 10, 2, 9, 3, 6, 8])
    """
    if not isinstance(space, Range):
        return list(space)
    low, high = space.low, space.high
    width = high - low
    near = [low + s * (low or width) for s in NEAR] + [high - s * (high or width) for s in NEAR]
    if space.integer:
        near = [low + 1, high - 1]
    usual = [number for number in USUAL if low < number < high]
    found = [low, high, *near, *usual, *_round_numbers(space)]
    kept = dict.fromkeys(_typed(space, value) for value in found)
    return [value for value in kept if value in space]


def _round_numbers(space: Range) -> list[float]:
    low, high = space.low, space.high
    numbers: list[float] = []
    if space.log:
        least = low or high * LEAST_SHARE
        decades = range(math.floor(math.log10(least)), math.ceil(math.log10(high)) + 1)
        every = max(1, len(decades) // (MOST_ROUND // 2))
        for k in decades[::every]:
            numbers += [float(f"{digit}e{k}") for digit in ((1, 2, 5) if every == 1 else (1,))]
    else:
        numbers += [low + (high - low) * share for share in (0.1, 0.25, 0.5, 0.75, 0.9)]
        numbers += [-1.0, -10.0]
    inside = [number for number in numbers if low < number < high]
    return inside[:: max(1, math.ceil(len(inside) / MOST_ROUND))]


def _typed(space: Range, value: float) -> Value:
    return round(value) if space.integer else float(value)


def rounded(space: Range, value: float, digits: int = 3) -> Value:
    """Return a value with few digits, inside the range."""
    kept = min(max(float(f"{value:.{digits}g}"), space.low), space.high)
    return _typed(space, kept)


def position(space: Range, value: float) -> float:
    """Return where a value lies in its range, from 0 to 1: by its logarithm if the range has log."""
    if space.low == space.high:
        return 0.0
    if not space.log:
        return (value - space.low) / (space.high - space.low)
    least = space.low or space.high * LEAST_SHARE
    return max(0.0, math.log(max(value, least) / least) / math.log(space.high / least))


def at_position(space: Range, share: float, digits: int = 3) -> Value:
    """Return the value at a position, with few digits."""
    share = min(max(share, 0.0), 1.0)
    if not space.log:
        return rounded(space, space.low + share * (space.high - space.low), digits)
    least = space.low or space.high * LEAST_SHARE
    return rounded(space, least * (space.high / least) ** share, digits)


class Points:
    """The settings of an accountant's parameters."""

    def __init__(self, accountant: Accountant) -> None:
        self.spaces = {name: accountant.choices_of(name) for name in accountant.parameters}
        self.specials = {name: special_values(space) for name, space in self.spaces.items()}
        self.free = [name for name, values in self.specials.items() if len(values) > 1]

    def count(self) -> float:
        """Return how many settings there are; infinite if a range has numbers that are no integers."""
        return math.prod(
            len(dict.fromkeys(space))
            if not isinstance(space, Range)
            else 1
            if space.low == space.high
            else space.high - space.low + 1
            if space.integer
            else math.inf
            for space in self.spaces.values()
        )

    def centre(self) -> Setting:
        """Return the middle of each range, to one digit, and the first of all choices."""
        return {
            name: at_position(space, 0.5, 1) if isinstance(space, Range) else space[0]
            for name, space in self.spaces.items()
        }

    def simplest(self) -> Setting:
        """Return the simplest value of each parameter."""
        return {
            name: min(values, key=complexity) if isinstance(self.spaces[name], Range) else values[0]
            for name, values in self.specials.items()
        }

    def lines(self, base: Setting) -> Iterator[tuple[str, list[Setting]]]:
        """Yield each parameter that varies, with the settings that differ from ``base`` in it alone."""
        for name in self.free:
            yield name, [{**base, name: value} for value in self.specials[name]]

    def corners(self, rng: np.random.Generator) -> list[Setting]:
        """Return settings of ends, and of all choices; not all if there are many."""
        typed: dict[str, list[Value]] = {
            name: [_typed(space, space.low), _typed(space, space.high)] if isinstance(space, Range) else list(space)
            for name, space in self.spaces.items()
        }
        count = math.prod(len(values) for values in typed.values())
        if count <= MOST_CORNERS:
            return [dict(zip(typed, values, strict=True)) for values in itertools.product(*typed.values())]
        return [
            {name: values[int(rng.integers(len(values)))] for name, values in typed.items()}
            for _ in range(MOST_CORNERS)
        ]

    def random(self, rng: np.random.Generator) -> Setting:
        """Return a setting of which each value is special, or spaced evenly at random."""
        made: Setting = {}
        for name, space in self.spaces.items():
            specials = self.specials[name]
            if not isinstance(space, Range) or rng.random() < 0.4:
                made[name] = specials[int(rng.integers(len(specials)))]
            else:
                made[name] = at_position(space, rng.random())
        return made

    def near(self, setting: Setting, rng: np.random.Generator, reach: float) -> Setting:
        """Return a setting that differs in one value, or now and then in two; of a range by at most ``reach`` in position."""
        made = dict(setting)
        count = 1 if len(self.free) < 2 or rng.random() < 0.7 else 2
        for i in rng.permutation(len(self.free))[:count]:
            name = self.free[int(i)]
            space, specials = self.spaces[name], self.specials[name]
            value = made[name]
            if not isinstance(space, Range) or rng.random() < 0.25:
                made[name] = specials[int(rng.integers(len(specials)))]
            else:
                assert isinstance(value, int | float)
                moved = position(space, value) + reach * (2 * rng.random() - 1)
                made[name] = at_position(space, moved)
                if space.integer and made[name] == value:
                    made[name] = rounded(space, value + (1 if rng.random() < 0.5 else -1), 17)
        return made

    def simpler(self, setting: Setting) -> Iterator[Setting]:
        """Yield settings with one simpler value, the simplest first."""
        for name in self.free:
            space, value = self.spaces[name], setting[name]
            if not isinstance(space, Range):
                earlier = space[: space.index(value)]
                yield from ({**setting, name: choice} for choice in earlier)
                continue
            assert isinstance(value, int | float)
            own = complexity(value)
            candidates = [c for c in _simple_values(space, value) if complexity(c) < own]
            yield from ({**setting, name: candidate} for candidate in sorted(candidates, key=complexity))

    def complexity(self, setting: Setting) -> float:
        """Return how hard a setting is to read: of choices, earlier ones are simpler."""
        return sum(
            complexity(value) if isinstance(space := self.spaces[name], Range) else float(space.index(value))
            for name, value in setting.items()
        )


def _simple_values(space: Range, value: float) -> list[float]:
    """Return values of a range that may be simpler: few digits of the value, powers of ten towards 1, 1, and the ends."""
    found = [*USUAL, float(space.low), float(space.high)]
    found += [float(f"{value:.{digits}g}") for digits in (0, 1, 2)]
    if value > 0:
        exponent = round(math.log10(value))
        found += [10.0**k for k in {exponent, exponent // 2, exponent - 1, exponent + 1}]
    typed = [_typed(space, number) for number in found if number in space or space.integer]
    return [number for number in dict.fromkeys(typed) if number in space]  # type: ignore[misc]


def complexity(value: Value) -> float:
    """Return how hard a number is to read: its digits, and its distance from 1.

    >>> complexity(1.0) < complexity(10.0) < complexity(12.0) < complexity(0.123)
    True
    """
    if not isinstance(value, int | float) or not math.isfinite(value):
        return 0.0
    if value == 0:
        return 0.9
    digits = len(f"{abs(value):.15e}".split("e")[0].rstrip("0").replace(".", ""))
    first = 0.0 if f"{abs(value):.15e}"[0] == "1" else 0.5
    return 3.0 * (digits - 1) + first + 0.3 * abs(math.log10(abs(value)))
