"""The promise of a pair in a search: the probability that the bound from all its planned outputs exceeds the claim.

A search looks at many pairs with few outputs each. Its aim is to refute, so it compares pairs by this probability. It
is α for a pair that just keeps the claim, and one half for a pair that with probability 1/2 breaks the claim by far.

The best of many looks is partly luck, for which a prior of the pairs' losses corrects. The prior has three parts: most
pairs have about the same loss, which is fitted to all looks; many have exactly the claimed loss, since mechanisms are
calibrated to the claim; and some pairs, on which the mechanism breaks, may have any loss.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from auditor.bounds.intervals import Floats

# UNLIKE_OTHERS is the prior share of pairs that may have any loss, and REACH adds to the spread of their losses (nats).
# With 0.05, about five of a hundred looks at a sound mechanism are pursued, which costs little, and a fault on one pair
# of a hundred is still found. UNLIKE_IF_SIMPLE is for the simplest pairs, since most faults show on one or two records;
# UNLIKE_IF_RARE is for rare events.
UNLIKE_OTHERS, UNLIKE_IF_SIMPLE, UNLIKE_IF_RARE, REACH = 0.05, 0.2, 0.25, 4.0
# The worth of a bound as large as the claim, if a certain refutation is worth 1: a measured loss is not given up for a
# probability below 0.05. With 0.05, 77 of 80 audits found their fault, and 1 of 16 audits of sound discrete noise had
# no bound; with 0.1, 76 found it, and all had a bound. With 0.01, bounds from weak evidence were half of the best.
WORTH_OF_BOUND = 0.05
# The worth of such a bound while further outputs are given to pairs that may change the decision.
WORTH_TO_EXPLORE = 0.01
# The assumed shares of the prior's parts count as AS_MANY looks. STEPS is the number of EM steps that fit the shares.
AS_MANY, STEPS = 100, 10
# The prior's spread is at least this, or the least error of a look if that is smaller. With 0, no look would count.
LEAST_SPREAD = 0.02
# A posterior is summed at NODES, STEP apart, in standard deviations. They reach far up, for rules that never lost.
STEP = 0.5
NODES = np.arange(-6, 10, STEP)


class Prospect(NamedTuple):
    """An estimate from outputs that the test was not learned from, in units of the claim's quantity.

    The loss is ``loss`` ± ``error``. The bound will fall short of the loss by ``short`` ± ``noise``; ``short`` is ∞ if
    too few outputs will show the event. ``unlike`` is the prior probability that the loss is unlike most pairs' losses.
    For a rule that guesses, the loss is the log-odds of a win minus ``free``; ``wins`` and ``losses`` are its counts.
    A rule that never lost may have much larger log-odds.
    """

    loss: float
    error: float
    short: float
    noise: float
    unlike: float = UNLIKE_OTHERS
    wins: int = 0
    losses: int = 0
    free: float = 0.0

    def of_steps(self, steps: int) -> "Prospect":
        """Return the prospect of one of ``steps`` equal steps, whose losses add up to this loss."""
        return Prospect(self.loss / steps, self.error / steps, self.short / steps, self.noise / steps, self.unlike)


class Prior(NamedTuple):
    """The prior of most pairs' losses: normal with this mean and standard deviation (units of the claim's quantity)."""

    centre: float
    spread: float


def fitted_prior(prospects: Sequence[Prospect]) -> Prior:
    """Return the prior of most pairs: the weighted median of their estimated losses, and the spread beyond the errors.

    >>> fitted_prior([Prospect(1.0, 0.1, 0.0, 0.0)] * 5)
    Prior(centre=1.0, spread=0.02)
    """
    known = [one for one in prospects if math.isfinite(one.loss) and math.isfinite(one.error)]
    if not known:
        return Prior(0.0, REACH)
    losses, errors = np.array([one.loss for one in known]), np.array([one.error for one in known])
    weights = 1 / (errors + LEAST_SPREAD)
    centre = _weighted_median(losses, weights)
    # The spread is a median, since a few pairs are outliers. For a normal variable, half lie within 0.6745 deviations.
    beyond = np.maximum(0.0, (np.abs(losses - centre) / 0.6745) ** 2 - errors**2)
    least = min(LEAST_SPREAD, float(errors.min()))
    return Prior(centre, max(least, math.sqrt(_weighted_median(beyond, weights))))


def _weighted_median(values: Floats, weights: Floats) -> float:
    order = np.argsort(values, kind="stable")
    reached = np.cumsum(weights[order])
    return float(values[order][np.searchsorted(reached, reached[-1] / 2)])


def prior_of_all(looks: Sequence[Sequence[Prospect]]) -> Prior:
    """Return the prior fitted to the first event of each look, which is the most frequent one."""
    return fitted_prior([look[0] for look in looks if look])


class HeldOut(NamedTuple):
    """The wins of a rule on outputs from which it was not learned. ``directions`` is 2 if the rule guesses both sides.

    The rule is the best of ``rivals`` rules by these wins. Looks at one pair are added up; ``longest`` is the number of
    outputs of the longest look, or 0 after a single look. A store returns this as a plain tuple of numbers.
    """

    wins: int
    guesses: int
    trials: int
    directions: int
    rivals: int = 1
    longest: int = 0

    @property
    def of_longest(self) -> int:
        """The outputs of the longest look."""
        return self.longest or self.trials

    @property
    def losses(self) -> int:
        """How many guesses were wrong."""
        return self.guesses - self.wins

    def of_at_most(self, guesses: int) -> "HeldOut":
        """Return the wins of a rule that makes at most ``guesses`` guesses, with the same rate of wins."""
        if guesses >= self.guesses:
            return self
        return self._replace(wins=round(self.wins * guesses / self.guesses), guesses=guesses)

    def joined(self, other: "HeldOut") -> "HeldOut":
        """Return the sum of two looks."""
        return HeldOut(
            self.wins + other.wins,
            self.guesses + other.guesses,
            self.trials + other.trials,
            max(self.directions, other.directions),
            max(self.rivals, other.rivals),
            max(self.of_longest, other.of_longest),
        )

    def if_the_same(self, other: "HeldOut") -> "HeldOut":
        """Return the wins after another look, which may have learned another rule.

        If both looks guess at similar rates, they are added. Otherwise, a look longer than all before replaces these.
        A shorter look adds its outputs but no guesses; or nothing, if luck explains that it has no guesses.
        """
        alike = self.is_as_frequent(other)
        if alike and other.guesses:
            return self.joined(other)
        if other.trials > self.of_longest:
            return other
        return self if alike else self.joined(HeldOut(0, 0, other.trials, 0))

    def is_as_frequent(self, other: "HeldOut") -> bool:
        """Whether luck may explain that one look guessed more often than the other."""
        from scipy.special import bdtr

        rarer = min(self, other, key=lambda seen: seen.guesses / max(1, seen.trials))
        share = rarer.trials / max(1, self.trials + other.trials)
        # The test of equal rates has level 0.05. Rare events have few guesses, so a smaller level would hardly reject.
        return bool(bdtr(rarer.guesses, self.guesses + other.guesses, share) > 0.05)


def some_hint(prospects: Sequence[Prospect], claimed: float) -> bool:
    """Return whether some event shows a loss above the claim, at the one-sided significance level 0.2.

    If so, it is worth drawing more outputs to learn from.

    >>> some_hint([Prospect(1.1, 0.1, 0.0, 0.0)], 1.0), some_hint([Prospect(1.1, 0.2, 0.0, 0.0)], 1.0)
    (True, False)
    """
    from scipy.special import ndtri

    return any(one.loss + float(ndtri(0.2)) * one.error > claimed for one in prospects)


def utilities(outlook: tuple[Floats, Floats], claimed: float, worth: float = WORTH_OF_BOUND) -> Floats:
    """Return the utility of each look: the probability to refute the claim, plus ``worth`` times the relative bound.

    ``outlook`` holds these probabilities and expected bounds (see ``outlooks``).
    """
    chance, bound = outlook
    return np.asarray(chance + worth * bound / max(claimed, LEAST_SPREAD))


def utility_of_rule(prospect: Prospect, claimed: float) -> float:
    """Return the utility of a rule on a pair about which nothing else is known.

    The prior is that the pair's loss is exactly the claim, or unlike that of other pairs. Without ``some_hint``, the
    probability to refute comes from the prior alone, so it is set to 0.
    """
    chance, bound = outlooks([prospect], Prior(claimed, 0.0), claimed)
    hinted = chance * some_hint([prospect], claimed)
    return float(utilities((hinted, bound), claimed)[0])


@dataclass(frozen=True, slots=True)
class Promised:
    """The promise of the events of several looks. ``ends`` holds the index at which the events of each look end."""

    chances: Floats
    bounds: Floats
    ends: NDArray[np.int64]
    claimed: float

    @classmethod
    def of(cls, looks: Sequence[Sequence[Prospect]], claimed: float, prior: Prior | None = None) -> "Promised":
        """Return the promise of looks. The default prior is fitted to the most frequent event of each look."""
        every = [one for look in looks for one in look]
        ends = np.cumsum([len(look) for look in looks], dtype=np.int64)
        return cls(*outlooks(every, prior or prior_of_all(looks), claimed), ends, claimed)

    def utilities(self, worth: float = WORTH_OF_BOUND) -> list[float]:
        """Return the utility of each look's best event; −∞ for a look without events."""
        every = utilities((self.chances, self.bounds), self.claimed, worth)
        return [float(part.max(initial=-np.inf)) for part in np.split(every, self.ends)[: len(self.ends)]]


def outlooks(prospects: Sequence[Prospect], prior: Prior, claimed: float) -> tuple[Floats, Floats]:
    """Return for each prospect the probability to refute the claim, and the expected bound (0 without a bound)."""
    loss, error, short, noise, unlike, *of_rule = np.array(prospects, np.float64).reshape(-1, len(Prospect._fields)).T
    known = np.isfinite(error) & np.isfinite(loss)
    loss, error = np.where(known, loss, prior.centre), np.where(known, error, 1e3)
    parts = [
        _posterior(_Seen(loss, error, *of_rule), centre, spread, claimed + short, noise)
        for centre, spread in ((prior.centre, prior.spread), (claimed, 0.0), (prior.centre, prior.spread + REACH))
    ]
    evidence, means, chances = np.stack(parts, axis=1)
    weights = np.zeros(evidence.shape)
    for share in np.unique(unlike):
        alike = unlike == share
        weights[:, alike] = _explained(evidence[:, alike], share)
    chance, expected = (weights * chances).sum(axis=0), (weights * means).sum(axis=0)
    return chance, np.where(np.isfinite(short), np.maximum(0.0, expected - short), 0.0)


class _Seen(NamedTuple):
    """The fields of several prospects that describe their losses, as arrays."""

    loss: Floats
    error: Floats
    wins: Floats
    losses: Floats
    free: Floats

    def exactly(self, loss: Floats) -> Floats:
        """Return ln(exact likelihood / normal approximation) of each look at each loss, of shape (looks, losses)."""
        wins, losses, log_odds = self.wins[:, None], self.losses[:, None], loss + self.free[:, None]
        of_rule = -wins * np.logaddexp(0.0, -log_odds) - losses * np.logaddexp(0.0, log_odds)
        normal = -(((loss - self.loss[:, None]) / self.error[:, None]) ** 2) / 2
        return np.where(wins + losses > 0, of_rule - normal, 0.0)


def _posterior(
    seen: _Seen, centre: float, spread: float, needed: Floats, noise: Floats
) -> tuple[Floats, Floats, Floats]:
    """Return, for each look, under a normal prior: the log-evidence, the posterior mean loss, and the posterior
    probability that the loss exceeds ``needed``.
    """
    from scipy.special import logsumexp, ndtr

    centre = min(centre, 1e100)  # no loss is near, and the square is finite
    variance = seen.error**2
    together = spread**2 + variance
    gain = spread**2 / together
    mean, deviation = centre + gain * (seen.loss - centre), np.sqrt(gain * variance)
    at = mean[:, None] + deviation[:, None] * NODES
    weights = -(NODES**2) / 2 + seen.exactly(at)
    total = logsumexp(weights, axis=1)
    shares = np.exp(weights - total[:, None])
    # A node stands for all losses up to half a step away, so half a step is added to the noise.
    blurred = np.sqrt(noise**2 + (deviation * STEP / 2) ** 2)
    chance = (shares * ndtr((at - needed[:, None]) / np.maximum(blurred, 1e-12)[:, None])).sum(axis=1)
    log_evidence = total - ((seen.loss - centre) ** 2 / together + np.log(together)) / 2
    return log_evidence, mean, chance


def _explained(evidence: Floats, unlike: float) -> Floats:
    """Return the posterior probability of each part of the prior for each look, of shape (parts, looks).

    The shares of the parts are fitted to all looks by EM, as if AS_MANY looks with the assumed shares came before.
    """
    assumed = np.array([(1 - unlike) / 2, (1 - unlike) / 2, unlike])
    shares = assumed
    for _ in range(STEPS):
        weights = shares[:, None] * np.exp(evidence - evidence.max(axis=0))
        weights /= weights.sum(axis=0)
        shares = (AS_MANY * assumed + weights.sum(axis=1)) / (AS_MANY + weights.shape[1])
    return np.asarray(weights)
