"""What a claim may contain, and how an invalid one is reported."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditor.claims import (
    ApproximateDP,
    Claim,
    GaussianDP,
    Monotone,
    Probability,
    PureDP,
    RenyiDP,
    Sensitivity,
    ZeroConcentratedDP,
    claim_from_dict,
)
from auditor.errors import AuditorError, InvalidInputError, did_you_mean, require_number

# A configuration, its claim, and the quantity and value with which an audit compares its bound.
FORMS: list[tuple[dict[str, Any], Claim, str, float]] = [
    ({"epsilon": 1}, PureDP(1), "epsilon", 1.0),
    ({"epsilon": 0.5, "delta": 1e-5}, ApproximateDP(0.5, 1e-5), "epsilon", 0.5),
    ({"order": 2, "epsilon": 0.5}, RenyiDP(2, 0.5), "epsilon", 0.5),
    ({"rho": 0.1}, ZeroConcentratedDP(0.1), "rho", 0.1),
    ({"mu": 0.7}, GaussianDP(0.7), "mu", 0.7),
    ({"sensitivity": 3}, Sensitivity(3), "sensitivity", 3.0),
    ({"sensitivity": 3, "norm": "l2"}, Sensitivity(3, "l2"), "sensitivity", 3.0),
    ({"monotone": True}, Monotone(), "decrease", 0.0),
    ({"probability": 0.2, "at_most": True}, Probability(0.2, at_most=True), "probability", 0.2),
    ({"probability": 0.2, "at_least": True}, Probability(0.2, at_least=True), "probability", 0.2),
]
IDS = [type(claim).__name__ for _, claim, _, _ in FORMS]
NUMBERS = [(form, key) for form, *_ in FORMS for key in form if type(form[key]) in (int, float)]


@pytest.mark.parametrize(("form", "claim", "quantity", "value"), FORMS, ids=IDS)
def test_a_claim_is_made_of_its_keys_and_goes_back_to_them(
    form: dict[str, Any], claim: Claim, quantity: str, value: float
) -> None:
    assert claim_from_dict(form) == claim
    assert claim.to_dict() == form
    assert (claim.quantity, claim.value) == (quantity, value)


@pytest.mark.parametrize(("form", "claim", "quantity", "value"), FORMS, ids=IDS)
def test_a_claim_cannot_be_changed(form: dict[str, Any], claim: Claim, quantity: str, value: float) -> None:
    with pytest.raises((AttributeError, TypeError)):
        setattr(claim, next(iter(form)), 5.0)


@pytest.mark.parametrize("bad", [-1, -1e-300, math.nan, math.inf, -math.inf, "one", None, True, [1], 10**400])
@pytest.mark.parametrize(("form", "key"), NUMBERS, ids=[f"{'-'.join(form)}-{key}" for form, key in NUMBERS])
def test_a_number_out_of_its_range_is_told_with_name_and_value(form: dict[str, Any], key: str, bad: object) -> None:
    with pytest.raises(InvalidInputError) as caught:
        claim_from_dict({**form, key: bad})
    assert f"{key} is {bad!r}; it must be a finite number" in str(caught.value)


@pytest.mark.parametrize(
    "form", [{"epsilon": 1, "delta": 1}, {"epsilon": 1, "delta": 1.5}, {"probability": 1.01, "at_most": True}]
)
def test_a_probability_above_one_and_a_delta_of_one_are_refused(form: dict[str, Any]) -> None:
    with pytest.raises(InvalidInputError, match=r"at most 1|below 1"):
        claim_from_dict(form)


def test_the_ends_of_each_range_are_allowed() -> None:
    assert PureDP(0).value == 0.0
    assert ApproximateDP(0, 0).delta == 0.0
    with pytest.raises(InvalidInputError, match="order is 1; it must be a finite number above 1"):
        RenyiDP(1, 1)


def test_an_unknown_key_is_told_with_the_nearest_known_one() -> None:
    with pytest.raises(InvalidInputError, match='unknown key "epsilom"; did you mean "epsilon"'):
        claim_from_dict({"epsilom": 1})


@pytest.mark.parametrize("form", [{}, {"delta": 1e-5}, {"epsilon": 1, "rho": 1}, {"at_most": True}])
def test_keys_that_make_no_claim_together_are_told_with_those_that_do(form: dict[str, Any]) -> None:
    with pytest.raises(InvalidInputError, match="epsilon, delta"):
        claim_from_dict(form)


@pytest.mark.parametrize("sides", [{}, {"at_most": True, "at_least": True}, {"at_most": 1}])
def test_a_probability_claim_has_exactly_one_side(sides: dict[str, Any]) -> None:
    with pytest.raises(InvalidInputError, match="at_most: true and at_least: true"):
        Probability(0.5, **sides)


def test_a_norm_is_one_of_three_and_l1_is_the_strictest() -> None:
    with pytest.raises(InvalidInputError, match='norm is "l3"; allowed: l1, l2, linf'):
        claim_from_dict({"sensitivity": 1, "norm": "l3"})
    assert claim_from_dict({"sensitivity": 1, "norm": "l1"}) == Sensitivity(1)
    assert str(Sensitivity(1, "linf")) == "sensitivity 1 in L∞"
    assert Sensitivity(1).implies(Sensitivity(1, "l2"))
    assert Sensitivity(1, "l2").implies(Sensitivity(2, "linf"))
    assert not Sensitivity(1, "l2").implies(Sensitivity(1))
    assert not Sensitivity(2).implies(Sensitivity(1, "linf"))


def test_a_claim_of_no_monotony_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="monotone is False"):
        claim_from_dict({"monotone": False})


@pytest.mark.parametrize(("form", "claim", "quantity", "value"), FORMS, ids=IDS)
def test_a_claim_is_said_in_a_few_words(form: dict[str, Any], claim: Claim, quantity: str, value: float) -> None:
    words = str(claim)
    assert "(" not in words, "the dataclass's own repr"
    assert all(f"{number:g}" in words for number in form.values() if type(number) in (int, float))


NUMBERS_OF_ALL_KINDS = st.floats() | st.integers(-(2**53), 2**53)


@given(NUMBERS_OF_ALL_KINDS, st.floats(allow_nan=False), st.booleans())
def test_a_number_is_accepted_exactly_when_it_lies_in_its_range(value: float, low: float, low_open: bool) -> None:
    inside = math.isfinite(value) and (value > low if low_open else value >= low)
    try:
        number = require_number("x", value, low, math.inf, low_open=low_open)
    except InvalidInputError:
        assert not inside
    else:
        assert inside
        assert (type(number), number) == (float, value)


def test_a_number_of_another_library_is_told_to_be_converted() -> None:
    with pytest.raises(InvalidInputError, match=r"epsilon is np.float32\(1.0\); .*; write float\(…\)"):
        PureDP(np.float32(1))


def test_every_error_of_the_package_can_be_caught_by_one_name() -> None:
    from auditor import errors

    kinds = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, Exception)]
    assert len(kinds) >= 3
    assert all(issubclass(kind, AuditorError) for kind in kinds)
    assert issubclass(InvalidInputError, ValueError)


def test_names_are_suggested_only_where_one_is_near() -> None:
    assert did_you_mean("sampels", ["samples", "seed"]) == 'did you mean "samples"? Allowed: samples, seed'
    assert did_you_mean("qqq", ["samples", "seed"]) == "allowed: samples, seed"
