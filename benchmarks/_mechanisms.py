"""Mechanisms with known privacy loss, shared by the benchmarks."""

import math
from typing import Any

import numpy as np


def laplace(value: float, size: int, rng: np.random.Generator, *, epsilon: float) -> Any:
    return rng.laplace(value, 1 / epsilon, size)


def discrete_laplace(value: float, size: int, rng: np.random.Generator, *, epsilon: float) -> Any:
    first, second = rng.geometric(1 - math.exp(-epsilon), (2, size))
    return value + first - second


def randomised_response(bit: int, size: int, rng: np.random.Generator, *, epsilon: float) -> Any:
    return bit ^ (rng.random(size) < 1 / (1 + math.exp(epsilon)))


def gaussian(value: float, size: int, rng: np.random.Generator, *, sigma: float) -> Any:
    return rng.normal(value, sigma, size)


def revealing(bit: int, size: int, rng: np.random.Generator, *, epsilon: float, delta: float) -> Any:
    """Tight (ε, δ)-DP: release the bit, marked as certain, with probability δ, otherwise a randomised response."""
    return np.where(rng.random(size) < delta, bit + 2, randomised_response(bit, size, rng, epsilon=epsilon))
