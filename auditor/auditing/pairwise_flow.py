"""The flow for privacy claims: rounds, each of which searches for a pair, learns rules, and counts them on fresh outputs.

Later rounds also learn from the outputs that a round counted. The pair and the rules of a round are frozen before its
outputs are drawn. So search and learning cannot bias what is proved.
"""

import contextlib
import functools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from auditor.auditing.draw import Draw, OutOfTimeError, Tally
from auditor.auditing.health_checks import all_alike, always_fails, commonest, some_pairs
from auditor.auditing.outcome import Evidence, Seen, no_answer
from auditor.auditing.pair_search import FoundPair, Look, affordable_pairs, ends, find_pair, outputs_at_distance
from auditor.auditing.plan import CHANCES, Plan
from auditor.auditing.rounds import Rounds
from auditor.auditing.sizes import LEAST_SELECTION, Round, learned_from
from auditor.auditing.smallest import shrink
from auditor.blackbox.batches import Phase
from auditor.blackbox.sample import Sample, join_samples
from auditor.claims import Claim
from auditor.events.histogram import Histogram
from auditor.interfaces import AnyMethod, Learned, Test
from auditor.methods.guessing import ProfileTest
from auditor.neighbours.pair import Pair
from auditor.results.result import Illustration, Judgement, Turn
from auditor.sessions.answers import error_if_all_raise, typical_turns
from auditor.verdict import judge

# The most promising rule of a round has most of the round's level. Each other rule has OF_OTHERS of it.
OF_OTHERS = 0.05


def audit_pairwise(plan: Plan, draw: Draw) -> Seen:
    """Audit a claim on pairs of neighbours.

    Raises MechanismError when the mechanism breaks the protocol of a batch.
    """
    rounds, known, note = Rounds(plan, draw), _Known(plan, draw), ""
    counted, best, refuted = list[Counted](), None, False
    with contextlib.suppress(OutOfTimeError):
        while now := rounds.next(refuted=refuted, cheap=bool(best and best.tally.in_calls)):
            found = known.search(now, refuted=refuted)
            found, sample = known.answering(found, now)
            failure = sample.left.failure() and sample.right.failure()
            if failure and (rounds.ended or sample.size >= LEAST_SELECTION):
                return no_answer(always_fails(plan, found.pair, failure, known.failing), found.pair)
            if rounds.ended and (raised := error_if_all_raise(found.pair, sample)):
                return no_answer(f"every question {raised}: check what `ask` asks of the session", found.pair)
            alike = commonest(sample) == 1
            learned = Learned(plan.test, -math.inf) if plan.test else known.learn(found, sample, now)
            for other in known.others(found, now, best.found if best and (refuted or alike) else None):
                of_other = known.outputs_on(other, now)
                again = known.learn(other, of_other, now)
                if again.forecast > learned.forecast or (alike and commonest(of_other) < 1):
                    found, sample, learned, alike = other, of_other, again, False
            if rounds.ended and alike:
                return no_answer(all_alike(sample), found.pair)
            now, note = _affordable(rounds, now, sample)
            of_round = known.count(found, learned, sample, now, last=rounds.ended)
            if not of_round:
                break
            counted += of_round
            tally = of_round[-1].tally
            if tally.lost > tally.outputs / 2:
                raised = f"batches with {tally.lost:,} of {tally.outputs:,} outputs raised"
                reason = always_fails(plan, found.pair, failure, known.failing) if failure else raised
                return no_answer(reason, found.pair, draw.drawn_by())
            best = best_of(plan, counted)
            refuted = best.refutes(plan)
    if best is None:
        return no_answer(drawn(rounds, 0), plan.domain.corners()[0], draw.drawn_by())
    pair, sample, last = best.found.pair, best.sample, counted[-1].tally
    reason = drawn(rounds, draw.spent.bound, refuted=refuted) + note
    return Seen(
        CountEvidence(plan.claim, best, counted, best.test.histograms(sample), reason, typical_turns(pair, sample)),
        pair,
        sample,
        # The last round has most outputs. If batches raised, there are no tables, since one accident would look like
        # drift.
        () if last.lost else last.tables,
        functools.partial(shrink, plan, draw, pair, cheap=best.tally.in_calls, sample=sample),
        draw.drawn_by(),
        looks=known.looks,
    )


@dataclass(frozen=True, slots=True)
class Counted:
    """The counts of a rule in a round, in all batches of the ``tally``, for a bound at a share of the level.

    The rule was learned from ``sample`` for ``method``, and frozen before the outputs were drawn.
    """

    number: int
    found: FoundPair
    method: AnyMethod
    test: Test[Any]
    counts: Any
    share: float
    sample: Sample
    tally: Tally

    def at(self, alpha: float) -> AnyMethod:
        """Return the method at this rule's share of a level."""
        return replace(self.method, alpha=self.share * alpha)

    def bound(self, alpha: float) -> float:
        """Return the bound. All bounds of all rounds hold together with probability at least 1 − alpha."""
        return float(self.at(alpha).bound(self.test, self.counts))

    def refutes(self, plan: Plan) -> bool:
        """Whether the bound refutes the claim of a plan at the plan's level."""
        return plan.claim.excess(self.bound(plan.alpha)) > 0


def best_of(plan: Plan, counted: Sequence[Counted]) -> Counted:
    """Return the rule with the largest bound at the plan's level; ties go by the later round, then by share."""
    return max(counted, key=lambda one: (plan.claim.excess(one.bound(plan.alpha)), one.number, one.share))


@dataclass
class _Known:
    """The results of all rounds so far: looks of the search, and outputs to learn from, by pair."""

    plan: Plan
    draw: Draw
    looks: Mapping[str, Look] = field(default_factory=dict)
    outputs: dict[str, Sample] = field(default_factory=dict)
    found: FoundPair | None = None
    times: int = 0  # how often outputs were drawn to learn from
    failing: int = 1  # the pairs on which every output was an exception, when ``answering`` found no other

    def search(self, now: Round, *, refuted: bool) -> FoundPair:
        """Search for a pair, with the looks of earlier searches. A round without a search keeps the last pair."""
        if now.search or self.found is None:
            self.found = find_pair(self.plan, now, self.draw, self.looks, refuted=refuted)
            self.looks = self.found.looks
        return self.found

    def others(self, found: FoundPair, now: Round, before: FoundPair | None) -> list[FoundPair]:
        """Return what else to learn on: the rival of the pair found, and the best pair of the rounds ``before``."""
        if self.plan.test:
            return []
        # A small round does not learn on a rival, since it counts hardly more outputs than it learns from.
        is_large = now.bound >= 10_000
        rival = replace(found, pair=found.rival, path=()) if found.rival and is_large else None
        tried = {one.pair.key(): one for one in (before, rival) if one is not None}
        return [one for key, one in tried.items() if key != found.pair.key()]

    def outputs_on(self, found: FoundPair, now: Round) -> Sample:
        """Return the outputs on a pair that a round learns from. If earlier rounds drew too few, draw more."""
        sample = self.outputs.get(found.pair.key())
        needed = now.selection // 2 if self._at_distance(found) else now.selection
        missing = needed - (sample.size if sample else 0)
        if missing > 0:
            sample = join_samples([*([sample] if sample else []), self._drawn(found.pair, missing, now, sample)])
            self.outputs[found.pair.key()] = sample
        assert sample is not None
        return sample

    def answering(self, found: FoundPair, now: Round) -> tuple[FoundPair, Sample]:
        """Return the pair and the outputs to learn from. If every output on it is an exception, try other pairs of the
        domain, and return the first on which the mechanism answers. A process that ends or hangs costs too much time.
        """
        sample = self.outputs_on(found, now)
        if not _fails(sample) or sample.failures or self.plan.test:
            return found, sample
        tried = {found.pair.key()}
        for pair in some_pairs(self.plan.domain.corners()):
            other = replace(found, pair=pair, path=(), rival=None)
            drawn = self.outputs_on(other, now)
            tried.add(pair.key())
            if not _fails(drawn):
                self.found = other
                return other, drawn
        self.failing = len(tried)
        return found, sample

    def learn(self, found: FoundPair, sample: Sample, now: Round) -> Learned[Any]:
        """Learn rules on the pair, or on the ends of its path, which show effects that are too weak on neighbours."""
        share = now.share * (1 - 2 * OF_OTHERS)
        if self._at_distance(found):
            outputs = outputs_at_distance(now.bound, len(found.path))
            at_ends = self._drawn(ends(found.path), sample.size, now)
            return self.plan.method(outputs, found.claim, share).with_prior().learn(at_ends)
        method = self.plan.method(now.bound, found.claim, share)
        learned = (method.with_prior() if affordable_pairs(found.claim, now.search) else method).learn(sample)
        look = self.looks.get(key := found.pair.key(), Look(found.pair))
        self.looks = {**self.looks, key: replace(look, learned=learned.evidence)}
        return learned

    def _drawn(self, pair: Pair, outputs: int, now: Round, like: Sample | None = None) -> Sample:
        """Draw outputs to learn from, each time at an address of its own."""
        self.times += 1
        return self.draw.draw(self.draw.batches(pair, outputs, Phase.SELECTION, (now.number, self.times), like=like))

    def count(
        self, found: FoundPair, learned: Learned[Any], sample: Sample, now: Round, *, last: bool
    ) -> "list[Counted]":
        """Count rules on fresh outputs. Later rounds learn from these outputs, so they are kept unless the round is the last."""
        plan, pair = self.plan, found.pair
        tests = learned.test, *learned.others
        shares = [now.share * (1 - OF_OTHERS * len(learned.others)), *(now.share * OF_OTHERS for _ in learned.others)]
        method = plan.method(now.bound)
        room = 0 if last else max(0, learned_from(len(sample.left.columns)) - sample.size)
        batches = self.draw.batches(pair, now.bound, Phase.BOUND, (now.number,), like=sample)
        together = ProfileTest(tests) if learned.others else learned.test
        tally, drawn = self.draw.count(batches, together, room)
        if drawn:
            self.outputs[pair.key()] = join_samples([sample, *drawn])
        if not tally.batches:
            return []
        each = zip(tests, tally.counts.points if learned.others else [tally.counts], shares, strict=True)
        return [Counted(now.number, found, method, *one, sample, tally) for one in each]

    def _at_distance(self, found: FoundPair) -> bool:
        return bool(found.path) and self.plan.method(self.plan.settings.samples).learns_at_distance


@dataclass(frozen=True, slots=True)
class CountEvidence(Evidence):
    """The ``counted`` rules of all rounds. The rule with the largest bound at the level of the plan is ``shown``.

    All bounds hold together, so the choice among them costs nothing. ``histograms`` and ``dialogue`` show the outputs from which
    the rule was learned. ``reason`` says why no more outputs were drawn.
    """

    claim: Claim
    shown: Counted
    counted: Sequence[Counted]
    histograms: tuple[Histogram, ...]
    reason: str
    dialogue: Sequence[Turn] = ()

    def bound(self, alpha: float) -> float:
        return self.shown.bound(alpha)

    def judge(self, alpha: float) -> Judgement:
        method, test, counts = self.shown.at(alpha), self.shown.test, self.shown.counts
        bound = replace(method.proved(test, counts), confidence=1 - alpha)
        power = {name: method.detectable(test, counts, chance) for name, chance in CHANCES}
        is_measured = not self.claim.is_stated
        return Judgement(
            judge(self.claim, bound, could_refute=self._could_refute(method, power)),
            self.reason,
            bound,
            test.report(counts),
            None if is_measured else power,
            self.p_value(),
            alpha,
            self.shown.share,
            self.shown.number,
            Illustration(self.histograms, self._growth(alpha), method.profile(counts), self.dialogue),
        )

    def _growth(self, alpha: float) -> list[tuple[int, float]]:
        """Return the outputs and the largest bound of each round; for the shown rule's round, the shown bound."""
        found = dict[int, tuple[int, float]]()
        for one in self.counted:
            before = found.get(one.number, (0, -math.inf))
            found[one.number] = one.tally.outputs, max(before[1], one.bound(alpha))
        return list({**found, self.shown.number: (self.shown.tally.outputs, self.bound(alpha))}.values())

    def _could_refute(self, method: AnyMethod, power: Mapping[str, float]) -> bool:
        """Whether so many outputs can refute the claim, on this event or on one that distinguishes all outputs."""
        on_event = any(map(math.isfinite, power.values()))
        planned = replace(method, planned=self.shown.tally.outputs)
        return on_event or planned.foreseen(1.0, CHANCES[0][1]) < math.inf


def _fails(sample: Sample) -> bool:
    """Whether every output of both sides is an exception."""
    return bool(sample.left.failure() and sample.right.failure())


def drawn(rounds: Rounds, outputs: int, *, refuted: bool = False) -> str:
    """Return the reason to stop: the number of outputs drawn for the bounds, and the number asked for."""
    settings, last = rounds.plan.settings, rounds.done[-1].bound if rounds.done else 0
    if refuted and last < settings.samples:
        return f"refuted after {outputs:,} outputs"
    if settings.seconds is not None and (last < settings.samples or rounds.draw.out_of_time):
        return f"{settings.seconds:g} seconds were over: {outputs:,} of {settings.samples:,} outputs drawn"
    return f"all {last:,} outputs drawn"


# About the most outputs of a bound that may end their process or pass the time limit, since each costs time. If all are
# on one side and none on the other, they refute ε = 2.6 at 99.9 %.
MOST_FAILURES = 100


def few_failures(sample: Sample) -> int:
    """Return the number of outputs with MOST_FAILURES expected failures, by the share of failures in a sample."""
    return max(100, round(MOST_FAILURES * sample.size / sample.failures))


def _affordable(rounds: Rounds, now: Round, sample: Sample) -> tuple[Round, str]:
    """Return the round and a note on it. If too many outputs would fail, the round has fewer and is the last one.

    The number depends on outputs of earlier rounds and of the selection only, so it is independent of the bound's
    outputs.
    """
    bound = few_failures(sample) if sample.failures else now.bound
    if bound >= now.bound:
        return now, ""
    note = f"; more would take long: {sample.failures} of {sample.size} ended their process or were late"
    return rounds.ending_with(bound), note
