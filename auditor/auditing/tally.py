"""The counts of a test in a batch, and the sum over the batches of a bound: of one size, however many they are."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, Self

from auditor.blackbox.sample import Sample
from auditor.bounds.drift import depends_on_calls
from auditor.interfaces import Test


class Addable(Protocol):
    """Counts of batches, which add up."""

    def __add__(self, other: Self) -> Self:
        """Return the counts of both."""

    def tables(self) -> tuple[tuple[int, ...], ...]:
        """Return the counts by side and kind."""


# Counts are kept apart for up to this number of spans, to compare each with the next, and early with late ones. Then neighbouring
# spans are joined.
MOST_SPANS = 512


@dataclass
class Tally:
    """Counts by spans of ``width`` parts of batches, in order. The last span may have fewer parts. A part holds as many outputs as
    a call on each side, or a whole batch.

    ``in_calls`` if calls gave many outputs each. ``lost`` counts outputs of batches that raised as a whole. ``time_is_up`` if no
    more may be drawn.
    """

    spans: list[Any] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)  # outputs of each
    width: int = 1
    parts: int = 0
    batches: int = 0
    in_calls: bool = False
    outputs: int = 0
    lost: int = 0
    time_is_up: bool = False

    def add(self, parts: Sequence[tuple[int, Addable]], lost: int, in_calls: bool) -> None:
        """Enter the next batch: the outputs and the counts of its parts."""
        for outputs, counts in parts:
            if self.parts % self.width == 0:
                self.spans.append(counts)
                self.sizes.append(outputs)
            else:
                self.spans[-1] += counts
                self.sizes[-1] += outputs
            self.parts, self.outputs = self.parts + 1, self.outputs + outputs
            if len(self.spans) == MOST_SPANS and self.parts % self.width == 0:
                self.spans = [early + late for early, late in zip(self.spans[::2], self.spans[1::2], strict=True)]
                self.sizes = [early + late for early, late in zip(self.sizes[::2], self.sizes[1::2], strict=True)]
                self.width *= 2
        self.batches, self.lost, self.in_calls = self.batches + 1, self.lost + lost, self.in_calls or in_calls

    @property
    def tables(self) -> list[tuple[tuple[int, ...], ...]]:
        """The counts of each span by side and kind."""
        return [span.tables() for span in self.spans]

    @property
    def depends_on_calls(self) -> bool:
        """Whether calls gave many outputs each, and those of one call are more alike than those of two."""
        return self.in_calls and depends_on_calls(self.tables)

    @property
    def counts(self) -> Any:
        """The sum of all counts; None without any."""
        total = None
        for span in self.spans:
            total = span if total is None else total + span
        return total


@dataclass(frozen=True, slots=True)
class Counted:
    """Count the observations of a test in a batch, and the outputs lost because the whole batch raised."""

    test: Test[Any]

    def __call__(self, sample: Sample) -> tuple[tuple[tuple[int, Any], ...], int, bool]:
        """Return what ``Tally.add`` enters."""
        lost = sample.size if all(side.size == 0 or side.failure() for side in (sample.left, sample.right)) else 0
        parts = sample.parts(sample.calls) if sample.calls > 1 else [sample]
        return tuple((part.size, self.test.count(part)) for part in parts), lost, sample.calls > 0
