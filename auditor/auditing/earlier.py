"""The event of an earlier violation is counted again, on its own pair, before the search.

**The error budget.** An audit beside a red report gives OF_EARLIER of its level to the earlier event, and the rest to its rounds,
whatever comes of the event. Both were fixed before an output of this audit was drawn. The address of all its outputs holds a digest
of the earlier pair and counts. So none of these outputs is one from which the event was learned, or by which it was chosen, and all
bounds together hold with the probability that they have without the report.

**A report may be stale, or written by somebody else.** It costs no audit, and makes no false alarm: the pair must be one of the
domain, which the domain decides; the event counts fresh outputs only; and what does not fit is left out, with a note.
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
# Each limit of the losses that are compared is wrong with this probability. No verdict depends on them.
ERROR = 0.0005


@dataclass(frozen=True, slots=True)
class Earlier:
    """A violation of an earlier report: its claim, its pair, as the domain has it, its event, and what was counted."""

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
        """A text that is another one for another pair, or other counts."""
        return hashlib.sha256(to_json([self.pair.to_dict(), self.counts.tables()]).encode()).hexdigest()[:16]

    def compared(self, counts: GuessCounts | ProfileCounts, *, refuted: bool) -> str:
        """Say whether the violation is still there, by new counts of its event, which do or do not refute the claim."""
        before, now = self._loss(self.counts, self.share), self._loss(counts)
        fell = now[1] < before[0]
        state = ("is smaller" if fell else "is still there") if refuted else "is gone" if fell else "was not seen again"
        shown, was = (f"{low:.3f} to {high:.3f}".replace("inf", "∞") for low, high in (now, before))
        loss = f"{self.claim.symbol} is {shown}, before {was}"
        if isinstance(counts, GuessCounts) and not counts.guesses:
            state, loss = "is gone", f"in {how_many(counts.trials, 'output')} there is none to guess at"
        return f"The violation of the earlier report {state}: on its pair and event, {loss}."

    def _loss(self, counts: GuessCounts | ProfileCounts, share: float = 1.0) -> Interval:
        found = method_for(self.claim, "fixed", ERROR, self.outputs).interval(counts, share * ERROR)
        assert found is not None
        return found


def earlier_violation(
    claim: Claim, method: str, events: tuple[str, ...], domain: Domain, found: AuditResult
) -> Earlier:
    """Return the violation that an audit found before, to be counted again.

    ``claim``, ``method``, ``events`` and ``domain`` are those of the audit now. Raises InvalidInputError that says why it cannot.
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
