"""Bets against a divergence: exact expectations under random pairs of distributions, and levels by enumeration."""

import itertools
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.stats import multinomial

from auditor.bounds.divergences import Wager, divergence_bound, log_wealth, payoffs
from auditor.bounds.evidence import ScoreCounts
from auditor.errors import InvalidInputError

Floats = NDArray[np.float64]
ORDERS = [1.0, 1.5, 2.0, 4.0, 32.0]


def renyi(order: float, p: Floats, q: Floats) -> float:
    """D_order(P‖Q) by its definition."""
    if order == 1:
        return float(p @ np.log(p / q))
    return math.log(float(q @ (p / q) ** order)) / (order - 1)


def best_score(order: float, p: Floats, q: Floats) -> Floats:
    """The score at which Hölder's inequality and the tangent are equalities: the log-ratio, shifted to E_P[u] = 1."""
    return np.log(p / q) - (renyi(order, p, q) if order > 1 else 0.0)


def expected(order: float, values: Floats, p: Floats, q: Floats, divergence: float) -> tuple[float, float]:
    """Return the expected payoff of one trial, and the size of the summands."""
    on_p, on_q = payoffs(order, values, divergence)
    return float(p @ on_p + q @ on_q) / 2, float(p @ np.abs(on_p) + q @ np.abs(on_q))


def test_payoffs_of_several_orders_are_those_of_each() -> None:
    orders, values, limits = np.array([1.0, 3.0]), np.array([-0.5, 0.2]), np.array([0.1, 0.4])
    together = payoffs(orders, np.stack([values, values]), limits)
    for i in range(2):
        assert [side[i].tolist() for side in together] == [
            side.tolist() for side in payoffs(orders[i], values, limits[i])
        ]


def compositions(total: int, parts: int) -> NDArray[np.int64]:
    """Yield all ways to divide a total."""
    bars = itertools.combinations(range(total + parts - 1), parts - 1)
    edges = np.array([(-1, *bar, total + parts - 1) for bar in bars])
    return np.diff(edges, axis=1) - 1


# --- the payoff ---


@pytest.mark.parametrize("order", ORDERS)
def test_no_score_wins_on_average_where_the_claim_holds(order: float) -> None:
    """Exact expectations, for random P and Q of 2 to 6 values, random scores, and scores near the best one."""
    rng = np.random.default_rng(0)
    for _ in range(2000):
        cells = int(rng.integers(2, 7))
        p, q = rng.dirichlet(np.ones(cells)) + 1e-6, rng.dirichlet(np.ones(cells)) + 1e-6
        p, q = p / p.sum(), q / q.sum()
        near = best_score(order, p, q) + rng.normal(0, rng.choice([0.0, 0.01, 0.3]) / order, cells)
        wild = rng.normal(0, 3 / order, cells)
        slack = rng.choice([0.0, 0.1, 1.0])
        for values in (near, wild):
            mean, size = expected(order, values, p, q, renyi(order, p, q) + slack)
            assert mean <= 1e-12 * size


@given(
    st.sampled_from(ORDERS),
    st.lists(st.floats(-3, 3), min_size=1, max_size=5),
    st.floats(0, 0.3),
    st.floats(-1, 1),
    st.booleans(),
    st.floats(0, 5),
    st.floats(0, 5),
)
def test_the_capital_never_rises_with_the_divergence_bet_against(
    order: float, values: list[float], stake: float, tilt: float, swapped: bool, one: float, other: float
) -> None:
    wager = Wager(order, tuple(values), swapped, stake, tilt)
    counts = ScoreCounts(tuple(range(3, 3 + len(values))), tuple(range(2 * len(values), len(values), -1)))
    less, more = sorted((one, other))
    after_less, after_more = (log_wealth(wager, counts, divergence) for divergence in (less, more))
    assert after_more <= after_less + 1e-9 * abs(after_less if math.isfinite(after_less) else 0.0)


# --- the bound ---


@pytest.mark.parametrize("order", [1.0, 1.5, 2.0, 8.0])
@pytest.mark.parametrize(
    ("p", "q", "trials"),
    [([0.8, 0.2], [0.4, 0.6], 14), ([0.5, 0.3, 0.2], [0.2, 0.3, 0.5], 7), ([0.5, 0.5], [0.5, 0.5], 14)],
)
@pytest.mark.parametrize("tilt", [0.0, 0.3])
def test_the_bound_exceeds_the_truth_at_most_at_its_level(
    order: float, p: list[float], q: list[float], trials: int, tilt: float
) -> None:
    """Exactly: the sum over all counts of sides and cells, for the best score with the boldest stake that cannot lose
    everything."""
    alpha, left, right = 0.3, np.array(p), np.array(q)
    truth = renyi(order, left, right)
    # The divergence is 0, but the score bets on one.
    values = best_score(order, left, right) if truth > 0 else np.array([0.4, -0.6]) / order
    on_p, on_q = payoffs(order, values, truth + 0.02)
    wager = Wager(order, tuple(values), False, 0.9 / -min((on_p - tilt).min(), (on_q + tilt).min()), tilt)
    outcomes = compositions(trials, 2 * len(p))
    chances = multinomial.pmf(outcomes, trials, np.concatenate([left, right]) / 2)
    assert chances.sum() == pytest.approx(1)
    exceeds = [
        divergence_bound(wager, ScoreCounts(tuple(o[: len(p)].tolist()), tuple(o[len(p) :].tolist())), alpha)
        > truth + 1e-9
        for o in outcomes
    ]
    error = chances[exceeds].sum()
    assert 0 < error <= alpha  # the bound does err sometimes: the level is not wasted


def test_the_bound_is_where_the_capital_reaches_its_target() -> None:
    wager, counts, alpha = Wager(2.0, (0.3, -0.7), False, 0.05, 0.0), ScoreCounts((700, 300), (350, 650)), 0.01
    bound = divergence_bound(wager, counts, alpha)
    assert bound > 0
    assert log_wealth(wager, counts, bound) == pytest.approx(-math.log(alpha), abs=1e-6)


def test_nothing_seen_and_nothing_staked_prove_nothing() -> None:
    assert divergence_bound(Wager(1.0, (1.0,), False, 0.1, 0.0), ScoreCounts((0,), (0,)), 0.05) == 0
    assert divergence_bound(Wager(1.0, (1.0,), False, 0.0, 0.0), ScoreCounts((100,), (0,)), 0.05) == 0


def test_a_bet_that_could_lose_more_than_all_is_no_bet() -> None:
    """Whatever was counted, the game must have been fair for every output, including cells that stayed empty."""
    wager = Wager(1.0, (1.0, 3.0), False, 0.2, 0.0)
    assert 1 + 0.2 * -2 * math.expm1(3.0) < 0
    assert log_wealth(wager, ScoreCounts((1000, 0), (0, 0)), 0.0) == -math.inf
    assert divergence_bound(wager, ScoreCounts((1000, 0), (0, 0)), 0.05) == 0


@pytest.mark.parametrize("order", [1.0, 64.0])
def test_scores_beyond_what_a_double_holds_prove_nothing(order: float) -> None:
    wager = Wager(order, (800.0, -800.0), False, 0.1, 0.0)
    assert divergence_bound(wager, ScoreCounts((1000, 0), (0, 1000)), 0.05) == 0


@pytest.mark.parametrize("alpha", [0.0, 1.0, -0.1, math.nan])
def test_a_level_outside_0_and_1_is_told(alpha: float) -> None:
    with pytest.raises(InvalidInputError, match="must lie strictly between 0 and 1"):
        divergence_bound(Wager(1.0, (0.0,), False, 0.0, 0.0), ScoreCounts((1,), (1,)), alpha)


@pytest.mark.parametrize(
    "options",
    [
        {"order": 0.5},
        {"order": math.nan},
        {"order": math.inf},
        {"stake": -0.1},
        {"stake": math.nan},
        {"tilt": math.inf},
        {"values": (0.0, math.nan)},
    ],
)
def test_a_wager_that_is_none_is_refused(options: dict[str, Any]) -> None:
    with pytest.raises(InvalidInputError):
        Wager(**{"order": 1.0, "values": (0.0,), "swapped": False, "stake": 0.1, "tilt": 0.0, **options})


@pytest.mark.parametrize("order", ORDERS)
def test_the_best_score_neither_wins_nor_loses_at_the_true_divergence(order: float) -> None:
    rng = np.random.default_rng(1)
    for _ in range(300):
        p, q = rng.dirichlet(np.ones(4)) + 0.01, rng.dirichlet(np.ones(4)) + 0.01
        p, q = p / p.sum(), q / q.sum()
        values, truth = best_score(order, p, q), renyi(order, p, q)
        mean, size = expected(order, values, p, q, truth)
        assert abs(mean) <= 1e-11 * size
        # The bet wins against every value below the truth.
        mean, size = expected(order, values, p, q, truth * 0.99)
        assert mean > 1e-11 * size


def test_the_sides_swapped_are_the_divergence_the_other_way_round() -> None:
    values, counts = (-0.4, 0.5), ScoreCounts((10, 40), (30, 20))
    there = log_wealth(Wager(2.0, values, False, 0.1, 0.2), counts, 0.3)
    back = log_wealth(Wager(2.0, values, True, 0.1, 0.2), ScoreCounts(counts.right, counts.left), 0.3)
    assert there == back


def test_the_capital_is_the_product_of_the_bets() -> None:
    """Output by output, from the payoffs: order 1, two cells."""
    wager = Wager(1.0, (0.5, -0.5), False, 0.2, 0.1)
    counts = ScoreCounts((2, 0), (0, 1))
    on_left = 1 + 0.2 * (2 * 0.5 - 0.3 - 0.1)
    on_right = 1 + 0.2 * (-2 * math.expm1(-0.5) - 0.3 + 0.1)
    assert log_wealth(wager, counts, 0.3) == pytest.approx(2 * math.log(on_left) + math.log(on_right))


@pytest.mark.parametrize("order", [1.0, 1.5, 2.0, 4.0])
@pytest.mark.parametrize("swapped", [False, True])
def test_on_many_outputs_the_bound_comes_close_to_the_truth(order: float, swapped: bool) -> None:
    p, q, half, alpha = np.array([0.6, 0.3, 0.1]), np.array([0.2, 0.3, 0.5]), 10**6, 1e-3
    truth, values = renyi(order, p, q), best_score(order, p, q)
    on_p, on_q = payoffs(order, values, truth)
    tilt = float(p @ on_p - q @ on_q) / 2
    variance = float(p @ (on_p - tilt) ** 2 + q @ (on_q + tilt) ** 2) / 2
    stake = math.sqrt(-2 * math.log(alpha) / (2 * half) / variance)
    sides = tuple(tuple(round(half * x) for x in side) for side in (p, q))
    counts = ScoreCounts(*(sides[::-1] if swapped else sides))
    bound = divergence_bound(Wager(order, tuple(values), swapped, stake, tilt), counts, alpha)
    assert 0.97 * truth < bound < truth
