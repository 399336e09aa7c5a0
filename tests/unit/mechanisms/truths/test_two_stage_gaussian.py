"""Algorithm 1 of document 004: its density against other quadratures, moments, samples, and the guarantee that is proved."""

import math

import numpy as np
import pytest
from scipy.stats import norm

from auditor.errors import InvalidInputError
from mechanisms.exact.distributions import Density
from mechanisms.exact.divergences import (
    exact_delta,
    exact_epsilon,
    exact_rho,
    renyi_divergence,
)
from mechanisms.exact.known_continuous import gaussian
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
    """Return the defining integral over t, in logarithms: sums over 2·10⁵ cells that shrink towards 0, both signs."""
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
    """Logarithms below −10²⁰, whose rounding alone is thousands of nats, are still finite numbers of that size."""
    x, sigma, r = 4e5, 0.1, 6.0
    outputs = np.array([1e19, -1e22, 1e30])
    assert two_stage_gaussian(x, sigma, r).log_density(outputs) == pytest.approx(
        -np.abs(outputs) / (r * sigma), rel=2e-3
    )
    computed = renyi_divergence(two_stage_gaussian(x, sigma, r), two_stage_gaussian(x + 1, sigma, r), 30.0)
    assert computed.value == pytest.approx(30 * (1 / (2 * r**2) + 1) / x**2, rel=1e-3)


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
        computed = renyi_divergence(left, right, order)
        assert computed.error < 1e-11
        assert abs(computed.value - fine) <= computed.error + 1e-14 / (order - 1)
    for epsilon in (0.05, 0.2):
        fine = float(np.sum(np.maximum(np.exp(p) - math.exp(epsilon) * np.exp(q), 0) * weights))
        fine = max(fine, float(np.sum(np.maximum(np.exp(q) - math.exp(epsilon) * np.exp(p), 0) * weights)))
        computed = exact_delta(left, right, epsilon)
        assert (
            abs(computed.value - fine) <= computed.error + 1e-6
        )  # at kinks the trapezoidal rule errs by its step squared
    epsilon = exact_epsilon(left, right, 1e-6)
    assert exact_delta(left, right, epsilon.value).value == pytest.approx(1e-6, rel=1e-6)


def test_impossible_parameters_are_refused() -> None:
    for arguments in ((math.nan, 1.0, 0.3), (1.0, 0.0, 0.3), (1.0, 1.0, 0.0), (1.0, 1.0, math.inf)):
        with pytest.raises(InvalidInputError):
            two_stage_gaussian(*arguments)
    assert isinstance(two_stage_gaussian(0, 1.0, 1.0), Density)


@pytest.mark.parametrize("x", [0, 5, 100, 10_000])
def test_the_second_stage_is_post_processing(x: int) -> None:
    """No divergence exceeds that of the first stage, ρ = 1/(2σ²) and δ of the Gaussian; large groups are far below it."""
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
