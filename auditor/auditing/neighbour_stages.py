"""The search on neighbours, in stages of known purpose: simple pairs, corners, what outputs react to, and halving on the best.

Small scope comes first: most faults show on one or two records. Rare faults do so too. So a few of the simplest pairs get
outputs enough for it.
"""

import itertools
import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from auditor.auditing.looks import MARGINS, Forecast, Looks, ends
from auditor.auditing.stages import Given, Known, ScoredPair, SearchStage, in_stages, look_at
from auditor.neighbours.edges import MOST_EDGES, OUTPUTS_FOR_KIND
from auditor.neighbours.edges import MOST_STEPS as MOST_HALVINGS
from auditor.neighbours.pair import Pair, distinct
from auditor.neighbours.search import (
    LEAST_OUTPUTS,
    SURVIVORS,
    Budget,
    Found,
    best_first,
    candidates,
    has_one_pair,
    search_pairs,
    spread,
)

# With fewer outputs a search has one stage.
LEAST_STAGED = 4_000
# What edges take at most. They are looked for if it fits into their share.
MOST_FOR_EDGES = OUTPUTS_FOR_KIND * MOST_EDGES * MOST_HALVINGS
# How many of the simplest pairs are looked at with more outputs, since what is rare shows on them as well.
CLOSELY = 6
# The share of a first look at reactions, its outputs each, and how many of them are followed up.
OF_FIRST_LOOK, OUTPUTS_FOR_REACTION, MOST_REACTIONS = 0.67, 32, 3
# Standard errors on the safe side for the last choice, which is by outputs that the test was not learned from.
LAST_MARGIN = 3.0


def on_neighbours(looks: Looks, known: Known, given: Given) -> Known:
    """Find the neighbours with the best forecast among the pairs given and the pairs of the domain."""
    domain, outputs = looks.plan.domain, round(given.outputs)
    if has_one_pair(domain, looks.rng):
        return replace(known, found=Found(domain.corners()[0], -np.inf))
    if outputs < LEAST_STAGED:
        few = distinct([*known.first, *known.along, *_few(looks)])
        return replace(known, found=_halving(looks, known, outputs, few))
    return in_stages(given.parts, looks, known, outputs)


def _few(looks: Looks) -> list[Pair]:
    """Return candidates where there is no room for stages: simple pairs and corners in turn."""
    domain = looks.plan.domain
    tried = itertools.zip_longest(domain.simplest(), candidates(domain, looks.rng))
    return distinct(pair for pair in itertools.chain.from_iterable(tried) if pair is not None)


def _cautious(looks: Looks, known: Known, margin: float) -> Forecast:
    """Return the forecast of the audit's method, ``margin`` standard errors on the safe side."""
    return Forecast(looks.method(known.claim).with_margin(margin))


def _simplest(looks: Looks, known: Known, given: Given) -> Known:
    simple = looks.plan.domain.simplest()
    # A few are looked at with more outputs below.
    pairs = simple if len(simple) > CLOSELY else ()
    forecast = _cautious(looks, known, MARGINS[0])
    return replace(known, simplest=look_at(looks, given, pairs, forecast))


def _corners(looks: Looks, known: Known, given: Given) -> Known:
    seen = {pair.key() for pair, _ in known.simplest}
    corners = [pair for pair in candidates(looks.plan.domain, looks.rng) if pair.key() not in seen]
    first = [*known.first, *known.along]
    if not known.simplest:
        # Where there are no simpler pairs than corners, halving begins with all of these.
        tried = (*first, *corners)
        return replace(known, tried=tried, best=tried)
    room = max(1, int(given.outputs) // LEAST_OUTPUTS - len(first))
    # Corners are in order of size: most of the small ones, and some of all others.
    small = min(len(corners), 2 * room // 3)
    tried = (*first, *corners[:small], *spread(corners[small:], room - small))
    forecast = _cautious(looks, known, MARGINS[0])
    scored = look_at(looks, given, tried, forecast)
    best = tuple(pair for pair, _ in (*_best_quarter(known.simplest), *_best_quarter(scored)))
    return replace(known, tried=tried, best=best)


def _closely(looks: Looks, known: Known, given: Given) -> Known:
    simple, forecast = looks.plan.domain.simplest()[:CLOSELY], _cautious(looks, known, MARGINS[0])
    seen = look_at(looks, given, simple, forecast)
    return replace(known, closely=seen)


def _reactions(looks: Looks, known: Known, given: Given) -> Known:
    """Find pairs at which the order of records shows.

    Outputs on a data set are compared with those on the same records in another order. Where they differ most, bisection
    of the path between the two finds the step that makes the difference.
    """
    outputs, domain = round(given.outputs), looks.plan.domain
    tried = int(OF_FIRST_LOOK * outputs) // OUTPUTS_FOR_REACTION
    paths = [path for _ in range(tried) if len(path := domain.rearranged(looks.rng)) > 0]
    halvings = max(map(len, paths), default=1).bit_length()
    followed = min(MOST_REACTIONS, int((1 - OF_FIRST_LOOK) * outputs) // (2 * LEAST_OUTPUTS * halvings))
    if not paths or followed == 0:
        return known
    forecast = _cautious(looks, known, MARGINS[0])
    scores = looks.on([], [*map(ends, paths)], OUTPUTS_FOR_REACTION, forecast)
    best = [paths[i] for i in best_first(scores)[:followed]]
    each = int((1 - OF_FIRST_LOOK) * outputs) // (2 * followed * halvings)
    while any(len(path) > 1 for path in best):
        halves = [half for path in best for half in halves_of(path)]
        scores = looks.on([], [*map(ends, halves)], each, forecast)
        best = [halves[i] if scores[i] >= scores[i + 1] else halves[i + 1] for i in range(0, len(halves), 2)]
    looks.enter(given.name, len(paths), OUTPUTS_FOR_REACTION, known.claim)
    return replace(known, reacting=tuple(path[0] for path in best))


def _edges(looks: Looks, known: Known, given: Given) -> Known:
    return replace(known, best=(*looks.edges(known.tried), *known.best))


def _best(looks: Looks, known: Known, given: Given) -> Known:
    pairs = distinct([*known.reacting, *known.best])
    return replace(known, found=_halving(looks, known, round(given.outputs), pairs))


def _halving(looks: Looks, known: Known, outputs: int, first: Sequence[Pair]) -> Found:
    """Spend outputs on fewer and fewer pairs, and on pairs near the best."""
    name = "the best of these, and pairs near them" if looks.draw.stages else "simple pairs and corners"
    margins = itertools.chain(MARGINS, itertools.repeat(MARGINS[-1]))

    def evaluate(pairs: Sequence[Pair], each: int) -> list[float]:
        return looks.on_pairs(name, pairs, each, _cautious(looks, known, next(margins)))

    return search_pairs(looks.plan.domain, evaluate, Budget(outputs, most_pairs=len(first)), looks.rng, first)


def _last(looks: Looks, known: Known, given: Given) -> Known:
    assert known.found is not None
    finalists = distinct([known.found.pair, *known.first, *(pair for pair, _ in _best_quarter(known.closely, 2))])
    forecast = replace(_cautious(looks, known, LAST_MARGIN), held_out=True)
    scored = look_at(looks, given, finalists, forecast)
    return replace(known, found=Found(*max(scored, key=lambda one: one[1])))


def _best_quarter(scored: Sequence[ScoredPair], least: int = 1) -> list[ScoredPair]:
    """Return the best quarter of the pairs, the best first; at least ``least`` of them."""
    order = best_first([score for _, score in scored])
    return [scored[i] for i in order[: max(least, math.ceil(len(scored) * SURVIVORS))]]


def halves_of(path: Sequence[Pair]) -> tuple[Sequence[Pair], Sequence[Pair]]:
    """Return both halves of a path; for a path of one step, that step twice."""
    middle = len(path) // 2
    return path[:middle] or path, path[middle:]


ON_NEIGHBOURS = (
    SearchStage("the simplest pairs", 0.08, _simplest, "most faults show on one or two records"),
    SearchStage("corners and random pairs", 0.18, _corners, "others show at the ends of ranges, or anywhere"),
    SearchStage(
        "the simplest pairs, with more outputs", 0.10, _closely, "rare faults show on one or two records as well"
    ),
    SearchStage(
        "the same records in another order", 0.06, _reactions, "a mechanism may depend on the order of records"
    ),
    SearchStage(
        "where the kind of output changes",
        0.20,
        _edges,
        "a mechanism that refuses small data sets leaks most at the smallest accepted size",
        only="only if its share is enough for a bisection; it uses far less than its share",
        when=lambda looks, known, given: given.outputs > MOST_FOR_EDGES,
    ),
    SearchStage(
        "the best of these, and pairs near them", None, _best, "most outputs go to the pairs with the most evidence"
    ),
    SearchStage(
        "the best of all, and of the simplest pairs",
        0.08,
        _last,
        "the best of many scores is partly luck, so it is measured again",
    ),
)
