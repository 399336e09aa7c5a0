"""Combiners of PipelineDP; the claim is the budget that each is given. Each person has one vector."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "configs" / "libraries"))

import numpy as np
import pipeline_dp
from pipeline_dp.aggregate_params import MechanismType, NoiseKind, NormKind
from pipeline_dp.combiners import CombinerParams, VectorSumCombiner
from protocol import Made, serve


def vector_sum(places: int, norm: str, most: float, epsilon: float) -> Made:
    """Return the noisy sum of vectors, each of which should be clipped to a norm."""
    accountant = pipeline_dp.NaiveBudgetAccountant(total_epsilon=epsilon, total_delta=1e-6)
    budget = accountant.request_budget(MechanismType.LAPLACE)
    accountant.compute_budgets()
    wanted = pipeline_dp.AggregateParams(
        metrics=[pipeline_dp.Metrics.VECTOR_SUM],
        noise_kind=NoiseKind.LAPLACE,
        max_partitions_contributed=1,
        max_contributions_per_partition=1,
        vector_size=places,
        vector_max_norm=most,
        vector_norm_kind=NormKind(norm),
    )
    combiner = VectorSumCombiner(CombinerParams(budget, wanted))

    def released(dataset: list[list[float]]) -> list[float]:
        total = combiner.create_accumulator([np.zeros(places)])
        for vector in dataset:
            total = combiner.merge_accumulators(total, combiner.create_accumulator([np.array(vector, float)]))
        return combiner.compute_metrics(total)["vector_sum"]

    return {"epsilon": budget.eps}, released


serve(vector_sum)
