"""What the benchmark of proofs found (benchmarks/results/proofs.json): programs of CheckDP, and both ends of all specimens."""

import itertools
import json
from pathlib import Path
from typing import Any

import pytest

RESULTS = Path(__file__).parents[2] / "benchmarks" / "results"
FIGURES: dict[str, Any] = json.loads((RESULTS / "proofs.json").read_text(encoding="utf-8"))["figures"]
SPECIMENS = {entry["audit"]: entry for entry in FIGURES["specimens"]}


@pytest.mark.parametrize("name", FIGURES["sound"])
def test_a_program_of_checkdp_is_proved_within_five_seconds(name: str) -> None:
    assert all(one["proved"] and one["seconds"] <= 5 for one in FIGURES["sound"][name])


@pytest.mark.parametrize("name", FIGURES["faulty"])
def test_no_faulty_program_is_proved(name: str) -> None:
    assert not any(one["proved"] for one in FIGURES["faulty"][name])


@pytest.mark.parametrize("name", SPECIMENS)
def test_the_bound_by_outputs_the_exact_value_and_the_proof_are_in_this_order(name: str) -> None:
    """A proof is about real numbers, so that bits are left out. One for listed pairs says nothing of the pair that was found."""
    entry = SPECIMENS[name]
    if "bits" in entry["events"] or entry["scope"] != "all data sets of the domain":
        return
    ends = [entry[key] for key in ("lower", "exact on the pair", "upper") if entry[key] is not None]
    assert ends == sorted(ends) or all(b >= a * (1 - 1e-6) for a, b in itertools.pairwise(ends))
    assert not (entry["proved"] and entry["expected"] == "violation")
