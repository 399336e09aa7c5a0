"""The search of an audit: weak effects are found at a distance, and effects that no distance shows are still found."""

import math
from typing import Any

import numpy as np

import auditor
from auditor.neighbours.records import Records

Rng = np.random.Generator


def count(records: Any, size: int, rng: Rng, *, scale: float) -> Any:
    return len(records) + rng.laplace(0, scale, size)


def test_an_event_learned_at_a_distance_bounds_the_neighbours() -> None:
    """A sound count with small ε: the bound comes close to the true value and exceeds it with probability 10⁻⁶, as any bound."""
    domain, epsilon = Records((0, 1), size=(0, 200)), 0.2
    result = auditor.audit(
        count,
        auditor.PureDP(epsilon),
        domain,
        parameters={"scale": 1 / epsilon},
        confidence=1 - 1e-6,
        samples=500_000,
        seed=5,
        workers=1,
        isolate=False,
    )
    assert result.bound is not None
    # Five standard errors of the loss on all outputs, and the flattening towards the ends of a path of nine steps.
    assert 0.75 * epsilon - 5 * 2 / math.sqrt(500_000) < result.bound.value <= epsilon
    assert result.verdict is auditor.Verdict.NO_VIOLATION_FOUND
    assert result.outputs.selection <= 0.152 * result.outputs.bound  # 15 % of each round, or the minimum
