"""Document 002, "Introduction to differential privacy proofs": noise added to a vector of L1 sensitivity Δ."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mechanisms.exact.distributions import Product
from mechanisms.exact.pair import each, truth
from mechanisms.noise import discrete_laplace
from mechanisms.specimens import specimen
from mechanisms.truths.continuous import laplace_totals
from mechanisms.truths.discrete import discrete_laplace_totals as exact_discrete_laplace


@truth(each(lambda totals, sensitivity, epsilon: laplace_totals(totals, sensitivity / epsilon)))
@specimen(3, "002", "ε", "totals that one person moves by Δ in L1; over the reals", holds=True)
@specimen(3, "002", "ε", "the same, in floating point (Mironov 2012)", holds=False)
def laplace(
    totals: NDArray[Any], size: int, rng: np.random.Generator, *, sensitivity: float, epsilon: float
) -> NDArray[np.float64]:
    """Return each total with Laplace noise of scale Δ/ε (002, "Laplace mechanism")."""
    return rng.laplace(totals, sensitivity / epsilon, (size, len(totals)))


def _discrete_truth(
    left: NDArray[np.int64], right: NDArray[np.int64], *, sensitivity: float, epsilon: float
) -> tuple[Product, Product]:
    windows = [(int(min(a, b)) - 1, int(max(a, b)) + 1) for a, b in zip(left, right, strict=True)]
    sides = (exact_discrete_laplace([int(x) for x in side], sensitivity, epsilon, windows) for side in (left, right))
    on_left, on_right = sides
    return on_left, on_right


@truth(_discrete_truth)
@specimen(4, "002", "ε", "integer totals that one person moves by Δ in L1", holds=True)
def discrete_laplace_totals(
    totals: NDArray[np.int64], size: int, rng: np.random.Generator, *, sensitivity: float, epsilon: float
) -> NDArray[np.int64]:
    """Return each total with discrete Laplace noise, a = ε/Δ (002, "Discrete Laplace mechanism")."""
    return totals + discrete_laplace(rng, epsilon / sensitivity, (size, len(totals)))
