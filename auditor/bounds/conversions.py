"""From one notion of privacy to another, exactly."""

import math

import numpy as np

from auditor.bounds.intervals import Floats
from auditor.claims import (
    ApproximateDP,
    Claim,
    GaussianDP,
    PrivacyClaim,
    PrivacyProfile,
    PureDP,
    RenyiDP,
    ZeroConcentratedDP,
)
from auditor.errors import InvalidInputError, require_number


def gaussian_delta(mu: float, epsilon: float) -> float:
    """Return δ(ε) of Gaussian noise, in closed form; ``mu`` is the distance of the means in standard deviations.

    Φ(μ/2 − ε/μ) − e^ε Φ(−μ/2 − ε/μ) (Balle & Wang 2018, Theorem 8), for any number of coordinates at Euclidean
    distance μ. Computed from logarithms, right to about ten digits even where δ underflows as a difference.

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
    """Return the μ of the Gaussian mechanism that meets (ε, δ) with nothing to spare, for 0 < δ < 1.

    The root of δ(ε) = Φ(μ/2 − ε/μ) − e^ε Φ(−μ/2 − ε/μ) in μ (Balle & Wang 2018, Theorem 8; Dong, Roth & Su 2022, Corollary 1),
    to within 1e-12.

    >>> round(implied_mu(1.0, 1e-5), 4)
    0.2681
    """
    from scipy.optimize import brentq

    high = 1.0
    while gaussian_delta(high, epsilon) < delta:
        high *= 2
    return float(brentq(lambda mu: gaussian_delta(mu, epsilon) - delta, 1e-9, high, xtol=1e-13))


# Orders at which a claim on all of them is converted: each is right, and between neighbours the best is missed by little.
ORDERS = 1 + np.geomspace(1e-3, 1e4, 400)


def implied_delta(claim: Claim, epsilon: float) -> float:
    """Return the largest δ at ``epsilon`` (nats) that any mechanism within the claim can have; of divergences, an upper limit.

    For (ε₀, δ₀) that is δ₀ above ε₀, and below it 1 − (1 − δ₀)(1 + e^ε)/(1 + e^ε₀), which a randomised response that
    reveals the truth with probability δ₀ has (Kairouz, Oh & Viswanath 2015); of a profile's points, the smallest. A divergence of
    order a of at most R allows e^((a−1)(R−ε)) (1 − 1/a)^a/(a − 1) (Canonne, Kamath & Steinke 2020, Proposition 12), and no more
    than √(R/2) (Pinsker), since D_a does not fall with a. Any other privacy claim allows at most its total variation, which is δ at
    ε = 0. Raises InvalidInputError for a claim that implies no δ.

    >>> round(implied_delta(PureDP(1.0), 0.0), 6), implied_delta(ApproximateDP(1.0, 1e-5), 2.0)
    (0.462117, 1e-05)
    """
    if isinstance(claim, PrivacyProfile):
        return min(implied_delta(point, epsilon) for point in claim.profile)
    if isinstance(claim, GaussianDP):
        return gaussian_delta(claim.mu, epsilon)
    if isinstance(claim, RenyiDP):
        return _delta_of_divergences(np.array([claim.order]), np.array([claim.epsilon]), epsilon)
    if isinstance(claim, ZeroConcentratedDP):
        return min(
            _delta_of_divergences(ORDERS, claim.rho * ORDERS, epsilon),
            math.sqrt(claim.rho / 2),  # of order 1, to which the others fall
        )
    if not isinstance(claim, PrivacyClaim):
        raise InvalidInputError(f"a claim of {claim} implies no δ; it must be a privacy claim")
    if not isinstance(claim, PureDP | ApproximateDP):
        return claim.total_variation()  # δ at ε = 0, from which it falls
    below = min(epsilon, claim.epsilon) - claim.epsilon
    # (1 + e^ε)/(1 + e^ε₀), divided by e^ε₀ so that nothing overflows.
    ratio = (math.exp(-claim.epsilon) + math.exp(below)) / (math.exp(-claim.epsilon) + 1)
    return 1 - (1 - claim.delta) * ratio if below < 0 else claim.delta


def _delta_of_divergences(orders: Floats, divergences: Floats, epsilon: float) -> float:
    logs = (orders - 1) * (divergences - epsilon) + orders * np.log1p(-1 / orders) - np.log(orders - 1)
    return min(1.0, math.exp(min(0.0, float(logs.min()))), math.sqrt(float(divergences.min()) / 2))
