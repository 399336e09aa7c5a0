"""The flow for privacy claims: search for a pair, learn a test, prove a bound, judge the claim.

The three phases draw outputs of their own, so what was searched and selected for cannot bias what is proved.
"""

import functools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from auditor.auditing.growth import Piecewise, added_up, growth
from auditor.auditing.oracle import exact_value
from auditor.auditing.plan import CHANCES, Ledger, Plan, as_drawn, smallest_level
from auditor.auditing.search import find_pair
from auditor.auditing.shrink import shrink
from auditor.blackbox.mechanism import Sample, join_samples
from auditor.blackbox.sampling import Phase
from auditor.bounds.evidence import Bound
from auditor.claims import PrivacyClaim
from auditor.events.histogram import Histogram
from auditor.events.selection import VALUES
from auditor.methods import method_for
from auditor.methods.base import Method, Test
from auditor.neighbours.pair import Pair
from auditor.report.result import AuditResult, Illustration, Smallest
from auditor.verdict import Verdict, judge


def audit_privacy(claim: PrivacyClaim, ledger: Ledger) -> AuditResult:
    """Audit a claim on pairs of neighbours.

    Raises MechanismError when the mechanism breaks the protocol of a batch, and TimeoutError.
    """
    plan = ledger.plan
    method = method_for(claim, plan.method, plan.alpha, plan.samples, plan.events)
    pair, _ = find_pair(method, ledger, plan.search_outputs)
    sample = _collect(pair, ledger)
    failure = sample.left.failure() and sample.right.failure()
    if failure:
        return ledger.result(Verdict.INCONCLUSIVE, f"the mechanism failed on every call: {failure}", pair=pair)
    test = method.learn(sample).test
    if sample.failures:
        ledger.plan = plan = _affordable(plan, sample)
        method = method_for(claim, plan.method, plan.alpha, plan.samples, plan.events)
        ledger.note = (
            f"; more would take long, since {sample.failures} of {sample.size} ended their process or were late"
        )
    pieces: list[tuple[int, Any]] = []
    counts, tables = None, []
    # A batch that raises says nothing of its outputs: the event abstains on all of them, which errs on the safe side. Where
    # batches raised before, batches of one tell which outputs do.
    one_by_one = sample.redrawn or sample.raised()
    observe, failed = _Counted(Piecewise.of(plan, test.count)), 0
    for seen, lost in ledger.draw(pair, plan.samples, Phase.BOUND, observe, one_by_one=one_by_one, form=sample.form):
        pieces += seen
        of_batch = added_up(seen)[-1][1]
        tables.append(of_batch.tables())
        counts = of_batch if counts is None else counts + of_batch
        ledger.so_far = functools.partial(method.bound, test, counts)
        failed += lost
    if failed > plan.samples / 2:
        return ledger.result(
            Verdict.INCONCLUSIVE, f"batches with {failed:,} of {plan.samples:,} outputs raised", pair=pair
        )
    if not failed:  # a batch that raises is one accident, and no change of all its outputs
        ledger.look_for_drift(tables)
    # What is known of a specimen is known over the reals, and says nothing of its bits.
    ledger.exact = exact_value(plan.source, claim, pair) if plan.events == (VALUES,) else None
    evidence = _Evidence(pair, test, added_up(pieces), test.histograms(sample))
    result = _at_level(plan.alpha, claim, ledger, evidence)
    # Where outputs fail by costing time, a pair is not worth the time that a smaller one would take.
    if result.verdict is not Verdict.VIOLATION or not plan.shrink or sample.failures:
        return result
    smallest = shrink(claim, ledger, pair, sample)
    return _at_level(plan.alpha, claim, ledger, evidence, smallest)


@dataclass(frozen=True, slots=True)
class _Evidence:
    """What was counted on a pair: after so many outputs each, the last time after all; and how the outputs learned from lie."""

    pair: Pair
    test: Test[Any]
    looks: Sequence[tuple[int, Any]]
    histograms: tuple[Histogram, ...]

    @property
    def counts(self) -> Any:
        """All that was counted."""
        return self.looks[-1][1]


# Outputs that end their process or pass the time limit cost time, and so many prove what there is to prove: all on one side
# and with nothing to set against, they refute ε = 2.6 at 99.9 %.
MOST_FAILURES = 100


def _affordable(plan: Plan, sample: Sample) -> Plan:
    """Return the plan with fewer outputs for the bound, if so many as planned would fail too often.

    The number depends on the outputs of the selection only, so that it says nothing about those of the bound.
    """
    return replace(plan, samples=min(plan.samples, max(100, round(MOST_FAILURES * sample.size / sample.failures))))


def _at_level(
    alpha: float,
    claim: PrivacyClaim,
    ledger: Ledger,
    evidence: _Evidence,
    smallest: Smallest | None = None,
) -> AuditResult:
    """Judge the claim by what was counted, at one level; the smallest pair is no part of that, and keeps its own."""

    def method(level: float) -> Method[Any]:
        return method_for(claim, ledger.plan.method, level, ledger.plan.samples, ledger.plan.events)

    at, test, counts = method(alpha), evidence.test, evidence.counts
    bound = Bound(claim.quantity, at.bound(test, counts), 1 - alpha, at.name, at.also(counts))
    verdict = judge(claim, bound)
    return ledger.result(
        verdict,
        f"all {ledger.plan.samples:,} outputs drawn{ledger.note}",
        pair=evidence.pair,
        event=test.to_dict(counts),
        bound=bound,
        power={name: caught for name, chance in CHANCES if (caught := at.detectable(test, counts, chance)) is not None},
        p_value=smallest_level(lambda level: method(level).bound(test, counts) > claim.value),
        alpha=alpha,
        smallest=smallest if verdict is Verdict.VIOLATION else None,
        illustration=Illustration(
            evidence.histograms, growth(evidence.looks, lambda seen: at.bound(test, seen)), at.profile(counts)
        ),
        at_level=lambda level: _at_level(level, claim, ledger, evidence, smallest),
    )


def _collect(pair: Pair, ledger: Ledger) -> Sample:
    return join_samples(list(ledger.draw(pair, ledger.plan.selection_outputs, Phase.SELECTION, as_drawn)))


@dataclass(frozen=True, slots=True)
class _Counted:
    """Count what a test sees in a batch, and how many outputs were lost because the batch as a whole raised."""

    count: Piecewise[Any]

    def __call__(self, sample: Sample) -> tuple[list[tuple[int, Any]], int]:
        lost = sample.size if _all_raised(sample) else 0
        return self.count(sample), lost


def _all_raised(sample: Sample) -> bool:
    return all(side.size == 0 or side.failure() for side in (sample.left, sample.right))
