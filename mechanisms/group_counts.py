"""Document 004, "Better privacy guarantees for larger groups": the number of people in each of several groups.

Row 21, whether Algorithm 1 gives larger groups a better guarantee than ρ, is an open problem and not a claim.
"""

import math

import numpy as np
from numpy.typing import NDArray

from mechanisms.exact.distributions import Product
from mechanisms.exact.pair import each, truth
from mechanisms.specimens import specimen
from mechanisms.truths.continuous import gaussian_totals
from mechanisms.truths.two_stage_gaussian import two_stage_gaussian

Reals = NDArray[np.float64]


@truth(each(lambda counts, rho: gaussian_totals(counts.tolist(), math.sqrt(1 / (2 * rho)))))
@specimen(22, "004", "ρ-zCDP", "group counts; add/remove one record", holds=True)
def gaussian_counts(counts: Reals, size: int, rng: np.random.Generator, *, rho: float) -> Reals:
    """Return each count plus N(0, σ²), σ² = 1/(2ρ): D_α = α/(2σ²) = αρ exactly for counts 1 apart (lines 1 to 4)."""
    return rng.normal(counts, math.sqrt(1 / (2 * rho)), (size, len(counts)))


def _exact_algorithm_1(counts: Reals, rho: float, r: float) -> Product:
    return Product(tuple(two_stage_gaussian(float(count), math.sqrt(1 / (2 * rho)), r) for count in counts))


@truth(each(_exact_algorithm_1))
@specimen(20, "004", "group-wise ρ-zCDP", "group counts; add/remove one record of a group", holds=True)
def algorithm_1(counts: Reals, size: int, rng: np.random.Generator, *, rho: float, r: float) -> Reals:
    """Return Y ~ N(X, (rX)²) for each noisy count X ~ N(x, 1/(2ρ)): post-processing, so at least ρ-zCDP (Algorithm 1)."""
    noisy = gaussian_counts(counts, size, rng, rho=rho)
    return rng.normal(noisy, np.abs(r * noisy))


def stretched(counts: Reals, rho: float, r: float) -> Reals:
    """Return T(x) = arsinh(rx/σ)/r with σ² = 1/(2ρ): where T grows by 1, x grows by √(σ² + r²x²)."""
    return np.arcsinh(r * math.sqrt(2 * rho) * np.asarray(counts, np.float64)) / r


def arsinh_guarantee(count: float, rho: float, r: float) -> float:
    """Return the ρ that :func:`arsinh_gaussian` keeps for a group of this size: 1/(2(σ² + r²(x − 1)²)), and ρ for none.

    A pair x, x + 1 costs (T(x + 1) − T(x))²/2 at every order; T is concave, so that this is at most T'(x)²/2.
    """
    return 1 / (1 / rho + 2 * (r * max(0.0, count - 1)) ** 2)


@truth(each(lambda counts, rho, r: gaussian_totals(stretched(counts, rho, r).tolist(), 1.0)))
def arsinh_gaussian(counts: Reals, size: int, rng: np.random.Generator, *, rho: float, r: float) -> Reals:
    """Return e^(−r²/2) T⁻¹(T(x) + N(0, 1)), unbiased: the noise of Algorithm 1 and a guarantee that falls as 1/x².

    An answer to the open problem, of ours: it is a Gaussian mechanism on T(x) and a bijection after it, so that its
    divergences are known at every order (the truth attached is that of T(x) + N(0, 1)).
    """
    noisy = rng.normal(stretched(counts, rho, r), 1.0, (size, len(counts)))
    return np.asarray(math.exp(-(r**2) / 2) * np.sinh(r * noisy) / (r * math.sqrt(2 * rho)))
