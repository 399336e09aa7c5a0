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

from auditor.auditing.evidence import CountedTest, CountEvidence, Finding, best_of
from auditor.auditing.ledger import Ledger, OutOfTimeError
from auditor.auditing.no_answer import NoAnswerError, all_alike, always_fails, commonest, some_pairs
from auditor.auditing.outcome import Audit
from auditor.auditing.pair_search import FoundPair, affordable_pairs, find_pair, outputs_at_distance
from auditor.auditing.race import Look
from auditor.auditing.recount import recount
from auditor.auditing.rounds import Rounds
from auditor.auditing.sizes import LEAST_SELECTION, learned_from
from auditor.auditing.smallest import shrink
from auditor.auditing.tuning import TUNING
from auditor.auditing.warnings import drift
from auditor.blackbox.batches import Batches, Phase
from auditor.blackbox.sample import Sample, join_samples
from auditor.bounds.utility import Outlook, fit_prior_to_pilots
from auditor.claims import PrivacyClaim
from auditor.interfaces import Learned
from auditor.methods.guessing import ProfileTest
from auditor.neighbours.pair import Pair
from auditor.neighbours.search import ends
from auditor.sessions.answers import error_if_all_raise, typical_turns

# The most promising rule of a round has most of the round's level. Each other rule has OF_OTHERS of it.
OF_OTHERS = 0.05
# A round with fewer outputs of the bound does not learn on a rival, since it counts hardly more than it learns from.
ENOUGH_FOR_RIVALS = 10_000


def audit_pairwise(ledger: Ledger) -> Audit:
    """Audit a claim on pairs of neighbours, in five steps: recount an earlier violation; then in each round search for a pair,
    learn rules on it, and count them on fresh outputs; at the end, decide.

    Raises MechanismError when the mechanism breaks the protocol of a batch.
    """
    recounted, flow = recount(ledger), PairwiseFlow(ledger)
    try:
        with contextlib.suppress(OutOfTimeError):
            while flow.rounds.next(refuted=flow.refuted, cheap=flow.is_cheap):
                found = flow.search()
                candidate = flow.learn(found)
                if not flow.count(candidate):
                    break
        audit = flow.decide()
    except NoAnswerError as none:
        audit = Audit.without_answer(ledger, none.reason, none.pair)
    return audit if recounted is None else recounted.add_to(audit)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A pair to count rules on: the end of a search, the outputs to learn from, and the rules learned from these."""

    found: FoundPair
    sample: Sample
    learned: Learned[Any]


@dataclass
class PairwiseFlow:
    """The steps of an audit, and what its rounds know so far: looks of the search, outputs to learn from, and findings."""

    ledger: Ledger
    looks: Mapping[str, Look] = field(default_factory=dict)  # by pair key
    outputs: dict[str, Sample] = field(default_factory=dict)  # to learn from, by pair key
    found: FoundPair | None = None  # by the last search
    counted_on: dict[int, FoundPair] = field(default_factory=dict)  # by round
    findings: list[Finding] = field(default_factory=list)
    best: Finding | None = None
    refuted: bool = False
    times: int = 0  # how often outputs were drawn to learn from
    answering: Pair | None = None  # where the mechanism answers, if it only raises on the pair found
    failing: int = 1  # the pairs on which every output was an exception, when ``search`` found no other
    note: str = ""  # on a last round with fewer outputs than planned

    def __post_init__(self) -> None:
        self.plan = self.ledger.plan
        self.rounds = Rounds(self.plan, self.ledger)

    @property
    def is_cheap(self) -> bool:
        """Whether a call gives many outputs, as far as is known."""
        return self.best is not None and self.best.tally.in_calls

    def search(self) -> FoundPair:
        """Return the pair of the round. A round without a search keeps the last pair.

        If every output on the pair found is an exception, a pair on which the mechanism answers is looked for, and rules are
        learned on both: the two sides may raise different exceptions. A process that ends or hangs costs too much time.
        Raises NoAnswerError if the last round has nothing to learn from.
        """
        size = self.rounds.current
        if size.search or self.found is None:
            self.found = find_pair(self.plan, size, self.ledger, self.looks, refuted=self.refuted)
            self.looks = self.found.looks
        pair, sample = self.found, self._outputs_on(self.found)
        failure, self.answering = _fails(sample), None
        if failure and not sample.failures and not self.plan.test:
            self.answering = self._answering(pair)
        if failure and self.answering is None and (self.rounds.ended or sample.size >= LEAST_SELECTION):
            raise NoAnswerError(always_fails(self.plan, pair.pair, failure, self.failing), pair.pair)
        if self.rounds.ended and (raised := error_if_all_raise(pair.pair, sample)):
            raise NoAnswerError(f"every question {raised}: check what `ask` asks of the session", pair.pair)
        return pair

    def learn(self, pair: FoundPair) -> Candidate:
        """Learn rules on the pair found, on its rival, and on the best pair of earlier rounds; return those that promise most.

        Raises NoAnswerError if all outputs of the last round are alike.
        """
        sample = self._outputs_on(pair)
        alike = commonest(sample) == 1
        if self.plan.test:
            return Candidate(pair, sample, Learned(self.plan.test, -math.inf))
        candidates = [Candidate(pair, sample, self._learned(pair, sample))]
        for other in self._others(pair, alike=alike):
            own = self._outputs_on(other)
            if any(event.occurs_in(own) for event in self.plan.without):
                self.leave_out(other.pair)
            else:
                candidates.append(Candidate(other, own, self._learned(other, own)))
        promises = self._promises(candidates)
        differing = [i for i, each in enumerate(candidates) if commonest(each.sample) < 1]
        if self.rounds.ended and not differing:
            raise NoAnswerError(all_alike(candidates[0].sample), candidates[0].found.pair)
        # Of equal ones, a pair on which the mechanism answers: exceptions alone say less.
        return candidates[max(differing or [0], key=lambda i: (promises[i], not _fails(candidates[i].sample)))]

    def _promises(self, candidates: Sequence[Candidate]) -> list[float]:
        """Return for each candidate how likely its rules refute the claim, plus a little for their bound. Once the claim is
        refuted, the forecast of the bound alone counts, and so it does where rules were learned at a distance.
        """
        forecasts = [candidate.learned.forecast for candidate in candidates]
        claim, evidence = self.plan.claim, [candidate.learned.evidence for candidate in candidates]
        if (
            self.refuted
            or len(candidates) == 1
            or not all(evidence)
            or any(self._at_distance(each.found) for each in candidates)
        ):
            return forecasts
        assert isinstance(claim, PrivacyClaim)
        method = self.plan.method(self.rounds.current.bound)
        prior = fit_prior_to_pilots([look.prospects for look in self.looks.values() if not look.along])
        return Outlook.of([*map(method.prospects, evidence)], claim.value, prior).utilities(TUNING.worth_if_learned)

    def count(self, candidate: Candidate) -> bool:
        """Count the rules on fresh outputs; return whether there was time for any.

        Later rounds learn from these outputs, so they are kept unless the round is the last. Raises NoAnswerError if
        most batches raised.
        """
        plan, pair, sample, learned = self.plan, candidate.found.pair, candidate.sample, candidate.learned
        self.note = self.rounds.affordable(sample)
        size = self.rounds.current
        tests = learned.test, *learned.others
        shares = [size.share * (1 - OF_OTHERS * len(learned.others)), *(size.share * OF_OTHERS for _ in learned.others)]
        room = 0 if self.rounds.ended else max(0, learned_from(len(sample.left.columns)) - sample.size)
        batches = self.ledger.batches(pair, size.bound, Phase.BOUND, (size.number,), like=sample)
        together = ProfileTest(tests) if learned.others else learned.test
        tally, kept = self.ledger.count(batches, together, room)
        if kept:
            self.outputs[pair.key()] = join_samples([sample, *kept])
        if not tally.batches:
            return False
        method = plan.method(size.bound)
        counts = tally.counts.points if learned.others else [tally.counts]
        for test, test_counts, share in zip(tests, counts, shares, strict=True):
            counted = CountedTest(method, test, test_counts, tally.outputs, share, size.number)
            self.findings.append(Finding(pair, sample, counted, tally))
        failure = _fails(sample)
        # On a pair that was chosen although one was known on which the mechanism answers, exceptions are what differs.
        if tally.lost > tally.outputs / 2 and not (failure and self.answering):
            raised = f"batches with {tally.lost:,} of {tally.outputs:,} outputs raised"
            raise NoAnswerError(always_fails(plan, pair, failure, self.failing) if failure else raised, pair)
        self.counted_on[size.number] = candidate.found
        self.best = best_of(plan.claim, plan.alpha, self.findings)
        self.refuted = plan.claim.excess(self.best.counted.bound(plan.alpha)) > 0
        return True

    def leave_out(self, pair: Pair) -> None:
        """Leave a pair out of the searches of later rounds."""
        look = self.looks.get(pair.key(), Look(pair))
        self.looks = {**self.looks, look.key: replace(look, left_out=True)}

    def decide(self) -> Audit:
        """Return the audit with the counts of all rounds as its evidence. Raises NoAnswerError if nothing was counted."""
        plan, ledger, best = self.plan, self.ledger, self.best
        reason = self.rounds.why_ended(refuted=self.refuted) + self.note
        if best is None:
            raise NoAnswerError(reason, plan.domain.corners()[0])
        pair, sample, shown, last = best.pair, best.sample, best.counted, self.findings[-1].tally
        assert sample is not None
        counted = [each.counted for each in self.findings]
        audit = Audit(
            ledger,
            CountEvidence(
                plan.claim, shown, counted, reason, shown.test.histograms(sample), typical_turns(pair, sample)
            ),
            pair,
            sample,
            functools.partial(shrink, plan, ledger, pair, cheap=best.tally.in_calls, sample=sample),
            self.looks,
        )
        # The last round has most outputs. If batches raised, one accident would look like drift.
        return audit if last.lost else audit.warn(*drift(last.tables))

    def _answering(self, found: FoundPair) -> Pair | None:
        """Return the first of other pairs on which the mechanism answers; None if it answers on none that is tried."""
        tried = {found.pair.key()}
        for pair in some_pairs(self.plan.domain.corners()):
            tried.add(pair.key())
            if not _fails(self._outputs_on(replace(found, pair=pair, path=(), rivals=()))):
                return pair
        self.failing = len(tried)
        return None

    def _others(self, found: FoundPair, *, alike: bool) -> list[FoundPair]:
        """Return what else to learn on: rivals of the pair found, a pair on which the mechanism answers if that one has none but
        exceptions, and the best pair of earlier rounds if there is a need.
        """
        is_large = self.rounds.current.bound >= ENOUGH_FOR_RIVALS
        pairs = [*([self.answering] if self.answering else []), *(found.rivals if is_large else ())]
        rivals = [replace(found, pair=rival, path=()) for rival in pairs]
        before = self.counted_on[self.best.counted.round] if self.best and (self.refuted or alike) else None
        tried = {each.pair.key(): each for each in (before, *rivals) if each is not None}
        return [each for key, each in tried.items() if key != found.pair.key()]

    def _outputs_on(self, pair: FoundPair) -> Sample:
        """Return the outputs on a pair that the round learns from. If earlier rounds drew too few, draw more."""
        sample, needed = self.outputs.get(pair.pair.key()), self.rounds.current.selection
        missing = (needed // 2 if self._at_distance(pair) else needed) - (sample.size if sample else 0)
        if missing > 0:
            fresh = self.ledger.draw(self._to_learn_from(pair.pair, missing, sample))
            sample = join_samples([*([sample] if sample else []), fresh])
            self.outputs[pair.pair.key()] = sample
        assert sample is not None
        return sample

    def _to_learn_from(self, pair: Pair, outputs: int, like: Sample | None = None) -> Batches:
        """Return batches of outputs to learn from, each time at an address of its own."""
        self.times += 1
        return self.ledger.batches(pair, outputs, Phase.SELECTION, (self.rounds.current.number, self.times), like=like)

    def _learned(self, found: FoundPair, sample: Sample) -> Learned[Any]:
        """Learn rules on a pair, or on the ends of its path, which show effects that are too weak on neighbours."""
        size = self.rounds.current
        share = size.share * (1 - 2 * OF_OTHERS)
        if self._at_distance(found):
            method = self.plan.method(outputs_at_distance(size.bound, len(found.path)), found.claim, share)
            # The pair may have outputs of earlier rounds; the ends get the half of the round's outputs that it leaves.
            outputs = min(sample.size, size.selection - size.selection // 2)
            at_ends = self.ledger.draw(self._to_learn_from(ends(found.path), outputs))
            return method.with_prior().learn(at_ends)
        method = self.plan.method(size.bound, found.claim, share)
        learned = (method.with_prior() if affordable_pairs(found.claim, size.search) else method).learn(sample)
        look = self.looks.get(key := found.pair.key(), Look(found.pair))
        self.looks = {**self.looks, key: replace(look, learned=learned.evidence)}
        return learned

    def _at_distance(self, pair: FoundPair) -> bool:
        return bool(pair.path) and self.plan.method(self.plan.settings.samples).learns_at_distance


def _fails(sample: Sample) -> str | None:
    """Return the failure if every output of both sides is an exception."""
    return sample.left.failure() and sample.right.failure()
