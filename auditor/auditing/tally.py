"""The counts of a test in a batch, and the sum over the batches of a bound: of one size, however many they are."""

import bisect
import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, Self, TypeVar

from auditor.blackbox.sample import Sample
from auditor.methods.method import Test

C = TypeVar("C")

# Points of the curve of a bound over its outputs. It is for the eye only: to stop where it looks best would break its confidence.
LOOKS = 16


class Addable(Protocol):
    """Counts of batches, which add up."""

    def __add__(self, other: Self) -> Self:
        """Return the counts of both."""

    def tables(self) -> tuple[tuple[int, ...], ...]:
        """Return the counts by side and kind."""


# Counts are kept apart for up to this number of spans, to compare early with late ones. Then neighbouring spans are joined.
MOST_SPANS = 256


@dataclass
class Tally:
    """Counts by spans of ``width`` batches, in order. The last span may have fewer batches.

    ``lost`` counts outputs of batches that raised as a whole. ``time_is_up`` if no more may be drawn.
    """

    spans: list[Any] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)  # outputs of each
    width: int = 1
    batches: int = 0
    outputs: int = 0
    lost: int = 0
    time_is_up: bool = False

    def add(self, counts: Addable, lost: int, outputs: int) -> None:
        """Enter the next batch."""
        if self.batches % self.width == 0:
            self.spans.append(counts)
            self.sizes.append(outputs)
        else:
            self.spans[-1] += counts
            self.sizes[-1] += outputs
        self.batches, self.outputs, self.lost = self.batches + 1, self.outputs + outputs, self.lost + lost
        if len(self.spans) == MOST_SPANS and self.batches % self.width == 0:
            self.spans = [early + late for early, late in zip(self.spans[::2], self.spans[1::2], strict=True)]
            self.sizes = [early + late for early, late in zip(self.sizes[::2], self.sizes[1::2], strict=True)]
            self.width *= 2

    def stop(self) -> None:
        """Note that no more may be drawn."""
        self.time_is_up = True

    @property
    def tables(self) -> list[tuple[tuple[int, ...], ...]]:
        """The counts of each span by side and kind."""
        return [span.tables() for span in self.spans]

    @property
    def pieces(self) -> list[tuple[int, Any]]:
        """How many outputs each span holds, and its counts."""
        return list(zip(self.sizes, self.spans, strict=True))

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

    def __call__(self, sample: Sample) -> tuple[Any, int]:
        """Return the counts, and the number of outputs that were lost."""
        lost = sample.size if _all_raised(sample) else 0
        return self.test.count(sample), lost


def _all_raised(sample: Sample) -> bool:
    return all(side.size == 0 or side.failure() for side in (sample.left, sample.right))


def added_up(pieces: Sequence[tuple[int, C]]) -> list[tuple[int, C]]:
    """Return (outputs, counts) at about LOOKS even steps; the last holds all pieces."""
    sums = list(itertools.accumulate(pieces, lambda a, b: (a[0] + b[0], a[1] + b[1])))
    sizes = [outputs for outputs, _ in sums]
    steps = (bisect.bisect_left(sizes, sizes[-1] * look / LOOKS) for look in range(1, LOOKS + 1))
    return [sums[at] for at in dict.fromkeys(steps)]


def growth(looks: Sequence[tuple[int, C]], bound: Callable[[C], float]) -> list[tuple[int, float]]:
    """Return (outputs, bound) for each look."""
    return [(outputs, bound(counts)) for outputs, counts in looks]
