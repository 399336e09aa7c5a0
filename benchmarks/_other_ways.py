"""δ(ε) of Gaussian noise, sampled or not, by methods that share nothing with the loss grid: a contour integral, a recursion, and
decimals.

With M(z) = E_P[e^(zL)] by quadrature over the output, δ(ε) = (1/2πi) ∫ M(z)^T e^(−zε)/(z(z + 1)) dz along Re z = λ > 0, since ∫
(1 − e^(−y))₊ e^(−zy) dy = 1/(z(z + 1)). The trapezoidal rule converges geometrically. For small T, where M^T decays slowly,
δ_T(ε) = E_P[δ_(T−1)(ε − L)] is computed instead, by the trapezoidal rule with a spline through δ_(T−1). Without sampling there is
a closed form, which is computed with 100 digits.
"""

import math
from decimal import Decimal, localcontext
from typing import Any

import numpy as np

PI = "3.14159265358979323846264338327950288419716939937510582097494459230781640628620899862803482534211706798"
NODES = 6_400
MOST_NODES, BLOCK, MOST_BLOCKS = 2**22, 512, 128


def losses(rate: float, sigma: float, added: bool, reach: float) -> tuple[Any, Any]:
    """Return the privacy losses of the subsampled Gaussian and ln P on a grid of outputs, with its step (both in units of σ)."""
    mu = 1 / sigma
    x = np.linspace(-14.0, 14.0 + reach, NODES)
    log_q = -(x**2) / 2 - math.log(math.sqrt(2 * math.pi)) + math.log(x[1] - x[0])
    loss = np.logaddexp(math.log1p(-rate) if rate < 1 else -math.inf, math.log(rate) + mu * x - mu**2 / 2)
    return (-loss, log_q) if added else (loss, log_q + loss)


def contour_delta(rate: float, sigma: float, steps: int, epsilon: float, *, added: bool = False) -> float:
    """Return δ(ε), or NaN if the contour integral does not converge within MOST_NODES nodes, as for one or two steps."""
    if added and rate < 1 and epsilon >= -steps * math.log1p(-rate):  # no loss is larger
        return 0.0
    tilts = np.geomspace(0.05, 3e5, 150)
    best = (math.inf, 1.0)
    for tilt in tilts:
        reach = 0.0 if added else min(60.0, (tilt + 1) / sigma)
        loss, log_p = losses(rate, sigma, added, reach)
        exponents = log_p + tilt * loss
        top = exponents.max()
        bound = steps * (top + math.log(np.exp(exponents - top).sum())) - tilt * epsilon - math.log(tilt * (1 + tilt))
        best = min(best, (bound, float(tilt)))
    tilt = best[1]
    loss, log_p = losses(rate, sigma, added, 0.0 if added else min(60.0, (tilt + 1) / sigma))
    exponents = log_p + tilt * loss
    scale = float(exponents.max())
    weights = np.exp(exponents - scale)
    kept = weights > 1e-22 * weights.max()
    loss, weights = loss[kept], weights[kept]
    total = float(weights.sum())
    weights /= total
    centre = float(weights @ loss)
    deviation = math.sqrt(steps * float(weights @ (loss - centre) ** 2))
    step = 2 * math.pi / (60 / tilt + 40 * deviation + 2 * float(loss.max() - loss.min()))
    # e^(i(a + b)x) is e^(iax) e^(ibx), so the moments of many blocks of nodes are one product of matrices.
    within = np.exp(1j * step * np.multiply.outer(np.arange(BLOCK), loss - centre))
    value, first, blocks = 0.0, 0, 1
    while first < MOST_NODES:
        starts = step * (first + BLOCK * np.arange(blocks))
        moment = (within @ (np.exp(1j * np.multiply.outer(loss - centre, starts)) * weights[:, None])).T.ravel()
        t = step * np.arange(first, first + len(moment))
        z = tilt + 1j * t
        terms = (moment**steps * np.exp(1j * t * (steps * centre - epsilon)) / (z * (z + 1))).real
        if first == 0:
            terms[0] /= 2
        value += float(terms.sum())
        left = float(np.abs(moment[-BLOCK:]).max()) ** steps / abs(z[-1]) ** 2 * t[-1]
        if left < 1e-7 * abs(value) * step:
            log_scale = steps * (scale + math.log(total)) - tilt * epsilon
            return value * step / math.pi * math.exp(log_scale)
        first += len(moment)
        blocks = min(MOST_BLOCKS, 2 * blocks)
    return math.nan


def recursive_delta(rate: float, sigma: float, steps: int, epsilon: float, *, added: bool = False) -> float:
    """Return δ(ε) by composing one step at a time."""
    from scipy.interpolate import CubicSpline
    from scipy.special import ndtr

    mu = 1 / sigma
    x = np.linspace(-12.0, 12.0 + mu, 8_001)
    log_q = -(x**2) / 2 - math.log(math.sqrt(2 * math.pi)) + math.log(x[1] - x[0])
    loss = np.logaddexp(math.log1p(-rate) if rate < 1 else -math.inf, math.log(rate) + mu * x - mu**2 / 2)
    loss, log_p = (-loss, log_q) if added else (loss, log_q + loss)
    p = np.exp(log_p)

    def gaussian(gamma: Any) -> Any:  # of N(mu, 1) against N(0, 1), at any γ > 0
        e = np.log(gamma)
        return ndtr(mu / 2 - e / mu) - gamma * ndtr(-mu / 2 - e / mu)

    def single(e: Any) -> Any:
        gamma = np.exp(e)
        if added:
            rest = 1 - gamma * (1 - rate)
            with np.errstate(divide="ignore", invalid="ignore"):
                return np.where(rest > 0, rest * gaussian(np.where(rest > 0, gamma * rate / rest, 1.0)), 0.0)
        inner = (gamma - 1 + rate) / rate
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(inner > 0, rate * gaussian(np.where(inner > 0, inner, 1.0)), 1 - gamma)

    curve = single
    for left in range(steps - 1, 0, -1):
        widest = max(float(np.abs(loss[p > 1e-18]).max()), 1e-9)
        around = np.unique(np.r_[0.0, np.geomspace(1e-6, 1.0, 600), -np.geomspace(1e-6, 1.0, 600)])
        grid = epsilon + around * left * widest if left > 1 else np.array([epsilon])
        values = np.array([float(np.sum(p * curve(e - loss))) for e in grid])
        if left == 1:
            return float(values[0])
        spline = CubicSpline(grid, values)
        low, high = grid[0], grid[-1]
        curve = lambda e, spline=spline, low=low, high=high: np.where(  # noqa: E731
            e < low, 1 - np.exp(e), np.where(e > high, 0.0, spline(np.clip(e, low, high)))
        )
    return float(curve(np.array([epsilon]))[0])


def gaussian_delta(mu: float, epsilon: float) -> Decimal:
    """Return δ(ε) of Gaussian noise at distance ``mu`` in standard deviations: Φ(μ/2 − ε/μ) − e^ε Φ(−μ/2 − ε/μ)."""
    with localcontext() as context:
        context.prec, context.Emin, context.Emax = 100, -(10**12), 10**12
        distance, loss = Decimal(mu), Decimal(epsilon)
        upper = _normal_tail(loss / distance - distance / 2)
        return upper - loss.exp() * _normal_tail(loss / distance + distance / 2)


def _normal_tail(x: Decimal) -> Decimal:
    """Return the probability that a standard normal variable exceeds x: by its series, or by its continued fraction."""
    if x < 0:
        return 1 - _normal_tail(-x)
    density = (-x * x / 2).exp() / (2 * Decimal(PI)).sqrt()
    if x < 8:
        term = total = x
        odd = 1
        while term > total * Decimal("1e-110"):
            odd += 2
            term *= x * x / odd
            total += term
        return Decimal("0.5") - density * total
    fraction = x
    for k in range(1_500, 0, -1):
        fraction = x + k / fraction
    return density / fraction
