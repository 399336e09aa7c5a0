"""The flow for probability claims: find the data set on which the event is worst, then bound its probability there.

Such a claim can be confirmed on a data set as well as refuted. For any truth only one of the two can be wrong, so each
may use the whole of alpha.
"""

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from auditor.auditing.draw import Draw, Tally
from auditor.auditing.outcome import Evidence, Seen, no_answer
from auditor.auditing.pairwise_flow import drawn
from auditor.auditing.plan import CHANCES, Plan
from auditor.auditing.rounds import Rounds
from auditor.auditing.sizes import Round
from auditor.auditing.smallest import shrink
from auditor.blackbox.batches import Batch, Phase, rng_at
from auditor.bounds.evidence import ScoreCounts
from auditor.claims import Probability
from auditor.methods.probability import Rate, Reported, hits
from auditor.neighbours.domains import DataSets
from auditor.neighbours.pair import Pair, distinct
from auditor.neighbours.search import LEAST_LOOK, Budget, search_pairs
from auditor.results.result import Illustration, Judgement
from auditor.verdict import Verdict


def audit_probability(plan: Plan, draw: Draw) -> Seen:
    """Audit a claim on single data sets; every data set of the domain's pairs is a candidate.

    Raises MechanismError if the mechanism returns anything but whether the event happened.
    """
    claim, on_one = plan.claim, replace(plan, neighbours=DataSets(plan.domain))
    assert isinstance(claim, Probability)
    rounds, counted, best, refuted = Rounds(on_one, draw), list[_Counted](), None, False
    while now := rounds.next(refuted=refuted, cheap=bool(best and best.tally.in_calls)):
        alone = best.alone if best and refuted else _worst(on_one, now, draw, counted)
        now = rounds.with_all_that_is_left(now)
        batches = draw.batches(alone, now.bound, Phase.BOUND, (now.number,))
        tally, _ = draw.count(batches, Reported(claim, now.share * plan.alpha))
        if not tally.batches:
            break
        counted.append(_Counted(claim, now.number, alone, tally.counts, now.share, tally))
        best = max(counted, key=lambda one: (claim.excess(one.bound(plan.alpha)), one.number))
        refuted = claim.excess(best.bound(plan.alpha)) > 0
    reason = drawn(rounds, draw.spent.bound, refuted=refuted)
    if best is None:
        return no_answer(reason, on_one.domain.corners()[0], draw.drawn_by())
    return Seen(
        RateEvidence(claim, best, counted, reason),
        best.alone,
        tables=counted[-1].tally.tables,
        shrink=functools.partial(shrink, on_one, draw, best.alone, cheap=best.tally.in_calls),
        drawn_by=draw.drawn_by(),
    )


@dataclass(frozen=True, slots=True)
class _Counted:
    """The counts of the event in a round on a data set, for a limit at a share of the level."""

    claim: Probability
    number: int
    alone: Pair
    counts: ScoreCounts
    share: float
    tally: Tally

    def bound(self, alpha: float) -> float:
        """Return the limit on the side that could refute the claim."""
        return Reported(self.claim, self.share * alpha).limit(self.counts, lower=self.claim.at_most)


@dataclass(frozen=True, slots=True)
class RateEvidence(Evidence):
    """The counts of the event in all rounds, and those that are shown. All limits hold together."""

    claim: Probability
    shown: _Counted
    counted: Sequence[_Counted]
    reason: str

    def bound(self, alpha: float) -> float:
        """See Evidence; the bound is on the side that could refute the claim."""
        return self.shown.bound(alpha)

    def judge(self, alpha: float) -> Judgement:
        claim, counts, share = self.claim, self.shown.counts, self.shown.share
        rate, test = Rate(claim, share * alpha, counts.trials), Reported(claim, share * alpha)
        refuted, event = self.refutes(alpha), test.report(counts)
        # If the claim is refuted, the limit that lies beyond it is shown; else the other limit.
        is_lower = refuted if claim.at_most else not refuted
        power = {name: rate.detectable(test, counts, chance) for name, chance in CHANCES}
        return Judgement(
            Verdict.VIOLATION if refuted else Verdict.NO_VIOLATION_FOUND,
            "confirmed on the worst data set found" if event.confirmed else self.reason,
            replace(rate.limit(counts, lower=is_lower), confidence=1 - alpha),
            event,
            power if all(map(math.isfinite, power.values())) else None,
            self.p_value(),
            alpha,
            share,
            self.shown.number,
            Illustration(growth=[(one.tally.outputs, one.bound(alpha)) for one in self.counted]),
        )


def _worst(plan: Plan, now: Round, draw: Draw, before: Sequence[_Counted]) -> Pair:
    """Return the data set on which the event was seen most often (least often, for "at least"), from those of earlier rounds on."""
    assert isinstance(plan.claim, Probability)
    sign, rounds = 1 if plan.claim.at_most else -1, 0

    def evaluate(alone: Sequence[Pair], outputs_each: int) -> list[float]:
        nonlocal rounds
        draw.pairs.update(pair.key() for pair in alone)
        batches = [Batch(pair, outputs_each, Phase.SEARCH, (now.number, rounds, i)) for i, pair in enumerate(alone)]
        rounds += 1
        return [sign * seen / outputs_each for seen in draw.draw_each(batches, hits, now.search)]

    rng = rng_at(plan.settings.seed, Phase.SEARCH, now.number)
    # All outputs are of one side.
    first = distinct([one.alone for one in reversed(before)])
    return search_pairs(plan.domain, evaluate, Budget(now.search, LEAST_LOOK), rng, first).pair
