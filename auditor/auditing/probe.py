"""What a search would have seen: faults are planted in outputs on the pairs that it looked at, one fault after the other."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from auditor.auditing.draw import Draw
from auditor.auditing.looks import CHANCE, Look, Looks
from auditor.auditing.neighbour_stages import ON_NEIGHBOURS
from auditor.auditing.outcome import Seen
from auditor.auditing.pair_search import LIKELY
from auditor.auditing.plan import Plan
from auditor.auditing.planted import EFFECTS, KnownFacts, Planted, PlantedFault, planted_faults
from auditor.auditing.sizes import Round, rounds_for
from auditor.auditing.stages import Known, in_stages
from auditor.blackbox.batches import Batch, Phase, rng_at
from auditor.blackbox.sample import Sample
from auditor.blackbox.store import AuditStore
from auditor.claims import PrivacyClaim, Unclaimed
from auditor.defaults import PLANTED
from auditor.events.selection import VALUES
from auditor.neighbours.pair import Pair
from auditor.neighbours.search import Found
from auditor.results.result import Probed

T = TypeVar("T")

# Under which the outcome is kept, for a run that is resumed and for a replay.
KEPT = "planted faults"
# Stands for the stage in the address of the stream by which faults are picked.
PICKING = 98
# What a look must promise for a fault to be found without more of them: nothing but chance could take it away again.
CERTAIN = 0.99
# A fault is planted on this many of the pairs on which it shows, those that the search had most outputs on.
CLOSEST = 8


def probe(plan: Plan, seen: Seen, draw: Draw) -> Probed | None:
    """Look for planted faults after an audit; None if there is nothing to look for.

    A fault shows on some of the pairs that the audit searched. On these, as many outputs as the search had are drawn anew, and the
    fault is planted in them. Then the best pairs are compared, as at the end of every search. A fault is found if that ends with
    neighbours on which it shows, and with a good chance to refute the claim on them.

    As many as are planted by default cost at most as many outputs as the audit did, and more of them cost more in proportion.
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
    sample, looks = seen.sample, seen.looks
    found, missed, outputs = plan.store.recall(KEPT, lambda: _probed(plan, sample, looks, draw))
    return Probed(tuple(found), tuple(missed), outputs) if found or missed else None


def _probed(plan: Plan, sample: Sample, seen: Mapping[str, Look], draw: Draw) -> tuple[list[str], list[str], int]:
    rng = rng_at(plan.settings.seed, Phase.SEARCH, PICKING)
    rounds = rounds_for(plan.settings.samples, plan.settings.search)
    method = plan.method(rounds[-1].bound, share=rounds[-1].share)
    # What so few outputs could not refute on any pair is no fault of the search. Half of the outputs are of the side that shows it.
    allowed = [effect for effect in EFFECTS if method.foreseen(effect.share / 2, CHANCE) < math.inf]
    found, missed, spent, facts = list[str](), list[str](), 0, KnownFacts()
    for fault in planted_faults(plan.domain, sample.left, rng, plan.settings.planted, allowed):
        if spent >= draw.spent.total * max(1, plan.settings.planted / PLANTED):
            break
        twin = DrawWithFault.of(fault, draw, facts)
        # The addresses are those of no round.
        ended = _ended(plan, replace(rounds[-1], number=len(rounds)), twin, seen)
        left, right = twin.touched(ended.pair)
        (found if left != right and ended.score >= LIKELY else missed).append(str(fault))
        spent += twin.spent.search
    return found, missed, spent


def _ended(plan: Plan, now: Round, twin: "DrawWithFault", seen: Mapping[str, Look]) -> Found:
    """Return what the search ends with if the mechanism has the fault."""
    assert isinstance(plan.claim, PrivacyClaim)
    looks, claim = Looks(plan, now, twin), plan.claim
    method = looks.method(claim)
    known = {key: look.judged_by(method) for key, look in seen.items()}
    shown = [look for look in seen.values() if len(set(twin.touched(look.pair))) > 1]
    ended = Known(claim, seen=known)
    for look in sorted(shown, key=lambda look: -look.outputs)[:CLOSEST]:
        [again] = looks.on_pairs("", [look.pair], look.outputs, claim, {})
        ended = replace(ended, seen={**ended.seen, look.pair.key(): again})
        if ended.promises(CERTAIN):
            return Found(*ended.most_promising())
    if shown:
        ended = in_stages(ON_NEIGHBOURS[-1:], looks, ended, now.search)
    return ended.found or Found(*ended.most_promising())


@dataclass
class DrawWithFault(Draw):
    """Draws outputs of a search as if the mechanism had a fault."""

    fault: PlantedFault | None = None
    facts: KnownFacts = field(default_factory=KnownFacts)

    @classmethod
    def of(cls, fault: PlantedFault, draw: Draw, facts: KnownFacts) -> "DrawWithFault":
        """Return what draws with a fault, for outputs that serve for nothing else: they are not kept and not reported."""
        plan = replace(draw.plan, store=AuditStore())
        return cls(plan, lambda progress: None, draw.reproducible, pace=draw.pace, fault=fault, facts=facts)

    def touched(self, pair: Pair) -> tuple[bool, bool]:
        """Return on which sides of a pair the fault shows."""
        assert self.fault is not None
        return self.fault.touched(pair, self.facts)

    def draw_each(self, batches: Sequence[Batch], observe: Callable[[Sample], T], planned: int) -> list[T]:
        """See Draw."""
        assert self.fault is not None
        seen, sides = dict[int, T](), [self.touched(batch.pair) for batch in batches]
        for these in dict.fromkeys(sides):
            places = [i for i, each in enumerate(sides) if each == these]
            changed = Planted(self.fault, these, observe) if any(these) else observe
            seen.update(zip(places, super().draw_each([batches[i] for i in places], changed, planned), strict=True))
        return [seen[i] for i in range(len(batches))]
