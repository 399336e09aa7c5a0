"""Leaks to which audits once were blind, in the forms of strangers: no ``rng``, NumPy values inside of a dict, an object, two
numbers at once, a batch that raises; in the auditor's process and in one of its own.
"""

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import auditor

OWN = np.random.default_rng(5)
KEYS = "abcdef"
Rng = np.random.Generator


@dataclass
class Counts:
    total: float
    parts: list[float]


def counted(data: Any, noise: list[float]) -> list[float]:
    """A total and six counts. With six noises the last count has that of the total."""
    return [count + noise[i % len(noise)] for i, count in enumerate([len(data), *map(list(data).count, KEYS)])]


def nested(data: Any, noises: int) -> Any:
    total, *parts = map(np.float64, counted(data, OWN.laplace(0, 2, noises).tolist()))
    return {"total": (total,), "parts": np.array(parts)}


def as_object(data: Any, rng: Rng, noises: int) -> Any:
    total, *parts = counted(data, rng.laplace(0, 2, noises).tolist())
    return Counts(total, parts)


def as_text(data: Any, noises: int) -> Any:
    noise = [random.choice((-1, 1)) * random.expovariate(1 / 2) for _ in range(noises)]
    return "\n".join(f"{name}={count:.2f}" for name, count in zip("t" + KEYS, counted(data, noise), strict=True))


def refuse(value: int, noises: int) -> None:
    """Small values are refused; with six noises, for a reason that tells which value it is."""
    if value < 2:
        raise ValueError("much too small" if value == 0 and noises == 6 else "too small")


def batch(value: int, size: int, rng: Rng, noises: int) -> Any:
    refuse(value, noises)
    return rng.laplace(size=size)


def two_at_once(value: int, size: int, rng: Rng, noises: int) -> Any:
    refuse(value, noises)
    return rng.laplace(size=(size, 2))


def without_rng(value: int, noises: int) -> Any:
    refuse(value, noises)
    return [np.float64(OWN.laplace())]


PEOPLE = auditor.Records(choices=[*KEYS, "g"], size=(0, 5))
VALUES = auditor.Pairs([(2, 3), (0, 1), (3, 4)])
FORMS: list[tuple[Callable[..., Any], Any]] = [
    (nested, PEOPLE),
    (as_object, PEOPLE),
    (as_text, PEOPLE),
    (batch, VALUES),
    (two_at_once, VALUES),
    (without_rng, VALUES),
]


@pytest.mark.parametrize("isolate", [True, False], ids=["own process", "same process"])
@pytest.mark.parametrize("noises", [6, 7], ids=["faulty", "sound"])
@pytest.mark.parametrize(("mechanism", "domain"), FORMS, ids=lambda value: getattr(value, "__name__", ""))
def test_a_leak_is_found_in_each_form(mechanism: Any, domain: Any, noises: int, isolate: bool) -> None:
    """Each leak is certain. A sound twin fails by chance with at most the confidence that is asked for, 1e-6."""
    options: dict[str, Any] = {"workers": 1, "planted": 0, "shrink": False, "confidence": 1 - 1e-6}
    result = auditor.audit(
        mechanism,
        auditor.PureDP(1.0),
        domain,
        parameters={"noises": noises},
        samples=6_000,
        seed=1,
        isolate=isolate,
        **options,
    )
    assert result.verdict == ("violation" if noises == 6 else "no_violation_found")
