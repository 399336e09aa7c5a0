"""What every collection of faults shares: a faulty differential-privacy mechanism next to its sound twin."""

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
    """A faulty mechanism and its sound twin, with the same claim on the same domain.

    `worst` is a pair in the domain on which the faulty mechanism breaks the claim. `loss` explains why it does, and `kept` why
    the twin does not.
    """

    faulty: Mechanism
    sound: Mechanism
    claim: Claim
    domain: Domain
    worst: tuple[Any, Any]
    loss: str
    kept: str
    samples: int = 100_000


def with_laplace(answer: Any, size: int, rng: Rng, scale: float = 1.0) -> Any:
    """Return an array with `size` noisy copies of a number or a vector."""
    answer = np.asarray(answer, dtype=float)
    return answer + rng.laplace(0.0, scale, (size, *answer.shape))


def by_key(keys: Any, noisy: Any) -> list[dict[str, float]]:
    """Return one dict for each row of noisy numbers."""
    return [dict(zip(keys, map(float, row), strict=True)) for row in noisy]


def threshold_for(epsilon: float, delta: float) -> float:
    """Return the threshold that a count of 1 with Laplace noise of scale 1/ε exceeds with probability δ."""
    return 1 - math.log(2 * delta) / epsilon
