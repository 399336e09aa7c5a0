"""Events and accountants of dp-accounting as claims, and callables that state an event."""

from dataclasses import dataclass
from typing import Any

import numpy as np

import auditor

QUICK: dict[str, Any] = {"samples": 20_000, "search": 4000, "workers": 1, "isolate": False, "seed": 1}
NEIGHBOURS = auditor.Records((0, 1), size=(0, 5))


@dataclass
class NoisySum:
    """A sum of numbers in [0, 1] with Gaussian noise."""

    scale: float
    dp_event: Any

    def __call__(self, records: Any, size: int, rng: np.random.Generator) -> Any:
        return records.sum() + rng.normal(0, self.scale, size)


def test_a_claim_that_is_given_needs_no_relation() -> None:
    assert (
        auditor.audit(NoisySum(1.0, None), auditor.GaussianDP(1.0), NEIGHBOURS, **QUICK).verdict == "no_violation_found"
    )
