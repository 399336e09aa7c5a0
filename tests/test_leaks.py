"""Leaks in every corner of an output, each refuted at a claim of ε = 1 with 2·10⁵ outputs, the pair given and nothing else.

Every one is a definite violation: the event that shows it has a log-ratio of 3 or more, or no end. Seeds are fixed.
"""

import sys
from datetime import datetime, timedelta
from typing import Any

import numpy as np
import pytest

import auditor
from auditor.blackbox.command import Command

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


# --- How an output is written: each leak beside its sound twin, in which only the noisy values decide how it is ---

BINS = [f"bin {i:02}" for i in range(12)]


def _histogram(side: int, rng: Rng) -> tuple[list[int], dict[str, float]]:
    counts = [3, 7, 2, 9, 4, 4 + side, 6, 1, 8, 4, 2, 7]
    return counts, {name: count + float(rng.laplace()) for name, count in zip(BINS, counts, strict=True)}


def keys_in_the_order_of_true_counts(side: int, rng: Rng, leaks: bool = True) -> Any:
    counts, noisy = _histogram(side, rng)
    by = dict(zip(BINS, counts, strict=True)) if leaks else noisy
    return {name: noisy[name] for name in sorted(BINS, key=lambda name: (by[name], name))}


def decimals(side: int, size: int, rng: Rng, leaks: bool = True) -> Any:
    """Three decimals below 5 and four above; of the true value, or of the noisy one."""
    true = 4.8 + 0.5 * side
    noisy = true + rng.laplace(0, 1.0, size)
    return np.where((np.full(size, true) if leaks else noisy) < 5, np.round(noisy, 3), np.round(noisy, 4))


def whole_numbers(side: int, size: int, rng: Rng, leaks: bool = True) -> Any:
    noisy = 3e4 * rng.laplace(0, 1.0, size)
    return np.where(rng.random(size) < (0.2 if side and leaks else 0.02), np.rint(noisy), noisy)


def minus_zero(side: int, size: int, rng: Rng, leaks: bool = True) -> Any:
    """Rounded towards zero; a zero keeps the sign that the noise had, or of a coin."""
    rounded = np.trunc(rng.laplace(0, 1.0, size))
    negative = rng.random(size) < (0.1 if side and leaks else 0.5)
    return np.where(rounded == 0, np.where(negative, -0.0, 0.0), rounded)


def minus_zero_a_call(side: int, rng: Rng, leaks: bool = True) -> Any:
    return {"x": float(minus_zero(side, 1, rng, leaks)[0])}


def _text(write: Any) -> Any:
    def draw(side: int, size: int, rng: Rng, leaks: bool = True) -> Any:
        noisy = rng.laplace(0, 100.0, size)
        other = rng.random(size) < (0.2 if side and leaks else 0.02)
        return [write(value, is_other) for value, is_other in zip(noisy.tolist(), other.tolist(), strict=True)]

    return draw


trailing_zeros = _text(lambda x, other: f"{x:.2f}0" if other else f"{x:.2f}")
an_exponent = _text(lambda x, other: f"{x:.3e}" if other else repr(float(f"{x:.3e}")))
a_plus_sign = _text(lambda x, other: f"{x:+.3f}" if other else f"{x:.3f}")
zeros_in_front = _text(lambda x, other: f"{x:09.3f}" if other else f"{x:.3f}")
fields_of_a_line = _text(lambda x, other: f"mean,{x:.4f}" if other else f"mean,{x:.3f}")


def value_of_a_text(side: int, size: int, rng: Rng, leaks: bool = True) -> Any:
    """The noise is of scale 1, where the claim of ε = 1 allows no shift by 4."""
    return [f"{value:.6f}" for value in rng.laplace(4 * (side if leaks else 0), 1.0, size).tolist()]


def a_moment(side: int, rng: Rng, leaks: bool = True) -> Any:
    """The noise is of scale one second, where the claim of ε = 1 allows no shift by four."""
    return datetime(2026, 1, 1) + timedelta(seconds=float(rng.laplace(4 * (side if leaks else 0))))


WRITTEN = [
    keys_in_the_order_of_true_counts,
    decimals,
    whole_numbers,
    minus_zero,
    minus_zero_a_call,
    trailing_zeros,
    an_exponent,
    a_plus_sign,
    zeros_in_front,
    fields_of_a_line,
    value_of_a_text,
    a_moment,
]
NAMES = [
    *(
        "keys",
        "decimals",
        "whole numbers",
        "minus zero",
        "minus zero a call",
        "trailing zeros",
        "exponent",
        "plus sign",
    ),
    *("zeros in front", "fields", "value of a text", "moment"),
]


@pytest.mark.parametrize("leaks", [True, False], ids=["leaks", "sound"])
@pytest.mark.parametrize("mechanism", WRITTEN, ids=NAMES)
def test_how_an_output_is_written_is_looked_at(mechanism: Any, leaks: bool) -> None:
    """False-failure rate 1e-9 for each sound twin, the audit's own."""
    result = auditor.audit(
        mechanism,
        auditor.PureDP(1.0),
        [(1, 0)],
        parameters={"leaks": leaks},
        samples=20_000,
        seed=1,
        confidence=1 - 1e-9,
        workers=1,
        isolate=False,
    )
    assert (result.verdict == "violation") == leaks, result.event


PROGRAM = """
import json, random, sys
for line in sys.stdin:
    request = json.loads(line)
    random.seed(request["seed"])
    for _ in range(request["size"]):
        x, other = random.gauss(0, 1), random.random() < (0.2 if request["dataset"] and %s else 0.02)
        print(%s)
    sys.stdout.flush()
"""


@pytest.mark.parametrize("leaks", [True, False], ids=["leaks", "sound"])
@pytest.mark.parametrize(
    "line",
    [
        'f"{x:.3f}" if other else f"{x:.2f}0"',
        'f"{x:.3e}" if other else repr(float(f"{x:.3e}"))',
        'f"[0, {x:.2f}0]" if other else f"[0, {round(x, 2)}]"',
        '"-0" if other else "0"',
    ],
    ids=["trailing zeros", "exponent", "in a vector", "minus zero"],
)
def test_how_a_program_writes_its_numbers_is_looked_at(line: str, leaks: bool) -> None:
    """False-failure rate 1e-9 for each sound twin, the audit's own."""
    program = Command([sys.executable, "-c", PROGRAM % (leaks, line)])
    result = auditor.audit(
        program, auditor.PureDP(1.0), [(1, 0)], samples=20_000, seed=1, confidence=1 - 1e-9, workers=1
    )
    assert (result.verdict == "violation") == leaks, result.event
