"""Divergences of mass functions against brute force over every event, and predefined mass functions against their claims."""

import itertools
import math
from collections.abc import Hashable

import numpy as np
import pytest
from scipy.stats import dlaplace

from auditor.errors import InvalidInputError
from mechanisms.exact.distributions import MassFunction, Product, mixture
from mechanisms.exact.divergences import (
    exact_delta,
    exact_epsilon,
    exact_renyi,
    exact_rho,
    hockey_stick,
    max_divergence,
    renyi_curve,
    renyi_divergence,
)
from mechanisms.truths.discrete import (
    basic_rappor,
    discrete_laplace,
    discrete_laplace_totals,
    kary_randomised_response,
)

EPSILONS = [0.0, 0.1, 1.0, 2.5]


def random_masses(rng: np.random.Generator, size: int, zeros: int = 0) -> np.ndarray:
    masses = rng.dirichlet(np.full(size, 0.6))
    masses[rng.permutation(size)[:zeros]] = 0
    return masses / masses.sum()


def listed(masses: np.ndarray, missing: float = 0.0) -> MassFunction:
    return MassFunction({i: math.log(m) if m > 0 else -math.inf for i, m in enumerate(masses)}, missing)


def events(size: int) -> np.ndarray:
    return np.array(list(itertools.product([0.0, 1.0], repeat=size)))


@pytest.mark.parametrize("seed", range(5))
def test_delta_and_epsilon_agree_with_the_definition_over_every_event(seed: int) -> None:
    """δ(ε) = max_S P(S) − e^ε Q(S), and ε(δ) = max_S ln((P(S) − δ)/Q(S)), over all 2^9 events, both ways round."""
    rng = np.random.default_rng(seed)
    p, q = random_masses(rng, 9), random_masses(rng, 9)
    every = events(9)
    for epsilon in EPSILONS:
        truth = [np.max(every @ a - math.exp(epsilon) * (every @ b)) for a, b in ((p, q), (q, p))]
        assert hockey_stick(listed(p), listed(q), epsilon).value == pytest.approx(max(0, truth[0]), abs=1e-14)
        computed = exact_delta(listed(p), listed(q), epsilon)
        assert computed.proved
        assert abs(computed.value - max(0, *truth)) <= computed.error + 1e-15
        assert computed.error < 1e-13
    for delta in [0.0, 1e-6, 0.05, 0.3, 1.0]:
        with np.errstate(divide="ignore", invalid="ignore"):
            ratios = [np.log(np.maximum(every @ a - delta, 0) / (every @ b)) for a, b in ((p, q), (q, p))]
        computed = exact_epsilon(listed(p), listed(q), delta)
        assert abs(computed.value - max(0, np.nanmax(ratios))) <= computed.error
        assert computed.error < 1e-12


def test_supports_that_differ_make_epsilon_infinite_up_to_their_mass() -> None:
    p, q = listed(np.array([0.5, 0.4, 0.1])), listed(np.array([0.5, 0.5, 0.0]))
    assert exact_epsilon(p, q).value == math.inf
    assert max_divergence(q, p).value == pytest.approx(math.log(1.25))
    assert exact_epsilon(p, q, 0.0999).value == math.inf
    at_the_edge = exact_epsilon(p, q, 0.1)  # for q, event 1 against p is the remaining direction
    assert at_the_edge.value <= math.log(1.25)
    assert at_the_edge.error == math.inf  # rounding decides whether 0.1 exceeds 0.1, so the error must cover both
    assert exact_epsilon(p, q, 0.1001).value < math.log(1.25)
    assert renyi_divergence(p, q, 2.0).value == math.inf
    assert math.isfinite(renyi_divergence(q, p, 2.0).value)
    assert exact_delta(p, q, 600.0).value == pytest.approx(0.1)


def test_rho_is_the_larger_of_both_directions() -> None:
    p, q = listed(np.array([0.9, 0.1])), listed(np.array([0.5, 0.5]))
    orders = [1.5, 3.0]
    one_way, other_way = (max(renyi_divergence(*pair, a).value / a for a in orders) for pair in ((p, q), (q, p)))
    assert one_way < other_way
    assert exact_rho(p, q, orders).value == exact_rho(q, p, orders).value == other_way


def test_a_product_misses_what_any_coordinate_misses() -> None:
    part = MassFunction({0: math.log(0.5), 1: math.log(0.25)}, 0.25)
    assert MassFunction.product([part, part]).missing == pytest.approx(1 - 0.75**2)


@pytest.mark.parametrize("order", [1.0001, 1.5, 2.0, 17.0, 300.0])
@pytest.mark.parametrize("shift", [1e-5, 1e-3, 0.2, 3.0])
def test_renyi_agrees_with_its_definition(order: float, shift: float) -> None:
    """Against Σ p^α q^(1−α), in higher precision where float64 would keep few digits (α near 1, p near q)."""
    rng = np.random.default_rng(3)
    q = random_masses(rng, 12)
    p = q * np.exp(shift * rng.uniform(-1, 1, 12))
    p /= p.sum()
    wide_p, wide_q = p.astype(np.longdouble), q.astype(np.longdouble)
    wide_p, wide_q = wide_p / wide_p.sum(), wide_q / wide_q.sum()
    terms = order * np.log(wide_p) + (1 - order) * np.log(wide_q)
    truth = float((terms.max() + np.log(np.sum(np.exp(terms - terms.max())))) / (order - 1))
    computed = renyi_divergence(listed(p), listed(q), order)
    # p and q sum to 1 only up to rounding, and long doubles have 64 bits: the exact value is known to 1e-18/(α − 1).
    assert abs(computed.value - truth) <= computed.error + 4e-16 * shift + 1e-18 / (order - 1)
    assert computed.error <= 1e-11 * max(truth, 1e-3)


@pytest.mark.parametrize("seed", range(3))
def test_missing_mass_is_covered_by_the_error_wherever_it_lies(seed: int) -> None:
    """Cut the list off and place the missing mass anywhere: the full answer stays within the error."""
    rng = np.random.default_rng(seed)
    p, q = random_masses(rng, 8), random_masses(rng, 8)
    for cut in (5, 7):
        whole = (listed(p), listed(q))
        short = tuple(listed(m[:cut], 1 - m[:cut].sum()) for m in (p, q))
        for left, right in ((short[0], short[1]), (short[0], whole[1]), (whole[0], short[1])):
            for epsilon in EPSILONS:
                computed, truth = hockey_stick(left, right, epsilon), hockey_stick(*whole, epsilon)
                assert abs(computed.value - truth.value) <= computed.error
            for delta in (0.05, 0.4):
                computed, truth = exact_epsilon(left, right, delta), exact_epsilon(*whole, delta)
                assert abs(computed.value - truth.value) <= computed.error
            assert exact_epsilon(left, right).error == math.inf  # an unlisted output may have any ratio
            assert renyi_divergence(left, right, 2.0).error == math.inf
    with pytest.raises(InvalidInputError, match="sum to"):
        listed(p[:5])


def test_randomised_response_has_the_probabilities_of_the_document() -> None:
    """(1 − p) + p/k for the value itself and p/k for the others, with p = k/(k − 1 + e^ε)."""
    k, epsilon = 7, 1.3
    p = k / (k - 1 + math.exp(epsilon))
    masses = {output: math.exp(m) for output, m in kary_randomised_response(2, k, epsilon).log_masses.items()}
    assert masses == pytest.approx({output: p / k + (1 - p) * (output == 2) for output in range(k)})


def test_rappor_agrees_with_its_product_written_out() -> None:
    """Coordinates with equal sides cancel from a Product; the written-out product is summed over all 2^5 outputs."""
    left, right = basic_rappor(1, 5, 1.7), basic_rappor(4, 5, 1.7)
    whole = [MassFunction.product(list(side.coordinates)) for side in (left, right)]  # type: ignore[arg-type]
    assert len(whole[0].log_masses) == 32
    for delta in (0.0, 1e-3, 0.2):
        computed, truth = exact_epsilon(left, right, delta), exact_epsilon(*whole, delta)
        assert abs(computed.value - truth.value) <= computed.error + truth.error <= 1e-10
    assert exact_delta(left, right, 0.5).value == pytest.approx(exact_delta(*whole, 0.5).value, abs=1e-13)
    assert renyi_divergence(left, right, 4.0).value == pytest.approx(renyi_divergence(*whole, 4.0).value, abs=1e-13)


def test_discrete_laplace_agrees_with_scipy_and_its_window_loses_nothing() -> None:
    rate, low, high = 0.4, -3, 9
    masses = discrete_laplace(2, rate, (low, high)).log_masses
    inner = np.arange(low + 1, high)
    assert [math.exp(masses[i]) for i in inner] == pytest.approx(dlaplace.pmf(inner, rate, loc=2))
    assert math.exp(masses[low]) == pytest.approx(dlaplace.cdf(low, rate, loc=2))
    assert math.exp(masses[high]) == pytest.approx(dlaplace.sf(high - 1, rate, loc=2))
    narrow, wide = (0, 1), (-200, 200)
    for measure in (lambda p, q: exact_delta(p, q, 0.2), lambda p, q: renyi_divergence(p, q, 5.0)):
        short, long = (measure(*(discrete_laplace(x, rate, w) for x in (0, 1))) for w in (narrow, wide))
        assert short.value == pytest.approx(long.value, abs=1e-14)


def test_vectors_of_discrete_laplace_add_up() -> None:
    """For (1, 2) against (0, 4): |1 − 0| + |2 − 4| = 3 times ε/Δ; and δ against the written-out product."""
    windows = [(-6, 6), (-6, 6)]
    left, right = (discrete_laplace_totals(t, 3.0, 1.2, windows) for t in ((1, 2), (0, 4)))
    assert exact_epsilon(left, right).value == pytest.approx(1.2, abs=1e-12)
    whole = [MassFunction.product(list(side.coordinates)) for side in (left, right)]  # type: ignore[arg-type]
    computed, truth = exact_epsilon(left, right, 0.01), exact_epsilon(*whole, 0.01)
    assert abs(computed.value - truth.value) <= computed.error + truth.error <= 1e-10
    assert 0 < computed.value < 1.2 - 0.01


def test_mixtures_of_mass_functions_are_weighted_sums() -> None:
    rng = np.random.default_rng(5)
    p, q = random_masses(rng, 6), random_masses(rng, 6, zeros=2)
    mixed = mixture([0.3, 0.7], [listed(p), listed(q)])
    assert isinstance(mixed, MassFunction)
    assert [math.exp(mixed.log_masses[i]) for i in range(6)] == pytest.approx(0.3 * p + 0.7 * q)


@pytest.mark.parametrize(
    "masses",
    [{0: math.nan}, {0: 0.1}, {0: math.log(0.5)}, {}, {0: math.log(0.5), 1: math.log(0.6)}],
)
def test_masses_that_are_no_distribution_are_refused(masses: dict[Hashable, float]) -> None:
    with pytest.raises(InvalidInputError):
        MassFunction(masses)


def test_impossible_questions_are_refused() -> None:
    coin = MassFunction.of({0: 0.5, 1: 0.5})
    other = MassFunction.of({0: 0.25, 1: 0.75})
    for bad in (math.nan, -0.1, math.inf):
        with pytest.raises(InvalidInputError):
            exact_delta(coin, other, bad)
        with pytest.raises(InvalidInputError):
            renyi_divergence(coin, other, bad)
    for delta in (math.nan, -0.1, 1.1):
        with pytest.raises(InvalidInputError):
            exact_epsilon(coin, other, delta)
    with pytest.raises(InvalidInputError):
        renyi_divergence(coin, other, 1.0)
    with pytest.raises(InvalidInputError, match="coordinates"):
        exact_epsilon(Product((coin,)), Product((coin, other)))
    with pytest.raises(InvalidInputError, match="Product"):
        exact_epsilon(coin, Product((other,)))
    with pytest.raises(InvalidInputError):
        MassFunction.of({0: -0.5, 1: 1.5})
    with pytest.raises(InvalidInputError):
        discrete_laplace(5, 1.0, (0, 4))
    with pytest.raises(InvalidInputError):
        kary_randomised_response(3, 3, 1.0)


@pytest.mark.parametrize("seed", range(4))
def test_results_stay_within_their_error_when_masses_are_off_by_what_they_say(seed: int) -> None:
    """Log masses are moved by up to log_error in the worst direction: up where left is larger, down elsewhere."""
    rng, off = np.random.default_rng(seed), 1e-4
    true = [random_masses(rng, 6) for _ in range(2)]
    tilt = np.where(true[0] > true[1], 1.0, -1.0)
    moved = []
    for masses, sign in zip(true, (1, -1), strict=True):
        weights = masses * np.exp(sign * tilt * off / 2)
        # Normalising moves all of them by at most off/2, so that the total move is within off.
        moved.append({i: math.log(m) for i, m in enumerate(weights / weights.sum())})
    exact = [listed(masses) for masses in true]
    near = [MassFunction(masses, log_error=off) for masses in moved]
    for measure in (
        exact_epsilon,
        lambda p, q: exact_epsilon(p, q, 0.05),
        lambda p, q: hockey_stick(p, q, 0.1),
        lambda p, q: exact_renyi(p, q, 8.0),
        lambda p, q: exact_renyi(p, q, 1.01),
    ):
        truth, computed = measure(*exact), measure(*near)
        assert abs(computed.value - truth.value) <= computed.error
        assert computed.value != truth.value


@pytest.mark.parametrize("epsilon", [0.0, 0.3, 1.0, 5.0, 40.0])
@pytest.mark.parametrize("k", [2, 3, 50])
def test_randomised_response_and_rappor_lose_exactly_epsilon(epsilon: float, k: int) -> None:
    for mechanism in (kary_randomised_response, basic_rappor):
        computed = exact_epsilon(mechanism(0, k, epsilon), mechanism(k - 1, k, epsilon))
        assert computed.proved
        assert abs(computed.value - epsilon) <= computed.error < 1e-12


@pytest.mark.parametrize("rate", [0.05, 1.0, 6.0])
@pytest.mark.parametrize("shift", [1, 4])
def test_discrete_laplace_loses_exactly_rate_times_shift(rate: float, shift: int) -> None:
    window = (0, shift)
    computed = exact_epsilon(discrete_laplace(0, rate, window), discrete_laplace(shift, rate, window))
    assert abs(computed.value - rate * shift) <= computed.error < 1e-12


def test_a_curve_of_orders_is_each_order() -> None:
    left, right = kary_randomised_response(0, 3, 1.0), kary_randomised_response(1, 3, 1.0)
    curve = renyi_curve(left, right, [1.5, 4.0])
    assert curve == tuple(renyi_divergence(left, right, order) for order in (1.5, 4.0))
    assert curve[0].value < curve[1].value < 1
