"""Mechanisms exactly at their claim, and the number of false alarms in repeated audits of one."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

import auditor

ALPHA = 0.1


def randomised_response(bit: int, size: int, rng: np.random.Generator) -> NDArray[Any]:
    return bit ^ (rng.random(size) < 1 / (1 + np.e))


def laplace(value: float, size: int, rng: np.random.Generator) -> NDArray[Any]:
    return rng.laplace(value, 1.0, size)


def discrete_laplace(value: int, size: int, rng: np.random.Generator) -> NDArray[Any]:
    p = 1 - np.exp(-1)
    return value + rng.geometric(p, size) - rng.geometric(p, size)


def now_and_then_the_truth(bit: int, size: int, rng: np.random.Generator) -> NDArray[Any]:
    """Tight (1, 0.05)-DP: the bit itself, marked, with probability δ, else a randomised response."""
    revealed = rng.random(size) < 0.05
    return np.where(revealed, bit + 2, randomised_response(bit, size, rng))


def four_values(value: int, size: int, rng: np.random.Generator) -> NDArray[Any]:
    lie = rng.random(size) <= 4 / (3 + np.e)
    return np.where(lie, rng.integers(4, size=size), value)


def sometimes_raises(bit: int, size: int, rng: np.random.Generator) -> NDArray[Any]:
    """Raise with probability 0.026 or 0.01, an ε just below 1; one failing output makes its whole batch raise."""
    if (rng.random(size) < (0.027 if bit else 0.01)).any():
        raise ValueError("no answer")
    return np.zeros(size)


PURE = auditor.PureDP(1.0)
CASES: list[tuple[Callable[..., Any], auditor.PureDP | auditor.ApproximateDP, Any]] = [
    (randomised_response, PURE, [(0, 1)]),
    (laplace, PURE, [(0.0, 1.0)]),
    (discrete_laplace, PURE, [(0, 1)]),
    (now_and_then_the_truth, auditor.ApproximateDP(1.0, 0.05), [(0, 1)]),
    (sometimes_raises, PURE, [(0, 1)]),
    (four_values, PURE, auditor.Value(values=[0, 1, 2, 3])),
]


def alarms(case: tuple[Callable[..., Any], Any, Any], method: Any, runs: int) -> int:
    """Return how many of this many small audits, each with its own seed, report a violation."""
    mechanism, claim, neighbours = case
    settings: dict[str, Any] = {"samples": 500, "search": 1000, "confidence": 1 - ALPHA, "method": method}
    batch = 40 if mechanism is sometimes_raises else 65_536
    more: dict[str, Any] = {"workers": 1, "planted": 0, "isolate": False, "batch": batch}
    audits = (auditor.audit(mechanism, claim, neighbours, seed=seed, **settings, **more) for seed in range(runs))
    return sum(result.verdict == "violation" for result in audits)
