"""Vectors that a mechanism clips: gradients of examples, or updates of clients with weights.

The search for pairs begins with the worst cases of a clipped sum or mean: all vectors on one side and a single one on the other, a
vector of zeros (a client without a change), one that is long in another norm, uneven weights, an empty batch and a batch of one.
"""

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

from auditor.errors import InvalidInputError, require_number
from auditor.neighbours.domains import MOST_SIMPLE
from auditor.neighbours.numbers import Number, Range
from auditor.neighbours.pair import Pair, Relation, Row, distinct
from auditor.neighbours.records import Records
from auditor.neighbours.table import Moves, Rows

# How far the coordinates go, in clipping norms.
REACH = 10.0


class Vectors(Records):
    """Data sets of vectors, which are longer than the norm that a mechanism clips them to.

    A mechanism receives an array of shape (n, cells), or (n, cells + 1) with weights, which are the last column.

    Args:
        cells: how many coordinates a vector has.
        norm: the length that the mechanism clips vectors to. Coordinates go from −``reach``·norm to ``reach``·norm.
        size: (low, high), how many vectors there are.
        weights: (low, high), the weight of a vector in a mean, such as a client's number of examples; by default there is none.
        reach: how far the coordinates go, in norms; 10 by default.
        relation: "add_remove" or "substitute".
        distance: how many such steps the data sets of a pair may be apart.

    Raises InvalidInputError for numbers out of range.

    >>> domain = Vectors(2, norm=1.0, size=(2, 3), relation="substitute")
    >>> domain.simplest()[0].to_dict()["left"]
    [[-10.0, 0.0], [-10.0, 0.0], [-10.0, 0.0]]
    """

    def __init__(
        self,
        cells: int,
        norm: float,
        *,
        size: Sequence[int],
        weights: Sequence[Number] | None = None,
        reach: float = REACH,
        relation: str = Relation.ADD_REMOVE,
        distance: int = 1,
    ) -> None:
        if isinstance(cells, bool) or not isinstance(cells, int) or cells < 1:
            raise InvalidInputError(f"cells is {cells!r}; it must be an integer of at least 1")
        self.cells, self.norm = cells, require_number("norm", norm, 0, 1e12, low_open=True)
        self.reach = require_number("reach", reach, 1, 1e12)
        far = self.norm * self.reach
        self.weights = None if weights is None else Range.of("weights", weights)
        columns: list[dict[str, Any]] = [{"low": -far, "high": far}] * cells
        if self.weights is not None:
            low, high = self.weights.low, self.weights.high
            if low < 0:
                raise InvalidInputError(f"weights go from {low!r} to {high!r}; no weight may be below 0")
            integer = self.weights.has_integer_ends
            columns = [*columns, {"low": low, "high": high, "integer": integer}]
        super().__init__(columns=columns, size=size, relation=relation, distance=distance)

    def __str__(self) -> str:
        weighed = "" if self.weights is None else f", with weights from {self.weights.low:g} to {self.weights.high:g}"
        far = self.norm * self.reach
        low, high = int(self._size.low), int(self._size.high)
        apart = f"; up to {self.distance} changes apart" if self.distance > 1 else ""
        return (
            f"{low:,} to {high:,} vectors of {self.cells} numbers from {-far:g} to {far:g}{weighed} "
            f"(clipping norm {self.norm:g}){apart}"
        )

    def limits(self) -> dict[str, Any]:
        return {**super().limits(), "norm": {"high": self.norm}}

    def corners(self) -> list[Pair]:
        return distinct([*self._worst, *self._corners])

    def simplest(self) -> list[Pair]:
        return distinct([*self._worst, *self._simplest], MOST_SIMPLE)

    @property
    def _worst(self) -> list[Pair]:
        return self._distinct(self._worst_cases())

    def _worst_cases(self) -> Iterator[tuple[Rows, Moves]]:
        """Yield the worst cases in turns: each of them on the most vectors and on the fewest, before the next size."""
        low, high = int(self._size.low), int(self._size.high)
        grows = self._grows * self.distance
        sizes = dict.fromkeys(n for n in (high - grows, low, low + 1, (low + high) // 2) if n >= (0 if grows else 1))
        cases = list(self._cases())
        for n, (others, one) in itertools.product(sizes, cases):
            # Under substitute one vector of many equal ones is replaced, under add_remove one comes in addition.
            yield (others,) * n, self._comes(1.0 if self._grows else 0.0, (one,))

    def _cases(self) -> Iterator[tuple[Row, Row]]:
        """Yield the vector that all others are, and the one that differs."""
        far = self.norm * self.reach
        axis, zero, along = [(far, *[0.0] * (self.cells - 1)), (0.0,) * self.cells, (far,) * self.cells]
        opposite, back = tuple(-x or 0.0 for x in axis), tuple(-x for x in along)
        light, heavy = (None, None) if self.weights is None else self._weights()

        def weighed(vector: tuple[float, ...], weight: Number | None) -> Row:
            return vector if weight is None else (*vector, weight)

        yield weighed(opposite, light), weighed(axis, light)
        yield weighed(axis, light), weighed(zero, light)  # a client without a change
        if heavy is not None:
            yield weighed(opposite, light), weighed(axis, heavy)
            yield weighed(zero, light), weighed(axis, heavy)
            yield weighed(zero, heavy), weighed(axis, light)
            yield weighed(axis, light), weighed(axis, heavy)
        yield weighed(zero, light), weighed(axis, light)
        yield weighed(back, light), weighed(along, light)
        yield weighed(zero, light), weighed(along, light)

    def _weights(self) -> tuple[Number, Number]:
        """Return the least weight that counts, and the greatest."""
        assert self.weights is not None
        values = self._columns[-1]
        least = next((weight for weight in values.marks if weight > 0), values.marks[-1])
        return least, values.marks[-1]
