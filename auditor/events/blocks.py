"""Blocks of a column: intervals of numbers, and atoms (values that are not numbers); and the best rule on blocks."""

import functools
import math
from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from auditor.bounds.intervals import Floats, Ints
from auditor.events.cells import ABSTAIN, LEFT, RIGHT, Cells, SortedColumn, readable_edges
from auditor.events.event import Event
from auditor.interfaces import Feature

LEAST_IN_CELL = 8  # a cell with fewer outputs shows nothing by itself


@dataclass(frozen=True, slots=True)
class RuleCounts:
    """Wins and losses of many rules, or of many blocks, at once, as arrays of one shape.

    A guess left wins on an output of the left side, and loses on one of the right side. ``trials`` is all outputs.
    """

    left_wins: Floats
    left_losses: Floats
    right_wins: Floats
    right_losses: Floats
    trials: int

    @classmethod
    def of(cls, on_left: NDArray[Any], on_right: NDArray[Any], trials: int) -> "RuleCounts":
        """Return the wins and losses of guessing left, and of guessing right, on blocks with these counts."""
        left, right = on_left.astype(np.float64), on_right.astype(np.float64)
        return cls(left, right, right, left, trials)

    @classmethod
    def single(cls, hits: Sequence[int], trials: int) -> "RuleCounts":
        """Return the counts of a single rule as arrays of one number each; ``hits`` are in the order of the fields."""
        left_wins, left_losses, right_wins, right_losses = np.array(hits, np.float64)[:, None]
        return cls(left_wins, left_losses, right_wins, right_losses, trials)

    @property
    def wins(self) -> Floats:
        """How many guesses were right."""
        return self.left_wins + self.right_wins

    @property
    def guesses(self) -> Floats:
        """How many outputs a rule guessed a side for."""
        return self.wins + self.left_losses + self.right_losses

    @property
    def hits(self) -> tuple[int, int, int, int]:
        """The counts of a single rule, in the order of the fields."""
        return int(self.left_wins[0]), int(self.left_losses[0]), int(self.right_wins[0]), int(self.right_losses[0])

    @property
    def directions(self) -> Floats:
        """1 for a rule that guessed one side only, 2 for one that guessed both."""
        on_left, on_right = self.left_wins + self.left_losses > 0, self.right_wins + self.right_losses > 0
        return on_left.astype(np.float64) + on_right


RuleForecast = Callable[[RuleCounts], Floats]


class Forecaster(Protocol):
    """Estimates the bound that each rule would give on the planned trials. An estimate proves nothing."""

    __slots__ = ()

    @property
    def claimed(self) -> float:
        """The bound above which the claim is refuted; −∞ for a forecaster without ``clearance``."""
        return -math.inf

    @abstractmethod
    def forecast(self, counts: RuleCounts) -> Floats:
        """Return the bound forecast for each rule; −∞ for a rule that this forecaster cannot bound."""

    def forecast_unbeaten(self, wins: int, trials: int, directions: int) -> float:
        """Return the bound forecast for a rule that has won all of its ``wins`` guesses; −∞ if it has no bound.

        The rule may have been lucky, so half a win and half a loss are added (Jeffreys' prior): the odds of winning are
        taken as at most 2 ``wins`` + 1. ``directions`` is 2 for a rule that guesses both sides, else 1.
        """
        return min(self.forecast_never_losing(wins, trials, directions), math.log(2 * wins + 1))

    def forecast_never_losing(self, wins: int, trials: int, directions: int) -> float:
        """Return the bound forecast for a rule that will never lose."""
        return -math.inf

    def clearance(self, counts: RuleCounts) -> Floats:
        """Return by how many standard errors each rule will refute the claim at its rate of wins; −∞ if it cannot."""
        return np.full(counts.left_wins.shape, -np.inf)

    @abstractmethod
    def with_margin(self, caution: float) -> "Forecaster":
        """Return a forecaster whose forecasts are lower by ``caution`` standard errors."""


@dataclass(frozen=True, slots=True)
class Choice:
    """An event, and the forecast of its bound (an estimate)."""

    test: Event
    forecast: float


@dataclass(frozen=True, slots=True)
class Blocks:
    """Intervals between edges, and single atoms. A rule on one column guesses left, right or neither on each block."""

    edges: list[float]
    atoms: list[str]

    def count(self, column: SortedColumn) -> NDArray[np.int64]:
        """Return how many entries lie in each block, intervals first."""
        return np.concatenate(
            [column.count(self.edges), np.array([column.atoms.get(atom, 0) for atom in self.atoms], np.int64)]
        )

    def means(self, column: SortedColumn) -> Floats:
        """Return the mean of the numbers in each interval, in rising order; a finite median if the mean is infinite."""
        if len(column.finite) == 0:
            return np.arange(len(self.edges) + 1.0)
        in_cells = column.count(self.edges)
        begin = np.cumsum(in_cells) - in_cells
        middles = column.numbers[np.minimum(begin + in_cells // 2, len(column.numbers) - 1)]
        means = np.clip(middles, column.finite[0], column.finite[-1])
        some = in_cells > 0
        with np.errstate(over="ignore", invalid="ignore"):
            sums = np.add.reduceat(column.numbers, begin[some])
        means[some] = np.where(np.isfinite(sums), sums / in_cells[some], means[some])
        return np.asarray(means, np.float64)

    def choose(
        self,
        feature: Feature,
        ranks: Floats,
        counts: RuleCounts,
        forecast: RuleForecast,
        sides: RuleForecast | None = None,
        balanced: bool = False,
    ) -> Choice | None:
        """Return the best rule by ``forecast`` that guesses left on the top ranks and right on the bottom ranks.

        ``counts`` holds the wins and losses of guessing left, and of guessing right, on each block alone: counted, or
        expected by a model. With ``sides``, each threshold is placed as if the other side were its mirror image, and
        ``sides`` decides whether to guess both sides or one. Without ``sides``, a side that luck favours a little can
        exclude the other side, which loses half of the guesses. A ``balanced`` rule guesses both sides equally often.
        """
        order = np.argsort(-ranks, kind="stable")
        m = len(order)
        trials = counts.trials
        # For each k, the wins and losses of guessing left on the top k blocks, and of guessing right on the bottom k.
        left, right = (
            [np.concatenate([[0.0], np.cumsum(x[at])]) for x in of_blocks]
            for at, of_blocks in (
                (order, (counts.left_wins, counts.left_losses)),
                (order[::-1], (counts.right_wins, counts.right_losses)),
            )
        )
        deciding = None
        if balanced:
            guesses, median = left[0] + left[1], int(np.argmin(np.abs(left[0] + left[1] - trials / 2)))
            i = np.append(np.arange(m + 1), median)
            j = np.append(np.searchsorted(right[0] + right[1], guesses), m - median)
            allowed = (i + j <= m) & (i + j > 0)
            i, j = i[allowed], j[allowed]
        elif sides is not None and (ends := _mirrored(left, right, trials, forecast)):
            deciding = sides
            i, j = np.array([1, 1, 0]) * ends[0], np.array([1, 0, 1]) * ends[1]
        else:
            i, j = _ends_of_all(m)
        rules = RuleCounts(left[0][i], left[1][i], right[0][j], right[1][j], trials)
        values = forecast(rules)
        at = int(np.argmax(values if deciding is None else deciding(rules)))
        if not values[at] > -np.inf:
            return None
        guess = np.full(m, ABSTAIN)
        guess[order[: i[at]]] = LEFT
        guess[order[m - j[at] :]] = RIGHT
        numbers, worths = guess[: len(self.edges) + 1].tolist(), guess[len(self.edges) + 1 :].tolist()
        atoms = {atom: worth for atom, worth in zip(self.atoms, worths, strict=True) if worth != ABSTAIN}
        return Choice(Event(feature, Cells.joined(self.edges, numbers, atoms)), float(values[at]))


@functools.cache
def _ends_of_all(blocks: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return, for every rule on so many blocks, how many top blocks it guesses left, and bottom blocks right."""
    many = np.arange(blocks + 1)
    i, j = np.nonzero(many[:, None] + many <= blocks)
    return i[1:], j[1:]  # without the rule that never guesses


def _mirrored(left: list[Floats], right: list[Floats], trials: int, forecast: RuleForecast) -> tuple[int, int] | None:
    """Return on how many blocks to guess left, and right, if the other were the mirror image; None if they overlap."""
    # A rule and its mirror image share the outputs, so each gets at most half of these, plus four standard errors.
    ends, most = [], trials / 2 + 4.0 * math.sqrt(trials) / 2
    for side in (left, right):
        wins, losses = (np.where(side[0] + side[1] <= most, x, 0.0) for x in side)
        values = forecast(RuleCounts(wins, losses, wins, losses, trials))
        ends.append(int(np.argmax(np.where(wins + losses > 0, values, -np.inf))))
    return (ends[0], ends[1]) if all(ends) and sum(ends) < len(left[0]) else None


def merge_cells(left: NDArray[np.int64], right: NDArray[np.int64]) -> tuple[list[int], Floats]:
    """Merge neighbouring cells with similar shares of left-side outputs. Return the last cell and log-ratio of each
    run.

    The segmentation maximises the log-likelihood, less a price for each run (by dynamic programming). The price keeps
    only differences that the counts support.
    """
    m = len(left)
    a = np.concatenate([[0], np.cumsum(left)]).astype(np.float64)
    b = np.concatenate([[0], np.cumsum(right)]).astype(np.float64)
    # A false split gains half a χ² with one degree of freedom. The best of about m false splits gains about ln m.
    price = 1.0 + np.log(m)
    # The counts of a run: the row is its end, the column its first cell. Runs that end before they begin do not count.
    on_left, on_right = np.maximum(a[:, None] - a, 0.0), np.maximum(b[:, None] - b, 0.0)
    likelihood = _x_log_x(on_left) + _x_log_x(on_right) - _x_log_x(on_left + on_right) - price
    best = np.zeros(m + 1)
    came_from = np.zeros(m + 1, np.intp)
    for end in range(1, m + 1):
        total = best[:end] + likelihood[end, :end]
        at = came_from[end] = total.argmax()
        best[end] = total[at]
    ends, end = [], m
    while end > 0:
        ends.append(end - 1)
        end = int(came_from[end])
    ends.reverse()
    return ends, log_ratios(*(np.diff(up_to[[0, *(cell + 1 for cell in ends)]]) for up_to in (a, b)))


def _x_log_x(counts: Floats) -> Floats:
    return np.asarray(counts * np.log(np.maximum(counts, 1.0)))


def log_ratios(left: NDArray[Any], right: NDArray[Any]) -> Floats:
    """Return ln(left/right). Half an output is added to each, which keeps the result finite."""
    return np.asarray(np.log((left + 0.5) / (right + 0.5)))


@dataclass(frozen=True)
class BlockTable:
    """The values of a feature on both sides. They are cut into blocks when ``blocks`` is first read."""

    feature: Feature
    left: SortedColumn
    right: SortedColumn

    def __add__(self, other: "BlockTable") -> "BlockTable":
        return BlockTable(self.feature, self.left + other.left, self.right + other.right)

    @functools.cached_property
    def both(self) -> SortedColumn:
        """The values of both sides together."""
        return self.left + self.right

    @functools.cached_property
    def blocks(self) -> Blocks:
        """The intervals and the most frequent atoms of both sides together."""
        # With 200 intervals, at most 0.5 % of the outputs lie between a threshold and its best place.
        edges = readable_edges(self.both, min(200, max(2, self.both.size // LEAST_IN_CELL)))
        # Rules abstain on all but the 400 most frequent atoms.
        return Blocks(edges, sorted(self.both.atoms, key=lambda atom: -self.both.atoms[atom])[:400])

    @functools.cached_property
    def counts(self) -> tuple[Ints, Ints]:
        """How many values lie in each block, on either side."""
        return self.blocks.count(self.left), self.blocks.count(self.right)

    @functools.cached_property
    def merged(self) -> tuple[Blocks, Floats]:
        """The blocks with their log-likelihood ratios (nats, left over right). Neighbours that do not differ are merged."""
        (left, right), cells = self.counts, self.cells
        ends, ratios = merge_cells(left[:cells], right[:cells])
        merged = Blocks([self.blocks.edges[end] for end in ends[:-1]], self.blocks.atoms)
        return merged, np.concatenate([ratios, self.of_atoms])

    @property
    def trials(self) -> int:
        return self.left.size + self.right.size

    @property
    def cells(self) -> int:
        """The number of intervals."""
        return len(self.blocks.edges) + 1

    @property
    def seen(self) -> RuleCounts:
        """The wins and losses of guessing left, and of guessing right, on each block."""
        return RuleCounts.of(*self.counts, self.trials)

    @property
    def of_atoms(self) -> Floats:
        """The log-ratio of each atom."""
        left, right = self.counts
        return log_ratios(left[self.cells :], right[self.cells :])

    def of_rule(self, rule: Cells) -> RuleCounts:
        """Return the wins and losses of a rule."""
        a, b = rule.count(self.left), rule.count(self.right)
        return RuleCounts.single(
            [x.get(side, 0) for x, side in ((a, LEFT), (b, LEFT), (b, RIGHT), (a, RIGHT))], self.trials
        )

    def best(self, counts: RuleCounts, forecast: RuleForecast, **how: Any) -> Choice | None:
        """Return the best rule with the intervals ranked by their position on the number line, rising or falling.

        Atoms are ranked by their log-ratios. The arguments are those of :meth:`Blocks.choose`.
        """
        rising = np.arange(self.cells) / self.cells - 0.5
        orders = (np.concatenate([ranks, self.of_atoms]) for ranks in (rising, -rising))
        choices = (self.blocks.choose(self.feature, ranks, counts, forecast, **how) for ranks in orders)
        return max(filter(None, choices), key=lambda choice: choice.forecast, default=None)
