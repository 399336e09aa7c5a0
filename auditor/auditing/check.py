"""A first look at a mechanism, before any audit: can it be had, and what does it return?"""

from typing import Any

from auditor.auditing.health_checks import some_pairs
from auditor.auditing.plan import Plan
from auditor.blackbox.batches import Phase, rng_at
from auditor.blackbox.command import Program
from auditor.blackbox.host import Hosted, hosted, isolated
from auditor.blackbox.mechanism import Mechanism, PythonSource
from auditor.blackbox.process import ProcessFailure
from auditor.blackbox.sample import SIDES
from auditor.blackbox.sources import ProgramSource
from auditor.neighbours.pair import Pair


def check(plan: Plan) -> None:
    """Raise MechanismError if the mechanism cannot be imported, or the program not be found."""
    if isinstance(plan.source, ProgramSource):
        plan.source.command.find()
    else:
        imported(plan, plan.source)


def query_of(plan: Plan) -> Mechanism | Hosted | Program:
    """Return the program, or the imported function, that answers a query."""
    source = plan.source
    return (
        source.drawer(plan.settings.execution.timeout) if isinstance(source, ProgramSource) else imported(plan, source)
    )


def imported(plan: Plan, source: PythonSource) -> Mechanism | Hosted:
    """Import a Python mechanism in a process of its own, since an import may crash; in this process if the plan says so."""
    return hosted(source, plan.settings.execution.timeout) if plan.settings.execution.isolate else source.drawer()


# For an output where no timeout is set: whoever checks, waits.
CHECK_SECONDS = 30.0


def draw_once(plan: Plan) -> tuple[Pair, Any, Any]:
    """Draw one output from each side of a pair, as `auditor check` does.

    Returns the pair and the two outputs as the mechanism returned them, an exception where it raised one: the first pair on
    which it does not raise on both sides, of a few spread over the domain, or else the first of all.
    Without a timeout, an output that takes CHECK_SECONDS is a failure. Raises MechanismError when the mechanism cannot be built.
    """
    limit, corners = plan.settings.execution.timeout, plan.domain.corners()
    drawer = isolated(plan.source, limit or CHECK_SECONDS)
    rng = rng_at(plan.settings.seed, Phase.CHECK)
    first = None
    try:
        if isinstance(plan.source, ProgramSource):
            plan.source.drawer(limit).repeats_itself(corners[0])
        for pair in some_pairs(corners):
            left, right = (drawer.call_once(pair, side, rng) for side in SIDES)
            first = first or (pair, left, right)
            # A process that ends or hangs costs time, and does so on the first pair in a run as well.
            if not all(isinstance(o, BaseException) and not isinstance(o, ProcessFailure) for o in (left, right)):
                return pair, left, right
    finally:
        plan.source.close()
    assert first is not None  # a domain has a pair
    return first
