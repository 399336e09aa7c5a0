"""The flow of an audit with an earlier violation: its event is counted again first, and then the audit is carried out as usual."""

from dataclasses import dataclass, replace

from auditor.auditing.draw import Draw, OutOfTimeError
from auditor.auditing.earlier import Earlier
from auditor.auditing.outcome import Evidence, Seen, no_answer
from auditor.auditing.pairwise_flow import audit_pairwise, few_failures
from auditor.auditing.plan import Plan
from auditor.auditing.rounds import LEAST_IN_TIME, outputs_at_first, seconds_for
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


def audit_pairs(plan: Plan, draw: Draw) -> Seen:
    """Count the event of an earlier violation again, if the plan has one, and audit the claim on pairs of neighbours.

    The audit draws the same outputs, and refutes at the same level, as without an earlier violation: the recount has
    streams, and an entry in the ledger, of its own. An earlier violation that the recount leaves unsettled is no pass.
    Raises MechanismError as ``audit_pairwise`` does.
    """
    earlier = plan.earlier
    if earlier is None:
        return audit_pairwise(plan, draw)
    own = draw.on_streams(f"{plan.name} after {earlier.digest}")
    recount = _recount(plan, own, earlier)
    seen = audit_pairwise(plan, draw)
    draw.spent = replace(draw.spent, recount=own.spent.total)
    return replace(seen, earlier=recount.words, unsettled=recount.unsettled)


def unsettled(why: str) -> Seen:
    """Return what is seen if an earlier violation is not counted again, for a reason that says what to do."""
    return replace(no_answer(f"{NAMED} was not tried: {why}"), earlier=f"{NAMED} was not tried.")


def as_many_as_before(plan: Plan, draw: Draw, seen: Seen) -> Seen:
    """Return what was seen; no pass, if an earlier violation was sought again in fewer outputs than showed it."""
    is_query = plan.kind == "query"
    drawn = len(draw.pairs) if is_query else draw.spent.bound
    judged = isinstance(seen.found, Evidence) or seen.found.verdict is PASS
    if not judged or drawn >= plan.least:
        return seen
    what = "pairs" if is_query else "outputs"
    why = f"it was shown by {plan.least:,} {what}, and {drawn:,} were drawn"
    seconds = plan.settings.seconds
    more = _raised(plan, plan.least, None if seconds is None else seconds * plan.least / max(1, drawn))
    return replace(
        seen, earlier=f"{NAMED} was not tried.", unsettled=f"{NAMED} was not tried: {why}; {more}, and run again"
    )


def _recount(plan: Plan, draw: Draw, earlier: Earlier) -> Recount:
    """Count the event of an earlier violation in fresh outputs on its pair."""
    pair, test, settings = earlier.pair, earlier.test, plan.settings
    planned = earlier.planned
    outputs = round(min(settings.samples, max(FEWEST, planned, OF_SAMPLES * settings.samples)))
    target = planned if planned <= MOST else outputs
    selection = selection_of(outputs)
    if settings.seconds is not None:
        seconds = settings.seconds
        fits = plan.store.recall("earlier in time", lambda: outputs_at_first(draw, pair, seconds, BEFORE_ALL))
        outputs = min(outputs, int(fits))
        if outputs < LEAST_IN_TIME:
            return _not_tried("its outputs take too long", _more(plan, draw, target))
        selection = LEAST_IN_TIME  # nothing is learned: the first outputs say how to draw others
    try:
        sample = draw.draw(draw.batches(pair, selection, Phase.SELECTION, (BEFORE_ALL, 1)))
    except OutOfTimeError:
        return _not_tried("its outputs take too long", _more(plan, draw, target))
    if sample.failures:
        outputs = min(outputs, few_failures(sample))
    try:
        with fitting("its event does not fit the outputs"):
            test.count(sample)
            tally, _ = draw.count(draw.batches(pair, outputs, Phase.BOUND, (BEFORE_ALL,), like=sample), test)
            if not tally.batches:
                return _not_tried("its outputs took too long", _more(plan, draw, target))
            state, losses, settled = earlier.compared(tally.counts)
    except InvalidInputError as error:
        return _not_tried(str(error), TO_LOOK)
    words = f"{NAMED} {state}: {losses}."
    if settled:
        return Recount(words)
    few = tally.outputs < planned <= MOST
    more = f", in {tally.outputs:,} of the {round(planned):,} outputs that this needs" if few else ""
    # With all of these, only more can tell.
    advice = _more(plan, draw, planned if few else GROWTH * settings.samples)
    return Recount(words, f"{NAMED} {state}{more}; {advice}")


def _more(plan: Plan, draw: Draw, outputs: float) -> str:
    """Say what lets the recount draw so many outputs."""
    seconds = plan.settings.seconds
    if seconds is not None:
        seconds = plan.store.recall("seconds for earlier", lambda: seconds_for(draw, outputs))
    return f"mend the mechanism, or {_raised(plan, outputs, seconds)}, and run again"


def _raised(plan: Plan, outputs: float, seconds: float | None) -> str:
    """Say to what `samples` is to be raised for so many outputs, or under a limit of time `seconds`."""
    if seconds is None or plan.settings.seconds is None:
        return f"raise `samples` to {min(MOST, round_error_up(outputs)):,.12g}"
    return f"raise `seconds` to {round_error_up(max(seconds, 2 * plan.settings.seconds)):,.12g}"


def _not_tried(why: str, advice: str) -> Recount:
    return Recount(f"{NAMED} was not tried: {why}.", f"{NAMED} was not tried: {why}; {advice}")
