"""The outputs that an event is selected from, in two halves of two sides, as one table. Columns of features are made once."""

from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from auditor.blackbox.outputs import OutputColumn, Outputs, concatenate
from auditor.blackbox.sample import Sample
from auditor.events.coarse import CoarseBlocks
from auditor.events.features import Feature
from auditor.events.sorted_column import Sides, sorted_sides

# Columns of fewer outputs than this are kept, since several steps ask for them.
MOST_KEPT = 100_000


@dataclass(frozen=True, slots=True, eq=False)
class Halves:
    """Outputs of the half that suggests rules (left, then right), then of the half that judges. ``sizes`` are the sizes of these
    four parts.
    """

    outputs: Outputs
    sizes: tuple[int, int, int, int]
    kept: dict[int, tuple[Feature, OutputColumn]] = field(default_factory=dict)

    @classmethod
    def of(cls, fit: Sample, judge: Sample) -> "Halves":
        """Return the outputs of both halves."""
        parts = [fit.left, fit.right, judge.left, judge.right]
        left, right, other_left, other_right = (part.size for part in parts)
        return cls(concatenate(parts), (left, right, other_left, other_right))

    @property
    def fit(self) -> Outputs:
        """The outputs of the half that suggests rules."""
        return self.outputs[: sum(self.sizes[:2])]

    def sample(self, half: int, places: Container[str]) -> Sample:
        """Return some places of one of the halves."""
        some = Outputs(self.outputs.size, tuple(column for column in self.outputs.columns if column.name in places))
        left, right = (some[part] for part in list(self._parts())[2 * half : 2 * half + 2])
        return Sample(left, right)

    def first(self, most: int) -> "Halves":
        """Return the first outputs of each half, at most ``most``."""
        if max(sum(self.sizes[:2]), sum(self.sizes[2:])) <= most:
            return self
        begin = np.cumsum(self.sizes) - self.sizes
        left, right, other_left, other_right = (min(size, most // 2) for size in self.sizes)
        sizes = left, right, other_left, other_right
        rows = np.concatenate([np.arange(b, b + size) for b, size in zip(begin, sizes, strict=True)])
        return Halves(self.outputs[rows], sizes)

    def column(self, feature: Feature) -> OutputColumn:
        """Return the values of a feature on all outputs."""
        if id(feature) not in self.kept:
            made = feature, feature.extract(self.outputs)
            if self.outputs.size > MOST_KEPT:
                return made[1]
            self.kept[id(feature)] = made
        return self.kept[id(feature)][1]

    def sides(self, feature: Feature) -> tuple[Sides, Sides]:
        """Return the sorted values of a feature on both sides of either half."""
        whole = Outputs(self.outputs.size, (self.column(feature),))
        name = whole.columns[0].name
        parts = [whole[part] for part in self._parts()]
        fit, judge = (
            sorted_sides(lambda side: side.column(name), Sample(left, right)) for left, right in (parts[:2], parts[2:])
        )
        return fit, judge

    def coarse(self, features: Sequence[Feature], look_for_rare: bool = False) -> CoarseBlocks:
        """Return a coarse table of some features."""
        return CoarseBlocks.of([self.column(feature) for feature in features], self.sizes, look_for_rare)

    def _parts(self) -> Iterator[slice]:
        begin = 0
        for size in self.sizes:
            yield slice(begin, begin + size)
            begin += size
