"""One audit from its plan to its end, or several at once."""

import signal
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, assert_never

from auditor.auditing.canary_flow import audit_one_run
from auditor.auditing.concurrent import run_concurrently
from auditor.auditing.draw import Draw
from auditor.auditing.finish import finished
from auditor.auditing.first_look import first_look
from auditor.auditing.outcome import Ended, Outcome, Seen, no_answer
from auditor.auditing.pairwise_flow import audit_pairwise
from auditor.auditing.plan import Listener, Plan
from auditor.auditing.probability_flow import audit_probability
from auditor.auditing.proof_job import ProofJob, proof_alone
from auditor.auditing.query_flow import audit_query
from auditor.blackbox.host import held
from auditor.door import Door, Stopped, refused_by_machine, stoppable, told
from auditor.errors import AuditorError, MechanismError, WorkerLostError
from auditor.results.result import AuditResult


def no_listener(progress: Any) -> None:
    """Hear of no progress."""


def run(plan: Plan, listener: Listener = no_listener, *, refuse: bool = False) -> AuditResult:
    """Carry out a plan and judge it at its own level; raises as ``carry_out`` does, and Stopped after SIGINT."""
    with stoppable(signal.SIGINT), Door("the audit", passes=(Exception,)):
        return carry_out(plan, listener, refuse=refuse).result()


def run_all(plans: Sequence[Plan], listener: Listener = no_listener) -> Iterator[Ended]:
    """Carry out plans, several at a time, and yield their results in order. A refused mechanism is inconclusive."""
    for plan in plans:
        plan.settings.execution.reach()  # before any other audit takes its time
    return run_concurrently(plans, _apart, listener)


def _apart(plan: Plan, listener: Listener) -> Ended:
    """Carry out one plan of several. Whatever it ends in, the others go on."""
    try:
        return carry_out(plan, listener, refuse=True)
    except AuditorError as error:
        if not isinstance(error, MechanismError):
            raise
        why = str(error)
    except Stopped:
        raise
    except BaseException as error:  # of a domain that is a user's class, or of the auditor itself
        if refused_by_machine(error):
            raise
        why = f"the audit ended in an error, {told(error)}; please report it, unless the error is of your own code"
    plan.store.end(why)
    return Ended.of(Outcome(plan, no_answer(why)), Draw(plan, listener))


def carry_out(plan: Plan, listener: Listener = no_listener, *, refuse: bool = False) -> Ended:
    """Carry out a plan.

    Raises MechanismError when the mechanism cannot be built, breaks the protocol of a batch, or repeats itself; a mechanism
    that raises or returns nonsense is audited on that. With ``refuse`` such errors are the reason of an inconclusive result.
    """
    plan.settings.execution.reach()
    with held(plan.source):
        proof = ProofJob(plan)
        try:
            return _sampled(plan, listener, proof, refuse)
        finally:
            proof.dropped = True


def _sampled(plan: Plan, listener: Listener, proof: ProofJob, refuse: bool) -> Ended:
    draw = Draw(plan, listener)

    def without_answer(reason: str) -> Ended:
        return Ended.of(Outcome(plan, no_answer(reason)), draw)

    try:
        with plan.store.blamed():
            return Ended.of(_outcome(plan, draw, proof), draw)
    except WorkerLostError as error:
        how = plan.settings.execution
        if not how.isolate:
            plan.store.end(str(error))
            return without_answer(str(error))
        # From the start, where a crash is an output: nothing of the first attempt is kept. What did not crash then is drawn
        # again as it was, for its address is the same; so this is one audit, and no second chance for an alarm.
        return _sampled(plan.with_settings(execution=replace(how, isolate=True, lost=True)), listener, proof, refuse)
    except MechanismError as error:
        if not refuse:
            raise
        return without_answer(str(error))
    finally:
        plan.source.close()


def _outcome(plan: Plan, draw: Draw, proof: ProofJob) -> Outcome:
    """What an audit does: look at the mechanism, see what its outputs say, and find out what belongs to that, or only prove."""
    if plan.settings.prove == "only":
        found = proof.result()
        return Outcome(plan, proof_alone(plan, found), proof=found)
    return replace(finished(plan, _seen(plan, draw), draw), proof=proof.result())


def _seen(plan: Plan, draw: Draw) -> Seen:
    if plan.kind == "query":
        return audit_query(plan, draw, plan.drawer)
    start = first_look(plan, draw)
    draw.reproducible = start.reproducible
    if start.failure:
        why = f"the mechanism failed on every call: {start.failure}"
        return no_answer(why, plan.domain.corners()[0])
    match plan.kind:
        case "canaries":
            return audit_one_run(plan, draw)
        case "probability":
            return audit_probability(plan, draw)
        case "pairwise":
            return audit_pairwise(plan, draw)
    assert_never(plan.kind)
