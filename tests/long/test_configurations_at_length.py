"""The committed configurations, run as a user would: every verdict as the documents' analysis says."""

from pathlib import Path

import pytest

from auditor.auditing.flow import run
from auditor.config.load import load_configuration

CONFIGS = sorted((Path(__file__).parents[2] / "configs").glob("*.yaml"))


NAMES = [file.stem for file in CONFIGS]


@pytest.mark.parametrize("file", CONFIGS, ids=NAMES)
def test_every_expectation_is_met(file: Path) -> None:
    results = [run(plan) for plan in load_configuration(file).plans]
    assert {r.name: str(r.verdict) for r in results} == {r.name: str(r.expected) for r in results}


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
