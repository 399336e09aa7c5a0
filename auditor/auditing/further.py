"""After a violation: further ones, each outside of the events of those before.

The first violation is often trivial, such as an exception on an empty data set, and hides the rest. So the search, the selection
and the bound run again, on outputs of their own, by guesses that leave out the events that are known
(:mod:`auditor.methods.guessing_outside`). Of a rule that guesses both sides, one side becomes known: of those that break the claim
by themselves, the one that is rarer on random pairs of the domain. The other one may be most of what the mechanism does.

What may go wrong, and how often. The verdict, its bound and its p-value rest on outputs drawn before, at a level of their own. So
nothing here can turn a verdict, and a mechanism that keeps its claim has further violations only after a false alarm, which has
probability at most the plan's alpha. Each further bound has a level that was fixed in advance: the plan's alpha over the number of
violations asked for. The events that are known, the pair and the test are fixed by earlier outputs, and its own outputs are fresh.
So given all that went before, it exceeds the truth with probability at most that level. All further bounds of an audit hold
together with probability 1 − alpha, and those of a file with the file's confidence. The bound of the verdict is not among them.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from auditor.auditing.draw import Draw
from auditor.auditing.outcome import Seen
from auditor.auditing.pairwise_flow import CountEvidence, audit_pairwise
from auditor.auditing.plan import Hints, Listener, Plan
from auditor.blackbox.batches import Batch, Phase, rng_at
from auditor.blackbox.sample import Sample
from auditor.bounds.evidence import Counts, GuessCounts
from auditor.bounds.guesses import guess_epsilon
from auditor.claims import ApproximateDP, PureDP
from auditor.errors import InvalidInputError, MechanismError, WorkerLostError
from auditor.events.cells import LEFT, RIGHT
from auditor.events.event import Event
from auditor.events.left_out import EarlierEvent, Outside, count_in_each
from auditor.events.observed import ObservedRule, SideCounts
from auditor.methods.guessing import Guesses
from auditor.methods.guessing_outside import EventOutside
from auditor.neighbours.pair import Pair
from auditor.results.recount import counted
from auditor.results.result import AuditResult, Further, FurtherViolation

# Random pairs, and the outputs on each, that show which side of a rule is rarer; they have a stage of their own.
PAIRS, EACH, RARER = 24, 64, 97
NO_MORE = "outside of these events, the search proves no further violation"


def further(plan: Plan, seen: Seen, draw: Draw) -> Further | None:
    """Look for further violations of a claim that is refuted; None if none were asked for. Raises what sampling raises."""
    asked = plan.settings.further
    if not asked:
        return None
    if reason := _why_not(plan):
        return Further((), reason, 0)
    if not seen.refutes(plan.alpha):
        return Further((), "only the larger level that other audits of the file leave to this one refutes the claim", 0)
    assert isinstance(seen.found, CountEvidence) and isinstance(seen.found.test, Event)
    sides = _telling(seen.found.test, seen.found.looks[-1][1], plan)
    found, known, outputs = list[FurtherViolation](), tuple[EarlierEvent, ...](), 0
    for number in range(1, asked + 1):
        turn = of_turn(plan, number)
        own = Draw(turn, _named(draw.listener, plan.name), draw.reproducible, share=draw.share, pace=draw.pace)
        try:
            known = (*known, _rarest(sides, own))
            again = audit_pairwise(replace(turn, hints=replace(plan.hints, test=None, known=known)), own)
        except (MechanismError, TimeoutError) as error:
            # As with the smallest pair: the verdict stays. Where a crash can be made an output, the audit is drawn again.
            if plan.settings.execution.isolate and isinstance(error, TimeoutError | WorkerLostError):
                raise
            message = str(error) or "a batch took longer than the time limit"
            turn.store.end(message)
            return Further(tuple(found), f"the search stopped early: {message}", outputs + own.spent.total)
        outputs += own.spent.total
        if not again.refutes(turn.alpha):
            return Further(tuple(found), NO_MORE, outputs)
        assert isinstance(again.found, CountEvidence) and isinstance(again.found.test, EventOutside) and again.pair
        found.append(_proved(again.found, again.pair, turn.alpha))
        sides = _telling(again.found.test.event, again.found.looks[-1][1].event, turn)
    return Further(tuple(found), f"{asked} further violations were asked for", outputs)


def of_turn(plan: Plan, number: int) -> Plan:
    """Return the plan of one further audit: at addresses of its own, at its share of alpha."""
    name = f"{plan.name}, further violation {number}"
    turn = plan.with_settings(planted=0, further=0, shrink=False)
    return replace(turn, name=name, alpha=plan.alpha / plan.settings.further, store=replace(plan.store, audit=name))


def recounted(plan: Plan, audit: AuditResult) -> Further | None:
    """Return the further violations of a report, with what their rules count in the outputs that were recorded.

    Raises InvalidInputError if the outputs are missing or of another pair, or if a rule does not leave out the events before it.
    """
    if audit.further is None:
        return None
    found, known, before = list[FurtherViolation](), tuple[EarlierEvent, ...](), audit.event
    for number, one in enumerate(audit.further.found, start=1):
        turn = of_turn(plan, number)
        if not isinstance(before, ObservedRule) or not isinstance(one.event, ObservedRule):
            raise InvalidInputError(f"further violation {number} has no rule, or follows on none")
        test, samples = EventOutside.reported(one.event), list(turn.store.samples(Phase.BOUND, one.pair))
        if test.earlier not in [(*known, side) for side in _sides(Event.of(before))]:
            raise InvalidInputError(f"further violation {number} does not leave out the events of those before it")
        known, before, outputs = test.earlier, one.event, sum(sample.size for sample in samples)
        method = replace(turn, hints=Hints(known=known)).method(outputs)
        evidence = CountEvidence(plan.claim, method, test, [(outputs, counted(test, samples))], (), "")
        found.append(_proved(evidence, one.pair, turn.alpha))
    return replace(audit.further, found=tuple(found))


def _proved(evidence: CountEvidence, pair: Pair, alpha: float) -> FurtherViolation:
    counts = evidence.looks[-1][1]
    earlier = tuple(
        SideCounts((one.hits_left, one.trials_left), (one.hits_right, one.trials_right)) for one in counts.earlier
    )
    bound = replace(evidence.method, alpha=alpha).proved(evidence.test, counts)
    return FurtherViolation(pair, evidence.test.report(counts), earlier, bound, evidence.p_value())


def _why_not(plan: Plan) -> str | None:
    """Return why further violations cannot be looked for, if they cannot."""
    if plan.kind != "pairwise" or not isinstance(plan.method(plan.settings.samples), Guesses):
        return "further violations are looked for by claims of ε or (ε, δ) and `method: fixed` only"
    if plan.settings.seconds is not None:
        return "a time limit leaves none for further violations"
    return None


def _sides(event: Event) -> list[EarlierEvent]:
    """Return the events on which a rule guesses a side."""
    feature = event.feature
    # Together with the events before, it is the same event without them.
    feature = feature.feature if isinstance(feature, Outside) else feature
    return [EarlierEvent(feature, event.rule, side) for side in (LEFT, RIGHT) if side in event.rule.worths]


def _telling(event: Event, seen: GuessCounts, plan: Plan) -> list[EarlierEvent]:
    """Return the sides of a rule that break the claim each by itself; all, if only all together do."""
    none = Counts(0, seen.left.trials_left, 0, seen.left.trials_right)
    alone = {LEFT: GuessCounts(seen.left, none, True), RIGHT: GuessCounts(none, seen.right, True)}
    claim = plan.claim
    assert isinstance(claim, PureDP | ApproximateDP)
    bounds = {side: guess_epsilon(counts, claim.delta, plan.alpha) for side, counts in alone.items()}
    sides = _sides(event)
    return [one for one in sides if claim.excess(bounds[one.side]) > 0] or sides


def _rarest(sides: Sequence[EarlierEvent], draw: Draw) -> EarlierEvent:
    """Return the event in which the fewest outputs of random pairs lie."""
    rng = rng_at(draw.plan.settings.seed, Phase.SEARCH, RARER)
    pairs = [draw.plan.domain.random(rng) for _ in range(PAIRS)]
    batches = [Batch(pair, EACH, Phase.SEARCH, (RARER, 0, i)) for i, pair in enumerate(pairs)]
    seen = draw.draw_each(batches, _CountEach((*sides,)), PAIRS * EACH)
    return sides[int(np.argmin(np.sum(seen, axis=0)))]


@dataclass(frozen=True, slots=True)
class _CountEach:
    """Count the outputs in each of some events; a class, since it travels to the workers."""

    events: tuple[EarlierEvent, ...]

    def __call__(self, sample: Sample) -> list[int]:
        return [seen.hits_left + seen.hits_right for seen in count_in_each(self.events, sample)]


def _named(listener: Listener, name: str) -> Listener:
    """Return a listener that hears of further audits under the name of the first."""
    return lambda progress: listener(replace(progress, audit=name))
