"""The flow for privacy claims: search for a pair, learn a test, prove a bound.

The three phases draw outputs of their own, so what was searched and selected for cannot bias what is proved.
"""

import functools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from auditor.auditing.deadline import sizes_in_time, with_all_that_is_left
from auditor.auditing.draw import Draw
from auditor.auditing.health_checks import all_alike, always_fails, commonest
from auditor.auditing.looks import ends, outputs_at_distance
from auditor.auditing.outcome import Evidence, Seen, no_answer
from auditor.auditing.pair_search import FoundPair, affordable_pairs, find_pair
from auditor.auditing.plan import CHANCES, Plan
from auditor.auditing.sizes import Sizes
from auditor.auditing.smallest import shrink
from auditor.auditing.tally import Tally, added_up, growth
from auditor.auditing.transcripts import turns
from auditor.blackbox.batches import Phase
from auditor.blackbox.sample import Sample, join_samples
from auditor.bounds.prospect import some_hint
from auditor.claims import ApproximateDP, Claim, PureDP, Unclaimed
from auditor.events.histogram import Histogram
from auditor.events.rare import some_end, some_repeat
from auditor.methods.method import AnyMethod, Learned, Test
from auditor.results.result import Illustration, Judgement, Turn
from auditor.verdict import judge

# Outputs that follow up a hint of a rare event, for each of the selection.
FOLLOW_UP = 2


def audit_pairwise(plan: Plan, draw: Draw) -> Seen:
    """Audit a claim on pairs of neighbours.

    Raises MechanismError when the mechanism breaks the protocol of a batch.
    """
    sizes = sizes_in_time(plan, draw, find_pair)
    found = find_pair(plan, sizes, draw)
    pair, at_distance = found.pair, bool(found.path) and plan.method(sizes.bound).learns_at_distance
    outputs = sizes.selection // (2 if at_distance else 1)
    sample = draw.draw(draw.batches(pair, outputs, Phase.SELECTION))
    failure = sample.left.failure() and sample.right.failure()
    if failure:
        return no_answer(always_fails(plan, pair, failure), sizes, pair)
    if commonest(sample) == 1:
        return no_answer(all_alike(sample.size), sizes, pair)
    # What was searched for is what is learned.
    learner = _Learner(plan, sizes, draw, found)
    test = plan.test or (learner.at_distance(sample) if at_distance else learner.on_pair(sample))
    sizes, note = _affordable(with_all_that_is_left(plan, sizes, draw), sample)
    method = plan.method(sizes.bound)
    # For the reader only, and so made while the workers draw.
    histograms = functools.cache(lambda: test.histograms(sample))
    batches = draw.batches(pair, sizes.bound, Phase.BOUND, like=sample)
    tally = draw.count(batches, test, functools.partial(method.bound, test), histograms)
    drawn_by, reason = draw.drawn_by(), drawn(plan, sizes, tally) + note
    if not tally.batches:
        return no_answer(reason, sizes, pair, drawn_by)
    if tally.lost > tally.outputs / 2:
        raised = f"batches with {tally.lost:,} of {tally.outputs:,} outputs raised"
        return no_answer(raised, sizes, pair, drawn_by)
    return Seen(
        CountEvidence(plan.claim, method, test, added_up(tally.pieces), histograms(), reason, turns(pair, sample)),
        sizes,
        pair,
        sample,
        # A batch that raises is one accident, and no change of all its outputs.
        () if tally.lost else tally.tables,
        functools.partial(shrink, plan, sizes, draw, pair, sample),
        drawn_by,
    )


@dataclass(frozen=True, slots=True)
class _Learner:
    """Learns a test of what was searched for."""

    plan: Plan
    sizes: Sizes
    draw: Draw
    found: FoundPair

    def on_pair(self, sample: Sample) -> Test[Any]:
        """Learn a test on the pair. If the outputs hint at a violation that they are too few to show, learn it from more.

        A value that is released once in 20,000 times is seen a few times among the outputs of the selection, or on one side only.
        Of an end of the support there are few outputs too. A loss that is little above the claim is near what luck may show.
        """
        found, may_draw = self.found, self.plan.settings.seconds is None
        method = self.plan.method(self.sizes.bound, found.claim)
        learner = method.with_prior() if affordable_pairs(found.claim, self.sizes.search) else method
        if may_draw and some_repeat(sample):
            sample, may_draw = self._with_more(sample), False
        learned = learner.learn(sample)
        if may_draw and self._is_open(learner, learned, sample):
            learned = learner.learn(self._with_more(sample))
        test: Test[Any] = learned.test
        return test

    def _with_more(self, sample: Sample) -> Sample:
        batches = self.draw.batches(self.found.pair, FOLLOW_UP * sample.size, Phase.SELECTION, number=(3,), like=sample)
        return join_samples([sample, self.draw.draw(batches)])

    def _is_open(self, learner: AnyMethod, learned: Learned[Any], sample: Sample) -> bool:
        """Whether no violation is forecast, and a rule or an end of the outputs hints at one."""
        claim = self.found.claim
        if claim.excess(learned.forecast) > 0:
            return False
        at_end = isinstance(claim, PureDP | ApproximateDP) and some_end(sample, claim.epsilon)
        return at_end or some_hint(learner.prospects(learned.evidence), claim.value)

    def at_distance(self, sample: Sample) -> Test[Any]:
        """Learn a test at the ends of the path. An effect that showed there may be too weak to be learned from neighbours."""
        path = self.found.path
        batches = self.draw.batches(ends(path), sample.size, Phase.SELECTION, number=(1,))
        method = self.plan.method(outputs_at_distance(self.sizes.bound, len(path)), self.found.claim)
        test: Test[Any] = method.with_prior().learn(self.draw.draw(batches)).test
        return test


@dataclass(frozen=True, slots=True)
class CountEvidence(Evidence):
    """The counts of a test on a pair, after increasing numbers of outputs. The last counts are of all outputs.

    ``histograms`` and ``dialogue`` show the outputs from which the test was learned. ``reason`` says why no more outputs were
    drawn.
    """

    claim: Claim
    method: AnyMethod
    test: Test[Any]
    looks: Sequence[tuple[int, Any]]
    histograms: tuple[Histogram, ...]
    reason: str
    dialogue: Sequence[Turn] = ()

    def bound(self, alpha: float) -> float:
        return replace(self.method, alpha=alpha).bound(self.test, self.looks[-1][1])

    def judge(self, alpha: float) -> Judgement:
        method, test, counts = replace(self.method, alpha=alpha), self.test, self.looks[-1][1]
        bound = method.proved(test, counts)
        power = {name: method.detectable(test, counts, chance) for name, chance in CHANCES}
        is_measured = isinstance(self.claim, Unclaimed)
        return Judgement(
            judge(self.claim, bound, could_refute=self._could_refute(method, power)),
            self.reason,
            bound,
            test.report(counts),
            None if is_measured else power,
            self.p_value(),
            alpha,
            Illustration(
                self.histograms,
                growth(self.looks, lambda seen: method.bound(test, seen)),
                method.profile(counts),
                self.dialogue,
            ),
        )

    def _could_refute(self, method: AnyMethod, power: Mapping[str, float]) -> bool:
        """Whether some violation refutes the claim by this number of outputs, on this event or on one that tells all."""
        outputs, _ = self.looks[-1]
        on_event = any(map(math.isfinite, power.values()))
        return on_event or replace(method, planned=outputs).foreseen(1.0, CHANCES[0][1]) < math.inf


def drawn(plan: Plan, sizes: Sizes, tally: Tally) -> str:
    """Return the reason to stop: the number of outputs drawn for the bound, and the number asked for."""
    settings, asked = plan.settings, plan.settings.samples
    if tally.time_is_up:
        return f"{settings.seconds:g} seconds were over: {tally.outputs:,} of {asked:,} outputs drawn"
    if sizes.bound < asked and settings.seconds is not None:
        return f"{sizes.bound:,} of {asked:,} outputs drawn: {settings.seconds:g} seconds allow no more"
    return f"all {sizes.bound:,} outputs drawn"


# Outputs that end their process or pass the time limit cost time. This number of them proves what there is to prove: all on one
# side, with nothing on the other, they refute ε = 2.6 at 99.9 %.
MOST_FAILURES = 100


def _affordable(sizes: Sizes, sample: Sample) -> tuple[Sizes, str]:
    """Return fewer outputs for the bound where too many would fail, and a note on that.

    The number depends on the outputs of the selection only. So it says nothing about those of the bound.
    """
    if not sample.failures:
        return sizes, ""
    bound = min(sizes.bound, max(100, round(MOST_FAILURES * sample.size / sample.failures)))
    note = f"; more would take long: {sample.failures} of {sample.size} ended their process or were late"
    return replace(sizes, bound=bound), note
