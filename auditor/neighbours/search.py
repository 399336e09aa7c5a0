"""Search pairs by successive halving, with mutation of the best: most outputs go to pairs with the most evidence.

Of a pair that breaks a claim, simpler pairs are tried then.
"""

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from auditor.bounds.digits import significant
from auditor.interfaces import Domain
from auditor.neighbours.numbers import spelling
from auditor.neighbours.pair import Pair, distinct, plain
from auditor.neighbours.scripts import is_dialogue

# evaluate(pairs, outputs for each of them) -> a score for each; larger is more evidence of a broken claim.
Evaluate = Callable[[Sequence[Pair], int], Sequence[float]]

# With more rounds, the last choice rests on more outputs. But the first round must have enough outputs for all corners.
LEAST_ROUNDS, MOST_ROUNDS = 4, 7
SURVIVORS = 1 / 4  # of each round
# The outputs of a first look at one of many pairs: a gross violation shows in so few, and so do the commonest kind of outputs and
# an order of records that matters. With 32, a sum of 32-bit floats that overflows was found with 6 of 20 seeds; with 16, with all.
FIRST_LOOK = 16
# Below this many outputs, a score that ranks pairs is mostly noise. A pair in a round has twice as many.
LEAST_LOOK = 2 * FIRST_LOOK
LEAST_OUTPUTS = 2 * LEAST_LOOK
# kinds(pairs) -> for each pair, which kinds of output its sides give.
Kinds = Callable[[Sequence[Pair]], Sequence[str]]

# Scores that differ by less differ by the processor. Else a tie would be decided by it, and all that follows.
DIGITS = 6

MOST_EDGES = 4
# Enough to bisect a range of a million.
MOST_HALVINGS = 20


@dataclass(frozen=True, slots=True)
class Budget:
    """The budget of a search: outputs in all, the fewest outputs on a pair in a round, and the most pairs in the first round."""

    outputs: int
    least_each: int = LEAST_OUTPUTS
    most_pairs: int | None = None


class Found(NamedTuple):
    """The pair with the most evidence, and its score in the last round; −∞ if no outputs were spent."""

    pair: Pair
    score: float


def search_pairs(
    domain: Domain, evaluate: Evaluate, budget: Budget, rng: np.random.Generator, first: Sequence[Pair] = ()
) -> Found:
    """Return the pair with the most evidence.

    The outputs are split evenly over rounds. If they are few, there is one round. Every round draws fresh ones. The first round
    looks at the pairs of ``first``, all different, and at the pairs of :func:`candidates`, up to ``budget.most_pairs`` in all.
    Each later round looks at the best quarter so far, and at pairs one step away from these. If the domain has only one pair,
    nothing is spent.
    """
    if has_one_pair(domain, rng):
        return Found(domain.corners()[0], -math.inf)
    most = None if budget.most_pairs is None else max(0, budget.most_pairs - len(first))
    looked_at = distinct([*first, *candidates(domain, rng, most)]) if most != 0 else list(first)
    looks = budget.outputs // budget.least_each
    if looks < LEAST_ROUNDS:
        return Found(looked_at[0], -math.inf)
    # With outputs for fewer looks, one round at more pairs is worth more than several at a few.
    rounds = min(MOST_ROUNDS, max(LEAST_ROUNDS, looks // len(looked_at))) if looks >= 8 * LEAST_ROUNDS else 1
    per_round = budget.outputs // rounds
    room = per_round // budget.least_each
    looked_at = looked_at[:room]
    for number in range(rounds):
        scores = evaluate(looked_at, per_round // len(looked_at))
        best = [looked_at[i] for i in best_first(scores)[: max(1, math.ceil(len(looked_at) * SURVIVORS))]]
        if number < rounds - 1:
            looked_at = distinct([*best, *(domain.mutate(pair, rng) for pair in best)])[:room]
    return Found(best[0], max(scores))


def has_one_pair(domain: Domain, rng: np.random.Generator) -> bool:
    """Return whether the domain has one pair only."""
    corners = domain.corners()
    return len(corners) == 1 and domain.random(rng).key() == corners[0].key()


def candidates(domain: Domain, rng: np.random.Generator, most: int | None = None) -> list[Pair]:
    """Return the domain's corners, and half as many random pairs; of all these ``most`` at most, drawn at random."""
    corners = domain.corners()
    found = distinct([*corners, *(domain.random(rng) for _ in range(len(corners) // 2))])
    if most is None or len(found) <= most:
        return found
    return [found[i] for i in sorted(rng.permutation(len(found))[:most])]


def spread(pairs: Sequence[Pair], most: int) -> list[Pair]:
    """Return ``most`` of the pairs at most, evenly spread over them, the first and the last among them."""
    if len(pairs) <= most:
        return list(pairs)
    return [pairs[round(i * (len(pairs) - 1) / max(1, most - 1))] for i in range(most)]


def path(domain: Domain, pair: Pair, most: int) -> list[Pair]:
    """Return at most ``most`` pairs by the same move, this pair among them. Each begins where the pair before ends."""
    steps = [pair]
    for way in (1, -1):
        while len(steps) < most and (further := domain.step(steps[-1 if way == 1 else 0], way)) is not None:
            steps.insert(len(steps) if way == 1 else 0, further)
    return steps


def best_first(scores: Sequence[float]) -> list[int]:
    """Return the indices of scores, the highest first and NaN last. Scores that are equal to DIGITS digits keep their order."""
    rounded = [significant(score, DIGITS) for score in scores]
    return sorted(range(len(scores)), key=lambda i: -rounded[i] if rounded[i] > -math.inf else math.inf)


def find_edges(domain: Domain, kinds: Kinds, pairs: Sequence[Pair], known: Sequence[str]) -> list[Pair]:
    """Return pairs on either side of edges between pairs of ``known`` kinds; none if there is one kind only.

    At an edge the kind of output changes: a mechanism that refuses below some size leaks most at just that size. Random pairs
    rarely hit an edge, and bisection finds it in few steps.
    """
    ways = _ways(known)
    ends = [(pairs[i], pairs[j], known[i]) for i, j in ways]
    for _ in range(MOST_HALVINGS):
        halves = [(n, half) for n, (a, b, _) in enumerate(ends) if (half := domain.between(a, b)) is not None]
        if not halves:
            break
        for (n, half), kind in zip(halves, kinds([half for _, half in halves]), strict=True):
            a, b, kind_of_a = ends[n]
            ends[n] = (half, b, kind_of_a) if kind == kind_of_a else (a, half, kind_of_a)
    return [pair for a, b, _ in ends for pair in (a, b)]


def _ways(known: Sequence[str]) -> list[tuple[int, int]]:
    """Return, for each kind but the commonest, its first place and the nearest place of the commonest."""
    commonest = max(dict.fromkeys(known), key=list(known).count, default="")
    firsts = {kind: i for i, kind in reversed([*enumerate(known)]) if kind != commonest}
    others = [i for i, kind in enumerate(known) if kind == commonest]
    return [(i, min(others, key=lambda j: abs(i - j))) for i in sorted(firsts.values())][:MOST_EDGES]


# --- Shrinking: simpler pairs of one that breaks a claim, the boldest changes first ---

# Simpler is a fixed order: fewer records and questions, then fewer characters in all numbers as they are written, then fewer digits
# other than 0, then numbers nearer to 0. Every pair proposed is strictly simpler than the one it was made of. So shrinking ends:
# among pairs of a finite number of characters there is no endless descent.

# The number of candidates looked at together, and of the domain's simplest corners. It does not depend on the workers.
GROUP = 8


@dataclass(frozen=True, slots=True)
class Screening:
    """The budget of shrinking: outputs in all, on each candidate, and in a last look at the simplest corners."""

    outputs: int
    each: int
    last_look: int = 0


def shrink_pair(found: Pair, domain: Domain, evaluate: Evaluate, floor: float, screening: Screening) -> list[Pair]:
    """Return pairs whose scores lie above ``floor``, each simpler than the one before; empty if there are none.

    A greedy descent. Rare events on simple pairs may have been missed, so the simplest corners are looked at once more in the
    end, with more outputs on each.
    """
    left, each, at_last = screening.outputs, screening.each, screening.last_look // GROUP
    first = sorted(domain.corners(), key=complexity)[:GROUP]
    path: list[Pair] = []
    tried: set[str] = set()
    proposals = simpler(found, domain, first)
    while True:
        fresh = (pair for pair in proposals if pair.key() not in tried)
        group = list(itertools.islice(fresh, min(GROUP, left // each)))
        if not group and at_last > each:
            smallest = path[-1] if path else found
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
    """Return the place of a pair in the order of simplicity.

    >>> complexity(Pair([0], [0, 1])) < complexity(Pair([0, 0], [0, 0, 1])) < complexity(Pair([0, 0], [0, 0, 7]))
    True
    """
    sides = plain(pair.left), plain(pair.right)
    times: dict[tuple[type, Any], int] = {}  # how often each leaf occurs; 1 and 1.0 and True are spelled differently
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
    """Yield strictly simpler pairs, each once: those of ``first``, then changes of the pair."""
    own, seen = complexity(pair), {pair.key()}
    for candidates in (first, domain.simpler(pair)):
        for candidate in candidates:
            if complexity(candidate) < own and candidate.key() not in seen:
                seen.add(candidate.key())
                yield candidate


def _items(data: Any) -> int:
    """Return the number of records, and of the questions of a script."""
    if is_dialogue(data):
        return _items(data["data"]) + len(data["ask"])
    return len(data) if isinstance(data, list) else 0


def _leaves(data: Any) -> Iterator[Any]:
    if isinstance(data, list | dict):
        for item in data.values() if isinstance(data, dict) else data:
            yield from _leaves(item)
    else:
        yield data
