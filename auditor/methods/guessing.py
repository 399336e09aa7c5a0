"""The methods for claims (ε, δ), lists of these, and μ: a distinguisher guesses the side, and its wins give the bound."""

import math
import operator
from abc import abstractmethod
from dataclasses import dataclass, field, replace
from typing import ClassVar, NamedTuple, Self, TypeVar

import numpy as np

from auditor.blackbox.sample import Sample
from auditor.bounds.conversions import profile_points
from auditor.bounds.evidence import Counts, GuessCounts, ProfileCounts
from auditor.bounds.guesses import (
    Rates,
    epsilon_from_rate,
    guess_delta,
    guess_epsilon,
    guess_mu,
    mu_from_rate,
    privacy_profile,
    rate_of_epsilon,
    rate_of_mu,
)
from auditor.bounds.intervals import (
    Floats,
    clopper_pearson_limits,
    two_intervals_deltas,
    two_intervals_epsilon,
    wilson_lower,
    z_of,
)
from auditor.bounds.power import (
    detectable_by_guesses,
    detectable_by_two_intervals,
    detectable_mu,
    rate_that_refutes,
)
from auditor.bounds.utility import UNLIKE_IF_RARE, UNLIKE_OTHERS, HeldOutWins, Prospect, utility_of_distinguisher
from auditor.claims import ApproximateDP, GaussianDP, PrivacyProfile, PureDP
from auditor.defaults import VALUES
from auditor.events.blocks import Forecaster, RuleCounts
from auditor.events.event import Event, count_events
from auditor.events.histogram import Histogram
from auditor.events.observed import ObservedProfile
from auditor.events.rare import RARE, RareChoice
from auditor.events.selection import (
    ALWAYS_LEFT,
    FEW_IN_LOOKS,
    FEW_OUTPUTS,
    FewOutputs,
    frequent_rules,
    rare_event,
    unusual_forms,
)
from auditor.events.simplify import simplify_event
from auditor.interfaces import ExactNumber, Learned, Limits, ManyNumbers, Method, Truth

G = TypeVar("G", bound=PureDP | ApproximateDP | GaussianDP)

# With a prior, ``caution`` is reduced to BOLD_CAUTION standard errors, or to z/CAUTION_DIVISOR if this is more. Here z is
# the number of standard errors of a difference of the size that the prior expects, if all outputs show it.
BOLD_CAUTION, CAUTION_DIVISOR = 1.0, 15.0
# The event that spends most of δ is learned from and counted on at most so many outputs of each half.
MOST_TO_SPEND = 40_000
# Such an event is rare if its rate is at most RARE_IN_DELTAS times δ.
RARE_IN_DELTAS = 16
# The prior probability that a careful, a rare and a bold rule show a loss unlike that of most pairs.
UNLIKE_BY_KIND = UNLIKE_OTHERS, UNLIKE_IF_RARE, UNLIKE_OTHERS


class EventCounts(NamedTuple):
    """How often an event happened in the ``trials`` outputs of its own side, and in the ``others`` of the other side."""

    own: int = 0
    other: int = 0
    trials: int = 0
    others: int = 0

    @classmethod
    def of(cls, counts: GuessCounts) -> "EventCounts":
        """Return the counts of a rule that guesses one side; the event's own side comes first."""
        left, right = counts.left, counts.right
        if left.hits_left + left.hits_right:
            return cls(left.hits_left, left.hits_right, left.trials_left, left.trials_right)
        return cls(right.hits_right, right.hits_left, right.trials_right, right.trials_left)

    def swap(self) -> "EventCounts":
        """Return the same counts for the event as one of the other side."""
        return EventCounts(self.other, self.own, self.others, self.trials)

    def pool(self, other: "EventCounts") -> "EventCounts":
        """Return the counts in both samples together."""
        return EventCounts(*(one + more for one, more in zip(self, other, strict=True)))


class _DistinguisherMethod(Method[G, Event, GuessCounts], Forecaster):
    """The common part of methods that learn a distinguisher: a rule that guesses the side of an output, or abstains."""

    __slots__ = ()

    def _wins_planned(self, wins: int, trials: int) -> float:
        """Return the expected wins in the planned trials: the posterior mean, for a flat prior on the rate."""
        return (wins + 1) * self.planned / trials

    def learn(self, sample: Sample) -> Learned[Event]:
        """See Method. A careful, a rare and a bold rule are learned. The test is the one of largest utility on held-out
        outputs. The others are returned too, since the rule that refutes a claim best may not bound the loss best.
        """
        (careful, bold), rare = frequent_rules(sample, self, self.events), self._rare(sample)
        halves = _halves_of(sample)
        wins_careful, wins_rare, wins_bold = self._held_out(halves, rare)
        if bold is not None:
            # The bold rules learned on halves may guess far more often than the bold rule learned on all outputs.
            wins_bold = wins_bold.limit_guesses(bold.test.count(sample).guesses)
        ranked = [
            (utility_of_distinguisher(self._share_prior(wins, unlike), self.claim.value), rule)
            for rule, wins, unlike in zip(
                (careful, rare, bold), (wins_careful, wins_rare, wins_bold), UNLIKE_BY_KIND, strict=True
            )
            if rule is not None and wins.wins
        ]
        _, best = max(ranked, key=operator.itemgetter(0), default=(0.0, careful))
        others = list[Event]()
        for rule in (careful, rare, bold):
            if rule is not None and rule.test not in (best.test, *others):
                others.append(rule.test)
        # The rule of largest utility is expected to prove at least the careful rule's forecast.
        evidence = (wins_careful, wins_rare, wins_bold, *self._spent(sample, halves))
        return Learned(best.test, max(best.forecast, careful.forecast), evidence, tuple(others))

    def evidence(self, sample: Sample) -> ManyNumbers:
        """See Method. Return the wins of a careful, a rare and a bold rule on held-out outputs, and the counts of events that
        spend most of δ, or have an unusual form, if the claim is on ε.
        """
        halves = _halves_of(sample)
        # One threshold shows no values that take turns, such as those of noise in steps, however often they occur.
        return *self._held_out(halves, self._rare(sample, most=1.0), FEW_IN_LOOKS), *self._spent(sample, halves)

    def _held_out(
        self, halves: "tuple[_Half, _Half]", rare: RareChoice | None, few: int = FEW_OUTPUTS
    ) -> tuple[HeldOutWins, HeldOutWins, HeldOutWins]:
        """Return the wins of each kind of rule on held-out outputs.

        Each half of the outputs judges the careful and the bold rule learned from the other half. If a half has fewer
        than ``few`` outputs, these rules are one threshold and one tail. The rare rule comes with its wins.
        """
        first, second = halves
        careful, bold = (
            HeldOutWins.of(second.count(of_first) + first.count(of_second))
            if of_first and of_second
            else HeldOutWins(0, 0, 0, 1)
            for of_first, of_second in zip(self._of_half(first, few), self._of_half(second, few), strict=True)
        )
        return (
            careful,
            rare.wins if rare is not None else HeldOutWins(0, 0, first.sample.size + second.sample.size, 1),
            bold,
        )

    def _of_half(self, half: "_Half", few: int) -> tuple[Event, Event | None]:
        sample = half.sample
        if sample.size < few:
            learned = half.few_outputs(self.events)
            # Very few outputs give the odds in a tail to a factor of two only, which is too coarse for a small claim.
            knows_tails = self.claim.relative_size >= 0.5 or sample.size >= FEW_OUTPUTS
            return learned.threshold(), learned.tail() if knows_tails else None
        careful, bold = frequent_rules(sample, self, self.events)
        return careful.test, None if bold is None else bold.test

    def _spent(self, sample: Sample, halves: "tuple[_Half, _Half]") -> "tuple[EventCounts, ...]":
        """Return the counts of two events: one that may spend most of δ, learned on each half and counted on the other, which needs
        a δ; and that an output has an unusual form. Return () for a claim on another quantity than ε.
        """
        return ()

    def _rare(self, sample: Sample, most: float = RARE) -> RareChoice | None:
        rare = rare_event(sample, self, most) if VALUES in self.events else None
        return rare if rare is not None and rare.wins.guesses <= most * sample.size else None

    def joined(self, first: ManyNumbers, second: ManyNumbers) -> ManyNumbers:
        """See Method. Wins of rules of one kind are added up; those of rare rules only if the event may be the same."""
        if not (first and second):
            return first or second
        (careful, rare, bold), (later, later_rare, later_bold) = (_as_wins(some[:3]) for some in (first, second))
        spent = [[EventCounts(*map(int, numbers)) for numbers in some[3:]] for some in (first, second)]
        both = [earlier.pool(other) for earlier, other in zip(*spent, strict=True)]
        # A rare event is learned anew from each pilot sample. The best of many was lucky, and will not show again.
        return careful.pool(later), rare.pool_if_alike(later_rare), bold.pool(later_bold), *both

    def prospects(self, evidence: ManyNumbers) -> list[Prospect]:
        wins_by_kind = zip(_as_wins(evidence), UNLIKE_BY_KIND, strict=False)
        return [self._share_prior(wins, unlike) for wins, unlike in wins_by_kind if wins.guesses]

    def _share_prior(self, wins: HeldOutWins, unlike: float) -> Prospect:
        """Return the prospect of a rule. The rules that were compared share the prior ``unlike`` evenly."""
        return self.prospect_of(wins)._replace(unlike=unlike / wins.rivals)

    @abstractmethod
    def prospect_of(self, held_out: HeldOutWins) -> Prospect:
        """Return the prospect of a rule with these wins on held-out outputs."""

    def simplify(self, test: Event, sample: Sample, floor: float) -> Event:
        return simplify_event(test, sample, self, floor)

    def rarest(self, chance: float) -> float:
        """See Method. The rate is exact, since the number of such outputs is binomial."""
        half = self.planned // 2

        def refutes(hits: int) -> bool:
            return self.claim.excess(self.bound(ALWAYS_LEFT, self._one_sided(hits, half))) > 0

        rate = rate_that_refutes(refutes, half, chance)
        return math.inf if rate is None else rate

    def _one_sided(self, hits: int, half: int) -> GuessCounts:
        """Return the counts of an outcome that happens ``hits`` times on the left, and never on the right."""
        return GuessCounts(Counts(hits, half, 0, half), Counts(0, half, 0, half), one_tailed=True)


class _EpsilonMethod(_DistinguisherMethod[PureDP | ApproximateDP]):
    """The common part of methods for ε at δ."""

    __slots__ = ()
    may_abstain: ClassVar[bool] = True

    def interval(self, counts: GuessCounts, error: float) -> Limits:
        """See Method. If δ > 0, the limits of the rates of wins and of guesses err with probability error/2 each."""
        delta = self.claim.delta
        low, high = clopper_pearson_limits(counts.wins, counts.guesses, error if delta == 0 else error / 2)
        rarely, often = clopper_pearson_limits(counts.guesses, counts.trials, error / 2)
        free = counts.directions * delta / 2
        most, least = (min(1.0, free / rate) if rate > 0 else 1.0 for rate in (rarely, often))
        return epsilon_from_rate(low, most), epsilon_from_rate(high, least)

    def exact(self, truth: Truth) -> ExactNumber:
        return truth.epsilon(self.claim.delta)

    def _spent(self, sample: Sample, halves: "tuple[_Half, _Half]") -> tuple[EventCounts, ...]:
        if VALUES not in self.events:
            return EventCounts(), EventCounts()
        learned, some = EventCounts(), [half.first(MOST_TO_SPEND) for half in halves] if self.claim.delta else []
        events = [half.few_outputs((VALUES,)).spending(self.claim.epsilon) for half in some]
        for event, half in zip(events, reversed(some), strict=True):
            if event is not None:  # outputs on which no event is counted say nothing
                learned = learned.pool(EventCounts.of(half.count(event)))
        return learned, EventCounts(*unusual_forms(sample), sample.left.size, sample.right.size)

    def prospects(self, evidence: ManyNumbers) -> list[Prospect]:
        """See Method. The last prospects are of rare events by the δ that they spend, and of unusual forms that are less rare. A
        form needs no learning, so a single output counts, where a rule is learned from one and wins with the next.
        """
        most, prospects = RARE_IN_DELTAS * self.claim.delta, super().prospects(evidence[:3])
        for numbers, is_of_form in zip(evidence[3:], (False, True), strict=False):
            counts = EventCounts(*map(int, numbers))
            for side in (counts, counts.swap()):
                if side.other < side.own <= most * side.trials:
                    prospects.append(self._prospect_of_delta(side))
                elif is_of_form and side.other < side.own <= RARE * side.trials:
                    wins = HeldOutWins(side.own, side.own + side.other, side.trials + side.others, 1, rivals=2)
                    prospects.append(self._share_prior(wins, UNLIKE_IF_RARE))
        return prospects

    def _prospect_of_delta(self, counts: EventCounts) -> Prospect:
        """Return the prospect of an event by the δ that it spends: the loss is ε, plus by how many times δ it exceeds δ.

        A rare event whose rate is near δ has no bound on ε until all outputs are counted, though it may be all that breaks the
        claim. In this unit the claim is exhausted at ε, as it is for all other events. ``free`` is 1 − ε, so ``loss + free`` is at
        most 0 for an event that is as frequent on both sides.
        """
        factor, delta = math.exp(min(self.claim.epsilon, 500.0)), self.claim.delta
        own, other = (counts.own + 0.5) / (counts.trials + 1), counts.other / (counts.others + 1)
        variance = own * (1 - own) + factor**2 * max(other * (1 - other), 0.5 / (counts.others + 1))
        error, noise = (math.sqrt(variance / n) / delta for n in (counts.trials, max(1.0, self.planned / 2)))
        free = 1 - self.claim.epsilon
        loss = (own - factor * other) / delta - free
        mostly = own > 2 * factor * other
        return Prospect(loss, error, z_of(self.alpha) * noise, noise, unlike=UNLIKE_IF_RARE, free=free, of_delta=mostly)

    def foreseen(self, share: float, chance: float) -> float:
        """See Method. The value is exact, by the power of the test."""
        counts = hypothetical_counts(1 / (1 + math.exp(-self.claim.epsilon)), share, self.planned)
        return self.detectable(ALWAYS_LEFT, counts, chance)

    def prospect_of(self, held_out: HeldOutWins) -> Prospect:
        """See _DistinguisherMethod. The loss is the log-odds of wins, less ``free``, with half a win and half a loss added."""
        wins, losses = held_out.wins + 0.5, held_out.losses + 0.5
        log_odds, error = math.log(wins / losses), math.sqrt(1 / wins + 1 / losses)
        free, short, noise = self._shortfall(held_out, error)
        return Prospect(log_odds - free, error, short, noise, wins=held_out.wins, losses=held_out.losses, free=free)

    @abstractmethod
    def _shortfall(self, held_out: HeldOutWins, error: float) -> tuple[float, float, float]:
        """Return ``free``, ``short`` and ``noise`` of the Prospect (nats). ``short`` may be infinite.

        ``free`` is by how much δ lowers the log-odds. ``error`` is the standard error of the observed log-odds.
        """


@dataclass(frozen=True, slots=True)
class Guesses(_EpsilonMethod):
    """ε at δ by one Clopper-Pearson interval on guesses; see :mod:`auditor.bounds.guesses`.

    ``prior`` wins and ``prior`` losses are added to the guesses of every rule in forecasts: its log-odds are shrunk as
    if they came from a distribution of variance 2/prior.
    """

    name: ClassVar[str] = "guesses"
    prior: float = 0.0

    def with_prior(self) -> Self:
        """See Method. By the prior, rules show about as much as the claim allows, until outputs show more."""
        return replace(self, prior=2 / max(self.claim.relative_size, 1e-3) ** 2)  # a claim of ε = 0 has the size 0

    def bound(self, test: Event, counts: GuessCounts) -> float:
        return guess_epsilon(counts, self.claim.delta, self.alpha)

    def also(self, counts: GuessCounts) -> dict[str, float]:
        """See Method. The counts also bound δ at the claimed ε."""
        if isinstance(self.claim, PureDP):
            return {}
        return {f"delta at epsilon {self.claim.epsilon:g}": float(guess_delta(counts, self.claim.epsilon, self.alpha))}

    def profile(self, counts: GuessCounts) -> tuple[tuple[float, float], ...]:
        return profile_points(lambda epsilons: guess_delta(counts, epsilons, self.alpha), self.claim.epsilon)

    def detectable(self, test: Event, counts: GuessCounts, chance: float) -> float:
        return detectable_by_guesses(counts, self.claim.epsilon, self.claim.delta, self.alpha, chance)

    def _shortfall(self, held_out: HeldOutWins, error: float) -> tuple[float, float, float]:
        """See _EpsilonMethod. The rate of wins that refutes the claim is computed by the normal approximation."""
        # The fewer guesses, the larger is the share that δ allows for free. So one standard error is taken off.
        fewest = max(1e-9, held_out.guesses - math.sqrt(held_out.guesses))
        epsilon = self.claim.epsilon
        allowed = rate_of_epsilon(epsilon, self._free(held_out.directions, held_out.trials, fewest))
        guesses = held_out.guesses * self.planned / held_out.trials
        needed = allowed + z_of(self.alpha) * math.sqrt(max(0.0, allowed * (1 - allowed)) / guesses)
        if not needed < 1:
            return 0.0, math.inf, 0.0
        at_claim, to_refute = (math.log(rate / (1 - rate)) for rate in (allowed, needed))
        return at_claim - epsilon, to_refute - at_claim, 1 / math.sqrt(guesses * needed * (1 - needed))

    def forecast(self, counts: RuleCounts) -> Floats:
        guesses = counts.guesses
        safe = np.maximum(guesses, 1e-9)
        caution = self.caution
        if self.prior:
            clear = math.sqrt(counts.trials / (2 * self.prior))
            caution = min(caution, max(BOLD_CAUTION, clear / CAUTION_DIVISOR))
        cautious = wilson_lower((counts.wins + self.prior) / (safe + 2 * self.prior), guesses, caution)
        rate = wilson_lower(cautious, guesses * self.planned / counts.trials, z_of(self.alpha))
        if self.claim.delta == 0:
            return log_ratio(rate, 1 - rate)
        return log_ratio(rate - self._free(counts.directions, counts.trials, safe), 1 - rate)

    def _free(self, directions: Rates, trials: int, guesses: Rates) -> Rates:
        """Return the share of the guesses that δ allows a rule to win for free."""
        return directions * self.claim.delta / 2 * trials / guesses

    @property
    def claimed(self) -> float:
        return self.claim.epsilon

    def clearance(self, counts: RuleCounts) -> Floats:
        """See Forecaster. The rate of wins under the claim is taken to be normal."""
        guesses = np.maximum(counts.guesses, 1e-9)
        allowed = rate_of_epsilon(self.claim.epsilon, self._free(counts.directions, counts.trials, guesses))
        share = self.planned / counts.trials
        spread = np.sqrt(np.maximum(allowed * (1 - allowed) * guesses * share, 0.0))
        excess = (counts.wins - allowed * guesses) * share
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(allowed < 1, excess / spread - z_of(self.alpha), -np.inf)

    def forecast_never_losing(self, wins: int, trials: int, directions: int) -> float:
        """See Forecaster. The limit is exact: if all guesses were won, it is a power of alpha."""
        from scipy.special import gammaincinv, ndtr

        rate = self.alpha ** (1 / self._wins_planned(wins, trials))
        # The fewer guesses, the larger is the share that δ allows for free. So their number is estimated low.
        fewest = float(gammaincinv(wins, ndtr(-min(self.caution, BOLD_CAUTION))))
        free = self._free(directions, trials, max(fewest, 1e-300))
        return math.log((rate - free) / (1 - rate)) if rate > free else -math.inf


class TwoIntervals(_EpsilonMethod):
    """ε at δ by the textbook form; see :func:`~auditor.bounds.intervals.two_intervals_epsilon`."""

    __slots__ = ()
    name: ClassVar[str] = "two-intervals"

    def bound(self, test: Event, counts: GuessCounts) -> float:
        return two_intervals_epsilon(_single_event(counts), self.claim.delta, self.alpha)

    def profile(self, counts: GuessCounts) -> tuple[tuple[float, float], ...]:
        event = _single_event(counts)
        return profile_points(lambda epsilons: two_intervals_deltas(event, epsilons, self.alpha), self.claim.epsilon)

    def detectable(self, test: Event, counts: GuessCounts, chance: float) -> float:
        event = _single_event(counts)
        return detectable_by_two_intervals(event, self.claim.epsilon, self.claim.delta, self.alpha, chance)

    def _shortfall(self, held_out: HeldOutWins, error: float) -> tuple[float, float, float]:
        """See _EpsilonMethod. The bound falls short by the widths of both intervals."""
        share = self.planned / held_out.trials
        noise = error / math.sqrt(share)
        allowed = self.claim.delta * self.planned / 2 / max(1.0, held_out.wins * share)
        if not allowed < 1:
            return 0.0, math.inf, 0.0
        return -math.log(1 - allowed), z_of(self.alpha / 2) * math.sqrt(2) * noise, noise

    def forecast(self, counts: RuleCounts) -> Floats:
        half = counts.trials / 2
        is_left = counts.right_wins + counts.right_losses == 0
        hits = np.where(is_left, counts.left_wins, counts.right_wins) / half
        misses = np.where(is_left, counts.left_losses, counts.right_losses) / half
        n, z = np.full_like(hits, half), z_of(self.alpha / 2)
        later = np.full_like(hits, self.planned / 2)
        low = wilson_lower(wilson_lower(np.minimum(hits, 1), n, self.caution), later, z)
        high = 1 - wilson_lower(wilson_lower(1 - np.minimum(misses, 1), n, self.caution), later, z)
        one_event = is_left | (counts.left_wins + counts.left_losses == 0)
        return np.where(one_event, log_ratio(low - self.claim.delta, high), -np.inf)

    def forecast_never_losing(self, wins: int, trials: int, directions: int) -> float:
        """See Forecaster. This method cannot bound rules that guess both sides."""
        if directions > 1:
            return -math.inf
        half = self.planned // 2
        hits = min(half, round(self._wins_planned(wins, trials)))
        return two_intervals_epsilon(Counts(hits, half, 0, half), self.claim.delta, self.alpha)


class GaussianGuesses(_DistinguisherMethod[GaussianDP]):
    """μ by one Clopper-Pearson interval, for rules that never abstain; see :func:`~auditor.bounds.guesses.guess_mu`."""

    __slots__ = ()
    name: ClassVar[str] = "guesses without abstention"

    def learn(self, sample: Sample) -> Learned[Event]:
        learned = super().learn(sample)
        others = tuple(other for event in learned.others if (other := event.decided()) != learned.test.decided())
        return replace(learned, test=learned.test.decided(), others=others)

    def bound(self, test: Event, counts: GuessCounts) -> float:
        return guess_mu(counts, self.alpha)

    def profile(self, counts: GuessCounts) -> tuple[tuple[float, float], ...]:
        return profile_points(lambda epsilons: guess_delta(counts, epsilons, self.alpha), self.claim.mu)

    def detectable(self, test: Event, counts: GuessCounts, chance: float) -> float:
        return detectable_mu(counts, self.claim.mu, self.alpha, chance)

    def foreseen(self, share: float, chance: float) -> float:
        """See Method. ``share`` has no effect, since the rule never abstains."""
        return self.detectable(ALWAYS_LEFT, hypothetical_counts(0.5, 1.0, self.planned), chance)

    def prospect_of(self, held_out: HeldOutWins) -> Prospect:
        """See _DistinguisherMethod. The rate of wins is taken to be normal."""
        from scipy.special import ndtri

        trials = held_out.trials + 1
        rate = (held_out.wins + 0.5) / trials
        density = math.exp(-(float(ndtri(rate)) ** 2) / 2) / math.sqrt(2 * math.pi)
        error = 2 * math.sqrt(rate * (1 - rate) / trials) / density
        allowed = rate_of_mu(self.claim.mu)
        needed = allowed + z_of(self.alpha) * math.sqrt(allowed * (1 - allowed) / self.planned)
        short, noise = math.inf, 0.0
        if needed < 1:
            short, noise = mu_from_rate(needed) - self.claim.mu, error * math.sqrt(trials / self.planned)
        return Prospect(mu_from_rate(rate), error, short, noise)

    def _one_sided(self, hits: int, half: int) -> GuessCounts:
        """See _DistinguisherMethod. All other outputs are guessed to be of the right side."""
        return GuessCounts(Counts(hits, half, 0, half), Counts(half - hits, half, half, half))

    def interval(self, counts: GuessCounts, error: float) -> Limits:
        low, high = clopper_pearson_limits(counts.wins, counts.guesses, error)
        return mu_from_rate(low), mu_from_rate(high)

    def forecast(self, counts: RuleCounts) -> Floats:
        from scipy.special import ndtri

        wins = counts.wins
        trials = np.full_like(wins, counts.trials)
        cautious = wilson_lower(wins / trials, trials, self.caution)
        rate = wilson_lower(cautious, np.full_like(wins, self.planned), z_of(self.alpha))
        # Counts expected by a curve are fractions, and their sum over blocks is subject to rounding.
        never_abstains = counts.guesses > counts.trials - 0.5
        return np.where(never_abstains, 2 * ndtri(rate), -math.inf)


# --- Several (ε, δ) at once: a rule for each, all counted on the same outputs ---


@dataclass(frozen=True, slots=True)
class ProfileTest:
    """One event for each point (ε, δ) of the claim."""

    events: tuple[Event, ...]

    def count(self, sample: Sample) -> ProfileCounts:
        """Count every event on the same outputs."""
        return self.count_parts(sample, 1)[0]

    def count_parts(self, sample: Sample, number: int) -> list[ProfileCounts]:
        """See Test."""
        return [*map(ProfileCounts, count_events(self.events, sample, number))]

    def report(self, counts: ProfileCounts) -> ObservedProfile:
        """Return the events of all points with their counts."""
        points = tuple(event.report(of_event) for event, of_event in zip(self.events, counts.points, strict=True))
        return ObservedProfile("; ".join(point.description for point in points), points)

    def histograms(self, sample: Sample) -> tuple[Histogram, ...]:
        """Return a histogram of the outputs along the feature of each event, without repetitions."""
        return tuple(dict.fromkeys(each for event in self.events for each in event.histograms(sample)))


class ProfileGuesses(Method[PrivacyProfile, ProfileTest, ProfileCounts]):
    """The largest excess of a loss over its point's ε. Each point is bounded by guesses at its share of alpha."""

    __slots__ = ()
    name: ClassVar[str] = "guesses at every point"
    may_abstain: ClassVar[bool] = True

    def learn(self, sample: Sample) -> Learned[ProfileTest]:
        learned = [method.learn(sample) for method in self._methods()]
        forecast = max(c.forecast - p.epsilon for c, p in zip(learned, self.claim.profile, strict=True))
        return Learned(ProfileTest(tuple(choice.test for choice in learned)), forecast)

    def evidence(self, sample: Sample) -> ManyNumbers:
        """See Method. Return the evidence for all points (ε, δ) of the profile in one list."""
        return tuple(numbers for method in self._methods() for numbers in method.evidence(sample))

    def joined(self, first: ManyNumbers, second: ManyNumbers) -> ManyNumbers:
        by_point = zip(self._methods(), self._of_points(first), self._of_points(second), strict=True)
        return tuple(numbers for method, *pilots in by_point for numbers in method.joined(*pilots))

    def prospects(self, evidence: ManyNumbers) -> list[Prospect]:
        """See Method. A loss is given as its excess over the ε of its point."""
        return [
            prospect._replace(loss=prospect.loss - method.claim.epsilon, free=prospect.free + method.claim.epsilon)
            for method, of_point in zip(self._methods(), self._of_points(evidence), strict=True)
            for prospect in method.prospects(of_point)
        ]

    def _of_points(self, evidence: ManyNumbers) -> list[ManyNumbers]:
        points = len(self.claim.profile)
        kinds = len(evidence) // points
        return [evidence[i * kinds : (i + 1) * kinds] for i in range(points)]

    def simplify(self, test: ProfileTest, sample: Sample, floor: float) -> ProfileTest:
        each = zip(self._methods(), test.events, strict=True)
        return ProfileTest(tuple(m.simplify(event, sample, m.claim.epsilon + floor) for m, event in each))

    def bound(self, test: ProfileTest, counts: ProfileCounts) -> float:
        each = zip(self._methods(), test.events, counts.points, strict=True)
        return max(method.bound(event, of_event) - method.claim.epsilon for method, event, of_event in each)

    def profile(self, counts: ProfileCounts) -> tuple[tuple[float, float], ...]:
        near = max(point.epsilon for point in self.claim.profile)
        return profile_points(lambda epsilons: privacy_profile(counts.points, epsilons, self.alpha), near)

    def detectable(self, test: ProfileTest, counts: ProfileCounts, chance: float) -> float:
        each = zip(self._methods(), test.events, counts.points, strict=True)
        return min(
            method.detectable(event, of_event, chance) - method.claim.epsilon for method, event, of_event in each
        )

    def foreseen(self, share: float, chance: float) -> float:
        return min(method.foreseen(share, chance) - method.claim.epsilon for method in self._methods())

    def rarest(self, chance: float) -> float:
        return min(method.rarest(chance) for method in self._methods())

    def interval(self, counts: ProfileCounts, error: float) -> Limits:
        """See Method. The limits are of the largest excess, and hold for all points together."""
        methods, share = self._methods(), error / len(counts.points)
        limits = [method.interval(of_event, share) for method, of_event in zip(methods, counts.points, strict=True)]
        lows, highs = ([ends[i] - m.claim.epsilon for ends, m in zip(limits, methods, strict=True)] for i in (0, 1))
        return max(lows), max(highs)

    def _methods(self) -> list[Guesses]:
        points = self.claim.profile
        return [Guesses(point, self.alpha / len(points), self.planned, self.caution, self.events) for point in points]


# --- Counts ---


@dataclass(frozen=True, slots=True, eq=False)
class _Half:
    """One half of the outputs of a look. ``known`` keeps them with the columns of all features, by kinds of events."""

    sample: Sample
    known: dict[tuple[str, ...], FewOutputs] = field(default_factory=dict)

    def first(self, most: int) -> "_Half":
        """Return the first outputs of each side, at most ``most`` in all."""
        sample = self.sample
        return self if sample.size <= most else _Half(Sample(sample.left[: most // 2], sample.right[: most // 2]))

    def few_outputs(self, kinds: tuple[str, ...]) -> FewOutputs:
        """Return the outputs with the features of these kinds."""
        if kinds not in self.known:
            self.known[kinds] = FewOutputs.of(self.sample, kinds)
        return self.known[kinds]

    def count(self, event: Event) -> GuessCounts:
        """Count an event on these outputs, by columns that are known."""
        few = next(iter(self.known.values()), None)
        return event.count(self.sample) if few is None else few.count(event)


def _halves_of(sample: Sample) -> tuple[_Half, _Half]:
    first, second = sample.halves()
    return _Half(first), _Half(second)


def _as_wins(evidence: ManyNumbers) -> list[HeldOutWins]:
    return [HeldOutWins(*map(int, numbers)) for numbers in evidence]


def hypothetical_counts(rate: float, share: float, outputs: int) -> GuessCounts:
    """Return the counts of a two-tailed rule that guesses on this share of the outputs and wins at this rate."""
    half = outputs // 2
    guesses = int(share * half)
    wins = round(rate * guesses)
    return GuessCounts(Counts(wins, half, guesses - wins, half), Counts(guesses - wins, half, wins, half))


def _single_event(counts: GuessCounts) -> Counts:
    """Return the counts of a one-tailed rule's event, with the sides swapped if it guesses right."""
    return counts.left if counts.left.hits_left + counts.left.hits_right > 0 else counts.right.swap_sides()


def log_ratio(above: Floats, below: Floats) -> Floats:
    """Return ln(above/below); −∞ if ``above`` is not positive."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(above > 0, np.log(np.maximum(above, 0) / np.maximum(below, 1e-300)), -np.inf)
