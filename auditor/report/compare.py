"""Two reports of the same audits: what got worse, what got better, and what may be due to chance.

**Significance.** Two searches end on different pairs and events, and one event shows more than another. So losses are
compared on one event only: the earlier one, exactly as it was, on its own pair. `auditor run --baseline` draws fresh
outputs of today's mechanism on that pair and counts the event in them (``Remeasure``). Two reports alone can be
compared in this way only if pair and rule are identical, as they are after a run with the same seed on a mechanism that
did not change.

The rule was fixed before either run counted it. So each run's counts give confidence limits on the true loss that this
event shows. A rise is significant if the later interval lies above the earlier one. All such limits of a file hold
together with probability at least 1 − FALSE_RISE, which is divided over the audits and the two limits of each
(Bonferroni). It does not matter whether the two runs share random numbers.

Canaries have no rule that was fixed before all outputs were drawn, so their losses are not compared, and a line says
so.

**Scope.** A run that looks at less may find less. So fewer data sets, kinds of events, observations or outputs are
worse. Data sets are compared by the limits that reports keep of them. If no rule here decides on a difference, it is
reported as not compared.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from auditor.accountants.outcome import AccountantResult, settings_words, times
from auditor.claims import Claim, PrivacyClaim, PrivacyProfile
from auditor.errors import InvalidInputError, how_many
from auditor.events.observed import (
    CalculatedEvent,
    ObservedCanaries,
    ObservedCurve,
    ObservedProfile,
    ObservedRule,
    ObservedScore,
    QueryAnswers,
)
from auditor.interfaces import Limits
from auditor.methods import method_for
from auditor.neighbours.limits import has_all
from auditor.report.phrases import bound_words, number, verdict_words
from auditor.results.files import to_json
from auditor.results.result import AuditResult, Change, ChangeKind, Comparison, RunResult
from auditor.verdict import Verdict, refuting_side

# The largest probability, over a whole file, that a rise is reported although no event shows a larger loss than before.
FALSE_RISE = 0.001
# Power fell if the excess over the claim that is detected with 95 % probability grew by this factor. The excess is
# proportional to 1/√outputs. So power falls with less than 44 % of the outputs.
MATERIAL_POWER = 1.5
# A run with this share of the earlier outputs or less is worse, whatever its power: power differs between events.
FEWER = 0.5

# Searches over other settings find ratios that differ by less.
MATERIAL_RATIO = 1.1

# remeasure(earlier, outputs): the event of an earlier result, counted on its pair in so many outputs of today's
# mechanism. Raises InvalidInputError if the report does not hold the rule, or the rule does not fit.
Remeasure = Callable[[AuditResult, int], AuditResult]
_Found = Iterator[tuple[ChangeKind, str]]


def compare(old: RunResult, new: RunResult, remeasure: Remeasure | None = None, may_rise: float = 0.0) -> list[Change]:
    """Return the changes of all audits, matched by name: first the audits of the new run in its order, then the audits that
    vanished.

    Without ``remeasure`` only the reports are compared. A rise by at most ``may_rise`` times the claim is a note,
    unless the loss is above the claim. Raises InvalidInputError if two audits of a report have one name.
    """
    # Whether a weak pass fails is a matter of each run, and no change.
    old, new = (
        replace(
            run,
            audits=[replace(audit, strict=False) for audit in run.audits],
            accountants=[replace(one, strict=False) for one in run.accountants],
        )
        for run in (old, new)
    )
    for report in (old, new):
        names = [audit.name for audit in report.audits]
        if len(set(names)) < len(names):
            raise InvalidInputError(
                f'the report of "{report.name}" has two audits with the same name; run the audits again'
            )
    before = {audit.name: audit for audit in old.audits}
    error = FALSE_RISE / max(1, len(new.audits))
    changes: list[Change] = []
    for audit in new.audits:
        earlier = before.pop(audit.name, None)
        if earlier is None:
            kind, surprise = (ChangeKind.NOTE, "") if audit.passed else (ChangeKind.WORSE, ", which was not expected")
            changes.append(Change(kind, audit.name, f"appeared: {verdict_words(audit.verdict)}{surprise}"))
        else:
            changes += _changes(earlier, audit, _loss(earlier, audit, remeasure, error, may_rise))
    changes += [Change(ChangeKind.WORSE, name, VANISHED) for name in before]
    return [*changes, *_accountants(old, new)]


VANISHED = "vanished: it is missing from the new report"


def _accountants(old: RunResult, new: RunResult) -> Iterator[Change]:
    """Yield the changes of the audits of accountants, in which nothing is random."""
    before = {one.name: one for one in old.accountants}
    for one in new.accountants:
        earlier = before.pop(one.name, None)
        if earlier is None:
            kind, surprise = (ChangeKind.NOTE, "") if one.passed else (ChangeKind.WORSE, ", which was not expected")
            yield Change(kind, one.name, f"appeared: {verdict_words(one.verdict)}{surprise}")
            continue
        for kind, what in _of_accountant(earlier, one):
            yield Change(kind, one.name, what)
    yield from (Change(ChangeKind.WORSE, name, VANISHED) for name in before)


def _of_accountant(old: AccountantResult, new: AccountantResult) -> _Found:
    if (old.states, old.ranges) != (new.states, new.ranges):
        yield ChangeKind.NOTE, "what is stated, or the ranges of the parameters, changed"
    if old.tolerance != new.tolerance:
        kind = ChangeKind.WORSE if new.tolerance > old.tolerance else ChangeKind.BETTER
        yield kind, f"the tolerance changed from {old.tolerance:g} to {new.tolerance:g}"
    if new.coverage.decided < FEWER * old.coverage.decided:
        yield (
            ChangeKind.WORSE,
            f"compared at {settings_words(new.coverage.decided)}, before at {old.coverage.decided:,}",
        )
    if old.verdict is new.verdict:
        if new.verdict is Verdict.VIOLATION and old.worst is not None and new.worst is not None:
            before, after = old.worst.ratio, new.worst.ratio
            what = f"the exact number is up to {times(after)} times the stated one, before {times(before)}"
            if after > before * MATERIAL_RATIO:
                yield ChangeKind.WORSE, what
            elif before > after * MATERIAL_RATIO:
                yield ChangeKind.BETTER, what
        return
    is_better = new.passed and new.verdict is Verdict.NO_VIOLATION_FOUND
    kind = ChangeKind.BETTER if is_better else ChangeKind.WORSE
    yield kind, f"verdict changed from {verdict_words(old.verdict)} to {verdict_words(new.verdict)}: {new.reason}"


def in_all(compared: Comparison) -> str:
    """Say in one line how many changes there are of each kind that matters.

    >>> in_all(Comparison("old.json", [Change(ChangeKind.BETTER, "one", "it is gone")]))
    'compared with old.json: nothing worse, 1 better'
    >>> in_all(Comparison("old.json", [Change(ChangeKind.NOT_COMPARED, "one", "the loss: canaries have no event")]))
    'compared with old.json: nothing worse, nothing better, 1 not compared'
    """
    number = Counter(change.kind for change in compared.changes)
    worse, better, unknown = (number[kind] for kind in (ChangeKind.WORSE, ChangeKind.BETTER, ChangeKind.NOT_COMPARED))
    more = f", {unknown} not compared" if unknown else ""
    return f"compared with {compared.baseline}: {worse or 'nothing'} worse, {better or 'nothing'} better{more}"


def _changes(old: AuditResult, new: AuditResult, loss: _Found) -> list[Change]:
    """Return the changes of an audit. ``loss`` counts only if the claim promises no less than before."""
    changes = [*_claim(old, new), *_data_sets(old, new), *_looked_at(old, new), *_verdict(old, new)]
    if new.claim.implies(old.claim):
        changes += [*loss, *_power(old, new), *_proof(old, new)]
    if old.passed and not new.passed and all(kind is not ChangeKind.WORSE for kind, _ in changes):
        ends = f"now {verdict_words(new.verdict)}, expected: {verdict_words(new.expected)}"
        changes.append((ChangeKind.WORSE, f"ended as expected before; {ends}"))
    return [Change(kind, new.name, what) for kind, what in changes]


def _claim(old: AuditResult, new: AuditResult) -> _Found:
    if old.mechanism != new.mechanism:
        yield ChangeKind.NOTE, f"mechanism changed from {old.mechanism} to {new.mechanism}"
    are_known = old.tried.limits and new.tried.limits  # limits include the relation
    if not are_known and old.pair and new.pair and old.pair.relation is not new.pair.relation:
        yield ChangeKind.WORSE, f"relation changed from {old.pair.relation} to {new.pair.relation}; not comparable"
    if old.claim == new.claim:
        return
    was = f"claim changed from {old.claim} to {new.claim}"
    if not old.claim.is_stated or new.claim.implies(old.claim):
        yield ChangeKind.BETTER, f"{was}, which promises more"
        if not old.claim.is_stated:
            yield ChangeKind.NOT_COMPARED, "the loss: before, there was no claim"
    elif old.claim.implies(new.claim):
        yield ChangeKind.WORSE, f"{was}, which promises less"
    else:
        yield ChangeKind.WORSE, f"{was}; not comparable"


def _data_sets(old: AuditResult, new: AuditResult) -> _Found:
    """Compare the data sets that the searches could reach."""
    before, after = old.tried.limits, new.tried.limits
    are_known, in_words = before and after, (old.tried.neighbours, new.tried.neighbours)
    if before == after and (are_known or in_words[0] == in_words[1]):
        return
    was = "data sets changed" + (f" from {in_words[0]} to {in_words[1]}" if in_words[0] != in_words[1] else "")
    by = ", ".join(name for name in dict.fromkeys([*before, *after]) if before.get(name) != after.get(name))
    if not are_known:
        in_part = f"{was}; " if in_words[0] != in_words[1] else ""
        yield ChangeKind.NOT_COMPARED, f"{in_part}one of the reports does not say which data sets there were"
    elif has_all(after, before):
        yield ChangeKind.NOTE, f"{was}: there are more, by {by}"
    elif has_all(before, after):
        yield ChangeKind.WORSE, f"{was}: there are fewer, by {by}"
    elif "pairs" in before and "pairs" not in after:
        yield ChangeKind.NOT_COMPARED, f"{was}: it is not known if they include all earlier pairs"
    else:
        yield ChangeKind.WORSE, f"{was}, by {by}; not comparable"


def _looked_at(old: AuditResult, new: AuditResult) -> _Found:
    """Compare what events could look at, and how many faults were planted."""
    for what, before, after in (
        ("kinds of events", old.tried.events, new.tried.events),
        ("observations", old.tried.observed, new.tried.observed),
    ):
        if dropped := [kind for kind in before if kind not in after]:
            yield ChangeKind.WORSE, f"fewer {what}, without {' and '.join(dropped)}"
        if added := [kind for kind in after if kind not in before]:
            yield ChangeKind.BETTER, f"more {what}, with {' and '.join(added)}"
    planted = [audit.planted.all if audit.planted else 0 for audit in (old, new)]
    if planted[1] < planted[0] and old.verdict is new.verdict:
        yield ChangeKind.NOTE, f"fewer faults were planted: {planted[1]}, before {planted[0]}"
    if old.claim == new.claim and old.verdict is new.verdict and new.weak and not old.weak:
        yield ChangeKind.NOTE, "the pass is weak now, and was not before"
    if old.accepted != new.accepted:
        was = f", and was accepted before: {old.accepted}" if old.accepted else ""
        now = f"accepted: {new.accepted}" if new.accepted else "no longer accepted"
        yield ChangeKind.NOTE, f"a weak pass is {now}{was}"


def _verdict(old: AuditResult, new: AuditResult) -> _Found:
    was_answered = old.verdict is not Verdict.INCONCLUSIVE
    if not was_answered:
        yield ChangeKind.NOT_COMPARED, "the loss: the earlier report has no answer"
    if old.verdict is new.verdict or (new.verdict is Verdict.MEASURED and was_answered):
        return
    if new.verdict is Verdict.INCONCLUSIVE:
        yield ChangeKind.WORSE, f"now inconclusive: {new.stop_reason}"
    elif new.verdict is Verdict.VIOLATION:
        yield ChangeKind.WORSE, f"a new violation: {bound_words(new)}, above the claimed {new.claim}"
    elif old.verdict is Verdict.VIOLATION and not new.passed:
        yield ChangeKind.WORSE, f"the expected violation is no longer found: {bound_words(new)}"
    elif old.verdict is Verdict.VIOLATION:
        yield ChangeKind.BETTER, f"the violation is gone: {bound_words(new)}, within the claimed {new.claim}"
    elif not was_answered:
        yield ChangeKind.BETTER, f"there is an answer now: {verdict_words(new.verdict)}"


def _loss(old: AuditResult, new: AuditResult, remeasure: Remeasure | None, error: float, may_rise: float) -> _Found:
    """Compare the loss on the earlier event, if the reports or fresh outputs say what it is today.

    ``error`` is the chance of a false rise, and ``may_rise`` the rise that is allowed, as a share of the claim.
    """
    if new.verdict is Verdict.VIOLATION and new.passed:
        return  # if a violation is expected, its size does not matter for a release
    if old.bound is None or new.bound is None:
        return  # there was no answer, or there is none now, which is worse
    if _outcome(old) == _outcome(new):
        return  # pair, counts and bound are the same
    before = shown(old, error)
    if before is None:
        why = "the earlier run has no event that was fixed before its outputs were drawn"
        yield ChangeKind.NOT_COMPARED, f"{_bounds(old, new)}: {why}"
        return
    today, why_not = _today(old, new, remeasure)
    # Both losses are measured by the earlier claim.
    after = None if today is None else shown(replace(today, claim=old.claim), error)
    if after is None:
        yield ChangeKind.NOT_COMPARED, f"{_bounds(old, new)}: {why_not}"
        return
    moved = _moved(old, before, after)
    allowed = new.claim.value if refuting_side(new.claim) == "lower" else -new.claim.value
    if after[0] > before[1]:
        if after[0] > allowed:
            yield ChangeKind.WORSE, f"{moved}, above the claimed {new.claim}"
        elif after[0] <= before[1] + may_rise * _size(new.claim, before):
            yield ChangeKind.NOTE, f"{moved}, which is allowed"
        else:
            yield ChangeKind.WORSE, moved
    elif after[1] < before[0]:
        yield ChangeKind.BETTER, moved
    if today is not new and after[0] <= before[1] and (at_new := shown(new, error)) and at_new[0] > before[1]:
        yield ChangeKind.NOTE, f"{_bounds(old, new)}; on the earlier pair and event no rise is seen"


def _outcome(audit: AuditResult) -> str:
    """Write the pair of an audit, the counts on it, and the bound, as a report has them."""
    written = audit.to_dict()
    return to_json([str(audit.claim), *(written[key] for key in ("pair", "event", "bound"))])


def _today(old: AuditResult, new: AuditResult, remeasure: Remeasure | None) -> tuple[AuditResult | None, str]:
    """Return a result of today's mechanism on the earlier pair and event; or None, and the reason."""
    asked = _question(old)
    if asked is not None and asked == _question(new):
        measured = new
    elif remeasure is None:
        return None, "`auditor run --baseline` counts the earlier event on outputs of today"
    else:
        try:
            measured = remeasure(old, new.outputs.bound)
        except InvalidInputError as error:
            return None, str(error)
    if isinstance(measured.event, ObservedRule) and measured.event.counted().guesses == 0:
        return None, f"the earlier event was not seen in {how_many(new.outputs.bound, 'output')}"
    return measured, measured.stop_reason


def _question(audit: AuditResult) -> str | None:
    """Write the pair of an audit, and the rules counted on it; None if the report lacks the pair or a rule."""
    match audit.event:
        case ObservedRule(rule=rule):
            rules: list[Any] = [rule]
        case ObservedProfile(points=points):
            rules = [point.rule for point in points]
        case ObservedScore(rule=rule, order=order, swapped=swapped, values=values):
            rules = [rule, order, swapped, values]
        case ObservedCurve(rule=rule):
            rules = [rule]
        case event:
            rules = [event and type(event).__name__]
    return None if audit.pair is None or None in rules else to_json([audit.pair.to_dict(), *rules])


def _bounds(old: AuditResult, new: AuditResult) -> str:
    """Write both bounds, and in what the audits differ."""
    same = old.pair is not None and new.pair is not None and to_json(old.pair.to_dict()) == to_json(new.pair.to_dict())
    return f"{bound_words(new)}, before {bound_words(old)}, {'by a different event' if same else 'on a different pair'}"


def _moved(old: AuditResult, before: Limits, after: Limits) -> str:
    claim, is_larger = old.claim, after[0] > before[1]
    if refuting_side(claim) == "upper":
        before, after, is_larger = (-before[1], -before[0]), (-after[1], -after[0]), not is_larger
    what = f"privacy loss ({claim.symbol})" if isinstance(claim, PrivacyClaim) else claim.symbol
    where = "event" if isinstance(claim, PrivacyClaim) else "data"
    return f"{what} on the earlier {where} {'rose' if is_larger else 'fell'} from {_range(before)} to {_range(after)}"


def _range(limits: Limits) -> str:
    """Write an interval.

    >>> _range((0.48, 0.52)), _range((0.5, 0.5))
    ('0.480–0.520', '0.500')
    """
    low, high = map(number, limits)
    return low if low == high else f"{low}–{high}"


def _size(claim: Claim, before: Limits) -> float:
    """Return the size of which ``may_rise`` is a share: the claim, a profile's smallest ε, or the earlier loss."""
    if not claim.is_stated:
        return before[1]
    return min(point.epsilon for point in claim.profile) if isinstance(claim, PrivacyProfile) else claim.value


def _proof(old: AuditResult, new: AuditResult) -> _Found:
    before, after = (audit.proof is not None and audit.proof.proved for audit in (old, new))
    if new.proof is not None and new.proof.refutation is not None:
        if before:
            yield ChangeKind.WORSE, "the proof is lost: the claim is refuted by calculation now"
        elif old.proof is None or old.proof.refutation is None:
            yield ChangeKind.WORSE, "the claim is refuted by calculation now"
        return
    if after and old.bound is not None and new.bound is None:
        yield ChangeKind.NOT_COMPARED, "the loss: no outputs were drawn; `auditor prove` makes the proof again"
    if before and new.proof is None:
        yield ChangeKind.NOTE, "there is no proof now; `prove: true` tries for longer, and reports the reason"
    elif before and new.proof is not None and not after:
        yield ChangeKind.WORSE, f"the proof is lost: {new.proof.reason}"
    elif after and not before:
        yield ChangeKind.BETTER, "the claim is proved now"


def _power(old: AuditResult, new: AuditResult) -> _Found:
    """Compare which violations the outputs detect, unless there is a violation now, or no answer in either report."""
    if new.verdict not in (Verdict.NO_VIOLATION_FOUND, Verdict.MEASURED) or old.verdict is Verdict.INCONCLUSIVE:
        return
    if old.outputs.search and new.outputs.search <= FEWER * old.outputs.search:
        yield ChangeKind.WORSE, f"fewer outputs in the search: {new.outputs.search:,}, before {old.outputs.search:,}"
    drawn = new.outputs.bound / old.outputs.bound if old.outputs.bound else 1.0
    outputs = f"{how_many(new.outputs.bound, 'output')}, before {old.outputs.bound:,}"
    if old.power and new.power:
        before, after = (abs(audit.power["95%"] - audit.claim.value) for audit in (old, new) if audit.power)
        caught = f"detects {number(new.power['95%'])} with 95 % probability, before {number(old.power['95%'])}"
        # With as many outputs, the same confidence and method, power differs only by the event that was learned.
        another_method = old.bound is not None and new.bound is not None and old.bound.method != new.bound.method
        surer = old.alpha is not None and new.alpha is not None and new.alpha < FEWER * old.alpha
        if (drawn < 1 or surer or another_method) and after > MATERIAL_POWER * before:
            yield ChangeKind.WORSE, f"power fell: {caught} ({outputs})"
            return
        if drawn > 1 and before > MATERIAL_POWER * after:
            yield ChangeKind.BETTER, f"power rose: {caught} ({outputs})"
    elif drawn > MATERIAL_POWER**2:
        yield ChangeKind.BETTER, f"power rose: {outputs}"
    if drawn <= FEWER:
        yield ChangeKind.WORSE, f"fewer outputs: {outputs}"


def shown(audit: AuditResult, error: float) -> Limits | None:
    """Return confidence limits on the true loss that the event shows. Each errs with probability at most ``error / 2``.

    The event is the best of all rounds, so its limits use only the round's share of the error. They are in units of the
    claim's quantity. Larger is always worse: for claims with `at_least`, the sign is reversed. Return None if no event
    was fixed before its outputs were drawn. Raises InvalidInputError if the event is of another kind of claim.
    """
    match audit.event:
        case None | ObservedCanaries() | CalculatedEvent():
            return None
        case QueryAnswers():
            return (audit.bound.value, audit.bound.value) if audit.bound else None
        case event:
            try:
                method = method_for(audit.claim, "fixed", error, audit.outputs.bound)
                return method.interval(event.counted(), audit.judgement.share * error / 2)
            # Anybody may have written the report.
            except (AttributeError, TypeError, ValueError, ArithmeticError):
                raise InvalidInputError(
                    f'the event of audit "{audit.name}" cannot test a claim of {audit.claim}: a report is spoilt'
                ) from None
