"""Document 002, "Introduction to differential privacy proofs": noise added to a vector of L1 sensitivity Δ."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from auditor import specimen
from mechanisms.noise import discrete_laplace


@specimen(3, "002", "ε", "totals that one person moves by Δ in L1; over the reals", holds=True)
@specimen(3, "002", "ε", "the same, in floating point (Mironov 2012)", holds=False)
def laplace(
    totals: NDArray[Any], size: int, rng: np.random.Generator, *, sensitivity: float, epsilon: float
) -> NDArray[np.float64]:
    """Return each total plus Laplace noise of scale Δ/ε (002, "Laplace mechanism")."""
    return rng.laplace(totals, sensitivity / epsilon, (size, len(totals)))


@specimen(4, "002", "ε", "integer totals that one person moves by Δ in L1", holds=True)
def discrete_laplace_totals(
    totals: NDArray[np.int64], size: int, rng: np.random.Generator, *, sensitivity: float, epsilon: float
) -> NDArray[np.int64]:
    """Return each total plus discrete Laplace noise, a = ε/Δ (002, "Discrete Laplace mechanism")."""
    return totals + discrete_laplace(rng, epsilon / sensitivity, (size, len(totals)))
