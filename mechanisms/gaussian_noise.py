"""Gaussian noise, a twin with too little of it, and the trade-off curves of Gaussian and Laplace noise (Dong, Roth & Su 2022)."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray


def gaussian(
    totals: NDArray[Any], size: int, rng: np.random.Generator, *, sensitivity: float, mu: float
) -> NDArray[np.float64]:
    """Return each total with Gaussian noise of standard deviation Δ/μ, where Δ is in L2."""
    return rng.normal(totals, sensitivity / mu, (size, len(totals)))


def gaussian_of_that_variance(
    totals: NDArray[Any], size: int, rng: np.random.Generator, *, sensitivity: float, mu: float
) -> NDArray[np.float64]:
    """Take Δ/μ for the variance: for μ below Δ, the noise is too small."""
    return rng.normal(totals, math.sqrt(sensitivity / mu), (size, len(totals)))


def gaussian_curve(alpha: float, mu: float) -> float:
    """Return the least type II error at the type I error α between N(0, 1) and N(μ, 1)."""
    from scipy.special import ndtr, ndtri

    return float(ndtr(-ndtri(alpha) - mu))


def laplace_curve(alpha: float, epsilon: float) -> float:
    """Return the least type II error at the type I error α between Laplace noise at a distance of ε scales."""
    if alpha < math.exp(-epsilon) / 2:
        return 1 - math.exp(epsilon) * alpha
    return math.exp(-epsilon) / (4 * alpha) if alpha <= 0.5 else math.exp(-epsilon) * (1 - alpha)
