"""Sets of differences between neighbours whose data are vectors of numbers."""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

Vector = tuple[Fraction, ...]
Step = tuple[Fraction | int, ...]


@dataclass(frozen=True, slots=True)
class Box:
    """The differences with each number between ``low`` and ``high``."""

    low: Step
    high: Step

    def vertices(self) -> list[Step]:
        """Return the corners."""
        return list(itertools.product(*(dict.fromkeys(ends) for ends in zip(self.low, self.high, strict=True))))


@dataclass(frozen=True, slots=True)
class Hull:
    """The differences in the convex hull of some vectors; with ``alone``, the vectors only."""

    points: tuple[Step, ...]
    alone: bool


def hull(points: Sequence[Step], alone: bool) -> Hull:
    """Return the hull of vectors and their opposites, each once."""
    both = [*points, *(tuple(-number for number in point) for point in points)]
    return Hull(tuple(dict.fromkeys(both)), alone)


def unit_vectors(cells: int, reach: Fraction | int) -> Iterator[Step]:
    """Yield the vectors with ``reach`` in one place and 0 in all others."""
    for at in range(cells):
        yield tuple(reach if place == at else 0 for place in range(cells))
