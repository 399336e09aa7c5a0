"""Sessions in YAML: questions, refusals, and the dialogue in every form of a report."""

import io
import json
from pathlib import Path

import pytest
from rich.console import Console
from telling_sessions import written

from auditor.auditing.consistent import read_report
from auditor.auditing.flow import run
from auditor.config.load import load_configuration
from auditor.report.html import to_html
from auditor.report.markdown import to_markdown
from auditor.report.phrases import failure_text
from auditor.report.terminal import print_result
from auditor.results.result import RunResult


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return written(tmp_path)


def test_the_dialogue_is_in_every_form_of_the_report(file: Path, tmp_path: Path) -> None:
    """Left and right differ without noise: without a fixed seed the bound would fail with the audit's probability of 0.1 %."""
    [plan] = load_configuration(file).plans
    audit = run(plan)
    assert audit.verdict == "violation"
    assert audit.smallest is not None
    small = audit.smallest
    assert len(small.pair.left["ask"]) == 2
    assert sorted([small.pair.left["data"], small.pair.right["data"]], key=len)[0] == ()
    assert [turn.question for turn in small.dialogue][1].endswith("again")
    refused = {turn for turn in (small.dialogue[1].left, small.dialogue[1].right) if "raises PermissionError" in turn}
    assert len(refused) == 1
    result = RunResult("run", 0.999, [audit])
    text = io.StringIO()
    print_result(result, Console(file=text, width=200))
    for form in (text.getvalue(), to_markdown(result), to_html(result), failure_text(audit)):
        assert "raises PermissionError" in form
        assert "answer on the left" in form
    assert '<th scope="col">questions</th>' in to_html(result)
    stored = tmp_path / "report.json"
    stored.write_text(json.dumps(result.to_dict()), encoding="utf-8")
    again = read_report(stored)
    assert again.to_dict() == result.to_dict()
    assert to_markdown(again) == to_markdown(result)
