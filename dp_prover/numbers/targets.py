"""Converts between a rule's bound and each kind of claim."""

import math
from fractions import Fraction

from auditor.bounds.conversions import gaussian_delta
from auditor.claims import ApproximateDP, Claim, GaussianDP, PureDP, RenyiDP, ZeroConcentratedDP

CLAIMS = (PureDP, ApproximateDP, ZeroConcentratedDP, RenyiDP, GaussianDP)
# δ of Gaussian noise is computed in floating point, with a smaller relative error than this.
FLOATING = 1e-8


def goal(claim: Claim) -> Fraction:
    """Return an ε that suffices for a claim."""
    match claim:
        case PureDP() | ApproximateDP() | RenyiDP():
            return Fraction(claim.epsilon)
        case ZeroConcentratedDP():
            return Fraction(math.sqrt(2 * claim.rho))
        case _:
            return Fraction(0)


def from_epsilon(claim: Claim, epsilon: Fraction) -> Fraction | None:
    """Return the bound on a claim's quantity that pure ε implies.

    ρ ≤ ε²/2 (Bun & Steinke 2016, Proposition 3.3), and D_α ≤ min(ε, α ε²/2).
    """
    match claim:
        case PureDP() | ApproximateDP():
            return epsilon
        case ZeroConcentratedDP():
            return epsilon**2 / 2
        case RenyiDP():
            return min(epsilon, Fraction(claim.order) * epsilon**2 / 2)
        case GaussianDP() if epsilon == 0:
            return epsilon
        case _:
            return None


def from_mu_squared(claim: Claim, squared: Fraction) -> Fraction | None:
    """Return the bound on a claim's quantity that Gaussian noise with μ² implies; for (ε, δ), ε at the claim's δ."""
    match claim:
        case ZeroConcentratedDP():
            return squared / 2
        case RenyiDP():
            return Fraction(claim.order) * squared / 2
        case GaussianDP():
            return root_above(squared)
        case ApproximateDP():
            return _epsilon_at(math.sqrt(squared), claim.epsilon, claim.delta)
        case _:
            return Fraction(0) if squared == 0 else None


def _epsilon_at(mu: float, claimed: float, delta: float) -> Fraction | None:
    """Return an ε at which Gaussian noise satisfies δ; at most the claimed ε where that is possible."""

    def suffices(epsilon: float) -> bool:
        return gaussian_delta(mu, epsilon) <= delta * (1 + FLOATING)

    if suffices(0):
        return Fraction(0)
    high = claimed if claimed > 0 else 1.0
    while not suffices(high):
        high *= 2
        if high > 1e6:
            return None
    low = 0.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (low, middle) if suffices(middle) else (middle, high)
    return Fraction(high)


def root_above(square: Fraction) -> Fraction:
    """Return an upper bound on the square root, with a relative error below 1e-15.

    >>> root_above(Fraction(4)), root_above(Fraction(2)) ** 2 >= 2
    (Fraction(2, 1), True)
    """
    scale = 10**40
    product = square.numerator * square.denominator * scale**2
    root = math.isqrt(product)
    return Fraction(root + (root * root < product), square.denominator * scale)
