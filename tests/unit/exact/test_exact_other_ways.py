"""Intervals of the sampled Gaussian, and of Laplace noise, against quadrature and a contour integral."""

import math
from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm

from auditor.exact import (
    Allocation,
    Composition,
    FixedSize,
    Gaussian,
    Laplace,
    Poisson,
    Process,
    delta_interval,
    epsilon_interval,
    renyi_interval,
)
from auditor.exact.compose import _least_of_valley, loss_quantile
from auditor.exact.laws import GaussianLaw, Law, OppositeLaw, SampledLaw
from auditor.exact.process import ProcessRelation
from benchmarks import exact as benchmark
from benchmarks._other_ways import contour_delta, gaussian_delta, recursive_delta

SETTINGS = [
    (1e-4, 1.0, 1_000, 1e-8),
    (1e-3, 0.5, 100, 1e-6),
    (0.01, 1.0, 1_000, 1e-5),
    (0.01, 4.0, 10_000, 1e-9),
    (0.05, 0.7, 40, 1e-4),
    (0.2, 2.0, 10, 1e-8),
    (0.5, 5.0, 300, 1e-3),
    (0.9, 10.0, 30, 1e-6),
]


@pytest.mark.parametrize(("rate", "sigma", "steps", "delta"), SETTINGS)
@pytest.mark.parametrize("relation", ["add", "remove"])
def test_a_contour_integral_lies_inside(
    rate: float, sigma: float, steps: int, delta: float, relation: ProcessRelation
) -> None:
    asked = Process(Gaussian(sigma), relation=relation, sampling=Poisson(rate), steps=steps)
    interval = epsilon_interval(asked, delta)
    added = relation == "add"
    if interval.low > 0:
        assert contour_delta(rate, sigma, steps, interval.low, added=added) >= delta * (1 - 1e-5)
    if interval.high > 0:
        assert contour_delta(rate, sigma, steps, interval.high, added=added) <= delta * (1 + 1e-5)
    assert interval.relative_width <= 0.01


@pytest.mark.parametrize(("rate", "sigma", "steps"), [(0.3, 0.8, 3), (0.002, 1.0, 5), (0.05, 2.0, 2), (0.7, 3.0, 4)])
def test_a_recursion_lies_inside(rate: float, sigma: float, steps: int) -> None:
    asked = Process(Gaussian(sigma), relation="remove", sampling=Poisson(rate), steps=steps)
    for share in (0.2, 0.5, 1.0):
        epsilon = share * epsilon_interval(asked, 1e-6).high
        interval = delta_interval(asked, epsilon)
        value = recursive_delta(rate, sigma, steps, epsilon)
        assert interval.low * (1 - 1e-4) <= value <= interval.high * (1 + 1e-4)


def by_quadrature(p: object, q: object, epsilon: float, points: list[float]) -> float:
    growth = math.exp(epsilon)
    value = 0.0
    for low, high in pairwise(points):
        value += quad(lambda x: max(0.0, p(x) - growth * q(x)), low, high, limit=400, epsabs=1e-14)[0]  # type: ignore[operator]
    return value


@pytest.mark.parametrize("rate", [0.01, 0.3, 1.0])
def test_a_replaced_record_under_poisson_sampling_by_quadrature(rate: float) -> None:
    def mixture(centre: float) -> object:
        return lambda x: (1 - rate) * norm.pdf(x) + rate * norm.pdf(x - centre)

    asked = Process(Gaussian(1.0), relation="substitute", sampling=Poisson(rate))
    for epsilon in (0.0, 0.1, 1.0):
        exact = by_quadrature(mixture(1.0), mixture(-1.0), epsilon, [float(x) for x in np.linspace(-10, 12, 45)])
        interval = delta_interval(asked, epsilon)
        assert interval.low <= exact * (1 + 1e-9) + 1e-13 and exact <= interval.high * (1 + 1e-9) + 1e-13
        assert interval.relative_width < 1e-6


@pytest.mark.parametrize("relation", ["add", "remove", "substitute"])
@pytest.mark.parametrize("rate", [0.1, 0.6])
def test_sampled_laplace_noise_by_quadrature(relation: ProcessRelation, rate: float) -> None:
    def density(centre: float) -> object:
        return lambda x: (1 - rate) * math.exp(-abs(x)) / 2 + rate * math.exp(-abs(x - centre)) / 2

    pairs = {"add": (0.0, 1.5), "remove": (1.5, 0.0), "substitute": (1.5, -1.5)}
    p, q = (density(centre) for centre in pairs[relation])
    asked = Process(Laplace(2.0), sensitivity=3.0, relation=relation, sampling=Poisson(rate))
    points = [-40.0, -3.0, *(float(x) for x in np.linspace(-1.5, 1.5, 25)), 3.0, 40.0]
    for epsilon in (0.0, 0.05, 0.3, 0.6):
        exact = by_quadrature(p, q, epsilon, points)
        interval = delta_interval(asked, epsilon)
        assert interval.low <= exact + 1e-9 and exact <= interval.high + 1e-9
        assert interval.high - interval.low <= 1e-9
    two = Process(Laplace(2.0), sensitivity=3.0, relation=relation, sampling=Poisson(rate), steps=2)
    single = Process(Laplace(2.0), sensitivity=3.0, relation=relation, sampling=Poisson(rate))
    assert delta_interval(two, 0.1).high >= delta_interval(single, 0.1).low


@pytest.mark.parametrize("steps", [2, 7])
def test_laplace_noise_of_several_steps_by_sampling(steps: int) -> None:
    """E_Q[(e^S − e^ε)₊] by sampling; seeded, and six standard errors, which a correct interval exceeds for less than
    1e-8 of all seeds."""
    rng = np.random.default_rng(5)
    noise = rng.laplace(0.0, 1.0, (400_000, steps))
    losses = (np.abs(noise) - np.abs(noise - 1.0)).sum(axis=1)
    for epsilon in (0.3, 1.0):
        values = np.maximum(0.0, np.exp(losses) - math.exp(epsilon))
        error = 6 * values.std() / math.sqrt(len(values))
        interval = delta_interval(Process(Laplace(1.0), steps=steps), epsilon)
        assert interval.low - error <= values.mean() <= interval.high + error
        assert interval.relative_width <= 0.01


def test_composition_of_gaussians_is_one_gaussian() -> None:
    parts = Composition((Process(Gaussian(3.0), steps=4), Process(Gaussian(1.0), sensitivity=2.0)))
    one = Process(Gaussian(1.0), sensitivity=math.sqrt(4 / 9 + 4))
    for delta in (1e-3, 1e-30):
        several, single = epsilon_interval(parts, delta), epsilon_interval(one, delta)
        assert several.low == pytest.approx(single.low, rel=1e-12)
        assert several.low <= single.high and single.low <= several.high


@pytest.mark.parametrize("relation", ["add", "remove", "add_remove", "zero_out", "substitute"])
def test_the_order_of_processes_and_the_unit_do_not_matter(relation: ProcessRelation) -> None:
    def parts(unit: float) -> list[Process]:
        first = Process(Gaussian(2.0 * unit), unit, relation, Poisson(0.1), 20)
        return [first, Process(Laplace(3.0 * unit), unit, relation, None, 5)]

    one = epsilon_interval(Composition(tuple(parts(1.0))), 1e-6)
    two = epsilon_interval(Composition(tuple(reversed(parts(7.0)))), 1e-6)
    assert one.low <= two.high and two.low <= one.high
    assert one.relative_width <= 0.01 and two.relative_width <= 0.01


def test_a_batch_of_all_and_a_rate_of_one_are_no_sampling() -> None:
    plain = epsilon_interval(Process(Gaussian(2.0), relation="substitute", steps=3), 1e-6)
    for sampling in (Poisson(1.0), FixedSize(1.0), Allocation(3, 3), Allocation(1)):
        assert epsilon_interval(Process(Gaussian(2.0), 1.0, "substitute", sampling, 3), 1e-6).low > 0
    full = epsilon_interval(Process(Gaussian(2.0), 1.0, "substitute", FixedSize(1.0), 3), 1e-6)
    assert (full.low, full.high) == (plain.low, plain.high)


def test_only_bounds_are_known_of_shuffled_batches_and_it_says_so() -> None:
    asked = Process(Gaussian(1.0), sampling=Allocation(50))
    interval = epsilon_interval(asked, 1e-5)
    assert "only bounds are known" in interval.how
    assert interval.high == pytest.approx(4.3771781) and 0 < interval.low < interval.high


def test_several_fixed_batches_are_between_one_pair_and_both() -> None:
    asked = Process(Gaussian(2.0), relation="substitute", sampling=FixedSize(0.1), steps=20)
    interval = epsilon_interval(asked, 1e-5)
    attained = epsilon_interval(Process(Gaussian(1.0), relation="remove", sampling=Poisson(0.1), steps=20), 1e-5)
    assert interval.low <= attained.high and attained.low <= interval.high
    assert "not known" in interval.how


@pytest.mark.parametrize("order", [1.05, 1.7, 2.0, 5.5, 16.0])
@pytest.mark.parametrize("relation", ["add", "remove", "substitute"])
def test_renyi_of_the_sampled_gaussian_by_quadrature(order: float, relation: ProcessRelation) -> None:
    rate, centres = 0.2, {"add": (0.0, 1.0), "remove": (1.0, 0.0), "substitute": (1.0, -1.0)}[relation]
    x = np.linspace(-14, 14 + order, 400_001)
    p, q = (np.logaddexp(math.log(1 - rate) - x**2 / 2, math.log(rate) - (x - c) ** 2 / 2) for c in centres)
    top = order * p + (1 - order) * q
    moment = float(np.exp(top).sum()) * (x[1] - x[0]) / math.sqrt(2 * math.pi)
    exact = math.log(moment) / (order - 1)
    interval = renyi_interval(Process(Gaussian(1.0), relation=relation, sampling=Poisson(rate)), order)
    assert interval.low * (1 - 1e-7) <= exact <= interval.high * (1 + 1e-7)
    assert interval.relative_width < 2e-3


def test_the_least_of_a_valley_is_the_first_of_the_least_values() -> None:
    rng = np.random.default_rng(11)
    places = np.geomspace(1e-3, 1e3, 193)
    for _ in range(300):
        centre, floor = rng.uniform(-8, 8), rng.choice([-math.inf, rng.uniform(0, 3)])

        def valley(at: np.ndarray, centre: float = centre, floor: float = floor) -> np.ndarray:
            return np.maximum((np.log(at) - centre) ** 2, floor)

        at, least = _least_of_valley(valley, places)
        assert (at, least) == (places[np.argmin(valley(places))], valley(places).min())


@pytest.mark.parametrize("mass", [1e-100, 1e-12, 0.3])
@pytest.mark.parametrize("sign", [1, -1])
def test_beyond_a_loss_quantile_lies_at_most_its_mass_and_a_little_nearer_lies_more(sign: int, mass: float) -> None:
    laws = [GaussianLaw(1e-6), GaussianLaw(40.0), SampledLaw(GaussianLaw(2.0), 1e-4), OppositeLaw("gaussian", 1.0, 0.2)]
    for law in laws:
        end = loss_quantile(law, sign, mass)
        if end in (law.low, law.high):
            continue

        def beyond(distance: float, law: Law = law) -> float:
            tails = law.tails(np.array([law.anchor + sign * distance]))
            return float((tails.p_above if sign > 0 else tails.p_below)[0])

        distance = sign * (end - law.anchor)
        assert beyond(distance) <= mass
        assert distance < 1e-11 or beyond(0.9 * distance) > mass


@pytest.mark.parametrize("mu", [0.01, 1.0, 30.0, 400.0])
@pytest.mark.parametrize("delta", [1e-3, 1e-12, 1e-30])
def test_a_closed_form_of_a_hundred_digits_lies_inside(mu: float, delta: float) -> None:
    interval = epsilon_interval(Process(Gaussian(1.0), sensitivity=mu), delta)
    assert gaussian_delta(mu, interval.low) >= delta >= gaussian_delta(mu, interval.high)
    assert interval.relative_width < 1e-10


def test_a_method_that_fails_for_a_direction_gives_the_benchmark_no_value(monkeypatch: pytest.MonkeyPatch) -> None:
    """A NaN of either direction is none of both: the other direction might be the larger one."""
    for failing in (False, True):
        monkeypatch.setattr(
            benchmark, "contour_delta", lambda *_, added, failing=failing: math.nan if added is failing else 1e-6
        )
        assert math.isnan(benchmark.other_delta((0.1, 1.0, 10, 1e-6), 1.0)[0])
        interval = epsilon_interval(benchmark.process((0.1, 1.0, 10, 1e-6)), 1e-6)
        assert benchmark.is_inside((0.1, 1.0, 10, 1e-6), interval) is None
