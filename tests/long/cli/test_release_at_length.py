"""A run in CI: status, printed lines, junit and annotations say the same."""

import json
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from released import written

from auditor.cli import main
from auditor.results.result import AuditResult, RunResult


def run(*audits: AuditResult, name: str = "some run") -> RunResult:
    return RunResult(name, 0.999, audits, 2.0)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return written(tmp_path, monkeypatch)


SOURCE = """
def laplace(data, size, rng, scale=1.0):
    return rng.laplace(sum(data), scale, size).round(1) + 0.0
"""
WHOLE = """
version: 1
confidence: 0.99
samples: 4000
planted: 0
execution: {workers: 1, isolate: false}
audits:
  - name: one
    mechanism: mechanisms_of_sums.py:laplace
    parameters: {scale: 1.0}
    claim: {epsilon: 2.0}
    observe: [stdout]
    events: [values, bits]
    neighbours:
      domain: records
      record: {low: 0, high: 1}
      size: {low: 0, high: 3}
      container: list
"""
# The replacements, the kinds of lines that follow, and whether the run itself ends as expected.
CHANGED: dict[str, tuple[tuple[str, str], set[str], bool]] = {
    "nothing": (("", ""), set(), True),
    "a violation": (("scale: 1.0", "scale: 0.3"), {"worse"}, False),
    "a loss": (("scale: 1.0", "scale: 0.55"), {"worse"}, True),
    "a size": (("high: 3", "high: 2"), {"worse"}, True),
    "a wider size": (("high: 3", "high: 4"), {"note"}, True),
    "a range": (("{low: 0, high: 1}", "{low: 0, high: 0.5}"), {"worse"}, True),
    "a name": (("name: one", "name: two"), {"worse", "note"}, True),
    "what is valid": (("    observe", "    valid: mechanisms_of_sums.py:len\n    observe"), {"worse"}, True),
    "the earlier rule": (("", ""), {"not compared"}, True),
}


@pytest.mark.parametrize("changed_to", CHANGED)
def test_status_lines_junit_and_annotations_say_the_same(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], changed_to: str
) -> None:
    Path("mechanisms_of_sums.py").write_text("len = len\n" + SOURCE, encoding="utf-8")
    what, kinds, passes = CHANGED[changed_to]
    Path("sums.yaml").write_text(WHOLE, encoding="utf-8")
    assert main(["run", "sums.yaml", "--quiet"]) == 0
    old = json.loads(Path("reports/sums/report.json").read_text(encoding="utf-8"))
    if changed_to == "the earlier rule":
        old["audits"][0]["event"]["rule"] = None
    Path("old.json").write_text(json.dumps(old), encoding="utf-8")
    Path("sums.yaml").write_text(WHOLE.replace(*what, 1), encoding="utf-8")
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    for strict in ([], ["--strict"]):
        capsys.readouterr()
        status = main(["run", "sums.yaml", "--quiet", "--baseline", "old.json", "--junit", "junit.xml", *strict])
        lines = capsys.readouterr().out.splitlines()
        shown = [line.split("  ")[0] for line in lines if re.match("(worse|note|better|not compared)  ", line)]
        assert kinds <= {*shown}
        weak = json.loads(Path("reports/sums/report.json").read_text(encoding="utf-8"))["audits"][0]["weak"]
        failed = shown.count("worse") + (shown.count("not compared") + weak if strict else 0)
        assert status == (1 if failed or not passes else 0)
        assert [line.startswith("::error") for line in lines].count(True) == failed + (not passes)
        [suite] = ElementTree.parse("junit.xml").getroot()
        assert int(suite.attrib["failures"]) == failed + (not passes) == len(suite.findall("testcase/failure"))
        changes = failed - (weak if strict else 0)  # a weak pass is a failure of the audit's own case
        assert int(suite.attrib["tests"]) == 1 + changes == len(suite.findall("testcase"))
        assert len({case.attrib["name"] for case in suite.findall("testcase")}) == 1 + changes
        number = f"{shown.count('worse') or 'nothing'} worse, {shown.count('better') or 'nothing'} better"
        unknown = f", {shown.count('not compared')} not compared" if "not compared" in shown else ""
        assert f"compared with old.json: {number}{unknown}" in lines
        of_two = main(["compare", "old.json", "reports/sums/report.json", *strict])
        lines = capsys.readouterr().out.splitlines()
        failed = sum(line.startswith("worse" if not strict else ("worse", "not compared")) for line in lines)
        assert (of_two, [line.startswith("::error") for line in lines].count(True)) == (int(failed > 0), failed)
