"""The learned curve against known log-ratios, and where there is none. Fixed seeds; wide tolerances."""

import numpy as np
import pytest
from numpy.typing import NDArray

from auditor.events.curve import fit_curve

CELLS, EACH = 100, 1000
X = np.linspace(-2.0, 3.0, CELLS)


def counts(log_ratios: NDArray[np.float64], seed: int = 0) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    left = np.random.default_rng(seed).binomial(EACH, 1 / (1 + np.exp(-log_ratios)))
    return left, EACH - left


LAPLACE = np.clip(1 - 2 * X, -1, 1)
GAUSSIAN = 0.5 - X
BUMP = np.where((X > 0.5) & (X < 0.9), 1.0, -0.1)


@pytest.mark.parametrize("truth", [LAPLACE, GAUSSIAN, BUMP], ids=["laplace", "gaussian", "bump"])
def test_a_ratio_is_recovered_in_every_cell_though_a_cell_alone_says_little(truth: NDArray[np.float64]) -> None:
    alone = 2 / np.sqrt(EACH)
    for seed in range(5):
        curve = fit_curve(X, *counts(truth, seed))
        assert np.sqrt(np.mean((curve.log_ratios - truth) ** 2)) < 0.8 * alone
        assert np.all(np.isfinite(curve.errors))
        assert curve.gain > 100


def test_all_cells_of_a_plateau_share_one_ratio() -> None:
    """So no cell looks best by luck; and a plateau ends too early rather than too late."""
    curve = fit_curve(X, *counts(LAPLACE, 1))
    plateau = X < -0.3
    assert np.ptp(curve.log_ratios[plateau]) < 1e-9
    assert np.all(curve.log_ratios[X > 0.1] < curve.log_ratios[0])


def test_one_side_alone_gets_a_ratio_that_its_outputs_support() -> None:
    left, right = np.array([50, 200, 200]), np.array([50, 200, 0])
    curve = fit_curve(np.arange(3.0), left, right)
    assert 3 < curve.log_ratios[2] < 10
    assert np.all(np.abs(curve.log_ratios[:2]) < 0.3)


def test_without_a_difference_little_is_gained() -> None:
    gains = [fit_curve(X, *counts(np.zeros(CELLS), seed)).gain for seed in range(20)]
    assert max(gains) < 15


@pytest.mark.parametrize("x", [[0.0], [1e308, 1.5e308], [0.0, 0.0, 0.0], [-1e308, 1e308]])
def test_places_of_any_size_are_cells_like_others(x: list[float]) -> None:
    half = np.full(len(x), 10)
    assert np.all(np.isfinite(fit_curve(np.array(x), half, half).log_ratios))
