"""The flow for privacy claims: search for a pair, learn a test, prove a bound, judge the claim.

The three phases draw outputs of their own, so what was searched and selected for cannot bias what is proved.
"""

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from auditor.auditing.deadline import fit_search, fitted
from auditor.auditing.doubts import always_fails, note_exceptions
from auditor.auditing.growth import added_up, growth
from auditor.auditing.oracle import exact_value
from auditor.auditing.plan import CHANCES, Ledger, Plan
from auditor.auditing.search import ends, enough_for, find_pair, method_over
from auditor.auditing.shrink import shrink
from auditor.auditing.tally import Counted
from auditor.blackbox.batches import Phase
from auditor.blackbox.sample import Sample
from auditor.claims import PrivacyClaim
from auditor.events.histogram import Histogram
from auditor.events.selection import VALUES
from auditor.methods import method_for
from auditor.methods.base import AnyMethod, Test
from auditor.neighbours.pair import Pair
from auditor.results.result import AuditResult, Illustration, Judgement, Smallest
from auditor.verdict import Verdict, judge, smallest_level


def audit_privacy(claim: PrivacyClaim, ledger: Ledger) -> AuditResult:
    """Audit a claim on pairs of neighbours.

    Raises MechanismError when the mechanism breaks the protocol of a batch, and TimeoutError.
    """
    ledger.plan = plan = fitted(ledger)
    method = method_for(claim, plan.settings.method, plan.alpha, plan.settings.samples, plan.settings.events)
    ledger.plan = plan = fit_search(ledger, functools.partial(find_pair, method))
    found = find_pair(method, ledger, plan.settings.search_outputs)
    pair, afar = found.pair, found.path and method.learns_at_distance
    sample = ledger.draw(pair, plan.settings.selection_outputs // (2 if afar else 1), Phase.SELECTION)
    failure = sample.left.failure() and sample.right.failure()
    if failure:
        return ledger.inconclusive(always_fails(ledger, pair, failure), pair=pair)
    note_exceptions(ledger, pair, sample)
    if afar:
        # What showed from afar alone may be too weak to learn it from neighbours.
        far_sample = ledger.draw(ends(found.path), sample.size, Phase.SELECTION, number=(1,))
        test = method_over(len(found.path), plan).with_prior().learn(far_sample).test
    else:
        learner = method.with_prior() if enough_for(claim, plan.settings.search_outputs) else method
        test = learner.learn(sample).test
    if sample.failures:
        ledger.plan = plan = _affordable(plan, sample)
        method = method_for(claim, plan.settings.method, plan.alpha, plan.settings.samples, plan.settings.events)
        ledger.note = (
            f"; more would take long, since {sample.failures} of {sample.size} ended their process or were late"
        )
    # A batch that raises says nothing of its outputs: the event abstains on all of them, which errs on the safe side. Where
    # batches raised before, batches of one tell which outputs do.
    how = {"one_by_one": sample.redrawn or sample.raised(), "form": sample.form}
    so_far = functools.partial(method.bound, test)
    # For the eyes only, and so for the time in which the workers need no one.
    histograms = functools.cache(lambda: test.histograms(sample))
    tally = ledger.count(pair, plan.settings.samples, Phase.BOUND, Counted(test), so_far, meanwhile=histograms, **how)
    ledger.close_bound(tally)
    if not tally.batches:
        return ledger.inconclusive(ledger.drawn(), pair=pair)
    if tally.lost > tally.outputs / 2:
        return ledger.inconclusive(f"batches with {tally.lost:,} of {tally.outputs:,} outputs raised", pair=pair)
    if not tally.lost:  # a batch that raises is one accident, and no change of all its outputs
        ledger.look_for_drift(tally.tables)
    # What is known of a specimen is known over the reals, and says nothing of its bits.
    ledger.exact = exact_value(plan, pair) if plan.settings.events == (VALUES,) else None
    evidence = _Evidence(pair, test, added_up(tally.pieces), histograms())
    result = _at_level(plan.alpha, claim, ledger, evidence)
    # Outputs that fail by costing time are not worth a smaller pair.
    if result.verdict is not Verdict.VIOLATION or not plan.settings.shrinks or sample.failures:
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
    return plan.with_settings(
        samples=min(plan.settings.samples, max(100, round(MOST_FAILURES * sample.size / sample.failures)))
    )


def _at_level(
    alpha: float,
    claim: PrivacyClaim,
    ledger: Ledger,
    evidence: _Evidence,
    smallest: Smallest | None = None,
) -> AuditResult:
    """Judge the claim by what was counted, at one level; the smallest pair is no part of that, and keeps its own."""

    def at_level(level: float) -> AnyMethod:
        return method_for(
            claim, ledger.plan.settings.method, level, ledger.plan.settings.samples, ledger.plan.settings.events
        )

    at, test, counts = at_level(alpha), evidence.test, evidence.counts
    bound = at.proved(test, counts)
    judgement = Judgement(
        judge(claim, bound),
        ledger.drawn(),
        bound,
        test.report(counts),
        {name: at.detectable(test, counts, chance) for name, chance in CHANCES},
        smallest_level(lambda level: at_level(level).bound(test, counts) > claim.value),
        alpha,
        Illustration(
            evidence.histograms, growth(evidence.looks, lambda seen: at.bound(test, seen)), at.profile(counts)
        ),
    )
    return ledger.result(
        judgement, evidence.pair, smallest, lambda level: _at_level(level, claim, ledger, evidence, smallest)
    )
