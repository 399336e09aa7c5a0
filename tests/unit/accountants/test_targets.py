"""What an accountant must say of itself, and which settings are tried."""

import math
from typing import Any

import numpy as np
import pytest

from auditor.accountants import Accountant, Range, audit_accountant
from auditor.accountants.points import Points, complexity, special_values
from auditor.errors import InvalidInputError, MechanismError

GAUSSIAN = {"noise": "gaussian", "scale": "sigma"}
GOOD: dict[str, Any] = {
    "name": "one",
    "states": "epsilon",
    "stated": lambda sigma, delta: 1e9,
    "process": GAUSSIAN,
    "parameters": {"sigma": Range(0.1, 1.0), "delta": 1e-5},
}


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"states": "epsilom"}, 'did you mean "epsilon"'),
        ({"parameters": {}}, "parameters is"),
        ({"parameters": {"sigma": []}}, "sigma is"),
        ({"parameters": {"sigma": [1.0, [2.0]]}}, "has the choice"),
        ({"parameters": {"two words": 1.0}}, "two words"),
        ({"parameters": {"sigma": math.nan, "delta": 0.0}}, "sigma is NaN"),
        ({"stated": 3}, "stated is 3"),
        ({"process": 3}, "process is 3"),
        ({"process": []}, "process is an empty list"),
        ({"process": {"nois": "gaussian"}}, 'did you mean "noise"'),
        ({"process": {"noise": "gaussian", "scale": "sigm"}}, 'did you mean "sigma"'),
        ({"states": "noise", "parameters": {"sigma": 1.0}}, "name no target"),
        ({"states": "noise", "parameters": {"scale": 1.0, "epsilon": 1.0}}, "scale is the noise"),
    ],
)
def test_what_is_refused(changed: dict[str, Any], why: str) -> None:
    with pytest.raises(InvalidInputError, match=why):
        Accountant(**{**GOOD, **changed})


@pytest.mark.parametrize(
    ("range_of", "why"),
    [((2.0, 1.0), "low must be at most high"), ((math.nan, 1.0), "low is"), ((-1.0, 1.0, True), "at least 0")],
)
def test_ranges_that_are_refused(range_of: Any, why: str) -> None:
    with pytest.raises(InvalidInputError, match=why):
        Range(*range_of)
    with pytest.raises(InvalidInputError, match="both must be integers"):
        Range(0.5, 2, integer=True)


@pytest.mark.parametrize(
    ("keywords", "why"),
    [
        ({"points": 0}, "points is 0"),
        ({"seed": -1}, "seed is -1"),
        ({"seconds": 0.0}, "seconds is"),
        ({"tolerance": 1.0}, "tolerance is"),
        ({"expect": "measured"}, "expect is"),
    ],
)
def test_keywords_that_are_refused(keywords: dict[str, Any], why: str) -> None:
    with pytest.raises(InvalidInputError, match=why):
        audit_accountant(Accountant(**GOOD), isolate=False, **keywords)


def test_a_parameter_that_nothing_accepts_is_refused() -> None:
    asked = Accountant(**{**GOOD, "parameters": {**GOOD["parameters"], "sigmma": 1.0}})
    with pytest.raises(InvalidInputError, match="neither stated nor process accepts the parameter sigmma"):
        audit_accountant(asked, isolate=False)


def test_a_name_that_cannot_be_imported_is_an_error() -> None:
    asked = Accountant(**{**GOOD, "stated": "no_such_module:stated"})
    with pytest.raises(MechanismError, match="no_such_module"):
        audit_accountant(asked, isolate=False)


@pytest.mark.parametrize(
    "curve",
    [
        lambda: {2.0: 9e9, 3.0: 9e9},
        lambda: [(2.0, 9e9), (3.0, 9e9)],
        lambda: np.array([[2.0, 9e9], [3.0, 9e9]]),
        lambda: zip([2.0, 3.0], [9e9, 9e9], strict=True),
        lambda: ((order, 9e9) for order in (2.0, 3.0)),
    ],
)
def test_a_curve_is_a_mapping_or_pairs(curve: Any) -> None:
    asked = Accountant("curve", "renyi", lambda sigma: curve(), GAUSSIAN, {"sigma": Range(0.1, 1.0)})
    result = audit_accountant(asked, isolate=False, points=3)
    assert (result.coverage.refused, result.coverage.decided) == (0, result.coverage.tried)


@pytest.mark.parametrize("number", [1e9, np.float32(1e9), np.array(1e9), np.array([1e9]), 10**9, "1e9"])
def test_a_number_may_be_of_any_type(number: Any) -> None:
    asked = Accountant(**{**GOOD, "stated": lambda sigma, delta: number})
    assert audit_accountant(asked, isolate=False, points=3).coverage.refused == 0


@pytest.mark.parametrize("thing", [None, [1.0, 2.0], "much", 1j, object(), [], [(1.0, 2.0, 3.0)], math.nan])
def test_what_is_no_number(thing: Any) -> None:
    asked = Accountant(**{**GOOD, "stated": lambda sigma, delta: thing})
    assert audit_accountant(asked, isolate=False, points=3).coverage.decided == 0


def test_an_argument_that_is_missing_is_named() -> None:
    asked = Accountant(**{**GOOD, "stated": lambda sigma: 1e9, "parameters": {"sigma": Range(0.1, 1.0)}})
    with pytest.raises(InvalidInputError, match="`delta`"):
        audit_accountant(asked, isolate=False, points=5)


def test_settings_lie_in_their_ranges_and_have_the_ends() -> None:
    parameters = {
        "sigma": Range(0.1, 30.0),
        "steps": Range(1, 10_000, integer=True),
        "delta": Range(0.0, 0.5, log=True),
        "kind": ["rdp", "pld"],
        "fixed": 3,
    }
    points = Points(Accountant("a", "epsilon", lambda **known: 1.0, GAUSSIAN, parameters))
    rng = np.random.default_rng(1)
    seen = [points.centre(), *points.corners(rng), *(points.random(rng) for _ in range(300))]
    seen += [setting for _, line in points.lines(points.centre()) for setting in line]
    seen += [points.near(seen[i], rng, 0.3) for i in range(300)]
    seen += [simple for setting in seen[:40] for simple in points.simpler(setting)]
    for setting in seen:
        assert setting["sigma"] in Range(0.1, 30.0)
        assert type(setting["steps"]) is int
        assert 1 <= setting["steps"] <= 10_000
        assert setting["delta"] in Range(0.0, 0.5)
        assert setting["kind"] in ("rdp", "pld")
        assert setting["fixed"] == 3
    for name, ends in (("sigma", (0.1, 30.0)), ("steps", (1, 10_000)), ("delta", (0.0, 0.5)), ("kind", ("rdp", "pld"))):
        assert {*ends} <= {setting[name] for setting in seen}
    assert any(0 < setting["delta"] < 1e-20 for setting in seen)  # type: ignore[operator]


def test_equal_seeds_try_equal_settings() -> None:
    asked: list[list[float]] = []
    for _ in range(2):
        tried: list[float] = []
        accountant = Accountant(
            **{**GOOD, "stated": lambda sigma, delta, tried=tried: tried.append(sigma) or 1e9}  # type: ignore[misc]
        )
        audit_accountant(accountant, isolate=False, points=50, seed=3)
        asked.append(tried)
    assert asked[0] == asked[1]


def test_simple_numbers_come_first() -> None:
    numbers = [0.123, 12.0, 1.0, 0.5, 10.0, 1e-5]
    assert sorted(numbers, key=complexity) == [1.0, 10.0, 0.5, 1e-5, 12.0, 0.123]
    assert 0.9999999 in special_values(Range(1e-3, 1.0))
