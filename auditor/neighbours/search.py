"""Search pairs by successive halving, with mutation of the best: most outputs go to pairs with the most evidence."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from auditor.neighbours.domains import Domain
from auditor.neighbours.edges import MOST_EDGES, MOST_STEPS, OUTPUTS_FOR_KIND, Kinds, find_edges
from auditor.neighbours.pair import Pair, distinct

# evaluate(pairs, outputs for each of them) -> a score for each; larger is more evidence of a broken claim.
Evaluate = Callable[[Sequence[Pair], int], Sequence[float]]

# With more rounds, the last choice rests on more outputs. But the first round must have enough outputs for all corners.
LEAST_ROUNDS, MOST_ROUNDS = 4, 7
SURVIVORS = 1 / 4  # of each round
LEAST_OUTPUTS = 64  # for a pair in a round; below, a score is mostly noise


@dataclass(frozen=True, slots=True)
class Budget:
    """What a search may spend: outputs in all, the fewest on a pair in a round, and the most pairs in the first round."""

    outputs: int
    least_each: int = LEAST_OUTPUTS
    most_pairs: int | None = None


class Found(NamedTuple):
    """The pair with the most evidence, and its score in the last round; −∞ where nothing was spent."""

    pair: Pair
    score: float


def search_pairs(
    domain: Domain,
    evaluate: Evaluate,
    budget: Budget,
    rng: np.random.Generator,
    *,
    first: Sequence[Pair] = (),
    kinds: Kinds | None = None,
) -> Found:
    """Return the pair with the most evidence.

    The outputs are split evenly over rounds, and every round draws fresh ones. The first round looks at the pairs of ``first``, all
    different, at the domain's corners, and at random members; of the last two, no more than make ``budget.most_pairs``. Each later
    round looks at the best quarter so far, and at pairs one step away from those.

    ``kinds`` says what kinds of output a pair gives, and spends at most OUTPUTS_FOR_KIND on each pair. With it, the second round
    also looks at the edges between kinds. Where the domain has only one pair, nothing is spent.
    """
    corners = domain.corners()
    if len(corners) == 1 and domain.random(rng).key() == corners[0].key():
        return Found(corners[0], -math.inf)
    if budget.outputs // LEAST_ROUNDS < budget.least_each:
        return Found((*first, *corners)[0], -math.inf)
    candidates = distinct([*first, *corners, *(domain.random(rng) for _ in range(len(corners) // 2))])
    if budget.most_pairs is not None and len(candidates) > budget.most_pairs:
        others = rng.permutation(np.arange(len(first), len(candidates)))[: max(0, budget.most_pairs - len(first))]
        candidates = [*candidates[: len(first)], *(candidates[i] for i in sorted(others))]
    looked_at = candidates
    rounds = min(MOST_ROUNDS, max(LEAST_ROUNDS, budget.outputs // (len(candidates) * budget.least_each)))
    per_round = budget.outputs // rounds
    room = per_round // budget.least_each
    if len(candidates) > room:
        looked_at = candidates = candidates[:room]
    left = per_round
    for number in range(rounds):
        scores = evaluate(candidates, left // len(candidates))
        order = _best_first(scores)
        best = [candidates[i] for i in order[: max(1, math.ceil(len(candidates) * SURVIVORS))]]
        if number == rounds - 1:
            break
        nearby = [domain.mutate(pair, rng) for pair in best]
        left = per_round
        for_edges = OUTPUTS_FOR_KIND * MOST_EDGES * MOST_STEPS
        if number == 0 and kinds is not None and per_round > 1.25 * for_edges:
            nearby = find_edges(domain, kinds, looked_at, kinds(looked_at)) + nearby
            left -= for_edges
        candidates = distinct([*best, *nearby])[:room]
    return Found(best[0], scores[order[0]])


def path(domain: Domain, pair: Pair, most: int) -> list[Pair]:
    """Return at most ``most`` pairs by the same move, each of which begins where the one before ends; this one is among them."""
    steps = [pair]
    for way in (1, -1):
        while len(steps) < most and (further := domain.step(steps[-1 if way == 1 else 0], way)) is not None:
            steps.insert(len(steps) if way == 1 else 0, further)
    return steps


def _best_first(scores: Sequence[float]) -> list[int]:
    """Return the places of scores, the highest first, NaN last; of equal ones the first stays first."""
    return sorted(range(len(scores)), key=lambda i: -scores[i] if scores[i] > -math.inf else math.inf)
