"""pipeline-dp 0.3.1. Source: pipeline_dp/budget_accounting.

A budget accountant splits a total (ε, δ) over requests: the noise that each gets is composed, and has to fulfil the total.
"sensitivity: The sensitivity for the mechanism. … count: The number of times the mechanism will be applied" (request_budget).
"""

import math

import dp_accounting.pld.privacy_loss_distribution  # noqa: F401  what PLDBudgetAccountant asks for
from pipeline_dp import aggregate_params, budget_accounting
from protocol import Process, Statement, gaussian, laplace, serve

TYPES = aggregate_params.MechanismType


def _noise(kind: str, spec: budget_accounting.MechanismSpec, sensitivity: float, count: int) -> Process:
    deviation = spec.noise_standard_deviation
    if kind == "laplace":
        return laplace(deviation / math.sqrt(2), sensitivity=sensitivity, steps=count)
    return gaussian(deviation, sensitivity=sensitivity, steps=count)


# "It manages the privacy budget for the pipeline using the Privacy Loss Distribution (PLD) implementation" (PLDBudgetAccountant)
def pld(kind: str, sensitivity: float, count: int, epsilon: float, delta: float) -> Statement:
    accountant = budget_accounting.PLDBudgetAccountant(epsilon, delta)
    spec = accountant.request_budget(TYPES[kind.upper()], sensitivity=sensitivity, count=count)
    accountant.compute_budgets()
    return epsilon, _noise(kind, spec, sensitivity, count)


# The same with a second request, for the choice of partitions: "(_eps, _delta) are parameters of (eps, delta)-differential
# privacy" (MechanismSpec). The order of requests is not said to matter.
def pld_with_partitions(first: str, epsilon: float, delta: float) -> Statement:
    accountant = budget_accounting.PLDBudgetAccountant(epsilon, delta)
    kinds = [first, "laplace" if first == "truncated_geometric" else "truncated_geometric"]
    specs = {kind: accountant.request_budget(TYPES[kind.upper()]) for kind in kinds}
    accountant.compute_budgets()
    choice = specs["truncated_geometric"]
    return epsilon, [_noise("laplace", specs["laplace"], 1.0, 1), _chosen(choice.eps, choice.delta)]


def _chosen(epsilon: float, delta: float) -> Process:
    """Return with which probabilities the best choice of an (ε, δ) keeps a partition of some records, and of one fewer.

    It is the truncated geometric one (Desfontaines, Voss, Gipson & Mandayam 2022, Theorem 1), near a probability of one half.
    """
    less, more = 0.0, delta
    while more < 0.5:
        less, more = more, min(math.exp(epsilon) * more + delta, 1 - math.exp(-epsilon) * (1 - more - delta), 1.0)
    return {"noise": "table", "present": [more, 1 - more], "absent": [less, 1 - less]}


# "It splits the budget using the naive composition" (NaiveBudgetAccountant); each request gets an (ε, δ) of its own
def naive(requests: int, epsilon: float, delta: float) -> Statement:
    accountant = budget_accounting.NaiveBudgetAccountant(epsilon, delta)
    specs = [accountant.request_budget(TYPES.LAPLACE) for _ in range(requests)]
    accountant.compute_budgets()
    return epsilon, [laplace(1 / spec.eps) for spec in specs]


serve(pld, pld_with_partitions, naive)
