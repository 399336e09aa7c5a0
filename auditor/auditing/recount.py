"""The flow of an audit with an earlier violation: its event is counted again first, and then the audit is carried out as usual."""

import functools
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

from auditor.auditing.draw import Draw, OutOfTimeError
from auditor.auditing.earlier import OF_EARLIER, Earlier
from auditor.auditing.outcome import Evidence, Seen, no_answer
from auditor.auditing.pair_search import FoundPair
from auditor.auditing.pairwise_flow import Counted, CountEvidence, audit_pairwise, few_failures
from auditor.auditing.plan import Plan
from auditor.auditing.rounds import LEAST_IN_TIME, outputs_at_first
from auditor.auditing.sizes import selection_of, sharpening
from auditor.auditing.smallest import shrink
from auditor.blackbox.batches import Phase
from auditor.defaults import FEWEST
from auditor.errors import InvalidInputError
from auditor.results.reader import fitting
from auditor.results.result import OutputsSpent
from auditor.sessions.turns import turns
from auditor.verdict import Verdict

# In the address of the recount's outputs, BEFORE_ALL stands for the number of the round.
BEFORE_ALL = 1000
PROOF_ONLY = "`prove: only` draws no outputs; set `prove: true`, and run again"
PASS = Verdict.NO_VIOLATION_FOUND
NAMED = "The violation of the earlier report"
TO_LOOK = "look at the earlier report; if it is obsolete, remove it or name another folder by --out, and run again"


@dataclass(frozen=True, slots=True)
class Recount:
    """The recount of an earlier violation: its counts, a sentence on it, and why it settles nothing, if it does not."""

    counted: Counted | None
    words: str
    unsettled: str = ""


def audit_pairs(plan: Plan, draw: Draw) -> Seen:
    """Count the event of an earlier violation again, if the plan has one, and audit the claim on pairs of neighbours.

    The audit draws the same outputs as without an earlier violation: the recount has streams, and an entry in the
    ledger, of its own. Of the two, the audit's own event is shown, unless only the recount refutes the claim.

    An earlier violation that the recount leaves unsettled is no pass: the result is then inconclusive, unless the audit
    itself refutes the claim. Raises MechanismError as ``audit_pairwise`` does.
    """
    earlier = plan.earlier
    if earlier is None:
        return audit_pairwise(plan, draw)
    own = draw.on_streams(f"{plan.name} after {earlier.digest}")
    recount = _recount(plan, own, earlier)
    seen = audit_pairwise(plan, draw)
    draw.spent = OutputsSpent(
        *(getattr(draw.spent, phase.name) + getattr(own.spent, phase.name) for phase in fields(OutputsSpent))
    )
    return replace(_together(plan, draw, recount, seen), earlier=recount.words)


def unsettled(why: str) -> Seen:
    """Return what is seen if an earlier violation is not counted again, for a reason that says what to do."""
    return replace(no_answer(f"{NAMED} was not tried: {why}"), earlier=f"{NAMED} was not tried.")


def as_many_as_before(plan: Plan, draw: Draw, seen: Seen) -> Seen:
    """Return what was seen; nothing, if an earlier violation was sought again in fewer outputs than showed it."""
    found = seen.found
    refuted = found.refutes(plan.alpha) if isinstance(found, Evidence) else found.verdict is not PASS
    is_query = plan.kind == "query"
    drawn = len(draw.pairs) if is_query else draw.spent.bound
    if refuted or drawn >= plan.least:
        return seen
    what = "pairs" if is_query else "outputs"
    return unsettled(f"it was shown by {plan.least:,} {what}, and {drawn:,} were drawn; {_more(plan)}")


def _together(plan: Plan, draw: Draw, recount: Recount, seen: Seen) -> Seen:
    """Return the audit's evidence with that of the recount."""
    again, main = recount.counted, seen.found
    refuted = isinstance(main, CountEvidence) and main.refutes(plan.alpha)
    if again is not None and again.refutes(plan) and not refuted:
        return _seen(plan, draw, again, main.counted if isinstance(main, CountEvidence) else ())
    if recount.unsettled and not refuted:
        return replace(no_answer(recount.unsettled, seen.pair, seen.drawn_by), warnings=seen.warnings)
    if again is not None and isinstance(main, CountEvidence):
        return replace(seen, found=replace(main, counted=[again, *main.counted]))
    return seen


def _seen(plan: Plan, draw: Draw, again: Counted, others: Sequence[Counted]) -> Seen:
    """Return what was seen if only the recount refutes the claim."""
    pair, sample, tally = again.found.pair, again.sample, again.tally
    reason = f"refuted after {tally.outputs:,} outputs, by the event of the earlier report"
    evidence = CountEvidence(
        plan.claim, again, [again, *others], again.test.histograms(sample), reason, turns(pair, sample)
    )
    smallest = functools.partial(shrink, plan, draw, pair, cheap=tally.in_calls, sample=sample)
    return Seen(evidence, pair, sample, () if tally.lost else tally.tables, smallest, draw.drawn_by())


def _recount(plan: Plan, draw: Draw, earlier: Earlier) -> Recount:
    """Count the event of an earlier violation in fresh outputs on its pair, for a bound at its own share of the level."""
    pair, test, most, seconds = earlier.pair, earlier.test, plan.settings.samples, plan.settings.seconds
    planned = max(FEWEST, earlier.outputs, sharpening(most, searches=False)[1])
    outputs = min(most, planned)
    selection = selection_of(outputs)
    if seconds is not None:
        fits = plan.store.recall("earlier in time", lambda: outputs_at_first(draw, pair, seconds, BEFORE_ALL))
        outputs = min(outputs, int(fits))
        if outputs < LEAST_IN_TIME:
            return _not_tried("its outputs take too long", _more(plan))
        selection = LEAST_IN_TIME  # nothing is learned: the first outputs say how to draw others
    try:
        sample = draw.draw(draw.batches(pair, selection, Phase.SELECTION, (BEFORE_ALL, 1)))
    except OutOfTimeError:
        return _not_tried("its outputs take too long", _more(plan))
    if sample.failures:
        planned = min(planned, few_failures(sample))
        outputs = min(outputs, planned)
    try:
        with fitting("its event does not fit the outputs"):
            test.count(sample)
            tally, _ = draw.count(draw.batches(pair, outputs, Phase.BOUND, (BEFORE_ALL,), like=sample), test)
            if not tally.batches:
                return _not_tried("its outputs took too long", _more(plan))
            found, method = FoundPair(pair, earlier.claim), plan.method(outputs)
            again = Counted(0, found, method, test, tally.counts, OF_EARLIER, sample, tally, of_earlier=True)
            refuted = again.refutes(plan)
            if tally.outputs < planned and not refuted and not earlier.fell(tally.counts):
                why = f"was counted again in {tally.outputs:,} of {planned:,} outputs, too few to see whether it is still there"
                return Recount(again, f"{NAMED} {why}.", f"{NAMED} {why}; {_more(plan)}")
            return Recount(again, earlier.compared(tally.counts, refuted=refuted))
    except InvalidInputError as error:
        return _not_tried(str(error), TO_LOOK)


def _more(plan: Plan) -> str:
    return f"raise `{'samples' if plan.settings.seconds is None else 'seconds'}` or leave it out, and run again"


def _not_tried(why: str, advice: str) -> Recount:
    return Recount(None, f"{NAMED} was not tried: {why}.", f"{NAMED} was not tried: {why}; {advice}")
