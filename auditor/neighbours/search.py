"""Search of pairs by successive halving, with mutation of the best: most outputs go to the pairs with most evidence."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from auditor.bounds.digits import round_significant
from auditor.interfaces import Domain
from auditor.neighbours.pair import Pair, distinct

# evaluate(pairs, outputs for each pair) -> a score for each pair; a larger score is more evidence of a broken claim.
Evaluate = Callable[[Sequence[Pair], int], Sequence[float]]

# The limits of the number of rounds. More rounds give the last pairs more outputs, but each corner fewer outputs.
LEAST_ROUNDS, MOST_ROUNDS = 4, 7
SURVIVORS = 1 / 4  # the share of pairs that survive a round
# The outputs of a first look at one of many pairs. Even so few show a gross violation, the commonest kind of output,
# and whether the order of records matters. With 16, an overflow of 32-bit floats was found with all of 20 seeds; with
# 32, with 6.
FIRST_LOOK = 16
# Below LEAST_LOOK outputs, a score that ranks pairs is mostly noise. A pair in a round has LEAST_OUTPUTS or more.
LEAST_LOOK = 2 * FIRST_LOOK
LEAST_OUTPUTS = 2 * LEAST_LOOK
# kinds(pairs) -> for each pair, the kinds of output on its sides.
Kinds = Callable[[Sequence[Pair]], Sequence[str]]

# Scores are compared to DIGITS digits, since further digits depend on the processor and would decide ties.
DIGITS = 6

MOST_EDGES = 4
# Enough halvings to bisect a range of a million.
MOST_HALVINGS = 20


@dataclass(frozen=True, slots=True)
class Budget:
    """The budget of a search: outputs in all, least outputs of a pair in a round, most pairs in the first round."""

    outputs: int
    least_each: int = LEAST_OUTPUTS
    most_pairs: int | None = None


class Found(NamedTuple):
    """The pair with the most evidence, and its score in the last round (−∞ if no outputs were spent)."""

    pair: Pair
    score: float


def search_pairs(
    domain: Domain, evaluate: Evaluate, budget: Budget, rng: np.random.Generator, first: Sequence[Pair] = ()
) -> Found:
    """Return the pair with the most evidence.

    The outputs are split evenly over rounds; if they are few, there is one round. Every round draws fresh outputs. The
    first round looks at the pairs of ``first``, all different, and of :func:`candidates`, up to ``budget.most_pairs``
    in all. Later rounds look at the best quarter of the round before, and at pairs one step from these. If the domain
    has one pair only, nothing is spent.
    """
    if has_one_pair(domain, rng):
        return Found(domain.corners()[0], -math.inf)
    most = None if budget.most_pairs is None else max(0, budget.most_pairs - len(first))
    looked_at = distinct([*first, *candidates(domain, rng, most)]) if most != 0 else list(first)
    looks = budget.outputs // budget.least_each
    if looks < LEAST_ROUNDS:
        return Found(looked_at[0], -math.inf)
    # With few outputs, one round that looks at more pairs is better than several rounds that look at few pairs.
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
    """Return the domain's corners and half as many random pairs; if there are too many, ``most`` drawn from these."""
    corners = domain.corners()
    found = distinct([*corners, *(domain.random(rng) for _ in range(len(corners) // 2))])
    if most is None or len(found) <= most:
        return found
    return [found[i] for i in sorted(rng.permutation(len(found))[:most])]


def spread(pairs: Sequence[Pair], most: int) -> list[Pair]:
    """Return at most ``most`` of the pairs, evenly spaced from the first to the last."""
    if len(pairs) <= most:
        return list(pairs)
    return [pairs[round(i * (len(pairs) - 1) / max(1, most - 1))] for i in range(most)]


def path(domain: Domain, pair: Pair, most: int) -> list[Pair]:
    """Return at most ``most`` pairs by the same move, ``pair`` among them. Each begins where the one before ends."""
    steps = [pair]
    for way in (1, -1):
        while len(steps) < most and (further := domain.step(steps[-1 if way == 1 else 0], way)) is not None:
            steps.insert(len(steps) if way == 1 else 0, further)
    return steps


def best_first(scores: Sequence[float]) -> list[int]:
    """Return the indices of scores, the highest first and NaN last. Scores equal to DIGITS digits keep their order."""
    rounded = [round_significant(score, DIGITS) for score in scores]
    return sorted(range(len(scores)), key=lambda i: -rounded[i] if rounded[i] > -math.inf else math.inf)


def find_edges(domain: Domain, kinds: Kinds, pairs: Sequence[Pair], known: Sequence[str]) -> list[Pair]:
    """Return the pairs on both sides of each edge between pairs of different ``known`` kinds of output.

    At an edge, the kind of output changes: a mechanism that refuses below some size leaks most at this size. Random
    pairs rarely hit an edge, but bisection finds the edge in few steps.
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
    """Return, for each kind but the commonest, its first index and the nearest index of the commonest kind."""
    commonest = max(dict.fromkeys(known), key=list(known).count, default="")
    firsts = {kind: i for i, kind in reversed([*enumerate(known)]) if kind != commonest}
    others = [i for i, kind in enumerate(known) if kind == commonest]
    return [(i, min(others, key=lambda j: abs(i - j))) for i in sorted(firsts.values())][:MOST_EDGES]
