"""Noise shared by several specimens, parametrised as in the documents."""

from typing import Any

import numpy as np
from numpy.typing import NDArray


def discrete_laplace(rng: np.random.Generator, a: float, size: Any) -> NDArray[np.int64]:
    """Draw from P[X = x] = tanh(a/2) e^(−a|x|) on the integers, ``scipy.stats.dlaplace(a)``.

    It is the difference of two geometric variables with success probability 1 − e^(−a) (Inusah & Kozubowski 2006).
    """
    success = -np.expm1(-a)
    first, second = rng.geometric(success, size), rng.geometric(success, size)
    difference: NDArray[np.int64] = first - second
    return difference
