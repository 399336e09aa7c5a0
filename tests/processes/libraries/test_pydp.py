"""Algorithms, mechanisms and partition selection of PyDP: each by its own ε and δ.

They draw from their own randomness. A correct one raises a false alarm with probability below 1e-9; one made for a larger ε is
missed with probability 1e-6.
"""

from collections.abc import Callable
from typing import Any

import pytest
from installed import QUICK, library

import auditor
from auditor.auditing import planned
from auditor.errors import InvalidInputError
from auditor.libraries.adapting import adapter_of
from auditor.libraries.pydp import from_pydp

laplacian, numerical, selection = (
    library(f"pydp.algorithms.{part}", "python-dp")
    for part in ("laplacian", "numerical_mechanisms", "partition_selection")
)

BOUNDS = {"lower_bound": 0, "upper_bound": 10}
OBJECTS: dict[str, tuple[Callable[[float], Any], str, str]] = {
    "count": (lambda e: laplacian.Count(epsilon=e), "ε = 1", "0 to 20 records (integers from -100 to 100)"),
    "count of two rows a user": (
        lambda e: laplacian.Count(epsilon=e, linf_sensitivity=2),
        "ε = 1",
        "up to 2 changes apart",
    ),
    "sum": (
        lambda e: laplacian.BoundedSum(epsilon=e, dtype="float", **BOUNDS),
        "ε = 1",
        "0 to 20 records (numbers from -100 to 100)",
    ),
    "Laplace": (
        lambda e: numerical.LaplaceMechanism(e, 2.0),
        "ε = 1",
        "one number from -100 to 100; two at most 2 apart",
    ),
    "Gauss": (
        lambda e: numerical.GaussianMechanism(e, 0.01, 1.0),
        "ε = 1, δ = 0.01",
        "one number from -100 to 100; two at most 1 apart",
    ),
    "partitions": (
        lambda e: selection.create_partition_strategy("laplace", e, 0.01, 1),
        "ε = 1, δ = 0.01",
        "one integer from 0 to 100; two at most 1 apart",
    ),
}


@pytest.mark.parametrize(("make", "claim", "neighbours"), OBJECTS.values(), ids=OBJECTS)
def test_an_object_keeps_its_claim(make: Callable[[float], Any], claim: str, neighbours: str) -> None:
    assert adapter_of(make(1.0)) is from_pydp
    plan = planned(make(1.0), None, None)
    assert str(plan.claim) == claim
    assert neighbours in str(plan.neighbours)
    result = auditor.audit(make(1.0), **QUICK)
    assert result.verdict == "no_violation_found", str(result)


@pytest.mark.parametrize("name", ["count", "sum", "Laplace"])
def test_an_object_for_a_larger_epsilon_is_a_violation(name: str) -> None:
    make, _, _ = OBJECTS[name]
    assert auditor.audit(make(3.0), auditor.PureDP(1.0), **QUICK).verdict == "violation"


def test_what_releases_nothing_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="releases nothing by itself"):
        from_pydp(selection.PartitionSelectionStrategyType.LAPLACE)
