"""Sampled bounds against exact values, for every audit whose mechanism's distribution is known."""

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from auditor.auditing.flow import exact_value, run
from auditor.auditing.plan import Plan
from auditor.blackbox.sampling import Execution
from auditor.config.load import load_configuration
from auditor.interfaces import Domain
from auditor.neighbours.pair import Arrays, Pair, Relation
from auditor.verdict import Verdict
from mechanisms.specimens import list_specimens

FOLDER = Path(__file__).parent.parent / "configs"
CONFIGS = [*sorted(FOLDER.glob("0*.yaml")), FOLDER / "classics.yaml"]
PLANS = {
    f"{file.stem.split('-')[0]} {plan.name}": plan
    for file in CONFIGS
    for plan in load_configuration(file).plans
    if hasattr(plan.source.load(), "__truth__") and plan.settings.events == ("values",)
}
SOUND = [name for name, plan in PLANS.items() if plan.expect is Verdict.NO_VIOLATION_FOUND]
FAULTY = [name for name, plan in PLANS.items() if plan.expect is Verdict.VIOLATION]


def exact(plan: Plan, pair: Pair) -> tuple[float, float]:
    found = exact_value(plan, pair)
    assert found is not None
    return found.value, found.error


def quick(plan: Plan, seed: int, alpha: float, samples: int) -> Plan:
    search = 6000 if plan.settings.search is None else min(6000, plan.settings.search)
    settings = replace(plan.settings, seed=seed, samples=samples, search=search, execution=Execution(workers=1))
    return replace(plan, alpha=alpha, settings=settings)


def test_every_row_with_a_truth_is_here() -> None:
    """Rows 6, 7, 41, 45, 46 and 47 have no distribution that is computed here; all others but the open problem are looked at."""
    rows = {
        statement.row
        for name, statement in list_specimens()
        if any(plan.source.name == name for plan in PLANS.values())
    }
    assert rows == set(range(1, 48)) - {6, 7, 21, 41, 45, 46, 47}
    assert len(SOUND) + len(FAULTY) == len(PLANS)


# --- The sampled bound and the truth ---

# A bound may exceed the truth with probability alpha. 1e-9 for each of the 51 × 2 audits: about 1e-7 for all.
ALPHA = 1e-9


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.statistical)])
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.statistical if name.startswith(("classics", "003", "004")) else [])
        for name in PLANS
    ],
)
def test_no_bound_exceeds_the_truth(name: str, seed: int) -> None:
    result = run(quick(PLANS[name], seed, ALPHA, 10_000))
    assert result.bound is not None
    assert result.exact is not None
    assert result.bound.value <= result.exact.value + result.exact.error


# Row, audit, and the share of the exact value that the bound reaches on fewer outputs. At n outputs and level a, an ε of 1 is
# missed by about √(2 ln(1/a)/n)·(1 + e)²/(2e)^(3/2) ~ 0.03 at n = 10⁵ and a = 1e-4 where every output counts; ρ = ½ by twice as
# much and what learning costs. A quarter is three to eight times that.
TIGHT = {
    "1": "002 k-ary randomised response",
    "2": "002 basic one-time RAPPOR",
    "3": "002 Laplace mechanism, three totals",
    "4": "002 discrete Laplace mechanism, three totals",
    "17": "003 shifted inverse, max, |ℓ − τ|",
    "17, three records": "003 shifted inverse, max, three records a person",
    "22": "004 Gaussian counts",
}


def share_reached(plan: Plan) -> float:
    result = run(plan)
    assert result.bound is not None
    assert result.exact is not None
    assert result.bound.value <= result.exact.value + result.exact.error
    return result.bound.value / result.exact.value


@pytest.mark.parametrize(
    "row", ["1", "4", *(pytest.param(row, marks=pytest.mark.statistical) for row in ("2", "3", "22"))]
)
def test_most_of_the_truth_is_reached_with_few_outputs(row: str) -> None:
    plan = PLANS[TIGHT[row]]
    assert share_reached(plan.with_settings(samples=100_000, execution=Execution(workers=1))) >= 0.75


@pytest.mark.statistical
@pytest.mark.parametrize("row", TIGHT)
def test_nearly_all_of_the_truth_is_reached_with_a_million_outputs(row: str) -> None:
    assert share_reached(PLANS[TIGHT[row]].with_settings(samples=1_000_000)) >= 0.95


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
