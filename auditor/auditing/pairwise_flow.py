"""The flow for privacy claims: search for a pair, learn a test, prove a bound.

The three phases draw outputs of their own, so what was searched and selected for cannot bias what is proved.
"""

import functools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from auditor.auditing.deadline import fit_bound, fit_outputs, fit_search
from auditor.auditing.drawing import Drawing
from auditor.auditing.growth import added_up, growth
from auditor.auditing.health_checks import (
    all_alike,
    always_fails,
    commonest,
    cut_short,
    drift,
    exceptions,
    nearly_all_alike,
)
from auditor.auditing.implied import smaller_noise
from auditor.auditing.looks import ends
from auditor.auditing.oracle import exact_value
from auditor.auditing.outcome import Evidence, Outcome, inconclusive
from auditor.auditing.pair_search import FoundPair, affordable_pairs, find_pair, method_at_distance
from auditor.auditing.plan import CHANCES, Plan
from auditor.auditing.smallest import shrink, without_harm
from auditor.auditing.tally import Tally
from auditor.blackbox.batches import Phase
from auditor.blackbox.sample import Sample, join_samples
from auditor.claims import Claim, PrivacyClaim
from auditor.events.histogram import Histogram
from auditor.events.rare import some_repeat
from auditor.events.selection import VALUES
from auditor.methods.method import AnyMethod, Test
from auditor.results.result import Illustration, Judgement
from auditor.verdict import judge

# Outputs that follow up a hint of a rare event, for each of the selection.
FOLLOW_UP = 2


def audit_privacy(plan: Plan, drawing: Drawing) -> Outcome:
    """Audit a claim on pairs of neighbours.

    Raises MechanismError when the mechanism breaks the protocol of a batch, and TimeoutError.
    """
    asked = plan
    plan = fit_search(fit_outputs(plan, drawing), drawing, find_pair)
    found = find_pair(plan, drawing, plan.settings.search_outputs)
    pair, at_distance = found.pair, bool(found.path) and plan.method().learns_at_distance
    outputs = plan.settings.selection_outputs // (2 if at_distance else 1)
    sample = drawing.draw(drawing.batches(pair, outputs, Phase.SELECTION))
    failure = sample.left.failure() and sample.right.failure()
    if failure:
        return inconclusive(plan, always_fails(plan, pair, failure), pair)
    share = commonest(sample)
    if share == 1:
        return inconclusive(plan, all_alike(sample.size), pair)
    # What was searched for is what is learned.
    searched = replace(plan, claim=found.claim)
    learned = _learned if at_distance else _learned_on_pair
    test = learned(searched, drawing, found, sample)
    plan, note = _affordable(fit_bound(plan, drawing), sample)
    method = plan.method()
    # For the reader only, and so made while the workers draw.
    histograms = functools.cache(lambda: test.histograms(sample))
    batches = drawing.batches(pair, plan.settings.samples, Phase.BOUND, like=sample)
    tally = drawing.count(batches, test, functools.partial(method.bound, test), histograms)
    drawn_by, reason = drawing.drawn_by(), drawn(plan, tally, asked.settings.samples) + note
    if not tally.batches:
        return replace(inconclusive(plan, reason, pair), drawn_by=drawn_by)
    if tally.lost > tally.outputs / 2:
        raised = f"batches with {tally.lost:,} of {tally.outputs:,} outputs raised"
        return replace(inconclusive(plan, raised, pair), drawn_by=drawn_by)
    evidence = CountEvidence(plan.claim, method, test, added_up(tally.pieces), histograms(), reason)
    smallest, warnings = None, list[str]()
    refuted = evidence.refutes(plan.alpha)
    # What a claim implies is not worth more time where that is limited.
    if not refuted and plan.settings.seconds is None:
        warnings += smaller_noise(plan, drawing, pair, sample)
    # Outputs that fail by costing time are not worth a smaller pair.
    if refuted and plan.settings.shrinks and not sample.failures:
        smallest, warnings = without_harm(drawing, lambda: shrink(plan, drawing, pair, sample))
    return Outcome(
        plan,
        evidence,
        pair,
        # What is known of a specimen is known over the reals, and says nothing of its bits.
        exact_value(plan, pair) if plan.settings.events == (VALUES,) else None,
        smallest,
        # A batch that raises is one accident, and no change of all its outputs.
        ((*drift(tally.tables), *warnings) if not tally.lost else tuple(warnings)),
        exceptions(plan, pair, sample),
        (*cut_short(asked, drawing), *nearly_all_alike(share)),
        drawn_by,
    )


def _learner(plan: Plan) -> AnyMethod:
    method = plan.method()
    assert isinstance(plan.claim, PrivacyClaim)
    return method.with_prior() if affordable_pairs(plan.claim, plan.settings.search_outputs) else method


def _learned_on_pair(plan: Plan, drawing: Drawing, found: FoundPair, sample: Sample) -> Test[Any]:
    """Learn a test on the pair; where values repeat that may be a rare release, from more outputs.

    A value that is released once in 20,000 times is seen a few times among the outputs of the selection, or on one side only.
    """
    if plan.settings.seconds is None and some_repeat(sample):
        batches = drawing.batches(found.pair, FOLLOW_UP * sample.size, Phase.SELECTION, number=(3,), like=sample)
        sample = join_samples([sample, drawing.draw(batches)])
    test: Test[Any] = _learner(plan).learn(sample).test
    return test


def _learned(plan: Plan, drawing: Drawing, found: FoundPair, sample: Sample) -> Test[Any]:
    """Learn a test at the ends of the path: what showed there may be too weak to be learned from neighbours."""
    batches = drawing.batches(ends(found.path), sample.size, Phase.SELECTION, number=(1,))
    test: Test[Any] = method_at_distance(len(found.path), plan).with_prior().learn(drawing.draw(batches)).test
    return test


@dataclass(frozen=True, slots=True)
class CountEvidence(Evidence):
    """What a test counted on a pair: after a number of outputs each, the last time after all of them.

    ``histograms`` show how the outputs lie that the test was learned from, and ``reason`` says why no more were drawn.
    """

    claim: Claim
    method: AnyMethod
    test: Test[Any]
    looks: Sequence[tuple[int, Any]]
    histograms: tuple[Histogram, ...]
    reason: str

    def bound(self, alpha: float) -> float:
        return replace(self.method, alpha=alpha).bound(self.test, self.looks[-1][1])

    def judge(self, alpha: float) -> Judgement:
        method, test, counts = replace(self.method, alpha=alpha), self.test, self.looks[-1][1]
        bound = method.proved(test, counts)
        power = {name: method.detectable(test, counts, chance) for name, chance in CHANCES}
        return Judgement(
            judge(self.claim, bound, could_refute=self._could_refute(method, power)),
            self.reason,
            bound,
            test.report(counts),
            power,
            self.p_value(),
            alpha,
            Illustration(
                self.histograms, growth(self.looks, lambda seen: method.bound(test, seen)), method.profile(counts)
            ),
        )

    def _could_refute(self, method: AnyMethod, power: Mapping[str, float]) -> bool:
        """Whether some violation refutes the claim by this number of outputs, on this event or on one that tells all."""
        outputs, _ = self.looks[-1]
        on_event = any(map(math.isfinite, power.values()))
        return on_event or replace(method, planned=outputs).foreseen(1.0, CHANCES[0][1]) < math.inf


def drawn(plan: Plan, tally: Tally, asked: int) -> str:
    """Say how many outputs of the bound were drawn of those ``asked`` for, as the reason to stop."""
    settings = plan.settings
    if tally.time_is_up:
        return f"{settings.seconds:g} seconds were over: {tally.outputs:,} of {asked:,} outputs drawn"
    if settings.samples < asked and settings.seconds is not None:
        return f"{settings.samples:,} of {asked:,} outputs drawn: {settings.seconds:g} seconds allow no more"
    return f"all {settings.samples:,} outputs drawn"


# Outputs that end their process or pass the time limit cost time. This number of them proves what there is to prove: all on one
# side, with nothing on the other, they refute ε = 2.6 at 99.9 %.
MOST_FAILURES = 100


def _affordable(plan: Plan, sample: Sample) -> tuple[Plan, str]:
    """Return the plan with fewer outputs for the bound where too many would fail, and a note on that.

    The number depends on the outputs of the selection only. So it says nothing about those of the bound.
    """
    if not sample.failures:
        return plan, ""
    samples = min(plan.settings.samples, max(100, round(MOST_FAILURES * sample.size / sample.failures)))
    note = f"; more would take long: {sample.failures} of {sample.size} ended their process or were late"
    return plan.with_settings(samples=samples), note
