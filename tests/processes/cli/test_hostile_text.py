"""Untrusted text is shown as one line of visible characters everywhere, and is never executed by its reader."""

import contextlib
import io
import json
import re
import xml.etree.ElementTree
from dataclasses import replace
from pathlib import Path
from typing import Any

import honest_files
import numpy as np
import pytest
from every_kind import every_kind
from plain_data import changed, leaves

from auditor.auditing.consistent import read_report, recounted
from auditor.cli import main
from auditor.errors import InvalidInputError
from auditor.results.files import to_json

# It clears the screen, sets a title, reverses the writing direction, ends lines in nine ways, and begins commands in each language.
BREAKS = "\r\n\x0b\x0c\x1c\x85\u2028\u2029"
EVIL = (
    f"a\x1b[2J\x1b]0;t\x07\x9b1m\x00\x7f\u202e\u2066\ufeff\ufffe{BREAKS}::error::FORGED{BREAKS}# FORGED{BREAKS}FORGED: holds"
    "|<script>FORGED</script>]]>&amp;`*[b](c)[/][bold]%0A"
)
HIDDEN = re.compile(r"[^\n -~\xa0-\U0010ffff]|[\xad\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufffe\ud800-\udfff]")


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report with audits of every kind, in which each free text is hostile."""
    file = tmp_path_factory.mktemp("hostile") / "report.json"
    run, hostile = every_kind(), 0
    whole = json.loads(to_json(run.to_dict()))
    for number, audit in enumerate(run.audits):
        if audit.name == "canaries apart":
            continue  # its texts have the kinds of those of "canaries", and it is slower to judge
        # A report of this audit alone is read much faster than the whole report.
        alone = json.loads(to_json(recounted(replace(run, audits=[audit])).to_dict()))
        for way, text in leaves(alone["audits"][0]):
            if isinstance(text, str):
                spoilt = changed(alone, ("audits", 0, *way), text + EVIL)
                file.write_text(json.dumps(spoilt), encoding="utf-8")
                with contextlib.suppress(InvalidInputError):
                    read_report(file)
                    alone, hostile = spoilt, hostile + 1
                    whole = changed(whole, ("audits", number, *way), text + EVIL)
    file.write_text(json.dumps(changed(whole, ("name",), whole["name"] + EVIL)), encoding="utf-8")
    assert hostile > 30
    return file


def printed(*arguments: str, statuses: tuple[int, ...] = (0,)) -> str:
    out, told = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(told):
        status = main([*arguments])
    assert status in statuses, told.getvalue()
    assert "Traceback" not in told.getvalue()
    return out.getvalue() + told.getvalue()


def is_tame(text: str, wrapped: bool = False) -> bool:
    """Whether no hidden character is left, and no line begins with hostile text, unless a long line was ``wrapped``."""
    assert HIDDEN.findall(text) == []
    assert wrapped or [line for line in text.splitlines() if re.match(r"\s*(::error::|# |<[^>]*>)?FORGED", line)] == []
    return True


FORMS = ["terminal", "--html", "--markdown", "--junit"]


@pytest.mark.parametrize("form", FORMS)
def test_a_report_is_shown_without_what_is_hidden(form: str, report: Path) -> None:
    text = printed("show", str(report), *([] if form == "terminal" else [form, "-"]))
    assert is_tame(text, wrapped=form == "terminal")
    assert "FORGED" in text
    assert "<script>FORGED" not in text or form in (
        "terminal",
        "--markdown",
    )  # inside a page it is text, or code between backticks
    if form == "--junit":
        xml.etree.ElementTree.fromstring(text)


def test_a_comparison_is_shown_without_what_is_hidden(report: Path, tmp_path: Path, monkeypatch: Any) -> None:
    run = read_report(report)
    less = recounted(replace(run, audits=run.audits[::2]))
    (tmp_path / "less.json").write_text(to_json(less.to_dict()), encoding="utf-8")
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary.md"))
    for old, new in ((report, tmp_path / "less.json"), (tmp_path / "less.json", report)):
        text = printed("compare", str(old), str(new), statuses=(0, 1))
        assert is_tame(text)
        assert all(line.count("::") >= 2 for line in text.splitlines() if line.startswith("::"))
    assert is_tame((tmp_path / "summary.md").read_text(encoding="utf-8"))


NEIGHBOURS = "{pairs: [{left: [{KEY: 0}], right: [{KEY: 1}]}]}\n    prove: briefly"
CONFIGURATION = honest_files.CONFIGURATION.replace("name: one", "name: NAME").replace(
    "{pairs: [{left: 0, right: 1}]}", NEIGHBOURS
)
MECHANISM = f"""
EVIL = {EVIL!r}

def noisy(rows, rng):
    return {{EVIL: list(rows[0].values())[0] + rng.laplace(scale=0.1), "kind": EVIL}}

def fails(rows, rng):
    raise ValueError(EVIL)
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    here = tmp_path / "re\x1b[2J\u202eport\n# FORGED"
    here.mkdir()
    written = json.dumps(EVIL.replace("\ufffe", ""))
    (here / "audit.yaml").write_text(CONFIGURATION.replace("NAME", written).replace("KEY", written), encoding="utf-8")
    (here / "theirs.py").write_text(MECHANISM, encoding="utf-8")
    monkeypatch.chdir(here)
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    return here


def test_what_a_run_shows_is_visible(folder: Path) -> None:
    for command in ("check", "plan", *(["prove --out proofs"] if honest_files.HAS_PROVER else [])):
        name, *options = command.split()
        assert is_tame(
            printed(name, str(folder / "audit.yaml"), *options, statuses=(0, 1, 3, 4)), wrapped=name != "check"
        )
    for options in ([], ["--quiet"], ["--junit", "-"], ["--json", "-"], ["--record", "kept"]):
        assert is_tame(
            printed("run", str(folder / "audit.yaml"), *options, statuses=(1,)), wrapped=options != ["--quiet"]
        )
    assert is_tame(printed("replay", "kept", statuses=(1,)), wrapped=True)
    assert is_tame(printed("replay", "kept", "--check", "reports/audit/report.json"))
    for file in ("summary.md", "report.html"):
        assert is_tame((folder / "reports" / "audit" / file).read_text(encoding="utf-8"))
    for certificate in folder.rglob("proof-*.json"):
        assert is_tame(printed("check-proof", str(certificate)))


def test_what_fails_is_told_visibly(folder: Path) -> None:
    text = (folder / "audit.yaml").read_text(encoding="utf-8")
    (folder / "fails.yaml").write_text(text.replace("theirs.py:noisy", "theirs.py:fails"), encoding="utf-8")
    assert is_tame(printed("check", str(folder / "fails.yaml"), statuses=(0, 1, 3)))
    assert is_tame(printed("run", str(folder / "fails.yaml"), statuses=(3,)), wrapped=True)
    for old, new in (
        ("samples", json.dumps(EVIL.replace("\ufffe", ""))),
        ("theirs.py:noisy", json.dumps("theirs.py:" + EVIL.replace("\ufffe", ""))),
        ("theirs.py:noisy", json.dumps(EVIL.replace("\ufffe", "") + ".py:noisy")),
        ("{epsilon: 1.0}", "{" + json.dumps(EVIL.replace("\ufffe", "")) + ": 1}"),
        ("mechanism: theirs.py:noisy", "command: [" + json.dumps("./" + EVIL.replace("\ufffe", "")) + "]"),
    ):
        (folder / "wrong.yaml").write_text(text.replace(old, new, 1), encoding="utf-8")
        assert is_tame(printed("check", str(folder / "wrong.yaml"), statuses=(2,)))


def test_headings_of_scores_are_told_visibly(folder: Path) -> None:
    quoted = EVIL.replace('"', '""')
    (folder / "a.csv").write_text(f'"{quoted}",b\n1,2\n', encoding="utf-8")
    (folder / "a.json").write_text(json.dumps({EVIL: [1], "b": [1]}), encoding="utf-8")
    np.save(folder / "b.npy", np.zeros(2, [("x\x1b[2J\nFORGED", "f8")]))
    for name in ("a.csv:x", "a.json:x", "b.npy"):
        assert is_tame(printed("scores", name, "b.npy", "--from", "one-run", statuses=(2,)))
