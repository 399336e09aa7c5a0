"""Document 001, "Local Sensitivity": a mean of records in [0, u] with smooth sensitivity (Definition 19)."""

import math

import numpy as np
from numpy.typing import NDArray

from mechanisms.exact.distributions import Density, MassFunction
from mechanisms.exact.known_continuous import laplace
from mechanisms.exact.pair import each, truth
from mechanisms.mean import mean
from mechanisms.specimens import specimen

Reals = NDArray[np.float64]


def smoothed_as_printed(n: int, u: float, beta: float) -> float:
    """Return max over k < 200 of e^(−βk) |u/(n − k + 1)| without k = n + 1, which would divide by zero.

    Beyond n + 1 the printed formula takes absolute values of negative sizes.
    """
    k = np.arange(200)
    k = k[k != n + 1]
    return float(np.max(np.exp(-beta * k) * np.abs(u / (n - k + 1))))


def smoothed_corrected(n: int, u: float, beta: float) -> float:
    """Return max over k = 0 … n of e^(−βk) u/max(1, n − k).

    u/max(1, m) bounds how far adding or removing one record can move the mean of m records, where the mean of none is
    0. It falls in m, so that S(n + 1) = max(u/(n + 1), e^(−β) S(n)) lies between e^(−β) S(n) and S(n): S is β-smooth.

    >>> smoothed_corrected(0, 1.0, 0.1), round(smoothed_corrected(3, 1.0, 0.1), 4) == round(math.exp(-0.2), 4)
    (1.0, True)
    """
    k = np.arange(n + 1)
    return float(np.max(np.exp(-beta * k) * u / np.maximum(1, n - k)))


def _as_printed(records: Reals, u: float, epsilon: float, delta: float) -> tuple[float, float]:
    beta = epsilon / (2 * math.log(2 / delta))
    center = mean(records) if len(records) else math.nan
    return center, 2 * smoothed_as_printed(len(records), u, beta) / epsilon


def _corrected(records: Reals, u: float, epsilon: float, delta: float) -> tuple[float, float]:
    beta = epsilon / (2 * math.log(2 / delta))
    return mean(records), 2 * smoothed_corrected(len(records), u, beta) / epsilon


def _exact(release: tuple[float, float]) -> Density | MassFunction:
    return MassFunction({"NaN": 0.0}) if math.isnan(release[0]) else laplace(*release)


@truth(each(lambda records, u, epsilon, delta: _exact(_as_printed(records, u, epsilon, delta))))
@specimen(13, "001", "(ε, δ)", "records in [0, u]; add/remove", holds=False)
def smooth_as_printed(
    records: Reals, size: int, rng: np.random.Generator, *, u: float, epsilon: float, delta: float
) -> Reals:
    """Return f(x) + Lap(2S/ε) with S over k < 200. Without records the mean is NaN, as in pandas.

    Two faults: NaN reveals that there are no records; and for small β, S halves between n = 199 and n = 200, since the data
    sets that matter are more than 199 steps away.
    """
    return rng.laplace(*_as_printed(records, u, epsilon, delta), size)


@truth(each(lambda records, u, epsilon, delta: _exact(_corrected(records, u, epsilon, delta))))
@specimen(13, "001", "(ε, δ)", "records in [0, u]; add/remove; corrected", holds=True)
def smooth_corrected(
    records: Reals, size: int, rng: np.random.Generator, *, u: float, epsilon: float, delta: float
) -> Reals:
    """Return f(x) + Lap(2S/ε) with S over all k; the mean of no records is 0.

    (ε, δ)-private with β = ε/(2 ln(2/δ)) (Nissim, Raskhodnikova & Smith 2007), for ε ≤ 2.7 and δ ≤ 1/2 as follows. First
    exchange S(x) for S(x') = e^λ S(x), |λ| ≤ β. At noise z of unit scale the logarithm of the densities' ratio is
    λ + |z|(e^(−λ) − 1). For λ ≥ 0 this is at most β ≤ ε/2. For λ < 0 and |z| ≤ t = ln(2/δ), that is but for a probability
    δ/2, it is at most t(e^β − 1) − β, and so at most tβ = ε/2, since e^β ≤ 1 + β + 0.72 β² and 0.72 tβ ≤ 1. Then exchange
    f(x) for f(x'), which is no further away than S(x'): at most ε/2 more.
    """
    return rng.laplace(*_corrected(records, u, epsilon, delta), size)
