"""Sampled bounds against exact values, for every audit whose mechanism's distribution is known."""

import math

import numpy as np
import pytest
from known_truths import ALPHA, PLANS, TIGHT, quick, share_reached

from auditor.auditing.flow import run
from auditor.auditing.follow_ups import exact_value
from auditor.auditing.plan import Plan
from auditor.blackbox.sampling import Execution
from auditor.interfaces import Domain
from auditor.neighbours.pair import Arrays, Pair, Relation
from auditor.verdict import Verdict
from mechanisms.specimens import list_specimens

SOUND = [name for name, plan in PLANS.items() if plan.expect is Verdict.NO_VIOLATION_FOUND]
FAULTY = [name for name, plan in PLANS.items() if plan.expect is Verdict.VIOLATION]


def exact(plan: Plan, pair: Pair) -> tuple[float, float]:
    loss = exact_value(plan, pair)
    assert loss is not None
    return loss.value, loss.error


def test_every_row_with_a_truth_is_here() -> None:
    """Rows 6, 7, 41, 45, 46 and 47 have no distribution that is computed here; all others except the open problem are checked."""
    rows = {
        statement.row
        for name, statement in list_specimens()
        if any(plan.source.name == name for plan in PLANS.values())
    }
    assert rows == set(range(1, 48)) - {6, 7, 21, 41, 45, 46, 47}
    assert len(SOUND) + len(FAULTY) == len(PLANS)


# tests/long looks at all, with more outputs and seeds.
@pytest.mark.parametrize("name", [name for name in PLANS if not name.startswith(("classics", "003", "004"))][::2])
def test_no_bound_exceeds_the_truth(name: str) -> None:
    result = run(quick(PLANS[name], 0, ALPHA, 3_000))
    assert result.bound is not None
    assert result.exact is not None
    assert result.bound.value <= result.exact.value + result.exact.error


@pytest.mark.parametrize("row", ["1", "4"])
def test_most_of_the_truth_is_reached_with_few_outputs(row: str) -> None:
    plan = PLANS[TIGHT[row]]
    assert share_reached(plan.with_settings(samples=40_000, execution=Execution(workers=1, isolate=False))) >= 0.75


# --- The truth and the claim ---


def some_pairs(domain: Domain, most: int) -> list[Pair]:
    rng = np.random.default_rng(0)
    corners = domain.corners()
    picked = [corners[i] for i in rng.choice(len(corners), min(most, len(corners)), replace=False)]
    return [*picked, *(domain.random(rng) for _ in range(most))]


@pytest.mark.parametrize("name", SOUND)
def test_a_sound_specimen_keeps_its_claim_on_corners_and_random_pairs(name: str) -> None:
    plan = PLANS[name]
    for pair in some_pairs(plan.domain, 4):
        value, error = exact(plan, pair)
        assert value <= plan.claim.value + error + 1e-9, pair


# It breaks where the printed sum over k ends, and not at a corner: the search has to find it.
OFF_CORNER = "001 smooth sensitivity, as printed, small ε"


def test_the_printed_smooth_sensitivity_breaks_between_199_and_200_records() -> None:
    value, error = exact(PLANS[OFF_CORNER], Pair((0.0,) * 199, (0.0,) * 200, Relation.ADD_REMOVE, Arrays()))
    assert value - error > PLANS[OFF_CORNER].claim.value


@pytest.mark.parametrize("name", [name for name in FAULTY if name != OFF_CORNER])
def test_a_faulty_twin_breaks_its_claim_on_some_corner(name: str) -> None:
    plan = PLANS[name]
    for pair in plan.domain.corners():
        value, error = exact(plan, pair)
        if value - error > plan.claim.value:
            assert math.isfinite(error)
            return
    pytest.fail(f"{name}: no corner breaks the claim")
