"""The rounds of an audit: what errs in any of them, what they learn from, and where the time or the outputs end them."""

import bisect
import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

import auditor
from auditor.auditing import Ended, Plan, Settings, carry_out, planned, settle
from auditor.auditing.draw import Draw
from auditor.auditing.pairwise_flow import Counted, _Known
from auditor.auditing.rounds import Rounds, largest_share
from auditor.auditing.sizes import Round, largest_bound, rounds_for
from auditor.auditing.tally import Counted as Counting
from auditor.blackbox.mechanism import PythonSource
from auditor.bounds.evidence import Counts, GuessCounts
from auditor.neighbours.domains import Pairs
from auditor.results.result import AuditResult

Rng = np.random.Generator
ENDLESS = 10**12


def noisy(dataset: float, size: int, rng: Rng) -> Any:
    return rng.laplace(dataset, 1.0, size)


def leaky(dataset: float, size: int, rng: Rng) -> Any:
    return rng.laplace(dataset, 0.25, size)


def plan_of(mechanism: Any = noisy, claim: Any = None, alpha: float = 1e-3, **settings: Any) -> Plan:
    settings = {"workers": 1, "isolate": False, **settings}
    source, pairs = PythonSource("m", function=mechanism), Pairs([(0.0, 1.0)])
    return Plan("a", source, claim or auditor.PureDP(1.0), pairs, alpha, Settings.of(settings))


def rounds_of(plan: Plan) -> Rounds:
    return Rounds(plan, Draw(plan, lambda progress: None))


# --- What may err ---


def bound(plan: Plan, now: Round, wins: int, level: float) -> float:
    """Return the bound of a round in which so many of all guesses were right."""
    counts = GuessCounts(Counts(wins, now.bound, 0, 0), Counts(now.bound - wins, now.bound, 0, 0))
    unused: Any = None
    method = plan.method(now.bound)
    return Counted(now.number, unused, method, unused, counts, now.share, unused, unused).bound(level)


def above(plan: Plan, now: Round, value: float, level: float) -> int:
    """Return the fewest right guesses of a round whose bound exceeds a value."""
    numbers = range(now.bound + 1)
    return bisect.bisect_left(numbers, True, key=lambda wins: bound(plan, now, wins, level) > value)


def error(plan: Plan, truth: float, level: float) -> float:
    """Return the chance that the bound of some round exceeds the truth: of randomised response, by its binomial counts."""
    rate = 1 / (1 + math.exp(-truth))

    def from_here(rounds: Rounds, *, refuted: bool) -> float:
        rounds = replace(rounds, done=[*rounds.done])
        now = rounds.next(refuted=refuted, cheap=True)
        if now is None:
            return 0.0
        errs = above(plan, now, truth, level)
        refutes = 0 if refuted else min(errs, above(plan, now, plan.claim.value, plan.alpha))
        *_, not_refuted, right = binom.cdf([refutes - 1, errs - 1], now.bound, rate)
        found = 1 - right
        if right > not_refuted:
            found += (right - not_refuted) * from_here(rounds, refuted=True)
        if not_refuted > 0:
            found += not_refuted * from_here(rounds, refuted=False)
        return float(found)

    return from_here(rounds_of(plan), refuted=False)


@pytest.mark.parametrize("samples", [1_600, 6_400, 1_000_000])
@pytest.mark.parametrize("alpha", [0.05, 0.001])
@pytest.mark.parametrize(("claimed", "truth"), [(1.0, 1.0), (0.8, 1.0), (1.0, 1.1), (0.5, 2.0), (2.0, 1.0)])
def test_a_bound_of_some_round_exceeds_the_truth_as_seldom_as_is_said(
    samples: int, alpha: float, claimed: float, truth: float
) -> None:
    """Exactly, with no number of right guesses left out: whether the claim holds, falls early, or falls late, at any level."""
    plan = plan_of(claim=auditor.PureDP(claimed), alpha=alpha, samples=samples)
    for level in (alpha, alpha / 7, 3 * alpha):
        assert 0.02 * level < error(plan, truth, level) <= level
