"""The table of specimens with the verdicts of the reports in a folder."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from auditor.report.markdown import escape
from auditor.report.phrases import number
from auditor.results.reader import parsed_report
from auditor.results.result import AuditResult
from auditor.verdict import Verdict
from mechanisms.specimens import Statement


def specimen_table(specimens: Sequence[tuple[str, Statement]], folder: Path) -> str:
    """Return a Markdown table with the audits that test each statement about a specimen.

    An audit belongs to a statement if it audits the same mechanism and expects what the statement says. If several reports
    audit one claim, the report with the most outputs counts. Raises InvalidInputError if a report cannot be read.
    """
    audits = [
        (file.parent.name, audit)
        for file in sorted(folder.glob("*/report.json"))
        for audit in parsed_report(file)[0].audits
    ]

    def counts(folder: str, audit: AuditResult) -> bool:
        same = (audit.mechanism, audit.claim, audit.expected)
        others = [a for f, a in audits if f != folder and (a.mechanism, a.claim, a.expected) == same]
        return all(_outputs(other) <= _outputs(audit) for other in others)

    lines = [
        "# What is claimed in documents and papers, and what the audits found",
        "",
        "Written by `python -m mechanisms`. Bounds are on the pair found; outputs are those of all phases.",
        "",
        "| row | document | mechanism | where | claim | holds | audit | proved | exact | pair | outputs |",
        "|-|-|-|-|-|-|-|-|-|-|-|",
    ]
    for name, statement in specimens:
        expected = Verdict.NO_VIOLATION_FOUND if statement.holds else Verdict.VIOLATION
        document, where, claim = map(escape, (statement.document, statement.where, statement.claim))
        cells = [str(statement.row), document, name, where, claim, "yes" if statement.holds else "**no**"]
        results = [_found(f, a) for f, a in audits if a.mechanism == name and a.expected == expected and counts(f, a)]
        for more in results or [["not audited here", "", "", "", ""]]:
            lines.append("| " + " | ".join([*cells, *more]) + " |")
    return "\n".join(lines) + "\n"


def _found(folder: str, audit: AuditResult) -> list[str]:
    bound, exact, pair = audit.bound, audit.exact, audit.pair
    verdict = "" if audit.passed else f" — ended as {audit.verdict}"
    return [
        f"[{escape(audit.name)}]({quote(folder)}/summary.md){verdict}",
        f"{escape(bound.quantity)} {bound.value:.3f}" if bound and math.isfinite(bound.value) else "–",
        "" if exact is None else number(exact.value),
        "–" if pair is None else escape(f"{_short(pair.left)} and {_short(pair.right)}"),
        f"{_outputs(audit):,}",
    ]


def _outputs(audit: AuditResult) -> int:
    return sum(audit.outputs.to_dict().values())


def _short(data: Any) -> str:
    if isinstance(data, list) and len(data) > 6:
        return f"{len(data)} records: {', '.join(map(_short, data[:2]))}, …, {_short(data[-1])}"
    if isinstance(data, list):
        return "[" + ", ".join(map(_short, data)) + "]"
    return f"{data:.4g}" if isinstance(data, float) else str(data)
