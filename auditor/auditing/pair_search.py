"""The search of an audit: a race among pairs of neighbours, for the pair with the best forecast of the round's bound.

A large loss shows on neighbours with few outputs. A small loss ε takes some 1/ε² outputs on each pair, too many for all
pairs. So for a small loss, data sets k moves apart take part in the race, where losses add up by group privacy. The claim
says how large a loss to look for. If it is small, or so large that it says nothing, what the race sees decides.

A pair is worth the probability that the bound will refute the claim, plus a little for the expected bound
(:mod:`auditor.bounds.utility`).
"""

import functools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

import numpy as np

from auditor.auditing.ledger import Ledger
from auditor.auditing.plan import Plan
from auditor.auditing.race import Look, Race, Utilities
from auditor.auditing.sizes import Round
from auditor.auditing.sources import OF_NEIGHBOURS
from auditor.auditing.tuning import TUNING
from auditor.blackbox.batches import Batch, Phase, rng_at
from auditor.blackbox.outputs import OutputColumn
from auditor.blackbox.sample import Sample
from auditor.bounds.utility import UNLIKE_IF_SIMPLE, WORTH_OF_BOUND, WORTH_TO_EXPLORE, Outlook
from auditor.claims import PrivacyClaim, PureDP
from auditor.events.event import Event
from auditor.interfaces import AnyMethod, ManyNumbers
from auditor.neighbours.domains import Pairs
from auditor.neighbours.pair import Pair
from auditor.neighbours.search import has_one_pair
from auditor.results.result import Stage

T = TypeVar("T")

# In the kind of a pair's outputs, what stands between those of the two sides.
SIDES_APART = " | "
# In the addresses of outputs drawn for edges, EDGES stands for the number of the look.
EDGES = 99
# A stage notes the smallest violation that its looks detect with this probability.
CHANCE = 0.95


@dataclass
class PairGame:
    """Outputs of a mechanism on the two sides of pairs. The round's number is part of each address.

    ``claim`` has the size that is looked for. If the claim is ``refuted``, a large bound is worth most.
    """

    plan: Plan
    size: Round
    ledger: Ledger
    claim: PrivacyClaim
    known_kinds: dict[str, str] = field(default_factory=dict)
    refuted: bool = False
    one_by_one: bool = False
    looks: int = 0
    exact = False

    def __post_init__(self) -> None:
        self.before = self.ledger.spent.search
        self.same_noise = self.ledger.reproducible and self.plan.drawer().takes_rng

    @property
    def steps(self) -> int:
        """The moves between data sets at a distance; 1 if neighbours show a loss of the size that is looked for."""
        usable = (
            steps_apart(self.claim) > 1 and not isinstance(self.plan.domain, Pairs) and self.ledger.listed.has_paths
        )
        return steps_apart(self.claim) if usable else 1

    def method(self, steps: int = 1) -> AnyMethod:
        """Return the method that tests the claim on data sets ``steps`` moves apart, for the bound of the round."""
        return self.plan.method(outputs_at_distance(self.size.bound, steps), self.claim, self.size.share)

    def draw(self, name: str, looks: Sequence[Look], each: int) -> list[Look]:
        """See Game."""
        self.ledger.pairs.update(look.pair.key() for look in looks)
        method = self.method()
        seen = self._on([look.drawn_on for look in looks], each, functools.partial(_seen, method, self.plan.without))
        self.known_kinds.update((look.key, kind) for look, (_, kind, _, _) in zip(looks, seen, strict=True))
        # A batch that raises hides its other outputs. So the next looks call the mechanism for each output.
        self.one_by_one = self.one_by_one or any(raised for _, _, raised, _ in seen)
        self.enter(name, len(looks), each * len(looks))
        return [
            self.judged(
                replace(
                    look,
                    evidence=method.joined(look.evidence, evidence),
                    kind=kind,
                    outputs=look.outputs + each,
                    left_out=shown,
                )
            )
            for look, (evidence, kind, _, shown) in zip(looks, seen, strict=True)
        ]

    def judged(self, look: Look) -> Look:
        """Return a look with the prospects that its evidence gives for the claim that is looked for."""
        steps, exponent = max(1, len(look.along)), self.claim.group_exponent or 1
        method = self.method(steps)
        shown = method.prospects(method.joined(look.evidence, look.learned))
        if steps > 1:
            return replace(look, prospects=tuple(one.per_step(steps**exponent) for one in shown))
        least = UNLIKE_IF_SIMPLE if look.simple else 0.0
        return replace(look, prospects=tuple(one._replace(unlike=max(one.unlike, least)) for one in shown))

    def utilities(self, looks: Sequence[Look]) -> Utilities:
        """See Game. The prior of losses is fitted to all looks."""
        outlook = Outlook.of([look.prospects for look in looks], self.claim.value)
        worths = (TUNING.worth_if_refuted,) * 2 if self.refuted else (WORTH_TO_EXPLORE, WORTH_OF_BOUND)
        return Utilities(*map(outlook.utilities, worths))

    def refocus(self, looks: Sequence[Look]) -> list[Look]:
        """See Game. A small claim, or one that says nothing, is looked for as large as the loss that the looks show."""
        claim = self.plan.claim
        assert isinstance(claim, PrivacyClaim)
        if not (is_far(claim) or steps_apart(claim) > 1):
            return list(looks)
        exponent = claim.group_exponent or 1
        least = (TUNING.least_loss if looks else 1.0) ** exponent / exponent if is_far(claim) else claim.value
        safe = (
            one.loss - TUNING.caution * one.error for look in looks for one in look.prospects if math.isfinite(one.loss)
        )
        self.claim = claim.with_value(max(least, *safe, 0.0))
        return [*map(self.judged, looks)]

    def promise(self, drawn_on: Sequence[Pair], each: int) -> list[float]:
        """See OutputGame."""
        method = self.method()
        seen = self._on(drawn_on, each, functools.partial(shown_by, method))
        return Outlook.of([method.prospects(one) for one in seen], self.claim.value).utilities()

    def compare(self, pairs: Sequence[Pair], size: int) -> list[float]:
        """See OutputGame."""
        return self.ledger.compare(pairs, size)

    def compared(self, size: int) -> dict[str, float]:
        """See OutputGame."""
        return self.ledger.distances[size]

    def kinds(self, pairs: Sequence[Pair]) -> list[str]:
        """See OutputGame. A kind that is known is not drawn again."""
        new = [pair for pair in pairs if pair.key() not in self.known_kinds]
        if new:
            kinds = self._on(new, TUNING.first_look, kind_of_outputs, (EDGES, len(self.known_kinds)))
            self.known_kinds.update(zip((pair.key() for pair in new), kinds, strict=True))
        return [self.known_kinds[pair.key()] for pair in pairs]

    def enter(self, name: str, pairs: int, outputs: int) -> None:
        """See OutputGame. A report lists what was looked at with how many outputs, and the violation that they detect."""
        caught = self.plan.method(outputs // max(1, pairs), self.claim).foreseen(1.0, CHANCE)
        self.ledger.stages.append(Stage(name, pairs, outputs, caught))

    def _on(
        self, pairs: Sequence[Pair], each: int, observe: Callable[[Sample], T], address: tuple[int, int] | None = None
    ) -> list[T]:
        """Return what ``observe`` sees in outputs on each pair. The address is by default that of a new look."""
        if address is None:
            address, self.looks = (self.looks, 0), self.looks + 1
        number, since = address
        batches = [
            Batch(pair, each, Phase.SEARCH, (self.size.number, number, since + i), one_by_one=self.one_by_one)
            for i, pair in enumerate(pairs)
        ]
        return self.ledger.draw_each(batches, observe, self.before + self.size.search)


def outputs_at_distance(outputs: int, steps: int) -> int:
    """Return how many outputs on data sets ``steps`` moves apart show as much as ``outputs`` show on neighbours.

    At that distance a loss is ``steps`` times larger, and needs ``steps``² times fewer outputs.
    """
    return max(1, outputs // steps**2)


def shown_by(method: AnyMethod, sample: Sample) -> ManyNumbers:
    """Return the evidence of outputs on the loss."""
    return () if too_few(sample) else method.evidence(sample)


def _seen(method: AnyMethod, without: Sequence[Event], sample: Sample) -> tuple[ManyNumbers, str, bool, bool]:
    """Return the evidence of outputs on the loss, their kind, whether any of them raised, or shows an event of ``without``."""
    shown = any(event.occurs_in(sample) for event in without)
    return () if shown else shown_by(method, sample), kind_of_outputs(sample), sample.redrawn or sample.raised(), shown


def too_few(sample: Sample) -> bool:
    """Whether a side has too few outputs to learn a rule and to judge it."""
    return min(sample.left.size, sample.right.size) < 4


def kind_of_outputs(sample: Sample) -> str:
    """Return the most frequent content of each column on each side: numbers, one value that is no number, or several such."""
    return SIDES_APART.join(
        ", ".join(_commonest(column) for column in side.columns) for side in (sample.left, sample.right)
    )


def _commonest(column: OutputColumn) -> str:
    if column.codes is None or np.count_nonzero(column.codes < 0) * 2 >= len(column.codes):
        return f"{column.name}: number"
    times = np.bincount(column.codes[column.codes >= 0])
    commonest = times.argmax()
    return f"{column.name}: {column.atoms[commonest] if times[commonest] > TUNING.clear * times.sum() else 'several values'}"


# --- A large loss, or a small one ---


@dataclass(frozen=True, slots=True)
class FoundPair:
    """The pair that a search ends with. If it was found at a distance, ``path`` holds the pairs between the ends.

    ``claim`` has the size that was searched for. ``rivals`` are other pairs to learn on. ``looks`` holds the looks of
    this search and of earlier ones, by their keys.
    """

    pair: Pair
    claim: PrivacyClaim
    path: Sequence[Pair] = ()
    rivals: Sequence[Pair] = ()
    looks: Mapping[str, Look] = field(default_factory=dict)


def find_pair(
    plan: Plan, size: Round, ledger: Ledger, looks: Mapping[str, Look], *, refuted: bool = False
) -> FoundPair:
    """Search the domain for the pair with the best forecast for a round's bound; ``looks`` holds earlier looks by key.

    If the claim is ``refuted``, the search looks for the largest bound near the best pairs. Nothing is drawn if the domain has one
    pair, or if outputs are few.
    """
    claim, domain = plan.claim, plan.domain
    assert isinstance(claim, PrivacyClaim)
    rng = rng_at(plan.settings.seed, Phase.SEARCH, size.number)
    # The pair of the round before has outputs to learn from, so it stays in the race.
    before = [look.pair for look in looks.values() if look.learned][-1:]
    if has_one_pair(domain, rng) or size.search < TUNING.least_outputs:
        best = next(iter(looks.values()), None)
        return FoundPair(best.pair if best else domain.corners()[0], claim, looks=looks)
    kinds = {key: look.kind for key, look in looks.items() if look.kind}
    game = PairGame(plan, size, ledger, claim, kinds, refuted)
    pool = {look.key: look for look in game.refocus([*map(game.judged, looks.values())])}
    tuning = replace(TUNING, near_share=TUNING.near_share_if_refuted) if refuted else TUNING
    race = Race(game, domain, rng, pool, tuning, known=ledger.listed)
    only_known = looks and (not size.new or (refuted and steps_apart(claim) == 1))
    sources = () if only_known else OF_NEIGHBOURS
    best = race.run(sources, size.search, before)
    ranked = race.ranked().deciding
    far, near = (
        next((look for look in ranked if bool(look.along) == at_distance), None) for at_distance in (True, False)
    )
    if far and near:
        [by_step, alone] = game.utilities([far, near]).deciding
        best = near if alone > max(by_step, TUNING.likely) else far
    rivals = [] if best.along or steps_apart(claim) > 1 else [*_runner_up(race, best), *_farthest_of_all(race, ledger)]
    # The loss between the ends of the path says most about its middle step.
    pair = best.along[len(best.along) // 2] if best.along else best.pair
    return FoundPair(pair, game.claim, best.along, rivals, race.pool)


def _runner_up(race: Race[PairGame], best: Look) -> list[Pair]:
    """Return the other pair that is likeliest to refute the claim, if it is not much less likely to than the best."""
    if race.game.refuted:
        return []
    ranked = race.ranked().exploring
    if other := _by_other_events(race.game, best, ranked):
        return [other]
    [first, *others] = race.game.utilities([best, *ranked[:2]]).exploring
    close = [look.pair for look, utility in zip(ranked, others, strict=False) if utility > TUNING.runner_up * first]
    return [pair for pair in close if pair.key() != best.pair.key()][:1]


def _by_other_events(game: PairGame, best: Look, ranked: Sequence[Look]) -> Pair | None:
    """Return the pair that is likeliest to refute the claim by the δ that its events spend, if the best pair is by others, or
    the reverse. Return None if no event spends δ.

    Noise calibrated to ε brings many pairs close to the claim, and none beyond it; a threshold that is too low shows elsewhere.
    """
    looks = [best, *(look for look in ranked if look.key != best.key)]
    if not any(one.of_delta for look in looks for one in look.prospects):
        return None
    of_loss, of_delta = (
        game.utilities(
            [replace(look, prospects=tuple(one for one in look.prospects if one.of_delta == kind)) for look in looks]
        ).exploring
        for kind in (False, True)
    )
    utilities = of_delta if of_loss[0] >= of_delta[0] else of_loss
    other = max(range(1, len(looks)), key=utilities.__getitem__, default=0)
    return looks[other].pair if other and utilities[other] > -math.inf else None


def _farthest_of_all(race: Race[PairGame], ledger: Ledger) -> list[Pair]:
    """Return the farthest of all pairs that were looked at and compared again with the same noise; () without one."""
    apart = {
        key: ledger.distances[TUNING.again].get(key, 0.0)
        for key, look in race.pool.items()
        if not (look.along or look.left_out)
    }
    farthest = max(apart, key=apart.__getitem__, default="")
    return [race.pool[farthest].pair] if farthest and apart[farthest] > TUNING.rounding else []


def is_far(claim: PrivacyClaim) -> bool:
    """Return whether the claim allows too much to say where to look."""
    return claim.group_exponent is not None and claim.total_variation() > PureDP(TUNING.far_claim).total_variation()


def steps_apart(claim: PrivacyClaim) -> int:
    """Return the number of moves between the ends of a path: if each loses the claimed ε, all lose about ε = 1.

    A loss of ε shows in some 1/ε² outputs. If each of n moves loses the same, the ends of the path lose n times as
    much, and show it in n² times fewer outputs. If only one move loses anything, the ends show that too. The number is
    odd, since two moves may undo each other. It is 1 if the claim says nothing about larger groups.

    >>> from auditor.claims import PureDP
    >>> steps_apart(PureDP(1.0)), steps_apart(PureDP(0.3)), steps_apart(PureDP(0.1))
    (1, 3, 9)
    """
    if claim.group_exponent is None:
        return 1
    return 1 + 2 * round((1 / max(claim.relative_size, 1 / TUNING.most_steps) - 1) / 2)


def affordable_pairs(claim: PrivacyClaim, outputs: int) -> int:
    """Return the number of pairs on which a search with these outputs can show a loss as small as the claim.

    Return 0 for a large claim or too few outputs. A loss of size s needs some 1/s² outputs. The code asks for 1/s³, a
    rule of thumb that is not derived: it gives about 19,000 outputs a pair at ε = 0.1.

    >>> from auditor.claims import PureDP
    >>> affordable_pairs(PureDP(0.1), 150_000), affordable_pairs(PureDP(0.1), 6_000_000), affordable_pairs(PureDP(1.0), 6_000_000)
    (0, 78, 0)
    """
    if steps_apart(claim) == 1:
        return 0
    pairs = int(outputs / 4 * max(claim.relative_size, 1e-3) ** 3 / (TUNING.look / 2))
    return pairs if pairs >= TUNING.most_paths / 4 else 0
