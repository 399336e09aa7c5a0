"""Laplace and Gaussian densities, and the closed forms of the Gaussian."""

import math
from dataclasses import dataclass

import numpy as np

from auditor.bounds.conversions import gaussian_delta
from auditor.errors import require_number
from mechanisms.exact.distributions import Density, Reals

# Besides the location, breakpoints at these multiples of the scale show a mesh how wide the peak is.
WIDTHS = (-8.0, -1.0, 0.0, 1.0, 8.0)


@dataclass(frozen=True, slots=True)
class _Laplace:
    location: float
    scale: float

    def __call__(self, outputs: Reals) -> Reals:
        return -np.abs(outputs - self.location) / self.scale - math.log(2 * self.scale)


@dataclass(frozen=True, slots=True)
class _Gaussian:
    location: float
    scale: float

    def __call__(self, outputs: Reals) -> Reals:
        return -(((outputs - self.location) / self.scale) ** 2) / 2 - math.log(self.scale * math.sqrt(2 * math.pi))


def _peak(kind: type[_Laplace] | type[_Gaussian], location: float, scale: float) -> Density:
    location = require_number("location", location, -math.inf, math.inf)
    scale = require_number("scale", scale, 0, math.inf, low_open=True)
    return Density(kind(location, scale), tuple(location + width * scale for width in WIDTHS))


def laplace(location: float, scale: float) -> Density:
    """Return ``location`` plus Laplace noise of this scale. Raises InvalidInputError unless scale > 0, all finite."""
    return _peak(_Laplace, location, scale)


def gaussian(location: float, scale: float) -> Density:
    """Return ``location`` plus normal noise of this standard deviation. Raises as :func:`laplace` does."""
    return _peak(_Gaussian, location, scale)


def gaussian_epsilon(mu: float, delta: float) -> float:
    """Return the smallest ε ≥ 0 (nats) at which δ(ε) ≤ ``delta``, the root of :func:`gaussian_delta`.

    Raises InvalidInputError unless mu ≥ 0 and 0 < delta ≤ 1.
    """
    from scipy.optimize import brentq

    delta = require_number("delta", delta, 0, 1, low_open=True)
    if gaussian_delta(mu, 0.0) <= delta:
        return 0.0
    # δ(ε) ≤ Φ(μ/2 − ε/μ) ≤ exp(−(ε/μ − μ/2)²/2), which is at most δ from here on.
    high = mu * (mu / 2 + math.sqrt(2 * math.log(1 / delta)))
    return float(brentq(lambda epsilon: gaussian_delta(mu, epsilon) - delta, 0.0, high, xtol=1e-14))
