"""Faults as they occur in practice, and a leak in every corner of an output, each next to a sound twin that passes.

Confidence is 0.999, and false alarms are rarer. Even if the bounds had no slack, some sound run of this file would fail by chance
with probability 1/500; seeds are fixed.
"""

import math
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import numpy as np
import pytest

import auditor
from auditor.neighbours.domains import Pairs, Value
from benchmarks._faults_of_people import FAULTS, Fault, Rng

# tests/long audits all of them, at the defaults.
EVERY_TIME = ("truthful a little too often",)

# --- Leaks in every corner of an output. In a sound twin only the noise decides ---

ON_A_PAIR = {"samples": 20_000, "confidence": 1 - 1e-9, "workers": 1, "isolate": False}
IN_PROCESS: dict[str, Any] = {"workers": 1, "isolate": False}
SIDES = Pairs([(1, 0)])


def leak(faulty: Any, sound: Any, **settings: Any) -> Fault:
    return Fault(faulty, sound, domain=SIDES, settings=ON_A_PAIR | settings)


def shares(
    usual: Callable[[float], Any], other: Callable[[float], Any], low: float = 0.02, high: float = 0.2, **settings: Any
) -> Fault:
    """Return a mechanism in which a share of the outputs is replaced by another output; the share is higher on one side."""

    def made(share: float) -> Any:
        def release(side: int, size: int, rng: Rng) -> Any:
            is_other = rng.random(size) < (share if side else low)
            noisy = rng.laplace(size=size).tolist()
            return [other(x) if differs else usual(x) for x, differs in zip(noisy, is_other, strict=True)]

        return release

    return leak(made(high), made(low), **settings)


def a_call(fault: Fault) -> Fault:
    """Return the same mechanism with one output per call, where exceptions are raised."""

    def made(many: Any) -> Any:
        def release(side: int, rng: Rng) -> Any:
            [output] = many(side, 1, rng)
            if isinstance(output, Exception):
                raise output
            return output

        return release

    return leak(made(fault.faulty), made(fault.sound))


def minus_zero(x: float) -> float:
    return math.copysign(float(math.trunc(x)), -1) if abs(x) < 1 else float(math.trunc(x))


def plus_zero(x: float) -> float:
    return abs(minus_zero(x)) if abs(x) < 1 else minus_zero(x)


def keys_by(true: bool) -> Any:
    """Return a histogram whose keys are sorted by its true counts, or by its noisy ones."""

    def release(side: int, rng: Rng) -> dict[str, float]:
        counts = {f"bin {i:02}": n for i, n in enumerate([3, 7, 2, 9, 4, 4 + side, 6, 1, 8, 4, 2, 7])}
        noisy = {name: count + float(rng.laplace()) for name, count in counts.items()}
        by = counts if true else noisy
        return {name: noisy[name] for name in sorted(counts, key=lambda name: (by[name], name))}

    return release


def decimals_of(true: bool) -> Any:
    """Return three decimals below 5 and four above, depending on the true value or on the noisy one."""

    def release(side: int, size: int, rng: Rng) -> Any:
        answer = 4.8 + 0.5 * side
        noisy = answer + rng.laplace(0, 1.0, size)
        return np.where((np.full(size, answer) if true else noisy) < 5, np.round(noisy, 3), np.round(noisy, 4))

    return release


def correlated(side: int, size: int, rng: Rng) -> Any:
    """Each coordinate is uniform on both sides; on one they are nearly equal, on the other independent."""
    first, second = rng.random((2, size))
    return np.stack([first, (first + 0.05 * second) % 1.0 if side else second], axis=1)


def moved(shift: float, form: Callable[[float], Any]) -> Any:
    """Return noise of scale 1, in a form that is not a number. The claim ε = 1 allows no shift by 4."""
    return lambda side, size, rng: [form(x) for x in rng.laplace(shift * side, 1.0, size).tolist()]


def moment(x: float) -> datetime:
    return datetime(2026, 1, 1) + timedelta(seconds=x)


def text(usual: str, other: str) -> Fault:
    """Return noise as text in two formats."""
    return shares(lambda x: usual.format(100 * x), lambda x: other.format(100 * x))


LEAKS = {
    "nan": shares(float, lambda x: math.nan, 0.0005, 0.02, samples=100_000),
    "an exception": a_call(shares(float, lambda x: ValueError("out of budget"), 0.001, 0.05)),
    "length of a list": shares(lambda x: [0.0] * 3, lambda x: [0.0] * 4, 0.004, 0.1),
    "a key": shares(lambda x: {"count": x}, lambda x: {"count": x, "debug": 1}, 0.004, 0.1),
    "a string": shares(lambda x: "no", lambda x: "yes", 0.004, 0.1),
    "type of a number": shares(lambda x: int(10 * x), lambda x: float(int(10 * x)), 0.004, 0.1),
    "one in a thousand": shares(float, lambda x: 1000.0 + x, 0.0, 0.001, samples=200_000),
    "value in the middle": shares(float, lambda x: 0.125, 0.0005, 0.02),
    "spread": leak(
        lambda side, size, rng: rng.normal(0, 1 + 2 * side, size), lambda side, size, rng: rng.normal(0, 1, size)
    ),
    "correlation": leak(correlated, lambda side, size, rng: correlated(1, size, rng)),
    "beside what says nothing": leak(
        lambda side, size, rng: np.stack([rng.laplace(4 * side, 1.0, size), *rng.random((2, size))], axis=1),
        lambda side, size, rng: np.stack([rng.laplace(side, 1.0, size), *rng.random((2, size))], axis=1),
    ),
    "keys": leak(keys_by(True), keys_by(False)),
    "decimals": leak(decimals_of(True), decimals_of(False)),
    "whole numbers": shares(lambda x: 3e4 * x, lambda x: float(round(3e4 * x))),
    "minus zero": shares(plus_zero, minus_zero, 0.1, 0.5),
    "minus zero a call": a_call(shares(lambda x: {"x": plus_zero(x)}, lambda x: {"x": minus_zero(x)}, 0.1, 0.5)),
    "trailing zeros": text("{:.2f}", "{:.2f}0"),
    "exponent": shares(lambda x: repr(float(f"{100 * x:.3e}")), lambda x: f"{100 * x:.3e}"),
    "fields": text("mean,{:.3f}", "mean,{:.4f}"),
    "value of a text": leak(moved(4, "{:.6f}".format), moved(0, "{:.6f}".format)),
    "moment": leak(moved(4, moment), moved(0, moment)),
}


@pytest.mark.parametrize("is_sound", [False, True], ids=["faulty", "sound"])
@pytest.mark.parametrize("name", [*EVERY_TIME, *LEAKS])
def test_a_fault_is_found_and_its_sound_twin_passes(name: str, is_sound: bool) -> None:
    case = {**FAULTS, **LEAKS}[name]
    result = case.audit(case.sound, samples=5_000, **IN_PROCESS) if is_sound else case.audit(case.faulty, **IN_PROCESS)
    assert result.verdict == ("no_violation_found" if is_sound else "violation"), result.event


@pytest.mark.parametrize("seed", range(2))
def test_a_bare_bin_is_found_with_few_outputs(seed: int) -> None:
    case = FAULTS["one of four bins is bare"]
    assert case.audit(case.faulty, seed, samples=20_000, **IN_PROCESS).verdict == "violation"


@pytest.mark.parametrize("share", [0.1, 0.4])
def test_an_answer_that_one_side_alone_gives_is_found_though_it_is_not_rare(share: float) -> None:
    """Ten thousand outputs leave some hundred for each look, which is enough for a single threshold on the numbers."""

    def some_are_none(value: float, size: int, rng: Rng) -> list[float | None]:
        noisy, is_left_out = value + rng.laplace(size=size), rng.random(size) < (share if value == 1 else 0.0)
        return [None if out else answer for out, answer in zip(is_left_out, noisy.tolist(), strict=True)]

    settings = {"samples": 10_000, "prove": False, "planted": 0, "workers": 1, "isolate": False}
    case = Fault(some_are_none, None, auditor.PureDP(3.0), Value([0, 1, 2]), settings)
    assert [case.audit(case.faulty, seed).verdict for seed in range(2)] == ["violation"] * 2


def test_a_report_says_where_the_outputs_of_the_search_went() -> None:
    case = FAULTS["one of four bins is bare"]
    result = case.audit(case.sound, 0, samples=20_000, **IN_PROCESS)
    stages = result.tried.stages
    first = ["many pairs, by outputs with the same noise", "the simplest pairs", "corners, crowds and random pairs"]
    assert [stage.name for stage in stages][:3] == first
    assert sum(stage.outputs for stage in stages) <= result.outputs.search
    assert all(stage.caught > 0 for stage in stages)
