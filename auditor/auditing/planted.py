"""After a pass, faults are planted in existing outputs, to see which of them the search would have found.

A fault shows only on data sets of which some fact is true (:mod:`auditor.neighbours.facts`). The search is replayed
without drawing: each pair on which the fault shows gets as many outputs as the search drew on the pair. These outputs
are taken from the pair with which the audit ended, and the fault is planted in them.
"""

import math
import zlib
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from auditor.auditing.ledger import Ledger
from auditor.auditing.outcome import Audit
from auditor.auditing.pair_search import FINALISTS, LIKELY, OF_BEST, OF_FINALISTS, SIZE, Known, Look, shown_by
from auditor.auditing.plan import Plan
from auditor.auditing.sizes import Round, rounds_for
from auditor.blackbox.batches import Phase, rng_at
from auditor.blackbox.canonical import from_list
from auditor.blackbox.outputs import ABSENT, NUMBER, OutputColumn, Outputs, concatenate
from auditor.blackbox.sample import Sample
from auditor.bounds.utility import WORTH_OF_BOUND, WORTH_TO_EXPLORE, Outlook
from auditor.claims import PrivacyClaim
from auditor.defaults import VALUES
from auditor.errors import InvalidInputError
from auditor.events.features import LARGEST_FLOAT, varies
from auditor.interfaces import AnyMethod, Domain
from auditor.neighbours.facts import Fact, facts_of
from auditor.neighbours.pair import Pair, distinct
from auditor.neighbours.search import LEAST_LOOK, spread
from auditor.results.result import Probed
from auditor.verdict import WEAK, found_too_few

Mask = NDArray[np.bool_]

# The name under which a resumed run and a replay find the outcome.
KEPT = "planted faults"
# In the addresses of the streams that pick faults and outputs, PICKING stands for the number of the round.
PICKING = 98
# At least PAIRS_LOOKED_AT pairs show which facts tell neighbours apart. No fault is planted on a fact that tells less
# than the share LEAST_APART of them apart, since a search finds it by luck only, except for facts about one of few
# values.
PAIRS_LOOKED_AT, LEAST_APART = 300, 0.005
# A fault is planted on this many of the pairs on which it shows: the pairs with most outputs of the search.
CLOSEST = 4
# A fault counts as found as soon as a look reaches this utility, since further looks would lose the fault only by
# chance.
CERTAIN = 0.99
# If too few faults are found, the replay is done again with this many times the outputs.
WITH_MORE = 4


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
ANY = Fact("any content")


def effects_for(claim: PrivacyClaim) -> list[Effect]:
    """Return the effects to plant: EFFECTS, which no claim allows, and a loss of WEAK times a claim."""
    try:
        far = claim.with_value(WEAK * claim.value).total_variation()
    except InvalidInputError:  # twice a total variation of 0.6 is above 1; the largest ε has no double
        far = 0.0
    twice = Effect("the loss is twice the claim", (1 + far) / 2, _is_null, (1 - far) / 2)
    return [*EFFECTS, *([twice] if far > 0 else [])]


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
        left, right = pair.texts()
        for dataset, text in ((pair.left, left), (pair.right, right)):
            if text not in known:
                known[text] = facts_of(dataset)
        return self.fact in known[left], self.fact in known[right]

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


def plant_faults(audit: Audit) -> Audit:
    """Plant faults in the outputs of a pass, and note which of them the same search finds."""
    plan, ledger, sample = audit.plan, audit.ledger, audit.sample
    # Planted faults change values, not bits.
    if not (ledger.pairs and sample and plan.settings.planted and VALUES in plan.settings.events):
        return audit
    found, missed, more = plan.store.recall(KEPT, lambda: _probed(_Replay.of(plan, sample, audit.looks, ledger)))
    planted = Probed(found, missed, (more[0], more[1]) if more else None) if found or missed else None
    return replace(audit, planted=planted)


def _probed(replay: "_Replay") -> tuple[list[str], list[str], tuple[int, int] | None]:
    """Return the faults found, the faults missed, and if too many are missed, WITH_MORE and how many that finds."""
    plan, effects = replay.plan, effects_for(replay.known.claim)
    rng = rng_at(plan.settings.seed, Phase.SEARCH, PICKING)
    faults = planted_faults(plan.domain, replay.sample.left, rng, plan.settings.planted, effects)
    found, missed = list[str](), list[str]()
    for fault in faults:
        (found if replay.finds(fault) else missed).append(str(fault))
    if not found_too_few(len(found), len(faults)):
        return found, missed, None
    with_more = replace(replay, times=WITH_MORE)
    return found, missed, (WITH_MORE, sum(map(with_more.finds, faults)))


def planted_faults(
    domain: Domain, outputs: Outputs, rng: np.random.Generator, most: int, allowed: Sequence[Effect] = EFFECTS
) -> list[PlantedFault]:
    """Return at most ``most`` faults, by those ``allowed`` effects that can change outputs such as ``outputs``.

    Each fault shows on data with a fact that tells some neighbours apart. Kinds of facts take turns, and so do effects.
    """
    hit = np.ones(outputs.size, np.bool_)
    effects = [allowed[i] for i in rng.permutation(len(allowed)) if allowed[i].change(outputs, hit) is not None]
    if not effects:
        return []
    few, crowds = list(domain.each_value()), spread([*domain.crowds()], PAIRS_LOOKED_AT)
    pairs = distinct([*few, *domain.corners(), *crowds, *(domain.random(rng) for _ in range(PAIRS_LOOKED_AT))])
    # Sorted, since the order of sets differs between processes.
    each = [sorted(facts_of(pair.left) ^ facts_of(pair.right), key=str) for pair in pairs]
    apart = Counter(fact for facts in each for fact in facts)
    of_few = {fact for facts in each[: len(few)] for fact in facts}
    by_kind = defaultdict[str, list[Fact]](list)
    # In random order, but facts that tell many pairs apart tend to be first: code treats ends of ranges as special
    # rather than numbers in between.
    for fact in sorted(apart, key=lambda fact: rng.exponential() / apart[fact]):
        if fact in of_few or apart[fact] >= LEAST_APART * len(pairs):
            by_kind[fact.kind].append(fact)
    turns = [by_kind[kind] for kind in sorted(by_kind)]
    found = [fact for turn in range(most) for of_kind in turns for fact in of_kind[turn : turn + 1]]
    # One fault is rarer and shows on any data, like an occasional release of raw data.
    rarely = Effect("1 of 1,000 answers is null", 0.001, _is_null)
    rare = [PlantedFault(ANY, rarely)] if found and most > 1 else []
    order = rng.permutation(min(len(found), most - len(rare)))
    return rare + [PlantedFault(found[place], effects[i % len(effects)]) for i, place in enumerate(order)]


@dataclass(frozen=True)
class _Replay:
    """The search of an audit, as if it had ``times`` as many outputs on each pair.

    ``least`` is what a pair must promise to reach the last comparison. ``compared`` holds pairs on which only outputs
    with the same noise were drawn.
    """

    plan: Plan
    now: Round
    method: AnyMethod
    known: Known
    compared: Sequence[Pair]
    sample: Sample
    least: float
    times: int = 1
    facts: dict[str, frozenset[Fact]] = field(default_factory=dict)

    @classmethod
    def of(cls, plan: Plan, sample: Sample, looks: Mapping[str, Look], ledger: Ledger) -> "_Replay":
        """Return the search of an audit that ended with these looks, and with these outputs on its pair."""
        assert isinstance(plan.claim, PrivacyClaim)
        now = rounds_for(plan.settings.samples, plan.settings.search)[-1]
        method = plan.method(now.bound, share=now.share)
        known = Known(plan.claim, seen=looks).judged_by(method)
        last = known.best(WORTH_TO_EXPLORE)[:FINALISTS]
        compared = [pair for key, pair in ledger.compared.items() if key not in looks]
        return cls(plan, now, method, known, compared, sample, last[-1][1] if last else -math.inf)

    def finds(self, fault: PlantedFault) -> bool:
        """Return whether the search ends with a pair on which the fault shows, and with a good chance to refute the claim on it.

        It does if a look promises CERTAIN, or if the pair is compared last and then promises LIKELY.
        """
        shown = [look for look in self.known.seen.values() if self._shows(fault, look.pair)]
        looks = sorted(shown, key=lambda look: -look.outputs)[:CLOSEST]
        if len(looks) < CLOSEST and self._is_reached(fault):
            pairs = (pair for pair in self.compared if self._shows(fault, pair))
            looks += [Look(pair, outputs=LEAST_LOOK) for pair in islice(pairs, CLOSEST - len(looks))]
        last = int(OF_FINALISTS * OF_BEST * self.now.search) // FINALISTS
        for look in looks:
            again = self._with(fault, replace(look, evidence=(), learned=()), look.outputs)
            if self._promise(again) >= CERTAIN:
                return True
            if (
                self._promise(again, WORTH_TO_EXPLORE) >= self.least
                and self._promise(self._with(fault, again, last)) >= LIKELY
            ):
                return True
        return False

    def _shows(self, fault: PlantedFault, pair: Pair) -> bool:
        left, right = fault.touched(pair, self.facts)
        return left != right

    def _is_reached(self, fault: PlantedFault) -> bool:
        """Whether SIZE outputs with the same noise show the fault more often than not."""
        effect = fault.effect
        return not effect.otherwise and 1 - (1 - effect.share) ** SIZE > 1 / 2

    def _with(self, fault: PlantedFault, look: Look, outputs: int) -> Look:
        """Return a look with this many outputs more: both sides are outputs of one data set, with the fault planted."""
        effect, left = fault.effect, self.sample.left
        apart = effect.share - effect.otherwise
        # 20 outputs that a fault changes are enough. If it changes outputs on both sides, 80 over the square of the
        # difference of the two shares are enough.
        most = math.ceil(80 / apart**2 if effect.otherwise else 20 / effect.share)
        size = min(max(2, outputs * self.times // 2), most, left.size // 2)
        rng = rng_at(self.plan.settings.seed, Phase.SEARCH, PICKING, zlib.crc32(look.pair.key().encode()), look.outputs)
        at = int(rng.integers(left.size - 2 * size + 1))
        sample = Sample(left[at : at + size], left[at + size : at + 2 * size])
        evidence = shown_by(self.method, fault.planted_in(sample, fault.touched(look.pair, self.facts)))
        return look.joined(evidence, look.kind, self.method, 2 * size)

    def _promise(self, look: Look, worth: float = WORTH_OF_BOUND) -> float:
        """Return what a look promises under the prior of all looks."""
        return Outlook.of([look.prospects], self.known.claim.value, self.known.prior).utilities(worth)[0]


def _first_numbers(outputs: Outputs) -> OutputColumn | None:
    numeric = (c for c in outputs.columns if c.codes is None and c.name.startswith("output"))
    return next((c for c in numeric if varies(c)), None)


def _with(outputs: Outputs, column: OutputColumn) -> Outputs:
    columns = tuple(column if one.name == column.name else one for one in outputs.columns)
    return Outputs(outputs.size, columns)
