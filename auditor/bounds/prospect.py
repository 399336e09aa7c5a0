"""The promise of a look at a pair: the chance that the bound, with the outputs that it will have, exceeds the claim.

A search is for refuting. So pairs are compared by that chance, and by nothing else as long as it matters. A frequent event on
which a pair just keeps the claim has the chance α. A rare one that is half known to break it has half.

The best of many looks is a lucky one. A prior for the losses of pairs takes that luck away. It is fitted to all looks of a
search, since most pairs lose about as much as the others. Many lose just what is claimed, since mechanisms are calibrated to that.
Some pairs are those at which the mechanism breaks: these may lose anything.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from auditor.bounds.intervals import Floats

# The share of pairs that may lose anything, and how far that reaches (standard deviation, nats). One in twenty: of a hundred looks
# at a sound mechanism some five are pursued, which costs little; and a fault on one pair of a hundred is not explained away.
# Most faults show on one or two records, so the share is one in five for the simplest pairs. A rare event is unlike others, so
# the share is one in four for these.
UNLIKE_OTHERS, UNLIKE_IF_SIMPLE, UNLIKE_IF_RARE, REACH = 0.05, 0.2, 0.25, 4.0
# The worth of a bound of the size of the claim, where the certainty to refute the claim is worth 1. A chance below one in twenty
# is not worth giving up a measured loss. With .05, 77 of 80 audits find their fault, and one of 16 audits of sound discrete noise
# ends without a bound; with .1, 76 and none. With .01, rules on weak evidence kept half of what the best shows.
WORTH_OF_BOUND = 0.05
# Its worth while outputs go to pairs that may change the decision.
WORTH_TO_EXPLORE = 0.01
# How many looks the assumed shares of the prior count for when they are fitted to looks, and the steps of that.
AS_MANY, STEPS = 100, 10
# The least spread of losses between pairs (nats), or the least error of a look if that is smaller: with none, no look counts.
LEAST_SPREAD = 0.02
# Where a posterior is summed up, in its standard deviations by the normal approximation. Above, a rule that never lost reaches far.
STEP = 0.5
NODES = np.arange(-6, 10, STEP)


class Prospect(NamedTuple):
    """An estimate from outputs that the test was not learned from, in units of the claim's quantity.

    The loss is ``loss`` ± ``error``. The bound will fall short of it by ``short``, ± ``noise``: infinite if so few outputs will
    show the event that no number of them refutes the claim. ``unlike`` is the chance that the event is unlike those on which
    most pairs lose most. If the loss is by how much ln of the odds of a rule exceeds ``free``, ``wins`` and ``losses`` are what it
    won and lost: a rule that never lost may have any odds above those.
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
        """Return what is promised of one of so many equal steps, over which this loss adds up."""
        return Prospect(self.loss / steps, self.error / steps, self.short / steps, self.noise / steps, self.unlike)


class Prior(NamedTuple):
    """The losses of most pairs: normal, with this centre and spread (units of the claim's quantity)."""

    centre: float
    spread: float


def fitted_prior(prospects: Sequence[Prospect]) -> Prior:
    """Return the prior of most pairs: the median of the losses seen, and their spread beyond the errors of the looks.

    >>> fitted_prior([Prospect(1.0, 0.1, 0.0, 0.0)] * 5)
    Prior(centre=1.0, spread=0.02)
    """
    known = [one for one in prospects if math.isfinite(one.loss) and math.isfinite(one.error)]
    if not known:
        return Prior(0.0, REACH)
    losses, errors = np.array([one.loss for one in known]), np.array([one.error for one in known])
    weights = 1 / (errors + LEAST_SPREAD)
    centre = _weighted_median(losses, weights)
    # A median, since a few pairs may be unlike all others. For a normal variable, half lie within .67 standard deviations.
    beyond = np.maximum(0.0, (np.abs(losses - centre) / 0.6745) ** 2 - errors**2)
    least = min(LEAST_SPREAD, float(errors.min()))
    return Prior(centre, max(least, math.sqrt(_weighted_median(beyond, weights))))


def _weighted_median(values: Floats, weights: Floats) -> float:
    order = np.argsort(values, kind="stable")
    reached = np.cumsum(weights[order])
    return float(values[order][np.searchsorted(reached, reached[-1] / 2)])


def prior_of_all(looks: Sequence[Sequence[Prospect]]) -> Prior:
    """Return the prior by the frequent events of looks, which come first in each."""
    return fitted_prior([look[0] for look in looks if look])


class HeldOut(NamedTuple):
    """The right guesses of a rule on outputs from which it was not learned. ``directions`` is 2 if it guesses either side.

    It is the best of so many ``rivals`` by these same numbers. Looks at one pair add up; ``longest`` is the outputs of the
    longest one, and 0 stands for a single look. A tuple of numbers, as it comes back from a store.
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
        """Return what a rule would have won that guesses at most so often, and wins at the same rate."""
        if guesses >= self.guesses:
            return self
        return self._replace(wins=round(self.wins * guesses / self.guesses), guesses=guesses)

    def joined(self, other: "HeldOut") -> "HeldOut":
        """Return what was won in both looks."""
        return HeldOut(
            self.wins + other.wins,
            self.guesses + other.guesses,
            self.trials + other.trials,
            max(self.directions, other.directions),
            max(self.rivals, other.rivals),
            max(self.of_longest, other.of_longest),
        )

    def if_the_same(self, other: "HeldOut") -> "HeldOut":
        """Return what is known after another look, which may have learned another rule.

        What both show at like rates adds up. Else a longer look than any before stands alone. A shorter one that does not show the
        rule says nothing, unless it should have shown it: then its outputs count.
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
        # The chance that luck sets them so far apart. Guesses on a rare event are few: a smaller one would hardly tell rates apart.
        return bool(bdtr(rarer.guesses, self.guesses + other.guesses, share) > 0.05)


def some_hint(prospects: Sequence[Prospect], claimed: float) -> bool:
    """Return whether some event shows a loss above the claim that luck explains with a chance of at most 0.2.

    If so, more outputs to learn from are worth it.

    >>> some_hint([Prospect(1.1, 0.1, 0.0, 0.0)], 1.0), some_hint([Prospect(1.1, 0.2, 0.0, 0.0)], 1.0)
    (True, False)
    """
    from scipy.special import ndtri

    return any(one.loss + float(ndtri(0.2)) * one.error > claimed for one in prospects)


def utilities(outlook: tuple[Floats, Floats], claimed: float, worth: float = WORTH_OF_BOUND) -> Floats:
    """Return how much each look promises: the chance to refute a claim, and a little for the bound that is expected.

    It is between 0 and 1, but for bounds far above the claim. ``outlook`` holds both (see ``outlooks``).
    """
    chance, bound = outlook
    return np.asarray(chance + worth * bound / max(claimed, LEAST_SPREAD))


def utility_of_rule(prospect: Prospect, claimed: float) -> float:
    """Return how much a rule promises on a pair of which nothing else is known.

    A claim is taken to be just kept, unless the pair is unlike others. Without a hint the chance is what the prior assumes of such
    pairs, which is not worth the bound of another rule.
    """
    chance, bound = outlooks([prospect], Prior(claimed, 0.0), claimed)
    hinted = chance * some_hint([prospect], claimed)
    return float(utilities((hinted, bound), claimed)[0])


@dataclass(frozen=True, slots=True)
class Promised:
    """The promise of the events of looks for a claim. ``ends`` are the places at which the events of each look end."""

    chances: Floats
    bounds: Floats
    ends: NDArray[np.int64]
    claimed: float

    @classmethod
    def of(cls, looks: Sequence[Sequence[Prospect]], claimed: float, prior: Prior | None = None) -> "Promised":
        """Return what looks promise; the prior, unless given, is that of the frequent events of all looks."""
        every = [one for look in looks for one in look]
        ends = np.cumsum([len(look) for look in looks], dtype=np.int64)
        return cls(*outlooks(every, prior or prior_of_all(looks), claimed), ends, claimed)

    def utilities(self, worth: float = WORTH_OF_BOUND) -> list[float]:
        """Return how much each look promises by its best event, −∞ for a look at which nothing could be learned."""
        every = utilities((self.chances, self.bounds), self.claimed, worth)
        return [float(part.max(initial=-np.inf)) for part in np.split(every, self.ends)[: len(self.ends)]]


def outlooks(prospects: Sequence[Prospect], prior: Prior, claimed: float) -> tuple[Floats, Floats]:
    """Return for each look the chance to refute a claim, and the bound that is expected; 0 if none is."""
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
    """The losses that looks show, each as an array."""

    loss: Floats
    error: Floats
    wins: Floats
    losses: Floats
    free: Floats

    def exactly(self, loss: Floats) -> Floats:
        """Return ln(exact likelihood / normal approximation) of looks at losses, both of shape (looks, losses)."""
        wins, losses, log_odds = self.wins[:, None], self.losses[:, None], loss + self.free[:, None]
        of_rule = -wins * np.logaddexp(0.0, -log_odds) - losses * np.logaddexp(0.0, log_odds)
        normal = -(((loss - self.loss[:, None]) / self.error[:, None]) ** 2) / 2
        return np.where(wins + losses > 0, of_rule - normal, 0.0)


def _posterior(
    seen: _Seen, centre: float, spread: float, needed: Floats, noise: Floats
) -> tuple[Floats, Floats, Floats]:
    """Return for looks under a normal part of the prior ln of how well it explains each, the mean loss, and the chance that the
    loss exceeds what is needed.
    """
    from scipy.special import logsumexp, ndtr

    centre = min(centre, 1e100)  # which no loss is near, and whose square is a number
    variance = seen.error**2
    together = spread**2 + variance
    gain = spread**2 / together
    mean, deviation = centre + gain * (seen.loss - centre), np.sqrt(gain * variance)
    at = mean[:, None] + deviation[:, None] * NODES
    weights = -(NODES**2) / 2 + seen.exactly(at)
    total = logsumexp(weights, axis=1)
    shares = np.exp(weights - total[:, None])
    # A node stands for all losses up to the middle between it and the next.
    blurred = np.sqrt(noise**2 + (deviation * STEP / 2) ** 2)
    chance = (shares * ndtr((at - needed[:, None]) / np.maximum(blurred, 1e-12)[:, None])).sum(axis=1)
    log_evidence = total - ((seen.loss - centre) ** 2 / together + np.log(together)) / 2
    return log_evidence, mean, chance


def _explained(evidence: Floats, unlike: float) -> Floats:
    """Return the chance of each part of the prior for each look, of shape (parts, looks).

    The shares of the parts are fitted to all looks by EM, as if AS_MANY looks with the shares assumed had been seen before.
    """
    assumed = np.array([(1 - unlike) / 2, (1 - unlike) / 2, unlike])
    shares = assumed
    for _ in range(STEPS):
        weights = shares[:, None] * np.exp(evidence - evidence.max(axis=0))
        weights /= weights.sum(axis=0)
        shares = (AS_MANY * assumed + weights.sum(axis=1)) / (AS_MANY + weights.shape[1])
    return np.asarray(weights)
