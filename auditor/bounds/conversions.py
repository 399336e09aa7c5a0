"""Conversions between notions of privacy, and the rates of right and wrong guesses that a claim allows."""

import functools
import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from auditor import claims
from auditor.bounds.intervals import Floats, finite_exp
from auditor.errors import InvalidInputError, require_number


def gaussian_delta(mu: float, epsilon: float) -> float:
    """Return δ(ε) of Gaussian noise, in closed form; ``mu`` is the distance of the means in standard deviations.

    δ(ε) = Φ(μ/2 − ε/μ) − e^ε Φ(−μ/2 − ε/μ) (Balle & Wang 2018, Theorem 8), for any number of coordinates at Euclidean
    distance μ. It is computed from logarithms, so that about ten digits are right even if the difference underflows.

    Raises InvalidInputError unless mu ≥ 0 and epsilon ≥ 0.

    >>> round(gaussian_delta(1.0, 0.0), 6)  # 2Φ(1/2) − 1
    0.382925
    """
    from scipy.special import log_ndtr

    mu = require_number("mu", mu, 0, math.inf)
    epsilon = require_number("epsilon", epsilon, 0, math.inf)
    if mu == 0:
        return 0.0
    above, below = float(log_ndtr(mu / 2 - epsilon / mu)), float(log_ndtr(-mu / 2 - epsilon / mu))
    return -math.exp(above) * math.expm1(min(0.0, epsilon + below - above))


def implied_mu(epsilon: float, delta: float) -> float:
    """Return the μ of the Gaussian mechanism that just meets (ε, δ), for 0 < δ < 1.

    It is the root in μ of δ(ε) = Φ(μ/2 − ε/μ) − e^ε Φ(−μ/2 − ε/μ), to within 1e-12 (Balle & Wang 2018, Theorem 8; Dong,
    Roth & Su 2022, Corollary 1).

    >>> round(implied_mu(1.0, 1e-5), 4)
    0.2681
    """
    from scipy.optimize import brentq

    high = 1.0
    while gaussian_delta(high, epsilon) < delta:
        high *= 2
    return float(brentq(lambda mu: gaussian_delta(mu, epsilon) - delta, 1e-9, high, xtol=1e-13))


# A claim about all orders is converted at each of CONVERSION_ORDERS: each gives a valid δ, and the best is near the optimum.
CONVERSION_ORDERS = 1 + np.geomspace(1e-3, 1e4, 400)


def implied_delta(claim: claims.Claim, epsilon: float) -> float:
    """Return the largest δ at ``epsilon`` (nats) of any mechanism that keeps the claim; an upper limit for divergences.

    For (ε₀, δ₀) this is δ₀ if ε ≥ ε₀, and else 1 − (1 − δ₀)(1 + e^ε)/(1 + e^ε₀), which randomised response that
    reveals the truth with probability δ₀ has (Kairouz, Oh & Viswanath 2015). A list of points allows the smallest.
    D_a ≤ R allows δ up to e^((a−1)(R−ε)) (1 − 1/a)^a/(a − 1) (Canonne, Kamath & Steinke 2020, Proposition 12) and up to
    √(R/2) (Pinsker; D_a does not fall with a). Any other privacy claim allows δ up to its total variation, which is δ
    at ε = 0. Raises InvalidInputError for a claim that implies no δ.

    >>> round(implied_delta(claims.PureDP(1.0), 0.0), 6), implied_delta(claims.ApproximateDP(1.0, 1e-5), 2.0)
    (0.462117, 1e-05)
    """
    if isinstance(claim, claims.PrivacyProfile):
        return min(implied_delta(point, epsilon) for point in claim.profile)
    if isinstance(claim, claims.Tradeoff):
        curve = tradeoff_curve(claim)
        return float(np.max(curve.right - finite_exp(epsilon) * curve.wrong, initial=0.0))
    if isinstance(claim, claims.GaussianDP):
        return gaussian_delta(claim.mu, epsilon)
    if isinstance(claim, claims.RenyiDP):
        return _delta_of_divergences(np.array([claim.order]), np.array([claim.epsilon]), epsilon)
    if isinstance(claim, claims.ZeroConcentratedDP):
        return min(
            _delta_of_divergences(CONVERSION_ORDERS, claim.rho * CONVERSION_ORDERS, epsilon),
            math.sqrt(claim.rho / 2),  # Pinsker at order 1, the smallest divergence
        )
    if not isinstance(claim, claims.PrivacyClaim):
        raise InvalidInputError(f"a claim of {claim} implies no δ; it must be a privacy claim")
    if not isinstance(claim, claims.PureDP | claims.ApproximateDP):
        return claim.total_variation()  # δ at ε = 0; δ does not rise with ε
    below = min(epsilon, claim.epsilon) - claim.epsilon
    # (1 + e^ε)/(1 + e^ε₀), divided by e^ε₀ so that nothing overflows.
    ratio = (math.exp(-claim.epsilon) + math.exp(below)) / (math.exp(-claim.epsilon) + 1)
    return 1 - (1 - claim.delta) * ratio if below < 0 else claim.delta


def _delta_of_divergences(orders: Floats, divergences: Floats, epsilon: float) -> float:
    logs = (orders - 1) * (divergences - epsilon) + orders * np.log1p(-1 / orders) - np.log(orders - 1)
    return min(1.0, math.exp(min(0.0, float(logs.min()))), math.sqrt(float(divergences.min()) / 2))


# --- The rates of right and wrong guesses that a claim allows: a curve, given by its tangents ---

# Take one person, with the data of all others fixed. A fair coin decides whether the person is in. A distinguisher, which
# guesses the coin from the output or abstains, is right with probability R and wrong with probability W. Under (ε, δ),
#
#     R ≤ e^ε W + δ.
#
# This is the definition, applied to the event of each guess and averaged over the coin. A claim gives such a line for
# some ε, or for all. Fewer lines allow more (W, R), so a bound that holds under some lines holds under the claim.
# A claim (ε, δ), or a list of such points, has a finite number of lines, so nothing is lost.

MOST_LINES = 1_500


@dataclass(frozen=True, slots=True)
class TradeoffCurve:
    """A trade-off curve: the largest rate of right guesses at each rate of wrong ones, as vertices of a concave polygon.

    ``wrong`` and ``right`` are non-decreasing arrays of shape (vertices,), whose last entries add up to 1. A first
    ``right`` above 0 is a share of outputs that give the side away. An edge is a set of outputs with one log-ratio.
    """

    wrong: Floats
    right: Floats

    @classmethod
    def of(cls, epsilons: Floats, deltas: Floats) -> "TradeoffCurve":
        """Return the curve below all lines R ≤ e^ε W + δ, for arrays of ε ≥ 0 (nats) and δ of one shape, in any order.

        Lines that others lie below everywhere are dropped. Neighbouring lines meet at W = (δ₀ − δ₁)/(e^ε₁ − e^ε₀).

        >>> TradeoffCurve.of(np.log([3.0]), np.array([0.0])).right.tolist()
        [0.0, 0.75]
        """
        order = np.lexsort((deltas, epsilons))
        eps, delta = np.asarray(epsilons, float)[order], np.asarray(deltas, float)[order]
        while True:
            below = np.r_[True, delta[1:] < np.minimum.accumulate(delta)[:-1]]
            eps, delta = eps[below], delta[below]
            # ``rise`` is W at the intersection times e^ε₀, so that nothing overflows if ε is large.
            rise = -np.diff(delta) / np.expm1(np.diff(eps))
            wrong, right = rise * np.exp(-eps[:-1]), delta[:-1] + rise
            keep = np.ones(len(eps), bool)
            keep[1:-1] = wrong[:-1] > wrong[1:]
            # The flattest line is kept only if it begins at R + W < 1, where outputs are left.
            keep[0] = len(eps) == 1 or wrong[0] + right[0] < 1
            if keep.all():
                break
            eps, delta = eps[keep], delta[keep]
        last = (1 - delta[0]) / (1 + finite_exp(eps[0]))
        ends_wrong, ends_right = np.r_[last, wrong, 0.0][::-1], np.r_[1 - last, right, delta[-1]][::-1]
        return cls(ends_wrong, ends_right)

    def least_wrong_rate(self, share: Floats) -> Floats:
        """Return the least probability of a wrong guess for a distinguisher that guesses on this ``share`` of the outputs."""
        return np.interp(share, self.wrong + self.right, self.wrong)


@functools.lru_cache(maxsize=64)
def tradeoff_curve(claim: claims.PrivacyClaim) -> TradeoffCurve:
    """Return the curve that a claim allows, or a curve that allows more.

    For μ and for divergences, the curve has at most MOST_LINES lines. For divergences, δ(ε) is an upper limit
    (:func:`implied_delta`), so bounds are valid but not tight.
    """
    if isinstance(claim, claims.PureDP | claims.ApproximateDP):
        return TradeoffCurve.of(np.array([claim.epsilon]), np.array([claim.delta]))
    if isinstance(claim, claims.PrivacyProfile):
        return TradeoffCurve.of(*np.array([(point.epsilon, point.delta) for point in claim.profile]).T)
    if isinstance(claim, claims.Tradeoff):
        lines = itertools.chain(*claim.both_ways().lines())
        return TradeoffCurve.of(*np.array([(line.epsilon, line.delta) for line in lines]).T)
    if isinstance(claim, claims.GaussianDP):
        from scipy.special import log_ndtr

        if (mu := claim.mu) == 0:
            return TradeoffCurve.of(np.zeros(1), np.zeros(1))
        # ε = μt reaches nine standard deviations above the mean of the log-ratio, where δ is below 1e-18.
        t = np.linspace(0.0, mu / 2 + 9.0, MOST_LINES)
        above, below = log_ndtr(mu / 2 - t), log_ndtr(-mu / 2 - t)
        return TradeoffCurve.of(mu * t, -np.exp(above) * np.expm1(np.minimum(0.0, mu * t + below - above)))
    reach = 2.0
    while implied_delta(claim, reach) > 1e-12 and reach < 500:
        reach *= 1.5
    epsilons = np.linspace(0.0, reach, MOST_LINES // 5)
    return TradeoffCurve.of(epsilons, np.array([implied_delta(claim, float(epsilon)) for epsilon in epsilons]))


def profile_points(deltas: Callable[[Floats], Floats], near: float) -> tuple[tuple[float, float], ...]:
    """Return points (ε, δ) at 41 ε (nats) from 0 to twice ``near``; further, up to ε = 1, while δ stays above 0."""
    reach = max(2.0 * near, 0.01)
    while reach < 1.0 and deltas(np.array([reach]))[0] > 0:
        reach = min(2.0 * reach, 1.0)
    epsilons = np.linspace(0.0, reach, 41)
    return tuple(zip(epsilons.tolist(), deltas(epsilons).tolist(), strict=True))
