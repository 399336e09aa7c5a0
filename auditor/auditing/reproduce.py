"""How to see a result again: a command line, or a call in Python."""

import shlex

from auditor.auditing.plan import Plan
from auditor.auditing.sizes import Sizes
from auditor.defaults import CONFIDENCE
from auditor.events.selection import VALUES
from auditor.neighbours.pair import Pair


def command(plan: Plan, pair: Pair | None, sizes: Sizes) -> str | None:
    """Return the command that repeats an audit. Without a command, return a call in Python that finds the violation on a pair or
    data set.

    ``sizes`` are the numbers of outputs. None if there is neither a command nor a pair.
    """
    if plan.rerun:
        return shlex.join(["auditor", "run", *plan.rerun])
    if pair is None:
        return None
    confidence = round(1 - plan.alpha, 12)
    options = {
        "parameters": dict(plan.source.parameters) or None,
        "name": plan.name,
        "samples": sizes.bound,
        "method": plan.settings.method if plan.settings.method != "fixed" else None,
        "events": list(plan.settings.events) if plan.settings.events != (VALUES,) else None,
        "confidence": confidence if confidence != CONFIDENCE else None,
        "seed": plan.settings.seed,
    }
    given = ", ".join(f"{name}={value!r}" for name, value in options.items() if value is not None)
    return f"auditor.audit({plan.source.name}, {plan.claim!r}, {pair.call()}, {given})"
