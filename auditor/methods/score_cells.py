"""What the methods that look at a score have in common: its cells, and how many outputs of each side lie in each."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from auditor.blackbox.outputs import OutputColumn
from auditor.blackbox.sample import Sample, part_ends
from auditor.bounds.curves import count_cells
from auditor.bounds.evidence import Counts, GuessCounts, ScoreCounts
from auditor.interfaces import Feature


def count_in_cells(feature: Feature, edges: Sequence[float], sample: Sample, parts: int = 1) -> list[ScoreCounts]:
    """Count the outputs of each side in each cell of a score: up to the first of the rising ``edges``, …, above the last; for each
    of ``parts`` parts of a sample (see ``Sample.parts``).
    """
    cells, of_sides = np.asarray(edges, np.float64), list[list[tuple[int, ...]]]()
    for side in (sample.left, sample.right):
        scores = feature.extract(side).numbers
        of_sides.append([count_cells(scores[start:end], cells) for start, end in part_ends(side.size, parts)])
    return [*map(ScoreCounts, *of_sides)]


def count_score_event(counts: ScoreCounts, share: float) -> GuessCounts:
    """Return the counts of a rule that guesses left on the ``share`` of cells with highest score, right on the lowest.

    The cells are chosen by their order alone, so the rule is fixed before anything is counted.
    """
    cells, n_left, n_right = len(counts.left), sum(counts.left), sum(counts.right)
    some = min(cells // 2, math.ceil(share * cells))

    def within(at: slice) -> Counts:
        return Counts(sum(counts.left[at]), n_left, sum(counts.right[at]), n_right)

    return GuessCounts(within(slice(cells - some, cells)), within(slice(0, some)))


@dataclass(frozen=True, slots=True)
class Constant:
    """A score that tells nothing."""

    name: str = "nothing"

    def extract(self, outputs: Any) -> OutputColumn:
        return OutputColumn(self.name, np.zeros(outputs.size))
