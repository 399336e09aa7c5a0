"""The end of every audit: the exact value, the smallest pair and warnings, whatever its flow saw."""

from collections.abc import Callable

from auditor.auditing.draw import Draw
from auditor.auditing.health_checks import cut_short, drift, exceptions, nearly_all_alike, nothing_differs
from auditor.auditing.implied import smaller_noise
from auditor.auditing.outcome import Evidence, Outcome, Seen
from auditor.auditing.plan import Plan
from auditor.auditing.probe import probe
from auditor.blackbox.command import Program
from auditor.bounds.digits import error_bound
from auditor.claims import PrivacyClaim
from auditor.errors import MechanismError, WorkerLostError
from auditor.events.selection import VALUES
from auditor.methods import method_for
from auditor.methods.method import Truth
from auditor.neighbours.pair import Pair
from auditor.results.result import ExactValue, Smallest

EXACT = "exact"  # the name under which a store keeps it


def finished(plan: Plan, seen: Seen, draw: Draw) -> Outcome:
    """Find out the rest of an ended audit, and return it with what the flow saw. Raises what sampling raises.

    This may draw outputs: for the smallest pair, if the claim is refuted at the plan's own level, and for warnings. A claim that
    only Holm's larger level refutes has neither.
    """
    refuted, sample, limited = seen.refutes(plan.alpha), seen.sample, plan.settings.seconds is not None
    has_evidence = isinstance(seen.found, Evidence)
    smallest, warnings = None, [*plan.assumptions, *drift(seen.tables), *seen.warnings]
    # What a claim implies is not worth more time where that is limited.
    if has_evidence and sample is not None and not refuted and not limited:
        warnings += smaller_noise(plan, seen, draw)
    # Limited time, and outputs that fail by costing time, are not worth a smaller pair.
    if refuted and plan.settings.shrink and not limited and seen.shrink and not (sample and sample.failures):
        smallest, stopped = _without_harm(plan, seen.shrink)
        warnings += stopped
    return Outcome(
        plan,
        seen,
        _exact(plan, seen),
        smallest,
        (*warnings, *nothing_differs(plan, seen)),
        exceptions(plan, seen),
        (*cut_short(plan, draw), *nearly_all_alike(plan, sample)) if has_evidence else (),
        planted=probe(plan, seen, draw) if has_evidence and not refuted else None,
    )


def _exact(plan: Plan, seen: Seen) -> ExactValue | None:
    """Return the exact value on the pair. It is known over the reals, and says nothing about bits."""
    known = isinstance(seen.found, Evidence) and plan.settings.events == (VALUES,)
    return exact_value(plan, seen.pair) if known and seen.pair else None


def _without_harm(plan: Plan, find: Callable[[], Smallest | None]) -> tuple[Smallest | None, list[str]]:
    """Return what ``find`` returns; or a warning, where the mechanism breaks the protocol or holds up the audit on the way.

    The audit has its verdict by then, and does not lose it. Where a crash can be made an output, what ended a worker is raised, for
    the same audit to be drawn again: its verdict is the same, and so is the smallest pair, with any workers.
    """
    try:
        return find(), []
    except MechanismError as error:
        if plan.settings.execution.isolate and isinstance(error, WorkerLostError):
            raise
        message = str(error)
        plan.store.end(message)
        return None, [f"the search for the smallest pair that breaks the claim stopped early: {message}"]


def exact_value(plan: Plan, pair: Pair) -> ExactValue | None:
    """Return the exact value of the claim's quantity on the pair. It is kept, since a replay has no specimen."""
    kept = plan.store.recall(EXACT, lambda: _computed(plan, pair))
    return None if kept is None else ExactValue(*kept)


def _computed(plan: Plan, pair: Pair) -> tuple[float, float] | None:
    if isinstance(plan.source, Program) or not isinstance(plan.claim, PrivacyClaim):
        return None
    make: Callable[..., Truth] | None = getattr(plan.source.load(), "__truth__", None)
    if make is None:
        return None
    method = method_for(plan.claim, "fixed", plan.alpha, plan.settings.samples)
    found = method.exact(make(pair.dataset("left"), pair.dataset("right"), **plan.source.parameters))
    return None if found is None else (found.value, error_bound(found.error))
