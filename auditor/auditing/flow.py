"""One audit, from its plan to its end."""

import contextlib
import signal
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from auditor.auditing.calculated import with_proof
from auditor.auditing.canary_flow import audit_one_run
from auditor.auditing.first_look import first_look
from auditor.auditing.follow_ups import follow_up
from auditor.auditing.ledger import Ledger
from auditor.auditing.outcome import Audit
from auditor.auditing.pairwise_flow import audit_pairwise
from auditor.auditing.plan import AuditKind, Listener, Plan
from auditor.auditing.probability_flow import audit_probability
from auditor.auditing.proof_job import ProofJob, proof_alone
from auditor.auditing.query_flow import audit_query
from auditor.auditing.recount import require_as_many_outputs
from auditor.blackbox.host import reserve_host
from auditor.errors import MechanismError, OverdueError, WorkerLostError
from auditor.foreign_code import ForeignCode, stoppable
from auditor.results.result import AuditResult

# A call that has not answered this many seconds after the time limit of its audit is killed.
GRACE = 2.0

FLOWS: dict[AuditKind, Callable[[Ledger], Audit]] = {
    "query": audit_query,
    "canaries": audit_one_run,
    "probability": audit_probability,
    "pairwise": audit_pairwise,
}


def no_listener(progress: Any) -> None:
    """Ignore the progress."""


def run(plan: Plan, listener: Listener = no_listener, *, refuse: bool = False) -> AuditResult:
    """Carry out a plan and judge it at its own level; raises as ``carry_out`` does, and Stopped after SIGINT."""
    with stoppable(signal.SIGINT), ForeignCode("the audit", passes=(Exception,)):
        return carry_out(plan, listener, refuse=refuse).result()


def carry_out(plan: Plan, listener: Listener = no_listener, *, refuse: bool = False) -> Audit:
    """Carry out a plan: look at the mechanism, audit its claim, then follow up. With ``prove: only``, wait for the proof alone.

    Raises MechanismError when the mechanism cannot be built, breaks the protocol of a batch, or repeats itself. With
    ``refuse`` such an error makes the result inconclusive. An exception that the mechanism raises is an output.
    """
    how = plan.settings.execution
    how.reach(plan.source)
    if plan.settings.seconds is not None and how.isolate and not how.on_cluster:
        how = replace(how, ends=time.monotonic() + plan.settings.seconds + GRACE)
        plan = plan.with_settings(execution=how)
    with reserve_host(plan.source), contextlib.closing(ProofJob(plan)) as proof:
        while True:
            ledger = Ledger(plan, listener)
            try:
                with contextlib.closing(plan.source), plan.store.name_the_cause():
                    if plan.settings.prove == "only":
                        return proof_alone(ledger, proof.result()).close()
                    failure = "" if plan.kind == "query" else first_look(ledger)
                    proof.begin()
                    if failure:
                        reason = f"the mechanism failed on every call: {failure}"
                        audit = Audit.without_answer(ledger, reason, plan.domain.corners()[0])
                    else:
                        audit = FLOWS[plan.kind](ledger)
                    audit = follow_up(require_as_many_outputs(audit))
                    return with_proof(audit, proof.result()).close()
            except WorkerLostError as error:
                why = str(error)
                if how.isolate and not plan.settings.execution.lost:
                    # Start again with a crash as an output, and keep nothing. Batches that did not crash are drawn
                    # again as they were, since their addresses are the same. So this is no second chance for an alarm.
                    plan = plan.with_settings(execution=replace(how, lost=True))
                    continue
                plan.store.end(why)
            except OverdueError as error:
                why = str(error)
                plan.store.end(why)
            except MechanismError as error:
                why = str(error)
                if not refuse:
                    raise
            return Audit.without_answer(ledger, why).close()
