"""The search on neighbours, in stages of known purpose: simple pairs, corners, what outputs react to, and halving on the best.

Small scope comes first: most faults show on one or two records. Rare faults do so too. So a few of the simplest pairs get
outputs enough for it.
"""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from auditor.auditing.looks import MARGINS, Forecast, Looks, ends
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
# With fewer, edges would take most of what is left for the best pairs.
ENOUGH_FOR_EDGES = 5 * OUTPUTS_FOR_KIND * MOST_EDGES * MOST_HALVINGS
# Shares of the outputs that the stages on neighbours have. Halving has the rest.
OF_SIMPLEST, OF_CORNERS, OF_CLOSELY, OF_REACTIONS, OF_LAST = 0.08, 0.18, 0.10, 0.06, 0.08
# How many of the simplest pairs are looked at with more outputs, since what is rare shows on them as well.
CLOSELY = 6
# The share of a first look at reactions, its outputs each, and how many of them are followed up.
OF_FIRST_LOOK, OUTPUTS_FOR_REACTION, MOST_REACTIONS = 0.67, 32, 3
# Standard errors on the safe side for the last choice, which is by outputs that the test was not learned from.
LAST_MARGIN = 3.0

Scored = tuple[Pair, float]


@dataclass(frozen=True, slots=True)
class Stages:
    """The stages of one search."""

    looks: Looks

    def search(self, outputs: int, first: Sequence[Pair] = (), others: Sequence[Pair] = ()) -> Found:
        """Return the pair with the best forecast, after looking at the pairs given and everywhere in the domain.

        The pairs of ``first`` are part of the last comparison in any case.
        """
        domain = self.looks.plan.domain
        if has_one_pair(domain, self.looks.rng):
            return Found(domain.corners()[0], -np.inf)
        return (
            self._in_stages(outputs, first, others)
            if outputs >= LEAST_STAGED
            else self._halving(outputs, distinct([*first, *others, *self._few()]))
        )

    def _few(self) -> list[Pair]:
        """Return candidates where there is no room for stages: simple pairs and corners in turn."""
        tried = itertools.zip_longest(
            self.looks.plan.domain.simplest(), candidates(self.looks.plan.domain, self.looks.rng)
        )
        return distinct(pair for pair in itertools.chain.from_iterable(tried) if pair is not None)

    def _in_stages(self, outputs: int, first: Sequence[Pair], others: Sequence[Pair]) -> Found:
        """Look at simple pairs, at corners, and at what outputs react to; then closely at the best of these."""
        domain, before = self.looks.plan.domain, self.looks.drawing.spent.search
        simple = domain.simplest()
        simplest = self._stage("the simplest pairs", simple if len(simple) > CLOSELY else (), OF_SIMPLEST * outputs)
        seen = {pair.key() for pair, _ in simplest}
        corners = [pair for pair in candidates(domain, self.looks.rng) if pair.key() not in seen]
        given = [*first, *others]
        room = max(1, int(OF_CORNERS * outputs) // LEAST_OUTPUTS - len(given))
        # Corners are in order of size: most of the small ones, and some of all others.
        room = room if simplest else len(corners)
        small = min(len(corners), 2 * room // 3)
        tried = [*given, *corners[:small], *spread(corners[small:], room - small)]
        # Where there are no simpler pairs than corners, halving begins with all of these.
        scored = self._stage("corners and random pairs", tried, OF_CORNERS * outputs) if simplest else ()
        best = [pair for pair, _ in (*_best_quarter(simplest), *_best_quarter(scored))] if simplest else tried
        closely = self._stage("the simplest pairs, with more outputs", simple[:CLOSELY], OF_CLOSELY * outputs)
        reacting = self._reacting(round(OF_REACTIONS * outputs))
        edges = self.looks.edges(tried) if outputs > ENOUGH_FOR_EDGES else []
        best = [*reacting, *edges, *best]
        left = round((1 - OF_LAST) * outputs) - (self.looks.drawing.spent.search - before)
        found = self._halving(left, distinct(best))
        # The best of many looks was lucky. So it is looked at again together with the others.
        finalists = distinct([found.pair, *first, *(pair for pair, _ in _best_quarter(closely, 2))])
        forecast = replace(self.looks.cautious(LAST_MARGIN), held_out=True)
        last = self._stage("the best of all, and of the simplest pairs", finalists, OF_LAST * outputs, forecast)
        return Found(*max(last, key=lambda one: one[1])) if last else found

    def _stage(
        self, name: str, pairs: Sequence[Pair], outputs: float, forecast: Forecast | None = None
    ) -> list[Scored]:
        """Look at pairs, as far as there are outputs for them; return each with its forecast."""
        pairs = pairs[: max(1, int(outputs) // LEAST_OUTPUTS)]
        if not pairs:
            return []
        forecast = forecast or self.looks.cautious(MARGINS[0])
        return [*zip(pairs, self.looks.on_pairs(name, pairs, int(outputs) // len(pairs), forecast), strict=True)]

    def _halving(self, outputs: int, first: Sequence[Pair]) -> Found:
        """Spend outputs on fewer and fewer pairs, and on pairs near the best."""
        name = "the best of these, and pairs near them" if self.looks.drawing.stages else "simple pairs and corners"

        def evaluate(pairs: Sequence[Pair], each: int) -> list[float]:
            return self.looks.on_pairs(name, pairs, each, self.looks.cautious(next(margins)))

        margins = itertools.chain(MARGINS, itertools.repeat(MARGINS[-1]))
        return search_pairs(
            self.looks.plan.domain, evaluate, Budget(outputs, most_pairs=len(first)), self.looks.rng, first
        )

    def _reacting(self, outputs: int) -> list[Pair]:
        """Return pairs at which the order of records shows.

        Outputs on a data set are compared with those on the same records in another order. Where they differ most, bisection
        of the path between the two finds the step that makes the difference.
        """
        looks = int(OF_FIRST_LOOK * outputs) // OUTPUTS_FOR_REACTION
        paths = [path for _ in range(looks) if len(path := self.looks.plan.domain.rearranged(self.looks.rng)) > 0]
        halvings = max(map(len, paths), default=1).bit_length()
        followed = min(MOST_REACTIONS, int((1 - OF_FIRST_LOOK) * outputs) // (2 * LEAST_OUTPUTS * halvings))
        if not paths or followed == 0:
            return []
        forecast = self.looks.cautious(MARGINS[0])
        scores = self.looks.draw([], [*map(ends, paths)], OUTPUTS_FOR_REACTION, forecast)
        best = [paths[i] for i in best_first(scores)[:followed]]
        each = int((1 - OF_FIRST_LOOK) * outputs) // (2 * followed * halvings)
        while any(len(path) > 1 for path in best):
            halves = [half for path in best for half in halves_of(path)]
            scores = self.looks.draw([], [*map(ends, halves)], each, forecast)
            best = [halves[i] if scores[i] >= scores[i + 1] else halves[i + 1] for i in range(0, len(halves), 2)]
        self.looks.enter("the same records in another order", len(paths), OUTPUTS_FOR_REACTION)
        return [path[0] for path in best]


def _best_quarter(scored: Sequence[Scored], least: int = 1) -> list[Scored]:
    """Return the best of the pairs, the best first."""
    order = best_first([score for _, score in scored])
    return [scored[i] for i in order[: max(least, math.ceil(len(scored) * SURVIVORS))]]


def halves_of(path: Sequence[Pair]) -> tuple[Sequence[Pair], Sequence[Pair]]:
    """Return both halves of a path; of a single step that step twice."""
    middle = len(path) // 2
    return path[:middle] or path, path[middle:]
