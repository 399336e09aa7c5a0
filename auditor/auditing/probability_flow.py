"""The flow for probability claims: find the data set on which the event is worst, then bound its probability there."""

import contextlib
import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from auditor.auditing.evidence import CountedTest, Finding, RateEvidence, best_of
from auditor.auditing.ledger import Ledger, OutOfTimeError
from auditor.auditing.outcome import Audit
from auditor.auditing.race import Look, Race, Utilities
from auditor.auditing.rounds import Rounds
from auditor.auditing.sizes import Round
from auditor.auditing.smallest import shrink
from auditor.auditing.sources import OF_POINTS
from auditor.auditing.tuning import TUNING
from auditor.auditing.warnings import drift
from auditor.blackbox.batches import Batch, Phase, rng_at
from auditor.claims import Probability
from auditor.methods.probability import SelfReportedEvent, count_hits
from auditor.neighbours.domains import DataSets
from auditor.neighbours.search import has_one_pair

# The rates of data sets are shrunk as if PRIOR further outputs had shown the rate of all.
PRIOR = 4


def audit_probability(ledger: Ledger) -> Audit:
    """Audit a claim on single data sets; every data set of the domain's pairs is a candidate.

    Raises MechanismError if the mechanism returns anything but whether the event happened.
    """
    plan = replace(ledger.plan, neighbours=DataSets(ledger.plan.domain))
    claim = plan.claim
    assert isinstance(claim, Probability)
    rounds, findings, best, refuted = Rounds(plan, ledger), list[Finding](), None, False
    pool: dict[str, Look] = {}
    with contextlib.suppress(OutOfTimeError):
        while size := rounds.next(refuted=refuted, cheap=best is not None and best.tally.in_calls):
            if best and refuted:
                alone = best.pair
            else:
                race = Race(
                    RateGame(ledger, size, claim),
                    plan.domain,
                    rng_at(plan.settings.seed, Phase.SEARCH, size.number),
                    pool,
                    known=ledger.listed,
                )
                # A data set takes half as many outputs as a pair.
                searches = 2 * size.search >= TUNING.least_outputs and not has_one_pair(plan.domain, race.rng)
                alone = race.run(OF_POINTS, size.search).pair if searches else plan.domain.corners()[0]
            batches = ledger.batches(alone, size.bound, Phase.BOUND, (size.number,))
            test, method = SelfReportedEvent(claim, size.share * plan.alpha), plan.method(size.bound)
            tally, _ = ledger.count(batches, test)
            if not tally.batches:
                break
            counted = CountedTest(method, test, tally.counts, tally.outputs, size.share, size.number)
            findings.append(Finding(alone, None, counted, tally))
            best = best_of(claim, plan.alpha, findings)
            refuted = claim.excess(best.counted.bound(plan.alpha)) > 0
    reason = rounds.why_ended(refuted=refuted)
    if best is None:
        return Audit.without_answer(ledger, reason, plan.domain.corners()[0])
    return Audit(
        ledger,
        RateEvidence(claim, best.counted, [each.counted for each in findings], reason),
        best.pair,
        shrink=functools.partial(shrink, plan, ledger, best.pair, cheap=best.tally.in_calls),
    ).warn(*drift(findings[-1].tally.tables))


@dataclass
class RateGame:
    """Whether the event happened, on single data sets. A data set is worth the rate of the event; if the rate is promised to be
    large, less its rate.
    """

    ledger: Ledger
    size: Round
    claim: Probability
    looks: int = 0
    exact = False

    def draw(self, name: str, looks: Sequence[Look], each: int) -> list[Look]:
        """See Game."""
        self.ledger.pairs.update(look.pair.key() for look in looks)
        batches = [
            Batch(look.pair, each, Phase.SEARCH, (self.size.number, self.looks, i)) for i, look in enumerate(looks)
        ]
        self.looks += 1
        hits = self.ledger.draw_each(batches, count_hits, self.size.search)
        return [
            replace(look, evidence=((sum(map(sum, look.evidence)) + more,),), outputs=look.outputs + each)
            for look, more in zip(looks, hits, strict=True)
        ]

    def refocus(self, looks: Sequence[Look]) -> list[Look]:
        """See Game."""
        return list(looks)

    def utilities(self, looks: Sequence[Look]) -> Utilities:
        """See Game. Each rate is shrunk towards that of all data sets, as if PRIOR outputs more had shown it."""
        hits, outputs = ([sum(map(sum, look.evidence)) for look in looks], [look.outputs for look in looks])
        usual = (sum(hits) + 1) / (sum(outputs) + 2)
        sign = 1 if self.claim.at_most else -1
        shrunk = [(some + PRIOR * usual) / (of + PRIOR) for some, of in zip(hits, outputs, strict=True)]
        errors = [math.sqrt(rate * (1 - rate) / (of + PRIOR)) for rate, of in zip(shrunk, outputs, strict=True)]
        deciding = [sign * rate for rate in shrunk]
        return Utilities([rate + error for rate, error in zip(deciding, errors, strict=True)], deciding)
