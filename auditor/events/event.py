"""An event: a frozen rule that looks at one output and guesses the side it came from, or abstains."""

from dataclasses import dataclass
from typing import Any

from auditor.blackbox.mechanism import Sample
from auditor.blackbox.outputs import Outputs
from auditor.bounds.evidence import Counts, GuessCounts
from auditor.events.cells import ABSTAIN, LEFT, RIGHT, Cells
from auditor.events.features import Feature
from auditor.events.histogram import Histogram, histogram


@dataclass(frozen=True, slots=True)
class Event:
    """Guess LEFT or RIGHT where ``rule`` says so of a feature of the output."""

    feature: Feature
    rule: Cells

    def count(self, sample: Sample) -> GuessCounts:
        """Count the guesses on each side."""
        to_left, to_right = (self._guesses(outputs) for outputs in (sample.left, sample.right))
        nl, nr = sample.left.size, sample.right.size
        return GuessCounts(
            Counts(to_left[LEFT], nl, to_right[LEFT], nr),
            Counts(to_left[RIGHT], nl, to_right[RIGHT], nr),
            one_tailed=not {LEFT, RIGHT} <= self.rule.worths,
        )

    def decided(self) -> "Event":
        """Return the rule that guesses LEFT where this one abstains."""
        rule = self.rule
        values = tuple(LEFT if worth == ABSTAIN else worth for worth in rule.values)
        return Event(self.feature, Cells(rule.edges, values, rule.atoms, LEFT))

    def describe(self, side: float) -> str:
        """Say in words on which outputs the rule guesses that side."""
        return self.rule.describe(self.feature.name, side)

    def to_dict(self, counts: GuessCounts) -> dict[str, Any]:
        """Return the event with what was counted, as it stands in a report.

        The event is the one that speaks for the left side (for the right side, where there is no other); its
        opposite, guessed for the other side, stands beside it where there are both.
        """
        sides = [(side, seen) for side, seen in ((LEFT, counts.left), (RIGHT, counts.right))]
        if counts.one_tailed:
            sides = [(side, seen) for side, seen in sides if self.describe(side) != "never"]
        entries = [
            {
                "description": self.describe(side),
                "guess": "left" if side == LEFT else "right",
                "counts": seen.to_dict(),
            }
            for side, seen in sides
        ]
        return {**entries[0], "opposite": entries[1] if len(entries) > 1 else None}

    def histograms(self, sample: Sample) -> tuple[Histogram, ...]:
        """Return how outputs lie along the feature."""
        return (histogram(sample, self.feature, self.rule),)

    def _guesses(self, outputs: Outputs) -> dict[float, int]:
        counts = self.rule.count(self.feature.extract(outputs))
        return {side: counts.get(side, 0) for side in (LEFT, RIGHT)}
