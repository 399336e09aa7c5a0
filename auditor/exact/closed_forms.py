"""Closed forms for Gaussian noise, with bounds on their rounding errors. Under composition, the squares of μ add up."""

import math

from auditor.exact.laws import UNIT

_SQRT_HALF = math.sqrt(0.5)


def gaussian_delta_interval(mu: float, epsilon: float) -> tuple[float, float]:
    """Return an interval that holds Φ(μ/2 − ε/μ) − e^ε Φ(−μ/2 − ε/μ) (Balle & Wang 2018, Theorem 8).

    With z = ε/μ − μ/2 and Mills' ratio R it is φ(z)(R(z) − R(z + μ)), so that no digit is lost to e^ε.
    """
    value, relative = _delta_and_error(mu, epsilon)
    return max(0.0, value * (1 - relative)), min(1.0, value * (1 + relative) + 1e-320)


def _delta_and_error(mu: float, epsilon: float) -> tuple[float, float]:
    """Return δ(ε) and a bound on its relative error."""
    from scipy.special import erfcx

    z = epsilon / mu - mu / 2
    if z < -30:  # Φ(−z) is 1 to within 1e-197
        return 1 - _subtracted_term(mu, epsilon), 1e-15
    left, right = float(erfcx(z * _SQRT_HALF)), float(erfcx((z + mu) * _SQRT_HALF))
    difference = left - right
    value = math.exp(-z * z / 2) * difference / 2
    # z errs by 2 units of ε/μ and μ/2; its density by that times z; and the difference by what cancels.
    error = UNIT * (16 + 4 * (abs(z) + 1) * (epsilon / mu + mu / 2 + 1))
    return value, error + 12 * UNIT * (left + right) * (2 + z * z) / max(difference, 1e-300)


def _subtracted_term(mu: float, epsilon: float) -> float:
    from scipy.special import log_ndtr

    return math.exp(min(0.0, epsilon + float(log_ndtr(-mu / 2 - epsilon / mu))))


def gaussian_epsilon_interval(mu: float, delta: float) -> tuple[float, float]:
    """Return an interval that holds the ε ≥ 0 at which δ(ε) of Gaussian noise is ``delta``, for 0 < delta < 1."""
    value, relative = _delta_and_error(mu, 0.0)
    if value * (1 + relative) <= delta:
        return 0.0, 0.0
    root = _approximate_epsilon(mu, delta)
    low = high = root
    step = 2e-15 * max(root, 1e-3 * mu)
    # At most 60 doublings reach 0, and the end at which the search began.
    while low > 0 and not gaussian_delta_interval(mu, low)[0] > delta:
        low, step = max(0.0, root - step), step * 2
    step = 2e-15 * max(root, 1e-3 * mu)
    while gaussian_delta_interval(mu, high)[1] > delta:
        high, step = root + step, step * 2
    return low, high


def _approximate_epsilon(mu: float, delta: float) -> float:
    """Approximate the ε at which δ(ε) = ``delta``, by Newton's method from the right on ln δ, which is concave and falls.

    The search begins where Φ(μ/2 − ε/μ), which δ does not exceed, is ``delta``.
    """
    from scipy.special import ndtri

    target = math.log(delta)
    low, high = 0.0, max(0.0, mu * (mu / 2 - float(ndtri(delta))))
    epsilon = high
    for _ in range(100):
        value, _ = _delta_and_error(mu, epsilon)
        over, slope = math.log(max(value, 1e-320)) - target, _subtracted_term(mu, epsilon) / max(value, 1e-320)
        low, high = (max(low, epsilon), high) if over > 0 else (low, min(high, epsilon))
        following = epsilon + over / slope if slope > 0 else low
        if not low < following < high:
            following = (low + high) / 2
        if abs(following - epsilon) <= 1e-15 * (1e-3 * mu + following):
            break
        epsilon = following
    return epsilon
