"""Corner cases in which an interval was once wide, invalid or never finished, each found by random processes."""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.special import log_ndtr

from auditor.errors import InvalidInputError
from auditor.exact import (
    Composition,
    DiscreteGaussian,
    DiscreteLaplace,
    ExponentialMechanism,
    FixedSize,
    Gaussian,
    Laplace,
    Poisson,
    Process,
    RandomizedResponse,
    Table,
    delta_interval,
    epsilon_interval,
    mu_interval,
    renyi_interval,
)


@pytest.mark.parametrize("mu", [31.4, 45.2, 63.8, 98.7])
@pytest.mark.parametrize("delta", [1e-4, 1e-13, 1e-58])
def test_a_large_mu_has_an_end(mu: float, delta: float) -> None:
    interval = epsilon_interval(Process(Gaussian(1.0), mu), delta)
    assert interval.relative_width < 1e-10
    for epsilon in (interval.low, interval.high):
        above, below = (float(log_ndtr(sign * mu / 2 - epsilon / mu)) for sign in (1, -1))
        assert above + math.log(-math.expm1(epsilon + below - above)) == pytest.approx(math.log(delta), abs=1e-8)


@pytest.mark.parametrize("rate", [0.9268, 0.9945, 0.99999])
def test_a_rate_near_one_is_narrow(rate: float) -> None:
    asked = Process(Gaussian(16.53), sampling=Poisson(rate), steps=1_908)
    interval = epsilon_interval(asked, 5.1e-9)
    assert interval.relative_width <= 0.01
    assert interval.high <= epsilon_interval(Process(Gaussian(16.53), steps=1_908), 5.1e-9).high * 1.001


def test_an_atom_just_above_the_least_loss_is_not_moved_far() -> None:
    asked = Process(Laplace(0.11468), 2.0, "remove", Poisson(0.00446), 17)
    assert epsilon_interval(asked, 5.9e-9).relative_width <= 0.01


def test_a_sum_with_few_values_needs_no_window() -> None:
    """After eight steps, δ near the largest loss is the probability that all steps have it."""
    asked = Process(DiscreteLaplace(0.4946), 2.0, steps=8)
    top = 2 / 0.4946
    k = np.arange(-400, 401)
    weights = np.exp(-np.abs(k) / 0.4946)
    share = float(weights[k >= 0].sum() / weights.sum())
    for below in (1e-3, 0.1, 1.0):
        exact = share**8 * -math.expm1(-below)
        interval = delta_interval(asked, 8 * top - below)
        assert interval.low <= exact * (1 + 1e-9) and exact <= interval.high * (1 + 1e-9)
        assert interval.relative_width < 1e-4


def test_what_neither_side_has_is_no_output() -> None:
    with_zeros = Process(Table((0.5, 0.5, 0.0), (0.25, 0.75, 0.0)), steps=3)
    without = Process(Table((0.5, 0.5), (0.25, 0.75)), steps=3)
    assert delta_interval(with_zeros, 0.2) == delta_interval(without, 0.2)


@pytest.mark.parametrize("steps", [1, 5])
def test_answers_that_are_always_true_reveal_all(steps: int) -> None:
    asked = Process(RandomizedResponse(1.0, 3), relation="substitute", steps=steps)
    assert epsilon_interval(asked, 0.5).low == math.inf
    assert delta_interval(asked, 3.0).high == 1.0 and delta_interval(asked, 3.0).low > 1 - 1e-11
    assert renyi_interval(asked, 2.0).low == mu_interval(asked).low == math.inf
    both = Composition((asked, Process(Laplace(1.0), relation="substitute", steps=2)))
    assert epsilon_interval(both, 0.5).low == math.inf


@pytest.mark.parametrize("steps", [1, 5])
def test_outputs_that_do_not_depend_on_the_record_spend_nothing(steps: int) -> None:
    for noise in (Table((0.5, 0.5), (0.5, 0.5)), Table((1.0,), (1.0,))):
        asked = Process(noise, steps=steps)
        assert epsilon_interval(asked, 1e-6).high == 0.0
        assert delta_interval(asked, 0.0).high < 1e-9
    asked = Process(RandomizedResponse(0.25, 4), relation="substitute", steps=steps)
    assert epsilon_interval(asked, 1e-6).high == 0.0


def test_a_delta_of_nothing_is_said_to_be_nothing() -> None:
    interval = delta_interval(Process(Gaussian(60.0), sampling=Poisson(0.6), steps=23), 16.7)
    assert interval.low == 0.0 and interval.high < 1e-80
    rare = Process(Gaussian(4.773), relation="remove", sampling=Poisson(0.00421), steps=183)
    assert delta_interval(rare, 0.959).high < 1e-80


def test_a_delta_near_one_is_narrow() -> None:
    asked = Process(Laplace(0.5), relation="remove", sampling=Poisson(0.9), steps=2_000)
    interval = delta_interval(asked, 0.01)
    assert interval.low > 0.98 and interval.high <= 1.0


@pytest.mark.parametrize("noise", [Gaussian(2.0), Laplace(2.0)])
def test_two_single_batches_are_two_steps(noise: Gaussian | Laplace) -> None:
    """A single batch has a worst pair. For two, in two processes or in one, only bounds are known."""
    single = Process(noise, relation="substitute", sampling=FixedSize(0.2))
    both, steps = Composition((single, single)), Process(noise, 1.0, "substitute", FixedSize(0.2), 2)
    assert epsilon_interval(both, 1e-3) == epsilon_interval(steps, 1e-3)
    assert "not known" in epsilon_interval(both, 1e-3).how


def test_two_single_choices_are_two_steps() -> None:
    single = Process(ExponentialMechanism(0.5))
    both = delta_interval(Composition((single, single)), 0.4)
    steps = delta_interval(Process(ExponentialMechanism(0.5), steps=2), 0.4)
    assert (both.low, both.high) == pytest.approx((steps.low, steps.high), rel=1e-6)
    assert "only bounds" in both.how
    # Both choices have one gap of utilities, by enumeration: no interval may begin above what is attained.
    worst = 0.0
    for gap in np.linspace(-4, 4, 401):
        p, q = 1 / (1 + math.exp(-gap - 1)), 1 / (1 + math.exp(-gap))
        joint = zip(
            np.multiply.outer((p, 1 - p), (p, 1 - p)).flat, np.multiply.outer((q, 1 - q), (q, 1 - q)).flat, strict=True
        )
        worst = max(worst, sum(max(0.0, a - math.exp(0.4) * b) for a, b in joint))
    assert both.low <= worst + 1e-9 <= both.high + 2e-9


def test_sampled_choices_are_composed_in_one_direction() -> None:
    """The lower end is attained, since the choice has the same direction as the other process."""
    noise = Process(Laplace(3.0), sampling=Poisson(0.3), steps=3)
    choice = Process(ExponentialMechanism(0.4), sampling=Poisson(0.3), steps=2)
    highs = []
    for relation in ("add", "remove"):
        parts = [replace(part, relation=relation) for part in (noise, choice)]
        highs.append(delta_interval(Composition(tuple(parts)), 0.3).high)
    assert delta_interval(Composition((noise, choice)), 0.3).low <= max(highs)


@pytest.mark.parametrize(
    "make",
    [
        lambda: Process(DiscreteLaplace(0.001)),
        lambda: Process(DiscreteLaplace(1e-50)),
        lambda: Process(DiscreteLaplace(1.0), 800),
        lambda: Process(DiscreteLaplace(0.001), relation="substitute", sampling=Poisson(0.5)),
        lambda: Process(DiscreteGaussian(0.01)),
        lambda: Process(DiscreteGaussian(1.0), 60, sampling=Poisson(0.5), steps=3),
        lambda: Process(DiscreteGaussian(2.0), 100, "substitute"),
    ],
)
def test_integer_noise_that_hardly_reaches_its_neighbour_has_no_interval(make: Callable[[], Process]) -> None:
    """δ at ε = 1 is about the sampling rate, but was computed as 0: the outputs of one side underflow on the other."""
    process = make()
    for interval in (delta_interval, epsilon_interval):
        with pytest.raises(InvalidInputError, match=r"integer noise of scale .* hardly reaches"):
            interval(process, 0.3)


@pytest.mark.parametrize("noise", [Gaussian, Laplace, DiscreteGaussian, DiscreteLaplace, ExponentialMechanism])
@pytest.mark.parametrize("number", [1e-300, 1e300])
def test_numbers_whose_squares_underflow_or_overflow_are_refused(noise: Callable[[float], Any], number: float) -> None:
    with pytest.raises(InvalidInputError, match=r"at least 1e-50 and at most"):
        noise(number)
    with pytest.raises(InvalidInputError, match=r"sensitivity is .*at least 1e-50 and at most"):
        Process(Gaussian(1.0), number)
