"""The exact privacy loss on a pair, from the distributions of the outputs on both data sets."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from mechanisms import specimens
from mechanisms.exact.distributions import Distribution
from mechanisms.exact.divergences import Exact, exact_epsilon, exact_renyi, exact_rho

# The orders at which ρ is searched: D_α/α at any order is a lower bound on ρ, and for the specimens one of these orders attains it.
ORDERS = (1.001, 1.1, 1.5, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0)


@dataclass(frozen=True, slots=True)
class ExactPair:
    """The output distributions on a pair, from which exact values follow with their numerical errors."""

    left: Distribution
    right: Distribution

    def epsilon(self, delta: float) -> Exact:
        """Return the smallest ε (nats) at δ."""
        return exact_epsilon(self.left, self.right, delta)

    def renyi(self, order: float) -> Exact:
        """Return the larger Rényi divergence of the two directions (nats)."""
        return exact_renyi(self.left, self.right, order)

    def rho(self) -> Exact:
        """Return the largest D_α/α over ORDERS (nats)."""
        return exact_rho(self.left, self.right, ORDERS)


def truth(make: Callable[..., tuple[Distribution, Distribution]]) -> Callable[[specimens.F], specimens.F]:
    """Attach the exact distributions of a mechanism's outputs: ``make(left, right, **parameters)`` returns one for each side."""
    return specimens.truth(lambda left, right, **parameters: ExactPair(*make(left, right, **parameters)))


def each(make: Callable[..., Any]) -> Callable[..., tuple[Any, Any]]:
    """Make the distributions of a pair from that of a data set, ``make(dataset, **parameters)``."""
    return lambda left, right, **parameters: (make(left, **parameters), make(right, **parameters))
