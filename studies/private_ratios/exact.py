"""The exact output distribution of ``private_ratio_local_sensitivity``: Laplace densities centred at a/b, atoms, and the naive
ratio.

The noise on a and b is discrete, so the scale of the release takes countably many values.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import CubicSpline

from mechanisms.exact.distributions import Density, mixture
from mechanisms.truths.laplace_ratio import laplace_ratio

Reals = NDArray[np.float64]
Bound = Callable[[Reals, Reals, Reals, Reals], Reals]

# The noise that is omitted has probability below e^−DEPTH on each side.
DEPTH = 28.0
# Scales closer than this (in nats) are merged at their mean: an error of second order.
MERGED = 2e-3
KNOTS = 800


@dataclass(frozen=True, slots=True)
class _Spread:
    """The log density of a mixture of Laplace noises about ``center``, by a spline over the logarithm of the distance."""

    center: float
    shape: CubicSpline
    at_center: float
    nearest: float
    furthest: float
    largest: float

    def __call__(self, outputs: Reals) -> Reals:
        distance = np.abs(np.asarray(outputs, dtype=np.float64) - self.center)
        inside = self.shape(np.log(np.clip(distance, self.nearest, self.furthest)))
        # Beyond the last knot only the largest scale is left; before the first the density is flat.
        beyond = inside - np.maximum(0, distance - self.furthest) / self.largest
        return np.where(distance < self.nearest, self.at_center, beyond)


def _spread(center: float, scales: Reals, weights: Reals) -> Density:
    """Return the mixture of Lap(center, scale) with these weights, which sum to 1."""
    places = np.round(np.log(scales) / MERGED).astype(np.int64)
    _, group = np.unique(places, return_inverse=True)
    mass = np.bincount(group, weights)
    merged = np.exp(np.bincount(group, weights * np.log(scales)) / mass)
    nearest, furthest = float(merged.min()) * 1e-6, float(merged.max()) * 60

    def log_density(distance: Reals) -> Reals:
        terms = np.log(mass / (2 * merged)) - distance[:, None] / merged
        top = terms.max(axis=1)
        return np.asarray(top + np.log(np.exp(terms - top[:, None]).sum(axis=1)))

    knots = np.linspace(math.log(nearest), math.log(furthest), KNOTS)
    values = np.concatenate([log_density(np.exp(part)) for part in np.array_split(knots, 50)])
    shape = CubicSpline(knots, values)
    widths = sorted({float(w) for w in np.quantile(merged, [0, 0.1, 0.5, 0.9, 1])})
    points = [center, *(center + side * width for width in widths for side in (-1, 1))]
    spread = _Spread(center, shape, float(values[0]), nearest, furthest, float(merged.max()))
    return Density(spread, tuple(points), log_error=1e-9)


def _noise(rate: float) -> tuple[Reals, Reals]:
    """Return the values of discrete Laplace noise with non-negligible probability, and their probabilities."""
    reach = math.ceil(DEPTH / rate)
    values = np.arange(-reach, reach + 1, dtype=np.float64)
    chance = np.exp(-rate * np.abs(values))
    return values, chance / chance.sum()


def local_sensitivity_ratio(
    a: int, b: int, bound: Bound, *, epsilon: float, delta: float, epsilon_1_fraction: float = 0.1
) -> Density:
    """Return the distribution of an output on totals (a, b) with b ≥ 1, for the given upper bound on the local sensitivity.

    NaN (a negative scale) is an atom, and so is a/b itself where the scale is 0.
    """
    epsilon_1 = epsilon * epsilon_1_fraction
    epsilon_2 = epsilon - epsilon_1
    margin = 2 * math.log(2 / delta) / epsilon_1
    values, chance = _noise(epsilon_1 / 2)
    # b_lower = ⌊b + noise − margin⌋ ≤ 1 bails out.
    lower_b, upper_b = np.floor(b + values - margin), np.ceil(b + values + margin)
    go_on = lower_b > 1
    bail = float(chance[~go_on].sum())
    naive = laplace_ratio(float(a), float(b), 2 / epsilon_2)
    if not go_on.any():
        return naive
    lower_a, upper_a = np.maximum(0, np.floor(a + values - margin)), np.ceil(a + values + margin)
    shape = (len(values), int(go_on.sum()))
    limits = (
        np.broadcast_to(part, shape).ravel()
        for part in (lower_a[:, None], upper_a[:, None], lower_b[go_on], upper_b[go_on])
    )
    scale = bound(*limits) / epsilon_2
    weight = (chance[:, None] * chance[go_on]).ravel()
    spread = scale > 0
    smooth = float(weight[spread].sum())
    atoms = {a / b: float(weight[scale == 0].sum()), "NaN": float(weight[scale < 0].sum())}
    parts = [_spread(a / b, scale[spread], weight[spread] / smooth)] if smooth > 0 else []
    shares = [smooth] if smooth > 0 else []
    if bail > 0:
        parts.append(naive)
        shares.append(bail)
    mixed = mixture([share / sum(shares) for share in shares], parts)
    assert isinstance(mixed, Density)
    kept = {output: math.log(mass) for output, mass in atoms.items() if mass > 0}
    if not kept:
        return mixed
    rest = math.log1p(-sum(math.exp(m) for m in kept.values()))
    return Density(_Part(mixed, rest), mixed.breakpoints, kept, mixed.log_error)


@dataclass(frozen=True, slots=True)
class _Part:
    """A density with less than the whole mass."""

    whole: Density
    log_share: float

    def __call__(self, outputs: Reals) -> Reals:
        return self.whole.log_density(outputs) + self.log_share
