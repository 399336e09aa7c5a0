"""Claims about several (ε, δ) at once: a rule for each, all counted on the same outputs."""

from dataclasses import dataclass
from typing import ClassVar

from auditor.blackbox.sample import Sample
from auditor.bounds.evidence import ProfileCounts
from auditor.bounds.guesses import privacy_profile
from auditor.bounds.prospect import Prospect
from auditor.claims import PrivacyProfile
from auditor.events.event import Event
from auditor.events.histogram import Histogram
from auditor.events.observed import ObservedProfile
from auditor.methods.guessing import Guesses
from auditor.methods.method import Interval, Learned, ManyNumbers, Method, profile_points


@dataclass(frozen=True, slots=True)
class ProfileTest:
    """One event for each point."""

    events: tuple[Event, ...]

    def count(self, sample: Sample) -> ProfileCounts:
        """Count every event on the same outputs."""
        return ProfileCounts(tuple(event.count(sample) for event in self.events))

    def report(self, counts: ProfileCounts) -> ObservedProfile:
        """Return the events of all points with what was counted."""
        points = tuple(event.report(seen) for event, seen in zip(self.events, counts.points, strict=True))
        return ObservedProfile("; ".join(point.description for point in points), points)

    def histograms(self, sample: Sample) -> tuple[Histogram, ...]:
        """Return a histogram of the outputs along the feature of each event; one histogram for equal events."""
        return tuple(dict.fromkeys(each for event in self.events for each in event.histograms(sample)))


class ProfileGuesses(Method[PrivacyProfile, ProfileTest, ProfileCounts]):
    """The largest excess over the points, each bounded from guesses at its share of alpha."""

    __slots__ = ()
    name: ClassVar[str] = "guesses at every point"
    may_abstain: ClassVar[bool] = True

    def learn(self, sample: Sample) -> Learned[ProfileTest]:
        learned = [method.learn(sample) for method in self._methods()]
        forecast = max(c.forecast - p.epsilon for c, p in zip(learned, self.claim.profile, strict=True))
        return Learned(ProfileTest(tuple(choice.test for choice in learned)), forecast)

    def evidence(self, sample: Sample) -> ManyNumbers:
        """See Method; that of each point, one after the other."""
        return tuple(seen for method in self._methods() for seen in method.evidence(sample))

    def joined(self, one: ManyNumbers, other: ManyNumbers) -> ManyNumbers:
        each = zip(self._methods(), self._of_points(one), self._of_points(other), strict=True)
        return tuple(seen for method, *looks in each for seen in method.joined(*looks))

    def prospects(self, evidence: ManyNumbers) -> list[Prospect]:
        """See Method; the quantity is the excess over a point."""
        return [
            one._replace(loss=one.loss - method.claim.epsilon, free=one.free + method.claim.epsilon)
            for method, seen in zip(self._methods(), self._of_points(evidence), strict=True)
            for one in method.prospects(seen)
        ]

    def _of_points(self, evidence: ManyNumbers) -> list[ManyNumbers]:
        each = len(evidence) // len(self.claim.profile)
        return [evidence[i * each : (i + 1) * each] for i in range(len(self.claim.profile))]

    def simplify(self, test: ProfileTest, sample: Sample, floor: float) -> ProfileTest:
        each = zip(self._methods(), test.events, strict=True)
        return ProfileTest(tuple(m.simplify(event, sample, m.claim.epsilon + floor) for m, event in each))

    def bound(self, test: ProfileTest, counts: ProfileCounts) -> float:
        each = zip(self._methods(), test.events, counts.points, strict=True)
        return max(method.bound(event, seen) - method.claim.epsilon for method, event, seen in each)

    def profile(self, counts: ProfileCounts) -> tuple[tuple[float, float], ...]:
        near = max(point.epsilon for point in self.claim.profile)
        return profile_points(lambda epsilons: privacy_profile(counts.points, epsilons, self.alpha), near)

    def detectable(self, test: ProfileTest, counts: ProfileCounts, chance: float) -> float:
        each = zip(self._methods(), test.events, counts.points, strict=True)
        return min(method.detectable(event, seen, chance) - method.claim.epsilon for method, event, seen in each)

    def foreseen(self, share: float, chance: float) -> float:
        return min(method.foreseen(share, chance) - method.claim.epsilon for method in self._methods())

    def interval(self, counts: ProfileCounts, error: float) -> Interval:
        """See Method; limits of the largest excess, of all points at once."""
        methods, each = self._methods(), error / len(counts.points)
        found = [method.interval(seen, each) for method, seen in zip(methods, counts.points, strict=True)]
        lows, highs = ([f[i] - m.claim.epsilon for f, m in zip(found, methods, strict=True)] for i in (0, 1))
        return max(lows), max(highs)

    def _methods(self) -> list[Guesses]:
        points = self.claim.profile
        return [Guesses(point, self.alpha / len(points), self.planned, self.caution, self.events) for point in points]
