"""Shares of a count modulo a prime, which leak it together only, in forms of strangers."""

import dataclasses
import random
from typing import Any

import numpy as np
import pytest

import auditor

PRIME = 2**31 - 1
PEOPLE = auditor.Records((0, 1), size=(0, 8))
Rng = np.random.Generator


@dataclasses.dataclass
class Shares:
    first: int
    second: int


def own_shares(data: Any, faulty: bool) -> tuple[int, int]:
    first = random.randrange(PRIME)
    return first, (len(data) - first) % PRIME if faulty else random.randrange(PRIME)


def nested(data: Any, faulty: bool) -> Any:
    first, second = own_shares(data, faulty)
    return {"first": (np.array([first]),), "second": [np.float64(second)]}


def an_object(data: Any, faulty: bool) -> Any:
    return Shares(*own_shares(data, faulty))


def rows(data: Any, size: int, rng: Rng, faulty: bool) -> Any:
    first, other = rng.integers(PRIME, size=(2, size))
    return np.stack([first, (len(data) - first) % PRIME if faulty else other], axis=1)


@pytest.mark.parametrize("faulty", [True, False], ids=["faulty", "sound"])
@pytest.mark.parametrize("mechanism", [nested, an_object, rows])
def test_shares_are_seen_in_every_form(mechanism: Any, faulty: bool) -> None:
    """In a process of its own, and without the auditor's generator: a twin is refuted in one of a million runs at most."""
    options: dict[str, Any] = {"workers": 1, "planted": 0, "shrink": False, "confidence": 1 - 1e-6}
    result = auditor.audit(
        mechanism, auditor.PureDP(1.0), PEOPLE, parameters={"faulty": faulty}, samples=20_000, seed=0, **options
    )
    assert result.verdict == ("violation" if faulty else "no_violation_found")
