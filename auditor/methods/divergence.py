"""The method for claims about Rényi divergences, (order, ε) and ρ: bets on the cells of a learned score."""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from auditor.blackbox.sample import Sample
from auditor.bounds.bisection import find_threshold
from auditor.bounds.conversions import profile_points
from auditor.bounds.digits import round_significant
from auditor.bounds.divergences import Wager, divergence_bound, renyi_divergence, tune_wager
from auditor.bounds.evidence import ScoreCounts
from auditor.bounds.guesses import privacy_profile
from auditor.bounds.intervals import Floats, clopper_pearson_limits, finite_exp
from auditor.bounds.power import wealth_reached
from auditor.bounds.utility import Prospect
from auditor.claims import DivergenceClaim, RenyiDP
from auditor.events.blocks import log_ratios
from auditor.events.event import read_rule, written
from auditor.events.histogram import Histogram, histogram
from auditor.events.logistic import fit_logistic
from auditor.events.observed import ObservedScore
from auditor.events.selection import FewOutputs, evidence_scores
from auditor.interfaces import ExactNumber, Feature, Learned, Limits, ManyNumbers, Method, Truth
from auditor.methods.score_cells import Constant, count_in_cells, count_score_event

# ORDERS_TRIED are tried for a claim about all orders. Each order bounds ρ, and low orders do so with the least variance.
ORDERS_TRIED = (1.0, 1.5, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0)
# Each of CLIPS clips the score at a quantile of each side and at ± a value (nats): less divergence, and less variance.
CLIPS = ((0.0, 20.0), (0.001, 20.0), (0.01, 20.0), (0.05, 20.0), (0.0, 4.0), (0.0, 2.0), (0.0, 1.0))
# A cell with ENOUGH outputs or more shows the expectation of a payoff in it.
ENOUGH = 10
# ``foreseen`` clips a Gaussian mechanism's score at ± FORESEEN_CUT (nats), or one output could lose all the wealth.
FORESEEN_CUT = 3.0
# The scores (nats) tried for an outcome that only one data set has. A larger one risks more of the wealth.
RAREST_CUTS = (1.0, 2.0, 3.0, 4.0, 6.0)


@dataclass(frozen=True, slots=True)
class ScoreTest:
    """The cells of a score between ``edges``, and the wager on these cells."""

    feature: Feature
    edges: tuple[float, ...]
    wager: Wager

    def count(self, sample: Sample) -> ScoreCounts:
        """Count the outputs of each side in each cell."""
        return self.count_parts(sample, 1)[0]

    def count_parts(self, sample: Sample, number: int) -> list[ScoreCounts]:
        """See Test."""
        return count_in_cells(self.feature, self.edges, sample, number)

    def report(self, counts: ScoreCounts) -> ObservedScore:
        """Return the wager and the counts in each cell."""
        wager = self.wager
        first, second = ("right", "left") if wager.swapped else ("left", "right")
        return ObservedScore(
            f"divergence of order {wager.order:g} of {first} from {second}, by bets on {self.feature.name}",
            wager.order,
            wager.swapped,
            wager.stake,
            wager.tilt,
            wager.values,
            counts,
            written(feature=self.feature, edges=self.edges),
        )

    @classmethod
    def of(cls, observed: ObservedScore) -> "ScoreTest":
        """Return the test that was reported. Raises InvalidInputError if the report lacks the score or the edges."""
        feature, edges = read_rule(observed.rule or {}, "feature", "edges")
        return cls(feature, tuple(map(float, edges)), observed.wager)

    def histograms(self, sample: Sample) -> tuple[Histogram, ...]:
        return (histogram(self.feature.name, [*map(self.feature.extract, (sample.left, sample.right))]),)


class _Estimate(NamedTuple):
    """An estimate of the loss, its standard error, and the forecast of the bound, all in units of the claim."""

    loss: float
    error: float
    forecast: float


NO_ESTIMATE = _Estimate(-math.inf, math.inf, -math.inf)


class Divergence(Method[DivergenceClaim, ScoreTest, ScoreCounts]):
    """Bounds ε of one order, or ρ, by the bets of :mod:`auditor.bounds.divergences`.

    ``caution`` is by how many standard errors the mean payoff is lowered in forecasts.
    """

    __slots__ = ()
    name: ClassVar[str] = "variational bets"
    looks_at_bits: ClassVar[bool] = False
    learns_at_distance: ClassVar[bool] = False

    def learn(self, sample: Sample) -> Learned[ScoreTest]:
        test, estimate = self._choose_wager(sample)
        return Learned(test, estimate.forecast)

    def _choose_wager(self, sample: Sample) -> tuple[ScoreTest, _Estimate]:
        fit, judge = sample.halves()
        # With few outputs, every third choice is tried: noise would decide finer ones, and a search has many pairs.
        step = 1 if judge.size >= 5_000 else 3
        best, best_estimate = ScoreTest(Constant(), (), Wager(1.0, (0.0,), False, 0.0, 0.0)), NO_ESTIMATE
        if max(judge.left.size, judge.right.size) < ENOUGH:  # as in each first look at a pair
            return best, best_estimate
        # More outputs are used than for rules, since a divergence needs the values of the score, not only a threshold.
        learned = fit_logistic(fit, most=200_000)
        for feature in (*evidence_scores(fit), *([learned] if learned is not None else ())):
            edges, left, right, means = _cut_into_cells(feature, judge)
            for swapped in (False, True):
                values = -means if swapped else means
                p, q = (right, left) if swapped else (left, right)
                # An output of Q costs most in cells in which Q is rare. Counts of Q below 8 may be too low by luck, so
                # they are raised to the number that the score expects.
                expected = p * np.exp(-values) * (q.sum() / max(p.sum(), 1.0))
                q = np.where(q < 8, np.maximum(q, expected), q)
                cut, orders = _clipped(values, p, q, CLIPS[::step]), self.claim.orders(ORDERS_TRIED)[::step]
                wager, estimate = self._tune_wagers(orders, cut, p, q, swapped)
                if wager is not None and estimate.forecast > best_estimate.forecast:
                    best, best_estimate = ScoreTest(feature, edges, wager), estimate
        return best, best_estimate

    def evidence(self, sample: Sample) -> ManyNumbers:
        """See Method. Return four numbers: loss, its error, by how much the bound falls short of the loss, and outputs.

        The numbers are of the best bet, or of one threshold if outputs are too few for a bet.
        """
        _, estimate = self.with_margin(0.0)._choose_wager(sample)
        if not (estimate.forecast > -math.inf and estimate.error < math.inf):
            estimate = self._estimate_by_threshold(sample)
        return ((estimate.loss, max(estimate.error, 1e-9), estimate.loss - estimate.forecast, sample.size),)

    def joined(self, first: ManyNumbers, second: ManyNumbers) -> ManyNumbers:
        """See Method. Each pilot sample is weighted by its number of outputs.

        Errors are no weights, since a bet learned from few outputs falls short of the loss by far more than its error.
        """
        if not (first and second):
            return first or second
        losses, errors, shorts, outputs = np.array([first[0], second[0]]).T
        shares = outputs / outputs.sum()
        # By how much a bound falls short is best estimated by the larger sample.
        short = float(shorts[np.argmax(outputs)])
        return ((float(shares @ losses), math.hypot(*(shares * errors)), short, float(outputs.sum())),)

    def prospects(self, evidence: ManyNumbers) -> list[Prospect]:
        """See Method. ``noise`` is ``short``/√(2 ln(1/α)), since Hoeffding's ``short`` is so many standard errors."""
        width = math.sqrt(-2 * math.log(self.alpha))
        return [
            Prospect(loss, error, short, short / width if short < math.inf else 0.0)
            for loss, error, short, _ in evidence
        ]

    def _estimate_by_threshold(self, sample: Sample) -> _Estimate:
        """Return the estimate by a threshold that guesses both sides, learned on each half and counted on the other."""
        first, second = sample.halves()
        counts = FewOutputs.of(first).threshold().count(second) + FewOutputs.of(second).threshold().count(first)
        # Half a win and half a loss are added.
        rate = (counts.wins + 0.5) / (counts.guesses + 1)
        error = math.sqrt(rate * (1 - rate) / (counts.guesses + 1))
        narrower = error * math.sqrt(sample.size / self.planned) * math.sqrt(-2 * math.log(self.alpha))
        worse, forecast, loss, better = (
            math.copysign(self._divergence_of_rates(wins, 1 - wins), wins - 0.5)
            for wins in (max(0.0, rate - error), max(0.0, rate - narrower), rate, min(1.0, rate + error))
        )
        return _Estimate(loss, (better - worse) / 2, forecast)

    def bound(self, test: ScoreTest, counts: ScoreCounts) -> float:
        order = test.wager.order
        return divergence_bound(test.wager, counts, self.alpha) / self.claim.scale(order)

    def profile(self, counts: ScoreCounts) -> tuple[tuple[float, float], ...]:
        """See Method. The points hold at their own level alpha, since the bound uses all of alpha."""
        # Each event is a share of the cells at either end of the score.
        events = [count_score_event(counts, share) for share in (0.5, 0.25, 0.125, 0.0625)]
        # The points reach as far as for the Gaussian mechanism that just keeps the claim.
        near = math.sqrt(2 * self.claim.gaussian_rho)
        return profile_points(lambda epsilons: privacy_profile(events, epsilons, self.alpha), near)

    def detectable(self, test: ScoreTest, counts: ScoreCounts, chance: float) -> float:
        claim, wager = self.claim, test.wager
        pair = closest_refuted_pair(wager, counts, claim.scale(wager.order) * claim.value, self.alpha, chance)
        if pair is None:
            return math.inf
        return max(renyi_divergence(order, *pair) / claim.scale(order) for order in claim.orders(ORDERS_TRIED))

    def foreseen(self, share: float, chance: float) -> float:
        """See Method. The value is for a Gaussian mechanism with known log-ratio, by the normal approximation.

        A wager of order 1 on the log-ratio distinguishes N(−μ/2, 1) from N(μ/2, 1). The log-ratio is cut as learned
        scores are. If the score has to be learned, more outputs are needed.
        """
        claimed = self.claim.gaussian_rho
        if claimed > 2 * FORESEEN_CUT:  # the values of a cut score do not differ by as much
            return math.inf
        at_claim = math.sqrt(2 * claimed)
        x = np.linspace(-8 - 2 * at_claim, 8 + 2 * at_claim, 2001)

        def refutes(mu: float) -> bool:
            densities = [np.exp(-((x - mean) ** 2) / 2) for mean in (-mu / 2, mu / 2)]
            p, q = (density / density.sum() for density in densities)
            values = np.clip(-mu * x, -FORESEEN_CUT, FORESEEN_CUT)
            stake, tilt, _ = tune_wager(1.0, values, (p, q), claimed, self.alpha, self.planned)
            wager = Wager(1.0, tuple(values.tolist()), False, float(stake), float(tilt))
            return wealth_reached(wager, (p, q), claimed, self.planned, chance) >= -math.log(self.alpha)

        mu = find_threshold(lambda mu: mu > at_claim and refutes(mu), 8 * at_claim)
        return mu**2 / 2 * self.claim.gaussian_order

    def rarest(self, chance: float) -> float:
        """See Method. A wager of order 1 on the outcome is cut at the value of RAREST_CUTS that serves best."""
        claimed = self.claim.gaussian_rho

        def refutes(rate: float) -> bool:
            sides = np.array([rate, 1 - rate]), np.array([0.0, 1.0])
            for cut in RAREST_CUTS:
                values = np.array([cut, 0.0])
                stake, tilt, _ = tune_wager(1.0, values, sides, claimed, self.alpha, self.planned)
                wager = Wager(1.0, (cut, 0.0), False, float(stake), float(tilt))
                if wealth_reached(wager, sides, claimed, self.planned, chance) >= -math.log(self.alpha):
                    return True
            return False

        return find_threshold(refutes, 1.0)

    def interval(self, counts: ScoreCounts, error: float) -> Limits:
        """See Method. The limits are for one event, the upper half of the score's cells: bets give no upper limit.

        A divergence grows as the two rates of an event move apart. Each rate has two limits that err with error/4 each.
        """
        event = count_score_event(counts, 0.5).left
        low, high = clopper_pearson_limits(event.hits_left, event.trials_left, error / 4)
        other_low, other_high = clopper_pearson_limits(event.hits_right, event.trials_right, error / 4)
        ends = self._divergence_of_rates(low, other_high), self._divergence_of_rates(high, other_low)
        # If the two rates may be equal, the divergence may be 0.
        least = ends[0] if low > other_high else ends[1] if high < other_low else 0.0
        return least, max(ends)

    def _divergence_of_rates(self, left: float, right: float) -> float:
        """Return an event's largest divergence over orders and directions, in units of the claim, for its two rates."""
        p, q = (np.array([rate, 1 - rate]) for rate in (left, right))
        directions = itertools.product(self.claim.orders(ORDERS_TRIED), ((p, q), (q, p)))
        return max(renyi_divergence(order, *sides) / self.claim.scale(order) for order, sides in directions)

    def exact(self, truth: Truth) -> ExactNumber:
        return truth.renyi(self.claim.order) if isinstance(self.claim, RenyiDP) else truth.rho()

    def _tune_wagers(
        self, orders: Sequence[float], cut: Floats, p: Floats, q: Floats, swapped: bool
    ) -> tuple[Wager | None, _Estimate]:
        """Choose order, shift, stake and tilt for a score on counted cells. ``cut`` is the score, cut in several ways.

        ``cut`` has shape (ways, cells). Return the wager with the best forecast (None if none is worth a stake).
        """
        weights_p, weights_q = p / max(p.sum(), 1.0), q / max(q.sum(), 1.0)
        order, values = np.repeat(orders, len(cut)), np.tile(cut, (len(orders), 1))
        # With a larger exponent, payoffs are useless and their squares overflow.
        usable = order * np.abs(values).max(axis=1) <= 100.0
        usable[usable] = _have_enough_outputs(order[usable], values[usable], p, q)
        order, values = order[usable], values[usable]
        if not len(order):
            return None, NO_ESTIMATE
        # The shift makes E_P[u] = 1, where the tangent in bounds/divergences.py touches.
        power = np.where(order > 1, order - 1, 1.0)
        shift = np.log(np.exp(power[:, None] * values) @ weights_p) / power
        values = values - np.where(order > 1, shift, 0.0)[:, None]
        first, below = values @ weights_p - np.expm1(values) @ weights_q, np.exp(order[:, None] * values) @ weights_q

        def estimates(margin: Floats) -> Floats:
            """Return the divergence at which the mean of each payoff is ``margin``."""
            left, right = np.maximum(0.0, 1 - 1 / order - margin), below * (1 - 1 / order)
            with np.errstate(divide="ignore"):
                of_higher = np.log(np.where(right > 0, left / np.where(right > 0, right, 1.0), 0.0))
            return np.asarray(np.where(order > 1, of_higher, first - margin))

        loss = divergence = estimates(np.zeros(len(order)))
        level, trials = math.sqrt(-2 * math.log(self.alpha) / self.planned), p.sum() + q.sum()
        for _ in range(2):  # the spread of the payoff depends a little on the divergence that is bet against
            against = np.maximum(0.0, divergence)
            stake, tilt, spread = tune_wager(order, values, (weights_p, weights_q), against, self.alpha, self.planned)
            divergence = estimates(spread * (level + self.caution / math.sqrt(trials)))
        scale = np.array([*map(self.claim.scale, order)])
        forecast = np.where(stake > 0, divergence / scale, -np.inf)
        at = int(np.argmax(forecast))
        if forecast[at] == -np.inf:
            return None, NO_ESTIMATE
        rounded = tuple(map(round_significant, values[at].tolist()))
        wager = Wager(
            float(order[at]), rounded, swapped, round_significant(float(stake[at])), round_significant(float(tilt[at]))
        )
        error = (loss - estimates(spread / math.sqrt(trials)))[at]
        return wager, _Estimate(*(float(value) for value in (loss[at] / scale[at], error / scale[at], forecast[at])))


def closest_refuted_pair(
    wager: Wager, counts: ScoreCounts, claimed: float, alpha: float, chance: float
) -> tuple[Floats, Floats] | None:
    """Return the closest P and Q for which a wager refutes a claimed divergence with probability ``chance``, or None.

    P and Q are distributions on the cells of the wager. Their mixture is that of the counts. Their log-ratio, P over Q,
    is a multiple of the log-ratio of the counts, up to normalisation.
    """
    on_p, on_q = wager.counts_by_side(counts)
    log_ratio, both = log_ratios(on_p, on_q), on_p + on_q

    def stretch(times: float) -> tuple[Floats, Floats]:
        p, q = (both / (1 + finite_exp(sign * times * log_ratio)) for sign in (-1, 1))
        return p / p.sum(), q / q.sum()

    def refutes(times: float) -> bool:
        return wealth_reached(wager, stretch(times), claimed, counts.trials, chance) >= -math.log(alpha)

    # If not even a multiple of 1e4 is refuted, no violation is in reach.
    times = find_threshold(refutes, 1e4)
    return None if times == math.inf else stretch(times)


def _cut_into_cells(feature: Feature, judge: Sample) -> tuple[tuple[float, ...], Floats, Floats, Floats]:
    """Cut a score into cells. Return the edges, both sides' counts, and the mean score of each cell.

    ``judge`` holds outputs from which the score was not learned.
    """
    numbers = np.concatenate([feature.extract(side).numbers for side in (judge.left, judge.right)])
    # A cell has a hundred outputs of both sides on average. With fewer, the sides' shares would be mostly noise.
    most = min(256, max(2, judge.size // 100))
    scores = np.unique(numbers)
    at = np.unique(np.linspace(0, len(scores) - 1, min(most, len(scores)) + 1)[1:-1].astype(int))
    cells, many = np.searchsorted(scores[at], numbers, side="left"), len(at) + 1
    left, right = (np.bincount(side, minlength=many).astype(np.float64) for side in np.split(cells, [judge.left.size]))
    means = np.bincount(cells, weights=numbers, minlength=many) / np.maximum(left + right, 1)
    return tuple(scores[at].tolist()), left, right, means


def _have_enough_outputs(order: Floats, values: Floats, p: Floats, q: Floats) -> NDArray[np.bool_]:
    """Whether cells with ENOUGH outputs or more make up 80 % of both expectations, for each order with its row of values.

    At high orders, most of an expectation may come from a tail with few outputs.
    """
    enough, values = np.ones(len(order), np.bool_), values - values.max(axis=1, keepdims=True)
    for counts, power in ((p, order - 1), (q, order)):
        terms = np.exp(power[:, None] * values)
        enough &= terms @ np.where(counts >= ENOUGH, counts, 0.0) >= 0.8 * (terms @ counts)
    return enough


def _clipped(values: Floats, p: Floats, q: Floats, clips: Sequence[tuple[float, float]]) -> Floats:
    """Return a score, clipped in several ways, of shape (clips, cells).

    A clip (share, most) is from below at the quantile ``share`` of Q's outputs, from above at that of P's, and at ± most.
    """
    order = np.argsort(values, kind="stable")
    rising, falling = values[order], values[order[::-1]]
    of_q, of_p = np.cumsum(q[order]), np.cumsum(p[order[::-1]])
    lows, highs = np.empty((2, len(clips), 1))
    for at, (share, most) in enumerate(clips):
        low, high = rising[0], falling[0]
        if share:
            low = rising[of_q.searchsorted(share * q.sum())]
            high = falling[min(of_p.searchsorted(share * p.sum()), len(values) - 1)]
        lows[at], highs[at] = (min(max(end, -most), most) for end in (min(low, high), max(low, high)))
    return np.minimum(np.maximum(values, lows), highs)
