"""Divergences of densities against closed forms: Gaussian, Laplace, uniform, and atoms beside a density."""

import math

import numpy as np
import pytest

from auditor.errors import InvalidInputError
from mechanisms.exact.distributions import Density, MassFunction, Product, Reals, mixture
from mechanisms.exact.divergences import (
    Exact,
    exact_delta,
    exact_epsilon,
    exact_renyi,
    hockey_stick,
    max_divergence,
    renyi_divergence,
)
from mechanisms.exact.known_continuous import gaussian, gaussian_delta, gaussian_epsilon, laplace
from mechanisms.truths.continuous import gaussian_totals, laplace_totals, test_then_release

# The rounding errors of the closed forms themselves, relative to their values.
ROUNDING = 1e-12


@pytest.mark.parametrize("mu", [0.01, 0.5, 1.0, 4.0])
@pytest.mark.parametrize("epsilon", [0.0, 0.3, 1.0, 5.0])
def test_gaussian_delta_by_quadrature_is_the_closed_form(mu: float, epsilon: float) -> None:
    """Δ = 3 and σ = 3/μ, away from the origin; errors must cover the remainder, and be small."""
    computed = exact_delta(gaussian(50.0, 3 / mu), gaussian(53.0, 3 / mu), epsilon)
    truth = gaussian_delta(mu, epsilon)
    assert abs(computed.value - truth) <= computed.error + ROUNDING * truth
    assert computed.error <= max(1e-10 * truth, 1e-13)
    assert not computed.proved


@pytest.mark.parametrize("delta", [0.1, 1e-3, 1e-5, 1e-12])
@pytest.mark.parametrize("mu", [0.1, 1.0, 3.0])
def test_gaussian_epsilon_by_root_finding_is_the_closed_form(mu: float, delta: float) -> None:
    computed = exact_epsilon(gaussian(0.0, 1 / mu), gaussian(1.0, 1 / mu), delta)
    truth = gaussian_epsilon(mu, delta)
    assert abs(computed.value - truth) <= computed.error + ROUNDING
    assert computed.error <= 1e-8
    # The root at −μ/2 ± …: a third computation, by the definition itself.
    assert truth == 0 or gaussian_delta(mu, truth) == pytest.approx(delta, rel=1e-8)


def test_a_delta_just_below_the_total_variation_is_not_said_to_need_nothing() -> None:
    """δ = δ(0)(1 − 5e-13) takes ε = 5e-13 δ(0)/Φ(−½), a tiny value that the error must cover if the result is 0."""
    total_variation = gaussian_delta(1.0, 0.0)
    computed = exact_epsilon(gaussian(0.0, 1.0), gaussian(1.0, 1.0), total_variation * (1 - 5e-13))
    assert abs(computed.value - 5e-13 * total_variation / 0.3085) <= computed.error < 1e-10
    assert exact_epsilon(gaussian(0.0, 1.0), gaussian(1.0, 1.0), total_variation + 1e-9) == Exact(0.0, 0.0, False)


@pytest.mark.parametrize("mu", [1e-3, 0.1, 1.0, 3.0])
@pytest.mark.parametrize("order", [1.0001, 1.5, 2.0, 30.0, 500.0])
def test_gaussian_renyi_by_quadrature_is_the_closed_form(mu: float, order: float) -> None:
    """At μ = 3, α = 500 the peak of the integrand lies 1497 standard deviations out, where densities underflow."""
    computed = renyi_divergence(gaussian(10.0, 2.0), gaussian(10.0 + 2 * mu, 2.0), order)
    truth = order * mu**2 / 2  # Mironov 2017
    assert abs(computed.value - truth) <= computed.error + ROUNDING * truth
    assert computed.error <= 1e-8 * truth


@pytest.mark.parametrize(("location", "scale"), [(1.0, 1.0), (0.2, 1.0), (300.0, 500.0), (5.0, 1.0), (1e-3, 1.0)])
def test_laplace_is_its_closed_forms(location: float, scale: float) -> None:
    """ε₀ = Δ/b; δ(ε) = 1 − e^((ε − ε₀)/2) below ε₀; the Rényi divergence of Mironov 2017, Table II."""
    left, right, pure = laplace(0.0, scale), laplace(location, scale), location / scale
    computed = exact_epsilon(left, right)
    assert abs(computed.value - pure) <= computed.error <= 1e-12 * max(1, pure)
    for share in (0.0, 0.5, 0.9, 1.0, 1.5):
        computed = exact_delta(left, right, share * pure)
        truth = max(0.0, -math.expm1((share - 1) * pure / 2))
        assert abs(computed.value - truth) <= computed.error + 1e-15
        assert computed.error <= 1e-11
    for delta in (1e-7, 1e-3):
        truth = max(0.0, pure + 2 * math.log1p(-delta))
        computed = exact_epsilon(left, right, delta)
        assert abs(computed.value - truth) <= computed.error <= 1e-9
    for order in (1.5, 2.0, 60.0):
        terms = [math.log(order / (2 * order - 1)) + (order - 1) * pure]
        terms.append(math.log((order - 1) / (2 * order - 1)) - order * pure)
        truth = float(np.logaddexp(*terms)) / (order - 1)
        computed = renyi_divergence(left, right, order)
        # For small ε₀ the closed form loses 1e-16/(α − 1) to cancellation; the quadrature does not.
        assert abs(computed.value - truth) <= computed.error + 1e-15 / (order - 1)


def test_laplace_noise_of_two_scales_is_infinite_one_way_only() -> None:
    """The wider tail against the narrower has no finite ε. The other direction has ln 2, attained at the common peak."""
    narrow, wide = laplace(0.0, 1.0), laplace(0.0, 2.0)
    assert max_divergence(wide, narrow).value == math.inf
    assert max_divergence(narrow, wide).value == pytest.approx(math.log(2), abs=1e-12)
    assert exact_epsilon(narrow, wide).value == math.inf
    # α/2 + (1 − α) < 0 from α = 2 on: the integrand e^(−|y|(α/2 + 1 − α)) grows.
    assert renyi_divergence(wide, narrow, 3.0).value == math.inf
    assert math.isfinite(renyi_divergence(wide, narrow, 1.9).value)
    # ln ½ (2^α/2)·2/(…) at α = 3: D = ln(∫ ½^3·e^(−3|y|)·4²·e^(|y|)) / 2 = ln(16/8·2/2)/2
    assert renyi_divergence(narrow, wide, 3.0).value == pytest.approx(
        math.log(2 * (1 / 2) ** 3 * (1 / 4) ** -2 / (3 - 1)) / 2, abs=1e-10
    )


def cauchy(location: float) -> Density:
    return Density(lambda y: -math.log(math.pi) - 2 * np.log(np.hypot(1.0, y - location)), (location,))


@pytest.mark.parametrize("shift", [1e-3, 0.7, 3.0, 250.0])
def test_a_largest_loss_between_nodes_is_climbed(shift: float) -> None:
    """Cauchy noise: (1 + (y − θ)²)/(1 + y²) is largest at y = (θ − √(θ² + 4))/2, and ε = 2 arsinh(θ/2)."""
    computed = exact_epsilon(cauchy(0.0), cauchy(shift))
    assert abs(computed.value - 2 * math.asinh(shift / 2)) <= computed.error
    assert computed.error <= 1e-12


@pytest.mark.parametrize("power", [0.1, 0.3, 1.0])
def test_a_largest_loss_in_the_limit_of_a_slow_tail_is_extrapolated(power: float) -> None:
    """With u = 1/(1 + |y|), f/g = c(1 − u^p/2) tends to c = 1/(1 − 1/(2(1 + p))) as y grows, by y^−p."""
    c = 1 / (1 - 0.5 / (1 + power))
    wide = Density(lambda y: -math.log(2) - 2 * np.log1p(np.abs(y)), (0.0,))
    tilted = Density(lambda y: wide.log_density(y) + np.log(c * (1 - (1 + np.abs(y)) ** -power / 2)), (0.0,))
    computed = max_divergence(tilted, wide)
    assert abs(computed.value - math.log(c)) <= computed.error
    assert computed.error < (0.2 if power == 0.1 else 1e-3)
    assert computed.value == pytest.approx(math.log(c), abs=1e-3)


def test_a_largest_loss_beside_a_jump_is_reached() -> None:
    """2(1 − y) against 1 on [0, 1]: ln 2 is approached at the edge from inside, and never attained."""

    def falling(outputs: Reals) -> Reals:
        with np.errstate(divide="ignore"):
            return np.where((outputs > 0) & (outputs < 1), np.log(2 * np.clip(1 - outputs, 0, 1)), -np.inf)

    assert max_divergence(Density(falling, (0.0, 1.0)), uniform(0.0, 1.0)).value == pytest.approx(
        math.log(2), abs=1e-15
    )


def test_a_stated_error_of_log_densities_is_carried_to_every_answer() -> None:
    """Densities that deviate from the true ones by η = 1e-7, and state this error: every result's error covers the effect.

    They deviate antisymmetrically, so their integrals do not show it.
    """
    eta = 1e-7

    def wavering(location: float) -> Density:
        exact = laplace(location, 5.0)
        return Density(lambda y: exact.log_density(y) + eta * np.sin(y - location), exact.breakpoints, log_error=eta)

    left, right = wavering(0.0), wavering(1.0)
    true = laplace(0.0, 5.0), laplace(1.0, 5.0)
    for measure in (
        exact_epsilon,
        lambda p, q: exact_epsilon(p, q, 1e-3),
        lambda p, q: exact_delta(p, q, 0.1),
        lambda p, q: renyi_divergence(p, q, 1.5),
        lambda p, q: renyi_divergence(p, q, 40.0),
    ):
        computed, truth = measure(left, right), measure(*true)
        assert eta / 1e3 < abs(computed.value - truth.value) <= computed.error < 100 * eta


def uniform(low: float, high: float) -> Density:
    def log_density(outputs: Reals) -> Reals:
        return np.where((low <= outputs) & (outputs <= high), -math.log(high - low), -np.inf)

    return Density(log_density, (low, high))


def test_supports_that_differ() -> None:
    """Uniform on [0, 1] against [0.1, 1.1]: on the other side a tenth of the mass is impossible, at any ε."""
    left, right = uniform(0.0, 1.0), uniform(0.1, 1.1)
    assert exact_epsilon(left, right).value == math.inf
    assert exact_epsilon(left, right, 0.099).value == math.inf
    assert exact_epsilon(left, right, 0.101).value == 0
    for epsilon in (0.0, 3.0):
        assert exact_delta(left, right, epsilon).value == pytest.approx(0.1, abs=1e-12)
    assert renyi_divergence(left, right, 2.0).value == math.inf
    inner = uniform(0.25, 0.75)
    assert max_divergence(inner, left).value == pytest.approx(math.log(2))
    assert exact_epsilon(inner, left).value == math.inf


def test_an_atom_beside_a_density_is_counted_with_it() -> None:
    """Refusals with ¾ and ½; releases Lap(0, 1) and Lap(½, 1). The expected values are computed by hand: the losses of
    atom and density lie apart."""
    left = test_then_release(0.25, laplace(0.0, 1.0))
    right = test_then_release(0.5, laplace(0.5, 1.0))
    assert exact_epsilon(left, right).value == pytest.approx(math.log(2) + 0.5, abs=1e-12)
    # From left to right only the refusal (loss ln 1.5) exceeds 0.3; the densities' losses are at most −ln 2 + ½ < 0.
    assert hockey_stick(left, right, 0.3).value == pytest.approx(0.75 - 0.5 * math.exp(0.3), abs=1e-13)
    # From right to left the densities' losses exceed ln 2 − ½ = 0.193: at ε = 0.4 it is ½ of δ(0.4 − ln 2) < 0 of Lap.
    shifted = 0.4 - math.log(2)
    delta = 0.5 * -math.expm1((shifted - 0.5) / 2)
    assert hockey_stick(right, left, 0.4).value == pytest.approx(delta, abs=1e-12)
    order = 2.5
    closed = [0.75**order * 0.5 ** (1 - order), 0.25**order * 0.5 ** (1 - order)]
    laplace_moment = math.exp((order - 1) * renyi_divergence(laplace(0, 1), laplace(0.5, 1), order).value)
    truth = math.log(closed[0] + closed[1] * laplace_moment) / (order - 1)
    assert renyi_divergence(left, right, order).value == pytest.approx(truth, abs=1e-12)


def test_a_release_by_accident_shows_in_delta_and_not_in_the_loss_of_the_refusal() -> None:
    """One side passes its test with probability 1e-4 and the other never: ε is infinite below δ = 1e-4, and small above."""
    left, right = test_then_release(1e-4, laplace(0.0, 1.0)), test_then_release(0.0, laplace(0.0, 1.0))
    assert isinstance(right, MassFunction)
    assert exact_epsilon(left, right).value == math.inf
    assert exact_epsilon(left, right, 0.9e-4).value == math.inf
    assert exact_epsilon(left, right, 1.1e-4).value == 0
    assert hockey_stick(left, right, 2.0).value == pytest.approx(1e-4, rel=1e-9)
    tie = exact_epsilon(left, right, 1e-4)
    assert tie.value in (0.0, math.inf) or tie.error > 1e-3


def test_mixtures_of_densities_are_weighted_sums() -> None:
    parts = [laplace(0.0, 1.0), gaussian(3.0, 0.5)]
    mixed = mixture([0.2, 0.8], parts)
    assert isinstance(mixed, Density)
    outputs = np.linspace(-40, 40, 81)
    densities = [np.exp(part.log_density(outputs)) for part in parts]
    assert np.exp(mixed.log_density(outputs)) == pytest.approx(0.2 * densities[0] + 0.8 * densities[1])
    assert exact_delta(mixed, mixture([0.2, 0.8], parts), 0.0).value == 0
    # The mixture of a side with itself equals that side.
    assert exact_delta(mixture([0.5, 0.5], [parts[0], parts[0]]), parts[0], 0.0).value == pytest.approx(0, abs=1e-13)
    # A half-and-half mixture of both sides against one side: half of the total variation.
    half = mixture([0.5, 0.5], parts)
    assert exact_delta(half, parts[1], 0.0).value == pytest.approx(exact_delta(*parts, 0.0).value / 2, abs=1e-11)


def test_independent_coordinates_add_up_and_equal_ones_cancel() -> None:
    left, right = laplace_totals([3.0, 7.0, 1.0], 2.0), laplace_totals([3.5, 7.0, 0.0], 2.0)
    assert exact_epsilon(left, right).value == pytest.approx(0.75, abs=1e-12)
    one = exact_delta(laplace(0, 2.0), laplace(1, 2.0), 0.2)
    assert exact_delta(laplace_totals([0, 5], 2.0), laplace_totals([1, 5], 2.0), 0.2) == one
    left, right = gaussian_totals([0.0, 1.0, 2.0], 4.0), gaussian_totals([3.0, 1.0, -2.0], 4.0)
    assert exact_renyi(left, right, 7.0).value == pytest.approx(7.0 * (5 / 4) ** 2 / 2, rel=1e-10)
    with pytest.raises(InvalidInputError, match="2 coordinates differ"):
        exact_delta(left, right, 1.0)
    with pytest.raises(InvalidInputError, match="2 coordinates differ"):
        exact_epsilon(left, right, 1e-5)


@pytest.mark.parametrize("points", [(), (math.nan,), (0.0, math.inf)])
def test_breakpoints_must_be_there_and_finite(points: tuple[float, ...]) -> None:
    with pytest.raises(InvalidInputError, match="breakpoints"):
        Density(laplace(0, 1).log_density, points)


def test_densities_that_are_none_are_refused() -> None:
    with pytest.raises(InvalidInputError, match="integrates to"):
        exact_delta(Density(lambda y: laplace(0, 1).log_density(y) + 0.01, (0.0,)), laplace(1, 1), 0.5)
    with pytest.raises(InvalidInputError):
        Density(laplace(0, 1).log_density, (0.0,), {None: 0.5})
    for scale in (0.0, -1.0, math.nan, math.inf):
        with pytest.raises(InvalidInputError):
            laplace(0.0, scale)
    with pytest.raises(InvalidInputError):
        mixture([0.5, 0.6], [laplace(0, 1), laplace(1, 1)])


def test_gaussian_closed_forms_at_their_known_values() -> None:
    """μ = 1: δ(0) is the total variation 2Φ(1/2) − 1; δ(1) = Φ(−1/2) − e Φ(−3/2), by tables."""
    assert gaussian_delta(1.0, 0.0) == pytest.approx(0.38292492254802624, rel=1e-14)
    assert gaussian_delta(1.0, 1.0) == pytest.approx(0.3085375387259869 - math.e * 0.06680720126885807, rel=1e-12)
    assert gaussian_delta(0.0, 1.0) == 0
    assert gaussian_epsilon(1.0, 0.5) == 0


def test_sums_of_directions_not_of_maxima() -> None:
    """For coordinates with opposite worst directions, ε is the larger sum over one direction, and not the sum of the
    larger losses."""
    skewed, fair = MassFunction.of({0: 0.9, 1: 0.1}), MassFunction.of({0: 0.5, 1: 0.5})
    one_way, other_way = math.log(1.8), math.log(5)
    computed = exact_epsilon(Product((skewed, fair)), Product((fair, skewed)))
    assert computed.value == pytest.approx(one_way + other_way)
    computed = exact_epsilon(Product((skewed, skewed)), Product((fair, fair)))
    assert computed.value == pytest.approx(2 * other_way)
