"""Looks at pairs in a search: outputs on each pair of a round, and what a method forecasts from them.

Each look is on fresh outputs.
"""

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

import numpy as np

from auditor.auditing.draw import Draw
from auditor.auditing.plan import Plan
from auditor.auditing.sizes import Round
from auditor.blackbox.batches import Batch, Phase, rng_at
from auditor.blackbox.outputs import OutputColumn
from auditor.blackbox.sample import Sample
from auditor.bounds.prospect import UNLIKE_IF_SIMPLE, Promised, Prospect
from auditor.claims import PrivacyClaim
from auditor.interfaces import CLOSELY, AnyMethod, ManyNumbers
from auditor.neighbours.pair import Pair
from auditor.neighbours.search import FIRST_LOOK
from auditor.results.result import Stage

T = TypeVar("T")

# In the addresses of outputs drawn for edges, this stands for the round.
EDGES = 99
# The chance for which a stage says what it would have caught.
CHANCE = 0.95


@dataclass
class Looks:
    """Draws outputs on the pairs of the search of a round, ``now``, for its bound. Its number is part of the addresses."""

    plan: Plan
    now: Round
    draw: Draw
    rounds: int = 0
    known_kinds: dict[str, str] = field(default_factory=dict)
    one_by_one: bool = False

    def __post_init__(self) -> None:
        self.rng = rng_at(self.plan.settings.seed, Phase.SEARCH, self.now.number)
        self.before = self.draw.spent.search
        self.simple = {pair.key() for pair in self.plan.domain.simplest()[:CLOSELY]}

    @property
    def spent(self) -> int:
        """How many outputs this search has drawn."""
        return self.draw.spent.search - self.before

    def method(self, claim: PrivacyClaim, steps: int = 1) -> AnyMethod:
        """Return the method for a claim of some size, on data sets ``steps`` moves apart."""
        return self.plan.method(outputs_at_distance(self.now.bound, steps), claim, self.now.share)

    def on_pairs(
        self, name: str, pairs: Sequence[Pair], outputs_each: int, claim: PrivacyClaim, known: "Mapping[str, Look]"
    ) -> "tuple[Look, ...]":
        """Look at pairs for a claim of some size; ``name`` is that of the stage, and ``known`` has earlier looks by pair."""
        method = self.method(claim)
        self.draw.pairs.update(pair.key() for pair in pairs)
        seen = self.on(pairs, outputs_each, functools.partial(_pair_look, method))
        self.known_kinds.update((pair.key(), kind) for pair, (_, kind, _) in zip(pairs, seen, strict=True))
        # A batch that raises says nothing about its other outputs, and may raise on the next look or not.
        self.one_by_one = self.one_by_one or any(raised for _, _, raised in seen)
        self.enter(name, len(pairs), outputs_each, claim)
        return tuple(
            known.get(pair.key(), Look(pair, simple=pair.key() in self.simple)).joined(
                evidence, kind, method, outputs_each
            )
            for pair, (evidence, kind, _) in zip(pairs, seen, strict=True)
        )

    def promised(self, drawn_on: Sequence[Pair], outputs_each: int, method: AnyMethod) -> list[float]:
        """Return what outputs on pairs of data sets promise that are no pairs of the search, such as the ends of a path."""
        seen = self.on(drawn_on, outputs_each, functools.partial(shown_by, method))
        return Promised.of([method.prospects(one) for one in seen], method.claim.value).utilities()

    def enter(self, name: str, pairs: int, outputs_each: int, claim: PrivacyClaim) -> None:
        """Note what a stage looked at."""
        caught = self.plan.method(outputs_each, claim).foreseen(1.0, CHANCE)
        self.draw.stages.append(Stage(name, pairs, pairs * outputs_each, caught))

    def kinds(self, pairs: Sequence[Pair]) -> list[str]:
        """Return the kind of each pair. An unknown kind is found with a few outputs."""
        new = [pair for pair in pairs if pair.key() not in self.known_kinds]
        if new:
            kinds = self.on(new, FIRST_LOOK, kind_of_outputs, (EDGES, len(self.known_kinds)))
            self.known_kinds.update(zip((pair.key() for pair in new), kinds, strict=True))
        return [self.known_kinds[pair.key()] for pair in pairs]

    def on(
        self, pairs: Sequence[Pair], each: int, observe: Callable[[Sample], T], address: tuple[int, int] | None = None
    ) -> list[T]:
        """Return the observations of outputs on each pair, drawn at an address in the search, by default at that of a new round."""
        if address is None:
            address, self.rounds = (self.rounds, 0), self.rounds + 1
        number, since = address
        batches = [
            Batch(pair, each, Phase.SEARCH, (self.now.number, number, since + i), one_by_one=self.one_by_one)
            for i, pair in enumerate(pairs)
        ]
        return self.draw.draw_each(batches, observe, self.before + self.now.search)


def outputs_at_distance(outputs: int, steps: int) -> int:
    """Return how many outputs on data sets ``steps`` moves apart show as much as these outputs show on neighbours.

    There a loss is ``steps`` times larger, and needs ``steps``² times fewer outputs.
    """
    return max(1, outputs // steps**2)


def ends(along: Sequence[Pair]) -> Pair:
    """Return the two data sets at the ends of a path. They are neighbours only if the path has one step."""
    return replace(along[0], right=along[-1].right)


@dataclass(frozen=True, slots=True)
class Look:
    """All looks at a pair together, and what they promise, the events that most outputs show first.

    ``learned`` is what rules won on outputs of the pair that were drawn to learn from.
    """

    pair: Pair
    evidence: ManyNumbers = ()
    learned: ManyNumbers = ()
    prospects: tuple[Prospect, ...] = ()
    simple: bool = False
    kind: str = ""  # of its outputs, as ``kind_of_outputs`` says it
    outputs: int = 0

    def joined(self, evidence: ManyNumbers, kind: str, method: AnyMethod, outputs: int) -> "Look":
        """Return the same with one more look, at so many outputs."""
        both = method.joined(self.evidence, evidence)
        return replace(self, evidence=both, kind=kind, outputs=self.outputs + outputs).judged_by(method)

    def judged_by(self, method: AnyMethod) -> "Look":
        """Return the same with what its evidence promises by a method."""
        least = UNLIKE_IF_SIMPLE if self.simple else 0.0
        shown = method.prospects(method.joined(self.evidence, self.learned))
        promised = (one._replace(unlike=max(one.unlike, least)) for one in shown)
        return replace(self, prospects=tuple(promised))


def shown_by(method: AnyMethod, sample: Sample) -> ManyNumbers:
    """Return the evidence of outputs on the loss."""
    return () if too_few(sample) else method.evidence(sample)


def _pair_look(method: AnyMethod, sample: Sample) -> tuple[ManyNumbers, str, bool]:
    """Return the evidence of outputs on the loss, the kind of the pair, and whether it raised."""
    return shown_by(method, sample), kind_of_outputs(sample), sample.redrawn or sample.raised()


def too_few(sample: Sample) -> bool:
    """Whether a side has too few outputs to learn a rule and to judge it."""
    return min(sample.left.size, sample.right.size) < 4


def kind_of_outputs(sample: Sample) -> str:
    """Return the most frequent content of each place, on each side: numbers, or an atom."""
    return " | ".join(", ".join(_commonest(column) for column in side.columns) for side in (sample.left, sample.right))


def _commonest(column: OutputColumn) -> str:
    if column.codes is None or np.count_nonzero(column.codes < 0) * 2 >= len(column.codes):
        return f"{column.name}: number"
    return f"{column.name}: {column.atoms[np.bincount(column.codes[column.codes >= 0]).argmax()]}"
