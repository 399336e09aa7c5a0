"""Models ``np.argsort`` rank by rank: a mechanism that reads the top k forks over these k ranks only."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from dp_prover.errors import NotProvedError
from dp_prover.models.arithmetic import compare_scalars, is_true, may_be_nan
from dp_prover.models.arrays import as_array, is_known, real
from dp_prover.models.lazy import Lazy
from dp_prover.models.listed import Caller
from dp_prover.models.run import TracedRun
from dp_prover.models.values import INT64, Array, Items, array_of, to_numpy

STABLE, UNSTABLE = ("stable", "mergesort"), (None, "quicksort", "heapsort")
UNDECIDED = object()


class Ranking:
    """The places of scalars in ascending order, determined from both ends as far as they are needed.

    A ``stable`` ranking keeps equal scalars in order. Otherwise their order is unspecified in NumPy, so the attempt ends if two
    that are compared may be equal.
    """

    def __init__(self, run: TracedRun, items: Sequence[Any], stable: bool) -> None:
        self._run, self._items, self._stable = run, items, stable
        self._rest = list(range(len(items)))
        self._lowest: list[int] = []
        self._highest: list[int] = []

    def place(self, rank: int) -> int:
        """Return the place of a rank, after forking over the ranks between it and the nearer end."""
        from_above = len(self._items) - 1 - rank
        while rank >= len(self._lowest) and from_above >= len(self._highest):
            if rank - len(self._lowest) <= from_above - len(self._highest):
                self._lowest.append(self._take(lambda best, other: self._is_below(other, best)))
            else:
                self._highest.append(self._take(lambda best, other: not self._is_below(other, best)))
        return self._lowest[rank] if rank < len(self._lowest) else self._highest[from_above]

    def _take(self, is_better: Callable[[int, int], bool]) -> int:
        best = self._rest[0]
        for other in self._rest[1:]:
            if is_better(best, other):
                best = other
        self._rest.remove(best)
        return best

    def _is_below(self, left: int, right: int) -> bool:
        a, b = self._items[left], self._items[right]
        if not self._stable and is_true(self._run, compare_scalars(self._run, "==", a, b)):
            raise open_order()
        return is_true(self._run, compare_scalars(self._run, "<", a, b))


class RankedItems(Items):
    """The items of an order, each determined when it is read. ``ranks`` maps an item to its ranking and rank.

    ``items`` holds only items that were overwritten, so reading leaves no state behind that a loop over a batch could pass on.
    """

    __slots__ = ("_ranks",)

    def __init__(self, ranks: Mapping[int, tuple[Ranking, int]]) -> None:
        super().__init__([UNDECIDED] * len(ranks))
        self._ranks = ranks

    def __getitem__(self, at: int) -> Any:
        if self.items[at] is not UNDECIDED:
            return self.items[at]
        ranking, rank = self._ranks[at]
        return ranking.place(rank)


def open_order() -> NotProvedError:
    """Return the NotProvedError for possible ties in an unstable order."""
    return NotProvedError(
        'np.argsort has numbers that may be equal, whose order NumPy leaves unspecified; use kind="stable", or continuous noise'
    )


def argsort(caller: Caller, a: Any, axis: Any = -1, kind: Any = None, *, stable: Any = None) -> Any:
    """Model ``np.argsort``: its items are determined when they are read."""
    array, axis, kind = as_array(caller.run, a), real(axis), real(kind)
    if array.dtype.kind not in "biuf" or not array.shape or kind not in (*STABLE, *UNSTABLE):
        raise NotProvedError("np.argsort is only modelled for arrays of numbers, and for NumPy's named kinds")
    keeps_ties = kind in STABLE or bool(real(stable))
    if is_known(array):
        return _of_constants(to_numpy(array), axis, keeps_ties)
    scalars = list(array.typed())
    if any(map(_may_be_nan, scalars)):
        raise NotProvedError("np.argsort has NaN beside numbers from data or noise")
    places = np.arange(len(scalars)).reshape(array.shape if axis is not None else -1)
    ranks = {}
    for row in np.moveaxis(places, -1 if axis is None else axis, -1).reshape(-1, places.shape[axis or 0]).tolist():
        ranking = Ranking(caller.run, [scalars[at] for at in row], keeps_ties)
        ranks.update({at: (ranking, rank) for rank, at in enumerate(row)})
    return Array(RankedItems(ranks), places, INT64)


def _may_be_nan(value: Any) -> bool:
    return not isinstance(value, Lazy) and may_be_nan(value)


def _of_constants(array: np.ndarray[Any, Any], axis: int | None, keeps_ties: bool) -> Array:
    """Return NumPy's own order of constants, which without ties is the same on every machine."""
    order = np.argsort(array, axis=axis, kind="stable")
    if not keeps_ties:
        ordered = np.sort(array, axis=axis)
        rows = np.moveaxis(ordered, -1 if axis is None else axis, -1)
        if (rows[..., 1:] == rows[..., :-1]).any() or np.isnan(rows.astype(float)).sum(axis=-1).max(initial=0) > 1:
            raise open_order()
    return array_of(order.ravel().tolist(), order.shape, INT64)
