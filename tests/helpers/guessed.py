"""Counts of guesses with the probability of every outcome, for tests by exact enumeration."""

import itertools
import math

import numpy as np
from scipy.stats import multinomial

from auditor.bounds.evidence import Counts, GuessCounts


def counted(wins: int, losses: int, trials: int, *, one_tailed: bool = False) -> GuessCounts:
    """Return counts with "left" as every guess; bounds use only wins, guesses, trials and directions."""
    left = Counts(wins, trials - losses, losses, losses)
    return GuessCounts(left, Counts(0, trials - losses, 0, losses), one_tailed)


def sigma(epsilon: float) -> float:
    return 1 / (1 + math.exp(-epsilon))


def joint(trials: int, *rates: float) -> tuple[np.ndarray, np.ndarray]:
    """Return all counts of a multinomial with these rates and the remainder, with their probabilities."""
    grid = np.array([c for c in itertools.product(range(trials + 1), repeat=len(rates)) if sum(c) <= trials])
    full = np.column_stack([grid, trials - grid.sum(axis=1)])
    return grid, multinomial.pmf(full, trials, [*rates, max(0.0, 1 - sum(rates))])
