"""The shifted inverse sensitivity mechanism, exactly: every probability is an explicit sum."""

import itertools
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mechanisms.exact.divergences import exact_epsilon
from mechanisms.shifted_inverse import (
    chances,
    down_sensitivity_of_max,
    loss_of_max,
    shifted_inverse_monotonised_sum,
    shifted_inverse_sum,
    tau_of,
)
from studies.study import truth_of

Integers = NDArray[np.int64]

EPSILONS, BETAS, RANGES = (0.5, 1.0, 2.0), (0.5, 0.1, 0.01, 0.001), (11, 101, 1001)
# All data sets of up to this many records with values 0 … 3 are enumerated at these.
SEARCHED, MOST_RECORDS, SEARCH_EPSILON, SEARCH_BETAS = 4, 12, 1.0, (0.9, 0.5, 0.3)


def measure() -> dict[str, Any]:
    return {
        "figure_1": figure_1(),
        "worst": [worst(epsilon, beta, size) for epsilon in EPSILONS for size in RANGES for beta in BETAS],
        "search": [search(beta) for beta in SEARCH_BETAS],
        "ties": ties(),
        "sums": sums(),
    }


def figure_1() -> dict[str, Any]:
    """Return ℓ, ℓ̄ and ℓ* of the maximum for the 32 records of Binomial(5, 1/2); τ = 4 where a shift is shown."""
    data, y, tau = np.repeat(np.arange(6), [math.comb(5, v) for v in range(6)]), np.arange(-1, 8), 4
    below, strictly = (loss_of_max(data, y, kind) for kind in (False, True))
    return {
        "y": y[1:],
        "loss": below[1:],
        "strict": strictly[1:],
        "tau": tau,
        "shifted": np.maximum(below - tau, tau - strictly)[1:],
        "absolute": np.abs(below - tau)[1:],
    }


def failure(records: Integers, outputs: int, epsilon: float, beta: float, shifted: str) -> float:
    """Return the exact probability that M(x) misses [f(x) − DS^{2τ}(x), f(x)], for f = max with range 0 … outputs − 1."""
    chance = chances(records, loss_of_max, low=0, high=outputs - 1, epsilon=epsilon, beta=beta, shifted=shifted)
    y, top = np.arange(outputs), int(max(records, default=0))
    reach = down_sensitivity_of_max(records, 2 * tau_of(outputs, epsilon, beta), 0)
    return float(chance[(y > top) | (y < top - reach)].sum())


def worst(epsilon: float, beta: float, outputs: int) -> dict[str, Any]:
    """Return the probability of failure on τ records of 1, and the τ at which it would be β.

    There ℓ* is 0 at 0 and at 1 and τ above, so that the failure is (|Y| − 2)q/(2 + (|Y| − 2)q) with q = e^(−ετ/2) ≤ β/|Y|.
    """
    tau = tau_of(outputs, epsilon, beta)
    chance = failure(np.ones(tau, np.int64), outputs, epsilon, beta, "footnote_4")
    enough = 2 / epsilon * math.log((outputs - 2) * (1 - beta) / (2 * beta))
    return {
        "epsilon": epsilon,
        "beta": beta,
        "outputs": outputs,
        "tau": tau,
        "failure": chance,
        "enough": max(0, math.ceil(enough)),
    }


def search(beta: float) -> dict[str, Any]:
    """Return the largest failure probability over all multisets of up to 12 records, and where it occurs."""
    outputs, epsilon = SEARCHED, SEARCH_EPSILON
    sets = (
        np.repeat(np.arange(outputs), counts)
        for counts in itertools.product(range(MOST_RECORDS + 1), repeat=outputs)
        if sum(counts) <= MOST_RECORDS
    )
    worst_case = max((failure(data, outputs, epsilon, beta, "footnote_4"), data.tolist()) for data in sets)
    tau = tau_of(outputs, epsilon, beta)
    conjectured = worst(epsilon, beta, outputs)["failure"]
    return {"beta": beta, "tau": tau, "failure": worst_case[0], "records": worst_case[1], "on_tau_ones": conjectured}


def ties() -> dict[str, Any]:
    """Return the success probability on m records of 1 with range 0 … 10, for both losses, at ε = 1 and β = 0.1."""
    outputs, epsilon, beta = 11, 1.0, 0.1
    tau = tau_of(outputs, epsilon, beta)
    m = np.arange(0, 4 * tau + 1)
    figures: dict[str, Any] = {"tau": tau, "m": m, "beta": beta, "outputs": outputs}
    for shifted in ("absolute", "footnote_4"):
        figures[shifted] = [1 - failure(np.ones(n, np.int64), outputs, epsilon, beta, shifted) for n in m]
    figures["at_two_tau"] = [
        {"epsilon": e, "beta": b, "success": 1 - failure(np.ones(2 * tau_of(11, e, b), np.int64), 11, e, b, "absolute")}
        for e, b in ((0.5, 0.1), (1.0, 0.1), (2.0, 0.001))
    ]
    return figures


def sums() -> dict[str, Any]:
    """Return the ε reached into 0 … n, where ε is claimed.

    For the sum between (1, …, 1) and (1, …, 1, −n), for the monotonised sum between n and n + 1 ones (on the first pair it
    is the same for both). From n = 2τ on the first is ε(n − τ)/2 − ln(n + 1) + ln Z, Z the sum of e^(−ε|y − (n − τ)|/2)
    over Y.
    """
    sizes = (1, 2, 5, 10, 20, 30, 50, 75, 100, 150, 200)
    rows = []
    for epsilon in EPSILONS:
        for n in sizes:
            ones, reached = np.ones(n, np.int64), {}
            for name, mechanism, added in (
                ("sum", shifted_inverse_sum, -n),
                ("monotone", shifted_inverse_monotonised_sum, 1),
            ):
                sides = truth_of(mechanism, ones, np.append(ones, added), low=0, high=n, epsilon=epsilon, beta=0.1)
                exact = exact_epsilon(*sides)
                reached[name] = {"epsilon": exact.value, "error": exact.error}
            rows.append({"claimed": epsilon, "n": n, "tau": tau_of(n + 1, epsilon, 0.1), **reached})
    return {"beta": 0.1, "rows": rows}
