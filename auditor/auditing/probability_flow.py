"""The flow for probability claims: find the data set on which the event is worst, then bound its probability there."""

import contextlib
import functools
from collections.abc import Sequence
from dataclasses import replace

from auditor.auditing.evidence import CountedTest, Finding, RateEvidence, best_of
from auditor.auditing.ledger import Ledger, OutOfTimeError
from auditor.auditing.outcome import Audit
from auditor.auditing.plan import Plan
from auditor.auditing.rounds import Rounds
from auditor.auditing.sizes import Round
from auditor.auditing.smallest import shrink
from auditor.auditing.warnings import drift
from auditor.blackbox.batches import Batch, Phase, rng_at
from auditor.claims import Probability
from auditor.methods.probability import SelfReportedEvent, count_hits
from auditor.neighbours.domains import DataSets
from auditor.neighbours.pair import Pair, distinct
from auditor.neighbours.search import LEAST_LOOK, Budget, search_pairs


def audit_probability(ledger: Ledger) -> Audit:
    """Audit a claim on single data sets; every data set of the domain's pairs is a candidate.

    Raises MechanismError if the mechanism returns anything but whether the event happened.
    """
    plan = replace(ledger.plan, neighbours=DataSets(ledger.plan.domain))
    claim = plan.claim
    assert isinstance(claim, Probability)
    rounds, findings, best, refuted = Rounds(plan, ledger), list[Finding](), None, False
    with contextlib.suppress(OutOfTimeError):
        while size := rounds.next(refuted=refuted, cheap=best is not None and best.tally.in_calls):
            alone = best.pair if best and refuted else _worst(plan, size, ledger, findings)
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


def _worst(plan: Plan, size: Round, ledger: Ledger, before: Sequence[Finding]) -> Pair:
    """Return the data set with the worst rate of the event. The data sets of earlier rounds are tried first."""
    assert isinstance(plan.claim, Probability)
    sign, rounds = 1 if plan.claim.at_most else -1, 0

    def evaluate(alone: Sequence[Pair], outputs_each: int) -> list[float]:
        nonlocal rounds
        ledger.pairs.update(pair.key() for pair in alone)
        batches = [Batch(pair, outputs_each, Phase.SEARCH, (size.number, rounds, i)) for i, pair in enumerate(alone)]
        rounds += 1
        return [sign * each / outputs_each for each in ledger.draw_each(batches, count_hits, size.search)]

    rng = rng_at(plan.settings.seed, Phase.SEARCH, size.number)
    # A data set needs half as many outputs as a pair: LEAST_LOOK, not LEAST_OUTPUTS.
    first = distinct([each.pair for each in reversed(before)])
    return search_pairs(plan.domain, evaluate, Budget(size.search, LEAST_LOOK), rng, first).pair
