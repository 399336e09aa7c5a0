"""The exit status of a run and the files it leaves, in situations that only a complete run produces."""

import json
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from auditor.auditing.consistent import read_report
from auditor.cli import main, report_runs
from auditor.errors import InvalidInputError
from auditor.foreign_code import Stopped

MECHANISM = "def noisy(data, size, rng, scale=1.0):\n    return rng.laplace(data, scale, size)\n"
CONFIGURATION = """
version: 1
samples: SAMPLES
execution: {workers: 1, isolate: false}
audits:
  - name: noisy
    mechanism: theirs.py:noisy
    parameters: {scale: 1.0}
    claim: {epsilon: 1.0}
    neighbours: {pairs: [{left: 0, right: 1}]}
"""
REPORT = Path("reports/audit/report.json")


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., int]:
    """Run an audit with this number of samples and this scale; return the exit status."""
    monkeypatch.chdir(tmp_path)
    Path("theirs.py").write_text(MECHANISM, encoding="utf-8")

    def runs(*options: str, samples: int = 4000, scale: float = 1.0) -> int:
        text = CONFIGURATION.replace("SAMPLES", str(samples)).replace("scale: 1.0", f"scale: {scale}")
        Path("audit.yaml").write_text(text, encoding="utf-8")
        return main(["run", "audit.yaml", *options])

    return runs


def report() -> Any:
    return json.loads(REPORT.read_text(encoding="utf-8"))


def test_a_weak_pass_under_strict_fails_everywhere_and_when_shown_again(
    run: Callable[..., int], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(samples=100) == 0
    assert (report()["passed"], "strict" in report()["audits"][0]) == (True, False)
    capsys.readouterr()
    assert run("--strict", "--junit", "junit.xml", "--record", "kept", samples=100) == 1
    assert "audit: 1 of 1 audits did NOT end as expected, “noisy”" in capsys.readouterr().out
    assert (report()["passed"], report()["audits"][0]["passed"], report()["audits"][0]["strict"]) == (
        False,
        False,
        True,
    )
    assert not read_report(REPORT).passed
    assert main(["show", str(REPORT)]) == 0
    shown = capsys.readouterr().out
    assert "✗  noisy" in shown
    assert "no violation found (weak) (expected: no violation found, not weak)" in " ".join(shown.split())
    [suite] = ElementTree.parse("junit.xml").getroot()
    assert [case.attrib["name"] for case in suite if case.find("failure") is not None] == ["noisy"]
    assert "Not as expected: “noisy”" in Path("reports/audit/report.html").read_text(encoding="utf-8")
    # How a run ended is no change between runs, since no output depends on it.
    Path("strict.json").write_bytes(REPORT.read_bytes())
    assert main(["replay", "kept", "--check", str(REPORT)]) == 0
    assert run(samples=100) == 0
    assert main(["compare", str(REPORT), "strict.json"]) == main(["compare", "strict.json", str(REPORT)]) == 0


def test_what_got_worse_is_in_the_report(run: Callable[..., int], capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--quiet") == 0
    REPORT.rename("old.json")
    capsys.readouterr()
    options = "--baseline", "old.json", "--quiet", "--junit", "junit.xml"
    assert run(*options, scale=0.3) == 1
    out = capsys.readouterr().out
    assert "did NOT end as expected, “noisy”, and 2 changes since old.json fail" in out
    assert not report()["passed"]
    assert [change["kind"] for change in report()["compared"]["changes"]].count("worse") == 2
    for file in ("summary.md", "report.html"):
        assert "a new violation" in Path("reports/audit", file).read_text(encoding="utf-8")
    names = [case.attrib["name"] for case in ElementTree.parse("junit.xml").getroot()[0]]
    assert names == ["noisy", "noisy: worse", "noisy: worse 2"]
    assert main(["show", str(REPORT)]) == 0
    assert "2 changes since old.json fail" in " ".join(capsys.readouterr().out.split())
    # The comparison belongs neither to the next run nor to a later comparison with this report.
    assert run("--quiet") == 0
    assert "compared" not in report()


def test_a_forged_comparison_is_refused(run: Callable[..., int]) -> None:
    assert run("--quiet") == 0
    whole = report()
    for wrong in (
        {"baseline": "old.json"},
        {"baseline": "o", "changes": [{"kind": "worst", "audit": "", "what": ""}]},
        [],
    ):
        REPORT.write_text(json.dumps({**whole, "compared": wrong}), encoding="utf-8")
        assert main(["show", str(REPORT)]) == 2
    worse = {"baseline": "old.json", "changes": [{"kind": "worse", "audit": "noisy", "what": "x"}], "strict": False}
    REPORT.write_text(json.dumps({**whole, "compared": worse}), encoding="utf-8")
    assert main(["show", str(REPORT)]) == 2  # it says that it passed
    REPORT.write_text(json.dumps({**whole, "compared": worse, "passed": False}), encoding="utf-8")
    assert main(["show", str(REPORT)]) == 0


def test_an_error_before_the_audit_leaves_no_report(
    run: Callable[..., int], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("--samples", "1") == 2
    assert main(["run", "nothing.yaml"]) == 2
    assert not REPORT.exists()
    assert "as expected" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("stopped", "status"), [(KeyboardInterrupt(), 130), (Stopped(15), 143)], ids=["SIGINT", "SIGTERM"]
)
def test_an_interrupted_run_says_nothing_of_its_end(
    run: Callable[..., int],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    stopped: KeyboardInterrupt,
    status: int,
) -> None:
    def interrupted(*_: Any) -> Any:
        raise stopped

    monkeypatch.setattr(report_runs, "run_all", interrupted)
    assert run("--junit", "junit.xml") == status
    printed = capsys.readouterr()
    assert "as expected" not in printed.out
    assert "--resume continues from there" in printed.err
    assert not REPORT.exists()
    assert not Path("junit.xml").exists()


def test_no_answer_is_no_baseline_and_no_pass(run: Callable[..., int], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(samples=4000, scale=1.0) == 0
    whole = report()
    Path("audit.yaml").write_text(
        Path("audit.yaml").read_text(encoding="utf-8").replace("epsilon: 1.0", "epsilon: 90.0"), encoding="utf-8"
    )
    assert main(["run", "audit.yaml"]) == 3
    REPORT.rename("silent.json")
    capsys.readouterr()
    assert main(["compare", "silent.json", "silent.json"]) == 0
    assert "not compared  noisy: the loss: the earlier report has no answer" in capsys.readouterr().out
    assert main(["compare", "silent.json", "silent.json", "--strict"]) == 1
    assert main(["run", "audit.yaml", "--baseline", "silent.json", "--strict"]) == 1
    for passed in (True, False):
        empty = {**whole, "audits": [], "passed": passed}
        Path("empty.json").write_text(json.dumps(empty), encoding="utf-8")
        assert main(["show", "empty.json"]) == 2
        assert main(["compare", "empty.json", "empty.json"]) == 2
        assert main(["run", "audit.yaml", "--baseline", "empty.json"]) == 2
        assert "empty.json holds no audits; run the audits again" in capsys.readouterr().err


def test_what_github_obeys_is_an_escape_in_every_file(run: Callable[..., int], monkeypatch: pytest.MonkeyPatch) -> None:
    word = "##[debug]HARMLESS"
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", "steps.md")
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    assert run() == 0
    text = Path("audit.yaml").read_text(encoding="utf-8")
    Path("audit.yaml").write_text(
        text.replace("name: noisy", f"name: '{word}'").replace("scale: 1.0", "scale: 0.3"), encoding="utf-8"
    )
    assert main(["run", "audit.yaml", "--junit", "junit.xml"]) == 1
    for file in ("junit.xml", "steps.md", "reports/audit/summary.md", "reports/audit/report.json"):
        assert "##[" not in Path(file).read_text(encoding="utf-8"), file
    [suite] = ElementTree.parse("junit.xml").getroot()
    assert [case.attrib["name"] for case in suite] == [word]


def test_a_store_of_another_version_says_what_can_be_done(
    run: Callable[..., int], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run() == 0
    with sqlite3.connect("reports/audit/runs.sqlite") as file:
        file.execute("PRAGMA user_version=99")
    file.close()
    capsys.readouterr()
    assert run() == 2
    errors = capsys.readouterr().err
    assert "its version is 99, and this auditor reads" in errors
    assert "remove the file, which forgets the violations of earlier runs" in errors
    assert "another run is writing" not in errors


def test_a_page_that_cannot_be_written_is_said_in_a_sentence(
    run: Callable[..., int], capsys: pytest.CaptureFixture[str]
) -> None:
    Path("reports/audit/report.html").mkdir(parents=True)
    assert run("--junit", "reports/audit/report.html/junit.xml") == 3
    errors = capsys.readouterr().err
    assert_all_say_that_a_file_is_missing("report.html", Path("reports/audit/report.html/junit.xml"))
    assert (
        "report.html is missing: it cannot be written: Is a directory; no verdict changes, but the exit status is not 0"
        in errors
    )
    assert "Errno" not in errors


def assert_all_say_that_a_file_is_missing(name: str, junit: Path) -> None:
    assert not report()["passed"]
    assert any(name in why for why in report()["missing"])
    assert not read_report(REPORT).passed
    suite = ElementTree.parse(junit).getroot()[0]
    assert suite.attrib["errors"] == str(len(report()["missing"]))
    assert "missing file" in [case.attrib["name"] for case in suite if case.find("error") is not None]
    assert int(suite.attrib["tests"]) == len(suite)
    assert "could NOT be written" in (REPORT.parent / "summary.md").read_text(encoding="utf-8")
    page = REPORT.parent / "report.html"
    assert not page.is_file() or "Not all files could be written" in page.read_text(encoding="utf-8")


@pytest.mark.parametrize("summary", ["/dev/full", "no/such/folder/summary.md", "."])
def test_a_summary_that_cannot_be_written_hides_no_violation(
    run: Callable[..., int], summary: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Such a summary once ended the run with status 3 and "internal error", and the violation of a later file was not reported."""
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", summary)
    assert run("--junit", "junit.xml", "--record", "kept") == 3
    assert_all_say_that_a_file_is_missing(summary, Path("junit.xml"))
    assert main(["replay", "kept", "--check", str(REPORT)]) == 0
    text = Path("audit.yaml").read_text(encoding="utf-8").replace("scale: 1.0", "scale: 0.1")
    Path("broken.yaml").write_text(text, encoding="utf-8")
    capsys.readouterr()
    assert main(["run", "audit.yaml", "broken.yaml"]) == 1
    printed = capsys.readouterr()
    assert "::error file=broken.yaml" in printed.out
    assert "lacks the summary of this run" in printed.out
    assert "internal error" not in printed.err
    assert main(["compare", str(REPORT), str(REPORT)]) == 3


def test_a_target_that_cannot_be_written_is_in_the_report_and_in_the_other_target(run: Callable[..., int]) -> None:
    assert run("--json", "/dev/full", "--junit", "junit.xml") == 3
    assert_all_say_that_a_file_is_missing("/dev/full", Path("junit.xml"))
    assert run("--json", "/dev/full", "--junit", "junit.xml", "--out", "elsewhere", scale=0.1) == 1
    assert run("--json", "whole.json") == 0
    assert report()["passed"] and "missing" not in report()


def test_a_report_that_cannot_be_read_back_hides_no_verdict(
    run: Callable[..., int], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refused(file: Path) -> None:
        raise InvalidInputError(f"{file} is not a report")

    monkeypatch.setattr("auditor.results.reader.parsed_report", refused)
    assert run("--junit", "junit.xml") == 3
    assert run("--junit", "junit.xml", "--out", "elsewhere", scale=0.1) == 1
    assert "1 of 1 audits did NOT end as expected" in capsys.readouterr().out
    assert "did NOT end" in Path("elsewhere/audit/summary.md").read_text(encoding="utf-8")
    assert "is not a report; please report it" in report()["missing"][0]


def test_standard_output_holds_the_document_that_goes_there_and_nothing_else(
    run: Callable[..., int], capfd: pytest.CaptureFixture[str]
) -> None:
    assert run("--json", "-", "--junit", "-") == 2
    assert "both go to standard output" in capfd.readouterr().err
    assert run("--junit", "-") == 0
    assert ElementTree.fromstring(capfd.readouterr().out)[0].attrib["name"] == "audit"
    Path("other.yaml").write_bytes(Path("audit.yaml").read_bytes())
    assert main(["run", "audit.yaml", "other.yaml", "--junit", "-", "--quiet"]) == 0
    printed = capfd.readouterr()
    assert len(ElementTree.fromstring(printed.out)) == 2
    assert "all 2 configurations" in printed.err
