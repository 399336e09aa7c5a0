"""Claims about the probability of an event that the mechanism itself reports: nothing is learned, and its rate is bounded."""

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from auditor.blackbox.mechanism import Sample
from auditor.bounds.evidence import ScoreCounts
from auditor.bounds.intervals import clopper_pearson_lower, clopper_pearson_upper
from auditor.bounds.power import detectable_probability
from auditor.claims import Probability
from auditor.errors import MechanismError
from auditor.methods.guessing import CAUTION, wilson_lower, z_of


def hits(sample: Sample) -> int:
    """Return how often the event happened. Raises MechanismError where an output is anything but whether it did."""
    column = sample.left.column("output")
    if column.codes is not None or not np.all((column.numbers == 0) | (column.numbers == 1)):
        raise MechanismError(
            "a probability claim needs a mechanism that returns whether the event happened, true or false"
        )
    return int(np.count_nonzero(column.numbers))


@dataclass(frozen=True, slots=True)
class Reported:
    """What the mechanism reports. Counts are of hits and misses, on the left, since there is no other side."""

    claim: Probability
    alpha: float

    def count(self, sample: Sample) -> ScoreCounts:  # noqa: D102 - see Test
        seen = hits(sample)
        return ScoreCounts((seen, sample.size - seen), (0, 0))

    def to_dict(self, counts: ScoreCounts) -> dict[str, Any]:
        """See Test; ``confirmed`` where the other limit, which errs with probability alpha as well, keeps the claim."""
        return {
            "description": "the mechanism reports the event",
            "counts": {"left": [counts.left[0], counts.trials]},
            "confirmed": self.claim.excess(self.limit(counts, lower=not self.claim.at_most)) <= 0,
        }

    def limit(self, counts: ScoreCounts, *, lower: bool) -> float:
        """Return the lower or the upper limit of the probability; each errs with probability alpha."""
        limit = clopper_pearson_lower if lower else clopper_pearson_upper
        return float(limit(counts.left[0], counts.trials, self.alpha))

    def histograms(self, sample: Sample) -> tuple[()]:  # noqa: D102
        return ()


@dataclass(frozen=True, slots=True)
class _Learned:
    test: Reported
    forecast: float


@dataclass(frozen=True, slots=True)
class Rate:
    """The probability of the reported event by the Clopper-Pearson limit on the side on which it would break the claim."""

    claim: Probability
    alpha: float
    planned: int
    caution: float = CAUTION

    @property
    def name(self) -> str:
        """How the bound is called in reports."""
        return limit_name(lower=self.claim.at_most)

    def boldly(self, caution: float) -> Self:  # noqa: D102 - see Method
        return replace(self, caution=caution)

    def doubting(self) -> Self:  # noqa: D102
        return self

    def learn(self, sample: Sample) -> _Learned:  # noqa: D102
        seen = hits(sample)
        trials, planned = np.array([float(sample.size)]), np.array([float(self.planned)])
        breaking = (seen if self.claim.at_most else sample.size - seen) / np.maximum(trials, 1)
        rate = wilson_lower(wilson_lower(breaking, trials, self.caution), planned, z_of(self.alpha)).item()
        return _Learned(Reported(self.claim, self.alpha), rate if self.claim.at_most else 1 - rate)

    def simplify(self, test: Reported, sample: Sample, floor: float) -> Reported:  # noqa: D102
        return test

    def bound(self, test: Reported, counts: ScoreCounts) -> float:
        """Return a lower limit of the probability that errs with probability alpha; an upper one for claims of at least."""
        return test.limit(counts, lower=self.claim.at_most)

    def also(self, counts: ScoreCounts) -> dict[str, float]:  # noqa: D102
        return {}

    def profile(self, counts: ScoreCounts) -> tuple[()]:  # noqa: D102
        return ()

    def detectable(self, test: Reported, counts: ScoreCounts, chance: float) -> float:  # noqa: D102
        return detectable_probability(self.claim, counts.trials, self.alpha, chance)


def limit_name(*, lower: bool) -> str:
    """Return how a limit is called in reports."""
    return f"Clopper-Pearson, {'lower' if lower else 'upper'} limit"
