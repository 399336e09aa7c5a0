"""Sets of differences between neighbouring number vectors."""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

Vector = tuple[Fraction, ...]
Step = tuple[Fraction | int, ...]


@dataclass(frozen=True, slots=True)
class Box:
    """The differences whose coordinates lie between ``low`` and ``high``."""

    low: Step
    high: Step

    def vertices(self) -> list[Step]:
        """Return the box's corners."""
        return list(itertools.product(*(dict.fromkeys(ends) for ends in zip(self.low, self.high, strict=True))))


@dataclass(frozen=True, slots=True)
class Hull:
    """The differences in the convex hull of some vectors; only the vectors themselves if ``alone``."""

    points: tuple[Step, ...]
    alone: bool


def hull(points: Sequence[Step], alone: bool) -> Hull:
    """Return the hull of vectors and their negatives, without duplicates."""
    both = [*points, *(tuple(-number for number in point) for point in points)]
    return Hull(tuple(dict.fromkeys(both)), alone)


def unit_vectors(cells: int, reach: Fraction | int) -> Iterator[Step]:
    """Yield the vectors with ``reach`` in one coordinate and 0 elsewhere."""
    for at in range(cells):
        yield tuple(reach if place == at else 0 for place in range(cells))
