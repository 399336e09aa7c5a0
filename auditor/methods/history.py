"""The outputs that a game has seen: later bets are learned from them, and none is bet on again."""

from dataclasses import dataclass, field

import numpy as np

from auditor.blackbox.outputs import Outputs, concatenate
from auditor.blackbox.sample import Labels, Sample
from auditor.bounds.intervals import Floats

LEAST_TO_LEARN = 100
# Outputs kept to learn from; more would not improve a score of a few dozen weights.
MOST_KEPT = 200_000
# Cells in which early and late outputs are compared.
DRIFT_CELLS = 8
# Places of an output at which there are quick bettors, and in which early and late outputs are compared.
MOST_QUICK_PLACES = 4


@dataclass
class History:
    """The outputs of the pair so far, in order."""

    parts: list[Outputs] = field(default_factory=list)
    labels: list[Labels] = field(default_factory=list)
    size: int = 0

    def add(self, outputs: Outputs, labels: Labels) -> None:
        """Add what was drawn. Beyond MOST_KEPT, outputs are counted and not kept."""
        if self.size < MOST_KEPT:
            self.parts.append(outputs)
            self.labels.append(labels)
        self.size += outputs.size

    def outputs(self) -> Outputs:
        """Return what was kept."""
        joined = concatenate(self.parts)
        self.parts, self.labels = [joined], [np.concatenate(self.labels)]
        return joined

    def sample(self, most: int = MOST_KEPT) -> Sample:
        """Return the kept outputs by side, at most the first ``most``."""
        outputs = self.outputs()[:most]
        labels = self.labels[0][:most]
        return Sample(outputs[labels], outputs[~labels])

    def halves(self) -> list[list[list[int]]]:
        """Count each half of the kept outputs; see Game.halves.

        Cells are quantiles of all numbers at a place, and one cell for everything else. They depend on what was drawn and not
        on the order. So without drift, given the cells, all orders are equally likely.
        """
        if self.size == 0:
            return []
        outputs = self.outputs()
        labels, late = self.labels[0], np.arange(outputs.size) >= outputs.size // 2
        halves: list[list[list[int]]] = [[], []]
        for column in outputs.columns[:MOST_QUICK_PLACES]:
            number = np.ones(outputs.size, bool) if column.codes is None else column.codes < 0
            cells = np.full(outputs.size, DRIFT_CELLS)
            if number.any():
                inner = np.arange(1, DRIFT_CELLS) / DRIFT_CELLS
                edges = np.quantile(column.numbers[number], inner, method="lower")
                cells[number] = np.searchsorted(edges, column.numbers[number])
            for half, there in zip(halves, (~late, late), strict=True):
                half += [
                    np.bincount(cells[there & side], minlength=DRIFT_CELLS + 1).tolist() for side in (labels, ~labels)
                ]
        return halves


def reached(path: Floats, target: float) -> int:
    """Return the number of steps until the path first reaches the target; the number of all steps if it never does."""
    there = np.flatnonzero(path >= target)
    return int(there[0]) + 1 if len(there) else len(path)
