"""The committed configurations, run as a user would: every verdict as the documents' analysis says."""

from pathlib import Path

import pytest

from auditor.auditing.flow import run
from auditor.config.load import load_configuration

CONFIGS = sorted((Path(__file__).parent.parent / "configs").glob("*.yaml"))


NAMES = [file.stem for file in CONFIGS]


@pytest.mark.statistical
@pytest.mark.parametrize("file", CONFIGS, ids=NAMES)
def test_every_expectation_is_met(file: Path) -> None:
    results = [run(plan) for plan in load_configuration(file).plans]
    assert {r.name: str(r.verdict) for r in results} == {r.name: str(r.expected) for r in results}


# The violation of the first is too weak for a tenth of the outputs. That of the second is found with 7 of 8 seeds, and that of the
# third with 2 of 4.
WEAK = "shifted inverse, sum of signed records", "KSW under substitution", "smooth sensitivity, as printed, small ε"


# The classics alone take minutes; `make audit` runs all of these in full.
QUICK = [
    pytest.param(file, id=file.stem, marks=pytest.mark.statistical if file.stem != "quickstart" else [])
    for file in CONFIGS
    if file.stem != "classics"
]


@pytest.mark.parametrize("file", QUICK)
def test_a_tenth_of_the_outputs_meets_the_expectations(file: Path) -> None:
    fewer, all_of_them = load_configuration(file, samples=100_000).plans, load_configuration(file).plans
    results = [run(full if full.name in WEAK else few) for few, full in zip(fewer, all_of_them, strict=True)]
    assert {r.name: str(r.verdict) for r in results} == {r.name: str(r.expected) for r in results}


@pytest.mark.parametrize("file", CONFIGS, ids=NAMES)
def test_no_configuration_names_the_pair_where_a_false_claim_breaks(file: Path) -> None:
    assert "pairs:" not in file.read_text(encoding="utf-8")


@pytest.mark.statistical
@pytest.mark.parametrize(("samples", "share"), [(100_000, 0.9), (1_000_000, 0.97)])
def test_exactly_private_mechanisms_are_bounded_within_a_few_per_cent(samples: int, share: float) -> None:
    """Rows 1 to 4: the bound reaches this share of ε and does not pass ε."""
    file = next(file for file in CONFIGS if file.stem == "002-proofs")
    for plan in load_configuration(file, samples=samples).plans:
        if plan.expect == "violation":
            continue  # floating point, which is another matter
        result = run(plan)
        assert result.bound is not None
        assert share <= result.bound.value <= 1.0, plan.name
