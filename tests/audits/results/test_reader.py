"""report.json read back: equal results, an equal file, and errors that name the place."""

import json
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from every_kind import every_kind
from folders import PROJECT

import auditor
from auditor.auditing.consistent import read_report
from auditor.errors import InvalidInputError
from auditor.report.markdown import to_markdown
from auditor.results.files import to_json
from auditor.results.result import RunResult

TRIED = {"neighbours": "some", "pairs": 1, "events": ["values"]}


@pytest.fixture(scope="module")
def whole() -> RunResult:
    return every_kind()


def written(report: Any, place: Path) -> Path:
    file = place / "report.json"
    file.write_text(report if isinstance(report, str) else json.dumps(report), encoding="utf-8")
    return file


def test_what_is_read_and_written_again_is_the_same_file(whole: RunResult, tmp_path: Path) -> None:
    text = to_json(whole.to_dict())
    again = read_report(written(text, tmp_path))
    assert to_json(again.to_dict()) == text
    assert to_markdown(again) == to_markdown(whole)


@pytest.mark.parametrize(
    "file", sorted((PROJECT / "reports").rglob("report.json")), ids=lambda file: str(file.parent.name)
)
def test_a_committed_report_is_written_again_as_it_was(file: Path) -> None:
    assert to_json(read_report(file).to_dict()) == file.read_text(encoding="utf-8")


def test_a_report_of_another_auditor_keeps_its_number(whole: RunResult, tmp_path: Path) -> None:
    report = {**json.loads(to_json(whole.to_dict())), "auditor": "7.7.7"}
    assert read_report(written(report, tmp_path)).to_dict()["auditor"] == "7.7.7"
    assert whole.auditor == auditor.__version__


def test_a_result_has_no_truth_so_an_assertion_on_it_cannot_pass(whole: RunResult) -> None:
    for result in (whole, *whole.audits):
        with pytest.raises(TypeError, match=f'verdict is "{result.verdict}"; write `assert result.passed`'):
            assert result


@pytest.mark.parametrize(("key", "why"), [("tried", "it lacks"), ("ahead", "it has")])
def test_a_report_with_other_keys_is_refused(whole: RunResult, tmp_path: Path, key: str, why: str) -> None:
    report = json.loads(to_json(whole.to_dict()))
    first = report["audits"][0]
    report["audits"][0] = {name: first[name] for name in first if name != key} | ({} if key in first else {key: None})
    with pytest.raises(
        InvalidInputError, match=f'audit 1: {why} "{key}": another version wrote it; run the audit again'
    ):
        read_report(written(report, tmp_path))


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "it is not JSON"),
        ("{", "it is not JSON"),
        ("[" * 100_000, "it is not JSON"),
        ("3", "the file is 3; it must be an object"),
        ("{}", 'the file lacks "audits"'),
        ('{"version": 2, "audits": []}', "it has version 2; this auditor reads version 1"),
        ('{"version": true, "audits": []}', "it has version True"),
        ('{"version": 1.0, "audits": []}', "it has version 1.0"),
        ('{"version": 1, "audits": 3}', '"audits" is 3; it must be a list'),
    ],
)
def test_what_is_no_report_is_told_with_its_place(text: str, why: str, tmp_path: Path) -> None:
    file = written(text, tmp_path)
    with pytest.raises(InvalidInputError) as caught:
        read_report(file)
    assert str(caught.value).startswith(f"{file} is not a report of this program: ")
    assert why in str(caught.value)


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match=r"there is no file .*nowhere\.json"):
        read_report(tmp_path / "nowhere.json")


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"verdict": "violatoin"}, 'did you mean "violation"'),
        ({"claim": {"epsilom": 1.0}}, 'did you mean "epsilon"'),
        ({"bound": {"quantity": "epsilon"}}, '"bound" of audit 1 lacks "value"'),
        ({"power": {"80%": "many"}}, 'must be a number, "Infinity"'),
        ({"power": {}}, 'it has the keys []; it must have "80%" and "95%"'),
        (
            {"bound": {"quantity": "epsilon", "value": 1.0, "confidence": "NaN", "method": "x"}},
            "confidence is nan; it must be",
        ),
        ({"outputs": {"bound": 10**400}}, "it must be below 2^63"),
        ({"tried": {**TRIED, "planted": {"found": [], "missed": []}}}, "no fault was found or missed"),
        ({"seed": True}, '"seed" of audit 1 is true; it must be a whole number'),
        (
            {"pair": {"left": 0, "right": 1, "relation": "cousins"}},
            '"pair" of audit 1: relation is "cousins"; allowed: add_remove',
        ),
        ({"pair": {"left": 0, "right": 1, "relation": "\ud800"}}, r'relation is "\ud800"; allowed: add_remove'),
        (
            {"illustration": {"growth": [[1]], "profile": []}},
            'entry 1 of "growth" of "illustration" of audit 1 lacks entry 2',
        ),
    ],
)
def test_what_is_wrong_in_an_audit_is_told_with_its_place(
    whole: RunResult, tmp_path: Path, change: dict[str, Any], why: str
) -> None:
    report = json.loads(to_json(whole.to_dict()))
    report["audits"][0] |= change
    with pytest.raises(InvalidInputError, match=r"report\.json is not a report of this program") as caught:
        read_report(written(report, tmp_path))
    assert why in str(caught.value)


def test_a_number_beyond_every_report_is_refused(whole: RunResult, tmp_path: Path) -> None:
    report = json.loads(to_json(whole.to_dict()))
    report["audits"][0]["bound"]["value"] = 1e308
    with pytest.raises(InvalidInputError, match=r"audit .sound., bound\.value: reported 1e\+308, made again 0\."):
        read_report(written(report, tmp_path))
    for audit in report["audits"]:
        if isinstance(audit["event"], dict) and "rule" in audit["event"] and "cells" in audit["event"]["rule"]:
            audit["event"]["rule"]["cells"]["otherwise"] = 10**400
            with pytest.raises(InvalidInputError, match="too large"):
                read_report(written(report, tmp_path))
            return
    pytest.fail("no audit has a rule")


def test_a_long_list_of_wrong_values_is_refused_by_its_first(whole: RunResult, tmp_path: Path) -> None:
    """Each error takes some 10 µs and a kilobyte, and 64 MiB hold millions of wrong values."""
    report = json.loads(to_json(whole.to_dict()))
    wrong = {"profile": [["x", "y"]] * 40_000, "histograms": [{}] * 40_000, "growth": [[]] * 40_000}
    report["audits"][0]["illustration"] = wrong
    tracemalloc.start()
    with pytest.raises(InvalidInputError, match="entry 1 of"):
        read_report(written(report, tmp_path))
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 100e6
