"""Spend outputs where the evidence grows: successive halving over pairs, with mutation of the best."""

import itertools
import math
from collections.abc import Callable, Hashable, Sequence

import numpy as np

from auditor.neighbours.domains import Domain
from auditor.neighbours.edges import MOST_EDGES, MOST_STEPS, OUTPUTS_FOR_KIND, Kinds, find_edges
from auditor.neighbours.pair import Pair

# evaluate(pairs, outputs for each of them) -> a score for each; larger is more evidence of a broken claim.
Evaluate = Callable[[Sequence[Pair], int], Sequence[float]]

# The more rounds, the more outputs the last choice is made on; but no more than leave room to begin with all corners.
LEAST_ROUNDS, MOST_ROUNDS = 4, 7
SURVIVORS = 1 / 4  # of each round
GOLDEN = (math.sqrt(5) - 1) / 2
LEAST_OUTPUTS = 64  # for a pair in a round; below, a score is mostly noise


def search_pairs(
    domain: Domain,
    evaluate: Evaluate,
    outputs: int,
    rng: np.random.Generator,
    *,
    least_outputs: int = LEAST_OUTPUTS,
    enough_outputs: int = 0,
    kinds: Kinds | None = None,
) -> Pair:
    """Return the pair with the most evidence after spending at most ``outputs`` outputs.

    The budget is split evenly over rounds. The first looks at the domain's corners and at random members, each
    later one at the best quarter so far and at pairs one step away from those; all on fresh outputs, and none on
    fewer than ``least_outputs``. Each pair should get ``enough_outputs``. Where there is no room for all then, the first round
    is left to corners spread over all, and to the best by a glance at all for a quarter, which finds what is glaring.
    With ``kinds``, which tells what kinds of output a pair gives and spends at most OUTPUTS_FOR_KIND on each, the second
    round also looks at the edges between kinds.
    Where the domain has one pair only, nothing is spent.
    """
    corners = domain.corners()
    if len(corners) == 1 and domain.random(rng).key() == corners[0].key():
        return corners[0]
    if outputs // LEAST_ROUNDS < least_outputs:
        return corners[0]
    candidates = _distinct([*corners, *(domain.random(rng) for _ in range(len(corners) // 2))])
    looked_at, each, glance = candidates, max(least_outputs, enough_outputs), len(candidates) * least_outputs
    if len(candidates) * each > outputs // LEAST_ROUNDS >= glance and each > least_outputs:
        order = _best_first(evaluate(candidates, least_outputs))
        outputs -= glance
        room = max(1, outputs // LEAST_ROUNDS // each)
        first = spread(corners, room - math.ceil(room * SURVIVORS), domain.move)
        candidates = _distinct([*first, *(candidates[i] for i in order)])[:room]
    rounds = min(MOST_ROUNDS, max(LEAST_ROUNDS, outputs // (len(candidates) * each)))
    per_round = outputs // rounds
    room = max(1, per_round // each)
    if len(candidates) > room:
        looked_at = candidates = candidates[:room]
    budget = per_round
    for number in range(rounds):
        order = _best_first(evaluate(candidates, budget // len(candidates)))
        best = [candidates[i] for i in order[: max(1, math.ceil(len(candidates) * SURVIVORS))]]
        if number == rounds - 1:
            break
        nearby = [domain.mutate(pair, rng) for pair in best]
        budget = per_round
        for_edges = OUTPUTS_FOR_KIND * MOST_EDGES * MOST_STEPS
        if number == 0 and kinds is not None and per_round > 1.25 * for_edges:
            nearby = find_edges(domain, kinds, looked_at, kinds(looked_at)) + nearby
            budget -= for_edges
        candidates = _distinct([*best, *nearby])[:room]
    return best[0]


def spread(corners: Sequence[Pair], number: int, move: Callable[[Pair], Hashable]) -> list[Pair]:
    """Return so many of the corners: moves take turns, and each time come with another data set, from all of its range.

    >>> pairs = [Pair(n, step) for n in range(9) for step in ("up", "down")]
    >>> [(pair.left, pair.right) for pair in spread(pairs, 4, lambda pair: pair.right)]
    [(0, 'up'), (5, 'down'), (5, 'up'), (2, 'down')]
    """
    by_move: dict[Hashable, list[Pair]] = {}
    for pair in corners:
        by_move.setdefault(move(pair), []).append(pair)
    # Multiples of the golden ratio leave gaps of three lengths at most, and fall in step with no period.
    in_turn = [
        list(dict.fromkeys(int(len(group) * ((turn + first) * GOLDEN % 1)) for turn in range(50 * len(group))))
        for first, group in enumerate(by_move.values())
    ]
    turns = itertools.zip_longest(
        *([group[i] for i in places] for group, places in zip(by_move.values(), in_turn, strict=True))
    )
    return [pair for turn in turns for pair in turn if pair is not None][:number]


def _best_first(scores: Sequence[float]) -> list[int]:
    """Return the places of scores, the highest first, NaN last; of equal ones the first stays first."""
    return sorted(range(len(scores)), key=lambda i: -scores[i] if scores[i] > -math.inf else math.inf)


def _distinct(pairs: Sequence[Pair]) -> list[Pair]:
    """Keep the first of equal pairs, at its place."""
    found: dict[str, Pair] = {}
    for pair in pairs:
        found.setdefault(pair.key(), pair)
    return list(found.values())
