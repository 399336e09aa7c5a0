"""Runs what CONTRIBUTING.md shows: a claim, a method, a domain and a format registered from outside the package.

The audits of the page are seeded; each verdict is more than 10 standard errors from its claim.
"""

import importlib
import io
import json
import re
from collections.abc import Iterator
from pathlib import Path

import jsonschema
import pytest
import yaml
from folders import PROJECT
from pages import run_page, session
from rich.console import Console

import auditor
from auditor import claims, methods
from auditor.auditing.consistent import read_report, recounted
from auditor.cli import main
from auditor.config.schema import json_schema
from auditor.report import formats
from auditor.report.ci import annotations
from auditor.report.compare import compare
from auditor.report.terminal import print_result
from auditor.results.files import to_json

TEXT = (PROJECT / "CONTRIBUTING.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Run the page, and keep its registrations while the tests run. Afterwards everything is removed."""
    kinds, expected, forms = dict(claims.CLAIM_KINDS), dict(methods.METHODS), list(formats.FORMATS)
    here = tmp_path_factory.mktemp("contributing")
    with pytest.MonkeyPatch.context() as monkeypatch, session(here, monkeypatch):
        run_page(TEXT, here)
        yield here
    for registry, before in ((claims.CLAIM_KINDS, kinds), (methods.METHODS, expected)):
        registry.clear()
        registry.update(before)
    formats.FORMATS[:] = forms


def audited(folder: Path, tv: float) -> auditor.AuditResult:
    claim = importlib.import_module("total_variation").TotalVariation(tv)
    answer = importlib.import_module("bits").answer
    return auditor.audit(
        answer, claim, [([0], [1])], parameters={"lies": 0.25}, samples=20_000, seed=7, workers=1, name=f"tv {tv}"
    )


@pytest.fixture(scope="module")
def result(folder: Path) -> auditor.RunResult:
    """The results of a leaky mechanism and of a sound one under the page's claim."""
    return recounted(auditor.RunResult("own", 0.999, [audited(folder, 0.4), audited(folder, 0.6)]))


def test_a_claim_of_ones_own_refutes_the_leaky_and_passes_the_sound(result: auditor.RunResult) -> None:
    leaky, sound = result.audits
    assert leaky.verdict == "violation"
    assert sound.verdict == "no_violation_found"
    for audit in result.audits:
        assert audit.bound is not None
        assert audit.bound.value < 0.5  # the truth


def test_its_report_is_read_and_written_again(result: auditor.RunResult, tmp_path: Path) -> None:
    (tmp_path / "report.json").write_text(to_json(result.to_dict()), encoding="utf-8")
    again = read_report(tmp_path / "report.json")
    assert [audit.claim for audit in again.audits] == [audit.claim for audit in result.audits]
    assert to_json(again.to_dict()) == to_json(result.to_dict())
    assert compare(again, result) == []


def test_every_form_of_a_report_shows_it(result: auditor.RunResult) -> None:
    for form in formats.FORMATS:
        assert "tv 0.4" in form.write(result), form.option
    printed = io.StringIO()
    print_result(result, Console(file=printed, width=160))
    for shown in (
        printed.getvalue(),
        str(result.audits[0]),
        *annotations(result, "own.yaml")[:1],
        result._repr_html_(),
    ):
        assert "tv ≥ 0.4" in shown


def test_a_configuration_and_its_schema_know_the_claim_and_the_domain(folder: Path) -> None:
    given = yaml.safe_load((folder / "vectors.yaml").read_text(encoding="utf-8"))
    jsonschema.validate(given, json_schema())
    assert main(["check", "vectors.yaml"]) == 0
    assert main(["plan", "vectors.yaml"]) == 0
    [audit] = json.loads((folder / "made" / "vectors" / "report.json").read_text(encoding="utf-8"))["audits"]
    assert (audit["claim"], audit["tried"]["neighbours"]) == ({"tv": 0.6}, "3 bits, of which neighbours differ in one")


def test_a_domain_has_its_own_relation(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = (folder / "vectors.yaml").read_text(encoding="utf-8")
    (folder / "related.yaml").write_text(
        text.replace("three_bits}", "three_bits, relation: add_remove}"), encoding="utf-8"
    )
    assert main(["check", "related.yaml"]) == 2
    assert "returned a domain, which has its own relation; leave out relation" in capsys.readouterr().err


def test_run_and_show_write_a_format_of_ones_own(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    beside = (folder / "made" / "vectors" / "table.tsv").read_text(encoding="utf-8")
    assert main(["show", "made/vectors/report.json", "--table", "-"]) == 0
    assert capsys.readouterr().out == beside
    assert re.fullmatch(r"three bits\tno_violation_found\t0\.[34]\d\d\n", beside)
