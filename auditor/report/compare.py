"""Two reports of the same audits: what got worse, what got better, and what may be chance.

**Beyond chance.** A bound moves from run to run for two reasons. Outputs are random: each run has, from its counts, an interval
for what its event truly shows. With probability at least 1 − FALSE_RISE all intervals of both files hold. That chance is divided
over the audits, a second look at each, and both ends of both intervals (Bonferroni). The search may also find another pair or
event, which no interval covers. So a bound rose beyond chance, and fails the check, only where all of this holds:

- Both runs looked at the same pair under the same claim.
- Their events differ at most in their thresholds, and look at no learned score.
- The later event was learned from no more outputs than the earlier one.
- The later interval lies above the earlier one by more than MATERIAL_RISE of the claim, or of the earlier interval's end if that
  is larger. This is room for the thresholds.

Any other rise is reported and fails nothing. `auditor run --baseline` then audits the baseline's pair again. So a rise there
is not missed. With the seed of the baseline, a mechanism that did not change gives the same numbers.

Sequential audits, and audits of Rényi and zero-concentrated claims, are compared by verdict and outputs only. Their bets give no
upper limit.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from auditor.claims import PrivacyClaim
from auditor.events.observed import ObservedBets, ObservedCanaries, QueryAnswers, guessed_sides
from auditor.methods import method_for
from auditor.methods.method import Interval
from auditor.report.phrases import bound_words, number, verdict_words
from auditor.results.files import to_json
from auditor.results.result import AuditResult, RunResult
from auditor.verdict import Verdict

# The chance, over a whole file, that a rise is reported where the events show no more than before.
FALSE_RISE = 0.001
# The least distance of intervals, as a share of the claim or of the earlier interval's end, whichever is larger.
MATERIAL_RISE = 0.1
# Power fell if the excess over the claim that is detected with 95 % probability grew by this factor. The excess shrinks with
# the square root of the outputs. So this takes less than 44 % of the outputs.
MATERIAL_POWER = 1.5

# Audits the pair of an earlier result with the mechanism of today.
LookAgain = Callable[[AuditResult], AuditResult]


class ChangeKind(StrEnum):
    """The meaning of a change for a release."""

    WORSE = "worse"
    BETTER = "better"
    NOTE = "note"


@dataclass(frozen=True, slots=True)
class Change:
    """One difference between two runs of an audit, in a line."""

    kind: ChangeKind
    audit: str
    what: str


def compare(old: RunResult, new: RunResult, look_again: LookAgain | None = None) -> list[Change]:
    """Return the changes of all audits, matched by name: first the audits of the new run in its order, then the audits that
    vanished.

    If a bound rose on a different pair, ``look_again`` gives today's result on the earlier pair.
    """
    before = {audit.name: audit for audit in old.audits}
    error = FALSE_RISE / (2 * max(1, len(new.audits)))
    changes: list[Change] = []
    for audit in new.audits:
        earlier = before.pop(audit.name, None)
        if earlier is None:
            changes.append(Change(ChangeKind.NOTE, audit.name, f"appeared: {verdict_words(audit.verdict)}"))
        else:
            changes += _changes(earlier, audit, error, look_again)
    return changes + [Change(ChangeKind.WORSE, name, "vanished: it is missing from the new report") for name in before]


def in_all(changes: Sequence[Change], baseline: str) -> str:
    """Say in one line how many changes there are for the worse, and for the better.

    >>> in_all([Change(ChangeKind.BETTER, "one", "it is gone")], "old.json")
    'compared with old.json: nothing worse, 1 better'
    """
    worse, better = (sum(change.kind is kind for change in changes) for kind in (ChangeKind.WORSE, ChangeKind.BETTER))
    return f"compared with {baseline}: {worse or 'nothing'} worse, {better or 'nothing'} better"


def _changes(old: AuditResult, new: AuditResult, error: float, look_again: LookAgain | None) -> list[Change]:
    found = [*_claim(old, new), *_verdict(old, new)]
    if old.claim == new.claim:
        found += [*_bound(old, new, error, look_again), *_power(old, new), *_proof(old, new)]
    if old.passed and not new.passed and not any(kind is ChangeKind.WORSE for kind, _ in found):
        expected = verdict_words(new.expected)
        found.append(
            (ChangeKind.WORSE, f"ended as expected before; now {verdict_words(new.verdict)}, expected: {expected}")
        )
    return [Change(kind, new.name, what) for kind, what in found]


_Found = Iterator[tuple[ChangeKind, str]]


def _claim(old: AuditResult, new: AuditResult) -> _Found:
    if old.mechanism != new.mechanism:
        yield ChangeKind.NOTE, f"mechanism changed from {old.mechanism} to {new.mechanism}"
    if old.pair is not None and new.pair is not None and old.pair.relation is not new.pair.relation:
        yield ChangeKind.WORSE, f"relation changed from {old.pair.relation} to {new.pair.relation}; not comparable"
    if old.claim == new.claim:
        return
    was = f"claim changed from {old.claim} to {new.claim}"
    if new.claim.implies(old.claim):
        yield ChangeKind.BETTER, f"{was}, which promises more"
    elif old.claim.implies(new.claim):
        yield ChangeKind.WORSE, f"{was}, which promises less"
    else:
        yield ChangeKind.WORSE, f"{was}; not comparable"


def _verdict(old: AuditResult, new: AuditResult) -> _Found:
    if old.verdict is new.verdict:
        return
    if new.verdict is Verdict.INCONCLUSIVE:
        yield ChangeKind.WORSE, f"now inconclusive: {new.stop_reason}"
    elif new.verdict is Verdict.VIOLATION:
        yield ChangeKind.WORSE, f"a new violation: {bound_words(new)}, above the claimed {new.claim}"
    elif old.verdict is Verdict.VIOLATION and not new.passed:
        yield ChangeKind.WORSE, f"the expected violation is no longer found: {bound_words(new)}"
    elif old.verdict is Verdict.VIOLATION:
        yield ChangeKind.BETTER, f"the violation is gone: {bound_words(new)}, within the claimed {new.claim}"
    else:
        yield ChangeKind.BETTER, f"there is an answer now: {verdict_words(new.verdict)}"


def _bound(old: AuditResult, new: AuditResult, error: float, look_again: LookAgain | None) -> _Found:
    if new.verdict is Verdict.VIOLATION and new.passed:
        return  # for a release it does not matter how far a violation goes that is expected
    before, after = shown(old, error / 2), shown(new, error / 2)
    if before is None or after is None:
        return
    values = f"{bound_words(new)}, before {bound_words(old)}"
    if _above(after, before, new.claim.value):
        reason = _luck(old, new)
        if reason == ANOTHER_PAIR and look_again is not None and isinstance(new.claim, PrivacyClaim):
            there = look_again(old)
            values = f"{values}; on the pair of the baseline {bound_words(there)}"
            seen = shown(there, error / 2)
            if seen is not None and _above(seen, before, new.claim.value) and not _luck(old, there):
                reason = ""
        if reason:
            yield ChangeKind.NOTE, f"the bound rose, {reason}: {values}"
        else:
            yield ChangeKind.WORSE, f"the bound rose beyond chance: {values}"
    elif _above(before, after, new.claim.value) and not _luck(new, old):
        yield ChangeKind.BETTER, f"the bound fell beyond chance: {values}"


def _proof(old: AuditResult, new: AuditResult) -> _Found:
    before, after = (audit.proof is not None and audit.proof.proved for audit in (old, new))
    if before and new.proof is None:
        yield ChangeKind.NOTE, "there is no proof now; `prove: true` tries for longer, and reports the reason"
    elif before and new.proof is not None and not after:
        yield ChangeKind.WORSE, f"the proof is lost: {new.proof.reason}"
    elif after and not before:
        yield ChangeKind.BETTER, "the claim is proved now"


ANOTHER_PAIR = "on a different pair"


def _luck(old: AuditResult, new: AuditResult) -> str:
    """Return why the later run may show more with no change in the mechanism; nothing if only by the chance of its outputs."""
    if not _same_pair(old, new):
        return ANOTHER_PAIR
    if not _same_event(old, new):
        return "by a different event"
    return "with more outputs than before" if new.outputs.selection > old.outputs.selection else ""


def _above(one: Interval, other: Interval, claimed: float) -> bool:
    (low, _), (_, high) = one, other
    return low > high + MATERIAL_RISE * max(abs(high), claimed)


def _same_pair(old: AuditResult, new: AuditResult) -> bool:
    if old.pair is None or new.pair is None:
        return False
    before, after = (
        sorted(to_json(pair.to_dict()[side]) for side in ("left", "right")) for pair in (old.pair, new.pair)
    )
    return before == after


def _same_event(old: AuditResult, new: AuditResult) -> bool:
    """Whether two events differ in thresholds at most. An event on a learned score differs each time it is learned."""
    before, after = guessed_sides(old.event), guessed_sides(new.event)
    same = [side.form for side in before] == [side.form for side in after]
    return same and not any(side.looks_at == "score" for side in after)


def _power(old: AuditResult, new: AuditResult) -> _Found:
    if {old.verdict, new.verdict} != {Verdict.NO_VIOLATION_FOUND}:
        return
    drawn = new.outputs.bound / old.outputs.bound if old.outputs.bound else 1.0
    outputs = f"{new.outputs.bound:,} outputs, before {old.outputs.bound:,}"
    if old.power and new.power:
        before, after = (abs(audit.power["95%"] - audit.claim.value) for audit in (old, new) if audit.power)
        caught = f"detects {number(new.power['95%'])} with 95 % probability, before {number(old.power['95%'])}"
        # Where no fewer outputs were drawn, another event was learned, by chance.
        if drawn < 1 and after > MATERIAL_POWER * before:
            yield ChangeKind.WORSE, f"power fell: {caught} ({outputs})"
        elif drawn > 1 and before > MATERIAL_POWER * after:
            yield ChangeKind.BETTER, f"power rose: {caught} ({outputs})"
    elif drawn * MATERIAL_POWER**2 < 1:
        yield ChangeKind.WORSE, f"power fell: {outputs}"
    elif drawn > MATERIAL_POWER**2:
        yield ChangeKind.BETTER, f"power rose: {outputs}"


def shown(audit: AuditResult, error: float) -> Interval | None:
    """Return limits of the true loss on the event. Each is wrong with probability at most ``error / 2``.

    They are in units of the claim's quantity, and more is always worse: for claims with `at_least`, the sign is reversed. None if
    the counts give no upper limit.
    """
    match audit.event:
        case None | ObservedBets() | ObservedCanaries():
            return None
        case QueryAnswers():
            return (audit.bound.value, audit.bound.value) if audit.bound else None
        case event:
            return method_for(audit.claim, "fixed", error, audit.outputs.bound).interval(event.counted(), error / 2)
