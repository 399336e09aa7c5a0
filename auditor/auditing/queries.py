"""The flow for claims about deterministic queries: hunt for the two data sets with the largest difference.

There is nothing random in a query, so one counterexample settles the matter, and none proves nothing.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from auditor.auditing.plan import Ledger
from auditor.blackbox.mechanism import Mechanism
from auditor.bounds.evidence import Bound
from auditor.claims import QueryClaim, Sensitivity
from auditor.errors import MechanismError
from auditor.neighbours.pair import Pair, Side, plain
from auditor.neighbours.search import search_pairs
from auditor.report.result import AuditResult
from auditor.verdict import Verdict

# Differences are of doubles: a counterexample must exceed the claim by more than their rounding.
ROUNDING = 1e-9
# A query is looked up twice on each of two data sets of a pair; a search of this many pairs takes moments.
MOST_PAIRS = 20_000


@dataclass(frozen=True, slots=True)
class _Difference:
    pair: Pair
    left: Any
    right: Any
    size: float


def audit_query(claim: QueryClaim, mechanism: Mechanism, ledger: Ledger) -> AuditResult:
    """Look for a pair on which the query moves further than claimed, or falls where it may not.

    Raises MechanismError for a query that takes size or rng, or answers differently when asked twice.
    """
    if mechanism.batched or mechanism.takes_rng:
        raise MechanismError(
            f'"{mechanism.name}" takes size or rng; a claim of {claim} is about a deterministic f(dataset)'
        )
    seen: dict[str, _Difference] = {}

    def evaluate(pairs: Sequence[Pair], _: int) -> list[float]:
        sizes = []
        for pair in pairs:
            if pair.key() not in seen:
                seen[pair.key()] = _difference(claim, mechanism, pair)
            sizes.append(seen[pair.key()].size)
        return sizes

    rng = np.random.default_rng(np.random.SeedSequence(ledger.plan.seed))
    pairs_budget = min(MOST_PAIRS, ledger.plan.search_outputs)
    search_pairs(ledger.plan.domain, evaluate, pairs_budget, rng, least_outputs=1)
    found = max(seen.values(), key=lambda difference: difference.size) if seen else None
    if found is None:
        pair = ledger.plan.domain.corners()[0]
        found = _difference(claim, mechanism, pair)
    bound = Bound(claim.quantity, found.size, 1.0, "largest difference found")
    broken = found.size > claim.value * (1 + ROUNDING) + ROUNDING
    values = {"left": plain(found.left), "right": plain(found.right)}
    return ledger.result(
        Verdict.VIOLATION if broken else Verdict.NO_VIOLATION_FOUND,
        f"{max(1, len(seen)):,} pairs of data sets looked at",
        pair=found.pair,
        event={"description": f"the query answers {values['left']} and {values['right']}", "values": values},
        bound=bound,
    )


def _difference(claim: QueryClaim, mechanism: Mechanism, pair: Pair) -> _Difference:
    left, right = _answer(mechanism, pair, "left"), _answer(mechanism, pair, "right")
    if isinstance(claim, Sensitivity):
        size = float(np.abs(np.asarray(left, float) - np.asarray(right, float)).sum())
    else:
        smaller, larger = (left, right) if len(pair.left) <= len(pair.right) else (right, left)
        size = float(smaller) - float(larger)
    if math.isnan(size):
        raise MechanismError(
            f'"{mechanism.name}" answers {left!r} on {plain(pair.left)} and {right!r} on {plain(pair.right)}'
        )
    return _Difference(pair, left, right, size)


def _answer(mechanism: Mechanism, pair: Pair, side: Side) -> Any:
    rng = np.random.default_rng(0)
    first, second = (mechanism.call_once(pair, side, rng) for _ in range(2))
    if isinstance(first, BaseException):
        raise MechanismError(
            f'"{mechanism.name}" raises {type(first).__name__}: {first} on {plain(pair.dataset(side))}'
        )
    if not np.array_equal(np.asarray(first), np.asarray(second), equal_nan=True):
        raise MechanismError(f'"{mechanism.name}" answers {first!r} and then {second!r} on {plain(pair.dataset(side))}')
    return first
