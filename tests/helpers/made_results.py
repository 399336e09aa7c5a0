"""Hand-made results: audits from the names of their attributes, events from entries of a report."""

import re
from dataclasses import fields, replace
from typing import Any

from pydantic import TypeAdapter

from auditor.bounds.evidence import Bound
from auditor.claims import PureDP
from auditor.events.observed import Observed
from auditor.neighbours.pair import Pair, Relation
from auditor.results.fields import EventField
from auditor.results.result import AuditResult, Judgement, OutputsSpent, Provenance, Tried
from auditor.verdict import Verdict

BLANK = AuditResult(
    "some audit",
    "module:function",
    PureDP(1.0),
    Verdict.NO_VIOLATION_FOUND,
    Judgement(Verdict.NO_VIOLATION_FOUND, "all outputs drawn"),
    Provenance(OutputsSpent(), reproducible=True, seed=7, tried=Tried("some data sets", 1, ["values"]), seconds=1.0),
)


def changed(audit: AuditResult, **changes: Any) -> AuditResult:
    """Return an audit with some attributes changed, whichever of its parts has them."""
    for part in ("judgement", "provenance"):
        whole = getattr(audit, part)
        mine = {field.name: changes.pop(field.name) for field in fields(whole) if field.name in changes}
        changes[part] = replace(whole, **mine)
    return replace(audit, **changes)


def made(**attributes: Any) -> AuditResult:
    """Return an audit with these attributes and nothing else."""
    return changed(BLANK, **attributes)


_THRESHOLD = re.compile(r"(?<=[<>≤≥=] )-?[0-9.]+(e[-+]?[0-9]+)?|-?[0-9.]+(e[-+]?[0-9]+)?(?= [<≤])")


def event_of(entry: dict[str, Any]) -> Observed:
    """Return the event of an entry in report.json, which may omit what follows from its description."""
    event: Observed = TypeAdapter(EventField).validate_python(_completed(entry))
    return event


def _completed(entry: Any) -> Any:
    if not isinstance(entry, dict) or "guess" not in entry:
        return entry
    words = str(entry["description"])
    looks_at = "bits" if "exponent of the lowest bit of" in words else "score" if "evidence" in words else "values"
    whole = {"rule": None, "looks_at": looks_at, "form": _THRESHOLD.sub("#", words), **entry}
    return whole | {"opposite": _completed(entry.get("opposite"))}


ENTRY = {
    "description": "output ≤ 0.5",
    "guess": "left",
    "counts": {"left": [75, 100], "right": [25, 100]},
    "opposite": {"description": "output > 0.5", "guess": "right", "counts": {"left": [25, 100], "right": [75, 100]}},
}


def violation(**changes: Any) -> AuditResult:
    """Return an audit that refutes its claim on a pair, with everything that a report shows."""
    usual: dict[str, Any] = {
        "claim": PureDP(0.5),
        "verdict": Verdict.VIOLATION,
        "expected": Verdict.NO_VIOLATION_FOUND,
        "outputs": OutputsSpent(1000, 2000, 30_000),
        "stop_reason": "all 200 outputs drawn",
        "seconds": 1.25,
        "bound": Bound("epsilon", 0.77, 0.999, "guesses"),
        "pair": Pair(0, 1, Relation.SUBSTITUTE),
        "event": event_of(ENTRY),
        "power": {"80%": 0.6, "95%": 0.65},
    }
    return made(**{**usual, **changes})
