"""Noisy maxima: closed forms for two answers, other quadratures for more, and where the loss is infinite."""

import itertools
import math

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import expon, laplace

from auditor.errors import InvalidInputError
from mechanisms.exact.divergences import exact_epsilon, max_divergence
from mechanisms.exact.known_continuous import gaussian
from mechanisms.truths.noise import Exponential, Laplace
from mechanisms.truths.noisy_max import noisy_max_index, noisy_max_value

NOISES = [(Laplace, laplace), (Exponential, expon)]
TOTALS = [[0.0, 1.0, 1.0, -3.0], [2.0, 2.0, 2.0, 2.0], [-10.0, 10.0, 9.5, 0.0]]


@pytest.mark.parametrize("distance", [0.0, 0.3, 2.0, 25.0])
@pytest.mark.parametrize("scale", [0.5, 20.0])
def test_of_two_answers_the_lower_one_wins_as_often_as_the_closed_forms_say(distance: float, scale: float) -> None:
    """P[d + noise < noise'] is e^(−d)(1 + d/2)/2 for Laplace noise and e^(−d)/2 for exponential noise, d in scales."""
    d = distance / scale
    truths = {Laplace: math.exp(-d) * (1 + d / 2) / 2, Exponential: math.exp(-d) / 2}
    for noise, truth in truths.items():
        computed = noisy_max_index([distance, 0.0], noise(scale))
        assert computed.log_error < 1e-12
        assert abs(computed.log_masses[1] - math.log(truth)) <= computed.log_error


@pytest.mark.parametrize(("noise", "law"), NOISES)
@pytest.mark.parametrize("totals", TOTALS)
def test_indices_and_values_agree_with_another_quadrature(noise: type[Laplace], law: type, totals: list[float]) -> None:
    scale = 2.0
    masses = noisy_max_index(totals, noise(scale))
    density = noisy_max_value(totals, noise(scale))
    for i, total in enumerate(totals):
        others = [a for j, a in enumerate(totals) if j != i]

        def wins(y: float, own: float = total, others: list[float] = others) -> float:
            return float(law.pdf(y, own, scale) * np.prod([law.cdf(y, other, scale) for other in others]))

        low = max(totals) if law is expon else -60.0
        points = sorted({a for a in totals if low < a < 100})
        truth = quad(wins, low, 100, points=points or None, limit=400, epsabs=1e-14)[0]
        assert math.exp(masses.log_masses[i]) == pytest.approx(truth, rel=1e-8, abs=1e-12)
    # The distribution function of the value is a product that the density does not use.
    cuts = np.linspace(max(totals) - (0 if law is expon else 6), max(totals) + 6, 9)
    for low, high in itertools.pairwise(cuts):
        inside = [a for a in totals if low < a < high]
        computed = quad(
            lambda y: float(np.exp(density.log_density(np.array([y]))[0])), low, high, points=inside or None
        )[0]
        ends = [float(np.prod([law.cdf(y, a, scale) for a in totals])) for y in (low, high)]
        assert computed == pytest.approx(ends[1] - ends[0], rel=1e-8, abs=1e-12)


def test_a_loss_that_grows_towards_the_largest_answer_is_infinite() -> None:
    """Near the start a, densities fall to 0 like (y − a)^(m − 1) if m answers share the maximum."""
    noise = Exponential(20.0)
    five, one = noisy_max_value([1.0] * 5, noise), noisy_max_value([1.0, 0.0, 0.0, 0.0, 0.0], noise)
    assert max_divergence(one, five).value == math.inf
    # In the other direction the loss is largest far out, where it is ln of the ratio of Σ e^a: ln(5e/(e + 4)) for a/b.
    a = math.exp(1 / 20)
    assert max_divergence(five, one).value == pytest.approx(math.log(5 * a / (a + 4)), rel=1e-6)


def test_no_loss_that_merely_moves_beside_a_breakpoint_is_taken_for_infinite() -> None:
    ends = exact_epsilon(noisy_max_value([0.0, 3.0], Exponential(1.0)), noisy_max_value([1.0, 3.0], Exponential(1.0)))
    assert math.isfinite(ends.value)
    assert exact_epsilon(gaussian(0.0, 1.0), gaussian(1e-3, 1.0)).value == math.inf  # in the tail, as expected


@pytest.mark.parametrize("noise", [Laplace, Exponential])
@pytest.mark.parametrize("scale", [0.0, -1.0, math.nan, math.inf])
def test_noise_has_a_scale(noise: type[Laplace], scale: float) -> None:
    with pytest.raises(InvalidInputError, match="scale"):
        noise(scale)
