"""How a bound grows with its outputs: what they counted after each part of them, and the bound that would have given.

For the eye only. The bound of an audit is that of all its outputs; to stop where it looks best would break its confidence.
"""

import bisect
import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from auditor.auditing.plan import Plan
from auditor.blackbox.mechanism import Sample

C = TypeVar("C")

# Points of the curve.
LOOKS = 16


@dataclass(frozen=True, slots=True)
class Piecewise(Generic[C]):
    """Observe a batch in pieces, so that audits of few batches have a curve too; a class, since it travels to the workers."""

    observe: Callable[[Sample], C]
    pieces: int

    @classmethod
    def of(cls, plan: Plan, observe: Callable[[Sample], C]) -> "Piecewise[C]":
        """Cut the plan's batches so that there are about LOOKS pieces in all; not at all where there are as many batches."""
        return cls(observe, math.ceil(LOOKS / math.ceil(plan.samples / plan.execution.batch)))

    def __call__(self, sample: Sample) -> list[tuple[int, C]]:
        """Return for each piece how many outputs it holds, and what was observed of them."""
        if self.pieces == 1:
            return [(sample.size, self.observe(sample))]
        cuts = [
            [round(side.size * piece / self.pieces) for piece in range(self.pieces + 1)]
            for side in (sample.left, sample.right)
        ]
        parts = (
            Sample(sample.left[a:b], sample.right[c:d])
            for (a, b), (c, d) in zip(*map(itertools.pairwise, cuts), strict=True)
        )
        return [(part.size, self.observe(part)) for part in parts if part.size]


def added_up(pieces: Sequence[tuple[int, C]]) -> list[tuple[int, C]]:
    """Return (outputs, counts) at about LOOKS even steps; the last holds all pieces."""
    sums = list(itertools.accumulate(pieces, lambda a, b: (a[0] + b[0], a[1] + b[1])))
    sizes = [outputs for outputs, _ in sums]
    steps = (bisect.bisect_left(sizes, sizes[-1] * look / LOOKS) for look in range(1, LOOKS + 1))
    return [sums[at] for at in dict.fromkeys(steps)]


def growth(looks: Sequence[tuple[int, C]], bound: Callable[[C], float]) -> list[tuple[int, float]]:
    """Return (outputs, bound) for each look."""
    return [(outputs, bound(counts)) for outputs, counts in looks]
