"""How a bound grew: the last point is the bound itself, whatever the batches."""

import math
from typing import Any

import numpy as np
import pytest

import auditor
from auditor.auditing import Ended, carry_out, planned, settle
from auditor.auditing.tally import LOOKS, added_up
from auditor.results.result import AuditResult

CLAIMS: list[tuple[Any, str]] = [
    (auditor.PureDP(0.5), "fixed"),
    (auditor.ApproximateDP(0.5, 0.01), "fixed"),
    (auditor.PureDP(0.5), "two-intervals"),
    (auditor.PrivacyProfile([(0.5, 0.1), (1.0, 0.01)]), "fixed"),
    (auditor.GaussianDP(0.5), "fixed"),
    (auditor.ZeroConcentratedDP(0.1), "fixed"),
    (auditor.PureDP(0.5), "sequential"),
    (auditor.ZeroConcentratedDP(0.1), "sequential"),
    (auditor.Probability(0.9, at_most=True), "fixed"),
    (auditor.Probability(0.9, at_least=True), "fixed"),
]


def laplace(dataset: float, size: int, rng: np.random.Generator) -> Any:
    return rng.laplace(dataset, 1.0, size)


def is_positive(dataset: float, size: int, rng: np.random.Generator) -> Any:
    return rng.laplace(dataset, 1.0, size) > 0


def audited(claim: Any, method: str = "fixed", batch: int = 700) -> AuditResult:
    return ended(claim, method, batch).result()


def ended(claim: Any, method: str = "fixed", batch: int = 700) -> Ended:
    mechanism = is_positive if isinstance(claim, auditor.Probability) else laplace
    plan = planned(mechanism, claim, [(0, 1)], method=method, samples=3000, seed=1, workers=1, batch=batch)
    return carry_out(plan)


@pytest.mark.parametrize(("claim", "method"), CLAIMS, ids=str)
@pytest.mark.parametrize("batch", [100, 700, 10_000])
def test_the_last_point_is_the_bound_of_all_outputs(claim: Any, method: str, batch: int) -> None:
    result = audited(claim, method, batch)
    growth = result.illustration.growth
    assert result.bound is not None
    assert growth[-1] == (result.outputs.bound, result.bound.value)
    assert len(growth) >= 10 or method == "sequential"
    assert [outputs for outputs, _ in growth] == sorted({outputs for outputs, _ in growth})


@pytest.mark.parametrize("audits", [1, 7])
def test_growth_and_profile_are_of_the_level_that_the_file_allows(audits: int) -> None:
    """Like the bound, which Holm's step-down may judge at another level than the plan's."""
    [settled] = settle([ended(auditor.PureDP(0.5))], 0.001, audits)
    assert settled.bound is not None
    assert settled.illustration.growth[-1][1] == settled.bound.value
    profile = dict(settled.illustration.profile)
    crossed = max((epsilon for epsilon, delta in profile.items() if delta > 0), default=0.0)
    # The curve spends a part of the level on the rate of guesses, so that it ends a little below the bound.
    assert settled.bound.value - 0.1 < crossed <= settled.bound.value


@pytest.mark.parametrize("pieces", [1, 5, 16, 17, 100, 1000])
def test_counts_add_up_at_even_steps(pieces: int) -> None:
    looks = added_up([(10, 1)] * pieces)
    assert looks[-1] == (10 * pieces, pieces)
    assert len(looks) == min(pieces, LOOKS)
    assert all(outputs == 10 * counts for outputs, counts in looks)


def test_a_profile_lies_below_the_truth() -> None:
    """Laplace of ε = 1: δ(ε) = 1 − e^((ε − 1)/2); a false failure needs a bound that errs, which has a chance of 0.1 %, seeded."""
    for epsilon, delta in audited(auditor.ApproximateDP(0.5, 0.01)).illustration.profile:
        assert delta <= max(0.0, 1 - math.exp((epsilon - 1) / 2))
