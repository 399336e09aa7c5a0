"""All pairs of a domain at once: the data sets are vectors of numbers, and a set of vectors says what neighbours differ by."""

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from auditor.neighbours.numbers import Number

Vector = tuple[Number, ...]


@dataclass(frozen=True, slots=True)
class Box:
    """The differences with each number between ``low`` and ``high``."""

    low: Vector
    high: Vector

    def vertices(self) -> list[Vector]:
        """Return the corners."""
        return list(itertools.product(*(dict.fromkeys(ends) for ends in zip(self.low, self.high, strict=True))))

    def integers(self) -> list[Vector]:
        """Return the vectors of integers inside."""
        ends = zip(self.low, self.high, strict=True)
        return list(itertools.product(*(range(math.ceil(low), math.floor(high) + 1) for low, high in ends)))


@dataclass(frozen=True, slots=True)
class Hull:
    """The differences in the convex hull of some; these alone where ``alone``."""

    points: tuple[Vector, ...]
    alone: bool


@dataclass(frozen=True, slots=True)
class Moves:
    """Data sets x of numbers from ``low`` to ``high``, and the sets that x' − x of all neighbours x, x' lie in.

    The sets hold each difference and its opposite. ``integer`` says that all numbers are integers.
    """

    low: tuple[Fraction, ...]
    high: tuple[Fraction, ...]
    integer: bool
    sets: tuple[Box | Hull, ...]


def hull(points: Sequence[Vector], alone: bool) -> Hull:
    """Return the hull of vectors and their opposites, each once."""
    both = [*points, *(tuple(-number for number in point) for point in points)]
    return Hull(tuple(dict.fromkeys(both)), alone)


def unit_vectors(cells: int, reach: Number) -> Iterator[Vector]:
    """Yield the vectors with ``reach`` in one place and 0 in all others."""
    for at in range(cells):
        yield tuple(reach if place == at else 0 for place in range(cells))
