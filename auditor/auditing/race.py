"""A race among pairs: sources propose, and each rung gives its outputs to fewer pairs, more outputs each.

The race is successive halving (Karnin, Koren & Somekh, "Almost optimal exploration in multi-armed bandits", ICML 2013; Jamieson
& Talwalkar, "Non-stochastic best arm identification", AISTATS 2016) with a fixed budget, since the outputs of a search are
fixed in advance. It needs no gap between the best pair and the others, which nobody knows. As in top-two sampling (Russo,
"Simple Bayesian algorithms for best arm identification", COLT 2016), what ranks the pairs is the posterior probability that a
pair decides the audit, and the favourite has a challenger: the likeliest simple pair, and the pair with the largest utility,
stay in each rung.

A pair keeps all its evidence, over rungs and rounds. A race does not know what outputs are: a :class:`Game` draws, and says
what pairs are worth. The games are outputs on pairs (:mod:`auditor.auditing.pair_search`), rates on data sets, answers of
queries, and outputs in which a fault is planted (:mod:`auditor.auditing.planted`).
"""

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import InitVar, dataclass, field, replace
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

import numpy as np

from auditor.auditing.tuning import TUNING, SearchTuning
from auditor.bounds.digits import round_significant
from auditor.interfaces import Domain, ManyNumbers
from auditor.neighbours.pair import Pair, distinct
from auditor.neighbours.search import Listed

# Utilities are compared to DIGITS digits, since further digits depend on the processor and would decide ties.
DIGITS = 6
HALVING = "the most promising of these, and pairs near them"


@dataclass(frozen=True, slots=True)
class Look:
    """All looks at one pair, joined.

    ``evidence`` is what a game made of ``outputs`` outputs, ``learned`` what rules won on outputs drawn to learn from, and
    ``prospects`` what a game forecasts from both. ``kind`` is the commonest kind of the outputs on each side. If the outputs
    are drawn on data sets at a distance, ``along`` is the path between them, of which ``pair`` is a step, ``ends`` has its ends.
    A look that is ``left_out`` gets no further outputs, and cannot win.
    """

    pair: Pair
    evidence: ManyNumbers = ()
    learned: ManyNumbers = ()
    prospects: tuple[Any, ...] = ()
    simple: bool = False
    kind: str = ""
    outputs: int = 0
    along: tuple[Pair, ...] = ()
    ends: Pair | None = None
    left_out: bool = False

    @property
    def key(self) -> str:
        """The key of what outputs are drawn on."""
        return self.drawn_on.key()

    @property
    def drawn_on(self) -> Pair:
        """The pair of data sets on which outputs are drawn: the ends of the path, or the pair."""
        return self.ends or self.pair


class Utilities(NamedTuple):
    """The utility of each look. While ``exploring``, little weight is on what cannot change the decision."""

    exploring: list[float]
    deciding: list[float]


class Game(Protocol):
    """What a race is about: it draws outputs on pairs, and says what the pairs are worth."""

    @property
    def exact(self) -> bool:
        """Whether one output says all there is to know."""

    def draw(self, name: str, looks: Sequence[Look], each: int) -> list[Look]:
        """Draw ``each`` outputs for each look, and return the looks with these joined. ``name`` is for the report."""

    def utilities(self, looks: Sequence[Look]) -> Utilities:
        """Return the utility of each look."""

    def refocus(self, looks: Sequence[Look]) -> list[Look]:
        """Return the looks after the sources, judged by what they show together."""


class Ranked(NamedTuple):
    """All looks of a race, the most useful first, by each of their :class:`Utilities`."""

    exploring: list[Look]
    deciding: list[Look]


G = TypeVar("G", bound=Game)


@dataclass(frozen=True, slots=True)
class PairSource:
    """A source of pairs for a race, such as the simplest pairs of a domain.

    ``propose`` gets the race and the number of outputs that the source may spend, of which it may spend some itself; the race
    looks at the proposed pairs with what is left. ``name`` is for the report, which adds up what sources of one name draw.
    """

    name: str
    share: float
    propose: "Callable[[Race[Any], float], Sequence[Pair | Look]]"
    when: "Callable[[Race[Any], float], bool] | None" = None


@dataclass
class Race(Generic[G]):
    """A race on a domain. ``pool`` holds the looks by their keys, and ``spent`` is how many outputs the race has drawn.

    ``memory`` keeps what sources ask of the domain at random. ``listed`` is what the domain lists, which earlier races may have
    asked for (``known``).
    """

    game: G
    domain: Domain
    rng: np.random.Generator
    pool: dict[str, Look] = field(default_factory=dict)
    tuning: SearchTuning = TUNING
    spent: float = 0
    memory: dict[str, Any] = field(default_factory=dict)
    known: InitVar[Listed | None] = None

    def once(self, name: str, make: Callable[[], Any]) -> Any:
        """Return what ``make`` returned when first asked for this name."""
        if name not in self.memory:
            self.memory[name] = make()
        return self.memory[name]

    def __post_init__(self, known: Listed | None) -> None:
        self.listed = known if known is not None and known.domain is self.domain else Listed(self.domain)
        self.simple = {pair.key() for pair in self.listed.simplest[:6]}

    def run(self, sources: Sequence[PairSource], outputs: int, first: Sequence[Pair] = ()) -> Look:
        """Let the sources propose, halve, and return the look of the largest utility: the first pair if outputs suffice for none.

        Pairs in ``first`` stay to the end.
        """
        before = self.spent
        used = [source for source in sources if source.when is None or source.when(self, source.share * outputs)]
        scale = min(1.0, self.tuning.of_sources / max(1e-9, sum(source.share for source in used)))
        for source in used:
            self._from_source(source, scale * source.share * outputs)
        self.pool = {look.key: look for look in self.game.refocus([*self.pool.values()])}
        self._halve(outputs - (self.spent - before), first)
        return next(iter(self.ranked().deciding), Look((*first, *self.listed.corners[:1])[0]))

    def _from_source(self, source: PairSource, outputs: float) -> None:
        before = self.spent
        proposed = source.propose(self, outputs)
        self.look(source.name, proposed, outputs - (self.spent - before))

    def look(self, name: str, proposed: Sequence[Pair | Look], outputs: float) -> None:
        """Look at the first of the proposed pairs, as many as the outputs suffice for."""
        looks = {look.key: look for look in map(self._known, proposed) if not look.left_out}
        if self.game.exact:
            new, each = [look for key, look in looks.items() if key not in self.pool][: self.room(outputs)], 1
        else:
            new = list(looks.values())[: max(1, self.room(outputs))]
            each = int(outputs) // max(1, len(new))
        if not new or each < 1:
            return
        self.pool.update((look.key, look) for look in self.game.draw(name, new, each))
        self.spent += each * len(new)

    def room(self, outputs: float) -> int:
        """Return at how many pairs so many outputs suffice to look."""
        return max(0, int(outputs)) // (1 if self.game.exact else self.tuning.first_look)

    def _known(self, proposed: Pair | Look) -> Look:
        if known := self.pool.get(proposed.key if isinstance(proposed, Look) else proposed.key()):
            return known
        look = proposed if isinstance(proposed, Look) else Look(proposed)
        return replace(look, simple=True) if look.pair.key() in self.simple else look

    def ranked(self) -> Ranked:
        """Return all looks, the most useful first. Looks of equal utility keep the order in which they came."""
        looks = [look for look in self.pool.values() if not look.left_out]
        return Ranked(*([looks[i] for i in best_first(of_looks)] for of_looks in self.game.utilities(looks)))

    def _halve(self, outputs: float, first: Sequence[Pair]) -> None:
        tuning = self.tuning
        rungs = next(
            r
            for r in range(tuning.most_rungs, 0, -1)
            if r == 1 or outputs >= r * tuning.look * tuning.finalists * 2 ** (r - 1) or self.game.exact
        )
        left = outputs
        for rung in range(rungs):
            of_rung, number = left / (rungs - rung), tuning.finalists * 2 ** (rungs - 1 - rung)
            before, is_last = self.spent, rung == rungs - 1
            kept = self._front(number, first)
            near = [] if is_last and not self.game.exact else self._near(kept, number, int(of_rung))
            self.look(HALVING, [*kept, *near], of_rung)
            left -= self.spent - before

    def _front(self, number: int, first: Sequence[Pair]) -> list[Look]:
        """Return the looks that stay in a race of so many: the most useful, and the challengers."""
        likeliest, surest = self.ranked()
        if not likeliest:
            return [Look(pair) for pair in (first or self.listed.corners[:1])]
        simple = [look for look in likeliest if look.simple][:1]
        apart = [look for look in likeliest if look.along][: max(1, number // 2)]
        chosen = [*likeliest[:1], *simple, *surest[:1], *map(self._known, first), *apart, *likeliest[1:]]
        return list({look.key: look for look in chosen}.values())[: max(number, len(first) + 3)]

    def _near(self, kept: Sequence[Look], number: int, outputs: int) -> list[Pair]:
        """Return pairs near the best ones: changed at random, or one step simpler, which leads to the ends of ranges."""
        most = min(number, outputs) if self.game.exact else max(1, round(self.tuning.near_share * number))
        best = [look.pair for look in kept[: max(1, number // 2)]]
        ways = [self._simpler(pair) for pair in best[:2]]
        simpler = [pair for way in ways for pair in way]
        rounds = -(-most // len(best))
        mutants = [self.domain.mutate(pair, self.rng) for _ in range(rounds) for pair in best]
        return distinct([*simpler[: most // 2], *mutants])[:most]

    def _simpler(self, pair: Pair) -> list[Pair]:
        """Return a few pairs that are one step simpler, at random."""
        # The same pair may have come from other moves, by which it is made simpler. So the key is the pair as it was made.
        some, _ = self.once(
            f"simpler than {id(pair)}", lambda: ([*itertools.islice(self.domain.simpler(pair), 64)], pair)
        )
        return [some[i] for i in self.rng.permutation(len(some))[:2]]


def best_first(scores: Sequence[float]) -> list[int]:
    """Return the indices of scores, the highest first and NaN last. Scores equal to DIGITS digits keep their order."""
    rounded = [round_significant(score, DIGITS) for score in scores]
    return sorted(range(len(scores)), key=lambda i: -rounded[i] if rounded[i] > -np.inf else np.inf)


def new_pairs(race: Race[Any], pairs: Iterator[Pair]) -> Iterator[Pair]:
    """Yield the pairs that are not in the pool, each once."""
    seen = set(race.pool)
    for pair in pairs:
        if (key := pair.key()) not in seen:
            seen.add(key)
            yield pair
