"""Local sensitivities of documents 000 and 001, compared with their definition: the largest change over all neighbours.

Functions of a data set alone are deterministic. Those with a ``size`` report whether a formula bounds the local sensitivity, as
Booleans.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mechanisms.mean import mean

Reals = NDArray[np.float64]
Booleans = NDArray[np.bool_]

# A bound may equal the quantity that it bounds; both are computed by a few operations on doubles.
ROUNDING = 1e-12


def _covers(bound: Any, truth: float) -> Any:
    return bound >= truth * (1 - ROUNDING)


# Document 001: the mean of records in [0, u] -------------------------------------------------------------------------


def local_sensitivity_of_mean(records: Reals, *, u: float) -> float:
    """Return the largest |f(x) − f(x')| over all neighbours x' by add/remove (Definition 15); f(∅) = 0.

    Adding 0 or u is enough, since f(x') is linear in the added record.
    """
    _, places = np.unique(records, return_index=True)
    neighbours = [np.append(records, added) for added in (0, u)] + [np.delete(records, at) for at in places]
    f = mean(np.minimum(records, u))
    return max(abs(f - mean(np.minimum(neighbour, u))) for neighbour in neighbours)


def mean_is_covered_as_printed(records: Reals, size: int, rng: np.random.Generator, *, u: float) -> Booleans:
    """Whether u/(n + 1) is at least the local sensitivity. Deterministic, and false at (0, …, 0, u)."""
    formula = u / (len(records) + 1)
    return np.full(size, _covers(formula, local_sensitivity_of_mean(records, u=u)))


def mean_is_covered_corrected(records: Reals, size: int, rng: np.random.Generator, *, u: float) -> Booleans:
    """Whether u/max(n, 1) is at least the local sensitivity."""
    formula = u / max(1, len(records))
    return np.full(size, _covers(formula, local_sensitivity_of_mean(records, u=u)))


# Document 000: the ratio a/b of totals that people add (0, 1) or (1, 1) to ------------------------------------------------


def local_sensitivity_of_ratio(totals: NDArray[np.int64]) -> float:
    """Return the largest change of a/b over the neighbours (a', b') with 0 ≤ a' ≤ b'; ∞ where b ≤ 1, since 0/0 is a neighbour."""
    a, b = (int(total) for total in totals)
    if b <= 1:
        return math.inf
    neighbours = [(a + i, b + j) for i, j in ((1, 1), (0, 1), (-1, -1), (0, -1)) if 0 <= a + i <= b + j]
    return max(abs(a / b - c / d) for c, d in neighbours)


def ratio_formula(totals: NDArray[np.int64]) -> float:
    """Return max((b − a)/(b² − b), a/(b² − b)), the document's local sensitivity of a/b for b > 1; ∞ where b ≤ 1.

    It is the local sensitivity for 0 < a < b. At a = 0 and a = b it is 1/(b − 1), more than the true 1/(b + 1), since it
    removes a person who is not there.
    """
    a, b = (int(total) for total in totals)
    return max(b - a, a) / (b**2 - b) if b > 1 else math.inf


def ratio_is_covered_by_formula(totals: NDArray[np.int64], size: int, rng: np.random.Generator) -> Booleans:
    """Whether the formula is at least the local sensitivity. Deterministic."""
    return np.full(size, _covers(ratio_formula(totals), local_sensitivity_of_ratio(totals)))


def ratio_is_given_by_formula(totals: NDArray[np.int64], size: int, rng: np.random.Generator) -> Booleans:
    """Whether the formula equals the local sensitivity, as the document states. Deterministic."""
    formula, truth = ratio_formula(totals), local_sensitivity_of_ratio(totals)
    return np.full(size, formula == truth or abs(formula - truth) <= ROUNDING)
