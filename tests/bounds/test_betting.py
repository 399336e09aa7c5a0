"""Factors that are fair or losing under the claim: exact expectations on the edge of what it allows."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import ndtr

from auditor.bounds.betting import EpsilonNull, GaussianNull, refuted_up_to
from auditor.errors import InvalidInputError

EPSILONS = np.array([0.0, 0.1, 0.5, 1.0, 2.0, 5.0, 12.0, 40.0])
RATES = np.array([0.5, 0.51, 0.6, 0.731, 0.8, 0.95, 0.999, 1 - 1e-12, 1.0])
MUS = np.array([0.0, 0.1, 1.0, 3.0, 8.0])


def worst_mixes(epsilon: float, free: float) -> list[tuple[float, float]]:
    """Chances of (win, loss) that (ε, δ) allows: P(win) ≤ e^ε P(loss) + mδ/2, on its edge and inside."""
    most_losses = (1 - free) / (1 + math.exp(epsilon))
    on_edge = [(math.exp(epsilon) * loss + free, loss) for loss in np.linspace(0, most_losses, 9)]
    return on_edge + [(win * share, loss) for win, loss in on_edge for share in (0.0, 0.5)] + [(0.0, 1.0), (0.0, 0.0)]


def mean_factors(win: float, loss: float, logs: tuple[np.ndarray, np.ndarray, np.ndarray]) -> np.ndarray:
    """Sum the three outcomes of a trial."""
    on_win, on_loss, on_trial = (np.exp(log) for log in logs)
    return np.asarray((win * on_win + loss * on_loss + (1 - win - loss)) * on_trial)


@pytest.mark.parametrize("delta", [0.0, 1e-6, 0.05, 0.5])
@pytest.mark.parametrize("directions", [1, 2])
def test_bets_against_epsilon_never_win_on_average_under_it(delta: float, directions: int) -> None:
    """Exact, for every rate that may be hoped for, and every smaller ε as well as the hypothesis itself."""
    logs = EpsilonNull(EPSILONS, delta).log_factors(RATES, directions)
    free = directions * delta / 2
    for i in range(len(EPSILONS)):
        for win, loss in itertools.chain(*(worst_mixes(float(e), free) for e in EPSILONS[: i + 1])):
            assert np.all(mean_factors(win, loss, logs)[:, i] <= 1 + 1e-12)


@pytest.mark.parametrize("delta", [0.0, 0.05])
def test_bets_against_epsilon_are_fair_on_its_edge(delta: float) -> None:
    """No more is given away than must be, and nothing is bet on a rate that the claim allows."""
    null = EpsilonNull(EPSILONS[:6], delta)
    logs = null.log_factors(RATES, 2)
    for i, epsilon in enumerate(EPSILONS[:6]):
        loss = 0.5 * (1 - delta) / (1 + math.exp(epsilon))
        assert mean_factors(math.exp(epsilon) * loss + delta, loss, logs)[:, i] == pytest.approx(1, abs=1e-12)
        assert not any(log[0, i].any() for log in null.log_factors(np.array([0.5]), 2))
        # The price of an output-dependent stake, which the learned bettor pays, is that of e^(−ε).
        assert np.all(np.expm1(logs[0])[:, i] <= np.exp(-epsilon) * (1 + 1e-9) + 1e-15)


def test_at_the_true_rate_the_capital_grows_as_fast_as_it_can() -> None:
    """δ = 0: the mean of ln of the factor is the Kullback-Leibler divergence of Bernoulli rates."""
    rate, most = 0.9, 1 / (1 + math.exp(-1))
    on_win, on_loss, _ = (f.item() for f in EpsilonNull(np.array([1.0]), 0.0).log_factors(np.array([rate]), 2))
    divergence = rate * math.log(rate / most) + (1 - rate) * math.log((1 - rate) / (1 - most))
    assert rate * on_win + (1 - rate) * on_loss == pytest.approx(divergence)


def test_bets_against_mu_never_win_on_average_under_it() -> None:
    rates = RATES[:-1]
    logs = GaussianNull(MUS).log_factors(rates, 2)
    for i, mu in enumerate(MUS):
        for win in np.linspace(0, ndtr(mu / 2), 20):
            assert np.all(mean_factors(win, 1 - win, logs)[:, i] <= 1 + 1e-12)
        assert mean_factors(ndtr(mu / 2), 1 - ndtr(mu / 2), logs)[:, i] == pytest.approx(1)
    # It has teeth: just over the claim, some bet wins.
    over = float(ndtr((MUS[2] + 0.2) / 2))
    assert mean_factors(over, 1 - over, GaussianNull(MUS).log_factors(np.array([over]), 2))[0, 2] > 1.005


@given(st.lists(st.booleans(), min_size=1, max_size=12))
def test_refuted_up_to_stops_at_the_first_that_is_not_refuted(refuted: list[bool]) -> None:
    grid = np.linspace(0.5, 2.0, len(refuted))
    together = [grid[i] for i in range(len(grid)) if all(refuted[: i + 1])]
    assert refuted_up_to(grid, np.array(refuted)) == (together[-1] if together else 0.0)


@pytest.mark.parametrize("grid", [[0.0, 1.0], [0.0, 0.0, 1.0], [0.0, 2.0, 1.0]])
def test_a_grid_that_does_not_rise_or_does_not_fit_is_refused(grid: list[float]) -> None:
    with pytest.raises(InvalidInputError, match="the grid must rise"):
        refuted_up_to(np.array(grid), np.array([True, True, True]))
