"""Claims about events, (ε, δ) and μ: a rule guesses the side, and the counts of its guesses are bounded."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from auditor.blackbox.mechanism import Sample
from auditor.bounds.evidence import Counts, GuessCounts
from auditor.bounds.guesses import guess_delta, guess_deltas, guess_epsilon, guess_mu
from auditor.bounds.intervals import two_intervals_deltas, two_intervals_epsilon
from auditor.bounds.power import detectable_by_guesses, detectable_by_two_intervals, detectable_mu
from auditor.claims import ApproximateDP, GaussianDP, PureDP
from auditor.events.blocks import Choice, RuleCounts
from auditor.events.event import Event
from auditor.events.selection import VALUES, select_event
from auditor.events.simplify import simplify_event

Floats = NDArray[np.float64]

# Rules are compared at rates so many standard errors on the safe side, so that of hundreds of rules one that was seen
# seldom does not win by luck.
CAUTION = 3.0
# What is left of any caution, in standard errors, where rules are doubted.
BOLD = 1.0


def wilson_lower(rate: Floats, trials: Floats, z: float) -> Floats:
    """Return the Wilson lower limit of a proportion, an approximation that needs no root finding; 0 of 0 is 0."""
    n = np.maximum(trials, 1e-9)
    centre = rate + z * z / (2 * n)
    spread = z * np.sqrt(rate * (1 - rate) / n + z * z / (4 * n * n))
    return np.asarray(np.where(trials > 0, (centre - spread) / (1 + z * z / n), 0.0))


def log_ratio(above: Floats, below: Floats) -> Floats:
    """Return ln(above/below), −∞ where above is not positive."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(above > 0, np.log(np.maximum(above, 0) / np.maximum(below, 1e-300)), -np.inf)


# Points of a curve of δ over ε, and how far it is drawn: twice as far as the claim, but not less than LEAST_REACH (nats), or up
# to MOST_REACH where a claim is small and δ above 0 further out.
PROFILE_POINTS = 41
LEAST_REACH, MOST_REACH = 0.01, 1.0


def profile_points(deltas: Callable[[Floats], Floats], near: float) -> tuple[tuple[float, float], ...]:
    """Return (ε, δ) at many ε (nats) around ``near``."""
    reach = 2.0 * max(near, LEAST_REACH / 2)
    while reach < MOST_REACH and deltas(np.array([reach]))[0] > 0:
        reach = min(2.0 * reach, MOST_REACH)
    epsilons = np.linspace(0.0, reach, PROFILE_POINTS)
    return tuple(zip(epsilons.tolist(), deltas(epsilons).tolist(), strict=True))


def z_of(alpha: float) -> float:
    """Return the normal quantile that is exceeded with probability ``alpha``."""
    from scipy.special import ndtri

    return -float(ndtri(alpha))


@dataclass(frozen=True, slots=True)
class Guesses:
    """ε at δ by one Clopper-Pearson interval on guesses; see :mod:`auditor.bounds.guesses`.

    Every rule is taken to have won and lost ``prior`` guesses each beside those seen: ln of its odds is shrunk as if it came
    from a distribution of variance 2/prior.
    """

    claim: PureDP | ApproximateDP
    alpha: float
    planned: int
    caution: float = CAUTION
    events: tuple[str, ...] = (VALUES,)
    name: str = "guesses"
    prior: float = 0.0

    def boldly(self, caution: float) -> Self:  # noqa: D102 - see Method
        return replace(self, caution=caution)

    def doubting(self) -> Self:
        """See Method; rules are taken to show about as much as the claim allows until they are seen to show more."""
        return replace(self, prior=2 / self.claim.relative_size**2)

    def learn(self, sample: Sample) -> Choice:  # noqa: D102 - see Method
        return select_event(*sample.halves(), self, self.events)

    def simplify(self, test: Event, sample: Sample, floor: float) -> Event:  # noqa: D102
        return simplify_event(test, sample, self, floor)

    def bound(self, test: Event, counts: GuessCounts) -> float:  # noqa: D102
        return guess_epsilon(counts, self.claim.delta, self.alpha)

    def also(self, counts: GuessCounts) -> dict[str, float]:  # noqa: D102
        if isinstance(self.claim, PureDP):
            return {}
        return {f"delta at epsilon {self.claim.epsilon:g}": guess_delta(counts, self.claim.epsilon, self.alpha)}

    def profile(self, counts: GuessCounts) -> tuple[tuple[float, float], ...]:  # noqa: D102
        return profile_points(lambda epsilons: guess_deltas(counts, epsilons, self.alpha), self.claim.epsilon)

    def detectable(self, test: Event, counts: GuessCounts, chance: float) -> float:  # noqa: D102
        return detectable_by_guesses(counts, self.claim.epsilon, self.claim.delta, self.alpha, chance)

    def forecast(self, seen: RuleCounts) -> Floats:  # noqa: D102
        wins = seen.left_wins + seen.right_wins
        guesses = wins + seen.left_losses + seen.right_losses
        directions = 1.0 * (seen.left_wins + seen.left_losses > 0) + (seen.right_wins + seen.right_losses > 0)
        safe = np.maximum(guesses, 1e-9)
        caution = min(self.caution, BOLD) if self.prior else self.caution
        cautious = wilson_lower((wins + self.prior) / (safe + 2 * self.prior), guesses, caution)
        rate = wilson_lower(cautious, guesses * self.planned / seen.trials, z_of(self.alpha))
        free = directions * self.claim.delta / 2 * seen.trials / safe
        return log_ratio(rate - free, 1 - rate)


@dataclass(frozen=True, slots=True)
class TwoIntervals:
    """ε at δ by the textbook form; see :func:`~auditor.bounds.intervals.two_intervals_epsilon`."""

    claim: PureDP | ApproximateDP
    alpha: float
    planned: int
    caution: float = CAUTION
    events: tuple[str, ...] = (VALUES,)
    name: str = "two-intervals"

    def boldly(self, caution: float) -> Self:  # noqa: D102 - see Method
        return replace(self, caution=caution)

    def doubting(self) -> Self:  # noqa: D102
        return self

    def learn(self, sample: Sample) -> Choice:  # noqa: D102 - see Method
        return select_event(*sample.halves(), self, self.events)

    def simplify(self, test: Event, sample: Sample, floor: float) -> Event:  # noqa: D102
        return simplify_event(test, sample, self, floor)

    def bound(self, test: Event, counts: GuessCounts) -> float:  # noqa: D102
        return two_intervals_epsilon(self._event(counts), self.claim.delta, self.alpha)

    def also(self, counts: GuessCounts) -> dict[str, float]:  # noqa: D102
        return {}

    def profile(self, counts: GuessCounts) -> tuple[tuple[float, float], ...]:  # noqa: D102
        event = self._event(counts)
        return profile_points(lambda epsilons: two_intervals_deltas(event, epsilons, self.alpha), self.claim.epsilon)

    def detectable(self, test: Event, counts: GuessCounts, chance: float) -> float:  # noqa: D102
        event = self._event(counts)
        return detectable_by_two_intervals(event, self.claim.epsilon, self.claim.delta, self.alpha, chance)

    def forecast(self, seen: RuleCounts) -> Floats:  # noqa: D102
        half = seen.trials / 2
        is_left = seen.right_wins + seen.right_losses == 0
        hits = np.where(is_left, seen.left_wins, seen.right_wins) / half
        misses = np.where(is_left, seen.left_losses, seen.right_losses) / half
        n, z = np.full_like(hits, half), z_of(self.alpha / 2)
        later = np.full_like(hits, self.planned / 2)
        low = wilson_lower(wilson_lower(np.minimum(hits, 1), n, self.caution), later, z)
        high = 1 - wilson_lower(wilson_lower(1 - np.minimum(misses, 1), n, self.caution), later, z)
        one_event = is_left | (seen.left_wins + seen.left_losses == 0)
        return np.where(one_event, log_ratio(low - self.claim.delta, high), -np.inf)

    def _event(self, counts: GuessCounts) -> Counts:
        """Return the one event that is ever guessed, seen from its own side."""
        return counts.left if counts.left.hits_left + counts.left.hits_right > 0 else counts.right.mirrored()


@dataclass(frozen=True, slots=True)
class GaussianGuesses:
    """μ by one Clopper-Pearson interval on guesses that never abstain; see :func:`~auditor.bounds.guesses.guess_mu`."""

    claim: GaussianDP
    alpha: float
    planned: int
    caution: float = CAUTION
    events: tuple[str, ...] = (VALUES,)
    name: str = "guesses without abstention"

    def boldly(self, caution: float) -> Self:  # noqa: D102 - see Method
        return replace(self, caution=caution)

    def doubting(self) -> Self:  # noqa: D102
        return self

    def learn(self, sample: Sample) -> Choice:  # noqa: D102 - see Method
        choice = select_event(*sample.halves(), self, self.events)
        return Choice(choice.test.decided(), choice.forecast)

    def simplify(self, test: Event, sample: Sample, floor: float) -> Event:  # noqa: D102
        return simplify_event(test, sample, self, floor)

    def bound(self, test: Event, counts: GuessCounts) -> float:  # noqa: D102
        return guess_mu(counts, self.alpha)

    def also(self, counts: GuessCounts) -> dict[str, float]:  # noqa: D102
        return {}

    def profile(self, counts: GuessCounts) -> tuple[tuple[float, float], ...]:  # noqa: D102
        return profile_points(lambda epsilons: guess_deltas(counts, epsilons, self.alpha), self.claim.mu)

    def detectable(self, test: Event, counts: GuessCounts, chance: float) -> float:  # noqa: D102
        return detectable_mu(counts, self.claim.mu, self.alpha, chance)

    def forecast(self, seen: RuleCounts) -> Floats:  # noqa: D102
        from scipy.special import ndtri

        wins = seen.left_wins + seen.right_wins
        trials = np.full_like(wins, seen.trials)
        cautious = wilson_lower(wins / trials, trials, self.caution)
        rate = wilson_lower(cautious, np.full_like(wins, self.planned), z_of(self.alpha))
        # What a curve expects on each block are fractions, and their sum is rounded.
        never_abstains = wins + seen.left_losses + seen.right_losses > seen.trials - 0.5
        return np.where(never_abstains, 2 * ndtri(rate), -math.inf)
