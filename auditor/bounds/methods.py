"""The ways to turn counts into a bound on ε, each with a forecast that selection uses to compare rules."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from auditor.bounds.evidence import Counts, GuessCounts
from auditor.bounds.guesses import guess_epsilon
from auditor.bounds.intervals import two_intervals_epsilon
from auditor.bounds.power import detectable_by_guesses, detectable_by_two_intervals

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class RuleCounts:
    """Counts of many rules at once, as arrays of one shape: hits of the event for the left and for the right side.

    ``left_wins`` are hits of the left event on the left, ``left_losses`` on the right; the right event likewise.
    """

    left_wins: Floats
    left_losses: Floats
    right_wins: Floats
    right_losses: Floats
    trials: int


class Method(Protocol):
    """A lower bound on ε, and what it is likely to come out at."""

    @property
    def name(self) -> str:
        """How the bound is called in reports."""

    def epsilon(self, counts: GuessCounts, delta: float, alpha: float) -> float:
        """Return a bound (nats) that exceeds the true ε at ``delta`` with probability at most ``alpha``."""

    def forecast(self, seen: RuleCounts, planned: int, delta: float, alpha: float) -> Floats:
        """Estimate the bound each rule would give on ``planned`` fresh outputs. Proves nothing."""

    def detectable(self, counts: GuessCounts, epsilon: float, delta: float, alpha: float, chance: float) -> float:
        """Return the smallest true ε that refutes a claimed ``epsilon`` with this chance, at rates as seen."""


def _wilson_lower(rate: Floats, trials: Floats, z: float) -> Floats:
    """Return the Wilson lower limit of a proportion, an approximation that needs no root finding; 0 of 0 is 0."""
    n = np.maximum(trials, 1e-9)
    centre = rate + z * z / (2 * n)
    spread = z * np.sqrt(rate * (1 - rate) / n + z * z / (4 * n * n))
    return np.asarray(np.where(trials > 0, (centre - spread) / (1 + z * z / n), 0.0))


def _log_ratio(above: Floats, below: Floats) -> Floats:
    """Return ln(above/below), −∞ where above is not positive."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(above > 0, np.log(np.maximum(above, 0) / np.maximum(below, 1e-300)), -np.inf)


# Rules are compared at rates three standard errors on the safe side, so that of hundreds of rules one that was
# seen seldom does not win by luck.
CAUTION = 3.0


@dataclass(frozen=True, slots=True)
class Guesses:
    """One Clopper-Pearson interval on guesses; see :mod:`auditor.bounds.guesses`."""

    name: str = "guesses"

    def epsilon(self, counts: GuessCounts, delta: float, alpha: float) -> float:  # noqa: D102 - see Method
        return guess_epsilon(counts, delta, alpha)

    def detectable(  # noqa: D102
        self, counts: GuessCounts, epsilon: float, delta: float, alpha: float, chance: float
    ) -> float:
        return detectable_by_guesses(counts, epsilon, delta, alpha, chance)

    def forecast(self, seen: RuleCounts, planned: int, delta: float, alpha: float) -> Floats:  # noqa: D102
        wins = seen.left_wins + seen.right_wins
        guesses = wins + seen.left_losses + seen.right_losses
        directions = 1.0 * (seen.left_wins + seen.left_losses > 0) + (seen.right_wins + seen.right_losses > 0)
        safe = np.maximum(guesses, 1e-9)
        cautious = _wilson_lower(wins / safe, guesses, CAUTION)
        rate = _wilson_lower(cautious, guesses * planned / seen.trials, _z(alpha))
        free = directions * delta / 2 * seen.trials / safe
        return _log_ratio(rate - free, 1 - rate)


@dataclass(frozen=True, slots=True)
class TwoIntervals:
    """The textbook form, on one of the rule's events; see :func:`~auditor.bounds.intervals.two_intervals_epsilon`."""

    name: str = "two-intervals"

    def epsilon(self, counts: GuessCounts, delta: float, alpha: float) -> float:  # noqa: D102
        return two_intervals_epsilon(self._event(counts), delta, alpha)

    def detectable(  # noqa: D102
        self, counts: GuessCounts, epsilon: float, delta: float, alpha: float, chance: float
    ) -> float:
        return detectable_by_two_intervals(self._event(counts), epsilon, delta, alpha, chance)

    def _event(self, counts: GuessCounts) -> Counts:
        """Return the one event that is ever guessed, seen from its own side."""
        return counts.left if counts.left.hits_left + counts.left.hits_right > 0 else counts.right.mirrored()

    def forecast(self, seen: RuleCounts, planned: int, delta: float, alpha: float) -> Floats:  # noqa: D102
        half = seen.trials / 2
        is_left = seen.right_wins + seen.right_losses == 0
        hits = np.where(is_left, seen.left_wins, seen.right_wins) / half
        misses = np.where(is_left, seen.left_losses, seen.right_losses) / half
        n, z = np.full_like(hits, half), _z(alpha / 2)
        later = np.full_like(hits, planned / 2)
        low = _wilson_lower(_wilson_lower(np.minimum(hits, 1), n, CAUTION), later, z)
        high = 1 - _wilson_lower(_wilson_lower(1 - np.minimum(misses, 1), n, CAUTION), later, z)
        one_event = is_left | (seen.left_wins + seen.left_losses == 0)
        return np.where(one_event, _log_ratio(low - delta, high), -np.inf)


def _z(alpha: float) -> float:
    from scipy.special import ndtri

    return -float(ndtri(alpha))


METHODS: dict[str, Method] = {"fixed": Guesses(), "two-intervals": TwoIntervals()}
