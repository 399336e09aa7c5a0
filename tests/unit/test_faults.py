"""The README's table of faults by their kind: it is that of the reports, and no violation is left out of it."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from benchmarks.faults import PROJECT, faults, table, with_table

SOURCES = ("benchmarks/faults.yaml", "benchmarks/corpus/results.json", "reports/field/field.json")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Return a project with the corpus and the field, and no other report."""
    for name in SOURCES:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(PROJECT / name, tmp_path / name)
    return tmp_path


def _change(file: Path, index: int, **values: Any) -> None:
    rows = json.loads(file.read_text(encoding="utf-8"))
    rows[index] |= values
    file.write_text(json.dumps(rows), encoding="utf-8")


def _report(project: Path, source: str, name: str, verdict: str) -> None:
    folder = project / "reports" / source / name
    folder.mkdir(parents=True)
    key = "accountants" if source == "accountants" else "audits"
    text = json.dumps({key: [{"name": "a call", "verdict": verdict}]})
    (folder / "report.json").write_text(text, encoding="utf-8")


def test_the_readme_has_the_table_of_the_reports() -> None:
    page = (PROJECT / "README.md").read_text(encoding="utf-8")
    assert with_table(page) == page


def test_each_bug_of_the_corpus_is_counted_and_the_one_that_is_missed_too(project: Path) -> None:
    lines = json.loads((project / SOURCES[1]).read_text(encoding="utf-8"))
    before = [line["verdict"] == "violation" for line in lines if line["side"] == "before"]
    found = [fault.found for fault in faults(project) if fault.source == "corpus"]
    assert (len(found), sum(found)) == (len(before), sum(before))


def test_what_an_audit_no_longer_finds_is_missed(project: Path) -> None:
    tried = faults(project)
    _change(project / SOURCES[1], 0, verdict="no violation found")
    again = faults(project)
    assert len(again) == len(tried)
    assert sum(fault.found for fault in again) == sum(fault.found for fault in tried) - 1


def test_two_relations_of_a_function_are_one_fault(project: Path) -> None:
    names = [fault.name for fault in faults(project) if fault.source == "field"]
    assert len(set(names)) == len(names)
    assert not any(name.endswith((", substitute", ", add/remove")) for name in names)


@pytest.mark.parametrize("source", ["libraries", "training"])
def test_a_violation_without_a_kind_is_refused(project: Path, source: str) -> None:
    _report(project, source, "opendp", "violation")
    with pytest.raises(ValueError, match="opendp: a call"):
        faults(project)


def test_what_an_accountant_states_too_low_is_of_the_kind_accounting(project: Path) -> None:
    _report(project, "accountants", "new", "violation")
    [fault] = [fault for fault in faults(project) if fault.source == "accountants"]
    assert (fault.kind, fault.found) == ("accounting", True)


def test_a_name_that_no_report_has_is_refused(project: Path) -> None:
    _change(project / SOURCES[1], 0, function="another")
    with pytest.raises(ValueError, match=r"another|make_randomized_response_bool"):
        faults(project)


def test_the_table_adds_up(project: Path) -> None:
    kinds = {fault.kind: "" for fault in faults(project)}
    *rows, last = [line.split(" | ") for line in table(faults(project), kinds).splitlines()[2:]]
    for column in (-2, -1):
        assert sum(int(row[column].strip(" |")) for row in rows) == int(last[column].strip(" |"))
