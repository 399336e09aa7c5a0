"""Numbers that ``auditor.exact`` does not state itself: the power of a test, and ρ; each against another way."""

import math

import numpy as np
import pytest
from scipy.special import ndtr, ndtri

from auditor.accountants.exact_numbers import exact_number
from auditor.errors import InvalidInputError
from auditor.exact import Composition, Gaussian, Laplace, Poisson, Process, RandomizedResponse, Table, renyi_interval


def sampled_power(rate: float, sigma: float, alpha: float) -> float:
    """The power of the likelihood-ratio test between N(0) and (1 − q)N(0) + qN(1), of the worse direction."""
    cut = sigma * -ndtri(alpha)  # reject above the cut
    added = (1 - rate) * alpha + rate * ndtr((1 - cut) / sigma)
    low, high = -60.0 * sigma, 60.0 * sigma  # reject N-mixture below the cut
    for _ in range(200):
        middle = (low + high) / 2
        level = (1 - rate) * ndtr(middle / sigma) + rate * ndtr((middle - 1) / sigma)
        low, high = (middle, high) if level < alpha else (low, middle)
    return max(float(added), float(ndtr(low / sigma)))


@pytest.mark.parametrize("alpha", [1e-9, 1e-6, 1e-3, 0.05, 0.5])
@pytest.mark.parametrize(("rate", "sigma"), [(0.01, 1.0), (0.3, 0.7), (0.9, 2.0)])
def test_the_power_of_sampled_noise(rate: float, sigma: float, alpha: float) -> None:
    interval = exact_number(Process(Gaussian(sigma), sampling=Poisson(rate)), "tradeoff", alpha)
    truth = sampled_power(rate, sigma, alpha)
    assert interval.low <= truth * (1 + 1e-9)
    assert interval.high >= truth * (1 - 1e-9)
    assert interval.high - interval.low <= 0.02 * interval.high


@pytest.mark.parametrize("alpha", [1e-8, 1e-3, 0.2])
def test_the_power_of_gaussian_noise_in_both_ways(alpha: float) -> None:
    """Two processes have no closed form of their own, and together the noise of one."""
    truth = float(ndtr(ndtri(alpha) + math.sqrt(2)))
    closed = exact_number(Process(Gaussian(1.0), steps=2), "tradeoff", alpha)
    assert closed.low <= truth <= closed.high
    full = Process(Gaussian(1.0), sampling=Poisson(1.0), steps=2)
    wide = exact_number(full, "tradeoff", alpha)
    assert wide.low * (1 - 1e-12) <= truth <= wide.high * (1 + 1e-12)


def test_the_power_of_a_table_is_that_of_neyman_and_pearson() -> None:
    present, absent = (0.5, 0.3, 0.2), (0.1, 0.3, 0.6)
    both = [(present, absent), (absent, present)]
    for alpha in np.linspace(0, 1, 21):
        best = 0.0
        for p, q in both:
            left, power = alpha, 0.0
            for a, b in sorted(zip(p, q, strict=True), key=lambda pair: -pair[0] / pair[1]):
                share = min(1.0, left / b)
                power, left = power + share * a, left - share * b
            best = max(best, power)
        interval = exact_number(Process(Table(present, absent)), "tradeoff", float(alpha))
        assert interval.low <= best + 1e-12
        assert interval.high >= best - 1e-12
        assert interval.high - interval.low < 0.05


@pytest.mark.parametrize(
    "process",
    [
        Process(Gaussian(2.0), steps=7),
        Process(Laplace(0.5)),
        Process(RandomizedResponse(0.75), relation="substitute", steps=3),
        Process(Gaussian(1.0), sampling=Poisson(0.1)),
        Composition((Process(Gaussian(2.0)), Process(Laplace(1.0)))),
    ],
)
def test_rho_is_at_least_the_divergences_and_at_most_what_they_allow(process: Process) -> None:
    interval = exact_number(process, "rho", None)
    orders = [1.0001, 1.05, 1.7, 2.5, 5.0, 11.0, 40.0]
    assert interval.high >= max(renyi_interval(process, order).low / order for order in orders)
    assert 0 < interval.low <= interval.high


def test_rho_of_gaussian_noise_is_half_its_square() -> None:
    interval = exact_number(Process(Gaussian(2.0), steps=8), "rho", None)
    assert interval.low <= 1.0 <= interval.high
    assert interval.high - interval.low < 1e-12


@pytest.mark.parametrize(
    ("states", "argument"), [("epsilon", None), ("tradeoff", 1.5), ("delta", None), ("noise", 1.0)]
)
def test_arguments_that_are_refused(states: str, argument: float | None) -> None:
    with pytest.raises(InvalidInputError):
        exact_number(Process(Gaussian(1.0)), states, argument)  # type: ignore[arg-type]
