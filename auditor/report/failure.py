"""One audit in full, as plain text: what a failed check shows, wherever it is run."""

from collections.abc import Mapping
from typing import Any

from auditor.neighbours.pair import pair_words
from auditor.report.phrases import bound_words, confidence_words, finding, verdict_words
from auditor.results.result import AuditResult


def headline(audit: AuditResult) -> str:
    """Say how the audit ended, and what was expected where that is something else."""
    expected = "" if audit.passed else f" (expected: {verdict_words(audit.expected)})"
    return f"{verdict_words(audit.verdict)}{expected}; the claim is {audit.claim}"


def failure_text(audit: AuditResult, reproduce: str | None = None) -> str:
    """Return the verdict, what was found in a sentence, then pair, event, counts, bound and how to see it again.

    ``reproduce`` replaces the audit's own command.
    """
    rows = []
    if audit.pair is not None:
        rows.append(("pair", pair_words(audit.pair)))
    if audit.event is not None:
        rows += [("event", line) for line in event_lines(audit.event)]
    if audit.bound is not None:
        by = f"{confidence_words(audit.bound.confidence)} confidence, by {audit.bound.method}"
        rows.append(("bound", f"{bound_words(audit)} with {by}"))
    rows += [("warning", warning) for warning in audit.warnings]
    again = reproduce or audit.reproduce
    if again:
        rows.append(("reproduce", again))
    return "\n".join([headline(audit), finding(audit), *(f"  {name:<10} {text}" for name, text in rows)])


def event_lines(event: Mapping[str, Any]) -> list[str]:
    """Return what was looked at with its counts, a line for each event, from an entry of report.json.

    >>> event_lines({"description": "output ≤ 0", "counts": {"left": [75, 100], "right": [25, 99]}, "opposite": None})
    ['output ≤ 0: 75 of 100 outputs on the left, 25 of 99 on the right']
    """
    if "points" in event:
        return [line for point in event["points"] for line in event_lines(point)]
    told, counts = str(event["description"]), event.get("counts")
    if counts and "order" in event:  # cells of a score
        left, right = (f"{sum(counts[side]):,}" for side in ("left", "right"))
        told += f": {left} outputs on the left and {right} on the right, in {len(counts['left'])} cells"
    elif counts:
        sides = [f"{hits:,} of {trials:,}" for hits, trials in counts.values()]
        told += f": {sides[0]} outputs" + (f" on the left, {sides[1]} on the right" if len(sides) > 1 else "")
    return [told, *(event_lines(event["opposite"]) if event.get("opposite") else [])]
