"""The flow for probability claims: find the data set on which the event is worst, then bound its probability there.

On a data set, such a claim can be refuted or confirmed. Only one of the two can be wrong, so each may use all of alpha.
"""

import contextlib
import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from auditor.auditing.draw import Draw, OutOfTimeError
from auditor.auditing.outcome import Seen, no_answer
from auditor.auditing.pair_search import FoundPair
from auditor.auditing.pairwise_flow import Counted, CountEvidence, best_of, drawn
from auditor.auditing.plan import CHANCES, Plan
from auditor.auditing.rounds import Rounds
from auditor.auditing.sizes import Round
from auditor.auditing.smallest import shrink
from auditor.blackbox.batches import Batch, Phase, rng_at
from auditor.claims import Probability
from auditor.methods.probability import ReportedEvent, count_hits
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
    rounds, counted, best, refuted = Rounds(on_one, draw), list[Counted](), None, False
    with contextlib.suppress(OutOfTimeError):
        while now := rounds.next(refuted=refuted, cheap=bool(best and best.tally.in_calls)):
            alone = best.found.pair if best and refuted else _worst(on_one, now, draw, counted)
            batches = draw.batches(alone, now.bound, Phase.BOUND, (now.number,))
            test, method = ReportedEvent(claim, now.share * plan.alpha), on_one.method(now.bound)
            tally, _ = draw.count(batches, test)
            if not tally.batches:
                break
            nothing: Any = None  # FoundPair.claim and Counted.sample, which have no use in this flow
            found = FoundPair(alone, nothing)
            counted.append(Counted(now.number, found, method, test, tally.counts, now.share, nothing, tally))
            best = best_of(plan, counted)
            refuted = best.refutes(plan)
    reason = drawn(rounds, draw.spent.bound, refuted=refuted)
    if best is None:
        return no_answer(reason, on_one.domain.corners()[0], draw.drawn_by())
    return Seen(
        RateEvidence(claim, best, counted, (), reason),
        best.found.pair,
        tables=counted[-1].tally.tables,
        shrink=functools.partial(shrink, on_one, draw, best.found.pair, cheap=best.tally.in_calls),
        drawn_by=draw.drawn_by(),
    )


@dataclass(frozen=True, slots=True)
class RateEvidence(CountEvidence):
    """The counts of the event in all rounds. The bound is on the side that could refute the claim."""

    def judge(self, alpha: float) -> Judgement:
        claim, counts = self.claim, self.shown.counts
        assert isinstance(claim, Probability)
        rate: Any = self.shown.at(alpha)
        test = ReportedEvent(claim, rate.alpha)
        refuted, event = self.refutes(alpha), test.report(counts)
        # If the claim is refuted, show the limit that lies beyond the claim; otherwise show the other limit.
        is_lower = refuted if claim.at_most else not refuted
        power = {name: rate.detectable(test, counts, chance) for name, chance in CHANCES}
        return Judgement(
            Verdict.VIOLATION if refuted else Verdict.NO_VIOLATION_FOUND,
            "confirmed on the worst data set found" if event.confirmed else self.reason,
            replace(test.limit(counts, lower=is_lower), confidence=1 - alpha),
            event,
            power if all(map(math.isfinite, power.values())) else None,
            self.p_value(),
            alpha,
            self.shown.share,
            self.shown.number,
            Illustration(growth=[(one.tally.outputs, one.bound(alpha)) for one in self.counted]),
        )


def _worst(plan: Plan, now: Round, draw: Draw, before: Sequence[Counted]) -> Pair:
    """Return the data set with the worst rate of the event. The data sets of earlier rounds are tried first."""
    assert isinstance(plan.claim, Probability)
    sign, rounds = 1 if plan.claim.at_most else -1, 0

    def evaluate(alone: Sequence[Pair], outputs_each: int) -> list[float]:
        nonlocal rounds
        draw.pairs.update(pair.key() for pair in alone)
        batches = [Batch(pair, outputs_each, Phase.SEARCH, (now.number, rounds, i)) for i, pair in enumerate(alone)]
        rounds += 1
        return [sign * seen / outputs_each for seen in draw.draw_each(batches, count_hits, now.search)]

    rng = rng_at(plan.settings.seed, Phase.SEARCH, now.number)
    # A data set needs half as many outputs as a pair: LEAST_LOOK, not LEAST_OUTPUTS.
    first = distinct([one.found.pair for one in reversed(before)])
    return search_pairs(plan.domain, evaluate, Budget(now.search, LEAST_LOOK), rng, first).pair
