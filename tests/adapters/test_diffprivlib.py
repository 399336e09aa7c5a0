"""Mechanisms of diffprivlib: each by its own ε, δ and sensitivity.

They draw from their own randomness. A right one is audited with a false alarm below 1e-9; one that was made for a larger ε is found
in all but one run of a million.
"""

from collections.abc import Callable
from typing import Any

import pytest
from adapters.libraries import QUICK, library

import auditor
from auditor.auditing import planned
from auditor.errors import InvalidInputError

dp = library("diffprivlib.mechanisms", "diffprivlib")

BOUNDS = {"lower": 0, "upper": 4}
PAIRWISE = [["a", "b", 1], ["a", "c", 2], ["b", "c", 1]]
NUMBER, INTEGER = (
    "one number from -100 to 100; two at most 1 apart",
    "one integer from -100 to 100; two at most 1 apart",
)

MECHANISMS: dict[str, tuple[Callable[[float], Any], str]] = {
    "Binary": (lambda e: dp.Binary(epsilon=e, value0="a", value1="b"), "one value of 2"),
    "ExponentialCategorical": (lambda e: dp.ExponentialCategorical(epsilon=e, utility_list=PAIRWISE), "one value of 3"),
    "ExponentialHierarchical": (
        lambda e: dp.ExponentialHierarchical(epsilon=e, hierarchy=[["a", "b"], ["c", "d"]]),
        "one value of 4",
    ),
    "Gaussian": (lambda e: dp.Gaussian(epsilon=e, delta=0.01, sensitivity=1), NUMBER),
    "GaussianAnalytic": (lambda e: dp.GaussianAnalytic(epsilon=e, delta=0.01, sensitivity=1), NUMBER),
    "GaussianDiscrete": (lambda e: dp.GaussianDiscrete(epsilon=e, delta=0.01, sensitivity=1), INTEGER),
    "Geometric": (lambda e: dp.Geometric(epsilon=e, sensitivity=1), INTEGER),
    "GeometricTruncated": (
        lambda e: dp.GeometricTruncated(epsilon=e, sensitivity=1, **BOUNDS),
        "one integer from 0 to 4",
    ),
    "GeometricFolded": (lambda e: dp.GeometricFolded(epsilon=e, sensitivity=1, **BOUNDS), "one integer from 0 to 4"),
    "Laplace": (lambda e: dp.Laplace(epsilon=e, sensitivity=1), NUMBER),
    "LaplaceTruncated": (lambda e: dp.LaplaceTruncated(epsilon=e, sensitivity=1, **BOUNDS), "one number from 0 to 4"),
    "LaplaceFolded": (lambda e: dp.LaplaceFolded(epsilon=e, sensitivity=1, **BOUNDS), "one number from 0 to 4"),
    "LaplaceBoundedDomain": (
        lambda e: dp.LaplaceBoundedDomain(epsilon=e, sensitivity=1, **BOUNDS),
        "one number from 0 to 4",
    ),
    "LaplaceBoundedNoise": (lambda e: dp.LaplaceBoundedNoise(epsilon=e, delta=0.05, sensitivity=1), NUMBER),
    "Snapping": (lambda e: dp.Snapping(epsilon=e, sensitivity=1, **BOUNDS), "one number from 0 to 4"),
    "Staircase": (lambda e: dp.Staircase(epsilon=e, sensitivity=1), NUMBER),
    "Uniform": (lambda e: dp.Uniform(delta=0.1, sensitivity=1), NUMBER),
}


@pytest.mark.parametrize(("make", "neighbours"), MECHANISMS.values(), ids=MECHANISMS)
def test_a_mechanism_keeps_its_claim(make: Callable[[float], Any], neighbours: str) -> None:
    made = make(1.0)
    plan = planned(made, None, None)
    assert (plan.claim.value, plan.claim.to_dict().get("delta", 0.0)) == (made.epsilon, made.delta)
    assert str(plan.neighbours).startswith(neighbours)
    result = auditor.audit(made, **QUICK)
    assert result.verdict == "no_violation_found", str(result)
    assert result.bound is not None


@pytest.mark.parametrize("name", ["Binary", "Geometric", "Laplace", "LaplaceTruncated", "Staircase"])
def test_a_mechanism_for_a_larger_epsilon_is_a_violation(name: str) -> None:
    make, _ = MECHANISMS[name]
    assert auditor.audit(make(3.0), auditor.PureDP(1.0), **QUICK).verdict == "violation"


def test_the_sensitivity_says_how_far_apart_neighbours_are() -> None:
    plan = planned(dp.Laplace(epsilon=1, sensitivity=7), None, None, parameters={"range": (0, 20)})
    assert str(plan.neighbours) == "one number from 0 to 20; two at most 7 apart are neighbours"
    assert plan.assumptions == ()


@pytest.mark.parametrize(
    "made",
    [
        lambda: dp.Exponential(epsilon=1, sensitivity=1, utility=[0, 1, 2]),
        lambda: dp.PermuteAndFlip(epsilon=1, sensitivity=1, utility=[0, 1, 2]),
        lambda: dp.Bingham(epsilon=1),
        lambda: dp.Vector(epsilon=1, function_sensitivity=1, dimension=2),
    ],
)
def test_what_does_not_say_its_neighbours_asks_for_them(made: Callable[[], Any]) -> None:
    with pytest.raises(InvalidInputError, match="does not say which values are neighbours; say `values`"):
        auditor.audit(made(), **QUICK)


def test_models_ask_for_a_function() -> None:
    models = library("diffprivlib.models", "diffprivlib")
    with pytest.raises(InvalidInputError, match="write a function that calls it"):
        auditor.audit(models.GaussianNB(epsilon=1.0), **QUICK)
