"""The exact value of a claim's quantity on a pair, where a specimen says how its outputs are distributed."""

from collections.abc import Callable
from typing import Any

from auditor.auditing.plan import Plan
from auditor.blackbox.mechanism import Source
from auditor.claims import ApproximateDP, PrivacyClaim, PureDP, RenyiDP, ZeroConcentratedDP
from auditor.neighbours.pair import Pair
from auditor.results.result import ExactValue

# ρ is the largest D_α/α over these orders: a lower bound on the truth, which for the specimens is reached at one of them.
EXACT = "exact"
ORDERS = (1.001, 1.1, 1.5, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0)


def exact_value(plan: Plan, claim: PrivacyClaim, pair: Pair) -> ExactValue | None:
    """Return the exact value for a claim, which is kept: a replay has no specimen to ask."""
    kept = plan.store.recall(EXACT, lambda: _exact(plan.source, claim, pair))
    return None if kept is None else ExactValue(*kept)


def _exact(source: Source, claim: PrivacyClaim, pair: Pair) -> tuple[float, float] | None:
    """Return the exact ε at the claimed δ, Rényi ε, or ρ of the pair; None where it is not known."""
    if source.command is not None:
        return None
    make: Callable[..., tuple[Any, Any]] | None = getattr(source.load(), "__truth__", None)
    if make is None:
        return None
    from auditor.exact.divergences import exact_epsilon, exact_renyi, exact_rho

    left, right = make(pair.dataset("left"), pair.dataset("right"), **source.parameters)
    if isinstance(claim, PureDP | ApproximateDP):
        found = exact_epsilon(left, right, claim.delta)
    elif isinstance(claim, RenyiDP):
        found = exact_renyi(left, right, claim.order)
    elif isinstance(claim, ZeroConcentratedDP):
        found = exact_rho(left, right, ORDERS)
    else:
        return None
    return found.value, found.error
