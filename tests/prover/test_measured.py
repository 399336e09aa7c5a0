"""What the benchmark of proofs found (benchmarks/results/proofs.json), proved again: programs of CheckDP, and all specimens."""

import functools
import itertools
import json
from pathlib import Path
from typing import Any

import pytest

from auditor.auditing.plan import Plan
from auditor.config.load import load_configuration
from benchmarks import proofs
from dp_prover import attempt

RESULTS = Path(__file__).parents[2] / "benchmarks" / "results"
FIGURES: dict[str, Any] = json.loads((RESULTS / "proofs.json").read_text(encoding="utf-8"))["figures"]
SPECIMENS = {entry["audit"]: entry for entry in FIGURES["specimens"]}


# A proof of a specimen that took longer when it was measured is not made again here.
SLOW = ("shifted inverse", "propose-test-release", "sparse vector")
QUICK = [name for name in SPECIMENS if not any(slow in name for slow in SLOW)]


@pytest.mark.parametrize("name", FIGURES["sound"])
def test_a_program_of_checkdp_is_proved_and_was_within_five_seconds(name: str) -> None:
    program = proofs.SOUND[name]
    for cutoff, measured in zip(program.cutoffs, FIGURES["sound"][name], strict=True):
        assert measured["seconds"] <= 5
        found = proofs.proof_of(program, proofs.QUERIES, cutoff)
        assert (found["proved"], found["bound"]) == (True, pytest.approx(measured["bound"], rel=1e-6))


@pytest.mark.parametrize("name", FIGURES["faulty"])
def test_no_faulty_program_is_proved(name: str) -> None:
    program = proofs.FAULTY[name]
    for cutoff, measured in zip(program.cutoffs, FIGURES["faulty"][name], strict=True):
        found = proofs.proof_of(program, proofs.QUERIES, cutoff)
        assert not found["proved"]
        assert found["pair"] == measured["pair"]


@functools.cache
def plans() -> dict[str, Plan]:
    files = [load_configuration(file) for file in sorted((RESULTS.parents[1] / "configs").glob("*.yaml"))]
    return {f"{file.name}: {plan.name}": plan for file in files for plan in file.plans}


@pytest.mark.parametrize("name", QUICK)
def test_what_was_proved_of_a_specimen_is_proved_again(name: str) -> None:
    entry, plan = SPECIMENS[name], plans()[name]
    assert (str(plan.claim), str(plan.expect)) == (entry["claim"], entry["expected"])
    proof = attempt(plan.source.drawer(), plan.claim, plan.domain, 60.0)
    assert (proof.proved, str(proof.scope)) == (entry["proved"], entry["scope"]), proof.reason
    assert proof.value == (entry["upper"] if entry["upper"] is None else pytest.approx(entry["upper"], rel=1e-6))


RARE_AND_SLIGHT = "adaptive sparse vector, noisy query"  # 9ε/8 on an event of probability 4e-4


@pytest.mark.parametrize("name", sorted({*FIGURES["faulty"]} - {RARE_AND_SLIGHT}))
def test_outputs_refute_a_faulty_program_on_the_pair_that_its_failed_proof_names(name: str) -> None:
    assert all(one["verdict"] == "violation" for one in FIGURES["faulty"][name])


# It finds equal rows by a view of their bytes.
LOOKS_AT_MEMORY = "001-local-sensitivity: sample and aggregate, corrected"


@pytest.mark.parametrize("name", SPECIMENS)
def test_every_sound_specimen_of_pure_privacy_on_totals_or_values_is_proved(name: str) -> None:
    """Records are proved for the pairs that are listed. The snapping mechanism is about floating point, and one is not read."""
    entry = SPECIMENS[name]
    is_pure = entry["claim"].startswith("ε") and "δ" not in entry["claim"]
    if is_pure and entry["expected"] == "no_violation_found" and "snapping" not in name and name != LOOKS_AT_MEMORY:
        assert entry["proved"] or (entry["scope"] == "these pairs" and entry["upper"] is not None), entry["reason"]


@pytest.mark.parametrize("name", SPECIMENS)
def test_the_bound_by_outputs_the_exact_value_and_the_proof_are_in_this_order(name: str) -> None:
    """A proof is about real numbers, so that bits are left out. One for listed pairs says nothing of the pair that was found."""
    entry = SPECIMENS[name]
    if "bits" in entry["events"] or entry["scope"] != "all data sets of the domain":
        return
    ends = [entry[key] for key in ("lower", "exact on the pair", "upper") if entry[key] is not None]
    assert ends == sorted(ends) or all(b >= a * (1 - 1e-6) for a, b in itertools.pairwise(ends))
    assert not (entry["proved"] and entry["expected"] == "violation")


def test_no_random_program_was_proved_below_its_exact_value() -> None:
    figures = json.loads((RESULTS / "random_proofs.json").read_text(encoding="utf-8"))["figures"]
    assert figures["programs"] >= 5_000 and figures["below the exact value"] == 0
    assert figures["proved above 0"] >= 500 and figures["sharp"] >= figures["proved"] / 2
