"""The table of the documents' claims, made from a folder of reports."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from made_results import BLANK

from auditor.results.result import RunResult
from mechanisms.specimen_table import specimen_table
from mechanisms.specimens import Statement, list_specimens

SOUND = Statement(1, "002", "ε", "one value of k", holds=True)
FAULTY = Statement(9, "000", "(ε, δ)", "substitution", holds=False)
SPECIMENS = [("m:sound", SOUND), ("m:faulty", FAULTY), ("m:both", SOUND), ("m:both", FAULTY)]


def entry(mechanism: str, expected: str = "no_violation_found", **changes: Any) -> dict[str, Any]:
    made = {
        "name": f"audit of {mechanism}",
        "mechanism": mechanism,
        "verdict": expected,
        "expected": expected,
        "passed": True,
        "claim": {"epsilon": 1.0},
        "bound": {"quantity": "epsilon", "value": 0.98765, "confidence": 0.999, "method": "guesses"},
        "exact": {"value": 1.0, "error": 1e-12},
        "pair": {"left": [0, 1], "right": [0], "relation": "add_remove"},
        "outputs": {"search": 1000, "selection": 200, "bound": 30_000},
    }
    [whole] = RunResult("one", 0.999, [BLANK], 1.0).to_dict()["audits"]
    return {**whole, **made, **changes}


def folder(place: Path, **reports: list[dict[str, Any]]) -> Path:
    for name, audits in reports.items():
        (place / name).mkdir()
        report = {"version": 1, "auditor": "0.1.0", "name": name, "confidence": 0.999, "seconds": 1.0, "audits": audits}
        (place / name / "report.json").write_text(json.dumps(report), encoding="utf-8")
    return place


def rows(place: Path, specimens: Any = SPECIMENS) -> list[list[str]]:
    lines = [line for line in specimen_table(specimens, place).splitlines() if line.startswith("|")]
    cells = [re.split(r"(?<!\\)\|", line)[1:-1] for line in lines[2:]]
    return [[re.sub(r"\\(.)", r"\1", cell.strip()) for cell in row] for row in cells]


def test_a_row_says_what_was_claimed_and_what_was_found(tmp_path: Path) -> None:
    place = folder(tmp_path, one=[entry("m:sound")])
    [row] = rows(place, SPECIMENS[:1])
    assert row == [
        "1",
        "002",
        "m:sound",
        "one value of k",
        "ε",
        "yes",
        "[audit of m:sound](one/summary.md)",
        "epsilon 0.988",
        "1.000",
        "[0, 1] and [0]",
        "31,200",
    ]


def test_an_audit_belongs_to_the_statement_whose_verdict_it_expects(tmp_path: Path) -> None:
    place = folder(tmp_path, one=[entry("m:both", "violation", name="broken"), entry("m:both", name="kept")])
    both = [row for row in rows(place) if row[2] == "m:both"]
    assert [(row[0], row[5], row[6]) for row in both] == [
        ("1", "yes", "[kept](one/summary.md)"),
        ("9", "**no**", "[broken](one/summary.md)"),
    ]


def test_statements_without_an_audit_are_not_left_out(tmp_path: Path) -> None:
    lines = rows(folder(tmp_path, one=[entry("m:sound")]))
    assert [row[6] for row in lines] == ["[audit of m:sound](one/summary.md)", *["not audited here"] * 3]
    assert [row[6] for row in rows(tmp_path / "empty")] == ["not audited here"] * 4


def test_a_report_with_fewer_outputs_of_the_same_claim_is_no_row_of_its_own(tmp_path: Path) -> None:
    first_look = entry("m:sound", outputs={"search": 0, "selection": 10, "bound": 100})
    other_claim = entry("m:sound", outputs={"bound": 100}, claim={"epsilon": 2.0}, name="other")
    place = folder(tmp_path, full=[entry("m:sound")], quickstart=[first_look, other_claim])
    assert [row[6] for row in rows(place, SPECIMENS[:1])] == [
        "[audit of m:sound](full/summary.md)",
        "[other](quickstart/summary.md)",
    ]


@pytest.mark.parametrize(
    ("changes", "cells"),
    [
        ({"bound": None, "pair": None, "exact": None}, ["–", "", "–"]),
        ({"exact": {"value": "Infinity", "error": 0.0}}, ["epsilon 0.988", "∞", "[0, 1] and [0]"]),
        (
            {"pair": {"left": list(range(50)), "right": 0.123456, "relation": "as_given"}},
            ["epsilon 0.988", "1.000", "50 records: 0, 1, …, 49 and 0.1235"],
        ),
        (
            {"pair": {"left": [[1.0, 2.0]], "right": [], "relation": "add_remove"}},
            ["epsilon 0.988", "1.000", "[[1, 2]] and []"],
        ),
    ],
)
def test_what_is_missing_infinite_or_long_has_its_words(
    tmp_path: Path, changes: dict[str, Any], cells: list[str]
) -> None:
    [row] = rows(folder(tmp_path, one=[entry("m:sound", **changes)]), SPECIMENS[:1])
    assert row[7:10] == cells


def test_rows_stand_in_order_without_a_gap_but_the_open_problem() -> None:
    numbers = [statement.row for _, statement in list_specimens()]
    assert numbers == sorted(numbers)
    assert set(numbers) == set(range(1, 48)) - {21}


def test_rows_beyond_the_documents_have_one_statement_each_and_name_a_paper() -> None:
    beyond = [statement for _, statement in list_specimens() if statement.row > 22]
    assert [statement.row for statement in beyond] == list(range(23, 48))
    assert all(re.search(r" \d{4}$", statement.document) for statement in beyond)
