"""Histograms of both sides' outputs along the feature that an event looks at, for display; they prove nothing."""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from auditor.blackbox.outputs import OutputColumn
from auditor.bounds.intervals import Floats
from auditor.errors import InvalidInputError
from auditor.events.cells import ABSTAIN, LEFT, RIGHT, Cells, SortedColumn

Guess = Literal["left", "right"] | None

# Up to MOST_NUMBER_BARS distinct numbers get a bar each. More numbers are counted in about CELLS cells.
MOST_NUMBER_BARS, CELLS = 12, 40
MOST_ATOM_BARS = 12

_GUESSES: dict[float, Guess] = {LEFT: "left", RIGHT: "right"}
NO_RULE = Cells((), (ABSTAIN,), {})


class Bar(NamedTuple):
    """The number of outputs with one value on each side, and the side that the event guesses for them."""

    label: str
    left: int
    right: int
    guess: Guess = None


class Mark(NamedTuple):
    """An interval low < x ≤ high in which the event guesses ``guess``; the ends may be infinite."""

    guess: Guess
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Histogram:
    """Counts of both sides' outputs by a feature.

    ``left[i]`` and ``right[i]`` outputs lie in the cell edges[i−1] < x ≤ edges[i]; the first and the last cell are
    unbounded. Without edges, there are bars only. ``outputs`` is the total number of outputs of each side.
    """

    feature: str
    outputs: tuple[int, int]
    edges: tuple[float, ...] = ()
    left: tuple[int, ...] = ()
    right: tuple[int, ...] = ()
    marks: tuple[Mark, ...] = ()
    bars: tuple[Bar, ...] = ()

    def __post_init__(self) -> None:
        if not len(self.left) == len(self.right) == (len(self.edges) + 1 if self.edges else 0):
            raise InvalidInputError("a histogram must hold one more cell than edges on each side, or neither")


def histogram(name: str, columns: Sequence[OutputColumn], rule: Cells = NO_RULE) -> Histogram:
    """Count the columns of a feature on the left and on the right, in cells that show where ``rule`` guesses."""
    outputs = len(columns[0].numbers), len(columns[1].numbers)
    left, right = map(SortedColumn.of, columns)
    both = left + right
    bars = _bars(left, right, rule)
    values = both.distinct(MOST_NUMBER_BARS)
    if values is not None:
        ends, guesses = values[:-1].tolist(), map(_GUESSES.get, rule.look_up(OutputColumn(name, values)).tolist())
        rows = zip(values.tolist(), left.count(ends).tolist(), right.count(ends).tolist(), guesses, strict=False)
        return Histogram(name, outputs, bars=(*(Bar(f"{value:.6g}", *counted) for value, *counted in rows), *bars))
    marks = tuple(
        Mark(_GUESSES[worth], low, high)
        for worth, (low, high) in zip(rule.values, itertools.pairwise([-math.inf, *rule.edges, math.inf]), strict=True)
        if worth in _GUESSES
    )
    edges = _edges(both, marks)
    on_left, on_right = (tuple(side.count(edges).tolist()) for side in (left, right))
    return Histogram(name, outputs, tuple(edges), on_left, on_right, marks, tuple(bars))


def _bars(left: SortedColumn, right: SortedColumn, rule: Cells) -> list[Bar]:
    """Return a bar for each of the most frequent atoms, and one bar for all others."""
    frequencies = {atom: (left.atoms.get(atom, 0), right.atoms.get(atom, 0)) for atom in {**left.atoms, **right.atoms}}
    atoms = sorted(
        (atom for atom in frequencies if any(frequencies[atom])), key=lambda atom: (-sum(frequencies[atom]), atom)
    )
    bars = []
    for atom in atoms[:MOST_ATOM_BARS]:
        bars.append(Bar(atom, *frequencies[atom], _GUESSES.get(rule.atoms.get(atom, rule.otherwise))))
    if rest := atoms[MOST_ATOM_BARS:]:
        on_each = [sum(frequencies[atom][side] for atom in rest) for side in (0, 1)]
        bars.append(Bar(f"{len(rest):,} others", on_each[0], on_each[1]))
    return bars


def _edges(column: SortedColumn, marks: Sequence[Mark]) -> list[float]:
    """Return the edges of cells of one width, over the range of most outputs and of the thresholds."""
    low, high = _middle(column.finite)
    ends = sorted({end for mark in marks for end in (mark.low, mark.high) if math.isfinite(end)})
    width = high - low
    if not 0 < width < math.inf:
        return [low]
    bounded = all(math.isfinite(mark.low) and math.isfinite(mark.high) for mark in marks)
    if marks and bounded and ends[-1] - ends[0] < 0.05 * width:  # zoom in on the intervals of the event
        near = ends[-1] - ends[0]
        low, high = max(low, ends[0] - near), min(high, ends[-1] + near)
    else:
        # A threshold is not shown if it is more than three widths away from the range of most outputs.
        reached = [end for end in ends if low - 3.0 * width <= end <= high + 3.0 * width]
        low, high = min([low, *reached]), max([high, *reached])
    step = (high - low) / CELLS
    if column.is_whole:
        # The width is an integer, so that all cells hold equally many integers.
        step = max(1, math.ceil(step))
        low, high = math.floor(low) - 0.5, math.ceil(high) + 0.5
    if not (low + step > low and high - step < high):  # the step is below the spacing of doubles
        return [low]
    return [low + step * i for i in range(max(1, round((high - low) / step)) + 1)]


def _middle(numbers: Floats) -> tuple[float, float]:
    """Return the ends between which most of the sorted numbers lie; (0, 0) without numbers."""
    if len(numbers) == 0:
        return 0.0, 0.0
    at = np.rint(np.array([0.005, 0.25, 0.75, 0.995]) * (len(numbers) - 1)).astype(np.intp)
    low, first, third, high = numbers[at].tolist()
    # The ends are limited to four interquartile ranges beyond the quartiles, or a heavy tail would stretch the cells.
    reach = 4.0 * (third - first)
    return (max(low, first - reach), min(high, third + reach)) if reach > 0 else (low, high)
