"""Forty faulty mechanisms, each a sound one with a change that is easily made: none is ever proved."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from auditor import Command, Pairs, PureDP, Totals, Value, ZeroConcentratedDP
from auditor.claims import Claim
from dp_prover import prove

COUNTS = Totals(cells=3, values=(0, 10), contribution={"linf": 1})
ONE = Totals(cells=3, values=(0, 10), contribution={"l1": 1})
EPSILON = PureDP(1.0)
Faulty = tuple[Any, Any, Claim]
FAULTY: dict[str, Faulty] = {}
SOUND: dict[str, Faulty] = {}


def faulty(domain: Any = COUNTS, claim: Claim = EPSILON) -> Callable[[Any], Any]:
    def note(function: Any) -> Any:
        FAULTY[function.__name__] = (function, domain, claim)
        return function

    return note


def sound(domain: Any = COUNTS, claim: Claim = EPSILON) -> Callable[[Any], Any]:
    def note(function: Any) -> Any:
        SOUND[function.__name__] = (function, domain, claim)
        return function

    return note


# Numbers with noise --------------------------------------------------------------------------------------------------


@sound(ONE)
def histogram(x, rng):
    return [value + rng.laplace(0, 1) for value in x]


@faulty(ONE)
def scale_halved(x, rng):
    return [value + rng.laplace(0, 0.5) for value in x]


@faulty(ONE)
def scale_just_too_small(x, rng):
    return [value + rng.laplace(0, 0.999999) for value in x]


@faulty(COUNTS)
def all_cells_move(x, rng):
    return [value + rng.laplace(0, 1) for value in x]


@faulty(ONE)
def one_noise_for_all(x, rng):
    noise = rng.laplace(0, 1)
    return [value + noise for value in x]


@faulty(ONE)
def noise_used_twice(x, rng):
    noise = rng.laplace(0, 1)
    return [x[0] + noise, x[1] - noise]


@faulty(ONE)
def noise_given_away(x, rng):
    noise = rng.laplace(0, 1, 3)
    return [*(x + noise), noise[0]]


@faulty(ONE)
def noise_given_away_rounded(x, rng):
    noise = rng.laplace(0, 1, 3)
    return [*(x + noise), np.rint(noise[0])]


@faulty(ONE)
def sign_of_noise_given_away(x, rng):
    noise = rng.laplace(0, 1)
    return [x[0] + noise, noise > 0]


@faulty(ONE)
def product_in_place_of_sum(x, rng):
    return [x[0] * rng.laplace(0, 1)]


@faulty(ONE)
def noise_times_count(x, rng):
    return [x[0] + rng.laplace(0, 1) * x[1]]


@faulty(ONE)
def scale_depends_on_data(x, rng):
    return [x[0] + rng.laplace(0, 1 + x[1])]


@faulty(ONE)
def exponential_noise(x, rng):
    return [x[0] + rng.exponential(1)]


@faulty(ONE)
def uniform_noise(x, rng):
    return [x[0] + rng.uniform(-50, 50)]


@faulty(ONE)
def gaussian_noise(x, rng):
    return [x[0] + rng.normal(0, 1)]


@faulty(ONE, ZeroConcentratedDP(0.4))
def gaussian_noise_too_small(x, rng):
    return [value + rng.normal(0, 1) for value in x]


@faulty(ONE)
def integers_rounded(x, rng):
    return [2 * np.rint(x[0] / 2) + rng.laplace(0, 1)]


@faulty(ONE)
def integers_floored(x, rng):
    return [2 * (x[0] // 2) + rng.laplace(0, 1)]


@faulty(ONE)
def square_of_data(x, rng):
    return [x[0] ** 2 + rng.laplace(0, 1)]


@faulty(ONE)
def data_weighted(x, rng):
    return [3 * x[0] + rng.laplace(0, 1)]


@faulty(ONE)
def geometric_too_steep(x, rng):
    return x + (rng.geometric(0.7, 3) - rng.geometric(0.7, 3))


@faulty(ONE)
def geometric_one_sided(x, rng):
    return x + rng.geometric(0.3, 3)


# Comparisons ---------------------------------------------------------------------------------------------------------


@sound()
def sparse_vector(x, rng):
    limit = 5 + rng.laplace(0, 2)
    for at, value in enumerate(x):
        if value + rng.laplace(0, 4) >= limit:
            return at
    return None


@faulty()
def no_noise_on_queries(x, rng):
    limit = 5 + rng.laplace(0, 2)
    return [bool(value >= limit) for value in x]


@faulty()
def no_cutoff(x, rng):
    limit = 5 + rng.laplace(0, 2)
    return [value + rng.laplace(0, 1) >= limit for value in x]


@faulty()
def scales_exchanged(x, rng):
    limit = 5 + rng.laplace(0, 4)
    for at, value in enumerate(x):
        if value + rng.laplace(0, 1) >= limit:
            return at
    return None


@faulty()
def comparison_on_raw_data(x, rng):
    if x[0] > 5:
        return "high"
    return bool(x[1] + rng.laplace(0, 4) >= 5)


@faulty()
def equality_of_raw_data(x, rng):
    return [x[0] + rng.laplace(0, 3), bool(x[0] == x[1])]


@faulty()
def early_end_on_raw_data(x, rng):
    out = []
    for value in x:
        if value == 0:
            break
        out.append(value + rng.laplace(0, 3))
    return out


@faulty()
def noisy_answer_released(x, rng):
    limit = 5 + rng.laplace(0, 2)
    for value in x:
        noisy = value + rng.laplace(0, 1)
        if noisy >= limit:
            return noisy
    return None


@faulty()
def noisy_limit_released(x, rng):
    limit = 5 + rng.laplace(0, 2)
    for at, value in enumerate(x):
        if value + rng.laplace(0, 1) >= limit:
            return [at, limit]
    return None


@sound()
def noisy_max(x, rng):
    return int(np.argmax(x + rng.laplace(0, 2, 3)))


@faulty()
def noisy_max_value(x, rng):
    return max(x + rng.laplace(0, 2, 3))


@faulty()
def noisy_max_too_little_noise(x, rng):
    return int(np.argmax(x + rng.laplace(0, 1, 3)))


@faulty()
def noisy_max_with_its_lead(x, rng):
    noisy = sorted(x + rng.laplace(0, 1.5, 3))
    return [noisy[2] - noisy[1], noisy[1] - noisy[0]]


@faulty()
def noisy_max_of_two_draws(x, rng):
    return [int(np.argmax(x + rng.laplace(0, 2, 3))), int(np.argmax(x + rng.laplace(0, 2, 3)))]


@faulty()
def conditions_made_equal(x, rng):
    first, second = rng.geometric(0.6), rng.geometric(0.6)
    return bool(first + x[0] == second + x[1])


@faulty(Totals(cells=1, values=(0, 10), contribution={"l1": 1}))
def strict_where_equal_matters(x, rng):
    noise = rng.geometric(0.5)
    return 1 if noise + x[0] > 1 else 0


@faulty(Totals(cells=1, values=(0, 10), contribution={"l1": 1}))
def sorted_data_beside_noise(x, rng):
    noise = rng.laplace(0, 1)
    return sorted([x[0] + noise, 5.0])[0] if noise > 0 else x[0]


# Coins ---------------------------------------------------------------------------------------------------------------


@sound(Value(values=[0, 1]), PureDP(1.1))
def randomised_response(bit, rng):
    return bit ^ (rng.random() < 0.25)


@faulty(Value(values=[0, 1]), PureDP(1.0))
def too_honest(bit, rng):
    return bit ^ (rng.random() < 0.25)


@faulty(Value(values=[0, 1]), PureDP(1.1))
def coin_given_away(bit, rng):
    lie = rng.random() < 0.25
    return [bit ^ lie, lie]


@faulty(Value(values=[0, 1]), PureDP(1.1))
def one_coin_for_two_answers(bit, rng):
    u = rng.random()
    return [bit ^ (u < 0.25), bit ^ (u < 0.5)]


@faulty(Value(values=[0, 1, 2]), PureDP(1.1))
def impossible_output(value, rng):
    return value if rng.random() < 0.5 else int(rng.integers(2))


@faulty(ONE)
def data_chosen_at_random(x, rng):
    return rng.choice(x)


@faulty(ONE)
def data_chosen_by_a_coin(x, rng):
    return np.where(rng.random(1) < 0.5, x[0], x[1])


@faulty(ONE)
def data_compared_with_a_die(x, rng):
    return bool(x[0] == rng.integers(0, 3))


@faulty(ONE)
def data_shuffled(x, rng):
    return list(rng.permutation(x))


@faulty(ONE)
def data_beside_a_coin(x, rng):
    return [x[0] * (rng.random() < 0.5)]


# Data that are told from symbols ---------------------------------------------------------------------------------------


@faulty(ONE)
def symbols_treated_otherwise(x, rng):
    if x.dtype == object:
        return [x[0] + rng.laplace(0, 1)]
    return [x[0]]


def test_there_are_forty_and_more() -> None:
    assert len(FAULTY) >= 40


@pytest.mark.parametrize("name", FAULTY)
def test_no_faulty_mechanism_is_proved(name: str) -> None:
    function, domain, claim = FAULTY[name]
    proof = prove(function, claim, domain, seconds=10)
    assert not proof.proved and proof.reason and proof.certificate is None


@pytest.mark.parametrize("name", SOUND)
def test_what_they_are_made_from_is_proved(name: str) -> None:
    function, domain, claim = SOUND[name]
    assert prove(function, claim, domain, seconds=10).proved


def test_a_program_is_not_proved() -> None:
    from auditor.errors import MechanismError

    with pytest.raises((MechanismError, TypeError, AttributeError)):
        prove(Command(["true"]), EPSILON, Pairs([(0, 1)]))  # type: ignore[arg-type]
