"""Noise by its tails, and integrals over it: what noisy maxima and noisy thresholds are computed from.

The integrands are products of Laplace or exponential tails, smooth between the kinks. On a panel no wider than the
smallest scale, Gauss-Legendre with NODES nodes errs by less than 10⁻³⁰ of the integral for up to 10 factors beside a
density: on the Bernstein ellipse with ρ = 12, within 3 scales of the panel, each factor is below 60 times its least
value on the panel, and 60¹¹ · 12^(−2·24) < 10⁻³² (Trefethen 2008, Theorem 4.5). What is left is rounding, for which
:func:`log_rounding` answers.
"""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from auditor.errors import require_number
from mechanisms.exact.distributions import Reals

NODES, WEIGHTS = np.polynomial.legendre.leggauss(24)

# Beyond the last kink the tails are followed for this many scales, and by ln 2 more for each factor: factors are at
# least ½ there (or shrink), so that less than e^−45 of the integral is left out.
TAIL = 45.0

EPS = float(np.finfo(float).eps)


class Noise(Protocol):
    """Noise on the real line, whose density is smooth but for a kink or jump at 0."""

    def log_density(self, x: Reals) -> Reals:
        """Return the log density."""

    def log_below(self, x: Reals) -> Reals:
        """Return ln P[noise < x]."""

    def log_above(self, x: Reals) -> Reals:
        """Return ln P[noise > x]."""


def _log(values: Reals) -> Reals:
    with np.errstate(divide="ignore"):
        return np.log(values)


@dataclass(frozen=True, slots=True)
class Laplace:
    """Laplace noise. Raises InvalidInputError unless scale > 0, finite."""

    scale: float

    def __post_init__(self) -> None:
        require_number("scale", self.scale, 0, math.inf, low_open=True)

    def log_density(self, x: Reals) -> Reals:
        return -np.abs(x) / self.scale - math.log(2 * self.scale)

    def log_below(self, x: Reals) -> Reals:
        tail = -np.abs(x) / self.scale - math.log(2)
        return np.where(x < 0, tail, np.log1p(-np.exp(tail)))

    def log_above(self, x: Reals) -> Reals:
        return self.log_below(-x)


@dataclass(frozen=True, slots=True)
class Exponential:
    """Exponential noise, which is never below 0. Raises InvalidInputError unless scale > 0, finite."""

    scale: float

    def __post_init__(self) -> None:
        require_number("scale", self.scale, 0, math.inf, low_open=True)

    def log_density(self, x: Reals) -> Reals:
        return np.where(x >= 0, -x / self.scale - math.log(self.scale), -np.inf)

    def log_below(self, x: Reals) -> Reals:
        return _log(-np.expm1(-np.maximum(x, 0.0) / self.scale))

    def log_above(self, x: Reals) -> Reals:
        return -np.maximum(x, 0.0) / self.scale


@dataclass(frozen=True, slots=True)
class NoNoise:
    """No noise: tails that are 0 or 1."""

    def log_density(self, x: Reals) -> Reals:
        """Raise NotImplementedError: there is none."""
        raise NotImplementedError

    def log_below(self, x: Reals) -> Reals:
        return np.where(x > 0, 0.0, -np.inf)

    def log_above(self, x: Reals) -> Reals:
        return np.where(x < 0, 0.0, -np.inf)


def panel_edges(kinks: Sequence[float], widest: float, decay: float, factors: int) -> Reals:
    """Return the edges of panels no wider than ``widest``, split at all kinks.

    They reach beyond the kinks as far as an integrand that decays over ``decay`` and has ``factors`` bounded factors
    is more than e^−TAIL of its integral.
    """
    reach = (TAIL + factors * math.log(2)) * decay
    stops = np.unique([min(kinks) - reach, *kinks, max(kinks) + reach])
    pieces = [
        np.linspace(low, high, math.ceil((high - low) / widest) + 1)[:-1] for low, high in itertools.pairwise(stops)
    ]
    return np.concatenate([*pieces, stops[-1:]])


def nodes_and_log_weights(edges: Reals) -> tuple[Reals, Reals]:
    """Return the nodes of all panels, shape (panels, 24), and the logarithms of their weights."""
    low, high = edges[:-1, None], edges[1:, None]
    return (low + high) / 2 + (high - low) / 2 * NODES, _log((high - low) / 2 * WEIGHTS)


def log_sum(terms: Reals) -> float:
    """Return ln Σ e^terms, −inf for nothing."""
    top = float(np.max(terms))
    return top if top == -math.inf else top + math.log(float(np.sum(np.exp(terms - top))))


def log_rounding(factors: int, largest: float) -> float:
    """Return a bound on the effect of rounding on the logarithm of an integral, in nats.

    Each of the ``factors`` has a logarithm of at most ``largest`` in size where the integrand matters, computed to 4
    units in its last place and added to the others; a pairwise sum of less than 2²⁰ positive terms adds 20 units.
    """
    return EPS * (4 * factors * (1 + largest) + 24)
