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
)
from auditor.neighbours.pair import pair_words
from auditor.report.phrases import bound_words, confidence_words, finding, verdict_words
from auditor.results.result import AuditResult


def headline(audit: AuditResult) -> str:
    """Say how the audit ended, and what was expected where that is something else."""
    expected = "" if audit.passed else f" (expected: {verdict_words(audit.expected)})"
    return f"{verdict_words(audit.verdict)}{expected}; the claim is {audit.claim}"


def in_short(audit: AuditResult) -> str:
    """Return the verdict, what was found in a sentence or two, and the warnings."""
    warnings = (f"warning: {warning}" for warning in audit.warnings)
    return "\n".join([f"{audit.name}: {headline(audit)}", finding(audit), *warnings])


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


def event_lines(event: Observed) -> list[str]:
    """Return what was looked at with its counts, a line for each event.

    >>> event_lines(ObservedReport("the mechanism reports the event", Hits((75, 100)), confirmed=True))
    ['the mechanism reports the event: 75 of 100 outputs']
    """
    match event:
        case ObservedProfile(points=points):
            return [line for point in points for line in event_lines(point)]
        case ObservedRule(sides=sides):
            return [
                f"{side.description}: {_of(side.counts.left)} outputs on the left, {_of(side.counts.right)} on the right"
                for side in sides
            ]
        case ObservedReport(description=words, counts=counts):
            return [f"{words}: {_of(counts.left)} outputs"]
        case ObservedScore(description=words, counts=cells):
            left, right = sum(cells.left), sum(cells.right)
            return [f"{words}: {left:,} outputs on the left and {right:,} on the right, in {len(cells.left)} cells"]
        case QueryAnswers(description=words) | ObservedBets(description=words):
            return [words]
    assert_never(event)


def _of(seen: tuple[int, int]) -> str:
    return f"{seen[0]:,} of {seen[1]:,}"
