"""The search on neighbours, in stages of known purpose: simple pairs, corners, what outputs react to, and the rivals of the best.

Small scope comes first: most faults show on one or two records. Rare faults do so too. So a few of the simplest pairs get
outputs enough for it. All pairs that were looked at stay in the race, by what their last look promises.
"""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from auditor.auditing.looks import Looks, ends
from auditor.auditing.same_noise import has_same_noise, likeliest_step, orders, ranks_pairs, with_same_noise
from auditor.auditing.stages import Given, Known, SearchStage, in_stages, look_at
from auditor.bounds.prospect import WORTH_TO_EXPLORE
from auditor.events.selection import FEW_OUTPUTS
from auditor.neighbours.pair import Pair, distinct
from auditor.neighbours.search import (
    FIRST_LOOK,
    LEAST_LOOK,
    MOST_EDGES,
    MOST_HALVINGS,
    SURVIVORS,
    Found,
    best_first,
    candidates,
    has_one_pair,
    spread,
)

# With fewer outputs there is no search.
LEAST_SEARCHED = 8 * LEAST_LOOK
# What edges take at most. They are looked for if it fits into their share.
MOST_FOR_EDGES = FIRST_LOOK * MOST_EDGES * MOST_HALVINGS
# Corners that are looked at where outputs with the same noise rank many pairs; and the share of crowds.
MOST_CORNERS, OF_CROWDS = 72, 1 / 3
# The outputs of a closer look at one of many pairs. Each half of a half is then enough for more than one threshold.
CLOSE_LOOK = 4 * FEW_OUTPUTS
# Rounds of the rivals, and of the last comparison, with the same outputs each.
ROUNDS = 3
# Rivals are a quarter of the pairs of the round before, and pairs near them. This many are left at last, since a single one may be
# there by luck; and so many are looked at again before the last comparison, with this share of its outputs. The last comparison has
# this share of all.
FINALISTS, OF_FINALISTS, OF_BEST = 8, 0.4, 0.24


def on_neighbours(looks: Looks, known: Known, given: Given) -> Known:
    """Find the neighbours that promise most, after looking at the pairs given and everywhere in the domain."""
    domain, outputs = looks.plan.domain, round(given.outputs)
    if has_one_pair(domain, looks.rng) or outputs < LEAST_SEARCHED:
        return replace(known, found=Found((*known.first, *domain.corners())[0], -np.inf))
    return in_stages(given.parts, looks, known, outputs)


def _simplest(looks: Looks, known: Known, given: Given) -> Known:
    return look_at(looks, known, given, [*known.first, *known.along, *looks.plan.domain.simplest()])


def _corners(looks: Looks, known: Known, given: Given) -> Known:
    domain = looks.plan.domain
    corners, crowds = (
        [pair for pair in pairs if pair.key() not in known.seen]
        for pairs in (candidates(domain, looks.rng), distinct(domain.crowds()))
    )
    most = MOST_CORNERS if ranks_pairs(looks) else len(corners) + len(crowds)
    room = min(most, max(1, int(given.outputs) // FIRST_LOOK))
    # Corners are in order of size: most of the small ones, and some of all others.
    of_crowds = spread(crowds, int(OF_CROWDS * room))
    room -= len(of_crowds)
    small = min(len(corners), 2 * room // 3)
    return look_at(
        looks, known, given, distinct([*corners[:small], *of_crowds, *spread(corners[small:], room - small)])
    )


def _closely(looks: Looks, known: Known, given: Given) -> Known:
    best = [look.pair for look, _ in known.best(WORTH_TO_EXPLORE)]
    return look_at(looks, known, given, looks.plan.domain.closely(best, int(given.outputs) // CLOSE_LOOK))


def _reactions(looks: Looks, known: Known, given: Given) -> Known:
    """Find a pair at which the order of records shows, by looks at data sets with the same records in another order."""
    paths, outputs = orders(looks, int(given.outputs / (2 * LEAST_LOOK))), given.outputs / 2
    if not paths:
        return known
    likely = _most_promising(looks, known, paths, int(outputs) // len(paths))[0]
    each = int(outputs) // (2 * len(likely).bit_length())
    step = likeliest_step(likely, lambda halves: looks.promised([*map(ends, halves)], each, looks.method(known.claim)))
    looks.enter(given.name, len(paths), int(outputs) // len(paths), known.claim)
    return replace(known, proposed=(*known.proposed, step))


def _edges(looks: Looks, known: Known, given: Given) -> Known:
    tried = [look.pair for look in known.seen.values()]
    return replace(known, proposed=(*known.proposed, *looks.edges(tried)))


def _rivals(looks: Looks, known: Known, given: Given) -> Known:
    """Look again and again at the pairs that promise most, with ever more outputs, and at pairs near them."""
    per_round = given.outputs / ROUNDS
    pairs = min(math.ceil(len(known.seen) * SURVIVORS), max(FINALISTS, int(per_round) // LEAST_LOOK))
    for number in range(ROUNDS):
        best = [look.pair for look, _ in known.best(WORTH_TO_EXPLORE)[:pairs]]
        near = [looks.plan.domain.mutate(pair, looks.rng) for pair in best]
        tried = distinct([*known.proposed, *best, *(near if number < ROUNDS - 1 else ())])
        known = look_at(looks, known, replace(given, outputs=per_round), tried, proposed=())
        pairs = max(FINALISTS, math.ceil(pairs * SURVIVORS))
    return known


def _last(looks: Looks, known: Known, given: Given) -> Known:
    """Compare the pair that is likeliest to refute, the likeliest of the simplest, and the one with the largest bound expected.

    Each round compares those of what is known by then.
    """
    # Of the many that promise alike, a shorter look at some leaves out those that were lucky.
    several = [look.pair for look, _ in known.best(WORTH_TO_EXPLORE)[:FINALISTS]]
    known = look_at(looks, known, replace(given, outputs=OF_FINALISTS * given.outputs), several)
    again = replace(given, outputs=(1 - OF_FINALISTS) / ROUNDS * given.outputs)
    # If what was likeliest was luck, another one is the likeliest then, and is looked at next.
    for _ in range(ROUNDS):
        likeliest = [look for look, _ in known.best(WORTH_TO_EXPLORE)]
        simple = [look for look in likeliest if look.simple]
        surest, _ = known.best()[0]
        finalists = distinct([*(look.pair for look in (*likeliest[:1], *simple[:1], surest)), *known.first])
        known = look_at(looks, known, again, finalists)
    return replace(known, found=Found(*known.most_promising()))


def _most_promising(looks: Looks, known: Known, paths: Sequence[Sequence[Pair]], outputs: int) -> list[Sequence[Pair]]:
    """Return paths by what outputs at their ends promise, the best first."""
    return [paths[i] for i in best_first(looks.promised([*map(ends, paths)], outputs, looks.method(known.claim)))]


ON_NEIGHBOURS = (
    SearchStage(
        "many pairs, by outputs with the same noise",
        0.18,
        with_same_noise,
        "two calls tell how far a pair moves the outputs",
        only="if all randomness is the auditor's",
        when=lambda looks, known, given: has_same_noise(looks),
    ),
    SearchStage("the simplest pairs", 0.08, _simplest, "most faults show on one or two records"),
    SearchStage(
        "corners, crowds and random pairs", 0.12, _corners, "others show at the ends of ranges, in crowds, or anywhere"
    ),
    SearchStage(
        "the simplest pairs, with more outputs", 0.18, _closely, "rare faults show on one or two records as well"
    ),
    SearchStage(
        "the same records in another order",
        0.08,
        _reactions,
        "a mechanism may depend on the order of records",
        only="if the mechanism has randomness of its own",
        when=lambda looks, known, given: not has_same_noise(looks),
    ),
    SearchStage(
        "where the kind of output changes",
        0.10,
        _edges,
        "a mechanism that refuses small data sets leaks most at the smallest accepted size",
        only="only if its share is enough for a bisection; it uses far less than its share",
        when=lambda looks, known, given: given.outputs > MOST_FOR_EDGES,
    ),
    SearchStage(
        "the most promising of these, and pairs near them",
        None,
        _rivals,
        "most outputs go to the pairs with the best chance to refute the claim",
    ),
    SearchStage("the best of all", OF_BEST, _last, "the best of many looks was lucky, so it is looked at again"),
)
