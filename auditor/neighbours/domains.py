"""Domains: the data sets that a user allows, and the neighbouring pairs among them.

A domain does not know on which pairs a mechanism breaks. It lists corners (ends of ranges, empty data, smallest steps,
numbers on a 1-2-5 ladder), draws random pairs on linear and logarithmic scales, and changes pairs by one step.
"""

import builtins
import functools
import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, Concatenate, ParamSpec, TypeVar, get_args

import numpy as np

from auditor.errors import CodeError, InvalidInputError
from auditor.foreign_code import describe_error, result_or_error
from auditor.interfaces import Domain
from auditor.neighbours.limits import any_of, ends
from auditor.neighbours.numbers import Number, Range
from auditor.neighbours.pair import Pair, Relation, Side, check_neighbours, distinct, plain, relation_named

# The largest number of corners. It is enough for every combination of a 13-step ladder for two kinds of people.
MOST_CORNERS = 400
# The largest number of simplest pairs: enough for a hundred values, each alone and next to an equal one.
MOST_SIMPLE = 256
# The largest number of numbers in one data set. The corners alone are several hundred data sets.
MOST_CELLS_OF_DATA = 1_000_000


def require_memory(name: str, given: str, numbers: int) -> None:
    """Raise InvalidInputError if data sets have too many ``numbers``; ``given`` is the size of the setting ``name``."""
    if numbers > MOST_CELLS_OF_DATA:
        raise InvalidInputError(
            f"{name} {given}: a data set then has up to {numbers:,} numbers. At most {MOST_CELLS_OF_DATA:,} are allowed: a search "
            "holds hundreds of data sets. Write larger ones as pairs, or let a generator yield them"
        )


D = TypeVar("D", bound=Domain)
P = ParamSpec("P")


def retried(attempt: Callable[Concatenate[D, P], Pair | None]) -> Callable[Concatenate[D, P], Pair]:
    """Repeat a method until it returns a pair. After 1000 tries it raises InvalidInputError: few pairs exist."""

    @functools.wraps(attempt)
    def tries(domain: D, /, *arguments: P.args, **keywords: P.kwargs) -> Pair:
        for _ in range(1000):
            pair = attempt(domain, *arguments, **keywords)
            if pair is not None:
                return pair
        raise InvalidInputError(f"a domain holds (almost) no neighbouring pairs; widen its range: {domain}")

    return tries


class Value(Domain):
    """One value of a list or a range. Any two values are neighbours (the local model).

    Args:
        values: the possible values, at least two, each once.
        range: instead of values, the ends [low, high] of an interval. If both ends are integers, so are the values.

    Raises InvalidInputError if neither or both are given, or fewer than two values are possible.
    """

    def __init__(self, values: Sequence[Any] | None = None, range: Sequence[Number] | None = None) -> None:
        if (values is None) == (range is None):
            raise InvalidInputError("a value domain needs either values or range: [low, high], and not both")
        self.values: list[Any] = list(values) if values is not None else []
        self._range: Range | None = None
        self.is_complete = values is not None
        if range is not None:
            given = Range.of("range", range)
            self._range = replace(given, integer=given.has_integer_ends)
            low, high = int(given.low), int(given.high)
            few = self._range.integer and math.comb(high - low + 1, 2) <= MOST_CORNERS
            self.values = list(builtins.range(low, high + 1)) if few else self._range.ladder()
            self.is_complete = few
        if len({repr(plain(v)) for v in self.values}) != len(self.values):
            raise InvalidInputError(f"values are {self.values!r}; each may appear once only")
        if len(self.values) < 2:
            raise InvalidInputError(f"a value domain of {self.values!r} has no pairs; it needs two values or more")

    def __str__(self) -> str:
        if self._range is None:
            return f"one value of {len(self.values)}; any two are neighbours"
        numbers = "integer" if self._range.integer else "number"
        return f"one {numbers} from {self._range.low:g} to {self._range.high:g}; any two are neighbours"

    def limits(self) -> dict[str, Any]:
        return {"values": any_of(self.values)} if self._range is None else {"value": ends(self._range)}

    def corners(self) -> list[Pair]:
        # Of a range with many numbers, the ends and numbers off the grid come first.
        first = (
            []
            if self.is_complete or self._range is None
            else [*self.values[:: len(self.values) - 1], *self._range.off_grid()]
        )
        pairs = itertools.islice(itertools.combinations(self.values, 2), MOST_CORNERS)
        tried = itertools.starmap(self._pair_unless_equal, itertools.chain(itertools.combinations(first, 2), pairs))
        return distinct(tried)

    @retried
    def random(self, rng: np.random.Generator) -> Pair | None:
        return self._pair_unless_equal(self._draw(rng), self._draw(rng))

    @retried
    def mutate(self, pair: Pair, rng: np.random.Generator) -> Pair | None:
        return self._pair_unless_equal(pair.left, self._draw(rng))

    # There is no ``between``: any two values are neighbours, so two values with different kinds of output are a pair.

    def simpler(self, pair: Pair) -> Iterator[Pair]:
        simpler = self._range.simpler if self._range is not None else lambda value: self.values
        tried = itertools.product([*simpler(pair.left), pair.left], [*simpler(pair.right), pair.right])
        yield from filter(None, itertools.starmap(self._pair_unless_equal, tried))

    def own(self, left: Any, right: Any) -> Pair | None:
        by_text = {repr(plain(value)): value for value in self.values}
        sides = [by_text.get(repr(side), side) for side in (left, right)]
        is_own = all(
            repr(plain(side)) in by_text or (self._range is not None and self._range.has(side)) for side in sides
        )
        return self._pair_unless_equal(*sides) if is_own else None

    def _draw(self, rng: np.random.Generator) -> Any:
        return self.values[rng.integers(len(self.values))] if self._range is None else self._range.draw(rng)

    def _pair_unless_equal(self, a: Any, b: Any) -> Pair | None:
        return None if repr(plain(a)) == repr(plain(b)) else Pair(a, b, Relation.SUBSTITUTE)


class Pairs(Domain):
    """A list of pairs. The search tries these pairs only.

    Raises InvalidInputError for an empty list, or a pair that is not neighbouring under the relation.
    """

    def __init__(self, pairs: Sequence[tuple[Any, Any]], relation: str = Relation.AS_GIVEN) -> None:
        if not pairs:
            raise InvalidInputError("the list of pairs is empty; at least one pair is needed")
        self.relation = relation_named(relation, Relation.AS_GIVEN)
        for pair in pairs:
            if not (isinstance(pair, Sequence) and not isinstance(pair, str) and len(pair) == 2):
                raise InvalidInputError(f"{pair!r} is not a pair; the list must be of pairs: [(left, right), ...]")
            left, right = pair
            check_neighbours(left, right, self.relation)
        self._pairs = [Pair(left, right, self.relation) for left, right in pairs]

    @classmethod
    def only(cls, left: Any, right: Any, domain: Domain) -> "Pairs":
        """Return a domain of one pair, with the relation and the form of data sets of ``domain``."""
        single = cls([(left, right)])
        single._pairs = [replace(domain.corners()[0], left=left, right=right, origin=None)]
        single.relation = single._pairs[0].relation
        return single

    def __str__(self) -> str:
        return "the pair given" if len(self._pairs) == 1 else f"the {len(self._pairs):,} pairs given"

    def limits(self) -> dict[str, Any]:
        return {"pairs": any_of(sorted(pair.texts()) for pair in self._pairs), "relation": str(self.relation)}

    def corners(self) -> list[Pair]:
        return list(self._pairs)

    def random(self, rng: np.random.Generator) -> Pair:
        return self._pairs[rng.integers(len(self._pairs))]

    def mutate(self, pair: Pair, rng: np.random.Generator) -> Pair:
        return self.random(rng)

    def simpler(self, pair: Pair) -> Iterator[Pair]:
        yield from self._pairs

    def own(self, left: Any, right: Any) -> Pair | None:
        texts = repr(plain(left)), repr(plain(right))
        return next((pair for pair in self._pairs if pair.texts() == texts), None)


class DataSets(Domain):
    """The data sets of another domain's pairs, for claims about single data sets. Each is held as a pair that has a
    left side only.
    """

    def __init__(self, domain: Domain) -> None:
        self._domain = domain

    def __str__(self) -> str:
        return str(self._domain)

    def limits(self) -> dict[str, Any]:
        return self._domain.limits()

    def corners(self) -> list[Pair]:
        return distinct(itertools.chain.from_iterable(map(_alone, self._domain.corners())))

    def random(self, rng: np.random.Generator) -> Pair:
        return _alone(self._domain.random(rng))[rng.integers(2)]

    def mutate(self, pair: Pair, rng: np.random.Generator) -> Pair:
        return _alone(self._domain.mutate(pair.origin, rng))[rng.integers(2)]

    def simpler(self, pair: Pair) -> Iterator[Pair]:
        yield from _alone(pair.origin)
        yield from itertools.chain.from_iterable(map(_alone, self._domain.simpler(pair.origin)))


def _alone(pair: Pair) -> tuple[Pair, Pair]:
    """Return both data sets of a pair, each as a pair without a right side."""
    left, right = (Pair(data, None, Relation.ALONE, pair.form, origin=pair) for data in (pair.left, pair.right))
    return left, right


class Valid(Domain):
    """The pairs of a domain for which a function accepts both data sets.

    Args:
        domain: the domain.
        is_valid: called with a data set as the mechanism receives it; returns whether the claim covers the data set. A
            violation on other data sets, such as an exception on an empty one, may hide violations of the claim.

    Raises InvalidInputError if (almost) no pair is valid, and if the function raises.

    >>> from auditor import Value
    >>> [(pair.left, pair.right) for pair in Valid(Value(range=[0, 3]), lambda value: value > 0).corners()]
    [(1, 2), (1, 3), (2, 3)]
    """

    def __init__(self, domain: Domain, is_valid: Callable[[Any], Any]) -> None:
        if not hasattr(domain, "corners"):
            raise InvalidInputError(f"valid says which pairs of a domain count; {domain!r} is not a domain")
        self.domain, self.is_valid = domain, is_valid
        self.relation = getattr(domain, "relation", "")
        self._corners = [*filter(self._accepts, domain.corners())] or [self.random(np.random.default_rng(0))]

    def __str__(self) -> str:
        return f"{self.domain}, if {getattr(self.is_valid, '__name__', 'a function')} accepts them"

    def limits(self) -> dict[str, Any]:
        return {**self.domain.limits(), "valid": getattr(self.is_valid, "__name__", "a function")}

    def corners(self) -> list[Pair]:
        return list(self._corners)

    def simplest(self) -> list[Pair]:
        return [*filter(self._accepts, self.domain.simplest())] or self.corners()[:1]

    def each_value(self) -> Iterator[Pair]:
        return filter(self._accepts, self.domain.each_value())

    def crowds(self) -> Iterator[Pair]:
        return filter(self._accepts, self.domain.crowds())

    def closely(self, best: Sequence[Pair], most: int) -> list[Pair]:
        # The domain may choose simple pairs that are not valid; the next simple pairs then take their places.
        chosen = self.domain.closely(best, most)
        return distinct([*filter(self._accepts, chosen), *self.simplest()])[: len(chosen)]

    def rearranged(self, rng: np.random.Generator) -> Sequence[Pair]:
        path = self.domain.rearranged(rng)
        return path if all(map(self._accepts, path)) else ()

    def step(self, pair: Pair, way: int) -> Pair | None:
        return self._if_valid(self.domain.step(pair, way))

    @retried
    def random(self, rng: np.random.Generator) -> Pair | None:
        return self._if_valid(self.domain.random(rng))

    def mutate(self, pair: Pair, rng: np.random.Generator) -> Pair:
        changed = (self._if_valid(self.domain.mutate(pair, rng)) for _ in range(100))
        return next((changed_pair for changed_pair in changed if changed_pair is not None), pair)

    def between(self, one: Pair, other: Pair) -> Pair | None:
        return self._if_valid(self.domain.between(one, other))

    def simpler(self, pair: Pair) -> Iterator[Pair]:
        return filter(self._accepts, self.domain.simpler(pair))

    def own(self, left: Any, right: Any) -> Pair | None:
        return self._if_valid(self.domain.own(left, right))

    def _if_valid(self, pair: Pair | None) -> Pair | None:
        return pair if pair is not None and self._accepts(pair) else None

    def _accepts(self, pair: Pair) -> bool:
        for side in get_args(Side):
            dataset = pair.dataset(side)
            is_valid = result_or_error(lambda dataset=dataset: bool(self.is_valid(dataset)))
            if isinstance(is_valid, BaseException):
                raise CodeError(
                    f"the function that says which data sets are valid raised {describe_error(is_valid)}; it must return true "
                    f"or false for each data set of the domain, such as {pair.code(side)}"
                ) from is_valid
            if not is_valid:
                return False
        return True
