"""From one notion of privacy to another, exactly, for the Gaussian mechanism."""

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
