"""Mechanisms of diffprivlib by their own ε, δ and sensitivity; tools and models under a stated relation.

They draw from their own randomness. A correct mechanism raises a false alarm with probability below 1e-9; one made for a larger ε
is missed with probability 1e-6.
"""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from installed import QUICK, library

import auditor
from auditor.auditing import planned
from auditor.errors import InvalidInputError
from auditor.libraries.estimator import from_estimator

dp, tools, models = (library(f"diffprivlib.{part}", "diffprivlib") for part in ("mechanisms", "tools", "models"))

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


def test_what_does_not_say_its_neighbours_asks_for_them() -> None:
    made = dp.Exponential(epsilon=1, sensitivity=1, utility=[0, 1, 2], monotonic=True)
    with pytest.raises(InvalidInputError, match="does not say which values are neighbours; say `values`"):
        auditor.audit(made, **QUICK)


def vector(epsilon: float = 1.0, length: float = 1.0, **more: Any) -> Any:
    said = {"function_sensitivity": 0.25, "dimension": 1, "alpha": 1.0, **more}
    return dp.Vector(epsilon=epsilon, data_sensitivity=length, **said)


# A minimisation takes milliseconds, so no faults are planted.
ALONE: dict[str, Any] = QUICK | {"planted": 0, "shrink": False}


def test_the_minimum_of_what_vector_perturbs_is_the_output() -> None:
    """For a linear loss of slope 1 the minimum is the record plus the noise, so the claim is exact."""
    plan = planned(vector(), None, None)
    assert (plan.claim, str(plan.neighbours)) == (auditor.PureDP(1.0), "the 6 pairs given")
    assert any("the others are zero" in text for text in plan.assumptions)
    linear = vector(function_sensitivity=0.0)
    result = auditor.audit(linear, **ALONE)
    assert result.verdict == "no_violation_found"
    assert result.bound is not None
    assert result.bound.value > 0.7
    assert auditor.audit(vector(3.0, function_sensitivity=0.0), auditor.PureDP(1.0), **ALONE).verdict == "violation"
    assert auditor.audit(vector(dimension=3), **ALONE).verdict == "no_violation_found"


def test_vector_is_a_violation_for_records_that_are_long() -> None:
    """See reports/libraries/NEW.md: the curvature grows with the square of a record's length, and the noise with the length."""
    long = vector(length=1000.0)
    assert auditor.audit(long, None, [([0.0], [1000.0])], **ALONE).verdict == "violation"


def test_only_the_attributes_that_are_named_are_shown() -> None:
    """See reports/libraries/NEW.md: the centre of a cluster without records gets no noise; labels and inertia never get any."""
    model = models.KMeans(n_clusters=2, epsilon=1.0, bounds=(0, 1))
    shown = from_estimator(model, relation="add_remove", attributes=["cluster_centers_"]).mechanism(
        np.full((10, 2), 0.5)
    )
    assert list(shown) == ["cluster_centers_"]
    predicted = from_estimator(model, relation="add_remove", attributes=["predicted"]).mechanism(np.full((10, 2), 0.5))
    assert list(predicted) == ["predicted"]


SELECTED = "3 numbers from 0 to 10, which one person moves by at most 1 in the maximum norm"
SELECTING: dict[str, tuple[Callable[[float], Any], str]] = {
    "Exponential": (lambda e: dp.Exponential(epsilon=e, sensitivity=1, utility=[0, 1, 2]), SELECTED),
    "PermuteAndFlip": (lambda e: dp.PermuteAndFlip(epsilon=e, sensitivity=1, utility=[0, 1, 2]), SELECTED),
    "Bingham": (lambda e: dp.Bingham(epsilon=e), "the 9 pairs given"),
}


@pytest.mark.parametrize(("make", "neighbours"), SELECTING.values(), ids=SELECTING)
def test_utilities_and_matrices_are_the_data_of_what_selects(make: Callable[[float], Any], neighbours: str) -> None:
    assert str(planned(make(1.0), None, None).neighbours) == neighbours
    assert auditor.audit(make(1.0), **QUICK).verdict == "no_violation_found"
    assert auditor.audit(make(6.0), auditor.PureDP(1.0), **QUICK).verdict == "violation"


def bounded(name: str, **more: Any) -> Any:
    return functools.partial(getattr(tools, name), epsilon=1.0, bounds=(0, 10), **more)


TOOLS: dict[str, tuple[Callable[[], Any], str, str]] = {
    "mean": (lambda: bounded("mean"), "substitute", "1 to 20 records (numbers from 0 to 10)"),
    "sum": (lambda: bounded("sum"), "substitute", "1 to 20 records (numbers from 0 to 10)"),
    "quantile": (lambda: bounded("quantile", quant=0.9), "substitute", "1 to 20 records (numbers from 0 to 10)"),
    "count": (lambda: tools.count_nonzero, "substitute", "1 to 20 records (numbers from 0 to 1)"),
    "histogram in two dimensions": (
        lambda: functools.partial(tools.histogram2d, epsilon=1.0, bins=2, range=[(0, 10), (0, 5)]),
        "add_remove",
        "0 to 20 records (2 values: numbers from 0 to 10, numbers from 0 to 5)",
    ),
}


@pytest.mark.parametrize(("make", "relation", "neighbours"), TOOLS.values(), ids=TOOLS)
def test_a_tool_is_audited_once_its_relation_is_said(make: Callable[[], Any], relation: str, neighbours: str) -> None:
    with pytest.raises(InvalidInputError, match="does not say which data are neighbours; say `relation`"):
        auditor.audit(make(), **QUICK)
    plan = planned(make(), None, None, parameters={"relation": relation})
    assert (plan.claim, str(plan.neighbours)[: len(neighbours)]) == (auditor.PureDP(1.0), neighbours)
    result = auditor.audit(make(), parameters={"relation": relation}, **QUICK)
    assert result.verdict == "no_violation_found", str(result)


def test_the_mean_that_ignores_nan_is_a_violation() -> None:
    """See reports/libraries/NEW.md: the sensitivity assumes all records, but the mean is over those that are not NaN."""
    result = auditor.audit(bounded("nanmean"), parameters={"relation": "substitute", "size": (10, 10)}, **QUICK)
    assert result.verdict == "violation"


def test_a_model_shows_what_it_learned() -> None:
    model = models.StandardScaler(epsilon=1.0, bounds=(0, 1))
    with pytest.raises(InvalidInputError, match="does not say which data are neighbours; say `relation`"):
        auditor.audit(model, **QUICK)
    adapted = from_estimator(model, relation="substitute")
    assert adapted.claim == auditor.PureDP(1.0)
    shown = adapted.mechanism(np.full((10, 2), 0.5))
    assert {"mean_", "var_", "n_samples_seen_"} <= shown.keys()
    assert not hasattr(model, "mean_")
