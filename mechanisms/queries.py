"""Claims of the documents other than privacy: properties of deterministic queries, and probabilities of events."""

import math

import numpy as np
from numpy.typing import NDArray

from mechanisms.local_sensitivity import local_sensitivity_of_ratio
from mechanisms.mean import mean
from mechanisms.noise import discrete_laplace
from mechanisms.ratio import bound_as_printed, bound_by_theorem_2, draw_bounds
from mechanisms.shifted_inverse import loss_of_max, loss_of_monotonised_sum, loss_of_sum

Reals = NDArray[np.float64]
Integers = NDArray[np.int64]


def mean_query(records: Reals) -> float:
    """Return the mean, 0 for no records: global sensitivity u on records in [0, u] (001)."""
    return mean(records)


def sum_query(records: Integers) -> int:
    """Return the sum: monotone only for non-negative records (003)."""
    return int(records.sum())


def maximum(records: Integers, *, low: int) -> int:
    """Return the largest record, ``low`` for none: monotone (003)."""
    return int(max(records, default=low))


def _at(y: int, low: int) -> Integers:
    # The loss functions take all of Y, of which only the strict loss uses the first element.
    return np.array([low, y])


def max_loss(records: Integers, *, y: int, low: int) -> float:
    """Return ℓ(x, y) for the maximum: sensitivity 1 by Proposition 3 (003)."""
    return float(loss_of_max(records, _at(y, low))[1])


def sum_loss(records: Integers, *, y: int) -> float:
    """Return ℓ(x, y) for the sum, which is not monotone: Proposition 3 does not cover it (003)."""
    return float(loss_of_sum(records, _at(y, y))[1])


def monotonised_sum_loss(records: Integers, *, y: int) -> float:
    """Return ℓ(x, y) for the monotonised sum: sensitivity 1 by Proposition 3 (003)."""
    return float(loss_of_monotonised_sum(records, _at(y, y))[1])


def bound_holds_as_printed(
    totals: Integers, size: int, rng: np.random.Generator, *, epsilon_1: float, delta: float
) -> NDArray[np.bool_]:
    """Return whether the bound, as the code printed in document 000 computes it, is at least LS(a/b).

    Theorem 2 there claims this with probability 1 − δ.
    """
    return _bound_holds(totals, bound_as_printed, *draw_bounds(totals, size, rng, epsilon_1, delta))


def bound_holds_corrected(
    totals: Integers, size: int, rng: np.random.Generator, *, epsilon_1: float, delta: float
) -> NDArray[np.bool_]:
    """Return whether the bound of Theorem 2 itself is at least LS(a/b), which document 000 claims with probability 1 − δ."""
    return _bound_holds(totals, bound_by_theorem_2, *draw_bounds(totals, size, rng, epsilon_1, delta))


def _bound_holds(totals: Integers, bound: object, *limits: Reals) -> NDArray[np.bool_]:
    """Where b ≤ 1 is possible, or the lower limit on b does not exclude it, the mechanism bails out: nothing to bound."""
    holds = np.ones(len(limits[0]), np.bool_)
    if totals[1] > 1:
        bounded = limits[2] > 1
        value = bound(*(limit[bounded] for limit in limits))  # type: ignore[operator]
        holds[bounded] = value >= local_sensitivity_of_ratio(totals) * (1 - 1e-12)
    return holds


def discrete_laplace_tail(value: int, size: int, rng: np.random.Generator, *, a: float, t: int) -> NDArray[np.bool_]:
    """Return whether |X| ≥ t for X ~ DLaplace(a). 000 gives e^(−at); it is 2e^(−at)/(1 + e^(−a)), up to twice as much."""
    return np.abs(discrete_laplace(rng, a, size)) >= t


def tail_probability(a: float, t: int) -> float:
    """Return P[|X| ≥ t] for X ~ DLaplace(a) and t ≥ 1: the geometric series 2 tanh(a/2) e^(−at)/(1 − e^(−a)).

    >>> round(tail_probability(1.0, 1), 6) == round(1 - math.tanh(0.5), 6)
    True
    """
    return 2 * math.exp(-a * t) / (1 + math.exp(-a))
