"""A band on the whole trade-off curve and privacy profile, from one sample: it holds at all thresholds of a score together.

A score is fixed beforehand. The event S of a threshold is "the score is at least so large". Each threshold has P[S], the
probability on the left, and Q[S] on the right. These two numbers are all that a threshold shows:

    δ(ε) ≥ P[S] − e^ε Q[S],        δ(ε) ≥ Q[not S] − e^ε P[not S],        T(Q[S]) ≤ 1 − P[S],

where T is the trade-off curve of a test of the right side against the left. If the limits of P[S] and Q[S] hold at all
thresholds together, then so do all of these, and the best threshold may be looked for in the same outputs.

**The limits.** Let N(t) be the number of n independent outputs of a side that lie in the event of probability t. (Where outputs
have equal scores, only some t belong to a threshold.) For a > 1, compare the outputs with those of a side on which this event is
a times as likely, up to probability 1. The likelihood ratio of what the events up to t show is

    R_a(t) = a^N(t) ((1 − a t)/(1 − t))^(n − N(t))        for t < 1/a, and 0 from there on (a^n at t ≤ 1/a, if N = n),

a non-negative supermartingale in t that starts at 1. So is its average R over a prior on a, and by Ville's inequality

    P[R(t) ≥ 1/α for some t] ≤ α.

R falls in t and rises in N. So the lower limit for k hits is the t at which R reaches 1/α, and with probability at least 1 − α no
threshold has a lower limit above its probability. This is so for every n: no critical value is simulated, tabulated or taken
from a limit theorem. Upper limits are lower limits of the complement, by the same argument from the other end.

**The prior.** The maximum of R_a over a is exp(n K(N/n, t)), where K is the relative entropy of two coins. So R is the statistic of
Berk & Jones (1979), with an average in place of the maximum. A prior that is flat in ln(a − 1) gives all thresholds nearly the
same precision: on the scale on which an empirical process is stationary, a − 1 ~ e^−s. With this prior, Ville's inequality
loses nothing to first order: the probability of a Gaussian process on a long interval to cross a high level is the same.
The prior has a peak for events that hold all of the outputs but a few, where the maximum would be reached at a single a.
Its weights depend on n only, so limits at different levels are nested, and a p-value is well defined.
"""

import functools
import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from auditor.bounds.intervals import Floats, clopper_pearson_upper, finite_exp
from auditor.claims import Tradeoff
from auditor.errors import InvalidInputError

# The prior has points for y = n (a − 1), from LEAST_Y on: at every FINE of ln y up to FINE_TO, and at every COARSE up to
# n MOST_RATIO. At 1e6 outputs and 95 %, these numbers keep the band below twice the width of two Clopper-Pearson limits at each
# threshold (benchmarks/curves.py).
LEAST_Y, FINE, FINE_TO, COARSE, MOST_RATIO = 6.0, 0.06, 30.0, 0.25, 1000.0
# The peak of the prior: its height over the flat part, and its centre and width in ln y.
PEAK, PEAK_AT, PEAK_WIDTH = 6.0, 2.0, 0.15
# From a − 1 = FALL_FROM on, weights fall like (a − 1)^−FALL: events with few outputs need less to be as sharp as others.
FALL_FROM, FALL = 0.05, 0.6
# An upper limit on R is compared with (1 + SLACK)/α, which is more than the rounding of its logarithm.
SLACK = 1e-9
# A limit is computed to within this share of ln of the rate of hits over the limit, and is 0 if that is above −LOWEST.
PRECISION, LOWEST = 1e-6, -40.0


@functools.lru_cache(maxsize=64)
def _prior(trials: int) -> tuple[Floats, Floats]:
    """Return the points a of the prior, in rising order, and the logarithms of their weights, both of shape (points,)."""
    low, between = math.log(LEAST_Y), math.log(FINE_TO)
    high = max(between, math.log(trials * MOST_RATIO)) + COARSE
    log_y = np.r_[np.arange(low, between, FINE), np.arange(between, high, COARSE)]
    peak = 1 + PEAK * np.exp(-((log_y - PEAK_AT) ** 2) / (2 * PEAK_WIDTH**2))
    beyond = np.maximum(0.0, log_y - math.log(FALL_FROM * trials))
    weights = peak * np.exp(-FALL * beyond) * np.where(log_y < between, FINE, COARSE)
    return 1 + np.exp(log_y) / trials, np.log(weights / weights.sum())


def log_ratio_of_hits(hits: Floats, trials: int, probabilities: Floats) -> Floats:
    """Return ln R for each number of hits and each probability of the event, both of shape (thresholds,)."""
    a, log_weights = _prior(trials)
    k, t = hits[:, None], probabilities[:, None]
    rest = np.minimum(a * t, 1.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        misses = np.where(trials > k, (trials - k) * (np.log1p(-rest) - np.log1p(-t)), 0.0)
    return log_of_sums(np.where(a * t <= 1, k * np.log(a) + misses, -np.inf) + log_weights)


def log_of_sums(logarithms: Floats) -> Floats:
    """Return for each row of ``logarithms`` the logarithm of the sum of its numbers; −∞ if all of these are 0.

    The result is that of scipy's logsumexp to the last bit, in a third of its time.
    """
    largest = logarithms.max(axis=1, keepdims=True, initial=-np.inf)
    is_largest = logarithms == largest
    with np.errstate(divide="ignore", invalid="ignore"):  # −∞ − −∞, and 0/0 without numbers
        others = np.exp(np.where(is_largest, -np.inf, logarithms) - largest).sum(axis=1, keepdims=True)
        number = is_largest.sum(axis=1, keepdims=True, dtype=np.float64)
        sums: Floats = np.log1p(others / number) + np.log(number) + largest
    return np.where(largest == -np.inf, -np.inf, sums)[:, 0]


def lower_limits(hits: ArrayLike, trials: int, alpha: float) -> Floats:
    """Return lower limits of the probabilities of nested events, in the shape of ``hits``.

    With probability at least 1 − ``alpha`` no limit exceeds its probability, however many events there are and
    whichever are looked at. An event is fixed by a threshold of a fixed score, not by its number of hits.

    Raises InvalidInputError for an alpha outside (0, 1), or hits that are not in 0 to ``trials``.

    >>> lower_limits([0, 50, 100], 100, 0.05).round(2).tolist()
    [0.0, 0.34, 0.94]
    """
    if not 0 < alpha < 1:
        raise InvalidInputError(f"alpha is {alpha!r}; it must lie strictly between 0 and 1")
    given = np.asarray(hits, np.float64)
    if not np.all((given >= 0) & (given <= trials)):
        raise InvalidInputError(f"hits are {hits!r}; they must be from 0 to the number of trials, {trials}")
    counts, places = np.unique(given, return_inverse=True)
    limits, needed = np.zeros(len(counts)), math.log((1 + SLACK) / alpha)
    some, every = (counts > 0) & (counts < trials), (counts > 0) & (counts == trials)
    if some.any():
        limits[some] = _largest_refuted(counts[some], trials, needed)
    if every.any():
        limits[every] = _largest_if_all_hit(trials, needed)
    # R rises with the hits, so a limit for fewer hits is one for more. This mends the rounding of the search.
    return np.maximum.accumulate(limits)[places].reshape(given.shape)


def _largest_refuted(hits: Floats, trials: int, needed: float) -> Floats:
    """Return for each number of hits, from 1 to n − 1, the largest t with ln R ≥ ``needed``, rounded down; 0 if there is none."""

    def above(x: Floats) -> Floats:
        """Return ln R − needed at t = e^x. It falls with x."""
        return log_ratio_of_hits(hits, trials, np.exp(x)) - needed

    # R is at most its largest term, so its limit lies below that of the relative entropy; seldom by more than 8 in ln R.
    high, low = (_largest_by_entropy(hits, trials, entropy) for entropy in (needed, needed + 8.0))
    at_high, at_low = above(high), above(low)
    low = np.where(at_low < 0, LOWEST, low)
    at_low = np.where(at_low < 0, above(low), at_low)
    reached, halve = at_low >= 0, False
    while np.any(reached & (high - low > np.maximum(PRECISION * (np.log(hits / trials) - low), 1e-14))):
        # Steps along the chord alternate with halvings. A step goes a little too far, so that both ends come near.
        share = np.clip(1.001 * at_low / np.maximum(at_low - at_high, 1e-300), 0.001, 0.999)
        x = low + (high - low) * (0.5 if halve else share)
        at_x, halve = above(x), not halve
        refuted = at_x >= 0
        low, at_low = np.where(refuted, x, low), np.where(refuted, at_x, at_low)
        high, at_high = np.where(refuted, high, x), np.where(refuted, at_high, at_x)
    return np.where(reached, np.exp(low), 0.0)


def _largest_by_entropy(hits: Floats, trials: int, entropy: float) -> Floats:
    """Return ln of the largest t with n K(hits/n, t) ≥ ``entropy``, to a rounding above it; at least LOWEST."""
    rate = hits / trials
    low, high = np.full(len(hits), LOWEST), np.log(rate)
    for _ in range(50):
        middle = (low + high) / 2
        t = np.exp(middle)
        reached = hits * (np.log(rate) - middle) + (trials - hits) * (np.log1p(-rate) - np.log1p(-t)) >= entropy
        low, high = np.where(reached, middle, low), np.where(reached, high, middle)
    return high


def _largest_if_all_hit(trials: int, needed: float) -> float:
    """Return the largest t with ln R ≥ ``needed`` if all outputs hit: R is then a sum of w a^n over the points a ≤ 1/t."""
    a, log_weights = _prior(trials)
    reached = np.logaddexp.accumulate(log_weights + trials * np.log(a)) >= needed
    return float(1 / a[np.argmax(reached)]) if reached.any() else 0.0


def upper_limits(hits: ArrayLike, trials: int, alpha: float) -> Floats:
    """Return upper limits of the probabilities of nested events; see :func:`lower_limits`.

    >>> upper_limits([0, 50, 100], 100, 0.05).round(2).tolist()
    [0.06, 0.66, 1.0]
    """
    return 1 - lower_limits(trials - np.asarray(hits, np.float64), trials, alpha)


def choose_thresholds(sides: Sequence[Floats], number: int) -> Floats:
    """Return values of scores at ``number`` quantiles of each side, evenly on the scale of log-odds: in rising order, each once.

    ``sides`` are the scores of each side, of any shapes (scores,). The band allows any choice, even by the scores it counts.
    """
    chosen = [np.zeros(0)]
    for scores in sides:
        if many := len(scores):
            log_odds = np.linspace(-1, 1, number) * math.log(many + 1)
            places = np.minimum(many / (1 + np.exp(-log_odds)), many - 1).astype(np.intp)
            chosen.append(np.sort(scores)[places])
    return np.unique(np.concatenate(chosen))


def count_cells(scores: Floats, edges: Floats) -> tuple[int, ...]:
    """Return how many scores lie in each cell: up to the first of the rising ``edges``, …, above the last."""
    # Sorting the scores and looking up the edges takes a tenth of the time of looking up each score.
    ends = np.sort(scores).searchsorted(edges, side="right").tolist()
    return tuple(more - fewer for fewer, more in itertools.pairwise([0, *ends, len(scores)]))


# Limits of a test's type I error, and of its type II error.
Box = tuple[float, float, float, float]
# Lines (ε, δ) of a claim, as two arrays of one shape, with ε in nats: P[S] ≤ e^ε Q[S] + δ for all events S.
Lines = tuple[Floats, Floats]


@dataclass(frozen=True)
class CurveBand:
    """Limits of the probabilities of nested events on either side, from the smallest event on: no output, …, all outputs.

    The events are those of the thresholds of a fixed score. ``left`` and ``right`` are each side's hits of the events, of
    shape (events,), the last of which are all its outputs. With probability at least 1 − ``alpha``, all limits of all
    events hold; each of the four kinds errs with probability at most alpha/4.
    """

    left: Floats
    right: Floats
    alpha: float

    @classmethod
    def of_cells(cls, left: Sequence[int], right: Sequence[int], alpha: float) -> Self:
        """Return the band from each side's counts in the cells of a score, in the order of rising score.

        An event is that the score lies in a cell or above.

        >>> band = CurveBand.of_cells((100, 300), (300, 100), 0.05)
        >>> 0.25 < float(band.deltas(np.zeros(1))[0]) < 0.5
        True
        """
        on_left, on_right = (np.r_[0.0, np.cumsum(np.asarray(side, np.float64)[::-1])] for side in (left, right))
        return cls(on_left, on_right, alpha)

    @functools.cached_property
    def left_low(self) -> Floats:
        """The lower limits of P."""
        return self._limits(self.left)

    @functools.cached_property
    def left_high(self) -> Floats:
        """The upper limits of P."""
        return 1 - self._limits((self.left[-1] - self.left)[::-1])[::-1]

    @functools.cached_property
    def right_low(self) -> Floats:
        """The lower limits of Q."""
        return self._limits(self.right)

    @functools.cached_property
    def right_high(self) -> Floats:
        """The upper limits of Q."""
        return 1 - self._limits((self.right[-1] - self.right)[::-1])[::-1]

    def _limits(self, hits: Floats) -> Floats:
        """Return lower limits for the hits of rising events; the limit of the event of all outputs, which comes last, is 1."""
        return np.append(lower_limits(hits[:-1], int(hits[-1]), self.alpha / 4), 1.0)

    @property
    def upper(self) -> tuple[Floats, Floats]:
        """The points (type I error, type II error) of tests that exist. No trade-off curve of these sides lies above one.

        A test says "left" on an event. Its errors, on the right and on the left, are at most these.
        """
        return self.right_high, 1 - self.left_low

    @property
    def lower(self) -> tuple[Floats, Floats]:
        """The points (type I error, type II error) below which no threshold of this score lies.

        Another score may have smaller errors. So these points describe the score, and bound no privacy.
        """
        return self.right_low, 1 - self.left_high

    def boxes(self) -> tuple[Box, ...]:
        """Return for each event the limits of its type I error, and those of its type II error, rising and falling."""
        rows = np.column_stack([self.right_low, self.right_high, 1 - self.left_high, 1 - self.left_low])
        return tuple((a, b, c, d) for a, b, c, d in rows.tolist())

    def least_missed(self, wrong: Floats) -> Floats:
        """Return the type II error that tests of these type I errors certainly reach, in the shape of ``wrong``.

        A test that takes one of two events by chance has errors on the chord between the two.
        """
        most_wrong, most_missed = self.upper
        order = np.lexsort((most_missed, most_wrong))
        kept = [0]
        x, y = np.r_[0.0, most_wrong[order]], np.r_[1.0, most_missed[order]]
        for place in range(1, len(x)):
            while len(kept) > 1 and (y[kept[-1]] - y[kept[-2]]) * (x[place] - x[kept[-2]]) >= (
                y[place] - y[kept[-2]]
            ) * (x[kept[-1]] - x[kept[-2]]):
                kept.pop()
            kept.append(place)
        missed: Floats = np.interp(wrong, x[kept], y[kept])
        return missed

    def deltas(self, epsilons: Floats) -> Floats:
        """Return lower bounds on δ, the larger of both directions, in the shape of ``epsilons`` (nats)."""
        return np.maximum(*(_largest_delta(*sides, epsilons) for sides in self._proved()))

    def deltas_of_score(self, epsilons: Floats) -> Floats:
        """Return upper bounds on the largest P[S] − e^ε Q[S], of both directions, over all thresholds of this score.

        Another score may show more. So these are no bounds on δ.
        """
        # A threshold between two events has at most the probability of the larger, and at least that of the smaller.
        high, low = self.left_high[1:], self.right_low[:-1]
        return np.maximum(*(_largest_delta(*sides, epsilons) for sides in ((high, low), (1 - low, 1 - high))))

    def excess(self, claim: Tradeoff) -> float:
        """Return the excess over a claim that the band proves; see :func:`largest_excess`."""
        return largest_excess(claim, self.left_low, self.right_high)

    def _proved(self) -> tuple[tuple[Floats, Floats], tuple[Floats, Floats]]:
        """Return for both directions a lower limit of an event's probability on one side, and an upper limit on the other."""
        return (self.left_low, self.right_high), (1 - self.right_high, 1 - self.left_low)


def _largest_delta(low: Floats, high: Floats, epsilons: Floats) -> Floats:
    differences = low - finite_exp(np.asarray(epsilons))[..., None] * high
    largest: Floats = np.clip(differences.max(axis=-1), 0.0, 1.0)
    return largest


def largest_excess(claim: Tradeoff, left_low: Floats, right_high: Floats) -> float:
    """Return the largest ln((P[S] − δ)/Q[S]) − ε (nats) over the claim's lines and events S, not below the least excess.

    ``left_low`` and ``right_high``, of shape (events,), are what is known of P[S] and Q[S]. The lines of a symmetric claim limit
    either side by the other. Those of any other claim do so in one of two ways, and the way that excuses more counts.

    >>> half = np.array([0.5])
    >>> round(largest_excess(Tradeoff([(0, 1), (1, 0)]), half, half / 2), 6) == round(math.log(2), 6)
    True
    """
    steep, flat = lines_of(claim)
    both = join_lines(steep, flat)
    excuses = list[float]()
    for forward, backward in [(both, both)] if claim.symmetric else [(steep, flat), (flat, steep)]:
        sides = (left_low, right_high, forward), (1 - right_high, 1 - left_low, backward)
        excuses.append(max(float(_excesses(low, high, *lines).max(initial=-np.inf)) for low, high, lines in sides))
    return max(min(excuses), claim.least_value)


@functools.lru_cache(maxsize=64)
def lines_of(claim: Tradeoff) -> tuple[Lines, Lines]:
    """Return the claim's lines (:meth:`Tradeoff.lines`) as arrays."""
    steep, flat = (
        (np.array([line.epsilon for line in lines]), np.array([line.delta for line in lines]))
        for lines in claim.lines()
    )
    return steep, flat


def join_lines(some: Lines, others: Lines) -> Lines:
    """Return all lines of both."""
    return np.r_[some[0], others[0]], np.r_[some[1], others[1]]


def _excesses(low: Floats, high: Floats, epsilons: Floats, deltas: Floats) -> Floats:
    """Return ln((low − δ)/high) − ε for each line and event, of shape (lines, events)."""
    above = low - deltas[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.where(above > 0, np.log(np.maximum(above, 0.0) / high), -np.inf) - epsilons[:, None])


def caught_excess(lines: Lines, rates: Floats, trials: tuple[int, int], alpha: float, chance: float) -> float:
    """Return the smallest true excess (nats) over a line that a band of level ``alpha`` shows with probability ``chance``.

    There is one line for each event, and ``rates`` holds the event's probability on the side that the line limits by: all of shape
    (events,). ``trials`` are the outputs of the side that is limited, and of the other. Each side's hits are taken at a quantile of
    √chance, so the two together are at least so telling with this probability. The value is infinite if no hits would show it.
    """
    from scipy.stats import binom

    (epsilons, deltas), (own, other) = lines, trials
    if not own or not other:
        return math.inf
    high = upper_limits(binom.ppf(math.sqrt(chance), other, rates), other, alpha / 4)
    needed = np.minimum(deltas + finite_exp(epsilons) * high, 1.0)
    least, most = np.zeros(len(needed)), np.full(len(needed), float(own))
    level = math.log(4 * (1 + SLACK) / alpha)
    inner = np.clip(needed, 1e-300, 1 - 2**-53)
    possible = (needed < 1) & (log_ratio_of_hits(most, own, inner) >= level)
    while np.any(most - least > 1):
        middle = np.floor((least + most) / 2)
        shows = log_ratio_of_hits(middle, own, inner) >= level
        least, most = np.where(shows, least, middle), np.where(shows, middle, most)
    # P[Bin(n, p) ≥ most] = √chance.
    true = clopper_pearson_upper(np.maximum(most - 1, 0), own, 1 - math.sqrt(chance))
    with np.errstate(divide="ignore", invalid="ignore"):
        excesses = np.log(np.maximum(true - deltas, 0.0) / rates) - epsilons
    return float(np.min(excesses, where=possible & (rates > 0), initial=np.inf))
