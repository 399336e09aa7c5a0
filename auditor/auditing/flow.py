"""One audit from its plan to its end, or several at once."""

import functools
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from auditor.auditing.canary_flow import audit_one_run
from auditor.auditing.check import imported, query_of
from auditor.auditing.concurrent import run_concurrently
from auditor.auditing.drawing import Drawing
from auditor.auditing.health_checks import nothing_differs
from auditor.auditing.outcome import Ended, Outcome, inconclusive
from auditor.auditing.pairwise_flow import audit_privacy
from auditor.auditing.plan import Listener, Plan
from auditor.auditing.probability_flow import audit_probability
from auditor.auditing.proof_attempt import brief_proof, proof_alone, tried_proof
from auditor.auditing.query_flow import audit_query
from auditor.auditing.sequential_flow import audit_sequentially
from auditor.blackbox.batches import Phase
from auditor.blackbox.host import held
from auditor.blackbox.mechanism import Source
from auditor.blackbox.process import ProcessFailure
from auditor.blackbox.sample import ALWAYS, Drawer
from auditor.blackbox.store import AuditStore, Mode, Store
from auditor.claims import Probability, QueryClaim
from auditor.errors import MechanismError, WorkerLostError
from auditor.neighbours.domains import Pairs
from auditor.neighbours.pair import Pair, Relation
from auditor.results.result import AuditResult


def no_listener(progress: Any) -> None:
    """Hear of no progress."""


def run(plan: Plan, listener: Listener = no_listener, *, refuse: bool = False) -> AuditResult:
    """Carry out a plan and judge it at its own level; raises as ``carry_out`` does."""
    return carry_out(plan, listener, refuse=refuse).result()


def run_all(plans: Sequence[Plan], listener: Listener = no_listener) -> Iterator[Ended]:
    """Carry out plans, several at a time, and yield their ends in order; mechanisms that are refused are inconclusive."""
    return run_concurrently(plans, functools.partial(carry_out, refuse=True), listener)


def carry_out(plan: Plan, listener: Listener = no_listener, *, refuse: bool = False) -> Ended:
    """Carry out a plan.

    Raises MechanismError when the mechanism cannot be built, breaks the protocol of a batch, or repeats itself; a mechanism
    that raises or returns nonsense is audited on that. With ``refuse`` such errors are the reason of an inconclusive result.
    """
    drawing = Drawing(plan, listener)
    try:
        with held(plan.source):
            proof, plan = tried_proof(plan)
            drawing.plan = plan
            outcome = proof_alone(plan, proof) if plan.settings.prove == "only" else _flow(plan, drawing)
            warnings = (*outcome.warnings, *nothing_differs(outcome))
            return Ended.of(replace(outcome, warnings=warnings, proof=proof or brief_proof(plan)), drawing)
    except (TimeoutError, WorkerLostError) as error:
        how = plan.settings.execution
        if not how.isolate:
            why = str(error) or f"a batch took longer than the time limit of {how.timeout} s"
            plan.store.end(why)
            return Ended.of(inconclusive(plan, why), drawing)
        # From the start, where a crash is an output: nothing of the first attempt is kept. What did not crash then is drawn
        # again as it was, for its address is the same; so this is one audit, and no second chance for an alarm.
        return carry_out(plan.with_settings(execution=how.protected()), listener, refuse=refuse)
    except MechanismError as error:
        if not refuse:
            raise
        return Ended.of(inconclusive(plan, str(error)), drawing)
    finally:
        if plan.source.command is not None:
            plan.source.command.close()


def _flow(plan: Plan, drawing: Drawing) -> Outcome:
    if isinstance(plan.claim, QueryClaim):
        return audit_query(plan, drawing, lambda: query_of(plan))
    if plan.settings.method == "one-run":
        return audit_one_run(plan, drawing)
    start = _Start(**plan.store.recall(START, lambda: asdict(_start(plan, drawing))))
    drawing.reproducible = start.reproducible
    if start.failure:
        why = f"the mechanism failed on every call: {start.failure}"
        return inconclusive(plan, why, plan.domain.corners()[0])
    if isinstance(plan.claim, Probability):
        return audit_probability(plan, drawing)
    return audit_sequentially(plan, drawing) if plan.settings.method == "sequential" else audit_privacy(plan, drawing)


# What is kept: what is known of a mechanism before it is audited, and how to run the audit again.
START, RERUN = "start", "rerun"


@dataclass(frozen=True, slots=True)
class _Start:
    """What is known of a mechanism before it is audited: whether all randomness is the auditor's, and how it always fails."""

    reproducible: bool = True
    failure: str = ""


def _start(plan: Plan, drawing: Drawing) -> _Start:
    sampler, pair, is_program = drawing.sampler(), plan.domain.corners()[0], plan.source.command is not None
    origin = sampler.origin()
    repeats = is_program and sampler.repeats_itself(pair)
    failure = _always_fails(origin.drawer(), pair, plan) if origin.isolated else None
    if failure is not None:
        return _Start(repeats or not is_program, failure.message())
    if not is_program:
        repeats = imported(plan).takes_rng and sampler.repeats_itself(pair)
    return _Start(repeats)


def _always_fails(drawer: Drawer, pair: Pair, plan: Plan) -> ProcessFailure | None:
    """Return how the first outputs on both sides failed, if all of them ended their process or passed the time limit.

    Each of these may take as long as the limit. So the search does not have to find that out.
    """
    rng = np.random.default_rng(np.random.SeedSequence(plan.settings.seed, spawn_key=(Phase.CHECK,)))
    failure = None
    for _ in range(ALWAYS):
        for side in ("left", "right"):
            failure = drawer.call_once(pair, side, rng)
            if not isinstance(failure, ProcessFailure):
                return None
    return failure


def journalled(plan: Plan, store: Store) -> Plan:
    """Return the plan with what is done kept in a file, and taken from there as far as it was done before."""
    return replace(plan, store=AuditStore(Mode.RESUME, store, plan.name))


def recorded(plan: Plan, store: Store) -> Plan:
    """Return the plan with all outputs kept in a file."""
    kept = AuditStore(Mode.RECORD, store, plan.name)
    return replace(plan, store=kept, rerun=kept.recall(RERUN, lambda: plan.rerun))


def replayed(plan: Plan, store: Store) -> Plan:
    """Return the plan with the outputs taken from where ``recorded`` kept them: nothing is imported or started."""
    kept = AuditStore(Mode.REPLAY, store, plan.name)
    execution = replace(plan.settings.execution, workers=1, isolate=False, timeout=None)
    source = Source(plan.source.name, plan.source.parameters, function=_only_recorded)
    # A replay says how to repeat the audit that was recorded.
    rerun = kept.recall(RERUN, lambda: plan.rerun)
    return replace(plan.with_settings(execution=execution), source=source, store=kept, rerun=rerun)


def _only_recorded(dataset: Any, rng: Any, **parameters: Any) -> None:
    raise MechanismError("a replay does not run mechanisms")


def on_pair(plan: Plan, pair: Pair) -> Plan:
    """Return the plan for one pair of its domain, such as an earlier report has, and no smaller one."""
    right = pair.left if pair.relation is Relation.ALONE else pair.right
    domain = Pairs.only(pair.left, right, plan.domain)
    search = replace(plan.settings.search, seconds=None)
    return replace(plan.with_settings(search=search, shrink=False, prove=False), domain=domain, store=AuditStore())
