"""The stage of the search that compares outputs with the same noise on both sides of many pairs.

A mechanism that takes its randomness from the auditor tells by a call or two on each side how far a pair moves its outputs. So
many pairs are ranked at little cost, and the best of them are looked at as all others are. Where draws depend on the data, the
ranking says little.
"""

import itertools
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from auditor.auditing.looks import Looks, ends
from auditor.auditing.stages import Given, Known, look_at
from auditor.bounds.digits import significant
from auditor.neighbours.pair import Pair
from auditor.neighbours.search import FIRST_LOOK, best_first

# The outputs on each side of a pair: of many, and again of the best of these.
SIZE, AGAIN = 2, 16
# Shares of the stage's outputs: for many pairs, for pairs near the best, and for the best again. The rest is for looks at them.
OF_MANY, OF_NEAR, OF_AGAIN = 0.4, 0.15, 0.15
# The most pairs that are compared, and the fewest that are worth it.
MOST_COMPARED, LEAST_COMPARED = 1_500, 8
# Pairs near the best are tried so many times, so many for each.
CLIMBS, NEAR = 3, 4
# The most pairs that are looked at, and the most outputs of a look; of those that move outputs equally far, the first few, since
# these are the simplest.
MOST_PROPOSED, OUTPUTS_OF_LOOK, ALIKE = 24, 600, 4
# How many other orders of the same records are tried. An order that moves outputs less than this shows rounding only.
ORDERS, ROUNDING = 24, 1e-6


def has_same_noise(looks: Looks) -> bool:
    """Return whether all randomness is the auditor's."""
    return looks.draw.reproducible and looks.plan.drawer().takes_rng


def ranks_pairs(looks: Looks) -> bool:
    """Return whether outputs with the same noise tell pairs apart: on most of those compared, they are not the same."""
    apart = [distance for (_, size), distance in looks.draw.distances.items() if size == SIZE]
    return sum(distance > ROUNDING for distance in apart) > len(apart) / 2


def with_same_noise(looks: Looks, known: Known, given: Given) -> Known:
    """Look at the pairs on which outputs with the same noise are farthest apart, and name the farthest of all rounds."""
    domain, outputs = looks.plan.domain, given.outputs
    most = min(MOST_COMPARED, int(OF_MANY * outputs / (2 * SIZE)))
    tried = list(itertools.islice(_distinct(looks), most))
    if len(tried) < LEAST_COMPARED:
        return replace(known, farthest=_farthest_of_all(looks, known))
    distances = looks.draw.compare(tried, SIZE)
    climbers = int(OF_NEAR * most / OF_MANY / (CLIMBS * NEAR))
    for _ in range(CLIMBS):
        near = [domain.mutate(tried[i], looks.rng) for i in best_first(distances)[:climbers] for _ in range(NEAR)]
        tried += near
        distances += looks.draw.compare(near, SIZE)
    looks.enter(given.name, len(distances), 2 * SIZE, known.claim)
    again = [tried[i] for i in best_first(distances)[: max(1, int(OF_AGAIN * outputs / (2 * AGAIN)))]]
    proposed = [*_of_orders(looks, most), *_farthest(again, looks.draw.compare(again, AGAIN))]
    rest = (1 - OF_MANY - OF_NEAR - OF_AGAIN) * outputs
    proposed = proposed[: max(1, int(rest) // (2 * FIRST_LOOK))]
    known = look_at(looks, known, replace(given, outputs=min(rest, OUTPUTS_OF_LOOK * len(proposed))), proposed)
    return replace(known, farthest=_farthest_of_all(looks, known))


def _farthest_of_all(looks: Looks, known: Known) -> Pair | None:
    """Return the pair with the largest distance, of those that were compared again and looked at, in this round or before."""
    apart = {key: looks.draw.distances.get((key, AGAIN), 0.0) for key in known.seen}
    farthest = max(apart, key=apart.__getitem__, default="")
    return known.seen[farthest].pair if farthest and apart[farthest] > ROUNDING else None


def _distinct(looks: Looks) -> Iterator[Pair]:
    """Yield pairs to compare, each once, and none that was compared before; of each kind one after the other."""
    seen = {key for key, _ in looks.draw.distances}
    domain = looks.plan.domain
    randoms = (domain.random(looks.rng) for _ in range(MOST_COMPARED))
    kinds = domain.simplest(), domain.each_value(), domain.crowds(), domain.corners(), randoms
    for pair in filter(None, itertools.chain.from_iterable(itertools.zip_longest(*kinds))):
        if (key := pair.key()) not in seen:
            seen.add(key)
            yield pair


def _farthest(pairs: Sequence[Pair], distances: Sequence[float]) -> list[Pair]:
    """Return the pairs with the largest distances, and few with equal ones."""
    chosen, number = list[Pair](), Counter[float]()
    for i in best_first(distances):
        equal = significant(distances[i], 2)
        number[equal] += 1
        if number[equal] <= ALIKE and distances[i] > ROUNDING:
            chosen.append(pairs[i])
    return chosen[:MOST_PROPOSED]


def _of_orders(looks: Looks, most: int) -> list[Pair]:
    """Return pairs at which the order of records shows."""
    paths = orders(looks, most // 16)
    apart = looks.draw.compare([*map(ends, paths)], SIZE)
    if not any(distance > ROUNDING for distance in apart):
        return []
    along = paths[best_first(apart)[0]]
    return [likeliest_step(along, lambda halves: looks.draw.compare([*map(ends, halves)], SIZE))]


def orders(looks: Looks, most: int) -> list[Sequence[Pair]]:
    """Return paths from data sets to the same records in another order."""
    paths = (looks.plan.domain.rearranged(looks.rng) for _ in range(min(ORDERS, most)))
    return [path for path in paths if len(path) > 0]


def likeliest_step(along: Sequence[Pair], score: Callable[[Sequence[Sequence[Pair]]], Sequence[float]]) -> Pair:
    """Return the pair of a path that makes most of the difference between its ends, by bisection with scores of halves."""
    while len(along) > 1:
        halves = along[: len(along) // 2], along[len(along) // 2 :]
        one, other = score(halves)
        along = halves[0] if one >= other else halves[1]
    return along[0]
