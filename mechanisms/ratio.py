"""Document 000, "Privately bounding local sensitivity": a private ratio a/b.

The data set is the pair of totals (a, b), with 0 ≤ a ≤ b. One person adds (0, 1) or (1, 1).

Slips in the document: Theorem 1 states Pr[g ≤ LS] ≥ 1 − δ where its proof needs Pr[g ≥ LS] ≥ 1 − δ; the last step
of Theorem 2 joins the two failures with "and" where a union bound needs "or"; and the code bails out by calling
the naive mechanism with an undefined ``dataset``, read here as (a, b).
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from mechanisms.exact.pair import each, truth
from mechanisms.noise import discrete_laplace
from mechanisms.specimens import specimen
from mechanisms.truths.laplace_ratio import ksw_ratio, laplace_ratio

Reals = NDArray[np.float64]


@truth(each(lambda totals, epsilon: laplace_ratio(float(totals[0]), float(totals[1]), 2 / epsilon)))
@specimen(5, "000", "ε", "people who add (0, 1) or (1, 1); add/remove", holds=True)
def naive(totals: NDArray[np.int64], size: int, rng: np.random.Generator, *, epsilon: float) -> Reals:
    """Return (a + Lap(2/ε)) / (b + Lap(2/ε)), which is ε-private by composition."""
    a, b = totals
    return rng.laplace(a, 2 / epsilon, size) / rng.laplace(b, 2 / epsilon, size)


def draw_bounds(
    totals: NDArray[np.int64], size: int, rng: np.random.Generator, epsilon_1: float, delta: float
) -> tuple[Reals, Reals, Reals, Reals]:
    """Return a_lower, a_upper, b_lower, b_upper: noisy totals, each query with half of ε₁, and a margin on either side."""
    noisy_a, noisy_b = (total + discrete_laplace(rng, epsilon_1 / 2, size) for total in totals)
    margin = 2 * np.log(2 / delta) / epsilon_1
    a_lower = np.maximum(0, np.floor(noisy_a - margin))
    return a_lower, np.ceil(noisy_a + margin), np.floor(noisy_b - margin), np.ceil(noisy_b + margin)


def bound_as_printed(a_lower: Reals, a_upper: Reals, b_lower: Reals, b_upper: Reals) -> Reals:
    """Return the code's upper bound on the local sensitivity of a/b, given bounds that hold with high probability.

    The roles of the bounds on a are exchanged: see :func:`bound_by_theorem_2`.
    """
    bound_1 = a_lower / (b_lower**2 - b_lower)
    bound_2 = _largest_over_b(a_lower, a_upper, b_lower, b_upper)
    return np.maximum(bound_1, bound_2)


def bound_by_theorem_2(a_lower: Reals, a_upper: Reals, b_lower: Reals, b_upper: Reals) -> Reals:
    """Return max(a_u/(b_l² − b_l), max over b in [b_l, b_u] of (b − a_l)/(b² − b)), the g of Theorem 2."""
    bound_1 = a_upper / (b_lower**2 - b_lower)
    bound_2 = _largest_over_b(a_lower, a_lower, b_lower, b_upper)
    return np.maximum(bound_1, bound_2)


def _largest_over_b(a_peak: Reals, a: Reals, b_lower: Reals, b_upper: Reals) -> Reals:
    """Return the largest (b − a)/(b² − b) over the ends of [b_lower, b_upper] and the integers beside its peak.

    The peak is at b = √(a² − a) + a, taken at ``a_peak``.
    """
    peak = np.sqrt(np.maximum(a_peak**2 - a_peak, 0)) + a_peak
    candidates = np.stack([b_upper, b_lower, np.ceil(peak), np.floor(peak)])
    inside = (candidates >= b_lower) & (candidates <= b_upper)
    # Outside, any b ≥ 2 will do in the quotient, whose value is then not used.
    b = np.where(inside, candidates, b_lower)
    largest: Reals = np.where(inside, (b - a) / (b**2 - b), -np.inf).max(axis=0)
    return largest


def _local_sensitivity_mechanism(
    totals: NDArray[np.int64],
    size: int,
    rng: np.random.Generator,
    epsilon: float,
    delta: float,
    epsilon_1_fraction: float,
    bound: Callable[[Reals, Reals, Reals, Reals], Reals],
) -> Reals:
    a, b = totals
    epsilon_1 = epsilon * epsilon_1_fraction
    epsilon_2 = epsilon - epsilon_1
    a_lower, a_upper, b_lower, b_upper = draw_bounds(totals, size, rng, epsilon_1, delta)

    released = naive(totals, size, rng, epsilon=epsilon_2)  # where b ≤ 1 cannot be ruled out
    go_on = b_lower > 1
    scale = bound(a_lower[go_on], a_upper[go_on], b_lower[go_on], b_upper[go_on]) / epsilon_2
    # scipy's sampler raises an error for a negative scale; that failure is an output too, written NaN.
    noise = np.where(scale >= 0, rng.laplace(0, np.maximum(scale, 0)), np.nan)
    released[go_on] = a / b + noise if b != 0 else np.nan
    return released


@specimen(6, "000", "(ε, δ)", "people who add (0, 1) or (1, 1); add/remove", holds=False)
def local_sensitivity_as_printed(
    totals: NDArray[np.int64],
    size: int,
    rng: np.random.Generator,
    *,
    epsilon: float,
    delta: float,
    epsilon_1_fraction: float = 0.1,
) -> Reals:
    """``private_ratio_local_sensitivity`` with the bound as the code has it: a_lower where Theorem 2 needs a_upper.

    With a near b the bound falls far below the local sensitivity, even to zero and below.
    """
    return _local_sensitivity_mechanism(totals, size, rng, epsilon, delta, epsilon_1_fraction, bound=bound_as_printed)


@specimen(7, "000", "(ε, δ)", "people who add (0, 1) or (1, 1); add/remove", holds=True)
def local_sensitivity_corrected(
    totals: NDArray[np.int64],
    size: int,
    rng: np.random.Generator,
    *,
    epsilon: float,
    delta: float,
    epsilon_1_fraction: float = 0.1,
) -> Reals:
    """``private_ratio_local_sensitivity`` with the bound of Theorem 2."""
    return _local_sensitivity_mechanism(totals, size, rng, epsilon, delta, epsilon_1_fraction, bound=bound_by_theorem_2)


@truth(
    each(
        lambda totals, epsilon, scale_factor=1.0: ksw_ratio(float(totals[0]), float(totals[1]), scale_factor / epsilon)
    )
)
@specimen(8, "000", "ε", "people who add (0, 1) or (1, 1); add/remove; scale 1/ε", holds=True)
@specimen(9, "000", "ε", "the same under substitution; scale 1/ε", holds=False)
def ksw(
    totals: NDArray[np.int64],
    size: int,
    rng: np.random.Generator,
    *,
    epsilon: float,
    scale_factor: float = 1.0,
) -> Reals:
    """Return ones/(ones + zeros), with Laplace noise of scale λ = scale_factor/ε on a and on b − a.

    The query (a, b − a) moves by 1 in L1 when a person is added or removed, and by 2 when one is substituted, which
    takes λ = 2/ε (000, after Kulesza, Suresh & Wang 2024, Algorithm 3).
    """
    a, b = totals
    scale = scale_factor / epsilon
    ones = rng.laplace(a, scale, size)
    zeros = rng.laplace(b - a, scale, size)
    return ones / (ones + zeros)
