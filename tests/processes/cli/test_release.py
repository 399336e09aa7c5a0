"""The artefacts of a release check: JUnit XML, GitHub annotations and summary, the action and the pre-commit hook."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import yaml
from folders import PROJECT
from hypothesis import given
from hypothesis import strategies as st
from made_results import changed, event_of, violation
from released import CONFIG, written

from auditor.bounds.evidence import ScoreCounts
from auditor.claims import PureDP
from auditor.cli import main
from auditor.events.observed import (
    BothAnswers,
    Hits,
    ObservedProfile,
    ObservedReport,
    ObservedRule,
    ObservedScore,
    QueryAnswers,
)
from auditor.report.ci import annotations, annotations_of, to_junit
from auditor.report.compare import Change, ChangeKind
from auditor.report.phrases import event_lines, failure_text
from auditor.results.result import AuditResult, RunResult
from auditor.verdict import Verdict

ENTRY = {
    "description": "output ≤ 0.5",
    "guess": "left",
    "counts": {"left": [7_500, 10_000], "right": [2_500, 9_999]},
    "opposite": {"description": "output > 2", "guess": "right", "counts": {"left": [1, 10_000], "right": [2, 9_999]}},
}
EVENT = event_of(ENTRY)


def result(name: str = "some audit", **changes: Any) -> AuditResult:
    defaults = {"event": EVENT, "reproduce": "auditor run some.yaml --only 'some audit'"}
    return violation(**{"name": name, **defaults, **changes})


SOUND = result("sound", verdict=Verdict.NO_VIOLATION_FOUND, claim=PureDP(1))
NO_ANSWER = result("hanging", verdict=Verdict.INCONCLUSIVE, bound=None, pair=None, event=None, reproduce=None)


def run(*audits: AuditResult, name: str = "some run") -> RunResult:
    return RunResult(name, 0.999, audits, 2.0)


def test_a_failure_is_told_in_full() -> None:
    lines = failure_text(changed(result(), warnings=("it drifts",))).splitlines()
    assert lines[0] == "violation (expected: no violation found); the claim is ε = 0.5"
    assert lines[2:] == [
        "  pair       0 and 1",
        "  event      output ≤ 0.5: 7,500 of 10,000 outputs on the left, 2,500 of 9,999 on the right",
        "  event      output > 2: 1 of 10,000 outputs on the left, 2 of 9,999 on the right",
        "  bound      ε ≥ 0.770 with 99.90 % confidence, by guesses",
        "  warning    it drifts",
        "  reproduce  auditor run some.yaml --only 'some audit'",
    ]
    assert len(failure_text(NO_ANSWER).splitlines()) == 2


def test_every_kind_of_event_can_be_told() -> None:
    cells = ObservedScore("wagers", 2.0, False, 0.1, 0.0, (0.1, 0.2, 0.3), ScoreCounts((1000, 2, 3), (4, 5, 6)), None)
    assert event_lines(cells) == ["wagers: 1,005 outputs on the left and 15 on the right, in 3 cells"]
    assert event_lines(ObservedReport("reports it", Hits((7, 100)), False)) == ["reports it: 7 of 100 outputs"]
    assert event_lines(QueryAnswers("answers 1 and 2", BothAnswers(1, 2))) == ["answers 1 and 2"]
    assert isinstance(EVENT, ObservedRule)
    assert len(event_lines(ObservedProfile("both", (EVENT, EVENT)))) == 4


# --- JUnit ---


def test_no_answer_is_an_error_and_any_other_surprise_a_failure() -> None:
    root = ElementTree.fromstring(to_junit(run(SOUND, result(), NO_ANSWER), run(name="other")).encode())
    first, second = root
    assert {key: first.attrib[key] for key in ("name", "tests", "failures", "errors")} == {
        "name": "some run",
        "tests": "3",
        "failures": "1",
        "errors": "1",
    }
    assert (second.attrib["tests"], second.attrib["errors"]) == ("1", "1")  # a run without audits is not a pass
    sound, failure, error = first
    assert [child.tag for child in sound] == ["properties", "system-out"]
    assert [child.tag for child in failure] == ["properties", "failure"]
    assert failure[1].attrib["type"] == "violation"
    assert failure[1].text == failure_text(result())
    assert [child.tag for child in error] == ["properties", "error"]
    assert failure.attrib == {"classname": "some run", "name": "some audit", "time": "1.250"}


@given(st.text(st.characters() | st.sampled_from("\x00\x0b\x1f\x7f\ud800\udfff\ufffe\uffff<>&\"']]>\r\n")))
def test_the_xml_is_well_formed_whatever_is_in_a_name(text: str) -> None:
    whole = to_junit(run(result(text, stop_reason=text, reproduce=text), changed(NO_ANSWER, name=text), name=text))
    root = ElementTree.fromstring(whole.encode("utf-8"))
    plain = re.fullmatch("[ -\x7e]*", text) is not None
    assert not plain or root[0][0].attrib["name"] == text


# --- GitHub ---


def test_annotations_are_one_line_each_and_hide_no_command() -> None:
    hostile = "100 %\r\n::error::mine, and: yours"
    lines = annotations(run(result(hostile), changed(SOUND, warnings=(hostile,))), "a,b.yaml")
    assert [line.split("::")[1].split(" ")[0] for line in lines] == ["error", "warning"]
    title = "100 %25\\r %3A%3Aerror%3A%3Amine%2C and%3A yours%3A violation "
    assert lines[0].startswith(f"::error file=a%2Cb.yaml,title={title}")
    assert all(len(line.splitlines()) == 1 for line in lines)
    assert lines[1].endswith("::100 %25\\r ::error::mine, and: yours")
    assert annotations(run(SOUND), "a.yaml") == []
    changes = [Change(ChangeKind.WORSE, "one", "it vanished")]
    assert annotations_of(changes, "a.yaml") == ["::error file=a.yaml,title=one%3A worse::it vanished"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return written(tmp_path, monkeypatch)


def test_run_writes_junit_and_tells_github_only_where_it_runs(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["run", "audit.yaml", "--junit", "deep/er/junit.xml", "--quiet"]
    assert main(command) == 1
    assert "::error" not in capsys.readouterr().out
    assert ElementTree.parse(folder / "deep/er/junit.xml").getroot()[0].attrib["failures"] == "1"
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(folder / "summary.md"))
    for times in (1, 2):
        assert main(command) == 1
        errors = [line for line in capsys.readouterr().out.splitlines() if line.startswith("::")]
        assert len(errors) == 1
        assert errors[0].startswith("::error file=audit.yaml,title=broken%3A yes%2C 100 %25%3A violation")
        assert (folder / "summary.md").read_text(encoding="utf-8").count("# audit\n") == times


def test_a_weak_pass_is_told_on_standard_error_if_nothing_else_is(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("mechanisms_to_release.py").write_text("def laplace(data, size, rng):\n    return rng.laplace(size=size)\n")
    assert main(["run", "audit.yaml", "--quiet"]) == 0
    printed = capsys.readouterr()
    assert printed.err.startswith("auditor: broken: yes, 100 %: weak: no loss above noise was seen: ")
    assert (len(printed.out.splitlines()), len(printed.err.splitlines())) == (1, 1)


def test_show_gives_the_xml_of_a_stored_report(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "audit.yaml", "--junit", "junit.xml", "--quiet"]) == 1
    capsys.readouterr()
    assert main(["show", "reports/audit/report.json", "--junit", "-"]) == 0
    # A report does not contain how long its audits took.
    assert capsys.readouterr().out == re.sub(' time="[0-9.]+"', "", Path("junit.xml").read_text(encoding="utf-8"))


def test_a_comparison_does_not_mix_with_json_on_standard_output(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", "audit.yaml"]) == 1
    Path("reports/audit/report.json").rename("old.json")
    capsys.readouterr()
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    assert main(["run", "audit.yaml", "--baseline", "old.json", "--json", "-"]) == 1
    shown = capsys.readouterr()
    assert json.loads(shown.out)["name"] == "audit"
    assert "compared with old.json" in shown.err
    assert "::error" in shown.err


def test_github_is_told_of_a_comparison_too(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    [_, audit] = CONFIG.split("audits:\n")
    Path("audit.yaml").write_text(CONFIG + audit.replace("broken: yes, 100 %", "gone <b>"), encoding="utf-8")
    assert main(["run", "audit.yaml", "--quiet"]) == 1
    Path("reports/audit/report.json").rename("old.json")
    Path("audit.yaml").write_text(CONFIG, encoding="utf-8")
    assert main(["run", "audit.yaml", "--quiet"]) == 1
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    for number, command in enumerate(
        (
            ["compare", "old.json", "reports/audit/report.json"],
            ["run", "audit.yaml", "--quiet", "--baseline", "old.json"],
        )
    ):
        summary = folder / f"summary {number}.md"
        monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
        capsys.readouterr()
        assert main(command) == 1
        assert "title=gone <b>%3A worse::vanished" in capsys.readouterr().out
        shown = summary.read_text(encoding="utf-8")
        assert "compared with old.json: 1 worse, nothing better" in shown
        assert "- **worse**: gone \\<b\\>: vanished" in shown


def test_junit_that_cannot_be_written_is_told_before_anything_runs(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", "audit.yaml", "--junit", "audit.yaml/junit.xml"]) == 2
    assert "audit.yaml" in capsys.readouterr().err
    assert not Path("reports/audit/report.json").exists()


# --- The action and the hook ---


def steps() -> list[dict[str, Any]]:
    action = yaml.safe_load((PROJECT / "action.yml").read_text(encoding="utf-8"))
    assert action["runs"]["using"] == "composite"
    used = set(re.findall(r"inputs\.(\w+)", (PROJECT / "action.yml").read_text(encoding="utf-8")))
    assert used == set(action["inputs"])
    found: list[dict[str, Any]] = action["runs"]["steps"]
    return found


def execute(step: dict[str, Any], folder: Path, **inputs: str) -> subprocess.CompletedProcess[str]:
    """Run a step as the runner does: expressions replaced, then bash with -eo pipefail."""

    def replaced(text: str) -> str:
        context = {"inputs.python": sys.executable, "github.action_path": str(PROJECT)}
        context |= {f"inputs.{name}": value for name, value in inputs.items()}
        return re.sub(r"\$\{\{ ([\w.]+) \}\}", lambda found: context[found[1]], text)

    assert "${{" not in step["run"], "an input in a script could end it and begin another"
    environment = {name: replaced(value) for name, value in step["env"].items()}
    return subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(PROJECT), **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_steps_of_the_action_check_and_audit(folder: Path) -> None:
    _, check, audit = steps()
    given = {"configs": "audit.yaml", "baseline": "", "out": "found", "junit": "junit.xml", "options": "--seed 3"}
    checked = execute(check, folder, **given)
    # On a slow machine a line with the seconds that the audit may take is added.
    lines = [line for line in checked.stdout.splitlines() if "audit.yaml: broken" in line and "may take" not in line]
    assert (checked.returncode, len(lines)) == (0, 1), checked.stderr
    audited = execute(audit, folder, **given)
    assert audited.returncode == 1, audited.stderr
    assert "::error" not in audited.stdout
    assert (folder / "found/audit/report.json").is_file()
    assert (folder / "junit.xml").is_file()
    again = execute(audit, folder, **{**given, "baseline": "found/audit/report.json", "junit": ""})
    assert "compared with found/audit/report.json: nothing worse" in again.stdout


def test_inputs_of_the_action_are_data_and_no_script(folder: Path) -> None:
    hostile = {"configs": '$(touch mine) "; touch mine; "', "baseline": "", "out": "out", "junit": "", "options": ""}
    for step in steps()[1:]:
        assert execute(step, folder, **hostile).returncode == 2
    assert not (folder / "mine").exists()


def test_the_pre_commit_hook_checks_configurations(folder: Path) -> None:
    [hook] = yaml.safe_load((PROJECT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    assert {"id", "name", "entry", "language", "files"} <= set(hook)
    names = {"audit.yaml": True, "deep/audit_counts.yml": True, "reaudit.yaml": False, "audit.json": False}
    assert {name: re.search(hook["files"], name) is not None for name in names} == names
    program, *arguments = hook["entry"].split()
    assert program == "auditor"
    assert main([*arguments, "audit.yaml"]) == 0
    Path("audit.yaml").write_text(CONFIG.replace("epsilon", "epsilom"), encoding="utf-8")
    assert main([*arguments, "audit.yaml"]) == 2
