"""The event of an earlier violation is counted again, on its own pair, before the search.

**The error budget.** A run after a red report refutes a claim exactly as the same run without a report: its rounds draw
the same outputs, at the whole level α. The recount never refutes. It can only keep the run from passing, which is no
alarm. So, whatever the report says, a run of a sound mechanism ends in a violation with probability at most α. If the
red run had the same seed and code, both runs raise the same alarm, so with probability at most α either of them raises
one.

**What settles a violation.** The recount draws from streams of its own. Their address includes a digest of the earlier
pair and counts, so the event was neither learned nor chosen from any of these outputs. The recount settles the
violation only if the loss that the event shows is significantly smaller than before, or at most the claim, and is not
proved to be above the claim. Each of the limits on which this rests is wrong with probability at most ERROR. An earlier
violation that is not settled leaves the audit without an answer, and is remembered.

**A report may be stale, or written by somebody else.** Such a report stops no audit and makes no false alarm: the
domain decides whether it has the pair, the event counts fresh outputs only, and a violation that does not fit is left
out, with a note.
"""

import hashlib
import math
from dataclasses import dataclass, replace
from typing import Any

from auditor.bounds.evidence import GuessCounts, ProfileCounts
from auditor.bounds.intervals import clopper_pearson_limits
from auditor.claims import Claim, PrivacyClaim, PrivacyProfile
from auditor.defaults import BITS
from auditor.errors import InvalidInputError, how_many
from auditor.events.observed import ObservedProfile, ObservedRule
from auditor.interfaces import Domain, Limits, Test
from auditor.methods import method_for
from auditor.neighbours.pair import Pair
from auditor.results.files import to_json
from auditor.results.reader import fitting, frozen_test, run_from_text
from auditor.results.result import AuditResult, Illustration, RunResult

# Each limit of the two losses compared is wrong with probability at most ERROR.
ERROR = 0.0005
# A confidence interval for the loss has a half-width of 3.3 standard errors. If the loss fell to the claim, limits that
# lie half as far again from each other show this with 95 % probability.
SURELY = 1.5


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
        return digest(self.pair, self.counts.tables())

    @property
    def planned(self) -> float:
        """Roughly how many outputs show with 95 % probability that the loss fell, if it now equals the claim.

        At least as many as showed the violation; infinite if the violation hardly exceeded the claim.
        """
        low, high = self._loss(self.counts, self.share)
        room = self.claim.excess(low)
        if room <= 0:
            return math.inf
        # The width is proportional to 1/√outputs. Without an upper limit, the loss was far above the claim.
        return self.outputs * max(1.0, (SURELY * (high - low) / 2 / room) ** 2 if high < math.inf else 1.0)

    def compared(self, counts: GuessCounts | ProfileCounts) -> tuple[str, str, bool]:
        """Return what new counts say about the violation, the losses before and after, and whether this settles it."""
        before, after = self._loss(self.counts, self.share), self._loss(counts)
        above, fell = self.claim.excess(after[0]) > 0, after[1] < before[0]
        settled = not above and (fell or self.claim.excess(after[1]) <= 0)
        state = (
            ("is smaller" if fell else "is still there") if above else "is gone" if settled else "was not seen again"
        )
        shown, was = (f"{low:.3f} to {high:.3f}".replace("inf", "∞") for low, high in (after, before))
        loss = f"on its pair and event, {self.claim.symbol} is {shown}, before {was}"
        if isinstance(counts, GuessCounts) and not counts.guesses:
            settled = self._guessed_more_often(counts)
            state = "is gone" if settled else "was not seen again"
            loss = f"on its pair and event, in {how_many(counts.trials, 'output')} there is none to guess at"
        return state, loss, settled

    def _guessed_more_often(self, counts: GuessCounts) -> bool:
        """Whether the event guessed at significantly more outputs before than in new counts."""
        before = self.counts
        assert isinstance(before, GuessCounts)
        often = clopper_pearson_limits(before.guesses, before.trials, self.share * ERROR)[0]
        return clopper_pearson_limits(counts.guesses, counts.trials, ERROR)[1] < often

    def _loss(self, counts: GuessCounts | ProfileCounts, share: float = 1.0) -> Limits:
        interval = method_for(self.claim, "fixed", ERROR, self.outputs).interval(counts, share * ERROR)
        assert interval is not None
        return interval


def digest(pair: Pair, counts: Any) -> str:
    """Return a text that differs for different pairs, and for different counts or events, given as plain data."""
    return hashlib.sha256(to_json([pair.to_dict(), counts]).encode()).hexdigest()[:16]


def earlier_violation(
    claim: Claim, method: str, events: tuple[str, ...], domain: Domain, violation: AuditResult
) -> Earlier:
    """Return the violation that an audit found before, to be counted again.

    ``claim``, ``method``, ``events`` and ``domain`` are those of the current audit. Raises InvalidInputError with the
    reason if it cannot be counted again.
    """
    event = violation.event
    if violation.claim != claim or not isinstance(claim, PrivacyClaim):
        raise InvalidInputError(f"its claim is {violation.claim}, but the claim is now {claim}")
    if not isinstance(event, ObservedRule | ObservedProfile) or method != "fixed" or violation.pair is None:
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
    pair = domain.own(violation.pair.left, violation.pair.right)
    if pair is None:
        raise InvalidInputError("its pair is not in the domain, or the domain cannot look pairs up")
    return Earlier(claim, pair, test, counts, violation.judgement.share)


def as_text(audit: AuditResult) -> str:
    """Return a result without its plots as text, to be kept."""
    judgement = replace(audit.judgement, illustration=Illustration())
    return to_json(RunResult("kept", 0.5, [replace(audit, judgement=judgement)]).to_dict())


def from_text(text: str) -> AuditResult:
    """Return the result that was kept as text."""
    [audit] = run_from_text(text).audits
    return audit
