"""One audit as plain text: in short, and in full as a failed check shows it."""

from typing import assert_never

from auditor.events.observed import (
    Observed,
    ObservedBets,
    ObservedProfile,
    ObservedReport,
    ObservedRule,
    ObservedScore,
    QueryAnswers,
    counted_events,
)
from auditor.neighbours.pair import pair_words
from auditor.report.phrases import bound_words, confidence_words, ended, finding
from auditor.results.result import AuditResult


def headline(audit: AuditResult) -> str:
    """Say how the audit ended, what was expected where that differs, and what was claimed."""
    return f"{ended(audit)}; the claim is {audit.claim}"


def in_short(audit: AuditResult) -> str:
    """Return the verdict, what was found in a sentence or two, and the warnings."""
    warnings = (f"warning: {warning}" for warning in audit.warnings)
    return "\n".join([f"{audit.name}: {headline(audit)}", finding(audit), *warnings])


def failure_text(audit: AuditResult, reproduce: str | None = None) -> str:
    """Return the verdict, what was found in a sentence, then pair, event, counts, bound and how to reproduce it.

    ``reproduce`` replaces the audit's own command.
    """
    rows = [] if audit.pair is None else [("pair", pair_words(audit.pair))]
    if audit.event is not None:
        rows += [("event", line) for line in event_lines(audit.event)]
    if audit.bound is not None:
        by = f"{confidence_words(audit.bound.confidence)} confidence, by {audit.bound.method}"
        rows.append(("bound", f"{bound_words(audit)} with {by}"))
    rows += [("warning", warning) for warning in audit.warnings]
    if again := reproduce or audit.reproduce:
        rows.append(("reproduce", again))
    return "\n".join([headline(audit), finding(audit), *(f"  {name:<10} {text}" for name, text in rows)])


def event_lines(event: Observed) -> list[str]:
    """Return each event with its counts, in a line of its own.

    >>> from auditor.events.observed import Hits
    >>> event_lines(ObservedReport("the mechanism reports the event", Hits((75, 100)), confirmed=True))
    ['the mechanism reports the event: 75 of 100 outputs']
    """
    match event:
        case ObservedRule() | ObservedProfile() | ObservedReport():
            return [f"{words}: {_seen(*counts)}" for words, counts in counted_events(event)]
        case ObservedScore(description=words, counts=cells):
            left, right = sum(cells.left), sum(cells.right)
            return [f"{words}: {left:,} outputs on the left and {right:,} on the right, in {len(cells.left)} cells"]
        case QueryAnswers(description=words) | ObservedBets(description=words):
            return [words]
    assert_never(event)


def _seen(*counts: tuple[int, int]) -> str:
    left, *right = (f"{hits:,} of {trials:,}" for hits, trials in counts)
    return f"{left} outputs on the left, {right[0]} on the right" if right else f"{left} outputs"
