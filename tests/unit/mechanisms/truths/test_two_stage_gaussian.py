"""Algorithm 1 of document 004: its density against other quadratures, moments, samples, and what is proved of it."""

import itertools
import math

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import brentq
from scipy.stats import binom, norm

from auditor.errors import InvalidInputError
from mechanisms.exact.distributions import Density
from mechanisms.exact.divergences import (
    exact_delta,
    exact_epsilon,
    exact_rho,
    hockey_stick,
    renyi_curve,
    renyi_divergence,
)
from mechanisms.exact.known_continuous import gaussian
from mechanisms.exact.quadrature import Mesh, integrate, make_mesh
from mechanisms.truths.two_stage_gaussian import two_stage_gaussian

SETTINGS = [
    (0.0, 10.0, 0.3),
    (1.0, 1.0, 1.0),
    (5.0, 10.0, 0.3),
    (100.0, 10.0, 0.3),
    (10_000.0, 10.0, 0.3),
    (50.0, 1.0, 0.02),
]


def density_by_sums(y: float, x: float, sigma: float, r: float) -> float:
    """The defining integral over t, in logarithms: sums over 2·10⁵ cells that shrink towards 0, both signs."""
    u = np.linspace(-40, 40, 200_001)
    logs = []
    for sign in (1.0, -1.0):
        t = sign * np.exp(u)
        first = norm.logpdf(t, x, sigma)
        with np.errstate(over="ignore"):
            second = -(((y - t) / (r * t)) ** 2) / 2 - np.log(r * np.abs(t)) - math.log(2 * math.pi) / 2
        logs.append(first + second + u + math.log(u[1] - u[0]))
    return float(np.logaddexp.reduce(np.concatenate(logs)))


@pytest.mark.parametrize(("x", "sigma", "r"), SETTINGS)
def test_log_density_is_the_defining_integral(x: float, sigma: float, r: float) -> None:
    """Near the peak, at the pole, on the far side of 0, and so far out that the density underflows."""
    outputs = np.array(
        [x or 1.0, 0.3 * x + 2, -x - 1, 1e-9, -1e-3, 40 * (x + sigma), -3e4 * r * sigma, 1e5 * r * sigma]
    )
    computed = two_stage_gaussian(x, sigma, r).log_density(outputs)
    truth = [density_by_sums(float(y), x, sigma, r) for y in outputs]
    assert computed == pytest.approx(truth, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize(("x", "sigma", "r"), SETTINGS)
def test_probabilities_and_moments_are_those_of_the_two_stages(x: float, sigma: float, r: float) -> None:
    """E Y = x, Var Y = σ² + r²(x² + σ²), and P[Y ≤ c] = E Φ(±(c/X − 1)/r), an integral that never uses the density."""
    density = two_stage_gaussian(x, sigma, r)
    cuts = [x - 2 * r * x - sigma, 0.0, x / 2, x + r * x + 0.5]

    def parts(mesh: Mesh) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        f, y, nowhere = np.exp(mesh.left), mesh.outputs, np.zeros(1)
        return np.stack([f, f * y, f * (y - x) ** 2, *(f * (y <= cut) for cut in cuts)]), nowhere, nowhere

    mesh = make_mesh((density.log_density, density.log_density), (*density.breakpoints, *cuts))
    _, totals, errors = integrate(mesh, parts, 1e-11, 1e-11)
    variance = sigma**2 + r**2 * (x**2 + sigma**2)
    assert totals[0] == pytest.approx(1, abs=1e-11)
    assert totals[1] == pytest.approx(x, abs=1e-9 * (1 + x))
    assert totals[2] == pytest.approx(variance, rel=1e-9)

    for cut, found in zip(cuts, totals[3:], strict=True):

        def below(t: float, cut: float = cut) -> float:
            return norm.pdf(t, x, sigma) * norm.cdf(math.copysign(1, t) * (cut / t - 1) / r) if t else 0.0

        ends = sorted({x - 9 * sigma, 0.0, cut, x, x + 9 * sigma})
        truth = sum(
            quad(below, u, v, epsabs=1e-11, limit=300)[0] for u, v in itertools.pairwise(ends) if v > x - 9.1 * sigma
        )
        assert found == pytest.approx(truth, abs=1e-8)
    assert np.all(errors <= np.maximum(1e-9 * np.abs(totals), 1e-9))


@pytest.mark.parametrize(("x", "sigma", "r"), [(5.0, 10.0, 0.3), (100.0, 10.0, 0.3), (1.0, 1.0, 1.0)])
def test_samples_fall_where_the_density_says(x: float, sigma: float, r: float) -> None:
    """A million samples in 20 cells: each count within a binomial interval that errs with 1e-6/(3·20) in all."""
    rng = np.random.default_rng(20240721)
    size = 1_000_000
    first = rng.normal(x, sigma, size)
    samples = rng.normal(first, r * np.abs(first))
    edges = np.quantile(samples[:10_000], np.linspace(0.02, 0.98, 21))
    density = two_stage_gaussian(x, sigma, r)

    def by_cell(mesh: Mesh) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        inside = [(low < mesh.outputs) & (mesh.outputs <= high) for low, high in itertools.pairwise(edges)]
        nowhere = np.zeros(1)
        return np.exp(mesh.left) * np.array(inside), nowhere, nowhere

    mesh = make_mesh((density.log_density, density.log_density), (*density.breakpoints, *edges))
    _, chances, _ = integrate(mesh, by_cell, 1e-9, 1e-12)
    counts = np.histogram(samples[10_000:], edges)[0]
    error = 1e-6 / (3 * 20) / 2
    assert np.all(counts >= binom.ppf(error, size - 10_000, chances))
    assert np.all(counts <= binom.isf(error, size - 10_000, chances))


def test_a_count_that_is_huge_beside_its_noise_loses_no_digits() -> None:
    """x/σ = 10⁷, where t and x agree to seven digits: against Gauss-Hermite over the first stage, which is smooth there."""
    x, sigma, r = 1e6, 0.1, 0.3
    outputs = np.array([x, x - 400_000, x + 123_456.0])
    nodes, weights = np.polynomial.hermite_e.hermegauss(40)
    t = x + sigma * nodes
    second = [np.sum(weights * norm.pdf(y, t, r * t)) / math.sqrt(2 * math.pi) for y in outputs]
    computed = two_stage_gaussian(x, sigma, r).log_density(outputs)
    assert computed == pytest.approx(np.log(second), rel=1e-14, abs=2e-14)


def test_far_tails_neither_vanish_nor_overflow() -> None:
    """Logarithms of −10²⁰ and less, whose rounding alone is thousands of nats, are still finite numbers of that size."""
    x, sigma, r = 4e5, 0.1, 6.0
    outputs = np.array([1e19, -1e22, 1e30])
    assert two_stage_gaussian(x, sigma, r).log_density(outputs) == pytest.approx(
        -np.abs(outputs) / (r * sigma), rel=2e-3
    )
    found = renyi_divergence(two_stage_gaussian(x, sigma, r), two_stage_gaussian(x + 1, sigma, r), 30.0)
    assert found.value == pytest.approx(30 * (1 / (2 * r**2) + 1) / x**2, rel=1e-3)


def test_errors_cover_a_much_finer_computation() -> None:
    """Against the trapezoidal rule on 16,000 points of y = ±e^v."""
    x, sigma, r = 20.0, 10.0, 0.3
    left, right = two_stage_gaussian(x, sigma, r), two_stage_gaussian(x + 1, sigma, r)
    v = np.linspace(-32, 9, 8_201)
    outputs = np.concatenate([-np.exp(v), np.exp(v)])
    weights = np.abs(outputs) * (41 / 8_200)
    p, q = (side.log_density(outputs) for side in (left, right))
    for order in (1.5, 3.0, 20.0):
        fine = math.log(np.sum(np.exp(order * p + (1 - order) * q) * weights)) / (order - 1)
        found = renyi_divergence(left, right, order)
        assert found.error < 1e-11
        assert abs(found.value - fine) <= found.error + 1e-14 / (order - 1)
    for epsilon in (0.05, 0.2):
        fine = float(np.sum(np.maximum(np.exp(p) - math.exp(epsilon) * np.exp(q), 0) * weights))
        fine = max(fine, float(np.sum(np.maximum(np.exp(q) - math.exp(epsilon) * np.exp(p), 0) * weights)))
        found = exact_delta(left, right, epsilon)
        assert abs(found.value - fine) <= found.error + 1e-6  # kinks cost the trapezoidal rule its step squared
    epsilon = exact_epsilon(left, right, 1e-6)
    assert exact_delta(left, right, epsilon.value).value == pytest.approx(1e-6, rel=1e-6)


@pytest.mark.parametrize(("x", "epsilon"), [(100.0, 0.05), (5.0, 0.05), (20.0, 0.1)])
def test_delta_is_what_its_own_event_has(x: float, epsilon: float) -> None:
    """P(S) − e^ε P'(S) for the S where the loss exceeds ε: its ends by root finding, its chances without densities.

    At x = 100 a kink lies where two quadrature rules agree on a value that is wrong by 1e-9.
    """
    sigma, r = 10.0, 0.3
    left, right = two_stage_gaussian(x + 1, sigma, r), two_stage_gaussian(x, sigma, r)

    def excess(y: float) -> float:
        return float(np.subtract(*(side.log_density(np.array([y])) for side in (left, right)))[0]) - epsilon

    grid = np.linspace(-3000, 3000, 3001) + 0.123
    over = left.log_density(grid) - right.log_density(grid) > epsilon
    ends = [brentq(excess, grid[i], grid[i + 1], xtol=1e-12) for i in np.flatnonzero(over[1:] != over[:-1])]
    ends = [*([-np.inf] if over[0] else []), *ends, *([np.inf] if over[-1] else [])]

    def chance_below(cut: float, count: float) -> float:
        if math.isinf(cut):
            return float(cut > 0)
        points = sorted({count - 12 * sigma, 0.0, cut, count, count + 12 * sigma})
        points = [point for point in points if abs(point - count) <= 12 * sigma]

        def below(t: float) -> float:
            return norm.pdf(t, count, sigma) * norm.cdf(math.copysign(1, t) * (cut / t - 1) / r) if t else 0.0

        return sum(
            quad(below, *piece, epsabs=1e-14, epsrel=1e-12, limit=300)[0] for piece in itertools.pairwise(points)
        )

    chances = [
        sum(
            chance_below(high, count) - chance_below(low, count)
            for low, high in zip(ends[::2], ends[1::2], strict=True)
        )
        for count in (x + 1, x)
    ]
    found = hockey_stick(left, right, epsilon)
    assert found.error < 1e-11
    assert abs(found.value - (chances[0] - math.exp(epsilon) * chances[1])) <= found.error + 1e-12


def test_impossible_parameters_are_refused() -> None:
    for arguments in ((math.nan, 1.0, 0.3), (1.0, 0.0, 0.3), (1.0, 1.0, 0.0), (1.0, 1.0, math.inf)):
        with pytest.raises(InvalidInputError):
            two_stage_gaussian(*arguments)
    assert isinstance(two_stage_gaussian(0, 1.0, 1.0), Density)


def test_a_mirrored_count_gives_mirrored_outputs() -> None:
    outputs = np.array([-300.0, -2.0, 1e-3, 7.0, 4e4])
    mirrored = two_stage_gaussian(-12.0, 5.0, 0.4).log_density(-outputs)
    assert two_stage_gaussian(12.0, 5.0, 0.4).log_density(outputs) == pytest.approx(mirrored, rel=1e-14)


def test_the_pole_at_zero_is_logarithmic() -> None:
    """f(y) + c ln|y| tends to a constant, with c = 2 φ(x/σ)/σ · φ(1/r)/r: the density of X at 0, either side."""
    x, sigma, r = 5.0, 10.0, 0.3
    y = np.array([1e-40, 1e-20, 1e-10])
    f = np.exp(two_stage_gaussian(x, sigma, r).log_density(y))
    slope = 2 * norm.pdf(x, 0, sigma) * norm.pdf(1 / r) / r
    assert np.diff(f) / np.diff(np.log(y)) == pytest.approx(-slope, rel=1e-6)
    assert two_stage_gaussian(x, sigma, r).log_density(np.array([0.0]))[0] == np.inf


@pytest.mark.parametrize("x", [0, 5, 100, 10_000])
def test_the_second_stage_is_post_processing(x: int) -> None:
    """No divergence exceeds that of the first stage, ρ = 1/(2σ²) and δ of the Gaussian; large groups are far below."""
    sigma, orders = 10.0, [1.01, 2.0, 50.0, 400.0]
    left, right = two_stage_gaussian(x, sigma, 0.3), two_stage_gaussian(x + 1, sigma, 0.3)
    rho = exact_rho(left, right, orders)
    assert 0 < rho.value + rho.error < 1 / (2 * sigma**2)
    assert rho.error < 1e-8 * rho.value
    assert exact_delta(left, right, 0.05).value < exact_delta(gaussian(x, sigma), gaussian(x + 1, sigma), 0.05).value
    if x == 10_000:
        assert rho.value < 2e-5 / (2 * sigma**2)
        # Close to a Gaussian of standard deviation rx: ρ near 1/(2 r² x²) + 1/x², a mean and a scale that both move.
        assert renyi_divergence(left, right, 2.0).value / 2 == pytest.approx((1 / 0.3**2 / 2 + 1) / x**2, rel=0.01)


def test_high_orders_approach_half_of_rho() -> None:
    """Far out ln f ≈ −t²/σ² + xt/σ² with t² = σ|y|/r, so that f^α f'^(1−α) peaks at t = α/2, and D_α/α → ρ/2.

    What is left falls like 1/α. At α = 10⁷ the exponents are 10¹⁹, and round by hundreds of nats.
    """
    sigma, orders = 10.0, np.array([1e3, 1e4, 1e5, 1e7])
    curve = renyi_curve(two_stage_gaussian(20, sigma, 0.3), two_stage_gaussian(21, sigma, 0.3), list(orders))
    shares = 2 * sigma**2 * np.array([found.value for found in curve]) / orders
    errors = 2 * sigma**2 * np.array([found.error for found in curve]) / orders
    assert np.all(errors < 1e-7)
    rest = (shares - 0.5) * orders
    assert rest[1:] == pytest.approx(rest[2], rel=0.02)
    assert abs(shares[3] - 0.5 - rest[2] / orders[3]) <= errors[3]


def test_there_is_no_pure_epsilon() -> None:
    assert exact_epsilon(two_stage_gaussian(20, 10.0, 0.3), two_stage_gaussian(21, 10.0, 0.3)).value == math.inf
