"""Features of vectors: their values, and leaks that only they reveal. Fixed seeds; thresholds far from chance."""

from typing import Any

import numpy as np
import pytest

import auditor


def in_the_difference(side: Any, size: int, rng: np.random.Generator) -> Any:
    """Both places vary by thousands; only their difference separates the sides, with ε = 3."""
    base = rng.normal(0, 10_000, size)
    return np.stack([base, base + rng.laplace(3 * side, 1.0, size), rng.normal(size=size)], axis=1)


def in_the_order(side: Any, size: int, rng: np.random.Generator) -> Any:
    """Twenty places, shuffled: on the left, one is an outlier."""
    outputs = rng.normal(0, 1, (size, 20))
    outputs[:, 0] += 4 * side
    return rng.permuted(outputs, axis=1)


def in_the_count(side: Any, size: int, rng: np.random.Generator) -> Any:
    """Thirty places, shuffled zeros and ones: twenty ones on the left, ten on the right."""
    outputs = np.zeros((size, 30))
    outputs[:, : 10 + 10 * side] = 1.0
    return rng.permuted(outputs, axis=1)


@pytest.mark.parametrize("leak", [in_the_difference, in_the_order, in_the_count])
def test_leaks_of_no_single_place_are_found(leak: Any) -> None:
    result = auditor.audit(leak, auditor.PureDP(1.0), [(0, 1)], samples=20_000, seed=1, workers=1, isolate=False)
    assert result.verdict == "violation"
    assert result.bound is not None
    assert result.bound.value > 2
