"""Spend outputs where the evidence grows: successive halving over pairs, with mutation of the best."""

import math
from collections.abc import Callable, Sequence

import numpy as np

from auditor.neighbours.domains import Domain
from auditor.neighbours.edges import MOST_EDGES, MOST_STEPS, OUTPUTS_FOR_KIND, Kinds, find_edges
from auditor.neighbours.pair import Pair

# evaluate(pairs, outputs for each of them) -> a score for each; larger is more evidence of a broken claim.
Evaluate = Callable[[Sequence[Pair], int], Sequence[float]]

# The more rounds, the more outputs the last choice is made on; but no more than leave room to begin with all corners.
LEAST_ROUNDS, MOST_ROUNDS = 4, 7
SURVIVORS = 1 / 4  # of each round
LEAST_OUTPUTS = 64  # for a pair in a round; below, a score is mostly noise


def search_pairs(
    domain: Domain,
    evaluate: Evaluate,
    outputs: int,
    rng: np.random.Generator,
    *,
    least_outputs: int = LEAST_OUTPUTS,
    kinds: Kinds | None = None,
) -> Pair:
    """Return the pair with the most evidence after spending at most ``outputs`` outputs.

    The budget is split evenly over rounds. The first looks at the domain's corners and at random members, each
    later one at the best quarter so far and at pairs one step away from those; all on fresh outputs, and none on
    fewer than ``least_outputs``. With ``kinds``, which tells what kinds of output a pair gives and spends
    at most OUTPUTS_FOR_KIND on each, the second round also looks at the edges between kinds.
    Where the domain has one pair only, nothing is spent.
    """
    corners = domain.corners()
    if len(corners) == 1 and domain.random(rng).key() == corners[0].key():
        return corners[0]
    if outputs // LEAST_ROUNDS < least_outputs:
        return corners[0]
    candidates = _distinct([*corners, *(domain.random(rng) for _ in range(len(corners) // 2))])
    rounds = min(MOST_ROUNDS, max(LEAST_ROUNDS, outputs // (len(candidates) * least_outputs)))
    per_round = outputs // rounds
    room = per_round // least_outputs
    candidates = candidates[:room]
    budget = per_round
    for number in range(rounds):
        scores = evaluate(candidates, budget // len(candidates))
        order = sorted(
            range(len(candidates)), key=lambda i: -scores[i] if scores[i] > -math.inf else math.inf
        )  # NaN last
        best = [candidates[i] for i in order[: max(1, math.ceil(len(candidates) * SURVIVORS))]]
        if number == rounds - 1:
            break
        nearby = [domain.mutate(pair, rng) for pair in best]
        budget = per_round
        for_edges = OUTPUTS_FOR_KIND * MOST_EDGES * MOST_STEPS
        if number == 0 and kinds is not None and per_round > 1.25 * for_edges:
            nearby = find_edges(domain, kinds, candidates, kinds(candidates)) + nearby
            budget -= for_edges
        candidates = _distinct([*best, *nearby])[:room]
    return best[0]


def _distinct(pairs: Sequence[Pair]) -> list[Pair]:
    """Keep the first of equal pairs, at its place."""
    found: dict[str, Pair] = {}
    for pair in pairs:
        found.setdefault(pair.key(), pair)
    return list(found.values())
