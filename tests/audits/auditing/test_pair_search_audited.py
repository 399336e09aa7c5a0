"""The search of an audit: weak effects are found at a distance, and effects that no distance shows are still found."""

import math
from typing import Any

import numpy as np
import pytest

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


@pytest.mark.parametrize("seed", [0, 1])
def test_of_two_pairs_the_one_that_is_likelier_to_refute_the_claim_is_counted(seed: int) -> None:
    # At 0 and 1 the release is told from nothing with twice the claimed δ; at larger counts it loses ε = 1 and no more, which
    # forecasts the larger bound at these seeds.
    delta = 0.002
    threshold = 1 - math.log(2 * 2 * delta)

    def release(totals: Any, size: int, rng: Rng) -> Any:
        noisy = (totals[0] + rng.laplace(0, 1, size)).astype(object)
        noisy[(noisy <= threshold) | (totals[0] == 0)] = None
        return list(noisy)

    domain = auditor.Totals(cells=1, values=(0, 10), contribution={"l1": 1})
    options: dict[str, Any] = {"workers": 1, "isolate": False, "planted": 0, "shrink": False}
    result = auditor.audit(release, auditor.ApproximateDP(1.0, delta), domain, samples=200_000, seed=seed, **options)
    assert result.verdict == "violation"
    assert sorted([result.pair.left, result.pair.right]) == [(0,), (1,)]
