"""The first step of an audit with an earlier violation: its event is counted again."""

from dataclasses import dataclass, replace

from auditor.auditing.earlier import Earlier
from auditor.auditing.evidence import Evidence
from auditor.auditing.ledger import Ledger, OutOfTimeError
from auditor.auditing.outcome import Audit
from auditor.auditing.plan import Plan
from auditor.auditing.rounds import LEAST_IN_TIME, few_failures, outputs_at_first, seconds_for
from auditor.auditing.sizes import GROWTH, selection_of
from auditor.blackbox.batches import Phase
from auditor.bounds.digits import round_error_up
from auditor.defaults import FEWEST, MOST
from auditor.errors import InvalidInputError
from auditor.results.reader import fitting
from auditor.verdict import Verdict

# In the address of the recount's outputs, BEFORE_ALL stands for the number of the round.
BEFORE_ALL = 1000
# The recount has this share of `samples`, or more if the earlier counts say that more are needed.
OF_SAMPLES = 0.25
PROOF_ONLY = "`prove: only` draws no outputs; set `prove: true`, and run again"
PASS = Verdict.NO_VIOLATION_FOUND
NAMED = "The violation of the earlier report"
TO_LOOK = "look at the earlier report; if it is obsolete, remove it or name another folder by --out, and run again"


@dataclass(frozen=True, slots=True)
class Recount:
    """The recount of an earlier violation: a sentence on it, and why it settles nothing, if it does not."""

    words: str
    unsettled: str = ""

    def add_to(self, audit: Audit) -> Audit:
        """Return the audit with what became of the earlier violation."""
        return replace(audit, earlier=self.words, unsettled=self.unsettled)


def recount(ledger: Ledger) -> Recount | None:
    """Count the event of an earlier violation in fresh outputs on its pair; return None if the plan has none.

    The audit draws the same outputs, and refutes at the same level, as without an earlier violation: the recount has
    streams, and an entry in the ledger, of its own. An earlier violation that the recount leaves unsettled is no pass.
    """
    earlier = ledger.plan.earlier
    if earlier is None:
        return None
    own = ledger.on_streams(f"{ledger.plan.name} after {earlier.digest}")
    recounted = _recounted(own, earlier)
    ledger.spent = replace(ledger.spent, recount=own.spent.total)
    return recounted


def not_recounted(ledger: Ledger, why: str) -> Audit:
    """Return an audit in which an earlier violation is not counted again, for a reason that says what to do."""
    audit = Audit.without_answer(ledger, f"{NAMED} was not tried: {why}")
    return replace(audit, earlier=f"{NAMED} was not tried.")


def require_as_many_outputs(audit: Audit) -> Audit:
    """Return the audit; it cannot pass if it looked for an earlier violation in fewer outputs than showed it."""
    plan, ledger = audit.plan, audit.ledger
    is_query = plan.kind == "query"
    drawn = len(ledger.pairs) if is_query else ledger.spent.bound
    judged = isinstance(audit.answer, Evidence) or audit.answer.verdict is PASS
    if not judged or drawn >= plan.least:
        return audit
    what = "pairs" if is_query else "outputs"
    why = f"it was shown by {plan.least:,} {what}, and {drawn:,} were drawn"
    seconds = plan.settings.seconds
    more = _raised(plan, plan.least, None if seconds is None else seconds * plan.least / max(1, drawn))
    unsettled = f"{NAMED} was not tried: {why}; {more}, and run again"
    return replace(audit, earlier=f"{NAMED} was not tried.", unsettled=unsettled)


def _recounted(ledger: Ledger, earlier: Earlier) -> Recount:
    plan = ledger.plan
    pair, test, settings = earlier.pair, earlier.test, plan.settings
    planned = earlier.planned
    outputs = round(min(settings.samples, max(FEWEST, planned, OF_SAMPLES * settings.samples)))
    target = planned if planned <= MOST else outputs
    selection = selection_of(outputs)
    if settings.seconds is not None:
        seconds = settings.seconds
        fits = plan.store.recall("earlier in time", lambda: outputs_at_first(ledger, pair, seconds, BEFORE_ALL))
        outputs = min(outputs, int(fits))
        if outputs < LEAST_IN_TIME:
            return _not_tried("its outputs take too long", _more(ledger, target))
        selection = LEAST_IN_TIME  # nothing is learned: the first outputs say how to draw others
    try:
        sample = ledger.draw(ledger.batches(pair, selection, Phase.SELECTION, (BEFORE_ALL, 1)))
    except OutOfTimeError:
        return _not_tried("its outputs take too long", _more(ledger, target))
    if sample.failures:
        outputs = min(outputs, few_failures(sample))
    try:
        with fitting("its event does not fit the outputs"):
            test.count(sample)
            tally, _ = ledger.count(ledger.batches(pair, outputs, Phase.BOUND, (BEFORE_ALL,), like=sample), test)
            if not tally.batches:
                return _not_tried("its outputs took too long", _more(ledger, target))
            state, losses, settled = earlier.compared(tally.counts)
    except InvalidInputError as error:
        return _not_tried(str(error), TO_LOOK)
    words = f"{NAMED} {state}: {losses}."
    if settled:
        return Recount(words)
    few = tally.outputs < planned <= MOST
    more = f", in {tally.outputs:,} of the {round(planned):,} outputs that this needs" if few else ""
    # If all planned outputs were drawn, only more of them can settle it.
    advice = _more(ledger, planned if few else GROWTH * settings.samples)
    return Recount(words, f"{NAMED} {state}{more}; {advice}")


def _more(ledger: Ledger, outputs: float) -> str:
    """Say what lets the recount draw so many outputs."""
    plan, seconds = ledger.plan, ledger.plan.settings.seconds
    if seconds is not None:
        seconds = plan.store.recall("seconds for earlier", lambda: seconds_for(ledger, outputs))
    return f"mend the mechanism, or {_raised(plan, outputs, seconds)}, and run again"


def _raised(plan: Plan, outputs: float, seconds: float | None) -> str:
    """Say how far to raise `samples`, or `seconds` under a time limit, for so many outputs."""
    if seconds is None or plan.settings.seconds is None:
        return f"raise `samples` to {min(MOST, round_error_up(outputs)):,.12g}"
    return f"raise `seconds` to {round_error_up(max(seconds, 2 * plan.settings.seconds)):,.12g}"


def _not_tried(why: str, advice: str) -> Recount:
    return Recount(f"{NAMED} was not tried: {why}.", f"{NAMED} was not tried: {why}; {advice}")
