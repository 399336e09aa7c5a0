"""The event of an earlier violation is counted again, on its own pair, before the search.

**The error budget.** If an earlier report shows a violation, the audit gives OF_EARLIER of its level α to the event of
that violation, and the rest to its rounds. Both shares are fixed before any output of this audit is drawn.

- The recount draws from streams of its own. Their address holds a digest of the earlier pair and counts, so no run has
  drawn these outputs from which the event was learned or chosen: given the report, its bound errs with probability at
  most OF_EARLIER · α.
- The rounds draw the outputs that they would draw without a report, and learn nothing from it. So, whatever the report
  says, all of their bounds hold with probability at least 1 − (1 − OF_EARLIER) · α. If the report came of the same seed
  and the same code, its counts may be of the same outputs; a bound does not become less valid by being computed twice.
- By the union bound all bounds together hold with probability at least 1 − α. This needs no independence between the
  recount and the rounds, so the bound that is shown may be chosen freely among them.

The smaller level of the rounds decides when a refuted claim ends them. So if their p-value lies between the two levels,
the rounds draw more outputs than without a report, after the same ones.

**A report may be stale, or written by somebody else.** Such a report stops no audit and makes no false alarm: the
domain decides whether it has the pair, the event counts fresh outputs only, and a violation that does not fit is left
out, with a note.
"""

import hashlib
from dataclasses import dataclass, replace
from typing import Any

from auditor.bounds.evidence import GuessCounts, ProfileCounts
from auditor.claims import Claim, PrivacyClaim, PrivacyProfile
from auditor.defaults import BITS
from auditor.errors import InvalidInputError, how_many
from auditor.events.observed import ObservedProfile, ObservedRule
from auditor.interfaces import Domain, Interval, Test
from auditor.methods import method_for
from auditor.neighbours.pair import Pair
from auditor.results.files import to_json
from auditor.results.reader import fitting, frozen_test, run_from_text
from auditor.results.result import AuditResult, Illustration, RunResult

# The share of the level that the earlier event has.
OF_EARLIER = 0.2
# Each limit of the two losses compared is wrong with probability at most ERROR. No verdict depends on these limits.
ERROR = 0.0005


@dataclass(frozen=True, slots=True)
class Earlier:
    """A violation of an earlier report: claim, pair as the domain has it, event as a test, and counts."""

    claim: PrivacyClaim
    pair: Pair
    test: Test[Any]
    counts: GuessCounts | ProfileCounts
    share: float  # of the level of its audit

    @property
    def outputs(self) -> int:
        """The outputs in which the event was counted."""
        return sum(map(sum, self.counts.tables()[:2]))

    @property
    def digest(self) -> str:
        """A text that differs for different pairs or counts."""
        return hashlib.sha256(to_json([self.pair.to_dict(), self.counts.tables()]).encode()).hexdigest()[:16]

    def compared(self, counts: GuessCounts | ProfileCounts, *, refuted: bool) -> str:
        """Say whether the violation is still there, by new counts; ``refuted`` if these refute the claim."""
        before, now = self._losses(counts)
        fell = now[1] < before[0]
        state = ("is smaller" if fell else "is still there") if refuted else "is gone" if fell else "was not seen again"
        shown, was = (f"{low:.3f} to {high:.3f}".replace("inf", "∞") for low, high in (now, before))
        loss = f"{self.claim.symbol} is {shown}, before {was}"
        if isinstance(counts, GuessCounts) and not counts.guesses:
            state, loss = "is gone", f"in {how_many(counts.trials, 'output')} there is none to guess at"
        return f"The violation of the earlier report {state}: on its pair and event, {loss}."

    def fell(self, counts: GuessCounts | ProfileCounts) -> bool:
        """Whether the loss that the event shows fell beyond chance, by new counts."""
        before, after = self._losses(counts)
        return after[1] < before[0]

    def _losses(self, counts: GuessCounts | ProfileCounts) -> tuple[Interval, Interval]:
        return self._loss(self.counts, self.share), self._loss(counts)

    def _loss(self, counts: GuessCounts | ProfileCounts, share: float = 1.0) -> Interval:
        found = method_for(self.claim, "fixed", ERROR, self.outputs).interval(counts, share * ERROR)
        assert found is not None
        return found


def earlier_violation(
    claim: Claim, method: str, events: tuple[str, ...], domain: Domain, found: AuditResult
) -> Earlier:
    """Return the violation that an audit found before, to be counted again.

    ``claim``, ``method``, ``events`` and ``domain`` are those of the audit now. Raises InvalidInputError with the
    reason if it cannot be counted again.
    """
    event = found.event
    if found.claim != claim or not isinstance(claim, PrivacyClaim):
        raise InvalidInputError(f"its claim is {found.claim}, but the claim is now {claim}")
    if not isinstance(event, ObservedRule | ObservedProfile) or method != "fixed" or found.pair is None:
        raise InvalidInputError("its event is not a rule that guesses")
    with fitting("its event cannot be read"):
        test, counts = frozen_test(event), event.counted()
        points = len(counts.points) if isinstance(counts, ProfileCounts) else 0
        assert test is not None
        again: Any = test.report(counts)
        looks = {rule.looks_at for rule in getattr(again, "points", (again,))}
    if points != (len(claim.profile) if isinstance(claim, PrivacyProfile) else 0):
        raise InvalidInputError("its event cannot test its claim")
    if BITS in looks and BITS not in events:
        raise InvalidInputError("its event is about bits, but `events` does not name bits")
    pair = domain.own(found.pair.left, found.pair.right)
    if pair is None:
        raise InvalidInputError("its pair is not in the domain, or the domain cannot look pairs up")
    return Earlier(claim, pair, test, counts, found.judgement.share)


def as_text(found: AuditResult) -> str:
    """Return a result without its plots as text, to be kept."""
    judgement = replace(found.judgement, illustration=Illustration())
    return to_json(RunResult("kept", 0.5, [replace(found, judgement=judgement)]).to_dict())


def from_text(text: str) -> AuditResult:
    """Return the result that was kept as text."""
    [found] = run_from_text(text).audits
    return found
