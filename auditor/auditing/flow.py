"""One audit from its plan to its end, or several at once; and a recount of an earlier report's event in new outputs."""

import contextlib
import queue
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from auditor.auditing.canary_flow import audit_one_run
from auditor.auditing.draw import Draw, first_look
from auditor.auditing.earlier import digest
from auditor.auditing.health_checks import drift, exceptions, few_outputs, nothing_differs, smaller_noise
from auditor.auditing.outcome import Ended, Evidence, Outcome, Seen, no_answer
from auditor.auditing.plan import AuditKind, Listener, Plan
from auditor.auditing.planted import probe
from auditor.auditing.probability_flow import audit_probability
from auditor.auditing.proof_job import ProofJob, proof_alone
from auditor.auditing.query_flow import audit_query
from auditor.auditing.recount import PROOF_ONLY, as_many_as_before, audit_pairs, unsettled
from auditor.auditing.smallest import find_smallest
from auditor.blackbox.host import reserve_host
from auditor.blackbox.process import kill_all
from auditor.blackbox.store import AuditStore
from auditor.blackbox.workers import close_all, processes
from auditor.bounds.digits import round_error_up
from auditor.claims import PrivacyClaim
from auditor.defaults import FEWEST, VALUES
from auditor.errors import AuditorError, InvalidInputError, MechanismError, OverdueError, WorkerLostError
from auditor.foreign_code import ForeignCode, Stopped, describe_error, refused_by_machine, stoppable
from auditor.methods import method_for
from auditor.neighbours.domains import Pairs
from auditor.neighbours.pair import Pair, Relation
from auditor.results.reader import fitting, frozen_test
from auditor.results.result import AuditResult, ExactValue


def no_listener(progress: Any) -> None:
    """Ignore the progress."""


def run(plan: Plan, listener: Listener = no_listener, *, refuse: bool = False) -> AuditResult:
    """Carry out a plan and judge it at its own level; raises as ``carry_out`` does, and Stopped after SIGINT."""
    with stoppable(signal.SIGINT), ForeignCode("the audit", passes=(Exception,)):
        return carry_out(plan, listener, refuse=refuse).result()


def run_all(plans: Sequence[Plan], listener: Listener = no_listener) -> Iterator[Ended]:
    """Carry out plans, several at a time, and yield their results in order. An audit of a failed mechanism is inconclusive."""
    for plan in plans:
        plan.settings.execution.reach(plan.source)  # before any other audit takes its time
    return run_concurrently(plans, _apart, listener)


def _apart(plan: Plan, listener: Listener) -> Ended:
    """Carry out one plan of several. After a failure the audit is inconclusive, and the others go on."""
    try:
        return carry_out(plan, listener, refuse=True)
    except AuditorError as error:
        if not isinstance(error, MechanismError):
            raise
        why = str(error)
    except Stopped:
        raise
    except BaseException as error:  # raised by a domain that a user wrote, or by the auditor itself
        if refused_by_machine(error):
            raise
        why = f"the audit ended in an error, {describe_error(error)}; please report it, unless the error is of your own code"
    plan.store.end(why)
    return Ended.of(Outcome(plan, no_answer(why)), Draw(plan, listener))


def run_concurrently(
    plans: Sequence[Plan], run: Callable[[Plan, Listener], Ended], listener: Listener
) -> Iterator[Ended]:
    """Yield the result of ``run`` for each plan, in the order of the plans. Raises what it raises.

    Each audit has a thread of its own, and all share the workers. So a slow audit does not hold the others back. The
    draws of an audit follow from its name and seed, so the results are the same as one after the other.
    """
    workers = [processes(plan.settings.execution.workers) for plan in plans]
    if len(plans) < 2 or 1 in workers:
        yield from (run(plan, listener) for plan in plans)
        return
    todo: queue.SimpleQueue[int] = queue.SimpleQueue()
    done: queue.SimpleQueue[tuple[int, Ended | BaseException]] = queue.SimpleQueue()
    lock, under_way, part, since = threading.Lock(), 0, 0.0, time.monotonic()
    for i in range(len(plans)):
        todo.put(i)

    def passed(begun: int) -> float:
        """Return the time so far, each second divided by the audits under way then. Enter ``begun`` more audits."""
        nonlocal under_way, part, since
        with lock:
            part += (time.monotonic() - since) / max(1, under_way)
            since, under_way = time.monotonic(), under_way + begun
            return part

    def work() -> None:
        while not todo.empty():
            i, began = todo.get(), passed(begun=1)
            try:
                ended = run(plans[i], listener)
                seconds = passed(begun=-1) - began
                done.put((i, replace(ended, provenance=replace(ended.provenance, seconds=seconds))))
            except BaseException as error:  # raised below, where results are awaited
                done.put((i, error))

    # More audits than workers would only delay one another, and each keeps outputs to learn from in memory.
    for _ in range(min(6, max(workers), len(plans))):
        threading.Thread(target=work, daemon=True).start()
    known = dict[int, Ended]()
    for i in range(len(plans)):
        while i not in known:
            j, result = done.get()
            if isinstance(result, BaseException):
                raise result
            known[j] = result
        yield known.pop(i)


def stop_all() -> None:
    """End all workers and processes at once, even if they are at work."""
    close_all()
    kill_all()


# --- One audit ---

# A call that has not answered so many seconds after the limit of its audit is ended.
GRACE = 2.0

FLOWS: dict[AuditKind, Callable[[Plan, Draw], Seen]] = {
    "query": audit_query,
    "canaries": audit_one_run,
    "probability": audit_probability,
    "pairwise": audit_pairs,
}


def carry_out(plan: Plan, listener: Listener = no_listener, *, refuse: bool = False) -> Ended:
    """Carry out a plan.

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
            draw = Draw(plan, listener)
            try:
                with contextlib.closing(plan.source), plan.store.name_the_cause():
                    return Ended.of(_outcome(plan, draw, proof), draw)
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
            return Ended.of(Outcome(plan, no_answer(why)), draw)


def _outcome(plan: Plan, draw: Draw, proof: ProofJob) -> Outcome:
    """Look at the mechanism, carry out the flow of the plan, then the steps of FOLLOW_UPS that apply. With ``prove:
    only``, wait for the proof and do nothing else.
    """
    if plan.settings.prove == "only":
        found = proof.result()
        # A proof is over the reals, and outputs have refuted the claim.
        seen = unsettled(PROOF_ONLY) if plan.earlier or plan.least else proof_alone(found)
        return Outcome(plan, seen, proof=found)
    failure = "" if plan.kind == "query" else first_look(plan, draw)
    proof.begin()
    if failure:
        seen = no_answer(f"the mechanism failed on every call: {failure}", plan.domain.corners()[0])
    else:
        seen = as_many_as_before(plan, draw, FLOWS[plan.kind](plan, draw))
    outcome = Outcome(plan, seen, warnings=(*plan.assumptions, *drift(seen.tables), *seen.warnings))
    for one in FOLLOW_UPS:
        if one.applies(outcome) and not (one.takes_time and plan.settings.seconds):
            outcome = one.do(outcome, draw)
    return replace(outcome, proof=proof.result())


def exact_value(plan: Plan, pair: Pair | None) -> ExactValue | None:
    """Return the exact value of the claim's quantity on the pair, if known. A replay reads it from the store."""
    kept = None if pair is None else plan.store.recall("exact", lambda: _computed(plan, pair))
    return None if kept is None else ExactValue(*kept)


def _computed(plan: Plan, pair: Pair) -> tuple[float, float] | None:
    truth = plan.source.truth(pair) if isinstance(plan.claim, PrivacyClaim) else None
    if truth is None:
        return None
    found = method_for(plan.claim, "fixed", plan.alpha, plan.settings.samples).exact(truth)
    return None if found is None else (found.value, round_error_up(found.error))


class FollowUp(NamedTuple):
    """A step after an audit, if it ``applies``. It changes no evidence. A time limit omits what ``takes_time``."""

    do: Callable[[Outcome, Draw], Outcome]
    applies: Callable[[Outcome], bool]
    takes_time: bool = True


FOLLOW_UPS = (
    FollowUp(smaller_noise, lambda end: end.passed),
    # Shrinking takes too long if outputs crash or hang.
    FollowUp(
        find_smallest,
        lambda end: end.plan.settings.shrink and end.refuted and not (end.seen.sample and end.seen.sample.failures),
    ),
    FollowUp(nothing_differs, lambda end: end.passed and isinstance(end.plan.claim, PrivacyClaim)),
    FollowUp(probe, lambda end: end.passed and end.plan.kind == "pairwise" and end.plan.claim.is_stated),
    # The exact loss is known over the reals, and says nothing about bits.
    FollowUp(
        lambda end, _: replace(end, exact=exact_value(end.plan, end.seen.pair)),
        lambda end: isinstance(end.seen.found, Evidence) and end.plan.settings.events == (VALUES,),
        takes_time=False,
    ),
    FollowUp(exceptions, lambda end: end.seen.pair is not None, takes_time=False),
    # Canaries have runs instead of outputs.
    FollowUp(
        few_outputs,
        lambda end: isinstance(end.seen.found, Evidence) and end.plan.kind != "canaries",
        takes_time=False,
    ),
)


# --- The event of an earlier report ---


def remeasured(plan: Plan, earlier: AuditResult, outputs: int) -> AuditResult:
    """Return what the rule of an earlier result counts on its pair, in this many outputs of the plan's mechanism.

    The streams have a digest of the earlier pair and counts in their address. So even with the seed of the earlier run, no
    output is one from which the rule was learned or chosen.

    The result is inconclusive if the mechanism gives no answer there. Raises InvalidInputError if the earlier result has no pair or
    no rule that can be counted again, or if its rule does not fit the outputs: anybody may have written the report.
    """
    pair = earlier.pair
    if pair is None or earlier.event is None:
        raise InvalidInputError("the earlier report holds no event")
    test = frozen_test(earlier.event)
    if test is None and isinstance(plan.claim, PrivacyClaim):
        raise InvalidInputError("the earlier report holds no rule that can be counted again")
    domain = Pairs.only(pair.left, pair.left if pair.relation is Relation.ALONE else pair.right, plan.domain)
    # These settings only count the rule on its pair.
    settings = replace(
        plan.settings,
        samples=max(FEWEST, outputs),
        seconds=None,
        search=None,
        method="two-intervals" if plan.settings.method == "two-intervals" else "fixed",
        shrink=False,
        prove=False,
        planted=0,
    )
    name = f"{plan.name} after {digest(pair, earlier.to_dict()['event'])}"
    measuring = replace(
        plan, name=name, settings=settings, neighbours=domain, store=AuditStore(), test=test, earlier=None, least=0
    )
    with fitting("the earlier rule does not fit the outputs of today"):
        return replace(run(measuring, refuse=True), name=plan.name)
