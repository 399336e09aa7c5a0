"""The snapping mechanism (Mironov 2012, "On significance of the least significant bits for differential privacy").

Textbook Laplace noise in floating point reveals its data set through the low bits of the sum. Snapping rounds the sum to a
coarse grid, which removes these bits.
"""

import math

import numpy as np
from numpy.typing import NDArray

from mechanisms.specimens import specimen

Reals = NDArray[np.float64]


def snapping_epsilon(scale: float, bound: float) -> float:
    """Return the ε (nats) of Theorem 1 for queries of sensitivity 1: 1/λ + 2⁻⁴⁹ B/λ, where λ < B < 2⁴⁶ λ.

    >>> snapping_epsilon(1.0, 100.0)
    1.0000000000001776
    """
    return (1 + 2.0**-49 * bound) / scale


def full_uniform(rng: np.random.Generator, size: int) -> Reals:
    """Draw from (0, 1) with each double as likely as the interval that rounds to it, so that small numbers have all their bits."""
    drawn: Reals = np.ldexp(1 + rng.integers(2**52, size=size) * 2.0**-52, -rng.geometric(0.5, size))
    return drawn


@specimen(47, "Mironov 2012", "ε of Theorem 1", "a value moved by at most 1; in floating point", holds=True)
def snapping(totals: Reals, size: int, rng: np.random.Generator, *, scale: float, bound: float) -> Reals:
    """Clamp one total to ±B, add noise ±λ ln U, round to a multiple of the smallest power of 2 that is at least λ, and clamp
    again.
    """
    (total,) = totals
    grid = 2.0 ** math.ceil(math.log2(scale))
    sign = rng.choice(np.array([-1.0, 1.0]), size)
    noisy = float(np.clip(total, -bound, bound)) + sign * scale * np.log(full_uniform(rng, size))
    return np.clip(grid * np.floor(noisy / grid + 0.5), -bound, bound)
