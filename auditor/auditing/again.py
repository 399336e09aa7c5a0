"""How to see a result again: a command line, or a call in Python."""

import shlex
from typing import TYPE_CHECKING

import numpy as np

from auditor.events.selection import VALUES
from auditor.neighbours.pair import Pair, Relation, Side

if TYPE_CHECKING:
    from auditor.auditing.plan import Plan

# Of auditor.audit.
DEFAULT_CONFIDENCE = 0.999


def command(plan: "Plan", pair: Pair | None) -> str | None:
    """Return the command that repeats an audit; without one, a call in Python that finds the violation on a pair, or data set.

    None where there is neither a command nor a pair.
    """
    if plan.rerun:
        fitted = () if plan.fitted_search is None else ("--search", str(plan.fitted_search))
        return shlex.join(["auditor", "run", *plan.rerun, *fitted])
    if pair is None:
        return None
    sides: tuple[Side, Side] = ("left", "left" if pair.relation is Relation.ALONE else "right")
    data, confidence = ", ".join(_in_python(pair, side) for side in sides), round(1 - plan.alpha, 12)
    options = {
        "parameters": dict(plan.source.parameters) or None,
        "name": plan.name,
        "samples": plan.samples,
        "method": plan.method if plan.method != "fixed" else None,
        "events": list(plan.events) if plan.events != (VALUES,) else None,
        "confidence": confidence if confidence != DEFAULT_CONFIDENCE else None,
        "seed": plan.seed,
    }
    told = ", ".join(f"{name}={value!r}" for name, value in options.items() if value is not None)
    return f"auditor.audit({plan.source.name}, {plan.claim!r}, [({data})], {told})"


def _in_python(pair: Pair, side: Side) -> str:
    data = pair.dataset(side)
    if not isinstance(data, np.ndarray):
        return repr(data)
    shape = "" if data.size else f".reshape({data.shape})"
    return f"numpy.array({data.tolist()!r}, dtype={data.dtype.str!r}){shape}"
