"""The counts of a test in the batches of a bound, in the order of drawing."""

import functools
import operator
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from auditor.blackbox.sample import Sample
from auditor.interfaces import Test

# Neighbouring spans are compared, and early spans with late ones. At this number of spans, neighbours are joined.
MOST_SPANS = 512


@dataclass
class Tally:
    """Counts by spans, in order. A span has ``width`` parts, and the last may have fewer. A part is a batch, or the
    outputs of one call on each side of a batch.

    ``in_calls`` says whether a call gave many outputs. ``lost`` counts outputs of batches that raised as a whole.
    ``time_is_up`` says whether no more outputs may be drawn.
    """

    spans: list[Any] = field(default_factory=list)
    width: int = 1
    parts: int = 0
    batches: int = 0
    in_calls: bool = False
    outputs: int = 0
    lost: int = 0
    time_is_up: bool = False

    def add(self, parts: Sequence[tuple[int, Any]], lost: int, in_calls: bool) -> None:
        """Enter the next batch: the outputs and the counts of its parts."""
        for outputs, counts in parts:
            if self.parts % self.width == 0:
                self.spans.append(counts)
            else:
                self.spans[-1] += counts
            self.parts, self.outputs = self.parts + 1, self.outputs + outputs
            if len(self.spans) == MOST_SPANS and self.parts % self.width == 0:
                self.spans = [early + late for early, late in zip(self.spans[::2], self.spans[1::2], strict=True)]
                self.width *= 2
        self.batches, self.lost, self.in_calls = self.batches + 1, self.lost + lost, self.in_calls or in_calls

    @property
    def tables(self) -> list[tuple[tuple[int, ...], ...]]:
        """The counts of each span by side and kind."""
        return [span.tables() for span in self.spans]

    @property
    def counts(self) -> Any:
        """The sum of all counts; None before the first."""
        return functools.reduce(operator.add, self.spans) if self.spans else None


def count_in_parts(test: Test[Any], sample: Sample) -> tuple[tuple[tuple[int, Any], ...], int, bool]:
    """Count a test in a batch, and the outputs lost because the whole batch raised; return what ``Tally.add`` enters."""
    lost = sample.size if all(side.size == 0 or side.failure() for side in (sample.left, sample.right)) else 0
    parts = max(1, sample.calls)
    return tuple(zip(sample.sizes(parts), test.count_parts(sample, parts), strict=True)), lost, sample.calls > 0
