"""The files of a sweep: the objects in Python, their audits as a configuration, and the table of results."""

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from auditor.errors import false_alarms
from auditor.libraries.building import NotBuilt, SweptObject
from auditor.libraries.library_table import LibraryTable
from auditor.report.markdown import escape
from auditor.report.phrases import bound_words, verdict_words
from auditor.results.files import to_json, write_whole
from auditor.results.result import AuditResult, RunResult
from auditor.verdict import Verdict

SWEEP_SAMPLES = 50_000  # outputs for the bound of each audit
OBJECTS_FILE = "objects.py"
HEADINGS = ("constructor", "object", "claim", "proved", "planted faults found", "seconds", "verdict")


def write_objects(table: LibraryTable, objects: Sequence[SweptObject], folder: Path) -> Path:
    """Write the objects and the configuration into a folder. Return the path of the configuration."""
    title = f"# {table.library} {table.release}, as built by `python -m auditor.libraries {table.library}`"
    code = [f"{_variable_name(made)} = {made.example.object}\n" for made in objects]
    write_whole(folder / OBJECTS_FILE, f"{title}.\n# ruff: noqa\n# fmt: off\n{table.preamble}\n{''.join(code)}")
    lines = ""
    for made in objects:
        keys = made.example.given()
        del keys["object"]
        audit = {"name": made.name, "mechanism": {"object": f"{OBJECTS_FILE}:{_variable_name(made)}"}, **keys}
        lines += f"  - {json.dumps(audit, ensure_ascii=False)}\n"
    file = folder / f"{folder.name}.yaml"
    write_whole(
        file, f"{title}: {OBJECTS_FILE} has the objects.\nversion: 1\nsamples: {SWEEP_SAMPLES}\naudits:\n{lines}"
    )
    return file


def _variable_name(made: SweptObject) -> str:
    return re.sub(r"\W+", "_", made.name)


def write_table(
    table: LibraryTable, objects: Sequence[SweptObject], left_out: Sequence[NotBuilt], result: RunResult, folder: Path
) -> None:
    """Write the table of results into a folder, as sweep.md and sweep.json."""
    audits = {audit.name: audit for audit in result.audits}
    rows = [_table_row(made, audits[made.name]) for made in objects]
    data = {
        "library": table.library,
        "release": table.release,
        "confidence": result.confidence,
        "audited": rows,
        "not audited": [{"constructor": omitted.constructor, "reason": omitted.reason} for omitted in left_out],
    }
    write_whole(folder / "sweep.json", to_json(data))
    write_whole(folder / "sweep.md", _write_markdown(data))


def _table_row(made: SweptObject, audit: AuditResult) -> dict[str, Any]:
    parameters = {"parameters": made.example.parameters} if made.example.parameters else {}
    planted = audit.planted
    no_answer = {"reason": audit.stop_reason} if audit.verdict is Verdict.INCONCLUSIVE else {}
    return {
        "constructor": made.constructor,
        "object": made.example.object,
        **parameters,
        "claim": str(audit.claim),
        "proved": bound_words(audit),
        "planted faults found": f"{len(planted.found)}/{planted.all}" if planted else "",
        "seconds": None if audit.seconds is None else round(audit.seconds, 1),
        "verdict": verdict_words(audit.verdict) + (" (weak)" if audit.weak else ""),
        **no_answer,
    }


def _write_markdown(data: dict[str, Any]) -> str:
    audited, left_out = data["audited"], data["not audited"]
    built = {row["constructor"] for row in audited}
    constructors = len(built | {row["constructor"] for row in left_out})
    broken = sum(row["verdict"] == verdict_words(Verdict.VIOLATION) for row in audited)
    lines = [
        f"# {data['library']} {data['release']}, all constructors",
        "",
        f"{len(built)} of {constructors} constructors were audited, with {len(audited)} objects; {broken} objects violate their "
        f"claims. If all keep theirs, there is {false_alarms(1 - data['confidence'], 'run')}. "
        "Audits ran several at a time; the seconds are those of each.",
        "",
        f"| {' | '.join(HEADINGS)} |",
        "|-" * len(HEADINGS) + "|",
    ]
    for row in audited:
        verdict = row["verdict"] + (f": {row['reason']}" if "reason" in row else "")
        parameters = f", {row['parameters']}" if "parameters" in row else ""
        cells = [row["constructor"], row["object"] + parameters, *(row[key] for key in HEADINGS[2:-1]), verdict]
        lines.append(f"| {' | '.join(escape('' if cell is None else str(cell)) for cell in cells)} |")
    if left_out:
        lines += ["", "## Not audited", "", "| constructor | reason |", "|-|-|"]
        lines += [f"| {escape(row['constructor'])} | {escape(row['reason'])} |" for row in left_out]
    return "\n".join(lines) + "\n"
