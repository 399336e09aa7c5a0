"""What a search would have seen: the same search on the mechanism with a fault planted in it, for one fault after the other."""

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, TypeVar

from auditor.auditing.draw import Draw, LookedAt
from auditor.auditing.looks import CHANCE
from auditor.auditing.outcome import Seen
from auditor.auditing.pair_search import LIKELY, find_pair
from auditor.auditing.plan import Plan
from auditor.auditing.planted import EFFECTS, KnownFacts, Planted, PlantedFault, planted_faults
from auditor.auditing.sizes import rounds_for
from auditor.blackbox.batches import Batch, Phase, rng_at
from auditor.blackbox.repeats import RepeatGuard
from auditor.blackbox.sample import Sample
from auditor.claims import Unclaimed
from auditor.defaults import PLANTED
from auditor.events.selection import VALUES
from auditor.results.result import Probed

T = TypeVar("T")

# Under which the outcome is kept, for a run that is resumed and for a replay.
KEPT = "planted faults"
# Stands for the stage in the address of the stream by which faults are picked.
PICKING = 98
# What a look must promise for a fault to be found without more of them: nothing but chance could take it away again.
CERTAIN = 0.99


def probe(plan: Plan, seen: Seen, draw: Draw) -> Probed | None:
    """Search for planted faults after an audit; None if there is nothing to search for.

    As many as are planted by default cost at most as many outputs as the audit did, and more of them cost more in proportion.

    A fault is found if the search ends with neighbours on which it shows, and with a good chance to refute the claim on them.
    Raises what sampling raises.
    """
    # What is planted shows in values.
    asked = plan.settings.planted > 0 and VALUES in plan.settings.events and not isinstance(plan.claim, Unclaimed)
    # A time limit leaves none for this.
    if (
        not asked
        or not draw.pairs
        or plan.settings.seconds is not None
        or seen.sample is None
        or plan.kind != "pairwise"
    ):
        return None
    sample, most = seen.sample, draw.spent.total * max(1, plan.settings.planted / PLANTED)
    found, missed, outputs = plan.store.recall(KEPT, lambda: _probed(plan, sample, draw, most))
    return Probed(tuple(found), tuple(missed), outputs) if found or missed else None


def _probed(plan: Plan, sample: Sample, draw: Draw, most: float) -> tuple[list[str], list[str], int]:
    rng = rng_at(plan.settings.seed, Phase.SEARCH, PICKING)
    rounds = rounds_for(plan.settings.samples, plan.settings.search)
    method = plan.method(rounds[-1].bound, share=rounds[-1].share)
    # What so few outputs could not refute on any pair is no fault of the search. Half of the outputs are of the side that shows it.
    allowed = [effect for effect in EFFECTS if method.foreseen(effect.share / 2, CHANCE) < math.inf]
    faults = planted_faults(plan.domain, sample.left, rng, plan.settings.planted, allowed)
    found, missed, spent, facts = list[str](), list[str](), 0, KnownFacts()
    for fault in faults:
        if spent >= most:
            break
        twin = DrawWithFault.of(fault, draw, facts)
        ended = find_pair(plan, rounds[0], twin, {})
        for now in rounds[1:]:
            if ended.promised < CERTAIN:
                ended = find_pair(plan, now, twin, ended.looks)
        left, right = fault.touched(ended.pair, facts)
        (found if left != right and ended.promised >= LIKELY else missed).append(str(fault))
        spent += twin.spent.search
    return found, missed, spent


@dataclass
class DrawWithFault(Draw):
    """Draws outputs of a search as if the mechanism had a fault. What the audit saw on other data sets serves again."""

    enough: ClassVar[float] = CERTAIN
    fault: PlantedFault | None = None
    facts: KnownFacts = field(default_factory=KnownFacts)
    known: Mapping[LookedAt, Sequence[Any]] = field(default_factory=dict)
    looks: Counter[LookedAt] = field(default_factory=Counter)

    @classmethod
    def of(cls, fault: PlantedFault, draw: Draw, facts: KnownFacts) -> "DrawWithFault":
        """Return what draws with a fault, for outputs that serve for nothing else."""
        aside = draw.aside()
        # The same addresses are drawn again, on purpose.
        return cls(
            aside.plan,
            aside.listener,
            draw.reproducible,
            guard=RepeatGuard(),
            pace=draw.pace,
            fault=fault,
            facts=facts,
            known=draw.observed,
        )

    def draw_each(self, batches: Sequence[Batch], observe: Callable[[Sample], T], planned: int) -> list[T]:
        """See Draw; a look at data sets that do not differ in the fault is the look that the audit had at them, if it had one.

        If both have the fault, outputs on both change alike. It may have had other outputs than are asked for here: shares of a
        stage change a little if other pairs are promising.
        """
        assert self.fault is not None
        seen, left = dict[int, T](), dict[tuple[bool, bool], list[int]]()
        for i, batch in enumerate(batches):
            sides, key = self.fault.touched(batch.pair, self.facts), LookedAt.of(batch, observe)
            before = self.known.get(key, ())
            if sides[0] == sides[1] and self.looks[key] < len(before):
                seen[i] = before[self.looks[key]]
                self.looks[key] += 1
            else:
                left.setdefault(sides, []).append(i)
        for sides, places in left.items():
            changed = Planted(self.fault, sides, observe) if any(sides) else observe
            drawn = super().draw_each([batches[i] for i in places], changed, planned)
            seen.update(zip(places, drawn, strict=True))
        return [seen[i] for i in range(len(batches))]
