"""Mechanisms that misbehave in ways that have fooled audits: no false alarm, and no silent pass."""

from typing import Any

import numpy as np
import pytest

import auditor
from auditor.errors import MechanismError

PURE = auditor.PureDP(1.0)


def too_large(value: float, size: int, rng: np.random.Generator) -> Any:
    """ε = 4, but only batches up to 500 can be had."""
    if size > 500:
        raise MemoryError("too large a batch")
    return rng.laplace(value, 0.25, size)


@pytest.mark.parametrize("method", ["fixed", "two-intervals", "sequential"])
def test_batches_that_raise_do_not_hide_a_violation(method: str) -> None:
    result = auditor.audit(too_large, PURE, [(0, 1)], samples=5000, seed=1, workers=1, method=method)
    assert result.verdict == "violation"


def test_a_generator_of_its_own_is_not_copied_to_the_workers() -> None:
    """Honest Laplace noise, α = 0.001: copies of one stream would be refuted in half of the runs."""
    own = np.random.default_rng(5)

    def honest(value: float, size: int) -> Any:
        return own.laplace(value, 1.0, size)

    results = [auditor.audit(honest, PURE, [(0, 1)], samples=4000, seed=s, workers=2, batch=200) for s in range(8)]
    assert [result.verdict for result in results] == ["no_violation_found"] * 8
    assert not any(result.reproducible for result in results)


def rarely_a_float(value: int, size: int, rng: np.random.Generator) -> Any:
    """ε = 1 exactly: one output in a thousand is 0.5 instead of 1, e times as often on one side."""
    rare = rng.random(size) < (1e-3 * np.e if value else 1e-3)
    return np.array([0.5 if r else 1 for r in rare])


def rarely_a_text(value: int, size: int, rng: np.random.Generator) -> Any:
    rare = rng.random(size) < (1e-3 * np.e if value else 1e-3)
    return np.array(["none" if r else 1.0 for r in rare])


@pytest.mark.parametrize("method", ["fixed", "sequential"])
def test_one_rare_output_does_not_give_away_its_batch(method: str) -> None:
    """Chance of a single false alarm in 20 audits at α = 0.001: 2 %, seeded; before, 2 to 8 of them raised one."""
    verdicts = [
        auditor.audit(rarely_a_float, PURE, [(0, 1)], samples=2000, seed=s, workers=1, method=method).verdict
        for s in range(20)
    ]
    assert "violation" not in verdicts


def test_batches_of_changing_form_are_an_error_with_a_name() -> None:
    with pytest.raises(MechanismError, match=r"an array of numbers .* for one batch and an array of str"):
        for seed in range(20):
            auditor.audit(rarely_a_text, PURE, [(0, 1)], samples=2000, seed=seed, workers=1)
