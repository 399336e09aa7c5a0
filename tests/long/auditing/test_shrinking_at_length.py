"""Shrinking after a violation, at length. It never affects the verdict."""

import math
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

import auditor
from auditor.auditing.flow import run
from auditor.auditing.plan import Plan, Settings
from auditor.blackbox.mechanism import PythonSource
from auditor.neighbours.domains import Pairs

LN3 = math.log(3)


def response(bit: Any, size: int, rng: np.random.Generator) -> Any:
    """Report for each pair of values which of them is odd, truthfully three times in four: ε = ln 3 if one of them is
    odd, else 0."""
    return (int(bit) % 2) ^ (rng.random(size) < 0.25)


ANSWERS = Pairs([(n, n + 1) for n in range(10, 50)])


ALPHA, RUNS = 0.05, 120


def settled(seed: int, claim: Any, mechanism: Any, **options: Any) -> Any:
    settings = Settings.of({"seed": seed, "workers": 1, "isolate": False, **options})
    return run(Plan("some", PythonSource("m", function=mechanism), claim, ANSWERS, ALPHA, settings))


@pytest.mark.parametrize("options", [{"samples": 8000}, {"samples": 10**6}])
def test_the_bound_on_the_smallest_pair_exceeds_the_truth_as_seldom_as_it_says(options: dict[str, Any]) -> None:
    """A false failure has probability below 1e-6. That an audit ended in a lucky round does not make the confirmation lucky."""
    claim = auditor.PureDP(0.2)
    results = [s for seed in range(RUNS) if (s := settled(seed, claim, response, **options).smallest)]
    assert len(results) > RUNS / 2, "or nothing is tested"
    # Confirmed or not, each run reports at most one bound that can be too large.
    allowed = binom.isf(1e-6, RUNS, ALPHA)
    assert sum(smallest.bound.value > LN3 for smallest in results) <= allowed
    # A deliberate mistake, the estimate from the same counts in place of the bound, would be detected.
    assert sum(estimate(smallest.event) > LN3 for smallest in results) > allowed


def estimate(event: Any) -> float:
    """Return the log-odds of a right guess on one tail."""
    left, right = event["counts"]["left"][0], event["counts"]["right"][0]
    return abs(math.log(left / right))


def test_false_alarms_stay_at_their_level_with_shrinking_on() -> None:
    """A false failure has probability below 1e-6."""
    alarms = sum(
        settled(seed, auditor.PureDP(LN3), response, samples=2000).verdict == "violation" for seed in range(RUNS)
    )
    assert alarms <= binom.isf(1e-6, RUNS, ALPHA)
