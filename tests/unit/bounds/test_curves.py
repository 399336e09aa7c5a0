"""The band on the trade-off curve: exact coverage, by enumeration and by a recursion over order statistics.

The only random test compares the recursion with 100,000 simulated samples; it fails with probability below 1e-7 by a wrong seed.
"""

import itertools
import math
from collections.abc import Iterator

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import betaincinv, gammaln, xlog1py, xlogy
from scipy.stats import binom, multinomial

from auditor.bounds.curves import CurveBand, log_ratio_of_hits, lower_limits, upper_limits
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


def test_lines_are_exceeded_where_the_band_lies_below_the_curve() -> None:
    """The excess over a claim's lines is above 0 if and only if some point of the upper curve lies below the claim's polygon."""
    band = CurveBand.of_cells((100, 200, 700), (600, 300, 100), 0.05)
    for epsilon, delta in itertools.product((0.0, 0.5, 1.0, 1.5, 2.0), (0.0, 0.05, 0.3)):
        line = np.array([epsilon]), np.array([delta])
        none = np.zeros(0), np.zeros(0)
        wrong, missed = band.upper
        is_below = bool(np.any(missed < 1 - delta - math.exp(epsilon) * wrong))
        is_below_mirrored = bool(np.any(wrong < 1 - delta - math.exp(epsilon) * missed))
        assert (band.excess(line, none) > 0) == is_below
        assert (band.excess(none, line) > 0) == is_below_mirrored
        assert (float(band.deltas(np.array([epsilon]))[0]) > delta) == (is_below or is_below_mirrored)


def test_nothing_counted_proves_nothing() -> None:
    for counts in ((0, 0), (5, 5)), ((0, 0), (0, 0)), ((3,), (4,)):
        band = CurveBand.of_cells(*counts, 0.05)
        assert float(band.deltas(np.zeros(1))[0]) == 0
        assert float(band.deltas_of_score(np.zeros(1))[0]) >= 0
        assert band.left_low[-1] == band.left_high[-1] == band.right_high[-1] == 1
        assert band.left_low[0] == band.left_high[0] == band.right_high[0] == 0


@pytest.mark.parametrize(("hits", "alpha"), [([1], 0.0), ([1], 1.0), ([1], math.nan), ([-1], 0.1), ([11], 0.1)])
def test_impossible_input_is_refused(hits: list[int], alpha: float) -> None:
    with pytest.raises(InvalidInputError, match="must"):
        lower_limits(hits, 10, alpha)
