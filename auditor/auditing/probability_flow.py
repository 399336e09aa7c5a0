"""The flow for probability claims: find the data set on which the event is worst, then bound its probability there.

Such a claim can be confirmed on a data set as well as refuted. For any truth only one of the two can be wrong, so each
may use the whole of alpha.
"""

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from auditor.auditing.deadline import sizes_in_time, with_all_that_is_left
from auditor.auditing.draw import Draw
from auditor.auditing.outcome import Evidence, Seen, no_answer
from auditor.auditing.pairwise_flow import drawn
from auditor.auditing.plan import CHANCES, Plan
from auditor.auditing.sizes import Sizes
from auditor.auditing.smallest import shrink
from auditor.auditing.tally import added_up, growth
from auditor.blackbox.batches import Batch, Phase, rng_at
from auditor.bounds.evidence import ScoreCounts
from auditor.claims import Probability
from auditor.methods.probability import Rate, Reported, hits
from auditor.neighbours.domains import DataSets
from auditor.neighbours.pair import Pair
from auditor.neighbours.search import LEAST_LOOK, Budget, search_pairs
from auditor.results.result import Illustration, Judgement
from auditor.verdict import Verdict


def audit_probability(plan: Plan, draw: Draw) -> Seen:
    """Audit a claim on single data sets; every data set of the domain's pairs is a candidate.

    Raises MechanismError if the mechanism returns anything but whether the event happened.
    """
    claim, on_one = plan.claim, replace(plan, neighbours=DataSets(plan.domain))
    assert isinstance(claim, Probability)
    sizes = sizes_in_time(on_one, draw, _worst)
    alone = _worst(on_one, sizes, draw)
    sizes = with_all_that_is_left(plan, sizes, draw)
    tally = draw.count(draw.batches(alone, sizes.bound, Phase.BOUND), Reported(claim, plan.alpha))
    drawn_by, reason = draw.drawn_by(), drawn(plan, sizes, tally)
    if not tally.batches:
        return no_answer(reason, sizes, alone, drawn_by)
    return Seen(
        RateEvidence(claim, added_up(tally.pieces), reason),
        sizes,
        alone,
        tables=tally.tables,
        shrink=functools.partial(shrink, on_one, sizes, draw, alone),
        drawn_by=drawn_by,
    )


@dataclass(frozen=True, slots=True)
class RateEvidence(Evidence):
    """The counts of the event on a data set: (trials, counts) after increasing numbers of trials."""

    claim: Probability
    looks: Sequence[tuple[int, ScoreCounts]]
    reason: str

    def bound(self, alpha: float) -> float:
        """See Evidence; the bound is on the side that could refute the claim."""
        counts = self.looks[-1][1]
        return Rate(self.claim, alpha, counts.trials).limit(counts, lower=self.claim.at_most).value

    def judge(self, alpha: float) -> Judgement:
        claim, counts = self.claim, self.looks[-1][1]
        rate, test = Rate(claim, alpha, counts.trials), Reported(claim, alpha)
        refuted, event = self.refutes(alpha), test.report(counts)
        # The limit on the side of the claim where there is a verdict, else the one that did not reach it.
        is_lower = refuted if claim.at_most else not refuted
        power = {name: rate.detectable(test, counts, chance) for name, chance in CHANCES}
        return Judgement(
            Verdict.VIOLATION if refuted else Verdict.NO_VIOLATION_FOUND,
            "confirmed on the worst data set found" if event.confirmed else self.reason,
            rate.limit(counts, lower=is_lower),
            event,
            power if all(map(math.isfinite, power.values())) else None,
            self.p_value(),
            alpha,
            Illustration(growth=growth(self.looks, lambda seen: test.limit(seen, lower=is_lower))),
        )


def _worst(plan: Plan, sizes: Sizes, draw: Draw, stage: int = 0) -> Pair:
    """Return the data set on which the event was seen most often (least often, for "at least")."""
    assert isinstance(plan.claim, Probability)
    sign, rounds = 1 if plan.claim.at_most else -1, 0

    def evaluate(alone: Sequence[Pair], outputs_each: int) -> list[float]:
        nonlocal rounds
        draw.pairs.update(pair.key() for pair in alone)
        batches = [Batch(pair, outputs_each, Phase.SEARCH, (stage, rounds, i)) for i, pair in enumerate(alone)]
        rounds += 1
        return [sign * seen / outputs_each for seen in draw.draw_each(batches, hits, sizes.search)]

    rng = rng_at(plan.settings.seed, Phase.SEARCH, stage)
    # All outputs are of one side.
    return search_pairs(plan.domain, evaluate, Budget(sizes.search, LEAST_LOOK), rng).pair
