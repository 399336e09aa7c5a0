"""A report is read only if it is self-consistent: everything that follows from its counts is recomputed.

Counts can still be invented. `auditor replay --check` compares the counts with recorded outputs.
"""

import math
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from auditor.accountants.outcome import judged
from auditor.auditing.calculated import calculated
from auditor.auditing.evidence import CanaryEvidence, CountedTest, CountEvidence, Evidence, RateEvidence
from auditor.auditing.outcome import levels_of
from auditor.auditing.query_flow import judged_again
from auditor.bounds.divergences import Wager
from auditor.bounds.one_run import GuessTally, OneRunGuesses
from auditor.claims import PrivacyClaim, Probability, QueryClaim
from auditor.errors import AuditorError, InvalidInputError
from auditor.events.observed import (
    CalculatedEvent,
    Observed,
    ObservedCanaries,
    ObservedCurve,
    ObservedProfile,
    ObservedReport,
    ObservedRule,
    ObservedScore,
    QueryAnswers,
)
from auditor.methods import method_for
from auditor.methods.guessing import TwoIntervals
from auditor.results.reader import as_read, fitting, not_as_reported, parsed_report
from auditor.results.result import AuditResult, Judgement, RunResult
from auditor.verdict import Verdict

# More canaries than anybody has, and few enough to compute with.
MOST_CANARIES = 10_000_000
ReportedEvent = ObservedRule | ObservedProfile | ObservedScore | ObservedCurve | ObservedReport


def read_report(file: str | Path) -> RunResult:
    """Return the run that a report.json holds; writing this run gives the same file.

    Raises InvalidInputError if the file cannot be read, is not a report, has another version or contradicts itself: bounds, levels,
    power and verdicts are those that follow from its counts. The message names the file and the place in it.
    """
    run, written = parsed_report(file)
    if not run.every:
        raise InvalidInputError(f"{file} holds no audits; run the audits again")
    try:
        again = recounted(run)
    except AuditorError as error:
        raise InvalidInputError(f"{file} contradicts itself: {error}") from None
    whole, lines = as_read(again.to_dict()), list[str]()
    for entry, remade in zip(written["audits"], whole["audits"], strict=True):
        lines += (f'audit "{entry["name"]}", {line}' for line in not_as_reported(entry, remade))
    for entry, one, remade in zip(
        written.get("accountants", ()), run.accountants, whole.get("accountants", ()), strict=True
    ):
        lines += (f'accountant "{one.name}", {line}' for line in not_as_reported(entry, remade))
    rest: dict[str, list[Any]] = {"audits": [], "accountants": []}
    lines += not_as_reported({**written, **rest}, {**whole, **rest})
    if lines:  # name a wrong level first, since bounds and verdicts follow from levels
        first = min(lines, key=lambda line: "budget." not in line)
        raise InvalidInputError(f"{file} contradicts itself: {first}; run the audit again")
    return run


def recounted(run: RunResult) -> RunResult:
    """Recompute everything that follows from the counts of a run. Return the run with these results."""
    found = [_evidence(audit) for audit in run.audits]
    with fitting("its counts prove nothing"):
        p_values = [each.p_value() if isinstance(each, Evidence) else each.p_value for each in found]
        smallest = min(filter(None, (audit.alpha for audit in run.audits)), default=1.0)
        # The smallest level is the error budget over the number of audits that share it. A report of `--only` lacks
        # some of these audits. The number is cut at 100,000, since a forged report may imply any.
        sharing = round(min(100_000, (1 - run.confidence) / smallest))
        levels = levels_of(p_values, 1 - run.confidence, max(sharing, len(p_values) - p_values.count(None)))
        accountants = [
            replace(one, verdict=judged(one.states, one.tolerance, one.shown, one.coverage)) for one in run.accountants
        ]
        return replace(run, audits=list(map(_judged, run.audits, found, levels)), accountants=accountants)


def _evidence(audit: AuditResult) -> Evidence | Judgement:
    """Return the counts of an audit as evidence, or a judgement if nothing is random or nothing was counted."""
    claim, reason = audit.claim, audit.stop_reason
    if audit.proof is not None and audit.proof.refutation is not None:
        again = calculated(claim, audit.proof.refutation)
        if audit.verdict is not again.verdict:
            raise InvalidInputError("its claim is refuted by calculation, and its verdict is another")
    match audit.event:
        case None if audit.proof is None or audit.proof.refutation is None:
            is_proved = audit.verdict is Verdict.NO_VIOLATION_FOUND and audit.proof is not None and audit.proof.proved
            return Judgement(Verdict.NO_VIOLATION_FOUND if is_proved else Verdict.INCONCLUSIVE, reason)
        case None | CalculatedEvent():
            return _calculated_again(audit)
        case QueryAnswers() as event if isinstance(claim, QueryClaim) and audit.pair is not None:
            return judged_again(claim, audit.mechanism, audit.pair, event, reason)
        case ObservedCanaries(_, canaries, runs, apart, guesses) if isinstance(claim, PrivacyClaim):
            if canaries * runs > MOST_CANARIES:
                raise InvalidInputError(f"{canaries * runs:,} canaries; at most {MOST_CANARIES:,} are looked at")
            tallies = tuple(GuessTally(canaries * runs, *numbers) for numbers in guesses)
            return CanaryEvidence(claim, OneRunGuesses(tallies, apart), canaries, runs, reason, audit.judgement.share)
        case event if isinstance(event, ReportedEvent) and isinstance(event, ObservedReport) == isinstance(
            claim, Probability
        ):
            outputs, is_textbook = _outputs(event), audit.bound is not None and audit.bound.method == TwoIntervals.name
            method = method_for(claim, TwoIntervals.name if is_textbook else "fixed", 0.001, outputs)
            test: Any = _AsReported(event)
            shown, share = audit.judgement.round, audit.judgement.share
            counted = CountedTest(method, test, event.counted(), outputs, share, shown)
            kind = RateEvidence if isinstance(claim, Probability) else CountEvidence
            return kind(claim, counted, [counted], reason)
    raise InvalidInputError(f"its event cannot test a claim of {claim}")


def _calculated_again(audit: AuditResult) -> Judgement:
    """Return the judgement of a claim that is refuted by calculation.

    Raises InvalidInputError if the audit's pair is not that of the refutation.
    """
    found = None if audit.proof is None else audit.proof.refutation
    if found is None:
        raise InvalidInputError("its event was calculated, and no refutation is there")
    if audit.pair is None or audit.pair.to_dict() != found.pair.to_dict():
        raise InvalidInputError("its pair is not that of the refutation")
    return calculated(audit.claim, found)


@dataclass(frozen=True, slots=True)
class _AsReported:
    """The test of an event whose counts are known."""

    event: ReportedEvent

    @property
    def events(self) -> tuple[ObservedRule, ...]:
        """The event at each point of a profile."""
        assert isinstance(self.event, ObservedProfile)
        return self.event.points

    @property
    def wager(self) -> Wager:
        """The wager of a divergence."""
        assert isinstance(self.event, ObservedScore)
        return self.event.wager

    def report(self, counts: object) -> Observed:
        """Return the event unchanged, since it already holds its counts."""
        return self.event


def _outputs(event: Observed | None) -> int:
    """Return the number of outputs in which an event was counted; for canaries, the number of runs."""
    counted = getattr(event, "counted", None)
    return sum(map(sum, counted().tables()[:2])) if counted is not None else getattr(event, "runs", 0)


def _judged(audit: AuditResult, evidence: Evidence | Judgement, level: float | None) -> AuditResult:
    """Return an audit with the judgement of its counts. The data of the plots stay as they are, except for a band."""
    if audit.alpha is not None and math.isclose(level or 0, audit.alpha):
        level = audit.alpha
    judgement = evidence.judge(level) if isinstance(evidence, Evidence) and level is not None else evidence
    assert isinstance(judgement, Judgement)
    drawn = replace(audit.outputs, bound=max(audit.outputs.bound, _outputs(audit.event)))
    return replace(
        audit,
        judgement=replace(
            judgement, illustration=replace(audit.illustration, band=judgement.illustration.band), alpha=level
        ),
        provenance=replace(audit.provenance, outputs=drawn),
        smallest=audit.smallest if judgement.verdict is Verdict.VIOLATION else None,
        further=audit.further if judgement.verdict is Verdict.VIOLATION else (),
    )
