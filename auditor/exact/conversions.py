"""From one notion of privacy to another, exactly."""

import math

from auditor.claims import ApproximateDP, Claim, GaussianDP, PrivacyProfile, PureDP
from auditor.errors import InvalidInputError
from auditor.exact.known_continuous import gaussian_delta


def implied_mu(epsilon: float, delta: float) -> float:
    """Return the μ of the Gaussian mechanism that meets (ε, δ) with nothing to spare.

    The root of δ(ε) = Φ(μ/2 − ε/μ) − e^ε Φ(−μ/2 − ε/μ) in μ (Balle & Wang 2018, Theorem 8; Dong, Roth & Su 2022, Corollary 1),
    to within 1e-12. For 0 < δ < 1.

    >>> round(implied_mu(1.0, 1e-5), 4)
    0.2681
    """
    from scipy.optimize import brentq

    high = 1.0
    while gaussian_delta(high, epsilon) < delta:
        high *= 2
    return float(brentq(lambda mu: gaussian_delta(mu, epsilon) - delta, 1e-9, high, xtol=1e-13))


def implied_delta(claim: Claim, epsilon: float) -> float:
    """Return the largest δ at ``epsilon`` (nats) that any mechanism within the claim can have.

    For (ε₀, δ₀) that is δ₀ above ε₀, and below it 1 − (1 − δ₀)(1 + e^ε)/(1 + e^ε₀), which a randomised response that tells the
    truth outright with probability δ₀ has (Kairouz, Oh & Viswanath 2015); of a profile's points, the smallest. Raises
    InvalidInputError for a claim that speaks of no δ.

    >>> round(implied_delta(PureDP(1.0), 0.0), 6), implied_delta(ApproximateDP(1.0, 1e-5), 2.0)
    (0.462117, 1e-05)
    """
    if isinstance(claim, PrivacyProfile):
        return min(implied_delta(point, epsilon) for point in claim.profile)
    if isinstance(claim, GaussianDP):
        return gaussian_delta(claim.mu, epsilon)
    if not isinstance(claim, PureDP | ApproximateDP):
        raise InvalidInputError(f"a claim of {claim} implies no δ here; it must be one on ε, (ε, δ), μ or a profile")
    below = min(epsilon, claim.epsilon) - claim.epsilon
    # (1 + e^ε)/(1 + e^ε₀), divided by e^ε₀ so that nothing overflows.
    ratio = (math.exp(-claim.epsilon) + math.exp(below)) / (math.exp(-claim.epsilon) + 1)
    return 1 - (1 - claim.delta) * ratio if below < 0 else claim.delta
