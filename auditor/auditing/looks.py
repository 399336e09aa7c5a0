"""Looks at pairs in a search: outputs on each pair of a round, and what a method forecasts from them.

Each look is on fresh outputs.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

import numpy as np

from auditor.auditing.draw import Draw
from auditor.auditing.plan import Plan
from auditor.auditing.sizes import Sizes
from auditor.blackbox.batches import Batch, Phase, rng_at
from auditor.blackbox.outputs import OutputColumn
from auditor.blackbox.sample import Sample
from auditor.claims import PrivacyClaim
from auditor.methods.method import AnyMethod
from auditor.neighbours.edges import OUTPUTS_FOR_KIND, find_edges
from auditor.neighbours.pair import Pair
from auditor.results.result import Stage

T = TypeVar("T")

# Standard errors on the safe side, by round. A pair that looks good by luck is found out in the next round; one that is dismissed
# is not looked at again.
MARGINS = (1.0, 1.5, 2.0, 3.0)
# Stands for the round in the addresses of outputs drawn for edges.
EDGES = 99
# The chance for which a stage says what it would have caught.
CHANCE = 0.95


@dataclass
class Looks:
    """Draws outputs on the pairs of one search, for a bound of ``sizes.bound`` outputs. ``stage`` is part of the outputs'
    addresses.
    """

    plan: Plan
    sizes: Sizes
    draw: Draw
    stage: int = 0
    rounds: int = 0
    known_kinds: dict[str, str] = field(default_factory=dict)
    one_by_one: bool = False

    def __post_init__(self) -> None:
        address = Phase.SEARCH, self.stage
        self.rng = rng_at(self.plan.settings.seed, *address)
        self.before = self.draw.spent.search

    @property
    def spent(self) -> int:
        """How many outputs this search has drawn."""
        return self.draw.spent.search - self.before

    def method(self, claim: PrivacyClaim, steps: int = 1) -> AnyMethod:
        """Return the method for a claim of some size, on data sets ``steps`` moves apart."""
        return self.plan.method(outputs_at_distance(self.sizes.bound, steps), claim)

    def on_pairs(self, name: str, pairs: Sequence[Pair], outputs_each: int, forecast: "Forecast") -> list[float]:
        """Return the forecast for each pair; ``name`` is the name of the stage."""
        seen = self.on(pairs, pairs, outputs_each, _PairScore(forecast))
        self.known_kinds.update((pair.key(), kind) for pair, (_, kind, _) in zip(pairs, seen, strict=True))
        # A batch that raises says nothing about its other outputs, and may raise on the next look or not.
        self.one_by_one = self.one_by_one or any(raised for _, _, raised in seen)
        self.enter(name, len(pairs), outputs_each, forecast.method.claim)
        return [forecast for forecast, _, _ in seen]

    def enter(self, name: str, pairs: int, outputs_each: int, claim: PrivacyClaim) -> None:
        """Note what a stage looked at."""
        caught = self.plan.method(outputs_each, claim).foreseen(1.0, CHANCE)
        self.draw.enter(Stage(name, pairs, pairs * outputs_each, caught))

    def edges(self, pairs: Sequence[Pair]) -> list[Pair]:
        """Return pairs on either side of where the kind of output changes."""
        return find_edges(self.plan.domain, self.kinds, pairs, self.kinds(pairs)) if pairs else []

    def on(
        self, pairs: Sequence[Pair], drawn_on: Sequence[Pair], outputs_each: int, observe: Callable[[Sample], T]
    ) -> list[T]:
        """Return the observations of outputs on each pair of ``drawn_on``. Each counts as one pair searched."""
        self.draw.look(pair.key() for pair in pairs)
        number, self.rounds = self.rounds, self.rounds + 1
        return self._observe(drawn_on, outputs_each, (number, 0), observe)

    def kinds(self, pairs: Sequence[Pair]) -> list[str]:
        """Return the kind of each pair. An unknown kind is found with a few outputs."""
        new = [pair for pair in pairs if pair.key() not in self.known_kinds]
        if new:
            kinds = self._observe(new, OUTPUTS_FOR_KIND, (EDGES, len(self.known_kinds)), kind_of_outputs)
            self.known_kinds.update(zip((pair.key() for pair in new), kinds, strict=True))
        return [self.known_kinds[pair.key()] for pair in pairs]

    def _observe(
        self, pairs: Sequence[Pair], outputs_each: int, address: tuple[int, int], observe: Callable[[Sample], T]
    ) -> list[T]:
        number, since = address
        batches = [
            Batch(pair, outputs_each, Phase.SEARCH, (self.stage, number, since + i), one_by_one=self.one_by_one)
            for i, pair in enumerate(pairs)
        ]
        return self.draw.draw_each(batches, observe, self.before + self.sizes.search)


def outputs_at_distance(outputs: int, steps: int) -> int:
    """Return how many outputs on data sets ``steps`` moves apart show as much as these outputs show on neighbours.

    There a loss is ``steps`` times larger, and needs ``steps``² times fewer outputs.
    """
    return max(1, outputs // steps**2)


def ends(along: Sequence[Pair]) -> Pair:
    """Return the two data sets at the ends of a path. They are neighbours only if the path has one step."""
    return replace(along[0], right=along[-1].right)


@dataclass(frozen=True, slots=True)
class Forecast:
    """Forecast the bound on a pair, or on a data set ``alone``, from outputs on it; a class, since it travels to the workers.

    With ``held_out`` the forecast uses outputs from which the test was not learned.
    """

    method: AnyMethod
    alone: bool = False
    held_out: bool = False

    def __call__(self, sample: Sample) -> float:
        """Return the forecast; −∞ where there are too few outputs."""
        if min(sample.left.size, sample.right.size) < 4 and not self.alone:
            return -np.inf
        return self.method.forecast_held_out(sample) if self.held_out else self.method.learn(sample).forecast


@dataclass(frozen=True, slots=True)
class _PairScore:
    """Score a pair by the bound it is forecast to give; return its kind as well, and whether it raised."""

    forecast: Forecast

    def __call__(self, sample: Sample) -> tuple[float, str, bool]:
        # A plain tuple, as it comes back from a store.
        return self.forecast(sample), kind_of_outputs(sample), sample.redrawn or sample.raised()


def kind_of_outputs(sample: Sample) -> str:
    """Return the most frequent content of each place, on each side: numbers, or an atom."""
    return " | ".join(", ".join(_commonest(column) for column in side.columns) for side in (sample.left, sample.right))


def _commonest(column: OutputColumn) -> str:
    if column.codes is None or np.count_nonzero(column.codes < 0) * 2 >= len(column.codes):
        return f"{column.name}: number"
    return f"{column.name}: {column.atoms[np.bincount(column.codes[column.codes >= 0]).argmax()]}"
