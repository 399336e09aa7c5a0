"""Counts of guesses, and how likely all counts are, for tests by exact enumeration."""

import itertools
import math

import numpy as np
from scipy.stats import multinomial

from auditor.bounds.evidence import Counts, GuessCounts


def counted(wins: int, losses: int, trials: int, *, one_tailed: bool = False) -> GuessCounts:
    """Make counts in which all guesses were "left"; the bounds know only wins, guesses, trials and directions."""
    left = Counts(wins, trials - losses, losses, losses)
    return GuessCounts(left, Counts(0, trials - losses, 0, losses), one_tailed)


def sigma(epsilon: float) -> float:
    return 1 / (1 + math.exp(-epsilon))


def joint(trials: int, *rates: float) -> tuple[np.ndarray, np.ndarray]:
    """All counts of a multinomial (the rates, and the rest), and their chances."""
    grid = np.array([c for c in itertools.product(range(trials + 1), repeat=len(rates)) if sum(c) <= trials])
    full = np.column_stack([grid, trials - grid.sum(axis=1)])
    return grid, multinomial.pmf(full, trials, [*rates, max(0.0, 1 - sum(rates))])
