"""The study of document 004: its numbers, recomputed by independent methods."""

import itertools
import math

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.integrate import quad
from scipy.stats import norm

from mechanisms.exact.divergences import renyi_divergence
from mechanisms.group_counts import arsinh_gaussian, arsinh_guarantee
from mechanisms.truths.two_stage_gaussian import two_stage_gaussian
from studies.larger_groups import numbers as study
from studies.study import read

NUMBERS = read("larger_groups")
BEST = {entry["x"]: entry for entry in NUMBERS["best"]}


def brute_density(x: float, outputs: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the density of Y by the trapezoidal rule over the count, which is valid if 0 is 10 standard deviations away."""
    t = np.linspace(x - 9.5 * study.SIGMA, x + 9.5 * study.SIGMA, 1201)
    weights = norm.pdf(t, x, study.SIGMA) * (t[1] - t[0])
    return np.asarray(norm.pdf(outputs[:, None], t, study.R * np.abs(t)) @ weights)


def test_the_limit_is_half_of_the_first_stage_with_the_next_term_of_the_expansion() -> None:
    for data in NUMBERS["curves"]:
        assert data["up"][-1] == pytest.approx(0.5 + data["expansion"] / 2 / data["orders"][-1], abs=5e-5)
        # The expansion leaves out terms of the order of x²/α².
        left_out = max(1.0, data["x"]) ** 2 / data["orders"][-1]
        assert abs(data["rest"] - data["expansion"]) <= data["rest_error"] + left_out + 1e-3


def test_the_cut_densities_leave_out_what_was_given_up() -> None:
    for entry in NUMBERS["approximate"]:
        x, delta = entry["x"], entry["delta"]
        if x == 100:
            y = np.linspace(entry["low"], entry["high"], 6001)
            kept = float(np.sum(brute_density(x + 1, y)) * (y[1] - y[0]))
            assert 1 - kept == pytest.approx(delta, rel=1, abs=5e-8)
        assert entry["share"] <= BEST[x]["all"]["share"] + 1e-6


def test_a_pair_under_the_arsinh_mechanism_costs_no_more_than_it_promises() -> None:
    for x in [*range(200), 1000, 12_345, 10**6]:
        assert study.pair_cost(x) <= arsinh_guarantee(x + 1, study.RHO, study.R) * (1 + 1e-9)
        assert arsinh_guarantee(x + 1, study.RHO, study.R) <= arsinh_guarantee(x, study.RHO, study.R)


@pytest.mark.parametrize("x", [0.0, 3.0, 60.0, 5000.0])
def test_the_arsinh_mechanism_is_unbiased_with_the_error_that_is_stated(x: float) -> None:
    drawn = arsinh_gaussian(np.array([x]), 200_000, np.random.default_rng(1), rho=study.RHO, r=study.R)[:, 0]
    deviation = math.sqrt(x**2 * math.expm1(study.R**2) + (study.SIGMA / study.R) ** 2 * math.sinh(study.R**2))
    # Five and a half standard errors: a false failure has probability 4e-8.
    assert abs(drawn.mean() - x) < 5.5 * deviation / math.sqrt(len(drawn))
    unit = study.SIGMA / study.R

    def miss(z: float) -> float:
        y = math.exp(-(study.R**2) / 2) * unit * math.sinh(math.asinh(x / unit) + study.R * z)
        return float(norm.pdf(z)) * abs(y - x)

    assert study.arsinh_error(x) == pytest.approx(quad(miss, -9, 9, limit=400)[0], rel=1e-6)


def test_every_sampled_bound_lies_below_the_truth() -> None:
    for entry in [*NUMBERS["audits"], *NUMBERS["arsinh_audits"]]:
        assert entry["bound"] <= entry["exact"] <= entry["claimed"]
        assert entry["verdict"] == "no_violation_found"


@pytest.mark.parametrize("at", [0, 20])
def test_renyi_divergences_are_those_of_a_plain_sum(at: int) -> None:
    data = next(curve for curve in NUMBERS["curves"] if curve["x"] == 100)
    y = np.linspace(-250, 900, 2301)
    more, fewer = brute_density(101, y), brute_density(100, y)
    order = data["orders"][at]
    for name, left, right in (("up", more, fewer), ("down", fewer, more)):
        moment = float(np.sum(right * (left / right) ** order) * (y[1] - y[0]))
        share = math.log(moment) / (order - 1) / order / NUMBERS["rho"]
        assert share == pytest.approx(data[name][at], rel=1e-5)


def test_where_both_stages_add_as_much_noise_no_order_costs_more_than_half() -> None:
    """Theorem 2: x + 1/2 = σ/r."""
    more, fewer = (two_stage_gaussian(x, study.SIGMA, study.SIGMA / 33.5) for x in (34, 33))
    for left, right, least in ((more, fewer, 0.45), (fewer, more, 0.3)):
        for order in (1.1, 8.0, 64.0):
            computed = renyi_divergence(left, right, order)
            assert least < computed.value / order / study.RHO < 0.5 + computed.error


def test_guarantees_fall_with_the_group_and_rise_with_the_orders() -> None:
    shares = [entry["all"]["share"] for entry in NUMBERS["best"]]
    assert shares == sorted(shares, reverse=True)
    for entry in BEST.values():
        assert 0.5 <= entry["all"]["share"] < 1
        by_cap = [entry[kind]["share"] for kind in ("2", "8", "64", "all")]
        # Up to the spacing of the orders.
        assert all(less <= more * (1 + 1e-5) for less, more in itertools.pairwise(by_cap))


def test_large_groups_have_the_guarantee_of_gaussians_in_proportion_at_moderate_orders() -> None:
    """D₂ between N(x + 1, r²(x + 1)²) and N(x, r²x²), the limit of Algorithm 1 for σ → 0."""
    x, r = 10_000.0, study.R
    p, q = (r * (x + 1)) ** 2, (r * x) ** 2
    mixed = 2 * q - p  # the variance of p²/q
    divergence = 1 / mixed + math.log(q / math.sqrt(p * mixed))
    reverse = 2 * p - q
    other = 1 / reverse + math.log(p / math.sqrt(q * reverse))
    assert BEST[10_000]["2"]["share"] == pytest.approx(max(divergence, other) / 2 / NUMBERS["rho"], rel=1e-3)


def test_the_error_of_algorithm_1_is_that_of_its_outputs() -> None:
    for x in (20.0, 300.0):
        rng = np.random.default_rng(2)
        drawn = study.algorithm_1(np.array([x]), 400_000, rng, rho=study.RHO, r=study.R)[:, 0]
        misses = np.abs(drawn - x)
        assert abs(misses.mean() - study.algorithm_1_error(x)) < 5.5 * misses.std() / math.sqrt(len(misses))


def test_no_choice_of_the_lower_bound_beats_the_stretched_gaussian() -> None:
    for entry in NUMBERS["lower"]:
        assert 0 < entry["needed"] < entry["reached"]
        stretch, cut = 30.0, 6.0
        distance = 1 - entry["r"] / cut - entry["r"] * (1 + stretch) / (stretch - cut)
        one = max(0.0, distance) ** 2 * 2 / math.log1p(stretch) ** 2
        assert entry["needed"] >= one * (1 - 1e-9)
        # The relative error that the scale uses: E|e^(sN − s²/2) − 1| = r.
        s = entry["scale"]
        spent = quad(lambda z, s=s: norm.pdf(z) * abs(math.exp(s * z - s * s / 2) - 1), -9, 9, points=[s / 2])[0]
        assert spent == pytest.approx(entry["r"], rel=1e-6)
