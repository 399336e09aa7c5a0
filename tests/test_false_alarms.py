"""The whole pipeline on mechanisms that are exactly at their claim: it must not cry wolf.

Every run is seeded. A test fails by chance with probability below 1e-6, by the threshold it derives.
"""

import itertools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import binom

import auditor
import benchmarks
from benchmarks.false_alarms import CASES as MEASURED

RUNS, ALPHA = 400, 0.1


def randomised_response(bit: int, size: int, rng: np.random.Generator) -> NDArray[Any]:
    return bit ^ (rng.random(size) < 1 / (1 + np.e))


def laplace(value: float, size: int, rng: np.random.Generator) -> NDArray[Any]:
    return rng.laplace(value, 1.0, size)


def discrete_laplace(value: int, size: int, rng: np.random.Generator) -> NDArray[Any]:
    p = 1 - np.exp(-1)
    return value + rng.geometric(p, size) - rng.geometric(p, size)


def now_and_then_the_truth(bit: int, size: int, rng: np.random.Generator) -> NDArray[Any]:
    """Exactly (1, 0.05): with probability δ the bit itself, marked; else a randomised response."""
    revealed = rng.random(size) < 0.05
    return np.where(revealed, bit + 2, randomised_response(bit, size, rng))


def four_values(value: int, size: int, rng: np.random.Generator) -> NDArray[Any]:
    lie = rng.random(size) <= 4 / (3 + np.e)
    return np.where(lie, rng.integers(4, size=size), value)


def sometimes_raises(bit: int, size: int, rng: np.random.Generator) -> NDArray[Any]:
    """An output raises with probability 0.026 or 0.01, ε just under 1; a batch in which one does raises as a whole."""
    if (rng.random(size) < (0.027 if bit else 0.01)).any():
        raise ValueError("no answer")
    return np.zeros(size)


PURE = auditor.PureDP(1.0)
CASES: list[tuple[Callable[..., Any], auditor.PureDP | auditor.ApproximateDP, Any]] = [
    (randomised_response, PURE, [(0, 1)]),
    (laplace, PURE, [(0.0, 1.0)]),
    (discrete_laplace, PURE, [(0, 1)]),
    (now_and_then_the_truth, auditor.ApproximateDP(1.0, 0.05), [(0, 1)]),
    (sometimes_raises, PURE, [(0, 1)]),
    (four_values, PURE, auditor.Value(values=[0, 1, 2, 3])),
]


# Every day: a quarter of the runs, of each case by the method that audits use, and of one by the other method.
RUN = [
    pytest.param(
        *case, method, runs, id=f"{case[0].__name__}-{method}-{runs}", marks=[pytest.mark.statistical] * (not is_fast)
    )
    for case, method in itertools.product(CASES, ("fixed", "two-intervals"))
    for runs in (RUNS // 4, RUNS)
    for is_fast in [runs < RUNS and (method == "fixed" or case[0] is now_and_then_the_truth)]
]


@pytest.mark.parametrize(("mechanism", "claim", "neighbours", "method", "runs"), RUN)
def test_alarms_on_sound_mechanisms_stay_below_their_rate(
    mechanism: Callable[..., Any], claim: Any, neighbours: Any, method: str, runs: int
) -> None:
    alarms = sum(
        auditor.audit(
            mechanism,
            claim,
            neighbours,
            samples=500,
            search=1000,
            confidence=1 - ALPHA,
            seed=seed,
            method=method,
            workers=1,
            planted=0,
            batch=40 if mechanism is sometimes_raises else 65_536,
        ).verdict
        == "violation"
        for seed in range(runs)
    )
    assert alarms <= binom.isf(1e-6, runs, ALPHA)


def test_a_mechanism_slightly_over_its_claim_is_caught() -> None:
    """Laplace noise 5 % too small: ε = 1.053 where 1 is claimed, refuted with a million outputs."""

    def too_little(value: float, size: int, rng: np.random.Generator) -> NDArray[Any]:
        return rng.laplace(value, 0.95, size)

    assert auditor.audit(too_little, PURE, [(0.0, 1.0)], seed=1, workers=1).verdict == "violation"


RATES = json.loads((Path(benchmarks.__file__).parent / "results" / "false_alarms.json").read_text())["figures"]


def test_the_rate_of_every_case_is_measured() -> None:
    assert set(RATES) == set(MEASURED)


@pytest.mark.parametrize("name", RATES)
def test_no_measured_rate_of_false_alarms_is_above_its_nominal_one(name: str) -> None:
    """What `python -m benchmarks false_alarms` found, and that its twins are found: a case that cannot alarm shows nothing."""
    row = RATES[name]
    assert (row["runs"], row["nominal"]) == (MEASURED[name].runs, MEASURED[name].nominal)
    assert row["twins found"] > 0.1
    assert row["interval"][0] <= row["nominal"]
