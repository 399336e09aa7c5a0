"""Programs and specimens of the proof benchmark are proved and refuted again; its committed figures are as expected.

What takes longer than a few seconds is in `long/test_benchmarked_proofs_at_length.py`.
"""

import functools
import itertools
import json
from typing import Any

import pytest
from folders import PROJECT

from auditor.auditing.plan import Plan
from auditor.claims import PureDP
from auditor.config.load import load_configuration
from auditor.prover import Attempted
from benchmarks import proofs
from dp_prover import attempt

FIGURES: dict[str, Any] = json.loads((PROJECT / "benchmarks/results/proofs.json").read_text(encoding="utf-8"))[
    "figures"
]
SPECIMENS = {entry["audit"]: entry for entry in FIGURES["specimens"]}
SLOW_TO_PROVE = ("shifted inverse", "propose-test-release", "sparse vector")
QUICK = [name for name in SPECIMENS if not any(slow in name for slow in SLOW_TO_PROVE)]
QUICK_TO_REFUTE = [
    "sparse vector, no noise on queries",
    "sparse vector, no cutoff",
    "noisy max, value",
    "partial sum, half the noise",
    "smart sum, no noise on blocks",
]


@pytest.mark.parametrize("name", proofs.SOUND)
def test_a_program_of_checkdp_is_proved_with_the_committed_bound(name: str) -> None:
    program = proofs.SOUND[name]
    for cutoff, measured in zip(program.cutoffs, FIGURES["sound"][name], strict=True):
        proof = proofs.proof_of(program, proofs.QUERIES, cutoff)
        assert (proof["proved"], proof["bound"]) == (True, pytest.approx(measured["bound"], rel=1e-6))


@pytest.mark.parametrize("name", proofs.FAULTY)
def test_no_faulty_program_is_proved(name: str) -> None:
    program = proofs.FAULTY[name]
    for cutoff, measured in zip(program.cutoffs, FIGURES["faulty"][name], strict=True):
        proof = proofs.proof_of(program, proofs.QUERIES, cutoff)
        assert not proof["proved"]
        assert proof["pair"] == measured["pair"]


@pytest.mark.parametrize("name", QUICK_TO_REFUTE)
def test_outputs_refute_a_faulty_program_on_the_pair_that_its_failed_proof_names(name: str) -> None:
    """Each loses far more than its claim, and the seed is fixed: a bound misses the claim with probability below 1e-6."""
    program = proofs.FAULTY[name]
    [cutoff] = program.cutoffs
    pair = proofs.proof_of(program, proofs.QUERIES, cutoff)["pair"]
    assert proofs.refuted(program, cutoff, pair)["verdict"] == "violation"


@functools.cache
def plans() -> dict[str, Plan]:
    files = [load_configuration(file) for file in sorted((PROJECT / "configs").glob("*.yaml"))]
    return {f"{file.name}: {plan.name}": plan for file in files for plan in file.plans}


@functools.cache
def proof_of_specimen(name: str) -> Attempted:
    plan = plans()[name]
    return attempt(plan.source.drawer(), plan.claim, plan.domain, 60.0)


@pytest.mark.parametrize("name", QUICK)
def test_a_specimen_is_proved_as_far_as_the_benchmark_proved_it(name: str) -> None:
    entry, plan, proof = SPECIMENS[name], plans()[name], proof_of_specimen(name)
    assert (str(plan.claim), str(plan.expect)) == (entry["claim"], entry["expected"])
    assert (proof.proved, str(proof.scope)) == (entry["proved"], entry["scope"]), proof.reason
    assert proof.value == (entry["upper"] if entry["upper"] is None else pytest.approx(entry["upper"], rel=1e-6))


# The prover does not model views of an array's bytes, or floating-point representations.
NOT_MODELLED = ("001-local-sensitivity: sample and aggregate, corrected", "classics: snapping mechanism, bits")
SOUND_AND_PURE = [
    name
    for name in QUICK
    if isinstance(plans()[name].claim, PureDP)
    and plans()[name].expect == "no_violation_found"
    and name not in NOT_MODELLED
]


@pytest.mark.parametrize("name", SOUND_AND_PURE)
def test_every_sound_specimen_of_pure_privacy_is_proved(name: str) -> None:
    """Specimens on records are proved only for the listed pairs, where the bound may lie above the claim."""
    proof = proof_of_specimen(name)
    assert proof.proved or (str(proof.scope) == "these pairs" and proof.value is not None), proof.reason


# A proof is about real numbers, and not about bits.
OVER_THE_REALS = [name for name in SPECIMENS if "bits" not in SPECIMENS[name]["events"]]


@pytest.mark.parametrize("name", [name for name in OVER_THE_REALS if name in QUICK])
def test_no_specimen_is_proved_whose_claim_fails(name: str) -> None:
    assert not (proof_of_specimen(name).proved and plans()[name].expect == "violation")


# A proof for listed pairs says nothing about the pair that the audit found.
OF_ALL_DATA_SETS = [name for name in OVER_THE_REALS if SPECIMENS[name]["scope"] == "all data sets of the domain"]


def in_order(name: str) -> bool:
    """Whether the bound by outputs, the exact value on the pair found, and the proved bound do not contradict each other."""
    entry = SPECIMENS[name]
    ends = [entry["lower"], entry["exact on the pair"], proof_of_specimen(name).value]
    stated = [end for end in ends if end is not None]
    return all(above >= below * (1 - 1e-6) for below, above in itertools.pairwise(stated))


@pytest.mark.parametrize("name", [name for name in OF_ALL_DATA_SETS if name in QUICK])
def test_the_bound_by_outputs_the_exact_value_and_the_proof_are_in_this_order(name: str) -> None:
    assert in_order(name)


def test_these_tests_have_cases() -> None:
    assert (len(SOUND_AND_PURE), len(OF_ALL_DATA_SETS), len(QUICK)) >= (15, 15, 40)
