"""The method for claims about the probability of an event that the mechanism reports: a Clopper-Pearson limit."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from auditor.blackbox.sample import Sample
from auditor.bounds.evidence import Bound, ScoreCounts
from auditor.bounds.intervals import (
    clopper_pearson_limits,
    clopper_pearson_lower,
    clopper_pearson_upper,
    wilson_lower,
    z_of,
)
from auditor.bounds.power import detectable_probability
from auditor.claims import Probability
from auditor.errors import MechanismError
from auditor.events.observed import Hits, ObservedReport
from auditor.interfaces import Learned, Limits, Method


def count_hits(sample: Sample) -> int:
    """Count how often the event happened. Raises MechanismError unless each output is true or false."""
    column = sample.left.column("output")
    if column.codes is not None or not np.all((column.numbers == 0) | (column.numbers == 1)):
        raise MechanismError(
            "a probability claim needs a mechanism that returns whether the event happened, true or false"
        )
    return int(np.count_nonzero(column.numbers))


@dataclass(frozen=True, slots=True)
class SelfReportedEvent:
    """The event that the mechanism reports. Hits and misses are counted on the left, which is the only side."""

    claim: Probability
    alpha: float

    def count(self, sample: Sample) -> ScoreCounts:
        hits = count_hits(sample)
        return ScoreCounts((hits, sample.size - hits), (0, 0))

    def count_parts(self, sample: Sample, number: int) -> list[ScoreCounts]:
        """See Test."""
        return [*map(self.count, sample.parts(number))]

    def report(self, counts: ScoreCounts) -> ObservedReport:
        """See Test. ``confirmed``: whether the limit on the other side (it errs with alpha, too) keeps the claim."""
        confirmed = self.claim.excess(self.limit(counts, lower=not self.claim.at_most).value) <= 0
        return ObservedReport("the mechanism reports the event", Hits((counts.left[0], counts.trials)), confirmed)

    def limit(self, counts: ScoreCounts, *, lower: bool) -> Bound:
        """Return the lower or the upper limit of the probability; each errs with probability at most alpha."""
        side: Literal["lower", "upper"] = "lower" if lower else "upper"
        limit = clopper_pearson_lower if lower else clopper_pearson_upper
        value = float(limit(counts.left[0], counts.trials, self.alpha))
        return Bound(self.claim.quantity, value, 1 - self.alpha, f"Clopper-Pearson, {side} limit", side=side)

    def histograms(self, sample: Sample) -> tuple[()]:
        """See Test. There is none."""
        return ()


class Rate(Method[Probability, SelfReportedEvent, ScoreCounts]):
    """Bounds the probability of the reported event by the Clopper-Pearson limit that can refute the claim."""

    __slots__ = ()

    def learn(self, sample: Sample) -> Learned[SelfReportedEvent]:
        """See Method. Nothing is learned; the sample is used to forecast the limit."""
        hits = count_hits(sample)
        trials, planned = np.array([float(sample.size)]), np.array([float(self.planned)])
        breaking = (hits if self.claim.at_most else sample.size - hits) / np.maximum(trials, 1)
        rate = wilson_lower(wilson_lower(breaking, trials, self.caution), planned, z_of(self.alpha)).item()
        return Learned(SelfReportedEvent(self.claim, self.alpha), rate if self.claim.at_most else 1 - rate)

    def bound(self, test: SelfReportedEvent, counts: ScoreCounts) -> float:
        """Return the lower limit of the probability (the upper for ``at_least``). It errs with probability alpha."""
        return self.proved(test, counts).value

    def proved(self, test: SelfReportedEvent, counts: ScoreCounts) -> Bound:
        return SelfReportedEvent(self.claim, self.alpha).limit(counts, lower=self.claim.at_most)

    def detectable(self, test: SelfReportedEvent, counts: ScoreCounts, chance: float) -> float:
        return detectable_probability(self.claim, counts.trials, self.alpha, chance)

    def foreseen(self, share: float, chance: float) -> float:
        """See Method. The value is exact, since the hits are binomial."""
        return detectable_probability(self.claim, self.planned, self.alpha, chance)

    def interval(self, counts: ScoreCounts, error: float) -> Limits:
        """See Method. For a claim that the probability is large, the sign is turned, so that more is worse."""
        low, high = clopper_pearson_limits(counts.left[0], counts.trials, error)
        return (low, high) if self.claim.at_most else (-high, -low)
