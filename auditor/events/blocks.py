"""Blocks of a column, intervals and atoms, and the best rule that guesses by them."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from auditor.blackbox.outputs import Column, Outputs, concatenate
from auditor.events.cells import Cells, count_cells, readable_edges
from auditor.events.event import ABSTAIN, LEFT, RIGHT, Event
from auditor.events.features import Feature

Floats = NDArray[np.float64]

# Intervals a column is cut into at first: 200 put a threshold within 0.5 % of the outputs of its best place, and
# a cell of fewer than 8 outputs tells nothing of its own.
MOST_CELLS = 200
LEAST_IN_CELL = 8
# Atoms ranked one by one; the rarest beyond these are left to abstention.
MOST_ATOMS = 400


@dataclass(frozen=True, slots=True)
class RuleCounts:
    """Counts of many rules at once, as arrays of one shape: hits of the event for the left and for the right side.

    ``left_wins`` are hits of the left event on the left, ``left_losses`` on the right; the right event likewise.
    """

    left_wins: Floats
    left_losses: Floats
    right_wins: Floats
    right_losses: Floats
    trials: int


Forecast = Callable[[RuleCounts], Floats]


@dataclass(frozen=True, slots=True)
class Choice:
    """An event and the bound it is forecast to give (an estimate, not proved)."""

    test: Event
    forecast: float


@dataclass(frozen=True, slots=True)
class Blocks:
    """Intervals between edges and single atoms, with a rank each; rules guess left on the highest and right on the lowest."""

    edges: list[float]
    ranks: Floats
    atoms: list[str]
    atom_ranks: Floats

    def best(self, feature: Feature, left: Column, right: Column, forecast: Forecast) -> Choice | None:
        """Return the rule with the best forecast on these outputs."""
        return self.choose(
            feature, self.count(left), self.count(right), len(left.numbers) + len(right.numbers), forecast
        )

    def choose(
        self, feature: Feature, on_left: NDArray[Any], on_right: NDArray[Any], trials: int, forecast: Forecast
    ) -> Choice | None:
        """Return the rule with the best forecast, given (expected) counts of the blocks on each side."""
        ranks = np.concatenate([self.ranks, self.atom_ranks])
        order = np.argsort(-ranks, kind="stable")
        m = len(order)
        tops = np.arange(m + 1)
        top_left, top_right = (np.concatenate([[0], np.cumsum(x[order])]) for x in (on_left, on_right))
        bottom_left, bottom_right = (np.concatenate([[0], np.cumsum(x[order][::-1])]) for x in (on_left, on_right))
        i, j = (grid.ravel() for grid in np.meshgrid(tops, tops, indexing="ij"))
        allowed = (i + j <= m) & (i + j > 0)
        i, j = i[allowed], j[allowed]
        seen = RuleCounts(
            top_left[i].astype(float),
            top_right[i].astype(float),
            bottom_right[j].astype(float),
            bottom_left[j].astype(float),
            trials,
        )
        values = forecast(seen)
        at = int(np.argmax(values))
        if not values[at] > -np.inf:
            return None
        guess = np.full(m, ABSTAIN)
        guess[order[: i[at]]] = LEFT
        guess[order[m - j[at] :]] = RIGHT
        return Choice(Event(feature, self._rule(guess)), float(values[at]))

    def locate(self, column: Column) -> NDArray[np.intp]:
        """Return the block that each entry lies in; −1 for atoms that have none."""
        at = np.searchsorted(np.asarray(self.edges), column.numbers, side="left")
        if column.codes is None:
            return at
        places = {atom: len(self.edges) + 1 + i for i, atom in enumerate(self.atoms)}
        of_atoms = np.array([*(places.get(atom, -1) for atom in column.atoms), -1])
        return np.where(column.codes >= 0, of_atoms[column.codes], at)

    def count(self, column: Column) -> NDArray[np.int64]:
        """Return how many entries lie in each block."""
        cells, atoms = count_cells(self.edges, column)
        return np.concatenate([cells, np.array([atoms.get(atom, 0) for atom in self.atoms], np.int64)])

    def _rule(self, guess: Floats) -> Cells:
        numbers, atoms = guess[: len(self.ranks)].tolist(), guess[len(self.ranks) :].tolist()
        ends = [k for k in range(len(numbers)) if k + 1 == len(numbers) or numbers[k] != numbers[k + 1]]
        return Cells(
            tuple(self.edges[k] for k in ends[:-1]),
            tuple(numbers[k] for k in ends),
            {atom: worth for atom, worth in zip(self.atoms, atoms, strict=True) if worth != ABSTAIN},
        )


def merge_cells(left: NDArray[np.int64], right: NDArray[np.int64]) -> list[int]:
    """Merge neighbouring cells whose sides are mixed alike; return the last cell of each run.

    The best segmentation by likelihood, with a price for each run (dynamic programming over all of them), so
    that a run stands for a difference that the counts support.
    """
    m = len(left)
    a = np.concatenate([[0], np.cumsum(left)]).astype(np.float64)
    b = np.concatenate([[0], np.cumsum(right)]).astype(np.float64)
    # A false split gains a χ²/2 with one degree of freedom, the best of about m of them ln m.
    price = 1.0 + np.log(m)
    best = np.zeros(m + 1)
    came_from = np.zeros(m + 1, np.intp)
    for end in range(1, m + 1):
        likelihood = _log_likelihood(a[end] - a[:end], b[end] - b[:end])
        total = best[:end] + likelihood - price
        came_from[end] = np.argmax(total)
        best[end] = total[came_from[end]]
    ends, end = [], m
    while end > 0:
        ends.append(end - 1)
        end = int(came_from[end])
    return ends[::-1]


def _log_likelihood(left: Floats, right: Floats) -> Floats:
    from scipy.special import xlogy

    total = left + right
    return np.asarray(xlogy(left, left) + xlogy(right, right) - xlogy(total, total))


def log_ratios(left: NDArray[np.int64], right: NDArray[np.int64]) -> Floats:
    """Return ln of left over right, each with half an output more, which keeps it finite."""
    return np.asarray(np.log((left + 0.5) / (right + 0.5)))


def sum_runs(counts: NDArray[np.int64], ends: list[int]) -> NDArray[np.int64]:
    """Add up counts over the runs that end at these cells."""
    return np.diff(np.concatenate([[0], np.cumsum(counts)[ends]]))


def pool(left: Column, right: Column) -> Column:
    """Return both sides' entries in one column."""
    sides = [Outputs(len(c.numbers), (c,)) for c in (left, right)]
    return concatenate(sides).columns[0]


def cells_for(outputs: int) -> int:
    """Return into how many intervals so many outputs are worth cutting."""
    return int(min(MOST_CELLS, max(2, outputs // LEAST_IN_CELL)))


def cut(left: Column, right: Column) -> tuple[Blocks, NDArray[np.int64]]:
    """Cut a column into cells, and list its atoms by their log-ratio; return both sides' counts of all, of shape (2, blocks)."""
    pooled = pool(left, right)
    edges = readable_edges(pooled, cells_for(len(pooled.numbers)))
    seen = count_cells([], pooled)[1]
    atoms = sorted(pooled.atoms, key=lambda atom: -seen[atom])[:MOST_ATOMS]
    blocks = Blocks(edges, np.zeros(len(edges) + 1), atoms, np.zeros(len(atoms)))
    counts = np.stack([blocks.count(left), blocks.count(right)])
    ratios = log_ratios(counts[0], counts[1])
    return replace(blocks, atom_ranks=ratios[len(edges) + 1 :]), counts
