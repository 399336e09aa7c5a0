"""Mechanisms and tools of diffprivlib.

The claim of a mechanism is the ε and δ that the mechanism carries; that of a tool is what its budget accountant is charged.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from diffprivlib import BudgetAccountant, mechanisms, tools
from protocol import Claim, Made, serve


def _of(epsilon: float, delta: float) -> Claim:
    return {"epsilon": epsilon, "delta": delta} if delta else {"epsilon": epsilon}


def _mechanism(mechanism: mechanisms.DPMechanism) -> Made:
    return _of(mechanism.epsilon, mechanism.delta), mechanism.randomise


def _selection(kind: type, epsilon: float, candidates: int) -> Made:
    """Return an exponential mechanism on data sets that are the utilities of its candidates, each of sensitivity 1."""
    made: dict[tuple[float, ...], Any] = {}

    def release(dataset: list[float]) -> int:
        utility = tuple(dataset)
        if utility not in made:
            made[utility] = kind(epsilon=epsilon, sensitivity=1, utility=list(utility))
        return made[utility].randomise()

    return _mechanism(kind(epsilon=epsilon, sensitivity=1, utility=[0.0] * candidates))[0], release


def _tool(tool: Callable[..., Any], records: list[float], **parameters: Any) -> Made:
    """Return a tool with the claim that it makes when asked about ``records``."""
    accountant = BudgetAccountant()
    tool(records, accountant=accountant, **parameters)

    def release(dataset: list[float]) -> Any:
        return tool(np.array(dataset, float), accountant=BudgetAccountant(), **parameters)

    return _of(*accountant.total()), release


def laplace(epsilon: float, sensitivity: float) -> Made:
    return _mechanism(mechanisms.Laplace(epsilon=epsilon, sensitivity=sensitivity))


def laplace_truncated(epsilon: float, lower: float, upper: float) -> Made:
    return _mechanism(mechanisms.LaplaceTruncated(epsilon=epsilon, sensitivity=1, lower=lower, upper=upper))


def laplace_bounded_domain(epsilon: float, lower: float, upper: float) -> Made:
    return _mechanism(mechanisms.LaplaceBoundedDomain(epsilon=epsilon, sensitivity=1, lower=lower, upper=upper))


def staircase(epsilon: float) -> Made:
    return _mechanism(mechanisms.Staircase(epsilon=epsilon, sensitivity=1))


def snapping(epsilon: float, lower: float, upper: float) -> Made:
    return _mechanism(mechanisms.Snapping(epsilon=epsilon, sensitivity=1, lower=lower, upper=upper))


def gaussian(epsilon: float, delta: float) -> Made:
    return _mechanism(mechanisms.Gaussian(epsilon=epsilon, delta=delta, sensitivity=1))


def gaussian_analytic(epsilon: float, delta: float) -> Made:
    return _mechanism(mechanisms.GaussianAnalytic(epsilon=epsilon, delta=delta, sensitivity=1))


def gaussian_discrete(epsilon: float, delta: float) -> Made:
    return _mechanism(mechanisms.GaussianDiscrete(epsilon=epsilon, delta=delta, sensitivity=1))


def geometric(epsilon: float) -> Made:
    return _mechanism(mechanisms.Geometric(epsilon=epsilon, sensitivity=1))


def geometric_truncated(epsilon: float, lower: int, upper: int) -> Made:
    return _mechanism(mechanisms.GeometricTruncated(epsilon=epsilon, sensitivity=1, lower=lower, upper=upper))


def randomised_response(epsilon: float) -> Made:
    return _mechanism(mechanisms.Binary(epsilon=epsilon, value0="no", value1="yes"))


def exponential(epsilon: float, candidates: int) -> Made:
    return _selection(mechanisms.Exponential, epsilon, candidates)


def permute_and_flip(epsilon: float, candidates: int) -> Made:
    return _selection(mechanisms.PermuteAndFlip, epsilon, candidates)


def count_nonzero(epsilon: float) -> Made:
    return _tool(tools.count_nonzero, [0.0, 1.0], epsilon=epsilon)


def bounded_sum(epsilon: float, lower: float, upper: float) -> Made:
    return _tool(tools.sum, [lower, upper], epsilon=epsilon, bounds=(lower, upper))


def mean(epsilon: float, lower: float, upper: float) -> Made:
    return _tool(tools.mean, [lower, upper], epsilon=epsilon, bounds=(lower, upper))


def median(epsilon: float, lower: float, upper: float) -> Made:
    return _tool(tools.median, [lower, upper], epsilon=epsilon, bounds=(lower, upper))


def histogram(epsilon: float, bins: int, lower: float, upper: float) -> Made:
    claim, release = _tool(tools.histogram, [lower, upper], epsilon=epsilon, bins=bins, range=(lower, upper))
    return claim, lambda dataset: release(dataset)[0]


serve(
    laplace,
    laplace_truncated,
    laplace_bounded_domain,
    staircase,
    snapping,
    gaussian,
    gaussian_analytic,
    gaussian_discrete,
    geometric,
    geometric_truncated,
    randomised_response,
    exponential,
    permute_and_flip,
    count_nonzero,
    bounded_sum,
    mean,
    median,
    histogram,
)
