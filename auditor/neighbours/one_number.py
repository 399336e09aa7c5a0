"""One number of a range, whose neighbours are the numbers near it."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from auditor.neighbours.domains import Domain
from auditor.neighbours.limits import ends
from auditor.neighbours.numbers import Number, Range
from auditor.neighbours.pair import Pair, Relation
from auditor.neighbours.totals import Totals


class OneNumber(Domain):
    """One number of a range; any two that are at most ``distance`` apart are neighbours.

    Args:
        range: the ends [low, high]. With ends and distance that are integers the numbers are integers.
        distance: how far apart two neighbours may be.

    Raises InvalidInputError for an empty range, and if no two numbers of it are neighbours.

    >>> str(OneNumber((0, 9), 2))
    'one integer from 0 to 9; two at most 2 apart are neighbours'
    """

    def __init__(self, range: Sequence[Number], distance: Number) -> None:
        integer = all(isinstance(number, int) for number in (*range, distance))
        if not integer and any(isinstance(number, int) for number in range):
            range = [float(number) for number in range]
        self.distance, self.integer = distance, integer
        self._range = Range.of("range", range, integer)
        # The pairs are those of a vector of one cell.
        self._cell = Totals(cells=1, values=range, contribution={"l1": distance}, integer=integer)

    def __str__(self) -> str:
        numbers = "integer" if self.integer else "number"
        return f"one {numbers} from {self._range.low:g} to {self._range.high:g}; two at most {self.distance:g} apart are neighbours"

    def limits(self) -> dict[str, Any]:
        return {"value": ends(self._range), "distance": {"high": self.distance}}

    def corners(self) -> list[Pair]:
        return [_alone(pair) for pair in self._cell.corners()]

    def step(self, pair: Pair, way: int) -> Pair | None:
        return (found := self._cell.step(pair.origin, way)) and _alone(found)

    def random(self, rng: np.random.Generator) -> Pair:
        return self._from(self._range.draw(rng), rng)

    def mutate(self, pair: Pair, rng: np.random.Generator) -> Pair:
        return self._from(self._range.near(pair.left, rng), rng)

    def _from(self, number: Number, rng: np.random.Generator) -> Pair:
        """Return a number and a neighbour: at the full distance, at the end of the range, or in one of four cases nearer."""
        share = 1.0 if rng.random() < 0.75 else rng.random()
        step = max(1, round(share * self.distance)) if self.integer else share * self.distance
        for way in (step, -step) if rng.random() < 0.5 else (-step, step):
            # Rounding does not make the way to an end longer than a step that goes past it.
            nearer = min(way, self._range.high - number) if way > 0 else max(way, self._range.low - number)
            if pair := self._cell.moved((number,), (nearer,)):
                return _alone(pair)
        return self.corners()[0]

    def between(self, one: Pair, other: Pair) -> Pair | None:
        return (found := self._cell.between(one.origin, other.origin)) and _alone(found)

    def simpler(self, pair: Pair) -> Iterator[Pair]:
        yield from map(_alone, self._cell.simpler(pair.origin))


def _alone(cell: Pair) -> Pair:
    """Return the pair of numbers of a pair of vectors of one cell."""
    return Pair(cell.left[0], cell.right[0], Relation.AS_GIVEN, origin=cell)
