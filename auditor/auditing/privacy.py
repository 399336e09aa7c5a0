"""The flow for privacy claims: search for a pair, learn a test, prove a bound, judge the claim.

The three phases draw outputs of their own, so what was searched and selected for cannot bias what is proved.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from auditor.auditing.plan import Ledger
from auditor.blackbox.mechanism import Sample
from auditor.blackbox.outputs import concatenate
from auditor.blackbox.sampling import Batch, Phase
from auditor.bounds.evidence import Bound
from auditor.claims import PrivacyClaim
from auditor.methods import method_for
from auditor.methods.base import Method
from auditor.neighbours.pair import Pair
from auditor.neighbours.search import search_pairs
from auditor.report.result import AuditResult
from auditor.verdict import Verdict, judge


def audit_privacy(claim: PrivacyClaim, ledger: Ledger) -> AuditResult:
    """Audit a claim on pairs of neighbours.

    Raises MechanismError when the mechanism breaks the protocol of a batch, and TimeoutError.
    """
    plan = ledger.plan
    method = method_for(claim, plan.method, plan.alpha, plan.samples)
    pair = _search(method, ledger)
    sample = _collect(pair, ledger)
    failure = sample.left.failure() and sample.right.failure()
    if failure:
        return ledger.result(Verdict.INCONCLUSIVE, f"the mechanism failed on every call: {failure}", pair=pair)
    test = method.learn(sample).test
    counts: Any = None
    for seen in ledger.draw(pair, plan.samples, Phase.BOUND, test.count):
        counts = seen if counts is None else counts + seen
    bound = Bound(claim.quantity, method.bound(test, counts), 1 - plan.alpha, method.name)
    power = {name: method.detectable(test, counts, chance) for name, chance in (("80%", 0.80), ("95%", 0.95))}
    return ledger.result(
        judge(claim, bound),
        f"all {plan.samples:,} outputs drawn",
        pair=pair,
        event=test.to_dict(counts),
        bound=bound,
        power=power,
    )


def _search(method: Method[Any], ledger: Ledger) -> Pair:
    plan, score, rounds = ledger.plan, _PairScore(method), 0

    def evaluate(pairs: Sequence[Pair], outputs_each: int) -> list[float]:
        nonlocal rounds
        batches = [Batch(pair, outputs_each, Phase.SEARCH, (rounds, i)) for i, pair in enumerate(pairs)]
        rounds += 1
        return ledger.draw_each(batches, score)

    rng = np.random.default_rng(np.random.SeedSequence(plan.seed, spawn_key=(Phase.SEARCH,)))
    return search_pairs(plan.domain, evaluate, plan.search_outputs, rng)


def _collect(pair: Pair, ledger: Ledger) -> Sample:
    samples = list(ledger.draw(pair, ledger.plan.selection_outputs, Phase.SELECTION, _as_drawn))
    return Sample(concatenate([s.left for s in samples]), concatenate([s.right for s in samples]))


def _as_drawn(sample: Sample) -> Sample:
    return sample


class _PairScore:
    """Score a pair by the bound it is forecast to give; a class, since it travels to the workers."""

    def __init__(self, method: Method[Any]) -> None:
        self._method = method

    def __call__(self, sample: Sample) -> float:
        if min(sample.left.size, sample.right.size) < 4:
            return -np.inf
        return self._method.learn(sample).forecast
