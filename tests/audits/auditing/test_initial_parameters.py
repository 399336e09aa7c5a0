"""Canaries in trainings that begin at parameters at which no other record has a gradient: they hide nothing any more.

Seeds are fixed. A bound exceeds the truth with probability at most 0.001 in each audit of a sound training.
"""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import auditor
from auditor.errors import InvalidInputError, MechanismError

FEATURES, STEPS, RATE, SIGMA = 100, 4, 0.9, 3.0
CLAIM = auditor.GaussianDP(STEPS**0.5 / SIGMA)  # of full batches, which subsampling only strengthens
Reals = NDArray[np.float64]


def people() -> Reals:
    """Return records of which a linear model has no error at ``trained``."""
    features = np.random.default_rng(1).normal(size=(5_000, FEATURES))
    return np.column_stack([features, features.sum(axis=1)])


def trained() -> Reals:
    records = people()
    return np.asarray(np.linalg.lstsq(records[:, :-1], records[:, -1], rcond=None)[0])


def train(records: Reals, rng: np.random.Generator, initial: Any = None, sigma: float = SIGMA) -> Reals:
    """Return the weights of a linear regression by DP-SGD, and write into the array that it begins at, as torch does."""
    weights = np.zeros(FEATURES) if initial is None else initial
    for _ in range(STEPS):
        batch = records[rng.random(len(records)) < RATE]
        gradients = (batch[:, :-1] @ weights - batch[:, -1])[:, None] * batch[:, :-1]
        gradients /= np.maximum(1.0, np.linalg.norm(gradients, axis=1, keepdims=True))
        weights -= 1e-5 * (gradients.sum(axis=0) + rng.normal(0, sigma, FEATURES))
    return np.asarray(weights)


def weight(weights: Reals, canary: Reals) -> float:
    return float(weights @ canary[:-1])


def result(initial: Any, mechanism: Any = train, **parameters: float) -> auditor.AuditResult:
    canaries = np.column_stack([np.eye(FEATURES), np.full(FEATURES, 1e3)])
    domain = auditor.Canaries(canaries, weight, people(), runs=10, initial=initial)
    settings: dict[str, Any] = {"isolate": False, "workers": 1, "seed": 1, "sharpen": True}
    return auditor.audit(mechanism, CLAIM, domain, method="one-run", parameters=parameters, **settings)


def test_the_bound_rises_and_stays_true() -> None:
    usual, worst = result(None), result(trained())
    assert usual.verdict == worst.verdict == "no_violation_found"
    assert usual.bound.value < 0.05 and 0.1 < worst.bound.value < CLAIM.mu


def test_a_fault_is_found_that_other_gradients_hide() -> None:
    assert result(None, sigma=0.3).verdict == "no_violation_found"
    assert result(trained(), sigma=0.3).verdict == "violation"


def test_each_run_begins_at_them_and_they_are_left_alone() -> None:
    initial, began = np.zeros(FEATURES), list[Reals]()

    def noted(records: Reals, rng: np.random.Generator, initial: Reals) -> Reals:
        began.append(initial.copy())
        return train(records, rng, initial)

    result(initial, noted)
    assert len(began) >= 10 and not np.any(began) and not np.any(initial)


def test_a_mechanism_or_a_program_that_cannot_begin_at_them_is_refused() -> None:
    def without(records: Reals, rng: np.random.Generator) -> Reals:
        return train(records, rng)

    with pytest.raises(MechanismError, match=r"has no parameter `initial`"):
        result(np.zeros(FEATURES), without)
    with pytest.raises(InvalidInputError, match=r"is a program.*initial"):
        result(np.zeros(FEATURES), auditor.Command(["true"]))
