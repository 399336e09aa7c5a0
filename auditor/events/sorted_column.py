"""The entries of a column in rising order: all that cutting, counting and placing thresholds need to know of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from auditor.blackbox.outputs import OutputColumn
from auditor.bounds.intervals import Ints


@dataclass(frozen=True, slots=True, eq=False)
class SortedColumn:
    """The numbers of a column in rising order, and how often each atom stands in it.

    Sorted once, they are counted between any edges without another look at them.
    """

    numbers: NDArray[np.float64]
    atoms: Mapping[str, int]

    @classmethod
    def of(cls, column: OutputColumn) -> "SortedColumn":
        """Return the entries of a column."""
        if column.codes is None:
            return cls(np.sort(column.numbers), {})
        is_atom = column.codes >= 0
        seen = np.bincount(column.codes[is_atom], minlength=len(column.atoms)).tolist()
        return cls(np.sort(column.numbers[~is_atom]), dict(zip(column.atoms, seen, strict=True)))

    def __add__(self, other: "SortedColumn") -> "SortedColumn":
        """Return the entries of both."""
        # Timsort only merges what is sorted already.
        numbers = np.sort(np.concatenate([self.numbers, other.numbers]), kind="stable")
        return SortedColumn(
            numbers, {a: self.atoms.get(a, 0) + other.atoms.get(a, 0) for a in {**self.atoms, **other.atoms}}
        )

    @property
    def size(self) -> int:
        """How many entries there are, atoms included."""
        return len(self.numbers) + sum(self.atoms.values())

    @property
    def finite(self) -> NDArray[np.float64]:
        """The finite numbers."""
        below, above = self.count([-np.inf, np.finfo(np.float64).max])[[0, 2]]
        return self.numbers[below : len(self.numbers) - above]

    @property
    def is_whole(self) -> bool:
        """Whether all numbers are integers, or infinite."""
        return np.array_equal(self.numbers, np.rint(self.numbers))

    def count(self, edges: Sequence[float]) -> Ints:
        """Return how many numbers lie in each interval: those with edges[i−1] < x ≤ edges[i]."""
        below = np.zeros(len(edges) + 2, np.int64)
        below[1:-1] = self.numbers.searchsorted(np.asarray(edges, np.float64), side="right")
        below[-1] = len(self.numbers)
        return below[1:] - below[:-1]

    def distinct(self, most: int) -> NDArray[np.float64] | None:
        """Return each number once, in rising order; None if there are more than ``most``."""
        is_last = np.append(self.numbers[1:] != self.numbers[:-1], True)[: len(self.numbers)]
        return self.numbers[is_last] if np.count_nonzero(is_last) <= most else None

    def ends(self, numbers: NDArray[np.float64]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Return the index in the order at which each number begins, and at which the next one begins."""
        return self.numbers.searchsorted(numbers, side="left"), self.numbers.searchsorted(numbers, side="right")
