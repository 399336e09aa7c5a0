"""Leaks in every corner of an output, each refuted at a claim of ε = 1 with 2·10⁵ outputs, the pair given and nothing else.

Every one is a definite violation: the event that shows it has a log-ratio of 3 or more, or no end. Seeds are fixed.
"""

from typing import Any

import numpy as np
import pytest

import auditor

Rng = np.random.Generator


def noise(size: int, rng: Rng) -> Any:
    return rng.laplace(0, 1.0, size)


def nan(side: int, size: int, rng: Rng) -> Any:
    outputs = noise(size, rng)
    outputs[rng.random(size) < (0.02 if side else 0.0005)] = np.nan
    return outputs


def an_exception(side: int, rng: Rng) -> Any:
    if rng.random() < (0.05 if side else 0.001):
        raise ValueError("out of budget")
    return float(rng.laplace())


def length_of_a_list(side: int, rng: Rng) -> Any:
    return [0.0] * (3 + int(rng.random() < (0.1 if side else 0.004)))


def a_key(side: int, rng: Rng) -> Any:
    return {"count": float(rng.laplace()), **({"debug": 1} if rng.random() < (0.1 if side else 0.004) else {})}


def a_string(side: int, size: int, rng: Rng) -> Any:
    return np.where(rng.random(size) < (0.1 if side else 0.004), "yes", "no")


def type_of_a_number(side: int, rng: Rng) -> Any:
    value = int(rng.integers(10))
    return float(value) if rng.random() < (0.1 if side else 0.004) else value


def one_in_a_thousand(side: int, size: int, rng: Rng) -> Any:
    """On the left one output in 1000 is an outlier, on the right none ever."""
    outputs = noise(size, rng)
    return np.where(side & (rng.random(size) < 0.001), 1000.0 + outputs, outputs)


def spread(side: int, size: int, rng: Rng) -> Any:
    return rng.normal(0, 1 + 2 * side, size)


def correlation(side: int, size: int, rng: Rng) -> Any:
    """Each coordinate is uniform on both sides; on the left they are nearly equal, on the right independent."""
    first, second = rng.random((2, size))
    return np.stack([first, (first + 0.05 * second) % 1.0 if side else second], axis=1)


def value_in_the_middle(side: int, size: int, rng: Rng) -> Any:
    outputs = noise(size, rng)
    outputs[rng.random(size) < (0.02 if side else 0.0005)] = 0.125
    return outputs


LEAKS = [
    nan,
    an_exception,
    length_of_a_list,
    a_key,
    a_string,
    type_of_a_number,
    one_in_a_thousand,
    spread,
    correlation,
    value_in_the_middle,
]


@pytest.mark.parametrize("leak", LEAKS, ids=lambda leak: leak.__name__)
def test_a_leak_is_refuted(leak: Any) -> None:
    result = auditor.audit(leak, auditor.PureDP(1.0), [(1, 0)], samples=200_000, seed=1)
    assert result.verdict == "violation", result.bound


def sound(side: int, size: int, rng: Rng) -> Any:
    """A plain Laplace mechanism of ε = 1, beside two coordinates that say nothing."""
    return np.stack([rng.laplace(side, 1.0, size), rng.random(size), rng.random(size)], axis=1)


def test_what_does_not_leak_is_not_refuted() -> None:
    """False-failure rate 1e-9, the audit's own."""
    result = auditor.audit(sound, auditor.PureDP(1.0), [(1, 0)], samples=200_000, seed=1, confidence=1 - 1e-9)
    assert result.verdict == "no_violation_found"
