"""Aggregations of PipelineDP by its own engine, under a stated budget.

They draw from their own randomness. A correct aggregation raises a false alarm with probability below 1e-9; a budget of five times
the claim is missed with probability 1e-6.
"""

from typing import Any

import pytest
from installed import QUICK, library

import auditor
from auditor.auditing import planned
from auditor.errors import InvalidInputError
from auditor.libraries.adapting import adapter_of
from auditor.libraries.pipeline_dp import from_pipeline_dp

pipeline = library("pipeline_dp", "pipeline-dp")
SHORT: dict[str, Any] = QUICK | {"samples": 3000, "search": 1000}


def aggregation(metric: str, **more: Any) -> Any:
    bounds = {"min_value": 0, "max_value": 5} if metric in ("SUM", "MEAN") else {}
    return pipeline.AggregateParams(
        metrics=[getattr(pipeline.Metrics, metric)],
        noise_kind=pipeline.NoiseKind.LAPLACE,
        max_partitions_contributed=more.pop("max_partitions_contributed", 1),
        max_contributions_per_partition=1,
        **bounds,
    )


@pytest.mark.parametrize("metric", ["COUNT", "SUM", "PRIVACY_ID_COUNT"])
def test_an_aggregation_keeps_the_budget_that_it_is_given(metric: str) -> None:
    assert adapter_of(aggregation(metric)) is from_pipeline_dp
    result = auditor.audit(aggregation(metric), parameters={"epsilon": 1.0}, **SHORT)
    assert (result.claim, result.verdict) == (auditor.PureDP(1.0), "no_violation_found"), str(result)


def test_a_larger_budget_than_the_claim_is_a_violation() -> None:
    result = auditor.audit(aggregation("COUNT"), auditor.PureDP(1.0), parameters={"epsilon": 5.0}, **SHORT)
    assert result.verdict == "violation"


def test_the_aggregation_says_who_contributes_what() -> None:
    plan = planned(
        aggregation("SUM", max_partitions_contributed=2), None, None, parameters={"epsilon": 1, "delta": 0.1}
    )
    assert plan.claim == auditor.ApproximateDP(1.0, 0.1)
    assert str(plan.neighbours).startswith(
        "1 to 10 rows (partition categorical, value number) of persons with 1 to 3 rows each"
    )
    with pytest.raises(InvalidInputError, match="does not say its budget; say `epsilon`"):
        auditor.audit(aggregation("COUNT"), **SHORT)
    with pytest.raises(InvalidInputError, match="is not an aggregation or a mechanism that adds noise"):
        from_pipeline_dp(pipeline.LocalBackend())


def test_a_mechanism_that_adds_noise_has_its_own_budget() -> None:
    made = pipeline.dp_computations.LaplaceMechanism.create_from_epsilon(1.0, 2.0)
    plan = planned(made, None, None)
    assert (str(plan.claim), "two at most 2 apart" in str(plan.neighbours)) == ("ε = 1", True)
    assert auditor.audit(made, **QUICK).verdict == "no_violation_found"
