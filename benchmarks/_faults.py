"""A fault of differential-privacy code next to its sound twin, and what the collections of such faults share."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from auditor.claims import Claim
from auditor.interfaces import Domain

Rng = np.random.Generator
Mechanism = Callable[..., Any]


@dataclass(frozen=True, slots=True)
class Fault:
    """A faulty mechanism and its sound twin, under one claim on one domain.

    `worst` is a pair of the domain that breaks the claim. `loss` says why, and `kept` why the twin keeps the claim.
    """

    faulty: Mechanism
    sound: Mechanism
    claim: Claim
    domain: Domain
    worst: tuple[Any, Any]
    loss: str
    kept: str
    samples: int = 100_000


def with_laplace(answer: Any, size: int, rng: Rng, scale: float) -> Any:
    """Return an array with `size` noisy copies of a number or a vector."""
    answer = np.asarray(answer, dtype=float)
    return answer + rng.laplace(0.0, scale, (size, *answer.shape))


def by_key(keys: Any, noisy: Any) -> list[dict[str, float]]:
    """Return one dict for each row of noisy numbers."""
    return [dict(zip(keys, map(float, row), strict=True)) for row in noisy]


def threshold_for(epsilon: float, delta: float) -> float:
    """Return what a count of 1 with Laplace noise of scale 1/ε exceeds with probability δ."""
    return 1 - math.log(2 * delta) / epsilon
