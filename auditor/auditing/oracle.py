"""The exact value of a claim's quantity on a pair, where a specimen says how its outputs are distributed."""

from collections.abc import Callable

from auditor.auditing.plan import Plan
from auditor.blackbox.sources import ProgramSource
from auditor.bounds.digits import error_bound
from auditor.claims import PrivacyClaim
from auditor.methods import method_for
from auditor.methods.method import Truth
from auditor.neighbours.pair import Pair
from auditor.results.result import ExactValue

EXACT = "exact"  # the name under which a store keeps it


def exact_value(plan: Plan, pair: Pair) -> ExactValue | None:
    """Return the exact value of the claim's quantity on the pair. It is kept, since a replay has no specimen."""
    kept = plan.store.recall(EXACT, lambda: _exact(plan, pair))
    return None if kept is None else ExactValue(*kept)


def _exact(plan: Plan, pair: Pair) -> tuple[float, float] | None:
    if isinstance(plan.source, ProgramSource) or not isinstance(plan.claim, PrivacyClaim):
        return None
    make: Callable[..., Truth] | None = getattr(plan.source.load(), "__truth__", None)
    if make is None:
        return None
    method = method_for(plan.claim, "fixed", plan.alpha, plan.settings.samples)
    found = method.exact(make(pair.dataset("left"), pair.dataset("right"), **plan.source.parameters))
    return None if found is None else (found.value, error_bound(found.error))
