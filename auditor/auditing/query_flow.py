"""The flow for claims about deterministic queries: search for the two data sets with the largest difference.

A query is not random, so one counterexample refutes the claim, and finding none proves nothing. A smaller
counterexample is a proof as well.
"""

import functools
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, assert_never

import numpy as np
import numpy.typing as npt

from auditor.auditing.ledger import Ledger
from auditor.auditing.outcome import Audit
from auditor.auditing.race import Look, Race, Utilities
from auditor.auditing.sizes import search_of
from auditor.auditing.sources import OF_POINTS
from auditor.blackbox.batches import rng_at
from auditor.blackbox.sample import Answers, are_rows
from auditor.bounds.evidence import Bound
from auditor.claims import Norm, QueryClaim, Sensitivity
from auditor.errors import InvalidInputError, MechanismError, how_many
from auditor.events.observed import BothAnswers, QueryAnswers
from auditor.neighbours.pair import Pair, Side, data_words, plain, same
from auditor.neighbours.search import has_one_pair
from auditor.neighbours.shrinking import Screening, shrink_pair
from auditor.results.result import Judgement, Smallest
from auditor.verdict import Verdict

# A query is asked twice on each data set of a pair. A search of this many takes moments, as does shrinking.
MOST_PAIRS = 20_000


@dataclass(frozen=True, slots=True)
class _Difference:
    pair: Pair
    left: Any
    right: Any
    size: float
    excess: float  # over the claim and the largest rounding error

    @property
    def event(self) -> QueryAnswers:
        values = BothAnswers(plain(self.left), plain(self.right))
        return QueryAnswers(f"the query answers {_answer_words(values.left)} and {_answer_words(values.right)}", values)

    def bound(self, claim: QueryClaim, method: str) -> Bound:
        return Bound(claim.quantity, self.size, 1.0, method)


def _answer_words(answer: Any) -> str:
    """Write an answer. Many rows of a frame are written as their number and their columns."""
    return data_words(answer) if are_rows(answer) else str(answer)


def audit_query(ledger: Ledger) -> Audit:
    """Look for a pair on which the query moves further than claimed, or falls although it is claimed to be monotone.

    A program is a query if its answers do not depend on its seed.

    Raises MechanismError for a query that takes size or rng, answers differently when asked twice, or does not answer
    with numbers; InvalidInputError for a monotone claim if no data set is part of its neighbour.
    """
    plan = ledger.plan
    claim, store, name = plan.claim, plan.store, plan.source.name
    query = functools.cache(plan.drawer)  # built when first asked, since a replay has none
    assert isinstance(claim, QueryClaim)
    if not plan.source.is_program and store.recall("takes size or rng", lambda: query().batched or query().takes_rng):
        raise MechanismError(f'"{name}" takes size or rng; a claim of {claim} is about a deterministic f(dataset)')
    seen: dict[str, _Difference] = {}

    def ask(pairs: Sequence[Pair]) -> None:
        unseen = [pair for pair in pairs if pair.key() not in seen]
        for answers, pair in zip(store.answers(unseen, lambda new: query().answers(new)), unseen, strict=True):
            seen[pair.key()] = _difference(claim, name, pair, answers)

    def evaluate(pairs: Sequence[Pair], _: int) -> list[float]:
        ask(pairs)
        return [seen[pair.key()].excess for pair in pairs]

    def smallest() -> Smallest | None:
        screening = Screening(min(MOST_PAIRS, plan.settings.samples), 1)
        path = shrink_pair(found.pair, plan.domain, evaluate, 0.0, screening)
        if not path:
            return None
        small = seen[path[-1].key()]
        return Smallest(small.pair, small.event, small.bound(claim, "difference found"))

    asked = plan.settings.search
    search = search_of(plan.settings.samples) if asked is None else asked
    ask(plan.domain.corners()[:1])
    if not has_one_pair(plan.domain, rng := rng_at(plan.settings.seed)):
        Race(AnswerGame(ask, seen), plan.domain, rng).run(OF_POINTS, min(MOST_PAIRS, search) - 1)
    found = max(seen.values(), key=lambda difference: difference.excess)
    if found.size == -math.inf:
        raise InvalidInputError(
            f"a claim of {claim} compares a data set with a subset; these neighbours have no such pair; use relation add_remove"
        )
    ledger.pairs.update(seen)
    judgement = _judged(claim, found, f"{how_many(len(seen), 'pair')} of data sets looked at")
    return Audit(ledger, judgement, found.pair, shrink=smallest)


@dataclass(frozen=True, slots=True)
class AnswerGame:
    """Answers of a query. A pair is worth by how much its difference exceeds the claim, which one answer on each side says."""

    ask: Callable[[Sequence[Pair]], None]
    seen: Mapping[str, _Difference]
    exact: ClassVar[bool] = True

    def draw(self, name: str, looks: Sequence[Look], each: int) -> list[Look]:
        """See Game."""
        self.ask([look.pair for look in looks])
        return list(looks)

    def utilities(self, looks: Sequence[Look]) -> Utilities:
        """See Game."""
        excess = [self.seen[look.key].excess for look in looks]
        return Utilities(excess, excess)

    def refocus(self, looks: Sequence[Look]) -> list[Look]:
        """See Game."""
        return list(looks)


def judged_again(claim: QueryClaim, name: str, pair: Pair, event: QueryAnswers, reason: str) -> Judgement:
    """Return the judgement of answers that a report holds. Raises MechanismError for answers that cannot be compared."""
    left, right = event.values.left, event.values.right
    found = _difference(claim, name, pair, (left, left, right, right))
    # If neither list of records is a part of the other, the domain had said that the right side has one person more.
    if found.size == -math.inf:
        found = _difference(claim, name, replace(pair, grows=True), (left, left, right, right))
    return replace(_judged(claim, found, reason), event=event)


def _judged(claim: QueryClaim, found: _Difference, reason: str) -> Judgement:
    verdict = Verdict.VIOLATION if found.excess > 0 else Verdict.NO_VIOLATION_FOUND
    return Judgement(verdict, reason, found.bound(claim, "largest difference found"), found.event)


def _difference(claim: QueryClaim, name: str, pair: Pair, answers: Answers) -> _Difference:
    left, right = _same(name, pair, "left", *answers[:2]), _same(name, pair, "right", *answers[2:])
    if are_rows(left, right) and isinstance(claim, Sensitivity):
        if claim.norm != "l1":
            raise MechanismError(f'"{name}" answers with rows, which are counted; leave out `norm: {claim.norm}`')
        changed = rows_changed(left, right)
        return _Difference(pair, left, right, changed, changed - claim.value)
    a, b = np.asarray(left, np.float64), np.asarray(right, np.float64)
    answered = f'"{name}" answers {left!r} on {plain(pair.left)} and {right!r} on {plain(pair.right)}'
    if a.shape != b.shape:
        raise MechanismError(f"{answered}; both must have the same shape")
    if isinstance(claim, Sensitivity):
        with np.errstate(invalid="ignore"):  # ∞ − ∞ is an error below
            size = _length(np.abs(a - b).ravel(), claim.norm)
    else:
        if a.shape:
            raise MechanismError(f"{answered}; a claim of {claim} is about a single number")
        size = _fall(pair, float(a), float(b))
    if math.isnan(size):
        raise MechanismError(f"{answered}; their difference is not a number")
    # Answers are doubles. So a counterexample must exceed the claim by more than the rounding, which grows with the
    # claim and with the answers (a sum of 10⁴ records errs by at most 10⁴ units in its last place, relatively 2·10⁻¹²).
    rounding = 1e-9 * (1 + claim.value) + 1e-11 * float(np.abs(a).sum() + np.abs(b).sum())
    # Infinite answers have no rounding.
    excess = size - claim.value - (rounding if math.isfinite(rounding) else 0.0)
    return _Difference(pair, left, right, size, excess)


def _length(moved: npt.NDArray[np.float64], norm: Norm) -> float:
    """Return the norm of a vector of absolute differences."""
    match norm:
        case "l1":
            return float(moved.sum())
        case "l2":
            return math.hypot(*moved.tolist())
        case "linf":
            return float(moved.max(initial=0.0))
    assert_never(norm)


def rows_changed(left: Sequence[Any], right: Sequence[Any]) -> float:
    """Return the number of rows to add and to remove to get from one frame to the other, in any order.

    >>> rows_changed([{"x": 1}, {"x": 1}], [{"x": 1}, {"x": 2}])
    2.0
    """
    one, other = (Counter(map(repr, rows)) for rows in (left, right))
    return float(((one - other) + (other - one)).total())


def _fall(pair: Pair, left: float, right: float) -> float:
    """Return how far the answer falls from the smaller data set to the larger; −∞ if neither is in the other."""
    if pair.grows:
        return left - right
    records = plain(pair.left), plain(pair.right)
    if not all(isinstance(side, list) for side in records):
        return -math.inf
    if _is_part(*records):
        return left - right
    return right - left if _is_part(records[1], records[0]) else -math.inf


def _is_part(some: list[Any], whole: list[Any]) -> bool:
    """Whether ``some`` is ``whole`` with records left out."""
    rest = iter(whole)
    return all(any(same(record, other) for other in rest) for record in some)


def _same(name: str, pair: Pair, side: Side, first: Any, second: Any) -> Any:
    """Return the answer that was given twice. Raises MechanismError for two answers, or one that is no number."""
    where = f"on {plain(pair.dataset(side))}"
    if are_rows(first, second):
        if repr(first) != repr(second):
            raise MechanismError(f'"{name}" answers {data_words(first)} and then {data_words(second)} {where}')
        return first
    numbers = []
    for answer in (first, second):
        if isinstance(answer, BaseException):
            raise MechanismError(f'"{name}" raises {type(answer).__name__}: {answer} {where}')
        try:
            numbers.append(np.asarray(answer, np.float64))
        except (TypeError, ValueError):
            raise MechanismError(
                f'"{name}" answers {answer!r} {where}; a query answers with a number, or a vector of numbers'
            ) from None
    if not np.array_equal(numbers[0], numbers[1], equal_nan=True):
        raise MechanismError(f'"{name}" answers {first!r} and then {second!r} {where}')
    return first
