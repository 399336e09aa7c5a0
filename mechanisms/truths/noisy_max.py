"""The largest of several noisy totals: which one it is, and how large."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mechanisms.exact.distributions import Density, MassFunction, Reals
from mechanisms.truths.noise import (
    TAIL,
    Exponential,
    Laplace,
    log_rounding,
    log_sum,
    nodes_and_log_weights,
    panel_edges,
)


def _largest_exponent(totals: Sequence[float], noise: Laplace | Exponential) -> float:
    """Return how large the logarithm of a factor may be where the integrand matters."""
    return (max(totals) - min(totals)) / noise.scale + TAIL + len(totals)


def _log_densities(totals: Sequence[float], noise: Laplace | Exponential, outputs: Reals) -> Reals:
    """Return, for each total, the log density at ``outputs`` of its being the largest: ln f(y − a_i) ∏ F(y − a_j)."""
    beyond = [outputs - total for total in totals]
    below = [noise.log_below(x) for x in beyond]
    # The sum of all factors minus a total's own would be −inf − (−inf) where noise is never that low.
    return np.stack(
        [
            noise.log_density(x) + np.sum([b for j, b in enumerate(below) if j != i] or [np.zeros_like(x)], axis=0)
            for i, x in enumerate(beyond)
        ]
    )


def noisy_max_index(totals: Sequence[float], noise: Laplace | Exponential) -> MassFunction:
    """Return which of the noisy totals is the largest, over 0 … k − 1.

    P[i] = ∫ f(y − a_i) ∏_{j≠i} F(y − a_j) dy (Ding et al. 2018, Algorithms 5 and 6), by quadrature to rounding.

    >>> masses = noisy_max_index([0.0, 0.0], Laplace(1.0)).log_masses
    >>> round(float(np.exp(masses[0])), 14)
    0.5
    """
    numbers = [float(total) for total in totals]
    nodes, log_weights = nodes_and_log_weights(panel_edges(numbers, noise.scale, noise.scale, len(numbers)))
    terms = _log_densities(numbers, noise, nodes) + log_weights
    log_error = log_rounding(len(numbers), _largest_exponent(numbers, noise))
    return MassFunction({i: log_sum(term) for i, term in enumerate(terms)}, log_error=log_error)


@dataclass(frozen=True, slots=True)
class _Largest:
    """The log density of the largest noisy total."""

    totals: tuple[float, ...]
    noise: Laplace | Exponential

    def __call__(self, outputs: Reals) -> Reals:
        terms = _log_densities(self.totals, self.noise, np.asarray(outputs, np.float64))
        return np.asarray(np.logaddexp.reduce(terms, axis=0))


def noisy_max_value(totals: Sequence[float], noise: Laplace | Exponential) -> Density:
    """Return the largest of the noisy totals (Ding et al. 2018, Algorithms 7 and 8).

    Its density is Σ_i f(y − a_i) ∏_{j≠i} F(y − a_j). With exponential noise it begins at the largest total, so if the
    largest totals of two sides differ, some outputs distinguish them with certainty.
    """
    numbers = tuple(float(total) for total in totals)
    points = {a + step * noise.scale for a in (min(numbers), max(numbers)) for step in (-8.0, -1.0, 1.0, 8.0)}
    # A log density k times as steep as one factor's, in the far tail, is right to k roundings.
    return Density(_Largest(numbers, noise), (*numbers, *points), log_error=log_rounding(len(numbers), 1.0))
