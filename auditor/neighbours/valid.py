"""Neighbours of a domain of which both data sets are valid: a function says which data sets a mechanism promises anything for."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from auditor.door import outcome, told
from auditor.errors import CodeError, InvalidInputError
from auditor.neighbours.domains import Domain, retried
from auditor.neighbours.pair import Pair, Side

# Changes of a pair that are tried before it stays as it is.
TRIES = 100
# Of the first pair, if no corner is valid.
SEED = 0


class Valid(Domain):
    """The pairs of another domain whose data sets a function accepts.

    Args:
        domain: the domain.
        is_valid: called with a data set as the mechanism receives it; returns whether the claim is about it. A violation on a data
            set for which nothing is promised, such as an exception on an empty one, may hide others.

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
        self._corners = self._all(domain.corners()) or [self.random(np.random.default_rng(SEED))]

    def __str__(self) -> str:
        return f"{self.domain}, if {getattr(self.is_valid, '__name__', 'a function')} accepts them"

    def limits(self) -> dict[str, Any]:
        return {**self.domain.limits(), "valid": getattr(self.is_valid, "__name__", "a function")}

    def corners(self) -> list[Pair]:
        return list(self._corners)

    def simplest(self) -> list[Pair]:
        return self._all(self.domain.simplest()) or self.corners()[:1]

    def rearranged(self, rng: np.random.Generator) -> Sequence[Pair]:
        path = self.domain.rearranged(rng)
        return path if all(map(self._accepts, path)) else ()

    def step(self, pair: Pair, way: int) -> Pair | None:
        return self._if_valid(self.domain.step(pair, way))

    @retried
    def random(self, rng: np.random.Generator) -> Pair | None:
        return self._if_valid(self.domain.random(rng))

    def mutate(self, pair: Pair, rng: np.random.Generator) -> Pair:
        changed = (self._if_valid(self.domain.mutate(pair, rng)) for _ in range(TRIES))
        return next((one for one in changed if one is not None), pair)

    def between(self, one: Pair, other: Pair) -> Pair | None:
        return self._if_valid(self.domain.between(one, other))

    def simpler(self, pair: Pair) -> Iterator[Pair]:
        return filter(self._accepts, self.domain.simpler(pair))

    def _all(self, pairs: Sequence[Pair]) -> list[Pair]:
        return [pair for pair in pairs if self._accepts(pair)]

    def _if_valid(self, pair: Pair | None) -> Pair | None:
        return pair if pair is not None and self._accepts(pair) else None

    def _accepts(self, pair: Pair) -> bool:
        sides: tuple[Side, ...] = ("left", "right")
        for side in sides:
            dataset = pair.dataset(side)
            is_valid = outcome(lambda dataset=dataset: bool(self.is_valid(dataset)))
            if isinstance(is_valid, BaseException):
                raise CodeError(
                    f"the function that says which data sets are valid raised {told(is_valid)}; it must return true "
                    f"or false for each data set of the domain, such as {pair.code(side)}"
                ) from is_valid
            if not is_valid:
                return False
        return True
