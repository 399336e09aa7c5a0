"""The flow for probability claims: find the data set on which the event is worst, then bound its probability there.

Such a claim can be confirmed on a data set as well as refuted. For any truth only one of the two can be wrong, so each
may use the whole of alpha.
"""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from auditor.auditing.deadline import fitted
from auditor.auditing.growth import added_up
from auditor.auditing.plan import CHANCES, Ledger, smallest_level
from auditor.blackbox.batches import Batch, Phase
from auditor.blackbox.mechanism import Sample
from auditor.bounds.evidence import Bound, ScoreCounts
from auditor.bounds.intervals import clopper_pearson_lower, clopper_pearson_upper
from auditor.bounds.power import detectable_probability
from auditor.claims import Probability
from auditor.errors import MechanismError
from auditor.neighbours.pair import Pair, Relation
from auditor.neighbours.search import search_pairs
from auditor.report.result import AuditResult, Illustration
from auditor.verdict import Verdict


def audit_probability(claim: Probability, ledger: Ledger) -> AuditResult:
    """Audit a claim on single data sets; every data set of the domain's pairs is a candidate.

    Raises MechanismError where the mechanism returns anything but whether the event happened.
    """
    ledger.plan = plan = fitted(ledger)
    alone = _worst(claim, ledger)
    tally = ledger.count(alone, plan.samples, Phase.BOUND, _hits_and_misses)
    ledger.close_bound(tally)
    if not tally.batches:
        return ledger.result(Verdict.INCONCLUSIVE, ledger.drawn(), pair=alone)
    ledger.look_for_drift(tally.tables)
    return _at_level(plan.alpha, claim, ledger, alone, [(n, seen.left[0]) for n, seen in added_up(tally.pieces)])


def _at_level(
    alpha: float, claim: Probability, ledger: Ledger, alone: Pair, looks: Sequence[tuple[int, int]]
) -> AuditResult:
    """Judge the claim by what was counted, at one level; ``looks`` holds (trials, hits), the last time of all."""
    (trials, hits), p = looks[-1], claim.probability
    low, high = _limits(hits, trials, alpha)
    refuted, confirmed = (low > p, high <= p) if claim.at_most else (high < p, low >= p)
    # The limit on the side of the claim where there is a verdict, else the one that did not reach it.
    is_lower = refuted if claim.at_most else not refuted
    bound = Bound(
        claim.quantity,
        low if is_lower else high,
        1 - alpha,
        f"Clopper-Pearson, {'lower' if is_lower else 'upper'} limit",
    )
    event = {
        "description": "the mechanism reports the event",
        "counts": {"left": [hits, trials]},
        "confirmed": confirmed,
    }
    power = {name: detectable_probability(claim, trials, alpha, chance) for name, chance in CHANCES}
    return ledger.result(
        Verdict.VIOLATION if refuted else Verdict.NO_VIOLATION_FOUND,
        "confirmed on the worst data set found" if confirmed else ledger.drawn(),
        pair=alone,
        event=event,
        bound=bound,
        power=power if all(map(math.isfinite, power.values())) else None,
        p_value=smallest_level(
            lambda level: (
                (clopper_pearson_lower(hits, trials, level) > p)
                if claim.at_most
                else (clopper_pearson_upper(hits, trials, level) < p)
            )
        ),
        alpha=alpha,
        illustration=Illustration(growth=[(n, _limits(k, n, alpha)[not is_lower]) for n, k in looks]),
        at_level=lambda level: _at_level(level, claim, ledger, alone, looks),
    )


def _limits(hits: int, trials: int, alpha: float) -> tuple[float, float]:
    """Return the lower and the upper limit of the rate, each of which errs with probability alpha."""
    return float(clopper_pearson_lower(hits, trials, alpha)), float(clopper_pearson_upper(hits, trials, alpha))


def _worst(claim: Probability, ledger: Ledger) -> Pair:
    """Return the data set on which the event was seen most often (least often, for "at least")."""
    plan, rounds = ledger.plan, 0
    sign = 1 if claim.at_most else -1
    worst: dict[str, tuple[float, Pair]] = {}

    def evaluate(pairs: Sequence[Pair], outputs_each: int) -> list[float]:
        nonlocal rounds
        alone = [
            replace(p, left=data, right=None, relation=Relation.ALONE) for p in pairs for data in (p.left, p.right)
        ]
        ledger.pairs.update(pair.key() for pair in pairs)
        size = outputs_each // 2
        batches = [Batch(pair, size, Phase.SEARCH, (rounds, i)) for i, pair in enumerate(alone)]
        rounds += 1
        rates = [sign * hits / size for hits in ledger.draw_each(batches, _hits)]
        for i, pair in enumerate(pairs):
            worst[pair.key()] = max(((rates[2 * i + j], alone[2 * i + j]) for j in (0, 1)), key=lambda found: found[0])
        return [worst[pair.key()][0] for pair in pairs]

    rng = np.random.default_rng(np.random.SeedSequence(plan.seed, spawn_key=(Phase.SEARCH,)))
    best = search_pairs(plan.domain, evaluate, plan.search_outputs, rng)
    if best.key() in worst:
        return worst[best.key()][1]
    return replace(best, right=None, relation=Relation.ALONE)


def _hits_and_misses(sample: Sample) -> tuple[ScoreCounts, int]:
    hits = _hits(sample)
    return ScoreCounts((hits, sample.size - hits), (0, 0)), 0


def _hits(sample: Sample) -> int:
    column = sample.left.column("output")
    if column.codes is not None or not np.all((column.numbers == 0) | (column.numbers == 1)):
        raise MechanismError(
            "a probability claim needs a mechanism that returns whether the event happened, true or false"
        )
    return int(np.count_nonzero(column.numbers))
