"""An audit without a claim proves the largest bound that its outputs allow."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import auditor
from auditor.auditing.consistent import read_report
from auditor.claims import OUT_OF_REACH, Unclaimed
from auditor.cli import main
from auditor.errors import InvalidInputError
from auditor.neighbours.records import Records
from auditor.results.files import to_json

Rng = np.random.Generator
PEOPLE = Records((0, 10), size=(0, 20), integer=True)
ONCE: dict[str, Any] = {"shrink": False, "workers": 1, "isolate": False, "seed": 1}


def count(records: Any, size: int, rng: Rng) -> Any:
    return len(records) + rng.laplace(size=size)


CONFIG = """
version: 1
samples: 5_000
execution: {isolate: false}
audits:
  - name: as the file says
    mechanism: mechanisms.additive:laplace
    parameters: {sensitivity: 1, epsilon: 1.0}
    claim: {epsilon: 1.0}
    neighbours: {domain: totals, cells: 1, values: {low: 0, high: 3}, contribution: {l1: 1}}
  - name: samples of its own
    mechanism: mechanisms.additive:laplace
    parameters: {sensitivity: 1, epsilon: 1.0}
    claim: {epsilon: 1.0}
    samples: 4_000
    neighbours: {domain: totals, cells: 1, values: {low: 0, high: 3}, contribution: {l1: 1}}
  - name: a query
    mechanism: mechanisms.additive:laplace
    claim: {sensitivity: 1}
    neighbours: {domain: totals, cells: 1, values: {low: 0, high: 3}, contribution: {l1: 1}}
"""


@pytest.fixture
def config(tmp_path: Path) -> Path:
    file = tmp_path / "budget.yaml"
    file.write_text(CONFIG, encoding="utf-8")
    return file


@pytest.mark.parametrize("true", [1.0, 8.0])
def test_a_loss_is_measured_whatever_its_size(true: float) -> None:
    def noisy(records: Any, size: int, rng: Rng) -> Any:
        return len(records) + rng.laplace(scale=1 / true, size=size)

    result = auditor.audit(noisy, neighbours=PEOPLE, samples=50_000, **ONCE)
    assert result.bound is not None
    assert (result.verdict, result.passed, result.planted, result.power) == ("measured", True, None, None)
    assert 0.75 * true < result.bound.value <= true
    assert f"loses at least ε ≥ {math.floor(1000 * result.bound.value) / 1000:.3f} with 99.90 % confidence" in str(
        result
    )


def test_what_cannot_be_measured_is_said() -> None:
    with pytest.raises(InvalidInputError, match="a privacy claim go together"):
        auditor.audit(
            count,
            neighbours=auditor.Canaries([1, 2], lambda output, canary: 0.0),
            method="one-run",
            workers=1,
            isolate=False,
        )


def test_no_number_of_outputs_refutes_what_is_out_of_reach() -> None:
    """Bounds on ε stay below ln(n / ln(1/α)) for n outputs and level α."""
    result = auditor.audit(
        lambda records, size, rng: np.full(size, float(len(records))), neighbours=PEOPLE, samples=20_000, **ONCE
    )
    assert result.bound is not None
    assert result.verdict == "measured"
    assert result.bound.value < math.log(20_000) < OUT_OF_REACH


def test_a_file_has_audits_with_and_without_a_claim(config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The report says what is measured, and can be read back. The measured bound has no more than the level that Holm leaves."""
    text = CONFIG.replace("    claim: {epsilon: 1.0}\n    samples", "    samples")
    config.write_text(text, encoding="utf-8")
    out = config.parent / "out"
    both = ["--only", "as the file says", "--only", "samples of its own"]
    assert main(["run", str(config), *both, "--workers", "1", "--out", str(out)]) == 0
    assert "samples of its own: The mechanism loses at least ε ≥ 0." in " ".join(capsys.readouterr().out.split())
    report = read_report(out / "budget" / "report.json")
    claimed, measured = report.audits
    assert (measured.claim, measured.verdict, measured.alpha) == (Unclaimed(), "measured", claimed.alpha)
    assert to_json(report.to_dict()) == (out / "budget" / "report.json").read_text(encoding="utf-8")
    assert report.to_dict()["audits"][1]["claim"] is None
    for form in ("--html", "--markdown", "--junit"):
        assert main(["show", str(out / "budget" / "report.json"), form, "-"]) == 0
        assert "loses at least ε ≥ 0." in capsys.readouterr().out
    config.write_text(f"{text}    expect: violation\n".replace("    claim: {sensitivity: 1}\n", ""), encoding="utf-8")
    assert main(["check", str(config)]) == 2
    assert "expect is violation, but the audit has no claim" in capsys.readouterr().err
