"""The committed configurations, and one of them run as a user would."""

from pathlib import Path

import pytest

from auditor.auditing.flow import run
from auditor.config.load import load_configuration

CONFIGS = sorted((Path(__file__).parents[2] / "configs").glob("*.yaml"))


def test_a_tenth_of_the_outputs_meets_the_expectations() -> None:
    [file] = [file for file in CONFIGS if file.stem == "quickstart"]
    results = [run(plan) for plan in load_configuration(file, samples=100_000).plans]
    assert {r.name: str(r.verdict) for r in results} == {r.name: str(r.expected) for r in results}


@pytest.mark.parametrize("file", CONFIGS, ids=lambda file: file.stem)
def test_no_configuration_names_the_pair_where_a_false_claim_breaks(file: Path) -> None:
    assert "pairs:" not in file.read_text(encoding="utf-8")
