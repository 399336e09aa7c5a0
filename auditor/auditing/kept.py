"""Plans whose outputs are kept in a file, or taken from there."""

from dataclasses import replace
from typing import Any

from auditor.auditing.plan import Plan
from auditor.blackbox.mechanism import PythonSource
from auditor.blackbox.store import AuditStore, Mode, Store
from auditor.errors import MechanismError

# Under which it is kept how to run the audit again.
RERUN = "rerun"


def journalled(plan: Plan, store: Store) -> Plan:
    """Return the plan with a file that keeps its finished work. Work that the file has already is not done again."""
    return replace(plan, store=AuditStore(Mode.RESUME, store, plan.name))


def recorded(plan: Plan, store: Store) -> Plan:
    """Return the plan with all outputs kept in a file."""
    kept = AuditStore(Mode.RECORD, store, plan.name)
    return replace(plan, store=kept, rerun=kept.recall(RERUN, lambda: plan.rerun))


def replayed(plan: Plan, store: Store) -> Plan:
    """Return the plan with the outputs that ``recorded`` kept. Nothing is imported or started."""
    kept = AuditStore(Mode.REPLAY, store, plan.name)
    execution = replace(plan.settings.execution, workers=1, isolate=False, timeout=None)
    source = PythonSource(plan.source.name, plan.source.parameters, function=_only_recorded)
    # A replay says how to repeat the audit that was recorded.
    with kept.blamed():
        rerun = tuple(map(str, kept.recall(RERUN, lambda: plan.rerun)))
    return replace(plan.with_settings(execution=execution), source=source, store=kept, rerun=rerun)


def _only_recorded(dataset: Any, rng: Any, **parameters: Any) -> None:
    raise MechanismError("a replay does not run mechanisms")
