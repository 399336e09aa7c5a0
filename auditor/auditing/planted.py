"""After a pass, faults are planted in existing outputs, to see which of them the search would have found.

A fault shows only on data sets of which some fact is true (:mod:`auditor.neighbours.facts`). The race of the search is run again
with a game that draws nothing: outputs of the pair with which the audit ended stand for those of each pair on which the fault
shows, and the fault is planted in them.
"""

import itertools
import math
import zlib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from auditor.auditing.ledger import Ledger
from auditor.auditing.outcome import Audit
from auditor.auditing.pair_search import PairGame, shown_by
from auditor.auditing.plan import CHANCES, Plan
from auditor.auditing.race import Look, Race, Utilities, best_first
from auditor.auditing.sizes import rounds_for
from auditor.auditing.sources import OF_NEIGHBOURS
from auditor.auditing.tuning import TUNING
from auditor.blackbox.batches import Phase, rng_at
from auditor.blackbox.canonical import from_list
from auditor.blackbox.outputs import ABSENT, NUMBER, OutputColumn, Outputs, concatenate
from auditor.blackbox.sample import Sample
from auditor.bounds.utility import WORTH_TO_EXPLORE, Outlook, Prior, fit_prior_to_pilots
from auditor.claims import PrivacyClaim
from auditor.defaults import VALUES
from auditor.errors import InvalidInputError
from auditor.events.features import LARGEST_FLOAT, varies
from auditor.interfaces import AnyMethod, ManyNumbers
from auditor.neighbours.facts import Fact, facts_of
from auditor.neighbours.pair import Pair, distinct
from auditor.neighbours.search import Listed, spread
from auditor.results.result import Probed
from auditor.verdict import ENOUGH_FOUND, OF_A_KIND_BY_CHANCE, TIMES, found_too_few

Mask = NDArray[np.bool_]

# The name under which a resumed run and a replay find the outcome.
KEPT = "planted faults"
CHANCE = CHANCES[-1][1]
# In the addresses of the streams that pick faults and outputs, PICKING stands for the number of the round.
PICKING = 98
# At least PAIRS_LOOKED_AT pairs show which facts tell neighbours apart. No fault is planted on a fact that tells less
# than the share LEAST_APART of them apart, since a search finds it by luck only, except for facts about one of few
# values.
PAIRS_LOOKED_AT, LEAST_APART = 300, 0.005
# Of KINDS_LOOKED_AT kinds with which least faults are found, so many are planted, since chance explains that one of six is found.
KINDS_LOOKED_AT, OF_A_KIND = 2, 24
# A planted loss is LARGE times the claim.
LARGE = 2.0
# A replay compares half as many candidates of the sources, without a climb, and no orders.
OF_REPLAY = replace(TUNING, climbs=0, orders=0, most_compared=TUNING.most_compared // 2)


@dataclass(frozen=True, slots=True)
class Effect:
    """What a planted fault changes: on data sets of which its fact is true, a ``share`` of the outputs; on all others, a share of
    ``otherwise``.
    """

    words: str
    share: float
    change: Callable[[Outputs, Mask], Outputs | None]  # returns None for outputs that it cannot change
    otherwise: float = 0.0


def _is_null(outputs: Outputs, hit: Mask) -> Outputs:
    nulls = from_list([None] * int(hit.sum()))
    # Each row stays in its place, since halves are cut by place.
    rows = np.arange(outputs.size)
    rows[hit] = outputs.size + np.arange(nulls.size)
    return concatenate([outputs, nulls])[rows]


def _shifts(outputs: Outputs, hit: Mask) -> Outputs | None:
    column = _first_numbers(outputs)
    if column is None:
        return None
    numbers = column.numbers[np.isfinite(column.numbers)]
    low, high = np.quantile(numbers, [0.25, 0.75]) if len(numbers) else (0.0, 0.0)
    with np.errstate(over="ignore"):  # infinity is a shift as well
        shifted = column.numbers + min(10 * max(high - low, 1.0), LARGEST_FLOAT)
    return _with(outputs, replace(column, numbers=np.where(hit, shifted, column.numbers)))


def _rounds(outputs: Outputs, hit: Mask) -> Outputs | None:
    column = _first_numbers(outputs)
    if column is None or np.array_equal(column.numbers, np.rint(column.numbers)):
        return None
    # Larger doubles are whole numbers.
    hit = hit & (np.abs(column.numbers) < 2.0**52)
    numbers = column.numbers.copy()
    numbers[hit] = np.round(numbers[hit], 2) + 0.0
    return _with(outputs, replace(column, numbers=numbers))


def _loses_a_part(outputs: Outputs, hit: Mask) -> Outputs | None:
    if sum(column.codes is None for column in outputs.columns) < 2:
        return None
    column = outputs.columns[-1] if outputs.columns[-1].codes is None else _first_numbers(outputs)
    if column is None:
        return None
    codes = np.where(hit, 0, NUMBER).astype(np.int32)
    return _with(outputs, OutputColumn(column.name, np.where(hit, 0.0, column.numbers), codes, (ABSENT,)))


EFFECTS = (
    Effect("the answer is shifted", 1.0, _shifts),
    Effect("1 of 10 answers is null", 0.1, _is_null),
    Effect("the answer has two decimals", 1.0, _rounds),
    Effect("a part is missing from half of the answers", 0.5, _loses_a_part),
    Effect("1 of 100 answers is null", 0.01, _is_null),
)
# A fault that is rarer, and is planted on any data.
ANY, RARELY = Fact("any content"), Effect("1 of 1,000 answers is null", 0.001, _is_null)


def effects_for(claim: PrivacyClaim) -> list[Effect]:
    """Return the effects to plant: EFFECTS, which no claim allows, and a loss of LARGE times a claim."""
    try:
        far = claim.with_value(LARGE * claim.value).total_variation()
    except InvalidInputError:  # twice a total variation of 0.6 is above 1; the largest ε has no double
        far = 0.0
    twice = Effect("the loss is twice the claim", (1 + far) / 2, _is_null, (1 - far) / 2)
    return [*EFFECTS, *([twice] if far > 0 else [])]


def shown_by_outputs(effects: Sequence[Effect], method: AnyMethod) -> list[Effect]:
    """Return the effects that the planned outputs of a method, all on a pair on which they show, detect with probability
    CHANCE.

    The search is not to blame for others.
    """
    claim, rarest = method.claim, method.rarest(CHANCE)
    shows_large = method.foreseen(1.0, CHANCE) <= LARGE * claim.value
    return [each for each in effects if (shows_large if each.otherwise else each.share >= rarest)]


@dataclass(frozen=True, slots=True)
class PlantedFault:
    """A fact of data sets, and the effect on outputs of data sets that have this fact."""

    fact: Fact
    effect: Effect

    def __str__(self) -> str:
        return f"{self.effect.words} on data with {self.fact.kind}"

    def touched(self, pair: Pair, known: dict[str, frozenset[Fact]]) -> tuple[bool, bool]:
        """Return on which sides of a pair the fault shows. ``known`` keeps the facts of data sets, by their texts."""
        if self.fact is ANY:
            return True, False
        left, right = facts_of_sides(pair, known)
        return self.fact in left, self.fact in right

    def planted_in(self, sample: Sample, sides: tuple[bool, bool]) -> Sample:
        """Return the outputs as if the fault were in the mechanism, and showed on these sides."""
        left, right = map(self._changed, (sample.left, sample.right), sides)
        return replace(sample, left=left, right=right)

    def _changed(self, outputs: Outputs, touched: bool) -> Outputs:
        # The same outputs are changed in the same way.
        seed = zlib.crc32(b"".join(column.numbers.tobytes() for column in outputs.columns[:2]))
        share = self.effect.share if touched else self.effect.otherwise
        hit = np.random.default_rng(seed).random(outputs.size) < share
        changed = self.effect.change(outputs, hit) if hit.any() else outputs
        return outputs if changed is None else changed


def facts_of_sides(pair: Pair, known: dict[str, frozenset[Fact]]) -> list[frozenset[Fact]]:
    """Return the facts of both data sets of a pair. ``known`` keeps the facts of data sets, by their texts."""
    for dataset, text in zip((pair.left, pair.right), pair.texts(), strict=True):
        if text not in known:
            known[text] = facts_of(dataset)
    return [known[text] for text in pair.texts()]


def plant_faults(audit: Audit) -> Audit:
    """Plant faults in the outputs of a pass, and note which of them the same search finds."""
    plan, ledger, sample = audit.plan, audit.ledger, audit.sample
    # Planted faults change values, not bits.
    if not (ledger.pairs and sample and plan.settings.planted and VALUES in plan.settings.events):
        return audit
    kept = plan.store.recall(KEPT, lambda: _planted(_Replay.of(plan, sample, audit.looks, ledger)))
    return replace(audit, planted=probed_from(kept) if kept else None)


def probed_from(kept: Mapping[str, Any]) -> Probed:
    """Return what a store kept of planted faults, in which tuples may have become lists."""
    more, kinds = kept["with_more"], kept["kinds_missed"]
    counts = {kind: (found, of_kind) for kind, (found, of_kind) in kinds.items()}
    return Probed(kept["found"], kept["missed"], tuple(more) if more else None, counts)


def _planted(replay: "_Replay") -> dict[str, Any]:
    """Return what is found, by fields; if too little, also the first of TIMES with which it is enough. {} if none is planted."""
    probed = _tried(replay)
    if probed is not None and probed.too_few:
        for times in reversed(TIMES):  # if the most outputs are not enough, fewer are not
            then = _tried(replay.with_outputs(times))
            if then is None or then.too_few:
                break
            probed = replace(probed, with_more=(times, len(then.found)))
    return asdict(probed) if probed else {}


def _tried(replay: "_Replay") -> Probed | None:
    """Return which faults are found, of those that the outputs of the replay would show; None if none is planted."""
    plan, size = replay.plan, replay.game.size
    assert isinstance(plan.claim, PrivacyClaim)
    allowed = shown_by_outputs([*effects_for(plan.claim), RARELY], plan.method(size.bound, share=size.share))
    rng = rng_at(plan.settings.seed, Phase.SEARCH, PICKING)
    most = plan.settings.planted
    of_kinds = faults_of_kinds(replay.game.ledger.listed, replay.sample.left, rng, most, allowed, replay.facts)
    outcomes = {fault: replay.finds(fault) for fault in planted_faults(of_kinds, most, rarely=RARELY in allowed)}
    if not outcomes:
        return None
    found, missed = ([str(fault) for fault, is_found in outcomes.items() if is_found == so] for so in (True, False))
    return Probed(found, missed, kinds_missed=dict(_kinds_missed(replay, of_kinds, outcomes)))


def _kinds_missed(
    replay: "_Replay", of_kinds: Mapping[str, Sequence[PlantedFault]], outcomes: Mapping[PlantedFault, bool]
) -> Iterator[tuple[str, tuple[int, int]]]:
    """Yield the kinds of facts about one thing with which too few faults are found, how many these are, and of how many.

    Up to OF_A_KIND faults are planted of each of the KINDS_LOOKED_AT kinds with which least are found, if these are at most half.
    """
    shares = {
        kind: np.mean([outcomes[fault] for fault in faults if fault in outcomes])
        for kind, faults in of_kinds.items()
        if faults[0].fact.is_of_one and faults[0] in outcomes
    }
    for kind in sorted(shares, key=shares.__getitem__)[:KINDS_LOOKED_AT]:
        if shares[kind] <= ENOUGH_FOUND:
            faults = of_kinds[kind][:OF_A_KIND]
            found = [outcomes[fault] if fault in outcomes else replay.finds(fault) for fault in faults]
            if found_too_few(sum(found), len(found), OF_A_KIND_BY_CHANCE):
                yield kind, (sum(found), len(found))


def faults_of_kinds(
    listed: Listed,
    outputs: Outputs,
    rng: np.random.Generator,
    most: int,
    allowed: Sequence[Effect],
    known: dict[str, frozenset[Fact]],
) -> dict[str, list[PlantedFault]]:
    """Return for each kind of fact at most ``most`` faults, by those ``allowed`` effects that can change outputs such as
    ``outputs``. ``known`` keeps the facts of data sets, by their texts.

    Each fault shows on data with a fact that tells some neighbours apart, and effects take turns.
    """
    hit = np.ones(outputs.size, np.bool_)
    effects = [each for each in allowed if each is not RARELY and each.change(outputs, hit) is not None]
    effects = [effects[i] for i in rng.permutation(len(effects))]
    if not effects:
        return {}
    few, crowds = list(listed.each_value), spread([*listed.crowds], PAIRS_LOOKED_AT)
    randoms = (listed.domain.random(rng) for _ in range(PAIRS_LOOKED_AT))
    pairs = distinct([*few, *listed.corners, *crowds, *randoms])
    sides = [facts_of_sides(pair, known) for pair in pairs]
    # Sorted, since the order of sets differs between processes.
    each = [sorted(left ^ right, key=str) for left, right in sides]
    apart = Counter(fact for facts in each for fact in facts)
    of_few = {fact for facts in each[: len(few)] for fact in facts}
    by_kind = defaultdict[str, list[Fact]](list)
    # In random order, but facts that tell many pairs apart tend to be first: code treats ends of ranges as special
    # rather than numbers in between.
    for fact in sorted(apart, key=lambda fact: rng.exponential() / apart[fact]):
        if fact in of_few or apart[fact] >= LEAST_APART * len(pairs):
            by_kind[fact.kind].append(fact)
    # A kind with few facts has each of them with several effects, since code reacts to a kind rather than to a value.
    return {
        kind: [*itertools.islice(_of_kind(by_kind[kind], effects, place), most)]
        for place, kind in enumerate(sorted(by_kind))
    }


def _of_kind(facts: Sequence[Fact], effects: Sequence[Effect], place: int) -> Iterator[PlantedFault]:
    """Yield each fact with each effect: first all facts, with effects in turn from that at a place on."""
    for later in range(len(effects)):
        for number, fact in enumerate(facts):
            yield PlantedFault(fact, effects[(place + number + later) % len(effects)])


def planted_faults(of_kinds: Mapping[str, Sequence[PlantedFault]], most: int, *, rarely: bool) -> list[PlantedFault]:
    """Return at most ``most`` faults, from all kinds in turn, and if asked for, one that shows ``rarely`` on any data, like an
    occasional release of raw data.
    """
    turns = itertools.zip_longest(*of_kinds.values())
    found = [fault for turn in turns for fault in turn if fault is not None]
    rare = [PlantedFault(ANY, RARELY)] if found and most > 1 and rarely else []
    return rare + found[: most - len(rare)]


class _FoundError(Exception):
    """A look is certain to find the fault: further looks would lose the fault only by chance."""


@dataclass
class PlantedGame(PairGame):
    """The game of an audit's search with a fault planted in the outputs that exist: nothing is drawn.

    Pairs on which the fault does not show are worth what the search saw on them, and ``prior`` is fitted to the losses that it saw.
    On others, outputs of the ``sample`` are taken, and the fault is planted in them. ``cache`` holds what such outputs show: it
    depends on the effect and the sides, and not on the pair.
    """

    fault: PlantedFault = field(kw_only=True)
    sample: Sample = field(kw_only=True)
    prior: Prior = field(kw_only=True)
    cache: dict[tuple[object, ...], ManyNumbers] = field(kw_only=True)
    facts: dict[str, frozenset[Fact]] = field(kw_only=True)

    def draw(self, name: str, looks: Sequence[Look], each: int) -> list[Look]:
        """See Game. Raises _FoundError."""
        drawn = [self._look(look, each) for look in looks]
        shown = [look.prospects for look, before in zip(drawn, looks, strict=True) if look.outputs > before.outputs]
        promised = Outlook.of(shown, self.claim.value, self.prior).utilities() if shown else []
        if max(promised, default=0.0) >= TUNING.certain:
            raise _FoundError
        return drawn

    def _look(self, look: Look, each: int) -> Look:
        sides = self.fault.touched(look.pair, self.facts)
        if sides[0] == sides[1] or look.along:
            return look
        # 20 outputs that a fault changes are enough. If it changes outputs on both sides, 80 over the square of the
        # difference of the two shares are enough.
        effect, half = self.fault.effect, self.sample.left.size // 2
        most = 80 / (effect.share - effect.otherwise) ** 2 if effect.otherwise else 20 / effect.share
        size = min(max(2, each // 2), math.ceil(most), half)
        evidence = self._evidence(sides, size, zlib.crc32(f"{look.key} {look.outputs}".encode()) % TUNING.takes)
        joined = self.method().joined(look.evidence, evidence)
        return self.judged(replace(look, evidence=joined, outputs=look.outputs + 2 * size))

    def _evidence(self, sides: tuple[bool, bool], size: int, take: int) -> ManyNumbers:
        key = (self.fault.effect.words, sides, size, take, self.size.bound, self.claim.value)
        if key not in self.cache:
            left, rng = self.sample.left, rng_at(self.plan.settings.seed, Phase.SEARCH, PICKING, take, size)
            at = int(rng.integers(left.size - 2 * size + 1))
            # Both sides are outputs of one data set.
            alike = Sample(left[at : at + size], left[at + size : at + 2 * size])
            self.cache[key] = shown_by(self.method(), self.fault.planted_in(alike, sides))
        return self.cache[key]

    def utilities(self, looks: Sequence[Look]) -> Utilities:
        """See Game. The prior is the search's."""
        outlook = Outlook.of([look.prospects for look in looks], self.claim.value, self.prior)
        return Utilities(outlook.utilities(WORTH_TO_EXPLORE), outlook.utilities())

    def compare(self, pairs: Sequence[Pair], size: int) -> list[float]:
        """See OutputGame. If the fault shows in so few outputs more often than not, a pair on which it shows is far apart."""
        effect, apart = self.fault.effect, super().compared(size)
        is_seen = not effect.otherwise and 1 - (1 - effect.share) ** size > 1 / 2

        def distance(pair: Pair) -> float:
            left, right = self.fault.touched(pair, self.facts) if is_seen else (False, False)
            return LARGEST_FLOAT if left != right else apart.get(pair.key(), 0.0)

        return [*map(distance, pairs)]

    def compared(self, size: int) -> dict[str, float]:
        """See OutputGame. All pairs are compared anew."""
        return {}

    def kinds(self, pairs: Sequence[Pair]) -> list[str]:
        """See OutputGame."""
        return [self.known_kinds.get(pair.key(), "") for pair in pairs]

    def promise(self, drawn_on: Sequence[Pair], each: int) -> list[float]:
        """See OutputGame. Nothing is known of orders and of steps of a path."""
        return [0.0] * len(drawn_on)

    def enter(self, name: str, pairs: int, outputs: int) -> None:
        """See OutputGame."""


@dataclass(frozen=True)
class _Replay:
    """The search of an audit's last round, in a race whose outputs, and those of its bound, are the ``size`` of the ``game``.

    ``looks`` are the most promising of the search, judged for the claim that ``game`` looks for; ``prior`` is fitted to all of
    them. ``memory`` keeps the candidates of the sources, which do not depend on the fault.
    """

    plan: Plan
    game: PairGame
    looks: Sequence[Look]
    prior: Prior
    sample: Sample
    facts: dict[str, frozenset[Fact]] = field(default_factory=dict)
    cache: dict[tuple[object, ...], ManyNumbers] = field(default_factory=dict)
    memory: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, plan: Plan, sample: Sample, looks: Mapping[str, Look], ledger: Ledger) -> "_Replay":
        """Return the search of an audit that ended with these looks, and with these outputs on its pair."""
        assert isinstance(plan.claim, PrivacyClaim)
        game = PairGame(plan, rounds_for(plan.settings.samples, plan.settings.search)[-1], ledger, plan.claim)
        judged = game.refocus([*map(game.judged, looks.values())])
        promised = game.utilities(judged).exploring
        prior = fit_prior_to_pilots([look.prospects for look in judged])
        return cls(plan, game, [judged[i] for i in best_first(promised)[: TUNING.most_kept]], prior, sample)

    def with_outputs(self, times: int) -> "_Replay":
        """Return the replay with so many times the outputs, of the race and of the bound."""
        own = self.game.size
        more = {name: times * getattr(own, name) for name in ("search", "selection", "bound")}
        game = replace(self.game, size=replace(own, **more))
        # What evidence promises depends on the outputs of the bound.
        return replace(self, game=game, looks=[*map(game.judged, self.looks)])

    def finds(self, fault: PlantedFault) -> bool:
        """Return whether the search ends with a pair on which the fault shows, and that is likely to refute the claim."""
        plan, own = self.plan, self.game
        if own.size.search < TUNING.least_outputs:
            return False
        more = {"prior": self.prior, "cache": self.cache, "facts": self.facts}
        game = PlantedGame(plan, own.size, own.ledger, own.claim, fault=fault, sample=self.sample, **more)  # type: ignore[arg-type]
        pool = {look.key: look for look in self.looks if not self._shows(fault, look.pair)}
        rng = rng_at(plan.settings.seed, Phase.SEARCH, own.size.number)
        race = Race(game, plan.domain, rng, pool, tuning=OF_REPLAY, memory=self.memory, known=own.ledger.listed)
        try:
            best = race.run(OF_NEIGHBOURS, own.size.search)
            if not self._shows(fault, best.pair):
                return False
            # The round learns on this pair from more outputs than the search has drawn on it.
            [best] = game.draw("", [replace(best, evidence=(), learned=())], max(best.outputs, own.size.selection))
        except _FoundError:
            return True
        return Outlook.of([best.prospects], own.claim.value, self.prior).utilities()[0] >= TUNING.likely

    def _shows(self, fault: PlantedFault, pair: Pair) -> bool:
        left, right = fault.touched(pair, self.facts)
        return left != right


def _first_numbers(outputs: Outputs) -> OutputColumn | None:
    numeric = (c for c in outputs.columns if c.codes is None and c.name.startswith("output"))
    return next((c for c in numeric if varies(c)), None)


def _with(outputs: Outputs, column: OutputColumn) -> Outputs:
    columns = tuple(column if one.name == column.name else one for one in outputs.columns)
    return Outputs(outputs.size, columns)
