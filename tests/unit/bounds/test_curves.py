"""The band on the trade-off curve: exact coverage, by enumeration and by a recursion over order statistics.

The only random test compares the recursion with 100,000 simulated samples; it fails with probability below 1e-7 by a wrong seed.
"""

import itertools
import math
from collections.abc import Iterator

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import betaincinv, gammaln, logsumexp, xlog1py, xlogy
from scipy.stats import binom, multinomial

from auditor.bounds.curves import (
    CurveBand,
    caught_excess,
    choose_thresholds,
    count_cells,
    log_of_sums,
    log_ratio_of_hits,
    lower_limits,
    upper_limits,
)
from auditor.claims import Tradeoff
from auditor.errors import InvalidInputError

Floats = NDArray[np.float64]


def chance_that_all_hold(low: Floats, high: Floats) -> float:
    """Return P[low[N(t)] ≤ t ≤ high[N(t)] for all t], exactly, where N(t) of n uniform numbers are at most t.

    ``low`` and ``high`` hold the limits for 0 to n hits. N(t) is followed from one limit to the next: it is binomial given the
    number before, and each limit forbids some numbers from then on (Noé 1972).
    """
    n = len(low) - 1
    numbers = np.arange(n + 1)
    chances, before = np.where(numbers == 0, 1.0, 0.0), 0.0
    more = numbers[None, :] - numbers[:, None]
    log_ways = gammaln(n - numbers + 1)[:, None] - gammaln(np.maximum(more, 0) + 1) - gammaln(n - numbers + 1)[None, :]
    log_ways = np.where(more >= 0, log_ways, -np.inf)
    for t in np.unique(np.clip(np.r_[low, high, 1.0], 0.0, 1.0)):
        if t > before:
            later = (t - before) / (1 - before)
            steps = np.exp(log_ways + xlogy(np.maximum(more, 0), later) + xlog1py((n - numbers)[None, :], -later))
            # Between two limits, N may take the numbers that both allow all the while.
            allowed = (low <= before) & (t <= high)
            chances, before = np.where(allowed, (chances * allowed) @ steps, 0.0), float(t)
    return float(chances.sum())


@pytest.mark.parametrize("columns", [1, 2, 7, 150])
def test_logarithms_of_sums_are_those_of_scipy_to_the_last_bit(columns: int) -> None:
    rng = np.random.default_rng(columns)
    rows = rng.normal(0, 30, (200, columns))
    rows[:50] = np.round(rows[:50] / 20)  # the largest number is there several times
    rows[rng.random(rows.shape) < 0.2] = -np.inf
    rows[0] = -np.inf
    rows[1, 0] = np.inf
    assert np.array_equal(log_of_sums(rows), logsumexp(rows, axis=1))
    assert log_of_sums(np.zeros((1, 0))).tolist() == [-np.inf]


def limits_of(n: int, alpha: float) -> tuple[Floats, Floats]:
    hits = np.arange(n + 1)
    return lower_limits(hits, n, alpha), upper_limits(hits, n, alpha)


@pytest.mark.parametrize("alpha", [0.3, 0.05, 1e-3])
@pytest.mark.parametrize("n", [1, 2, 5, 17, 100])
def test_limits_of_all_thresholds_hold_together(n: int, alpha: float) -> None:
    """Exact: lower limits alone err with probability at most alpha, and so do upper limits; both together with twice that."""
    low, high = limits_of(n, alpha)
    none, all_ = np.zeros(n + 1), np.ones(n + 1)
    errs_low, errs_high = 1 - chance_that_all_hold(low, all_), 1 - chance_that_all_hold(none, high)
    assert errs_low == pytest.approx(errs_high, rel=1e-6, abs=1e-12)  # the two are mirror images
    assert errs_low <= alpha + 1e-12
    assert 1 - chance_that_all_hold(low, high) <= 2 * alpha + 1e-12
    if n == 100:
        assert errs_low > alpha / 3  # not merely valid


def test_pointwise_limits_do_not_hold_together() -> None:
    """The recursion notices limits that are too narrow: Clopper-Pearson limits at each number of hits."""
    n, alpha, hits = 60, 0.05, np.arange(61)
    low = np.where(hits > 0, betaincinv(np.maximum(hits, 1), n - hits + 1, alpha), 0.0)
    assert 1 - chance_that_all_hold(low, np.ones(n + 1)) > 4 * alpha


def test_the_recursion_agrees_with_simulation() -> None:
    n, alpha, runs = 40, 0.3, 100_000
    low, high = limits_of(n, alpha)
    ordered = np.sort(np.random.default_rng(72).random((runs, n)), axis=1)
    # The k-th smallest number is where N rises from k − 1 to k.
    holds = np.all((ordered >= low[1:]) & (ordered <= high[:-1]), axis=1)
    exact = chance_that_all_hold(low, high)
    assert abs(holds.mean() - exact) < 5.5 * math.sqrt(exact * (1 - exact) / runs)


@pytest.mark.parametrize("n", [1, 7, 300])
def test_the_likelihood_ratio_has_a_mean_of_at_most_one(n: int) -> None:
    """The mean is 1 while no alternative has reached probability 1, and below from then on."""
    hits = np.arange(n + 1.0)
    for t in (1e-7, 0.01, 0.3, 0.9, 0.999):
        ratios = log_ratio_of_hits(hits, n, np.full(n + 1, t))
        mean = np.exp(binom.logpmf(hits, n, t) + ratios).sum()
        assert mean <= 1 + 1e-9
        assert t > 1e-5 or mean == pytest.approx(1.0, rel=1e-3)


@pytest.mark.parametrize("n", [3, 40, 800])
def test_limits_rise_with_hits_and_are_nested_in_alpha(n: int) -> None:
    hits = np.arange(n + 1)
    before = lower_limits(hits, n, 0.5)
    assert np.all(np.diff(before) >= 0)
    for alpha in (0.1, 0.01, 1e-6, 1e-30, 1e-200):
        limits = lower_limits(hits, n, alpha)
        assert np.all(np.diff(limits) >= 0)
        assert np.all(limits <= before + 1e-12)
        assert np.all((limits >= 0) & (limits <= hits / n))
        before = limits


def test_a_limit_is_where_the_ratio_reaches_the_level() -> None:
    """Just below each limit, R is at least 1/alpha; a thousandth further towards the rate, it is not."""
    n, alpha = 1000, 0.01
    hits = np.array([3.0, 10, 500, 990])
    limits = lower_limits(hits, n, alpha)
    assert np.all(log_ratio_of_hits(hits, n, limits) >= math.log(1 / alpha))
    closer = limits + 1e-3 * (hits / n - limits)
    assert np.all(log_ratio_of_hits(hits, n, closer) < math.log(1 / alpha))


@pytest.mark.parametrize("n", [1_000, 500_000, 1_000_000])
def test_no_limit_is_twice_as_far_as_a_pointwise_one(n: int) -> None:
    """The band is at most twice as wide as two Clopper-Pearson limits at each threshold, even if those take all of alpha.

    The band holds at all thresholds and on both sides together, so each kind of limits has a quarter of alpha.
    """
    alpha = 0.05
    ends = np.unique(np.r_[0:50, np.geomspace(50, n / 2, 60).astype(int)])
    hits = np.unique(np.r_[ends, n - ends])
    width = upper_limits(hits, n, alpha / 4) - lower_limits(hits, n, alpha / 4)
    low = np.where(hits > 0, betaincinv(np.maximum(hits, 1), n - hits + 1, alpha / 2), 0.0)
    high = 1 - np.where(hits < n, betaincinv(np.maximum(n - hits, 1), hits + 1, alpha / 2), 0.0)
    assert np.max(width / (high - low)) < 2


SIDES = [
    ((0.5, 0.3, 0.2), (0.2, 0.3, 0.5)),
    ((0.98, 0.01, 0.01), (0.97, 0.02, 0.01)),
    ((0.0, 0.4, 0.6), (0.7, 0.3, 0.0)),
    ((1 / 3, 1 / 3, 1 / 3), (1 / 3, 1 / 3, 1 / 3)),
]


def outcomes(chances: tuple[float, ...], trials: int) -> Iterator[tuple[tuple[int, ...], float]]:
    """Yield all counts in three cells, and the probability of each."""
    for first, second in itertools.product(range(trials + 1), repeat=2):
        if first + second <= trials:
            counts = (first, second, trials - first - second)
            yield counts, float(multinomial.pmf(counts, trials, chances))


@pytest.mark.parametrize("alpha", [0.2, 0.01])
def test_all_four_kinds_of_limits_hold_together(alpha: float) -> None:
    """Exact: every output has a cell of its own between two empty ones, and the sides are independent."""
    n = 100
    cells = (0, *[1] * n, 0)
    band = CurveBand.of_cells(cells, cells, alpha)
    left = chance_that_all_hold(band.left_low[1:-1], band.left_high[1:-1])
    right = chance_that_all_hold(band.right_low[1:-1], band.right_high[1:-1])
    assert alpha / 3 < 1 - left * right <= alpha


@pytest.mark.parametrize(("left", "right"), SIDES)
@pytest.mark.parametrize("alpha", [0.4, 0.1])
def test_the_band_holds_as_often_as_it_says(left: tuple[float, ...], right: tuple[float, ...], alpha: float) -> None:
    """Exact: a sum over all counts of both sides, in three cells. All limits hold with probability at least 1 − alpha."""
    n, p, q = 9, *(np.r_[0.0, np.cumsum(side[::-1])] for side in (left, right))
    hold = [0.0, 0.0]  # the sides are independent, and each side's limits depend on its own counts
    for counts, of_left in outcomes(left, n):
        band = CurveBand.of_cells(counts, counts, alpha)
        hold[0] += of_left * bool(np.all((band.left_low <= p + 1e-12) & (p <= band.left_high + 1e-12)))
    for counts, of_right in outcomes(right, n):
        band = CurveBand.of_cells(counts, counts, alpha)
        hold[1] += of_right * bool(np.all((band.right_low <= q + 1e-12) & (q <= band.right_high + 1e-12)))
    assert 1 - hold[0] * hold[1] <= alpha


@pytest.mark.parametrize(("left", "right"), SIDES)
def test_where_the_limits_hold_so_do_all_bounds(left: tuple[float, ...], right: tuple[float, ...]) -> None:
    """The cells lie in the order of the likelihood ratio, so thresholds reach every δ: that of either direction."""
    epsilons, rng = np.array([0.0, 0.3, 1.0]), np.random.default_rng(5)
    p, q = (np.r_[0.0, np.cumsum(side[::-1])] for side in (left, right))
    deltas = np.array([max(0.0, *(p - math.exp(e) * q), *((1 - q) - math.exp(e) * (1 - p))) for e in epsilons])
    held = 0
    for _ in range(30):
        band = CurveBand.of_cells(tuple(rng.multinomial(40, left)), tuple(rng.multinomial(40, right)), 0.3)
        if all(
            np.all((low <= of + 1e-12) & (of <= high + 1e-12))
            for low, of, high in ((band.left_low, p, band.left_high), (band.right_low, q, band.right_high))
        ):
            held += 1
            assert np.all(band.deltas(epsilons) <= deltas + 1e-12)
            assert np.all(band.deltas_of_score(epsilons) >= deltas - 1e-12)
    assert held > 15


CLAIMS = [
    Tradeoff([(0, 1 - delta), (middle, middle), (1 - delta, 0)])
    for epsilon, delta in itertools.product((0.0, 0.5, 1.0, 1.5, 2.0), (0.0, 0.05, 0.3))
    for middle in [(1 - delta) / (1 + math.exp(epsilon))]
]


@pytest.mark.parametrize("claim", CLAIMS)
@pytest.mark.parametrize("counts", [((100, 200, 700), (600, 300, 100)), ((600, 300, 100), (580, 300, 120))])
def test_the_excess_is_above_zero_where_the_band_lies_below_the_curve(
    claim: Tradeoff, counts: tuple[tuple[int, ...], tuple[int, ...]]
) -> None:
    """And so it is if and only if a lower bound on δ exceeds that of a line."""
    band = CurveBand.of_cells(*counts, 0.05)
    is_below = any(missed < claim.at(wrong) - 1e-12 for wrong, missed in zip(*band.upper, strict=True))
    mirrored = any(wrong < claim.at(missed) - 1e-12 for wrong, missed in zip(*band.upper, strict=True))
    [line] = {(round(each.epsilon, 9), round(each.delta, 9)) for lines in claim.lines() for each in lines}
    exceeds = float(band.deltas(np.array([line[0]]))[0]) > line[1] + 1e-9
    assert (band.excess(claim) > 0) == (is_below or mirrored) == exceeds


def test_the_excess_is_the_value_at_which_the_claim_is_just_not_refuted() -> None:
    band = CurveBand.of_cells((100, 200, 700), (600, 300, 100), 0.05)
    for claim in (*CLAIMS, Tradeoff([(0, 1), (0.3, 0.2), (1, 0)])):
        excess = band.excess(claim)
        assert band.excess(claim.with_value(excess)) == pytest.approx(0.0, abs=1e-9)


def test_a_claim_that_holds_one_way_is_broken_both_ways_or_not_at_all() -> None:
    """The left has a part of its own, so the right against the left has small errors, and the left against the right none."""
    points = (0.0, 0.75), (0.75, 0.0)
    one_way, both = Tradeoff([*points[:1], (0.5, 0.0)], symmetric=False), Tradeoff([*points[:1], (0.5, 0.0)])
    counts = (0, 500, 500), (0, 1000, 0)
    band, turned = CurveBand.of_cells(*counts, 0.05), CurveBand.of_cells(counts[1][::-1], counts[0][::-1], 0.05)
    assert band.excess(both) > 0
    assert band.excess(one_way) == pytest.approx(turned.excess(one_way))
    steep = Tradeoff([(0, 1), (0.02, 0.55), (1, 0)], symmetric=False)
    assert CurveBand.of_cells(*counts, 0.05).excess(steep) <= CurveBand.of_cells(*counts, 0.05).excess(
        Tradeoff(steep.tradeoff)
    )


def test_the_errors_that_tests_reach_are_the_hull_of_the_upper_curve() -> None:
    band = CurveBand.of_cells((10, 100, 200, 700), (600, 200, 100, 10), 0.05)
    wrong = np.linspace(0, 1, 41)
    reached = band.least_missed(wrong)
    assert np.all(np.diff(reached) <= 1e-12)
    assert np.all(np.diff(reached, 2) >= -1e-12)
    at_points = band.least_missed(band.upper[0])
    assert np.all(at_points <= band.upper[1] + 1e-12)
    assert reached[0] <= 1
    assert reached[-1] == 0


@pytest.mark.parametrize("chance", [0.8, 0.95])
@pytest.mark.parametrize("rate", [0.002, 0.1, 0.4])
def test_a_loss_that_is_said_to_be_caught_is_caught_as_often(chance: float, rate: float) -> None:
    """400 simulated pairs of counts; a rate of at least ``chance`` falls 5 standard errors short with probability below 3e-7."""
    alpha, n, runs, rng = 0.01, 20_000, 400, np.random.default_rng(7)
    line = np.array([0.5]), np.array([0.0])
    caught = caught_excess(line, np.array([rate]), (n, n), alpha, chance)
    assert 0 < caught < 2
    claim = Tradeoff([(0, 1), (1 / (1 + math.exp(0.5)), 1 / (1 + math.exp(0.5))), (1, 0)])
    true = rate * math.exp(0.5 + caught)
    refuted = 0
    for on_left, on_right in zip(rng.binomial(n, true, runs), rng.binomial(n, rate, runs), strict=True):
        refuted += CurveBand.of_cells((n - on_left, on_left), (n - on_right, on_right), alpha).excess(claim) > 0
    assert refuted / runs > chance - 5 * math.sqrt(chance * (1 - chance) / runs)


def test_thresholds_reach_the_ends_of_each_side() -> None:
    rng = np.random.default_rng(0)
    left, right = rng.normal(1, 1, 1000), rng.normal(0, 1, 500)
    edges = choose_thresholds([left, right], 64)
    assert np.all(np.diff(edges) > 0)
    assert {left.min(), left.max(), right.min(), right.max()} <= set(edges.tolist())
    assert sum(count_cells(left, edges)) == 1000
    assert choose_thresholds([np.zeros(5), np.ones(3)], 64).tolist() == [0.0, 1.0]
    assert choose_thresholds([np.zeros(0), np.ones(3)], 64).tolist() == [1.0]


def test_nothing_counted_proves_nothing() -> None:
    nothing: list[tuple[tuple[int, ...], tuple[int, ...]]] = [((0, 0), (5, 5)), ((0, 0), (0, 0)), ((3,), (4,))]
    for left, right in nothing:
        band = CurveBand.of_cells(left, right, 0.05)
        assert float(band.deltas(np.zeros(1))[0]) == 0
        assert float(band.deltas_of_score(np.zeros(1))[0]) >= 0
        assert band.left_low[-1] == band.left_high[-1] == band.right_high[-1] == 1
        assert band.left_low[0] == band.left_high[0] == band.right_high[0] == 0


@pytest.mark.parametrize(("hits", "alpha"), [([1], 0.0), ([1], 1.0), ([1], math.nan), ([-1], 0.1), ([11], 0.1)])
def test_impossible_input_is_refused(hits: list[int], alpha: float) -> None:
    with pytest.raises(InvalidInputError, match="must"):
        lower_limits(hits, 10, alpha)
