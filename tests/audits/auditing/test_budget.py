"""One budget of outputs for search, selection and bound; and the largest bound that a budget proves, without a claim."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import auditor
from auditor.auditing.consistent import read_report
from auditor.auditing.plan import Settings
from auditor.auditing.sizes import largest_bound, rounds_for
from auditor.claims import OUT_OF_REACH, Unclaimed
from auditor.cli import main
from auditor.config.load import load_configuration
from auditor.errors import InvalidInputError
from auditor.neighbours.records import Records
from auditor.results.files import to_json

Rng = np.random.Generator
E1 = auditor.PureDP(1.0)
PEOPLE = Records((0, 10), size=(0, 20), integer=True)
ONCE: dict[str, Any] = {"shrink": False, "workers": 1, "seed": 1}


def count(records: Any, size: int, rng: Rng) -> Any:
    return len(records) + rng.laplace(size=size)


def spent(result: auditor.AuditResult) -> int:
    return sum(result.outputs.to_dict().values())


@pytest.mark.parametrize("method", ["fixed", "two-intervals"])
@pytest.mark.parametrize("neighbours", [PEOPLE, [(np.zeros(3), np.zeros(4))]], ids=["domain", "pair"])
def test_an_audit_spends_its_outputs_and_no_more(neighbours: Any, method: str) -> None:
    result = auditor.audit(count, E1, neighbours, outputs=40_000, method=method, **ONCE)
    assert spent(result) == 40_000


def test_a_probability_spends_its_outputs_and_no_more() -> None:
    def rarely(records: Any, size: int, rng: Rng) -> Any:
        return rng.random(size) < 0.01

    result = auditor.audit(rarely, auditor.Probability(0.05, at_most=True), PEOPLE, outputs=40_000, **ONCE)
    assert 39_000 <= spent(result) <= 40_000


def test_what_the_search_does_not_need_goes_to_the_bound() -> None:
    def nothing(records: Any, size: int, rng: Rng) -> Any:
        return rng.laplace(size=size)

    with_search = auditor.audit(nothing, E1, PEOPLE, outputs=40_000, **ONCE).outputs
    without = auditor.audit(nothing, E1, [(np.zeros(3), np.zeros(4))], outputs=40_000, **ONCE).outputs
    assert 0 < with_search.search < sum(one.search for one in rounds_for(largest_bound(40_000)))
    assert (without.search, without.selection, without.bound) == (0, 100, 39_900)
    assert with_search.total == without.total == 40_000


@pytest.mark.parametrize("samples", [200, 2_000, 40_000, 100_000, 300_000, 1_000_000, 50_000_000])
def test_samples_are_outputs_without_those_of_other_parts(samples: int) -> None:
    """So the same audit is carried out, whichever of the two is given."""
    whole = sum(one.planned for one in rounds_for(samples))
    assert Settings.of({"outputs": whole}).samples == samples
    assert Settings.of({"outputs": whole - 1}).samples == samples - 1


def test_a_search_that_is_given_is_part_of_the_outputs() -> None:
    result = auditor.audit(count, E1, PEOPLE, outputs=40_000, search=20_000, **ONCE)
    assert 19_000 <= result.outputs.search <= 20_000
    assert spent(result) <= 40_000
    with pytest.raises(InvalidInputError, match="outputs is 20000; earlier rounds, search and selection leave 0"):
        auditor.audit(count, E1, PEOPLE, outputs=20_000, search=20_000, **ONCE)


def test_samples_and_outputs_are_not_given_together() -> None:
    with pytest.raises(InvalidInputError, match="samples and outputs are both given"):
        auditor.audit(count, E1, PEOPLE, outputs=20_000, samples=10_000, **ONCE)
    with pytest.raises(InvalidInputError, match="outputs is 10; it must be an integer of at least 100"):
        auditor.audit(count, E1, PEOPLE, outputs=10, **ONCE)


CONFIG = """
version: 1
outputs: 30_000
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
    samples: 5_000
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


def test_the_later_of_two_budgets_counts(config: Path) -> None:
    def budgets(**overrides: Any) -> list[tuple[int | None, int]]:
        plans = load_configuration(config, **overrides).plans[:2]
        return [(plan.settings.outputs, plan.settings.samples) for plan in plans]

    assert budgets() == [(30_000, largest_bound(30_000)), (None, 5_000)]
    assert budgets(samples=7_000) == [(None, 7_000)] * 2
    assert budgets(outputs=10_000) == [(10_000, largest_bound(10_000))] * 2
    assert load_configuration(config, outputs=10_000).plans[0].rerun[-2:] == ("--outputs", "10000")


@pytest.mark.parametrize("true", [1.0, 8.0])
def test_a_loss_is_measured_whatever_its_size(true: float) -> None:
    def noisy(records: Any, size: int, rng: Rng) -> Any:
        return len(records) + rng.laplace(scale=1 / true, size=size)

    found = auditor.audit(noisy, neighbours=PEOPLE, outputs=400_000, **ONCE)
    assert found.bound is not None
    assert (found.verdict, found.passed, found.planted, found.power) == ("measured", True, None, None)
    assert 0.75 * true < found.bound.value <= true
    assert sum(found.outputs.to_dict().values()) <= 400_000
    assert f"loses at least ε ≥ {math.floor(1000 * found.bound.value) / 1000:.3f} with 99.90 % confidence" in str(found)


def test_what_cannot_be_measured_is_said() -> None:
    with pytest.raises(InvalidInputError, match="a privacy claim go together"):
        auditor.audit(count, neighbours=auditor.Canaries([1, 2], lambda output, canary: 0.0), method="one-run")


def test_no_number_of_outputs_refutes_what_is_out_of_reach() -> None:
    """Bounds on ε stay below ln of the outputs over the logarithm of the level."""
    result = auditor.audit(
        lambda records, size, rng: np.full(size, float(len(records))), neighbours=PEOPLE, samples=20_000, **ONCE
    )
    assert result.bound is not None
    assert result.verdict == "measured"
    assert result.bound.value < math.log(20_000) < OUT_OF_REACH


def test_a_file_has_audits_with_and_without_a_claim(config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A report says what is measured, and is read back. The level of the measured bound is no larger than Holm leaves."""
    text = CONFIG.replace("    claim: {epsilon: 1.0}\n    samples", "    samples").replace(
        "outputs: 30_000", "outputs: 9_000"
    )
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
