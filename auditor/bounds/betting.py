"""Evidence that may be looked at any time: wealth won by bets that are fair or losing under the claim.

A rule fixed by the past guesses the side of the next output, or abstains. Under (ε, δ)-differential privacy its wins
obey P(win) ≤ e^ε P(loss) + mδ/2 (see :mod:`auditor.bounds.guesses`), so that with any stake 0 ≤ u ≤ e^(−ε)

    factor = (1 + u on a win, 1 − e^ε u on a loss, 1 when abstaining) / (1 + u m δ/2)

has expectation at most 1, whatever the past. Under μ-Gaussian privacy a guess that never abstains wins with probability
at most s = Φ(μ/2), and r/s on a win, (1 − r)/(1 − s) on a loss, for r ≥ s, is such a factor. Products of factors and
averages of products are e-processes: under the claim they ever reach 1/α with probability at most α (Ville 1939).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from auditor.bounds.intervals import Floats
from auditor.errors import InvalidInputError


@dataclass(frozen=True, slots=True)
class EpsilonNull:
    """The hypotheses "(ε, δ)-private", for each ε (nats) of a rising grid.

    Below ``least``, stakes are those against ``least``. Wealth then never decreases as ε decreases below it, and outputs that
    refute ``least`` refute every smaller ε. With δ > 0, stakes of their own would not have this property.
    """

    grid: Floats
    delta: float
    least: float = 0.0

    def log_factors(self, rates: Floats, directions: int) -> tuple[Floats, Floats, Floats]:
        """Return ln of the factors for target rates of winning, each of shape (rates, grid): on a win, on a loss, on any trial.

        The last factor multiplies the first or second. The stake is (r − σ)/σ where the target rate r exceeds
        σ = e^ε/(1 + e^ε), ε at least ``least``, which is the best for that rate at δ = 0. The stake is 0 if r does not exceed σ.
        """
        sigma = 1 / (1 + np.exp(-np.maximum(self.grid, self.least)))
        stake = np.maximum(0.0, np.asarray(rates)[..., None] / sigma - 1)
        with np.errstate(divide="ignore"):
            on_loss = np.log(np.maximum(0.0, 1 - np.exp(self.grid) * stake))
        return np.log1p(stake), on_loss, -np.log1p(stake * directions * self.delta / 2)


@dataclass(frozen=True, slots=True)
class GaussianNull:
    """The hypotheses "μ-Gaussian private", for each μ of a rising grid. Rules must never abstain."""

    grid: Floats

    def log_factors(self, rates: Floats, directions: int) -> tuple[Floats, Floats, Floats]:
        """See :meth:`EpsilonNull.log_factors`."""
        from scipy.special import ndtr

        most = ndtr(self.grid / 2)
        target = np.maximum(np.asarray(rates)[..., None], most)
        with np.errstate(divide="ignore"):
            return np.log(target / most), np.log((1 - target) / (1 - most)), np.zeros_like(target)


GuessNull = EpsilonNull | GaussianNull


def refuted_up_to(grid: Floats, refuted: NDArray[np.bool_]) -> float:
    """Return the largest value of the grid that is refuted together with every smaller one; 0 if there is none.

    The largest refuted value alone would not do: wealth need not decrease as the hypothesis widens.

    >>> refuted_up_to(np.array([0.0, 0.5, 1.0, 1.5]), np.array([True, True, False, True]))
    0.5
    """
    if len(grid) != len(refuted) or np.any(np.diff(grid) <= 0):
        raise InvalidInputError("the grid must rise, and say of each value whether it is refuted")
    failed = np.flatnonzero(~refuted)
    number = len(grid) if len(failed) == 0 else int(failed[0])
    return float(grid[number - 1]) if number else 0.0
