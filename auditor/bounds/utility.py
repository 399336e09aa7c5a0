"""The utility of a pair in a search: the probability that the bound from all its planned outputs exceeds the claim.

A search draws a pilot sample on each of many pairs. Its aim is to refute, so it compares pairs by this probability. It
is α for a pair that just keeps the claim, and one half for a pair that with probability 1/2 breaks the claim by far.

The best of many pilot samples is partly luck, for which a prior of the pairs' losses corrects. The prior is a mixture
of three components: most pairs have about the same loss, which is fitted to all pilot samples; many have exactly the
claimed loss, since mechanisms are calibrated to the claim; and some pairs, on which the mechanism breaks, may have any
loss.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from auditor.bounds.evidence import GuessCounts
from auditor.bounds.intervals import Floats

# UNLIKE_OTHERS is the prior share of pairs that may have any loss; UNLIKE_SPREAD widens the spread of their losses (nats).
# With 0.05, about five of a hundred pilot samples of a sound mechanism are pursued, which costs little, and a fault on
# one pair in a hundred is still found. UNLIKE_IF_SIMPLE is for the simplest pairs, since most faults show on one or two
# records; UNLIKE_IF_RARE is for rare events.
UNLIKE_OTHERS, UNLIKE_IF_SIMPLE, UNLIKE_IF_RARE, UNLIKE_SPREAD = 0.05, 0.2, 0.25, 4.0
# The worth of a bound as large as the claim, if a certain refutation is worth 1: a measured loss is not given up for a
# probability below 0.05. With 0.05, 77 of 80 audits found their fault, and 1 of 16 audits of sound discrete noise had
# no bound; with 0.1, 76 found it, and all had a bound. With 0.01, bounds from weak evidence were half of the best.
WORTH_OF_BOUND = 0.05
# The worth of such a bound while further outputs go to pairs that may change the decision.
WORTH_TO_EXPLORE = 0.01
# The assumed shares of the mixture's components count as much as SHARES_WEIGHT pilot samples. EM_STEPS steps fit the
# shares.
SHARES_WEIGHT, EM_STEPS = 100, 10
# The prior's spread is at least this, or the least error of a pilot sample if that is smaller. With 0, none would count.
LEAST_PRIOR_SPREAD = 0.02
# A posterior is summed at NODES, NODE_STEP standard deviations apart. They reach far up, for rules that never lost.
NODE_STEP = 0.5
NODES = np.arange(-6, 10, NODE_STEP)


class Prospect(NamedTuple):
    """A held-out estimate of the loss that a test shows, and a forecast of its bound, in units of the claim's quantity.

    The loss is ``loss`` ± ``error``. The bound will fall short of the loss by ``short`` ± ``noise``; ``short`` is ∞ if
    too few outputs will show the event. ``unlike`` is the prior probability that the loss is unlike most pairs' losses.
    For a distinguisher, the loss is the log-odds of a win minus ``free``; ``wins`` and ``losses`` are its counts. A
    distinguisher that never lost may have much larger log-odds. If outputs have the same distribution on both data sets, the true
    ``loss + free`` is at most 0. ``of_delta`` says whether ε allows less than half of the event's rate, and δ has to
    allow the rest.
    """

    loss: float
    error: float
    short: float
    noise: float
    unlike: float = UNLIKE_OTHERS
    wins: int = 0
    losses: int = 0
    free: float = 0.0
    of_delta: bool = False

    def per_step(self, steps: int) -> "Prospect":
        """Return the prospect of one of ``steps`` equal moves between data sets, whose losses add up to this loss."""
        return Prospect(
            self.loss / steps,
            self.error / steps,
            self.short / steps,
            self.noise / steps,
            self.unlike,
            free=self.free / steps,
        )


class Prior(NamedTuple):
    """The prior of most pairs' losses: normal with this mean and standard deviation (units of the claim's quantity)."""

    centre: float
    spread: float


def fit_prior(prospects: Sequence[Prospect]) -> Prior:
    """Return the prior of most pairs: the weighted median of their estimated losses, and the spread beyond the errors.

    >>> fit_prior([Prospect(1.0, 0.1, 0.0, 0.0)] * 5)
    Prior(centre=1.0, spread=0.02)
    """
    finite = [prospect for prospect in prospects if math.isfinite(prospect.loss) and math.isfinite(prospect.error)]
    if not finite:
        return Prior(0.0, UNLIKE_SPREAD)
    losses, errors = np.array([(prospect.loss, prospect.error) for prospect in finite]).T
    weights = 1 / (errors + LEAST_PRIOR_SPREAD)
    centre = _weighted_median(losses, weights)
    # The spread is a median, since a few pairs are outliers. For a normal variable, half lie within 0.6745 deviations.
    beyond = np.maximum(0.0, (np.abs(losses - centre) / 0.6745) ** 2 - errors**2)
    least = min(LEAST_PRIOR_SPREAD, float(errors.min()))
    return Prior(centre, max(least, math.sqrt(_weighted_median(beyond, weights))))


def _weighted_median(values: Floats, weights: Floats) -> float:
    order = np.argsort(values, kind="stable")
    reached = np.cumsum(weights[order])
    return float(values[order][np.searchsorted(reached, reached[-1] / 2)])


def fit_prior_to_pilots(pilots: Sequence[Sequence[Prospect]]) -> Prior:
    """Return the prior fitted to the first event of each pilot sample, which is the most frequent one."""
    return fit_prior([prospects[0] for prospects in pilots if prospects])


class HeldOutWins(NamedTuple):
    """The wins of a distinguisher on outputs from which it was not learned; 2 ``directions`` if it names both sides.

    The distinguisher is the best of ``rivals`` by these wins. Pilot samples on one pair are added up; ``largest`` is the
    number of outputs of the largest, or 0 if there is only one. The store returns this as a plain tuple of numbers.
    """

    wins: int
    guesses: int
    trials: int
    directions: int
    rivals: int = 1
    largest: int = 0

    @classmethod
    def of(cls, counts: GuessCounts) -> "HeldOutWins":
        """Return the wins of a single distinguisher on one sample."""
        return cls(counts.wins, counts.guesses, counts.trials, counts.directions)

    @property
    def of_largest(self) -> int:
        """The outputs of the largest pilot sample."""
        return self.largest or self.trials

    @property
    def losses(self) -> int:
        """How many guesses were wrong."""
        return self.guesses - self.wins

    def limit_guesses(self, most: int) -> "HeldOutWins":
        """Return the wins of a distinguisher with the same rate of wins that makes at most ``most`` guesses."""
        if most >= self.guesses:
            return self
        return self._replace(wins=round(self.wins * most / self.guesses), guesses=most)

    def pool(self, other: "HeldOutWins") -> "HeldOutWins":
        """Return the wins in two pilot samples together."""
        return HeldOutWins(
            self.wins + other.wins,
            self.guesses + other.guesses,
            self.trials + other.trials,
            max(self.directions, other.directions),
            max(self.rivals, other.rivals),
            max(self.of_largest, other.of_largest),
        )

    def pool_if_alike(self, other: "HeldOutWins") -> "HeldOutWins":
        """Return the wins after another pilot sample, in which another distinguisher may have been learned.

        If both guess at similar rates, their wins are added. Otherwise, a sample larger than all earlier ones replaces
        them. A smaller one adds its outputs but no guesses, or nothing if chance explains why it has no guesses.
        """
        alike = self.is_as_frequent(other)
        if alike and other.guesses:
            return self.pool(other)
        if other.trials > self.of_largest:
            return other
        return self if alike else self.pool(HeldOutWins(0, 0, other.trials, 0))

    def is_as_frequent(self, other: "HeldOutWins") -> bool:
        """Whether luck may explain that guesses were more frequent in one pilot sample than in the other."""
        from scipy.special import bdtr

        rarer = min(self, other, key=lambda wins: wins.guesses / max(1, wins.trials))
        share = rarer.trials / max(1, self.trials + other.trials)
        # The test of equal rates has level 0.05. Rare events have few guesses, so a smaller level would hardly reject.
        return bool(bdtr(rarer.guesses, self.guesses + other.guesses, share) > 0.05)


def hints_at_violation(prospects: Sequence[Prospect], claimed: float) -> bool:
    """Return whether some event shows a loss above the claim, at the one-sided significance level 0.2.

    If so, it is worth drawing more outputs to learn from.

    >>> hints_at_violation([Prospect(1.1, 0.1, 0.0, 0.0)], 1.0), hints_at_violation([Prospect(1.1, 0.2, 0.0, 0.0)], 1.0)
    (True, False)
    """
    from scipy.special import ndtri

    return any(prospect.loss + float(ndtri(0.2)) * prospect.error > claimed for prospect in prospects)


def utilities(probabilities: Floats, bounds: Floats, claimed: float, worth: float = WORTH_OF_BOUND) -> Floats:
    """Return the utility of each prospect: the probability of a refutation, plus ``worth`` times the relative bound.

    ``probabilities`` and expected ``bounds`` are those of ``judge_prospects``.
    """
    return np.asarray(probabilities + worth * bounds / max(claimed, LEAST_PRIOR_SPREAD))


def utility_of_distinguisher(prospect: Prospect, claimed: float) -> float:
    """Return the utility of a distinguisher on a pair about which nothing else is known.

    The prior is that the pair's loss is exactly the claim, or unlike that of other pairs. Unless the outputs hint at a
    violation, the probability of a refutation comes from the prior alone, so it is set to 0.
    """
    probability, bound = judge_prospects([prospect], Prior(claimed, 0.0), claimed)
    return float(utilities(probability * hints_at_violation([prospect], claimed), bound, claimed)[0])


@dataclass(frozen=True, slots=True)
class Outlook:
    """For the events of several pilot samples: probability of a refutation, and expected bound.

    ``ends`` holds the index at which the events of each pilot sample end.
    """

    probabilities: Floats
    bounds: Floats
    ends: NDArray[np.int64]
    claimed: float

    @classmethod
    def of(cls, pilots: Sequence[Sequence[Prospect]], claimed: float, prior: Prior | None = None) -> "Outlook":
        """Return the outlook of pilot samples. The default prior is fitted to the most frequent event of each."""
        prospects = [prospect for pilot in pilots for prospect in pilot]
        ends = np.cumsum([len(pilot) for pilot in pilots], dtype=np.int64)
        return cls(*judge_prospects(prospects, prior or fit_prior_to_pilots(pilots), claimed), ends, claimed)

    def utilities(self, worth: float = WORTH_OF_BOUND) -> list[float]:
        """Return the utility of each pilot sample's best event; −∞ for a sample without events."""
        of_events = utilities(self.probabilities, self.bounds, self.claimed, worth)
        best, begins = np.full(len(self.ends), -np.inf), np.concatenate([np.zeros(1, np.int64), self.ends[:-1]])
        has_events = begins < self.ends
        if has_events.any():
            best[has_events] = np.maximum.reduceat(of_events, begins[has_events])
        return [float(utility) for utility in best]


def judge_prospects(prospects: Sequence[Prospect], prior: Prior, claimed: float) -> tuple[Floats, Floats]:
    """Return each prospect's probability of a refutation, and its expected bound (0 without a bound).

    The shares of the mixture's components are fitted to all prospects by EM, as if SHARES_WEIGHT pilot samples with the
    assumed shares had been seen before.
    """
    # Short looks show the same few counts again and again, and each is judged once.
    places = dict[Prospect, int]()
    which = np.array([places.setdefault(prospect, len(places)) for prospect in prospects], np.intp)
    distinct = np.array([*places], np.float64).reshape(-1, len(Prospect._fields))
    loss, error, short, noise, unlike, *of_rule, _ = distinct.T
    is_finite = np.isfinite(error) & np.isfinite(loss)
    loss, error = np.where(is_finite, loss, prior.centre), np.where(is_finite, error, 1e3)
    estimates = _Estimates(loss, error, *of_rule)
    parts = [
        _posterior(estimates, centre, spread, claimed + short, noise)
        for centre, spread in (
            (prior.centre, prior.spread),
            (claimed, 0.0),
            (prior.centre, prior.spread + UNLIKE_SPREAD),
        )
    ]
    evidence, means, probabilities = np.stack(parts, axis=1)[:, :, which]
    short, unlike = short[which], unlike[which]
    # Prospects of one prior share have shares of their own; all arrays are of shape (parts, prospects) or (parts, prior shares).
    share, group = np.unique(unlike, return_inverse=True)
    shares = assumed = np.stack([(1 - share) / 2, (1 - share) / 2, share])
    likelihoods, is_of = (
        np.exp(evidence - evidence.max(axis=0)),
        (group[:, None] == np.arange(len(share))).astype(np.float64),
    )
    for _ in range(EM_STEPS):
        weights = shares[:, group] * likelihoods
        weights /= weights.sum(axis=0)
        shares = (SHARES_WEIGHT * assumed + weights @ is_of) / (SHARES_WEIGHT + is_of.sum(axis=0))
    expected = (weights * means).sum(axis=0)
    bounds = np.where(np.isfinite(short), np.maximum(0.0, expected - short), 0.0)
    return (weights * probabilities).sum(axis=0), bounds


class _Estimates(NamedTuple):
    """The fields of several prospects that describe their losses, as arrays."""

    loss: Floats
    error: Floats
    wins: Floats
    losses: Floats
    free: Floats

    def log_correction(self, loss: Floats) -> Floats:
        """Return ln(exact likelihood / normal approximation) of each estimate at each loss; shape (estimates, losses)."""
        wins, losses, log_odds = self.wins[:, None], self.losses[:, None], loss + self.free[:, None]
        # −wins ln(1 + e^−x) − losses ln(1 + e^x), in a quarter of the time that logaddexp takes.
        of_rule = (
            -(wins + losses) * np.log1p(np.exp(-np.abs(log_odds))) - np.where(log_odds > 0, losses, -wins) * log_odds
        )
        normal = -(((loss - self.loss[:, None]) / self.error[:, None]) ** 2) / 2
        return np.where(wins + losses > 0, of_rule - normal, 0.0)


def _posterior(
    estimates: _Estimates, centre: float, spread: float, needed: Floats, noise: Floats
) -> tuple[Floats, Floats, Floats]:
    """Return, for each estimate, under a normal prior: the log-evidence, the posterior mean loss, and the posterior
    probability that the loss exceeds ``needed``.
    """
    from scipy.special import ndtr

    centre = min(centre, 1e100)  # no loss is near, and the square is finite
    variance = estimates.error**2
    together = spread**2 + variance
    gain = spread**2 / together
    mean, deviation = centre + gain * (estimates.loss - centre), np.sqrt(gain * variance)
    at = mean[:, None] + deviation[:, None] * NODES
    weights = -(NODES**2) / 2 + estimates.log_correction(at)
    largest = weights.max(axis=1, keepdims=True)
    shares = np.exp(weights - largest)
    sums = shares.sum(axis=1, keepdims=True)
    shares, total = shares / sums, (largest + np.log(sums))[:, 0]
    # A node stands for all losses up to half a step away, so half a step is added to the noise.
    blurred = np.sqrt(noise**2 + (deviation * NODE_STEP / 2) ** 2)
    probability = (shares * ndtr((at - needed[:, None]) / np.maximum(blurred, 1e-12)[:, None])).sum(axis=1)
    log_evidence = total - ((estimates.loss - centre) ** 2 / together + np.log(together)) / 2
    return log_evidence, mean, probability
