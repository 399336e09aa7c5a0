"""The whole flow of one audit. Nothing here prints; progress is told through a callback."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Unpack

import numpy as np

from auditor.auditing.doubts import VAIN, alike, data_arrive, doubted, spread
from auditor.auditing.plan import Ledger, Listener, Plan, Progress
from auditor.auditing.privacy import audit_privacy
from auditor.auditing.probability import audit_probability
from auditor.auditing.queries import audit_query
from auditor.auditing.sequential import audit_sequentially
from auditor.auditing.settings import Settings, SettingsKeywords
from auditor.auditing.together import run_together, stop_all
from auditor.blackbox.batches import Phase
from auditor.blackbox.command import Command
from auditor.blackbox.host import Hosted, held, hosted, isolated
from auditor.blackbox.mechanism import Mechanism, Source
from auditor.blackbox.process import ProcessFailure
from auditor.blackbox.sample import ALWAYS, SIDES, Drawer
from auditor.blackbox.store import AuditStore, Mode, Store, history
from auditor.claims import Claim, PrivacyClaim, Probability, QueryClaim
from auditor.defaults import CONFIDENCE
from auditor.errors import InvalidInputError, MechanismError, WorkerLostError
from auditor.neighbours.domains import Domain, Pairs
from auditor.neighbours.pair import Pair, Relation
from auditor.results.result import AuditResult
from auditor.verdict import alpha_for_each, holm_levels

__all__ = [
    "CHECK_SECONDS",
    "VAIN",
    "Plan",
    "Progress",
    "Settings",
    "SettingsKeywords",
    "Store",
    "alike",
    "audit",
    "check",
    "data_arrive",
    "draw_once",
    "history",
    "journalled",
    "on_pair",
    "recorded",
    "replayed",
    "run",
    "run_all",
    "settle",
    "spread",
    "stop_all",
]


def audit(
    mechanism: Callable[..., Any] | str | Command,
    claim: Claim,
    neighbours: Domain | Sequence[tuple[Any, Any]],
    *,
    parameters: Mapping[str, Any] | None = None,
    name: str | None = None,
    confidence: float = CONFIDENCE,
    **settings: Unpack[SettingsKeywords],
) -> AuditResult:
    """Audit one mechanism against one claim.

    Args:
        mechanism: ``f(dataset, rng)``, one output a call, or ``f(dataset, size, rng)``, a batch; or its name,
            "module:function"; or a program, ``Command(["node", "mechanism.js"])``.
        claim: such as ``PureDP(1.0)``.
        neighbours: a domain, or a list of (left, right) pairs.
        parameters: passed on to the mechanism as keywords.
        name: of the audit; part of the seed of every output.
        confidence: the chance that a sound mechanism raises no alarm.

    Keyword Args:
        samples (int): outputs for the bound, both sides together, 1,000,000 by default; search and selection come on top.
        method (str): "fixed", the default, "sequential" or "two-intervals".
        search (int | Mapping[str, Any] | None): outputs for the search over pairs, or {"seconds": s} for those that fit into s.
        seconds (float | None): after which the audit ends with the bound it has; outputs are fewer then.
        events (Sequence[str]): what events may look at: "values", and "bits", the floating-point representation.
        shrink (bool): whether to look for the smallest pair and a simple event that still break a refuted claim, on up to
            samples more outputs; not under seconds.
        seed (int): the root of all randomness.
        workers (int): how many at once; -1, the default, for one for each core. Changes no result.
        backend (str): "auto" or "loky", processes of this machine; "threading"; "dask";
            "ray".
        address (str | None): where the scheduler of a Dask or Ray cluster is.
        batch (int): outputs asked for in one call, 65,536 by default.
        timeout (float | None): seconds for a batch; what takes longer is an output of its own kind.
        isolate (bool): whether the mechanism runs in a process of its own, where its crash is an output.

    Raises InvalidInputError for settings out of range or unknown, MechanismError when the mechanism cannot be called.

    >>> import auditor
    >>> def leaky(dataset, size, rng):
    ...     return rng.laplace(dataset, 0.5, size)  # ε = 2
    >>> auditor.audit(leaky, auditor.PureDP(1.0), [(0, 1)], samples=20_000, seed=7, workers=1).verdict
    <Verdict.VIOLATION: 'violation'>
    """
    if isinstance(mechanism, Command):
        source = Source(mechanism.name, parameters or {}, command=mechanism)
    elif isinstance(mechanism, str):
        source = Source(mechanism, parameters or {})
    else:
        source = Source(_name_of(mechanism), parameters or {}, function=mechanism)
    if not isinstance(neighbours, Sequence) and not hasattr(neighbours, "corners"):
        raise InvalidInputError(
            f"neighbours is {neighbours!r}; it must be a list of pairs (left, right), or a domain such as "
            "auditor.Records((0, 10), size=(0, 20))"
        )
    plan = Plan(
        name=name or source.name,
        source=source,
        claim=claim,
        domain=Pairs(list(neighbours)) if isinstance(neighbours, Sequence) else neighbours,
        alpha=alpha_for_each(confidence, 1),
        settings=Settings.of(settings),
    )
    return run(plan)


def run(plan: Plan, listener: Listener = lambda progress: None, *, refuse: bool = False) -> AuditResult:
    """Carry out a plan.

    Raises MechanismError when the mechanism cannot be built, breaks the protocol of a batch, or repeats itself; a mechanism
    that raises or returns nonsense is audited on that. With ``refuse`` such errors are the reason of an inconclusive result.
    """
    ledger = Ledger(plan, listener, reproducible=True)
    try:
        with held(plan.source):
            return _run(ledger)
    except (TimeoutError, WorkerLostError) as error:
        how = plan.settings.execution
        if not how.isolate:
            why = str(error) or f"a batch took longer than the time limit of {how.timeout} s"
            plan.store.end(why)
            return ledger.inconclusive(why)
        # From the start, where a crash is an output: nothing of the first attempt is kept. What did not crash then is drawn
        # again as it was, for its address is the same; so this is one audit, and no second chance for an alarm.
        return run(plan.with_settings(execution=how.protected()), listener, refuse=refuse)
    except MechanismError as error:
        if not refuse:
            raise
        return ledger.inconclusive(str(error))
    finally:
        if plan.source.command is not None:
            plan.source.command.close()


def _run(ledger: Ledger) -> AuditResult:
    plan, claim = ledger.plan, ledger.plan.claim
    if isinstance(claim, QueryClaim):
        return audit_query(claim, lambda: _imported(plan), ledger)
    start = _Start(**plan.store.recall(START, lambda: asdict(_start(ledger))))
    ledger.reproducible = start.reproducible
    if start.failure:
        why = f"the mechanism failed on every call: {start.failure}"
        return ledger.inconclusive(why, pair=plan.domain.corners()[0])
    if isinstance(claim, Probability):
        return audit_probability(claim, ledger)
    assert isinstance(claim, PrivacyClaim)
    flow = audit_sequentially if plan.settings.method == "sequential" else audit_privacy
    return doubted(ledger, flow(claim, ledger))


# What is kept: what is known of a mechanism before it is audited, and how to run the audit again.
START, RERUN = "start", "rerun"


@dataclass(frozen=True, slots=True)
class _Start:
    """What is known of a mechanism before it is audited: whether all randomness is the auditor's, and how it always fails."""

    reproducible: bool = True
    failure: str = ""


def _start(ledger: Ledger) -> _Start:
    plan, sampler = ledger.plan, ledger.sampler()
    origin, pair, is_program = sampler.origin(), plan.domain.corners()[0], plan.source.command is not None
    repeats = is_program and sampler.repeats_itself(pair)
    failure = _always_fails(origin.drawer(), pair, plan) if origin.isolated else None
    if failure is not None:
        return _Start(repeats or not is_program, failure.message())
    if not is_program:
        repeats = _imported(plan).takes_rng and sampler.repeats_itself(pair)
    return _Start(repeats)


def check(plan: Plan) -> None:
    """Raise MechanismError where the mechanism cannot be imported, or the program not be found."""
    if plan.source.command is not None:
        plan.source.command.find()
    else:
        _imported(plan)


def _imported(plan: Plan) -> Mechanism | Hosted:
    """Import a Python mechanism where an import that crashes is not the end, unless the plan wants it in this process."""
    return (
        hosted(plan.source, plan.settings.execution.timeout)
        if plan.settings.execution.isolate
        else plan.source.drawer()
    )


def journalled(plan: Plan, store: Store) -> Plan:
    """Return the plan with what is done kept in a file, and taken from there as far as it was done before."""
    return replace(plan, store=store.audit(plan.name, Mode.RESUME))


def recorded(plan: Plan, store: Store) -> Plan:
    """Return the plan with all outputs kept in a file."""
    kept = store.audit(plan.name, Mode.RECORD)
    return replace(plan, store=kept, rerun=kept.recall(RERUN, lambda: plan.rerun))


def replayed(plan: Plan, store: Store) -> Plan:
    """Return the plan with the outputs taken from where ``recorded`` kept them: nothing is imported or started."""
    kept = store.audit(plan.name, Mode.REPLAY)
    execution = replace(plan.settings.execution, workers=1, isolate=False, timeout=None)
    source = Source(plan.source.name, plan.source.parameters, function=_only_recorded)
    # A replay says how to repeat the audit that was recorded.
    rerun = kept.recall(RERUN, lambda: plan.rerun)
    return replace(plan.with_settings(execution=execution), source=source, store=kept, rerun=rerun)


def _only_recorded(dataset: Any, rng: Any, **parameters: Any) -> None:
    raise MechanismError("a replay does not run mechanisms")


def _always_fails(drawer: Drawer, pair: Pair, plan: Plan) -> ProcessFailure | None:
    """Return how the first outputs on both sides failed, if all of them ended their process or passed the time limit.

    Each of these may take as long as the limit, so that it is not left to the search to find that out.
    """
    rng = np.random.default_rng(np.random.SeedSequence(plan.settings.seed, spawn_key=(Phase.CHECK,)))
    failure = None
    for _ in range(ALWAYS):
        for side in ("left", "right"):
            failure = drawer.call_once(pair, side, rng)
            if not isinstance(failure, ProcessFailure):
                return None
    return failure


def run_all(plans: Sequence[Plan], listener: Listener = lambda progress: None) -> Iterator[AuditResult]:
    """Carry out plans, several at a time, and yield their results in order; mechanisms that are refused are inconclusive."""
    return run_together(plans, lambda plan, tell: run(plan, tell, refuse=True), listener)


def settle(results: Sequence[AuditResult], alpha: float, audits: int) -> list[AuditResult]:
    """Judge the audits of a file again, under one error budget shared by Holm's step-down.

    The chance that any sound mechanism among them is said to violate its claim is at most ``alpha``. ``audits`` counts all that
    share the budget, also those that were not run or ended without an answer; where nothing is random, none is spent.
    """
    settled = list(results)
    judged = [i for i, result in enumerate(results) if result.p_value is not None]
    p_values = [result.p_value for result in results if result.p_value is not None]
    levels = holm_levels([*p_values, *[1.0] * (audits - len(p_values))], alpha)
    for i, level in zip(judged, levels, strict=False):
        if (judge_again := results[i].at_level) is not None:
            again = judge_again(level)
            settled[i] = replace(again, provenance=replace(again.provenance, seconds=results[i].seconds))
    return settled


def on_pair(plan: Plan, pair: Pair) -> Plan:
    """Return the plan for one pair of its domain, such as an earlier report has, and no smaller one."""
    right = pair.left if pair.relation is Relation.ALONE else pair.right
    domain = Pairs.only(pair.left, right, plan.domain)
    search = replace(plan.settings.search, seconds=None)
    return replace(plan.with_settings(search=search, shrink=False), domain=domain, store=AuditStore())


# For an output where no timeout is set: whoever checks, waits.
CHECK_SECONDS = 30.0


def draw_once(plan: Plan) -> tuple[Pair, Any, Any]:
    """Draw one output from each side of a pair, as `auditor check` does.

    Returns the pair and the two outputs as the mechanism returned them, an exception where it raised one: the first pair on
    which it does not raise on both sides, of a few spread over the domain, or else the first of all.
    Without a timeout, what takes CHECK_SECONDS is a failure. Raises MechanismError when the mechanism cannot be built.
    """
    limit, corners = plan.settings.execution.timeout, plan.domain.corners()
    drawer = isolated(plan.source, limit or CHECK_SECONDS)
    rng = np.random.default_rng(np.random.SeedSequence(plan.settings.seed, spawn_key=(Phase.CHECK,)))
    first = None
    try:
        if plan.source.command is not None:
            plan.source.program(limit).repeats_itself(corners[0])
        for pair in spread(corners):
            left, right = (drawer.call_once(pair, side, rng) for side in SIDES)
            first = first or (pair, left, right)
            # A process that ends or hangs costs time, and does so on the first pair in a run as well.
            if not all(isinstance(o, BaseException) and not isinstance(o, ProcessFailure) for o in (left, right)):
                return pair, left, right
    finally:
        if plan.source.command is not None:
            plan.source.command.close()
    assert first is not None  # a domain has a pair
    return first


def _name_of(function: Callable[..., Any]) -> str:
    inner = getattr(function, "func", function)  # functools.partial
    name: str = getattr(inner, "__qualname__", type(inner).__qualname__)
    return name
