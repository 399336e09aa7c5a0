"""Closed forms of Gaussian noise, with bounds on what rounding does to them. Composition adds the squares of μ."""

import math

from auditor.exact.laws import UNIT


def gaussian_delta(mu: float, epsilon: float) -> tuple[float, float]:
    """Return an interval that holds Φ(μ/2 − ε/μ) − e^ε Φ(−μ/2 − ε/μ) (Balle & Wang 2018, Theorem 8).

    With z = ε/μ − μ/2 and Mills' ratio R it is φ(z)(R(z) − R(z + μ)), so that no digit is lost to e^ε.
    """
    value, relative = _value(mu, epsilon)
    return max(0.0, value * (1 - relative)), min(1.0, value * (1 + relative) + 1e-320)


def _value(mu: float, epsilon: float) -> tuple[float, float]:
    from scipy.special import erfcx

    z = epsilon / mu - mu / 2
    if z < -30:  # Φ(−z) is 1 to within 1e-197
        return 1 - _right(mu, epsilon), 1e-15
    left, right = float(erfcx(z * _ROOT)), float(erfcx((z + mu) * _ROOT))
    difference = left - right
    value = math.exp(-z * z / 2) * difference / 2
    # z errs by 2 units of ε/μ and μ/2; its density by that times z; and the difference by what cancels.
    error = UNIT * (16 + 4 * (abs(z) + 1) * (epsilon / mu + mu / 2 + 1))
    return value, error + 12 * UNIT * (left + right) * (2 + z * z) / max(difference, 1e-300)


_ROOT = math.sqrt(0.5)


def _right(mu: float, epsilon: float) -> float:
    from scipy.special import log_ndtr

    return math.exp(min(0.0, epsilon + float(log_ndtr(-mu / 2 - epsilon / mu))))


def gaussian_epsilon(mu: float, delta: float) -> tuple[float, float]:
    """Return an interval that holds the ε ≥ 0 at which δ(ε) of Gaussian noise is ``delta``, for 0 < delta < 1."""
    value, relative = _value(mu, 0.0)
    if value * (1 + relative) <= delta:
        return 0.0, 0.0
    root = _root(mu, delta)
    low = high = root
    step = 2e-15 * max(root, 1e-3 * mu)
    # At most 60 doublings reach 0, and beyond the beginning of the search.
    while low > 0 and not gaussian_delta(mu, low)[0] > delta:
        low, step = max(0.0, root - step), step * 2
    step = 2e-15 * max(root, 1e-3 * mu)
    while gaussian_delta(mu, high)[1] > delta:
        high, step = root + step, step * 2
    return low, high


def _root(mu: float, delta: float) -> float:
    """Return about the ε of ``delta``, by Newton's method on ln δ, which is concave and falls, from the right.

    δ is at most Φ(μ/2 − ε/μ), which gives the beginning.
    """
    from scipy.special import ndtri

    target = math.log(delta)
    low, high = 0.0, max(0.0, mu * (mu / 2 - float(ndtri(delta))))
    epsilon = high
    for _ in range(100):
        value, _ = _value(mu, epsilon)
        over, slope = math.log(max(value, 1e-320)) - target, _right(mu, epsilon) / max(value, 1e-320)
        low, high = (max(low, epsilon), high) if over > 0 else (low, min(high, epsilon))
        following = epsilon + over / slope if slope > 0 else low
        if not low < following < high:
            following = (low + high) / 2
        if abs(following - epsilon) <= 1e-15 * (1e-3 * mu + following):
            break
        epsilon = following
    return epsilon
