"""Outputs outside of earlier events: what is left to look at once a violation is known."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from auditor.blackbox.outputs import NUMBER, OutputColumn, Outputs
from auditor.blackbox.sample import Sample
from auditor.bounds.evidence import Counts
from auditor.events.cells import Cells
from auditor.events.features import Feature

OF_EARLIER = "an output of an earlier event"


@dataclass(frozen=True, slots=True)
class EarlierEvent:
    """An event that an earlier rule found: the outputs on which it guesses ``side``."""

    feature: Feature
    cells: Cells
    side: float

    def holds(self, outputs: Outputs) -> NDArray[np.bool_]:
        """Return for each output whether it is in the event."""
        return np.equal(self.cells.look_up(self.feature.extract(outputs)), self.side)


@dataclass(frozen=True, slots=True)
class Outside:
    """A feature of the outputs that are in no earlier event. All others are one atom."""

    feature: Feature
    earlier: tuple[EarlierEvent, ...]

    @property
    def name(self) -> str:
        """The meaning of the values, in words."""
        return f"{self.feature.name} (outside earlier events)"

    def extract(self, outputs: Outputs) -> OutputColumn:
        """Return the feature, with an atom for outputs of earlier events."""
        column, inside = self.feature.extract(outputs), in_any(self.earlier, outputs)
        codes = np.full(outputs.size, NUMBER, np.int32) if column.codes is None else column.codes
        codes = np.where(inside, np.int32(len(column.atoms)), codes)
        return OutputColumn(self.name, np.where(inside, 0.0, column.numbers), codes, (*column.atoms, OF_EARLIER))


def in_any(events: Sequence[EarlierEvent], outputs: Outputs) -> NDArray[np.bool_]:
    """Return for each output whether it is in one of the events."""
    found = np.zeros(outputs.size, np.bool_)
    for event in events:
        found |= event.holds(outputs)
    return found


def count_in_each(events: Sequence[EarlierEvent], sample: Sample) -> tuple[Counts, ...]:
    """Count the outputs of each side in each event. An output of several events counts for the first of them."""
    left, right = sample.left, sample.right
    on_left, on_right = (_firsts(events, side) for side in (left, right))
    return tuple(Counts(a, left.size, b, right.size) for a, b in zip(on_left, on_right, strict=True))


def _firsts(events: Sequence[EarlierEvent], outputs: Outputs) -> list[int]:
    found, seen = np.zeros(outputs.size, np.bool_), list[int]()
    for event in events:
        holds = event.holds(outputs)
        seen.append(int(np.count_nonzero(holds & ~found)))
        found |= holds
    return seen


def without(events: Sequence[EarlierEvent], sample: Sample) -> Sample:
    """Return the outputs of a sample that are in none of the events; to learn from, never to count."""
    left, right = (_plain(side[~in_any(events, side)]) for side in (sample.left, sample.right))
    return replace(sample, left=left, right=right)


def _plain(outputs: Outputs) -> Outputs:
    """Return the same outputs; columns that hold numbers only are plain numbers, which more features can look at."""
    columns = (
        OutputColumn(column.name, column.numbers) if column.codes is not None and np.all(column.codes < 0) else column
        for column in outputs.columns
    )
    return Outputs(outputs.size, tuple(columns))
