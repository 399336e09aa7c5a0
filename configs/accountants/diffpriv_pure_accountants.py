"""diffpriv-pure 0.1.0. Source: diffpriv_pure/__init__."""

import math
from unittest import mock

import diffpriv_pure
from protocol import Process, Statement, gaussian, laplace, serve


# "σ = Δf·√(2·ln(1.25/δ))/ε  (Balle & Wang 2018)" (gaussian_sigma)
def gaussian_sigma(sensitivity: float, epsilon: float, delta: float) -> Statement:
    sigma = diffpriv_pure.gaussian_sigma(sensitivity, epsilon, delta)
    return sigma, gaussian(sigma, sensitivity=sensitivity)


def _query(epsilon: float) -> Process:
    """Return randomised response: a query that is ε-private and no better."""
    truth = 1 / (1 + math.exp(-epsilon))
    return {"noise": "randomized-response", "truth": truth, "relation": "substitute"}


# "Sequential (ε, δ) accountant" (PrivacyBudget) of n queries that are ei-private. With di above 0 it returns (ε, n·di)
def advanced_composition(queries: int, query_epsilon: float, delta: float) -> Statement:
    budget = diffpriv_pure.PrivacyBudget(1e9)
    stated, reached = budget.advanced_composition(queries, query_epsilon, delta / queries)
    assert abs(reached - delta) <= 1e-9 * delta
    return stated, {**_query(query_epsilon), "steps": queries}


def basic_composition(queries: int, query_epsilon: float, delta: float) -> Statement:
    stated, _ = diffpriv_pure.PrivacyBudget(1e9).basic_composition(queries, query_epsilon)
    return stated, {**_query(query_epsilon), "steps": queries}


# "Shifted geometric for pure ε-DP integer counts" (geometric_noise), a function of one draw of Python's generator. Its least value
# is 0, so a count of n + 1 never shows as n.
def private_count(epsilon: float, delta: float) -> Statement:
    low, high = 0.0, 1.0
    while low < (middle := (low + high) / 2) < high:
        with mock.patch("random.random", return_value=middle):
            low, high = (middle, high) if diffpriv_pure.private_count(0, epsilon) <= 0 else (low, middle)
    return epsilon, {"noise": "table", "present": [0.0, 1.0], "absent": [low, 1 - low]}


# "Lap(0, b) — pure ε-DP" (laplace_noise), at the scale that private_sum takes: "sens/epsilon"
def private_sum(sensitivity: float, epsilon: float, delta: float) -> Statement:
    return epsilon, laplace(sensitivity / epsilon, sensitivity=sensitivity)


serve(gaussian_sigma, advanced_composition, basic_composition, private_count, private_sum)
