"""On GitHub no line of the log is taken as a command unless this program issues it. All texts here are harmless."""

import contextlib
import io
import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditor.cli import main
from auditor.cli.log_guard import GuardedLog
from auditor.errors import without_commands

# Wherever a line is wrapped, a command of either form may stand at its start.
WORDS = " ".join(["::debug::HARMLESS", "##[debug]HARMLESS", ":::debug::HARMLESS"] * 40)
LONG = "::debug::HARMLESS##[debug]HARMLESS" * 60
CONFIGURATION = """
version: 1
samples: 400
execution: {workers: 1, isolate: false}
audits:
  - name: NAME
    mechanism: theirs.py:FUNCTION
    claim: {epsilon: 1.0}
    neighbours: {pairs: [{left: LEFT, right: RIGHT}]}
"""
MECHANISM = """
import warnings

def noisy(text, rng):
    return [text, rng.laplace()]

def fails(text, rng):
    raise ValueError(text)

def warns(text, rng):
    warnings.warn(text)
    return rng.laplace()
"""


def obeyed(text: str) -> list[str]:
    """Return the lines that GitHub takes for commands."""
    lines = re.split("\r\n|\r|\n", text)
    return [line for line in lines if line.lstrip().startswith("::") or "##[" in line]


PIECES = st.sampled_from(
    ["::", ":", "##", "#", "[", "##[debug]", "::debug::x", " ", "\t", "\n", "\r", "\r\n", "\u3000", "a"]
)


@given(st.lists(st.lists(PIECES).map("".join)))
def test_no_line_is_a_command_however_it_is_written(parts: list[str]) -> None:
    stream = io.StringIO(newline="")
    log = GuardedLog(stream)
    for part in parts:
        assert log.write(part) == len(part)
    written = stream.getvalue()
    assert obeyed(written) == []
    assert written.replace("\\x3a", ":").replace("\\x5b", "[") == "".join(parts)
    assert written == without_commands("".join(parts))


def test_colours_do_not_hide_a_command() -> None:
    assert without_commands("\x1b[1;31m::debug::x") == "\x1b[1;31m:\\x3adebug::x"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    Path("theirs.py").write_text(MECHANISM, encoding="utf-8")
    return tmp_path


def configured(function: str, text: str, name: str = "some") -> None:
    filled = {"NAME": name, "FUNCTION": function, "LEFT": f"left{text}", "RIGHT": f"right{text}"}
    whole = CONFIGURATION
    for key, value in filled.items():
        whole = whole.replace(key, json.dumps(value) if key != "FUNCTION" else value)
    Path("audit.yaml").write_text(whole, encoding="utf-8")


def lines_of(*command: str) -> list[str]:
    """Return the lines of a command that GitHub obeys."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), contextlib.suppress(SystemExit):
        main([*command])
    assert "HARMLESS" in out.getvalue() + err.getvalue(), command
    return obeyed(out.getvalue()) + obeyed(err.getvalue())


@pytest.mark.parametrize("text", [f" {WORDS}", f" {LONG}", LONG], ids=["words", "a long word", "a long text"])
@pytest.mark.parametrize("function", ["noisy", "fails", "warns"])
def test_text_of_a_mechanism_is_no_command(folder: Path, function: str, text: str) -> None:
    configured(function, text, f"some {text}"[:600])
    for command in (["check"], ["plan"], ["run", "--junit", "-"], ["run", "--quiet"], ["run", "--record", "kept"]):
        commands = lines_of(command[0], "audit.yaml", *command[1:])
        # Our own annotations contain both, and take one line each.
        assert [line for line in commands if not re.match("::(error|warning) file=audit.yaml,title=", line)] == [], (
            command
        )
    report = "reports/audit/report.json"
    for form in ([], ["--html", "-"], ["--markdown", "-"], ["--junit", "-"]):
        assert lines_of("show", report, *form) == []
    assert [line for line in lines_of("replay", "kept") if not re.match("::(error|warning) file=", line)] == []
    assert lines_of("replay", "kept", "--check", report) == []
    configured(function, text, f"other {text}"[:600])
    main(["run", "audit.yaml", "--out", "others", "--quiet"])
    commands = lines_of("compare", report, "others/audit/report.json")
    assert [line for line in commands if not line.startswith("::error file=others")] == []
    assert lines_of("run", f"no such {text[:300]}") == []
    assert lines_of("run", "audit.yaml", f"--{text[:300]}") == []


def test_json_on_standard_output_reads_back_unchanged(folder: Path) -> None:
    configured("noisy", f" {WORDS}", f"some {WORDS}"[:600])
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
        main(["run", "audit.yaml", "--json", "-"])
    assert obeyed(out.getvalue()) == []
    assert json.loads(out.getvalue())["audits"][0]["name"] == f"some {WORDS}"[:600]


def test_elsewhere_text_stays_as_it_is(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GITHUB_ACTIONS")
    configured("noisy", "", "##[debug]HARMLESS")
    assert lines_of("run", "audit.yaml") != []
