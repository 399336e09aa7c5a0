"""All kinds of pairs that a domain produces, for tests that each is one of neighbours."""

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from auditor.errors import InvalidInputError
from auditor.interfaces import Domain
from auditor.neighbours.pair import Pair
from auditor.neighbours.search import path
from auditor.neighbours.shrinking import complexity, simpler


def pairs_of(domain: Any, seed: int = 0, walk: int = 12) -> list[Pair]:
    """Return every corner, random pairs, walks of single mutations from each, and paths of equal moves."""
    rng = np.random.default_rng(seed)
    corners = domain.corners()
    pairs = [*corners, *(domain.random(rng) for _ in range(walk))]
    for start in (corners[0], corners[-1], domain.random(rng)):
        pair = start
        for _ in range(walk):
            pair = domain.mutate(pair, rng)
            pairs.append(pair)
    pairs += [step for pair in pairs[:: max(1, len(pairs) // walk)] for step in path(domain, pair, 5)]
    return pairs


def with_simpler(domain: Any, seed: int = 0, walk: int = 12) -> list[Pair]:
    """Return the pairs of a domain, with the simpler ones that shrinking proposes for some of them."""
    pairs = pairs_of(domain, seed, walk)
    for pair in pairs[:: max(1, len(pairs) // 4)]:
        proposed = list(itertools.islice(simpler(pair, domain), 25))
        assert all(complexity(simple) < complexity(pair) and simple.form == pair.form for simple in proposed)
        pairs += proposed
    return pairs


def made(make: Callable[[], Domain]) -> Any:
    """Return the domain, or None if its parameters allow no pair."""
    try:
        return make()
    except InvalidInputError as error:
        assert "no pairs" in str(error) or "does not fit" in str(error)
        return None


def edits(left: Sequence[Any], right: Sequence[Any]) -> int:
    """Return the minimal number of records to remove and add: the lengths minus twice the longest common subsequence."""
    row = [0] * (len(right) + 1)
    for a in left:
        above, row = row, [0]
        for j, b in enumerate(right):
            row.append(above[j] + 1 if a == b else max(row[j], above[j + 1]))
    return len(left) + len(right) - 2 * row[-1]
