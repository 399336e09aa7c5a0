"""The flow for probability claims: find the data set on which the event is worst, then bound its probability there.

Such a claim can be confirmed on a data set as well as refuted. For any truth only one of the two can be wrong, so each
may use the whole of alpha.
"""

import functools
import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from auditor.auditing.deadline import fit_search, fitted
from auditor.auditing.growth import added_up, growth
from auditor.auditing.plan import CHANCES, Ledger
from auditor.auditing.shrink import shrink
from auditor.auditing.tally import Counted
from auditor.blackbox.batches import Batch, Phase
from auditor.bounds.evidence import Bound, ScoreCounts
from auditor.bounds.power import detectable_probability
from auditor.claims import Probability
from auditor.methods.probability import Rate, Reported, hits
from auditor.neighbours.domains import DataSets
from auditor.neighbours.pair import Pair
from auditor.neighbours.search import LEAST_OUTPUTS, Budget, search_pairs
from auditor.results.result import AuditResult, Illustration, Judgement, Smallest
from auditor.verdict import Verdict, judge, smallest_level


def audit_probability(claim: Probability, ledger: Ledger) -> AuditResult:
    """Audit a claim on single data sets; every data set of the domain's pairs is a candidate.

    Raises MechanismError where the mechanism returns anything but whether the event happened.
    """
    plan = fitted(ledger)
    ledger.plan = plan = replace(plan, domain=DataSets(plan.domain))
    ledger.plan = plan = fit_search(ledger, functools.partial(_worst, claim))
    alone = _worst(claim, ledger, plan.settings.search_outputs)
    tally = ledger.count(alone, plan.settings.samples, Phase.BOUND, Counted(Reported(claim, plan.alpha)))
    ledger.close_bound(tally)
    if not tally.batches:
        return ledger.inconclusive(ledger.drawn(), pair=alone)
    ledger.look_for_drift(tally.tables)
    looks = added_up(tally.pieces)
    result = _at_level(plan.alpha, claim, ledger, alone, looks)
    if result.verdict is not Verdict.VIOLATION or not plan.settings.shrinks:
        return result
    return _at_level(plan.alpha, claim, ledger, alone, looks, shrink(claim, ledger, alone))


def _at_level(
    alpha: float,
    claim: Probability,
    ledger: Ledger,
    alone: Pair,
    looks: Sequence[tuple[int, ScoreCounts]],
    smallest: Smallest | None = None,
) -> AuditResult:
    """Judge the claim by what was counted, at one level; ``looks`` holds (trials, counts), the last time of all."""
    test, counts = Reported(claim, alpha), looks[-1][1]

    def bound(level: float, lower: bool) -> Bound:
        return Rate(claim, level, counts.trials).limit(counts, lower=lower)

    def refutes(level: float) -> bool:
        return judge(claim, bound(level, claim.at_most)) is Verdict.VIOLATION

    refuted, event = refutes(alpha), test.report(counts)
    # The limit on the side of the claim where there is a verdict, else the one that did not reach it.
    is_lower = refuted if claim.at_most else not refuted
    power = {name: detectable_probability(claim, counts.trials, alpha, chance) for name, chance in CHANCES}
    judgement = Judgement(
        Verdict.VIOLATION if refuted else Verdict.NO_VIOLATION_FOUND,
        "confirmed on the worst data set found" if event.confirmed else ledger.drawn(),
        bound(alpha, is_lower),
        event,
        power if all(map(math.isfinite, power.values())) else None,
        smallest_level(refutes),
        alpha,
        Illustration(growth=growth(looks, lambda seen: test.limit(seen, lower=is_lower))),
    )
    return ledger.result(
        judgement, alone, smallest, lambda level: _at_level(level, claim, ledger, alone, looks, smallest)
    )


def _worst(claim: Probability, ledger: Ledger, outputs: int, stage: int = 0) -> Pair:
    """Return the data set on which the event was seen most often (least often, for "at least")."""
    plan, rounds = ledger.plan, 0
    sign = 1 if claim.at_most else -1

    def evaluate(alone: Sequence[Pair], outputs_each: int) -> list[float]:
        nonlocal rounds
        ledger.pairs.update(pair.key() for pair in alone)
        batches = [Batch(pair, outputs_each, Phase.SEARCH, (stage, rounds, i)) for i, pair in enumerate(alone)]
        rounds += 1
        return [sign * seen / outputs_each for seen in ledger.draw_each(batches, hits)]

    rng = np.random.default_rng(np.random.SeedSequence(plan.settings.seed, spawn_key=(Phase.SEARCH, stage)))
    # All outputs are of one side.
    return search_pairs(plan.domain, evaluate, Budget(outputs, LEAST_OUTPUTS // 2), rng).pair
