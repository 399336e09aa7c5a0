"""The search for a pair, by the bound that a method forecasts for it.

A large violation shows on neighbours with few outputs. A small one takes some 1/ε² outputs on each pair, and there are too many
pairs. So where the claim is small, most outputs go to data sets k moves apart, where by group privacy losses add up; or to few
pairs, where the domain has no such paths.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

import numpy as np

from auditor.auditing.drawing import Drawing
from auditor.auditing.plan import Plan
from auditor.blackbox.batches import Batch, Phase
from auditor.blackbox.outputs import Column
from auditor.blackbox.sample import Sample
from auditor.claims import PrivacyClaim
from auditor.methods.base import AnyMethod
from auditor.neighbours.domains import Pairs
from auditor.neighbours.edges import OUTPUTS_FOR_KIND
from auditor.neighbours.pair import Pair
from auditor.neighbours.search import LEAST_OUTPUTS, LEAST_ROUNDS, Budget, path, search_pairs

T = TypeVar("T")

# Standard errors on the safe side, by round. A pair that looks good by luck is found out in the next round; one that is dismissed
# is not looked at again.
MARGINS = (1.0, 1.5, 2.0, 3.0)
# At a distance, evidence is strong enough for one margin.
MARGIN_AT_DISTANCE = 1.0
# Of a search for a small violation: its share of the outputs, and the most pairs in its first round.
SHARE_FOR_SMALL, MOST_PAIRS = 0.75, 96
# Fewer pairs are no search.
FEWEST_PAIRS = 24
# Stands for the round in the addresses of outputs drawn for edges.
EDGES = 99
MOST_STEPS = 101


@dataclass(frozen=True, slots=True)
class FoundPair:
    """The pair that a search ends with; if it was found at a distance, ``path`` holds the pairs on the way between the ends."""

    pair: Pair
    outputs: int  # spent on the search
    path: Sequence[Pair] = ()


def find_pair(plan: Plan, drawing: Drawing, outputs: int, stage: int = 0) -> FoundPair:
    """Search the domain for the pair with the best forecast; ``stage`` is part of the addresses of its outputs."""
    search, before = _Search(plan, drawing, stage), drawing.spent.search
    small = search.for_small(round(SHARE_FOR_SMALL * outputs))
    first = (*plan.candidates, *(small.path if small else ()))
    large = search.on_neighbours(outputs - (drawing.spent.search - before), first)
    spent = drawing.spent.search - before
    if small is None or large.score > small.score:
        return FoundPair(large.path[0], spent)
    # What is known of all steps together is known best of the middle one.
    return FoundPair(small.path[len(small.path) // 2], spent, small.path if len(small.path) > 1 else ())


def steps_apart(claim: PrivacyClaim) -> int:
    """Return how many moves apart data sets are searched, so that together the moves lose about what ε = 1 does.

    A loss of ε takes some 1/ε² outputs to show. If all moves on a path lose the same, the ends differ by their sum, which takes
    fewer outputs by the square of the number of moves. If only one move loses anything, the ends show that too. The number is odd,
    since two moves may undo each other; 1 for a claim that says nothing of larger groups.

    >>> from auditor.claims import PureDP
    >>> steps_apart(PureDP(1.0)), steps_apart(PureDP(0.3)), steps_apart(PureDP(0.1))
    (1, 3, 9)
    """
    if claim.group_exponent is None:
        return 1
    return 1 + 2 * round((1 / max(claim.relative_size, 1 / MOST_STEPS) - 1) / 2)


def method_at_distance(steps: int, plan: Plan) -> AnyMethod:
    """Return the method for the ends of a path: a loss ``steps`` times as large needs fewer outputs by the square of that."""
    return plan.method(max(1, plan.settings.samples // steps**2))


def ends(along: Sequence[Pair]) -> Pair:
    """Return the two data sets at the ends of a path: neighbours only where it has one step."""
    return replace(along[0], right=along[-1].right)


def affordable_pairs(claim: PrivacyClaim, outputs: int) -> int:
    """Return on how many pairs a search with these outputs can show what a small claim is about.

    0 for a large claim, or too few outputs. To show a difference takes the inverse square of its size. The cube is a rule of thumb
    and not derived: it asks for about 25,000 outputs a pair at ε = 0.1.

    >>> from auditor.claims import PureDP
    >>> affordable_pairs(PureDP(0.1), 150_000), affordable_pairs(PureDP(0.1), 6_000_000), affordable_pairs(PureDP(1.0), 6_000_000)
    (0, 59, 0)
    """
    if steps_apart(claim) == 1:
        return 0
    needed = LEAST_OUTPUTS / 2 / max(claim.relative_size, 1e-3) ** 3
    pairs = int(outputs / LEAST_ROUNDS / needed)
    return pairs if pairs >= FEWEST_PAIRS else 0


@dataclass(frozen=True, slots=True)
class _Best:
    """The best that a strategy found: a path of pairs, of which a neighbour is one, and the score by step."""

    path: Sequence[Pair]
    score: float


@dataclass
class _Search:
    """The strategies of one search. Each look at a pair is on fresh outputs."""

    plan: Plan
    drawing: Drawing
    stage: int
    draws: int = 0
    rounds: dict[AnyMethod, int] = field(default_factory=dict)
    known_kinds: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        address = Phase.SEARCH, self.stage
        self.rng = np.random.default_rng(np.random.SeedSequence(self.plan.settings.seed, spawn_key=address))

    def for_small(self, outputs: int) -> _Best | None:
        """Look for a small violation of a small claim: at a distance, or on few pairs with many outputs each."""
        claim, domain = self.plan.claim, self.plan.domain
        assert isinstance(claim, PrivacyClaim)
        steps = steps_apart(claim)
        # Where pairs are written down, each of them is to be tried.
        if steps == 1 or isinstance(domain, Pairs):
            return None
        if any(len(path(domain, pair, 2)) > 1 for pair in domain.corners()):
            budget = Budget(outputs, most_pairs=MOST_PAIRS)
            best = search_pairs(domain, lambda pairs, each: self._at_distance(steps, pairs, each), budget, self.rng)
            return _Best(path(domain, best.pair, steps), best.score)
        if (few := affordable_pairs(claim, outputs)) > 0:
            method, budget = self.plan.method().with_prior(), Budget(outputs, most_pairs=few)
            best = search_pairs(domain, lambda pairs, each: self._on_pairs(method, pairs, each), budget, self.rng)
            return _Best([best.pair], best.score)
        return None

    def on_neighbours(self, outputs: int, first: Sequence[Pair]) -> _Best:
        """Look for a large violation, at the pairs of ``first`` and everywhere in the domain."""
        method, budget = self.plan.method(), Budget(outputs, most_pairs=MOST_PAIRS if first else None)

        def evaluate(pairs: Sequence[Pair], each: int) -> list[float]:
            return self._on_pairs(method, pairs, each)

        best = search_pairs(self.plan.domain, evaluate, budget, self.rng, first=first, kinds=self._kinds)
        return _Best([best.pair], best.score)

    def _on_pairs(self, method: AnyMethod, pairs: Sequence[Pair], outputs_each: int) -> list[float]:
        """Return the forecast for each pair."""
        number = self.rounds.setdefault(method, 0)
        self.rounds[method] += 1
        forecast = Forecast(method.with_margin(MARGINS[min(number, len(MARGINS) - 1)]))
        seen = self._draw(pairs, pairs, outputs_each, _PairScore(forecast))
        self.known_kinds.update((pair.key(), kind) for pair, (_, kind) in zip(pairs, seen, strict=True))
        return [score for score, _ in seen]

    def _at_distance(self, steps: int, pairs: Sequence[Pair], outputs_each: int) -> list[float]:
        """Return the forecast by step for the ends of a path through each pair."""
        claim, paths = self.plan.claim, [path(self.plan.domain, pair, steps) for pair in pairs]
        assert isinstance(claim, PrivacyClaim)
        forecast = Forecast(method_at_distance(steps, self.plan).with_margin(MARGIN_AT_DISTANCE))
        seen = self._draw(pairs, [*map(ends, paths)], outputs_each, forecast)
        exponent = claim.group_exponent or 1
        return [score / len(along) ** exponent for score, along in zip(seen, paths, strict=True)]

    def _draw(
        self, pairs: Sequence[Pair], drawn_on: Sequence[Pair], outputs_each: int, observe: Callable[[Sample], T]
    ) -> list[T]:
        self.drawing.pairs.update(pair.key() for pair in pairs)
        number, self.draws = self.draws, self.draws + 1
        return self._observe(drawn_on, outputs_each, (number, 0), observe)

    def _kinds(self, pairs: Sequence[Pair]) -> list[str]:
        """Return the kind of each pair, on few outputs where it is not known."""
        new = [pair for pair in pairs if pair.key() not in self.known_kinds]
        if new:
            kinds = self._observe(new, OUTPUTS_FOR_KIND, (EDGES, len(self.known_kinds)), kind_of)
            self.known_kinds.update(zip((pair.key() for pair in new), kinds, strict=True))
        return [self.known_kinds[pair.key()] for pair in pairs]

    def _observe(
        self, pairs: Sequence[Pair], outputs_each: int, address: tuple[int, int], observe: Callable[[Sample], T]
    ) -> list[T]:
        number, since = address
        batches = [
            Batch(pair, outputs_each, Phase.SEARCH, (self.stage, number, since + i)) for i, pair in enumerate(pairs)
        ]
        return self.drawing.draw_each(batches, observe, self.plan.settings.search_outputs)


@dataclass(frozen=True, slots=True)
class Forecast:
    """Forecast the bound on a pair, or on a data set ``alone``, from outputs on it; a class, since it travels to the workers."""

    method: AnyMethod
    alone: bool = False

    def __call__(self, sample: Sample) -> float:
        """Return the forecast; −∞ where there are too few outputs."""
        if min(sample.left.size, sample.right.size) < 4 and not self.alone:
            return -np.inf
        return self.method.learn(sample).forecast


@dataclass(frozen=True, slots=True)
class _PairScore:
    """Score a pair by the bound it is forecast to give, and return its kind as well."""

    forecast: Forecast

    def __call__(self, sample: Sample) -> tuple[float, str]:
        return self.forecast(sample), kind_of(sample)


def kind_of(sample: Sample) -> str:
    """Return what most outputs of either side hold at each place: numbers, or which atom."""
    return " | ".join(", ".join(_commonest(column) for column in side.columns) for side in (sample.left, sample.right))


def _commonest(column: Column) -> str:
    if column.codes is None or np.count_nonzero(column.codes < 0) * 2 >= len(column.codes):
        return f"{column.name}: number"
    return f"{column.name}: {column.atoms[np.bincount(column.codes[column.codes >= 0]).argmax()]}"
