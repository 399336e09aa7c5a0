"""Plausible mutations of sound mechanisms: none is ever proved. `test_proving.py` proves the sound ones."""

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
BIT = Value(values=[0, 1])
FAULTY: dict[str, Faulty] = {
    "scale just too small": (lambda x, rng: [value + rng.laplace(0, 0.999999) for value in x], ONE, EPSILON),
    "exponential noise": (lambda x, rng: [x[0] + rng.exponential(1)], ONE, EPSILON),
    "gaussian noise too small": (
        lambda x, rng: [value + rng.normal(0, 1) for value in x],
        ONE,
        ZeroConcentratedDP(0.4),
    ),
    "geometric too steep": (lambda x, rng: x + (rng.geometric(0.7, 3) - rng.geometric(0.7, 3)), ONE, EPSILON),
    "noisy max too little noise": (lambda x, rng: int(np.argmax(x + rng.laplace(0, 1, 3))), COUNTS, EPSILON),
    "noisy max of two draws": (
        lambda x, rng: [int(np.argmax(x + rng.laplace(0, 2, 3))), int(np.argmax(x + rng.laplace(0, 2, 3)))],
        COUNTS,
        EPSILON,
    ),
    "too honest": (lambda bit, rng: bit ^ (rng.random() < 0.25), BIT, PureDP(1.0)),
    "impossible output": (
        lambda value, rng: value if rng.random() < 0.5 else int(rng.integers(2)),
        Value(values=[0, 1, 2]),
        PureDP(1.1),
    ),
    "data compared with a die": (lambda x, rng: bool(x[0] == rng.integers(0, 3)), ONE, EPSILON),
    "data shuffled": (lambda x, rng: list(rng.permutation(x)), ONE, EPSILON),
}


def faulty(domain: Any = COUNTS, claim: Claim = EPSILON) -> Callable[[Any], Any]:
    def note(function: Any) -> Any:
        FAULTY[function.__name__] = (function, domain, claim)
        return function

    return note


# Numbers with noise --------------------------------------------------------------------------------------------------


@faulty(ONE)
def noise_given_away(x, rng):
    noise = rng.laplace(0, 1, 3)
    return [*(x + noise), noise[0]]


# Comparisons ---------------------------------------------------------------------------------------------------------


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
def noisy_limit_released(x, rng):
    limit = 5 + rng.laplace(0, 2)
    for at, value in enumerate(x):
        if value + rng.laplace(0, 1) >= limit:
            return [at, limit]
    return None


@faulty()
def noisy_max_with_its_lead(x, rng):
    noisy = sorted(x + rng.laplace(0, 1.5, 3))
    return [noisy[2] - noisy[1], noisy[1] - noisy[0]]


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


@faulty(BIT, PureDP(1.1))
def one_coin_for_two_answers(bit, rng):
    u = rng.random()
    return [bit ^ (u < 0.25), bit ^ (u < 0.5)]


# Data that are distinguished from symbols -------------------------------------------------------------------------------


@faulty(ONE)
def symbols_treated_otherwise(x, rng):
    if x.dtype == object:
        return [x[0] + rng.laplace(0, 1)]
    return [x[0]]


@pytest.mark.parametrize("name", FAULTY)
def test_no_faulty_mechanism_is_proved(name: str) -> None:
    function, domain, claim = FAULTY[name]
    proof = prove(function, claim, domain, seconds=10)
    assert not proof.proved and proof.reason and (proof.certificate is None) == (proof.refutation is None)


def test_a_program_is_not_proved() -> None:
    from auditor.errors import MechanismError

    with pytest.raises((MechanismError, TypeError, AttributeError)):
        prove(Command(["true"]), EPSILON, Pairs([(0, 1)]))  # type: ignore[arg-type]
