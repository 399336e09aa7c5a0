"""Clopper-Pearson limits against their definition, and the textbook bound by exact enumeration."""

import math

import numpy as np
import pytest
from scipy.stats import binom
from statsmodels.stats.proportion import proportion_confint

from auditor.bounds.evidence import Counts
from auditor.bounds.intervals import clopper_pearson_lower, clopper_pearson_upper, two_intervals_epsilon
from auditor.errors import InvalidInputError


@pytest.mark.parametrize("trials", [1, 7, 1000, 10**9])
@pytest.mark.parametrize("alpha", [0.5, 0.05, 1e-3, 1e-12])
def test_limits_solve_their_defining_equation(trials: int, alpha: float) -> None:
    hits = np.unique(np.array([1, trials // 3, trials - 1]).clip(1, trials))
    lower = clopper_pearson_lower(hits, trials, alpha)
    upper = clopper_pearson_upper(trials - hits, trials, alpha)
    assert binom.sf(hits - 1, trials, lower) == pytest.approx(alpha, rel=1e-4)
    assert upper == pytest.approx(1 - lower, abs=1e-12)


def test_limits_agree_with_statsmodels() -> None:
    hits, trials = np.arange(51), 50
    low, high = proportion_confint(hits, trials, alpha=0.02, method="beta")
    assert clopper_pearson_lower(hits, trials, 0.01) == pytest.approx(low)
    assert clopper_pearson_upper(hits, trials, 0.01) == pytest.approx(high)


def test_limits_at_the_ends() -> None:
    assert clopper_pearson_lower(0, 10, 0.01) == 0
    assert clopper_pearson_upper(10, 10, 0.01) == 1


@pytest.mark.parametrize(("hits", "trials", "alpha"), [(-1, 10, 0.1), (11, 10, 0.1), (1, 10, 0.0), (1, 10, math.nan)])
def test_impossible_counts_and_levels_are_refused(hits: int, trials: int, alpha: float) -> None:
    with pytest.raises(InvalidInputError):
        clopper_pearson_lower(hits, trials, alpha)


@pytest.mark.parametrize(
    ("epsilon", "delta", "right"), [(0.0, 0.0, 0.3), (1.0, 0.0, 0.2), (2.0, 0.0, 0.1), (1.0, 0.1, 0.2)]
)
def test_two_intervals_exceed_the_truth_at_most_at_their_level(epsilon: float, delta: float, right: float) -> None:
    """Exactly, by the sum of the joint binomial over all counts whose bound exceeds the true ε."""
    n, alpha = 30, 0.1
    left = math.exp(epsilon) * right + delta  # on the edge of (ε, δ)
    exceeds = np.array(
        [
            [two_intervals_epsilon(Counts(x, n, y, n), delta, alpha) > epsilon + 1e-12 for y in range(n + 1)]
            for x in range(n + 1)
        ]
    )
    joint = np.outer(binom.pmf(np.arange(n + 1), n, left), binom.pmf(np.arange(n + 1), n, right))
    assert 0 < joint[exceeds].sum() <= alpha
