"""Drift and dependence on calls: the expected odds by exact enumeration, and what the tests detect."""

import numpy as np
import pytest
from scipy.stats import hypergeom

from auditor.bounds.drift import depends_on_calls, drifts, log_odds
from auditor.errors import InvalidInputError


@pytest.mark.parametrize("cell", [1, 6, 11, 16])
@pytest.mark.parametrize(("early", "late"), [(12, 12), (5, 30), (40, 1)])
def test_without_drift_the_odds_against_it_are_one_on_average_or_less(cell: int, early: int, late: int) -> None:
    """Summed over all counts of two cells, given the totals (cell, 4 and the rest): nothing is sampled."""
    total = np.zeros(7)
    for a in range(min(cell, early) + 1):
        for b in range(min(4, early - a) + 1):
            rest = (early - a - b, late - (cell - a) - (4 - b))
            if min(rest) < 0 or cell - a > late or 4 - b > late:
                continue
            chance = hypergeom.pmf(a, early + late, cell, early) * hypergeom.pmf(b, early + late - cell, 4, early - a)
            total += chance * np.exp(log_odds((a, b, rest[0]), (cell - a, 4 - b, rest[1])))
    assert np.all(total <= 1 + 1e-9)
    assert total.max() > 0.3


def test_a_rate_that_changes_is_found_and_one_that_wavers_is_not() -> None:
    same, changed = ((5_000, 5_000), (5_060, 4_940)), ((5_000, 5_000), (5_600, 4_400))
    assert not drifts([same[0]], [same[1]])
    assert drifts([changed[0]], [changed[1]])
    assert drifts([same[0], changed[0]], [same[1], changed[1]]), "on one side only"


def test_cells_that_are_always_or_never_hit_say_nothing() -> None:
    assert not log_odds((10, 0, 0), (7, 0, 0)).any()
    assert not log_odds((0, 0), (7, 3)).any()


def test_counts_of_different_events_are_not_compared() -> None:
    with pytest.raises(InvalidInputError, match="must be the same"):
        drifts([(1, 2)], [(1, 2, 3)])


@pytest.mark.parametrize("rate", [0.5, 0.03])
def test_calls_are_told_apart_where_their_state_would_matter_and_slow_drift_is_not(rate: float) -> None:
    """512 calls of 200 outputs, seeded. If the variance of a call is three times too large, 90 % bounds would err far too
    often.

    Independent outputs are taken for dependent ones with probability 1e-9, by the exact expectation above.
    """
    rng = np.random.default_rng(4)

    def calls(rates: object) -> list[list[tuple[int, int]]]:
        hits = rng.binomial(200, np.broadcast_to(np.reshape(rates, (-1, 1)), (512, 2)))
        return [[(int(n), 200 - int(n)) for n in call] for call in hits]

    spread = np.sqrt(2 * rate * (1 - rate) / 200)
    assert not depends_on_calls(calls(rate))
    assert not depends_on_calls(calls(np.linspace(rate, rate + 0.2, 512)))
    assert depends_on_calls(calls(np.where(rng.random(512) < 0.5, max(0, rate - spread), rate + spread)))
    assert not depends_on_calls(calls(np.where(np.arange(512) < 257, 0.0, 1.0))), "one step"
    assert not depends_on_calls([])
    assert not depends_on_calls(calls(rate)[:1])
