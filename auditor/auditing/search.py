"""The search for a pair, by the bound that a method forecasts for it."""

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from auditor.auditing.plan import Ledger, Plan
from auditor.blackbox.batches import Batch, Phase
from auditor.blackbox.outputs import Column
from auditor.blackbox.sample import Sample
from auditor.claims import PrivacyClaim
from auditor.methods import method_for
from auditor.methods.base import AnyMethod
from auditor.neighbours.domains import Pairs
from auditor.neighbours.edges import OUTPUTS_FOR_KIND
from auditor.neighbours.pair import Pair
from auditor.neighbours.search import LEAST_OUTPUTS, LEAST_ROUNDS, Budget, path, search_pairs

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class FoundPair:
    """The pair that a search ends with, how many outputs it took, and the path on which it was seen from afar, if it was."""

    pair: Pair
    outputs: int
    path: Sequence[Pair] = ()


def find_pair(method: AnyMethod, ledger: Ledger, outputs: int, stage: int = 0) -> FoundPair:
    """Search the domain for the pair with the best forecast.

    What is weak where the claim is small takes most of the outputs, and is looked for from afar, or on few pairs where no path
    leads far; the rest goes to what is glaring, on neighbours everywhere.
    """
    plan, before = ledger.plan, ledger.spent.search
    assert isinstance(plan.claim, PrivacyClaim)
    domain, looks = plan.domain, _Looks(ledger, stage)
    rng = np.random.default_rng(np.random.SeedSequence(plan.settings.seed, spawn_key=(Phase.SEARCH, stage)))
    search = functools.partial(search_pairs, domain, rng=rng)
    steps, for_weak = steps_apart(plan.claim), round(SHARE_OF_WEAK * outputs)
    weak, seen = None, list[Pair]()  # the best of what is weak, and the path it was seen on
    # Who spells pairs out wants each of them tried.
    if steps > 1 and not isinstance(domain, Pairs):
        if any(len(path(domain, pair, 2)) > 1 for pair in domain.corners()):
            weak = search(functools.partial(looks.from_afar, steps), Budget(for_weak, most_pairs=MOST_PAIRS))
            seen = path(domain, weak.pair, steps)
        elif (few := enough_for(plan.claim, for_weak)) > 0:
            weak = search(functools.partial(looks.at, method.with_prior()), Budget(for_weak, most_pairs=few))
            seen = [weak.pair]
    near = search(
        functools.partial(looks.at, method),
        Budget(outputs - (ledger.spent.search - before), most_pairs=MOST_PAIRS if seen else None),
        first=seen,
        kinds=looks.kinds,
    )
    spent = ledger.spent.search - before
    if weak is None or near.score > weak.score:
        return FoundPair(near.pair, spent)
    # What is known of all steps together is known best of the middle one.
    return FoundPair(seen[len(seen) // 2], spent, seen if len(seen) > 1 else ())


# Standard errors on the safe side, by round: a pair that looks good by luck is found out in the next round, one that is
# dismissed is not looked at again.
CAUTION = (1.0, 1.5, 2.0, 3.0)
# From afar, evidence is strong enough for this to be all.
CAUTION_AFAR = 1.0
# Of a search for what is weak: its share of the outputs. How many pairs the first round then looks at, at most.
SHARE_OF_WEAK, MOST_PAIRS = 0.75, 96
# Fewer than so many pairs are no search.
FEWEST_PAIRS = 24
# Stands for the round in the addresses of outputs drawn for edges.
EDGES = 99
MOST_STEPS_APART = 101


def steps_apart(claim: PrivacyClaim) -> int:
    """Return how many moves apart pairs are to be looked at, so that together they lose about as much as ε = 1 does.

    To tell a loss of ε takes some 1/ε² outputs. If all moves on a path lose the same, its ends differ by their sum, which takes
    the square of their number fewer; and if only one of them loses anything, the ends show that too. An odd number, since two
    moves may undo each other. 1 for a profile, whose excess is no sum.

    >>> from auditor.claims import PureDP
    >>> steps_apart(PureDP(1.0)), steps_apart(PureDP(0.3)), steps_apart(PureDP(0.1))
    (1, 3, 9)
    """
    if claim.group_exponent is None:
        return 1
    return 1 + 2 * round((1 / max(claim.relative_size, 1 / MOST_STEPS_APART) - 1) / 2)


def method_over(steps: int, plan: Plan) -> AnyMethod:
    """Return the method for ends of a path: a loss so many times as large is known as well from its square fewer outputs."""
    assert isinstance(plan.claim, PrivacyClaim)
    outputs = max(1, plan.settings.samples // steps**2)
    return method_for(plan.claim, plan.settings.method, plan.alpha, outputs, plan.settings.events)


def ends(along: Sequence[Pair]) -> Pair:
    """Return the two data sets at the ends of a path: neighbours only where it has one step."""
    return replace(along[0], right=along[-1].right)


def enough_for(claim: PrivacyClaim, outputs: int) -> int:
    """Return on how many pairs a search with so many outputs can tell what a small claim is about; 0 for too few or a large one.

    To tell a difference takes the inverse square of its size. The cube is a rule of thumb and not derived: it asks for about
    25,000 outputs a pair at ε = 0.1.

    >>> from auditor.claims import PureDP
    >>> enough_for(PureDP(0.1), 150_000), enough_for(PureDP(0.1), 6_000_000), enough_for(PureDP(1.0), 6_000_000)
    (0, 59, 0)
    """
    if steps_apart(claim) == 1:
        return 0
    needed = LEAST_OUTPUTS / 2 / max(claim.relative_size, 1e-3) ** 3
    pairs = int(outputs / LEAST_ROUNDS / needed)
    return pairs if pairs >= FEWEST_PAIRS else 0


class _Looks:
    """What a search asks of pairs, each time on fresh outputs."""

    def __init__(self, ledger: Ledger, stage: int) -> None:
        self._ledger, self._stage, self._drawn = ledger, stage, 0
        self._rounds = dict[AnyMethod, int]()
        self._known: dict[str, str] = {}

    def at(self, method: AnyMethod, pairs: Sequence[Pair], outputs_each: int) -> list[float]:
        """Return the forecast for each pair."""
        self._ledger.pairs.update(pair.key() for pair in pairs)
        caution = CAUTION[min(self._rounds.setdefault(method, 0), len(CAUTION) - 1)]
        self._rounds[method] += 1
        seen = self._draw(pairs, outputs_each, _PairScore(Forecast(method.with_margin(caution))))
        self._known.update((pair.key(), kind) for pair, (_, kind) in zip(pairs, seen, strict=True))
        return [forecast for forecast, _ in seen]

    def from_afar(self, steps: int, pairs: Sequence[Pair], outputs_each: int) -> list[float]:
        """Return the forecast for the ends of a path of so many steps through each pair, by step."""
        plan = self._ledger.plan
        self._ledger.pairs.update(pair.key() for pair in pairs)
        paths = [path(plan.domain, pair, steps) for pair in pairs]
        seen = self._draw(
            [*map(ends, paths)], outputs_each, Forecast(method_over(steps, plan).with_margin(CAUTION_AFAR))
        )
        assert isinstance(plan.claim, PrivacyClaim)
        power = plan.claim.group_exponent or 1
        return [forecast / len(along) ** power for forecast, along in zip(seen, paths, strict=True)]

    def kinds(self, pairs: Sequence[Pair]) -> list[str]:
        """Return the kind of each pair, on few outputs where it is not known."""
        new = [pair for pair in pairs if pair.key() not in self._known]
        if new:
            known = len(self._known)
            batches = [
                Batch(pair, OUTPUTS_FOR_KIND, Phase.SEARCH, (self._stage, EDGES, known + i))
                for i, pair in enumerate(new)
            ]
            kinds = self._ledger.draw_each(batches, kind_of)
            self._known.update(zip((pair.key() for pair in new), kinds, strict=True))
        return [self._known[pair.key()] for pair in pairs]

    def _draw(self, pairs: Sequence[Pair], outputs_each: int, observe: Callable[[Sample], T]) -> list[T]:
        address = self._stage, self._drawn
        self._drawn += 1
        batches = [Batch(pair, outputs_each, Phase.SEARCH, (*address, i)) for i, pair in enumerate(pairs)]
        return self._ledger.draw_each(batches, observe)


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
    """Score a pair by the bound it is forecast to give, and tell its kind."""

    forecast: Forecast

    def __call__(self, sample: Sample) -> tuple[float, str]:
        return self.forecast(sample), kind_of(sample)


def kind_of(sample: Sample) -> str:
    """Tell what most outputs of either side hold at each place: numbers, or which atom."""
    return " | ".join(", ".join(_commonest(column) for column in side.columns) for side in (sample.left, sample.right))


def _commonest(column: Column) -> str:
    if column.codes is None or np.count_nonzero(column.codes < 0) * 2 >= len(column.codes):
        return f"{column.name}: number"
    return f"{column.name}: {column.atoms[np.bincount(column.codes[column.codes >= 0]).argmax()]}"
