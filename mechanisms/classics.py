"""Histograms, sums and counts from the literature on detecting violations of differential privacy, with their faulty twins.

The set is that of DP-Sniper (Bichsel et al. 2021), half of which comes from StatDP (Ding et al. 2018); its other families are
in :mod:`mechanisms.noisy_max`, :mod:`mechanisms.sparse_vector` and :mod:`mechanisms.rappor`. The parameters in
``configs/classics.yaml`` are those of DP-Sniper's published figures.
"""

import math
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mechanisms.exact.distributions import MassFunction, Product
from mechanisms.exact.known_continuous import laplace
from mechanisms.exact.pair import each, truth
from mechanisms.specimens import specimen
from mechanisms.truths.continuous import laplace_totals

Reals = NDArray[np.float64]
Integers = NDArray[np.int64]

# Histogram -----------------------------------------------------------------------------------------------------------


@truth(each(lambda counts, epsilon: laplace_totals(counts, 1 / epsilon)))
@specimen(23, "Ding et al. 2018", "ε", "counts, one of them moved by 1", holds=True)
def noisy_histogram(counts: NDArray[Any], size: int, rng: np.random.Generator, *, epsilon: float) -> Reals:
    """Return each count with Laplace noise of scale 1/ε (Ding et al. 2018, Algorithm 9)."""
    return rng.laplace(counts, 1 / epsilon, (size, len(counts)))


@truth(each(lambda counts, epsilon: laplace_totals(counts, scale=epsilon)))
@specimen(24, "Ding et al. 2018", "ε", "the same with noise of scale ε", holds=False)
def noisy_histogram_of_scale_epsilon(
    counts: NDArray[Any], size: int, rng: np.random.Generator, *, epsilon: float
) -> Reals:
    """Return each count with Laplace noise of scale ε instead of 1/ε (Algorithm 10), which is (1/ε)-DP."""
    return rng.laplace(counts, epsilon, (size, len(counts)))


# Several Laplace mechanisms on one value -----------------------------------------------------------------------------


@truth(each(lambda value, epsilon, times: Product((laplace(float(value[0]), times / epsilon),) * times)))
@specimen(25, "Bichsel et al. 2021", "ε", "a value moved by 1; ε shared among all answers", holds=True)
def laplace_parallel(value: NDArray[Any], size: int, rng: np.random.Generator, *, epsilon: float, times: int) -> Reals:
    """Return the value ``times`` times, each with fresh Laplace noise of scale times/ε.

    Basic composition splits ε evenly among the answers (Dwork & Roth 2014, Theorem 3.14); "LaplaceParallel" in DP-Sniper.
    """
    return rng.laplace(value[0], times / epsilon, (size, times))


@truth(each(lambda value, epsilon, times: Product((laplace(float(value[0]), 1 / epsilon),) * times)))
@specimen(26, "Dwork & Roth 2014", "ε", "the same, ε spent on each answer", holds=False)
def laplace_parallel_unshared(
    value: NDArray[Any], size: int, rng: np.random.Generator, *, epsilon: float, times: int
) -> Reals:
    """Return the value ``times`` times with noise of scale 1/ε each: times · ε is then its exact loss."""
    return rng.laplace(value[0], 1 / epsilon, (size, times))


# Prefix sums ---------------------------------------------------------------------------------------------------------


@truth(each(lambda answers, epsilon: laplace_totals(answers, 1 / epsilon)))
@specimen(27, "Wang et al. 2019", "ε", "answers, one of them moved by 1", holds=True)
@specimen(28, "Wang et al. 2019", "ε", "answers, each moved by up to 1", holds=False)
def prefix_sums(answers: NDArray[Any], size: int, rng: np.random.Generator, *, epsilon: float) -> Reals:
    """Return the running sums of answers with Laplace noise of scale 1/ε each ("PrefixSum").

    Differences of consecutive sums are the noisy answers themselves, so summing gains nothing: n answers that all change lose
    nε. The exact distribution is given for those differences, which have the same divergences.
    """
    return np.cumsum(rng.laplace(answers, 1 / epsilon, (size, len(answers))), axis=1)


# Truncated geometric -------------------------------------------------------------------------------------------------


def _cumulative(count: int, n: int, k: int) -> list[int]:
    """Return the integers F(0), …, F(n) of GeoSample; F(n) is the denominator d."""
    d = (2 ** (k + 1) + 1) * (2**k + 1) ** (n - 1)

    def tail(distance: int) -> int:
        return int(2 ** (k * distance) * (2**k + 1) ** (n - distance))

    return [tail(count - z) if z < count else d - tail(z - count + 1) if z < n else d for z in range(n + 1)]


def _geometric(count: NDArray[Any], n: int, k: int, size: int, rng: np.random.Generator) -> Integers:
    table = _cumulative(int(count[0]), n, k)
    # 64-bit integers hold d up to here; beyond, rng.integers raises.
    return np.searchsorted(np.array(table), rng.integers(1, table[-1], size, endpoint=True))


def _geometric_truth(count: NDArray[Any], n: int, k: int) -> MassFunction:
    table = [0, *_cumulative(int(count[0]), n, k)]
    return MassFunction.of({z: float(Fraction(table[z + 1] - table[z], table[-1])) for z in range(n + 1)})


def _binary(epsilon: float) -> int:
    return math.ceil(math.log2(2 / epsilon))


def _natural(epsilon: float) -> int:
    return math.ceil(math.log(2 / epsilon))


@truth(each(lambda count, epsilon, n: _geometric_truth(count, n, _binary(epsilon))))
@specimen(29, "Balcer & Vadhan 2018", "ε", "a count in 0 … n moved by 1", holds=True)
def truncated_geometric(
    count: NDArray[Any], size: int, rng: np.random.Generator, *, epsilon: float, n: int
) -> Integers:
    """Return a count plus two-sided geometric noise, clipped to 0 … n, by exact integer arithmetic.

    GeoSample (Balcer & Vadhan 2018, Algorithm 4.8): with k = ⌈log₂(2/ε)⌉ and d = (2^(k+1) + 1)(2^k + 1)^(n−1) it returns the
    least z with F(z) ≥ U, for U uniform on 1 … d and

        F(z) = 2^(k(c−z)) (2^k + 1)^(n−(c−z)) for z < c,  d − 2^(k(z−c+1)) (2^k + 1)^(n−1−(z−c)) for c ≤ z < n,  F(n) = d.

    It loses ln(1 + 2^(−k)) ≤ ε/2, since 2^(−k) ≤ ε/2 (Theorem 4.7).
    """
    return _geometric(count, n, _binary(epsilon), size, rng)


@truth(each(lambda count, epsilon, n: _geometric_truth(count, n, _natural(epsilon))))
@specimen(30, "Bichsel et al. 2021", "ε", "the same with k = ⌈ln(2/ε)⌉", holds=False)
def truncated_geometric_natural_logarithm(
    count: NDArray[Any], size: int, rng: np.random.Generator, *, epsilon: float, n: int
) -> Integers:
    """Return the same with the natural logarithm in k, as DP-Sniper audits it ("TruncatedGeometric").

    2^(−k) is then larger than ε/2: at ε = 0.1, k = 3 and the loss is ln(9/8) = 0.1178.
    """
    return _geometric(count, n, _natural(epsilon), size, rng)
