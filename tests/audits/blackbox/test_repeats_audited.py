"""Repeated random streams: copies are refused, independent outputs of any kind are not."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import auditor
from auditor.errors import MechanismError


class OwnSeed:
    """Draws from a generator of its own, whose seeds recur after some calls."""

    def __init__(self, period: int, noise: Callable[..., Any]) -> None:
        self.period, self.noise, self.calls = period, noise, 0

    def __call__(self, value: float, size: int, rng: Any) -> Any:
        self.calls += 1
        return self.noise(np.random.default_rng(self.calls % self.period), value, size)


def response(rng: np.random.Generator, value: float, size: int) -> Any:
    return rng.random(size) < (0.7 if value else 0.3)


def laplace(rng: np.random.Generator, value: float, size: int) -> Any:
    return rng.laplace(value, 1.0, size)


@pytest.mark.parametrize("noise", [laplace, response])
@pytest.mark.parametrize("period", [7, 20])
@pytest.mark.parametrize("many", [True, False])
def test_seeds_that_come_again_are_refused(noise: Any, period: int, many: bool) -> None:
    own = OwnSeed(period, noise)
    mechanism = own if many else lambda value, rng: own(value, 1, rng)[0]
    with pytest.raises(MechanismError, match="repeats itself"):
        auditor.audit(mechanism, auditor.PureDP(1.0), [(0.0, 1.0)], samples=20_000, seed=1, workers=1, isolate=False)
