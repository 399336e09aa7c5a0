"""How a domain of a stranger made its pairs stays in the auditor's process: what it keeps may be impossible to pickle."""

import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import auditor
from auditor.extending import Domain
from auditor.neighbours.pair import Pair


class Made:
    """How a pair was made, with a lock, which nothing can pickle."""

    def __init__(self, size: int) -> None:
        self.size, self.lock = size, threading.Lock()


class Sizes(Domain):
    """Data sets of zeros, one of which comes."""

    def __str__(self) -> str:
        return "zeros"

    def _of(self, size: int) -> Pair:
        return Pair([0] * size, [0] * (size + 1), origin=Made(size))

    def corners(self) -> list[Pair]:
        return [*map(self._of, range(6))]

    def random(self, rng: np.random.Generator) -> Pair:
        return self._of(int(rng.integers(20)))

    def mutate(self, pair: Pair, rng: np.random.Generator) -> Pair:
        return self._of(max(0, pair.origin.size + int(rng.integers(-1, 2))))

    def simpler(self, pair: Pair) -> Iterator[Pair]:
        return map(self._of, range(pair.origin.size))


def nested(data: Any) -> Any:
    return [np.float64(len(data) + np.random.default_rng().laplace(0, 0.3)), (np.arange(2),)]


def with_noise(data: Any, rng: np.random.Generator) -> Any:
    return {"n": len(data) + rng.laplace(0, 0.3)}


def several(data: Any, size: int, rng: np.random.Generator) -> Any:
    return len(data) + rng.laplace(0, 0.3, (size, 2))


def raises(data: Any) -> Any:
    if len(data) == 3:
        raise ValueError("three")
    return len(data) + np.random.default_rng().laplace()


@pytest.mark.parametrize("isolate", [True, False])
@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("mechanism", [nested, with_noise, several, raises])
def test_a_domain_may_keep_what_cannot_be_pickled(mechanism: Any, workers: int, isolate: bool) -> None:
    result = auditor.audit(
        mechanism, auditor.PureDP(1.0), Sizes(), samples=4_000, planted=0, workers=workers, isolate=isolate, seed=1
    )
    assert result.verdict == "violation"
