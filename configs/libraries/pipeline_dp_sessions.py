"""Budget accountants of PipelineDP as sessions: mechanisms are requested, then all are released with the noise they were given.

A request names a mechanism, its weight, and how often it will be applied. The release applies each as often, to the number of
records. The claim is the budget of the accountant. What an accountant computes depends on the requests alone, so it is kept.
"""

import functools
from typing import Any

from pipeline_dp.aggregate_params import MechanismType
from pipeline_dp.budget_accounting import BudgetAccountant, MechanismSpec, NaiveBudgetAccountant, PLDBudgetAccountant
from pipeline_dp.dp_computations import LaplaceMechanism, Sensitivities, create_additive_mechanism
from protocol import Made, played, serve

Request = tuple[str, float, int]
ACCOUNTANTS = {"naive": NaiveBudgetAccountant, "pld": PLDBudgetAccountant}


@functools.cache
def computed(kind: str, epsilon: float, delta: float, requests: tuple[Request, ...]) -> tuple[BudgetAccountant, Any]:
    """Return an accountant after it computed the budgets, and the specifications of all mechanisms."""
    accountant = ACCOUNTANTS[kind](epsilon, delta)
    specs = [accountant.request_budget(MechanismType[name], weight=w, count=n) for name, w, n in requests]
    accountant.compute_budgets()
    return accountant, specs


def noisy(records: int, spec: MechanismSpec) -> float:
    """Return the number of records with the noise of a mechanism. A generic one is Laplace noise of its ε."""
    one = Sensitivities(l1=1)
    if spec.mechanism_type == MechanismType.GENERIC:
        return float(LaplaceMechanism.create_from_epsilon(spec.eps, 1).add_noise(records))
    return float(create_additive_mechanism(spec, one).add_noise(records))


class Pipeline:
    """A pipeline whose mechanisms are requested first."""

    def __init__(self, records: list[float], kind: str, epsilon: float, delta: float) -> None:
        self.records, self.budget = len(records), (kind, epsilon, delta)
        self.requests: list[Request] = []
        self.accountant: BudgetAccountant | None = None

    def __call__(self, question: dict[str, Any]) -> Any:
        name = question["do"]
        if name != "release":
            if self.accountant is not None:
                self.accountant.request_budget(MechanismType[name])  # the accountant refuses
            self.requests.append((name, question["weight"], question["count"]))
            return "requested"
        if self.accountant is not None:
            self.accountant.compute_budgets()  # the accountant refuses
        self.accountant, specs = computed(*self.budget, tuple(self.requests))
        return [noisy(self.records, spec) for spec in specs for _ in range(spec.count)]


def accountant(kind: str, epsilon: float, delta: float) -> Made:
    claim = {"epsilon": epsilon} | ({"delta": delta} if delta else {})
    return claim, played(lambda records: Pipeline(records, kind, epsilon, delta))


serve(accountant)
