"""A starter as a new user takes it: `auditor init` writes it, lines of one's own replace a few of it, and `auditor run` runs it."""

import json
from collections.abc import Mapping
from pathlib import Path

from auditor.cli import main

MOST_LINES = 8  # of one's own


def verdicts_of_starter(kind: str, framework: str, folder: Path, own: Mapping[str, str]) -> dict[str, str]:
    """Return the verdict of each audit of a starter in the working folder, which is ``folder``.

    In its module, ``own`` replaces pieces of text by lines of one's own. Raises AssertionError if the module has no such text, or
    if there are more than MOST_LINES lines.
    """
    assert main(["init", f"--{kind}", framework]) == 0
    module = folder / f"{kind}.py"
    text = module.read_text(encoding="utf-8")
    assert sum(len(lines.splitlines()) for lines in own.values()) <= MOST_LINES
    for old, new in own.items():
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    module.write_text(text, encoding="utf-8")
    assert main(["run", "audit.yaml", "--out", "made", "--quiet"]) in (0, 1)
    report = json.loads((folder / "made" / "audit" / "report.json").read_text(encoding="utf-8"))
    return {audit["name"]: audit["verdict"] for audit in report["audits"]}
