"""diffprivlib 0.6.6. Source: diffprivlib/accountant and the mechanisms' docstrings."""

import math

from diffprivlib import BudgetAccountant, mechanisms
from protocol import Process, Statement, gaussian, laplace, serve


def _query(epsilon: float, delta: float) -> Process:
    """Return a query that is (ε, δ)-private and no better: the accountant speaks of any such query."""
    less = (1 - delta) / (1 + math.exp(epsilon))
    more = 1 - delta - less
    return {"noise": "table", "present": [delta, more, less, 0.0], "absent": [0.0, less, more, delta]}


# "slack: Slack allowed in delta spend under advanced composition"; total: "Returns the total current privacy spend"
def budget(query_epsilon: float, query_delta: float, queries: int, slack: float) -> Statement:
    accountant = BudgetAccountant(slack=slack)
    for _ in range(queries):
        accountant.spend(query_epsilon, query_delta)
    epsilon, delta = accountant.total()
    return delta, {**_query(query_epsilon, query_delta), "steps": queries}, epsilon


# --- Noise for a target ---


# "The Gaussian mechanism in differential privacy", of ε up to 1
def gaussian_scale(sensitivity: float, epsilon: float, delta: float) -> Statement:
    mechanism = mechanisms.Gaussian(epsilon=epsilon, delta=delta, sensitivity=sensitivity)
    return mechanism._scale, gaussian(mechanism._scale, sensitivity=sensitivity)


# "The analytic Gaussian mechanism": "epsilon … (0, ∞)"
def analytic_gaussian_scale(sensitivity: float, epsilon: float, delta: float) -> Statement:
    mechanism = mechanisms.GaussianAnalytic(epsilon=epsilon, delta=delta, sensitivity=sensitivity)
    return mechanism._scale, gaussian(mechanism._scale, sensitivity=sensitivity)


# "The discrete Gaussian mechanism"
def discrete_gaussian_scale(sensitivity: int, epsilon: float, delta: float) -> Statement:
    mechanism = mechanisms.GaussianDiscrete(epsilon=epsilon, delta=delta, sensitivity=sensitivity)
    noise: Process = {"noise": "discrete-gaussian", "scale": mechanism._scale, "sensitivity": sensitivity}
    return mechanism._scale, noise


# "The classical Laplace mechanism"; with δ its scale is sensitivity / (ε − ln(1 − δ)), as its method variance says
def laplace_scale(sensitivity: float, epsilon: float, delta: float) -> Statement:
    mechanism = mechanisms.Laplace(epsilon=epsilon, delta=delta, sensitivity=sensitivity)
    scale = math.sqrt(mechanism.variance(0) / 2)
    return scale, laplace(scale, sensitivity=sensitivity)


serve(budget, gaussian_scale, analytic_gaussian_scale, discrete_gaussian_scale, laplace_scale)
