"""Guesses outside of earlier events: does a violation remain, once those that are known are left out?

A claim (ε, δ) bounds P(S) ≤ e^ε Q(S) + δ for every event S. So the part of an event that lies outside of earlier ones is an event
like any other, and its bound needs no condition: on outputs of earlier events nothing is guessed, and they still are trials. To
drop them would be to condition on the rest, which the claim says nothing about.

One violation shows in many events. On data sets that always raise, "any number" is as telling as the exception, and noise that is
too small shows in both tails. So if an earlier event breaks the claim on the pair too, the outputs by which it is more frequent on
one side count as wrong guesses. A further violation is on other pairs, or is larger. That can only lower the bound.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Self

from auditor.blackbox.sample import Sample
from auditor.bounds.evidence import Counts, CountsOutside, GuessCounts
from auditor.bounds.exponential import finite_exp
from auditor.bounds.prospect import Prospect
from auditor.claims import ApproximateDP, PureDP
from auditor.errors import InvalidInputError
from auditor.events.cells import ABSTAIN, Cells
from auditor.events.event import Event
from auditor.events.histogram import Histogram
from auditor.events.left_out import OF_EARLIER, EarlierEvent, Outside, count_in_each, without
from auditor.events.observed import ObservedRule
from auditor.events.selection import ALWAYS
from auditor.methods.guessing import Guesses
from auditor.methods.method import Learned, ManyNumbers, Method

# Standard errors by which an earlier event must break the claim to count as the same violation: of the bound, and of a look in the
# search, which has few outputs.
CLEARLY, SEEMINGLY = 3.0, 1.0
# Of fewer outputs on a side, outside of earlier events, nothing is learned.
FEWEST = 4


@dataclass(frozen=True, slots=True)
class EventOutside:
    """A rule that guesses nothing on outputs of earlier events; it counts these as well."""

    event: Event
    earlier: tuple[EarlierEvent, ...]

    @classmethod
    def of(cls, event: Event, earlier: tuple[EarlierEvent, ...]) -> Self:
        """Return a rule outside of earlier events."""
        rule = event.rule
        cells = Cells(rule.edges, rule.values, {**rule.atoms, OF_EARLIER: ABSTAIN}, rule.otherwise)
        return cls(Event(Outside(event.feature, earlier), cells), earlier)

    @classmethod
    def reported(cls, seen: ObservedRule) -> Self:
        """Return the rule that was reported. Raises InvalidInputError if it is not one outside of earlier events."""
        event = Event.of(seen)
        if not isinstance(event.feature, Outside):
            raise InvalidInputError("the rule of a further violation does not leave out earlier events")
        return cls(event, event.feature.earlier)

    def count(self, sample: Sample) -> CountsOutside:
        """Count the guesses on each side, and the outputs of earlier events."""
        return CountsOutside(self.event.count(sample), count_in_each(self.earlier, sample))

    def report(self, counts: CountsOutside) -> ObservedRule:
        """Return the event with its counts."""
        return self.event.report(counts.event)

    def histograms(self, sample: Sample) -> tuple[Histogram, ...]:
        """Return a histogram of the outputs along the feature."""
        return self.event.histograms(sample)


@dataclass(frozen=True, slots=True)
class GuessesOutside(Method[PureDP | ApproximateDP, EventOutside, CountsOutside]):
    """ε at δ by guesses outside of ``earlier`` events. It learns as ``Guesses`` does, from the other outputs."""

    name: ClassVar[str] = "guesses outside earlier events"
    may_abstain: ClassVar[bool] = True

    prior: float = 0.0
    earlier: tuple[EarlierEvent, ...] = ()

    @classmethod
    def of(cls, method: Guesses, earlier: tuple[EarlierEvent, ...]) -> Self:
        """Return the method outside of earlier events."""
        settings = method.claim, method.alpha, method.planned, method.caution, method.events
        return cls(*settings, method.prior, earlier)

    @property
    def guesses(self) -> Guesses:
        """The method without earlier events."""
        return Guesses(self.claim, self.alpha, self.planned, self.caution, self.events, self.prior)

    def with_prior(self) -> Self:
        return replace(self, prior=self.guesses.with_prior().prior)

    def learn(self, sample: Sample) -> Learned[EventOutside]:
        left = without(self.earlier, sample)
        if min(left.left.size, left.right.size) < FEWEST:
            return Learned(EventOutside.of(ALWAYS, self.earlier), -math.inf)
        learned = self.guesses.learn(left)
        return Learned(EventOutside.of(learned.test, self.earlier), learned.forecast)

    def evidence(self, sample: Sample) -> ManyNumbers:
        """See Method; what earlier events may explain counts as wrong guesses here too."""
        left, earlier = without(self.earlier, sample), count_in_each(self.earlier, sample)
        if min(left.left.size, left.right.size) < FEWEST:
            return ()
        wrong = sum(self._wrong_guesses(earlier, SEEMINGLY))
        return tuple(
            seen._replace(guesses=seen.guesses + wrong, trials=sample.size) if seen.guesses else seen
            for seen in self.guesses.evidence(left)
        )

    def joined(self, one: ManyNumbers, other: ManyNumbers) -> ManyNumbers:
        return self.guesses.joined(one, other)

    def prospects(self, evidence: ManyNumbers) -> list[Prospect]:
        return self.guesses.prospects(evidence)

    def bound(self, test: EventOutside, counts: CountsOutside) -> float:
        """See Method; the smaller of the bounds with and without what earlier events may explain."""
        return min(self.guesses.bound(test.event, seen) for seen in (counts.event, self.doubted(counts)))

    def doubted(self, counts: CountsOutside) -> GuessCounts:
        """Return the counts of the rule, with wrong guesses for earlier events that break the claim too."""
        left, right = counts.event.left, counts.event.right
        on_left, on_right = self._wrong_guesses(counts.earlier, CLEARLY)
        return GuessCounts(
            replace(left, hits_right=left.hits_right + on_right),
            replace(right, hits_left=right.hits_left + on_left),
            counts.event.one_tailed,
        )

    def _wrong_guesses(self, earlier: Sequence[Counts], errors: float) -> tuple[int, int]:
        """Return how many outputs on the left and on the right count as wrong guesses."""
        both = [(self._taken(seen, errors), self._taken(seen.mirrored(), errors)) for seen in earlier]
        return sum(on_left for on_left, _ in both), sum(on_right for _, on_right in both)

    def _taken(self, seen: Counts, errors: float) -> int:
        """Return by how many outputs an event is more frequent on the left, if it breaks the claim by so many standard errors."""
        n, m, allowed = seen.trials_left, seen.trials_right, float(finite_exp(self.claim.epsilon))
        if not (n and m):
            return 0
        left, right = seen.hits_left / n, seen.hits_right / m
        error = math.sqrt(left * (1 - left) / n + allowed**2 * right * (1 - right) / m)
        return round((left - right) * n) if left - allowed * right - self.claim.delta > errors * error else 0

    def detectable(self, test: EventOutside, counts: CountsOutside, chance: float) -> float:
        return self.guesses.detectable(test.event, counts.event, chance)

    def foreseen(self, share: float, chance: float) -> float:
        return self.guesses.foreseen(share, chance)
