"""One audit as plain text: in short, and in full as a failed check shows it."""

from auditor.errors import visible
from auditor.neighbours.pair import pair_words
from auditor.report.pair_table import PAIR, pair_tables
from auditor.report.phrases import bound_words, confidence_words, ended, event_lines, finding
from auditor.results.result import AuditResult


def headline(audit: AuditResult) -> str:
    """Say how the audit ended, the expected verdict if it differs, and the claim."""
    return f"{ended(audit)}; the claim is {audit.claim}"


def in_short(audit: AuditResult) -> str:
    """Return the verdict, what was found in a sentence or two, and the warnings."""
    warnings = (f"warning: {warning}" for warning in audit.warnings)
    return "\n".join(map(visible, [f"{audit.name}: {headline(audit)}", finding(audit), *warnings]))


def failure_text(audit: AuditResult, reproduce: str | None = None) -> str:
    """Return the verdict, what was found in a sentence, then pair, event, counts, bound and how to reproduce it.

    ``reproduce`` replaces the audit's own command.
    """
    rows = [] if audit.pair is None else [("pair", pair_words(audit.pair))]
    tables = pair_tables(audit)
    rows += [(table.marks, line) for caption, table in tables if caption == PAIR for line in table.text()]
    if audit.event is not None:
        rows += [("event", line) for line in event_lines(audit.event)]
    if audit.bound is not None:
        by = f"{confidence_words(audit.bound.confidence)} confidence, by {audit.bound.method}"
        rows.append(("bound", f"{bound_words(audit)} with {by}"))
    rows += [("smallest", line) for caption, table in tables if caption != PAIR for line in table.text()]
    rows += [("warning", warning) for warning in audit.warnings]
    if again := reproduce or audit.reproduce:
        rows.append(("reproduce", again))
    return "\n".join(map(visible, [headline(audit), finding(audit), *(f"  {name:<10} {text}" for name, text in rows)]))
