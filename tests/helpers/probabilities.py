"""Mechanisms that report an event a fixed number of times in N outputs, and their audits."""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

import auditor
from auditor.auditing import planned
from auditor.auditing.flow import carry_out
from auditor.auditing.outcome import Audit

N = 100
ALPHA = 0.05


def exactly(hits: int) -> Callable[..., Any]:
    """Return a mechanism that reports the event exactly this many times in N outputs."""
    return lambda data, size: np.arange(size) < hits


def audit(mechanism: Any, claim: Any, neighbours: Any = ((0, 1),), **options: Any) -> Any:
    return ended(mechanism, claim, neighbours, **options).result()


def ended(mechanism: Any, claim: Any, neighbours: Any = ((0, 1),), **options: Any) -> Audit:
    made: Any = {"samples": N, "seed": 3, "workers": 1, "isolate": False, "confidence": 1 - ALPHA, **options}
    pairs = list(neighbours) if isinstance(neighbours, tuple) else neighbours
    return carry_out(planned(mechanism, claim, pairs, **made))


@functools.cache
def outcome(hits: int, p: float, at_most: bool) -> Any:
    return audit(exactly(hits), auditor.Probability(p, at_most=at_most, at_least=not at_most))
