"""From a pair that breaks the claim to simpler pairs, the boldest changes first."""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from auditor.interfaces import Domain
from auditor.neighbours.numbers import spelling
from auditor.neighbours.pair import Pair, plain
from auditor.neighbours.scripts import is_dialogue
from auditor.neighbours.search import Evaluate

# Simplicity is a fixed order: fewer records and questions, then fewer characters in all written numbers, then fewer
# digits other than 0, then numbers nearer to 0. Each proposed pair is strictly simpler than the pair it was made from.
# So shrinking ends, since there is a finite number of pairs with a given number of characters.

# The number of candidates evaluated together, and of the simplest corners. It does not depend on the number of workers.
CANDIDATES_AT_ONCE = 4


@dataclass(frozen=True, slots=True)
class Screening:
    """The budget of shrinking: outputs in all, for each candidate, and for a last look at the simplest corners."""

    outputs: int
    each: int
    last_look: int = 0


def shrink_pair(violating: Pair, domain: Domain, evaluate: Evaluate, floor: float, screening: Screening) -> list[Pair]:
    """Return pairs with scores above ``floor``, each simpler than the pair before; an empty list if there are none.

    The descent is greedy. It may have missed rare events on simple pairs, so in the end it looks once more at the
    simplest corners, with more outputs for each.
    """
    left, each, at_last = screening.outputs, screening.each, screening.last_look // CANDIDATES_AT_ONCE
    first = sorted(domain.corners(), key=complexity)[:CANDIDATES_AT_ONCE]
    path: list[Pair] = []
    tried: set[str] = set()
    proposals = simpler(violating, domain, first)
    while True:
        fresh = (pair for pair in proposals if pair.key() not in tried)
        group = list(itertools.islice(fresh, min(CANDIDATES_AT_ONCE, left // each)))
        if not group and at_last > each:
            smallest = path[-1] if path else violating
            group = [pair for pair in first if complexity(pair) < complexity(smallest)]
            each, left, at_last = at_last, at_last * len(group), 0
        if not group:
            return path
        tried.update(pair.key() for pair in group)
        scores = evaluate(group, each)
        left -= each * len(group)
        breaking = [pair for pair, score in zip(group, scores, strict=True) if score > floor]
        if breaking:
            path.append(min(breaking, key=complexity))
            proposals = simpler(path[-1], domain)


def complexity(pair: Pair) -> tuple[int, int, int, float]:
    """Return the key by which pairs are sorted from simple to complex.

    >>> complexity(Pair([0], [0, 1])) < complexity(Pair([0, 0], [0, 0, 1])) < complexity(Pair([0, 0], [0, 0, 7]))
    True
    """
    sides = plain(pair.left), plain(pair.right)
    times: dict[tuple[type, Any], int] = {}  # how often each leaf occurs; by type, since 1, 1.0 and True are equal
    for leaf in itertools.chain.from_iterable(map(_leaves, sides)):
        times[type(leaf), leaf] = times.get((type(leaf), leaf), 0) + 1
    spellings = [(spelling(leaf), n) for (_, leaf), n in times.items()]
    return (
        sum(map(_items, sides)),
        sum(n * characters for (characters, _, _), n in spellings),
        sum(n * digits for (_, digits, _), n in spellings),
        sum(n * distance for (_, _, distance), n in spellings),
    )


def simpler(pair: Pair, domain: Domain, first: Sequence[Pair] = ()) -> Iterator[Pair]:
    """Yield strictly simpler pairs, each once: first from ``first``, then changes of the pair."""
    own, tried = complexity(pair), {pair.key()}
    for candidates in (first, domain.simpler(pair)):
        for candidate in candidates:
            if complexity(candidate) < own and candidate.key() not in tried:
                tried.add(candidate.key())
                yield candidate


def _items(data: Any) -> int:
    """Return the number of records, plus the number of questions of a script."""
    if is_dialogue(data):
        return _items(data["data"]) + len(data["ask"])
    return len(data) if isinstance(data, list) else 0


def _leaves(data: Any) -> Iterator[Any]:
    if isinstance(data, list | dict):
        for item in data.values() if isinstance(data, dict) else data:
            yield from _leaves(item)
    else:
        yield data
