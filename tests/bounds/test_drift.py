"""Drift: the false-warning rate by exact enumeration, and what is found."""

import numpy as np
import pytest
from scipy.stats import binom, hypergeom

from auditor.bounds.drift import at_least, drift_p_value, drifts
from auditor.errors import InvalidInputError


@pytest.mark.parametrize("p", [0.01, 0.3, 0.5, 0.9])
@pytest.mark.parametrize(("early", "late"), [(12, 12), (5, 30), (40, 1)])
@pytest.mark.parametrize("level", [0.3, 0.05, 0.001])
def test_a_mechanism_without_drift_has_a_small_p_value_no_oftener_than_that(
    p: float, early: int, late: int, level: float
) -> None:
    """Summed over all counts of an event that happens with probability p: nothing is sampled."""
    false = sum(
        binom.pmf(a, early, p) * binom.pmf(b, late, p)
        for a in range(early + 1)
        for b in range(late + 1)
        if drift_p_value((a, early - a), (b, late - b)) < level
    )
    assert false <= level


def test_the_tail_is_bounded_by_little_more_than_it_is() -> None:
    """Random tables (seeded), against the exact tails of SciPy."""
    rng = np.random.default_rng(0)
    for _ in range(300):
        early, late = (rng.multinomial(rng.integers(1, 3_000), rng.dirichlet([1.0, 1.0, 0.1])) for _ in range(2))
        exact = hypergeom.sf(early - 1, early.sum() + late.sum(), early + late, early.sum())
        bound = at_least(early.astype(float), late.astype(float))
        shown = exact > 1e-290  # beyond that both are rounded to 0
        assert np.all(bound[shown] >= exact[shown] * (1 - 1e-9))
        unlikely = shown & (exact < 1e-9)
        assert np.all(bound[unlikely] <= 1.1 * exact[unlikely])


def test_a_rate_that_changes_is_found_and_one_that_wavers_is_not() -> None:
    same, changed = ((5_000, 5_000), (5_060, 4_940)), ((5_000, 5_000), (5_600, 4_400))
    assert not drifts([same[0]], [same[1]])
    assert drifts([changed[0]], [changed[1]])
    assert drifts([same[0], changed[0]], [same[1], changed[1]]), "on one side only"


def test_cells_that_are_always_or_never_hit_say_nothing() -> None:
    assert drift_p_value((10, 0, 0), (7, 0, 0)) == 1.0
    assert drift_p_value((0, 0), (7, 3)) == 1.0


def test_counts_of_different_events_are_not_compared() -> None:
    with pytest.raises(InvalidInputError, match="the same number"):
        drift_p_value((1, 2), (1, 2, 3))
