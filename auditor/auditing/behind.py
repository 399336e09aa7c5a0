"""After a violation by an exception, a kind of output or single values: what hides behind it.

An event that is an exception, a kind of output or a single value wins every search, and hides all else on its pairs. So a
violation by such an event is followed by another audit, with a share of the outputs, among pairs on which the event never
showed: the same rounds of search, learning and counting. If that refutes the claim as well, it is a further fault, and what
hides behind that one is looked for in turn. If it is the other way round, and ranges of numbers refuted the claim first, the
further fault shows on a pair whose sides have outputs of different kinds. The search, shrinking or a look at a few of the
simplest and extreme pairs sees it, and that pair is audited.

Error rates: this is a fixed-sequence test (Maurer, Hothorn & Lehmacher 1995; Westfall & Krishen, "Optimally weighted, fixed
sequence and gatekeeper multiple testing procedures", Journal of Statistical Planning and Inference 2001). Hypotheses are tested
in an order, each at the full level, until the first that is not rejected. A false rejection needs that of the first true
hypothesis, whose test has the full level; so some hypothesis is rejected falsely with probability at most alpha. The hypotheses
are that the loss is within the claim: first on all neighbours (the verdict), then on the pair of each further fault. Given all
outputs before, a pair, its rules, and shares of the level are fixed, and the outputs that are counted are fresh. For a sound
mechanism the verdict is the first true hypothesis, so there is no further alarm without a false verdict.

The level is Bonferroni's share of the file, fixed in advance by the plan, whatever level Holm's step-down allows the verdict: as
for smallest pairs, all further faults of a file hold together with the file's confidence.
"""

import contextlib
import functools
import itertools
import math
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from auditor.auditing.evidence import CountEvidence, Finding
from auditor.auditing.ledger import Ledger
from auditor.auditing.no_answer import NoAnswerError
from auditor.auditing.outcome import Audit
from auditor.auditing.pair_search import SIDES_APART, kind_of_outputs
from auditor.auditing.pairwise_flow import PairwiseFlow
from auditor.auditing.plan import Plan
from auditor.auditing.tuning import TUNING
from auditor.blackbox.batches import Batch, Phase, rng_at
from auditor.blackbox.outputs import OutputColumn
from auditor.blackbox.sample import Sample
from auditor.bounds.intervals import Floats
from auditor.defaults import FEWEST
from auditor.errors import MechanismError, WorkerLostError
from auditor.events.cells import ABSTAIN, LEFT, RIGHT, Cells
from auditor.events.event import Event
from auditor.events.features import Place
from auditor.events.observed import ObservedRule
from auditor.interfaces import Test
from auditor.neighbours.domains import Pairs
from auditor.neighbours.pair import Pair, distinct
from auditor.neighbours.search import has_one_pair, spread
from auditor.neighbours.shrinking import complexity
from auditor.results.result import Further

T = TypeVar("T")

# In addresses, rounds behind the first fault are numbered from BEHIND on, those behind the second from twice as much.
BEHIND = 2_000
# An exception, if the test of a violation is no rule of an event.
RAISES = Event(Place("type"), Cells((), (ABSTAIN,), {"exception": RIGHT}))

# A single value is repeated if it makes up this share of the outputs of a side.
REPEATED = 0.05


def hides_others(audit: Audit) -> bool:
    """Whether a violation may hide other faults: pairs were searched for it, so that others may show what it does not."""
    plan = audit.plan
    if not (audit.refuted and plan.kind == "pairwise" and plan.settings.shrink and plan.test is None):
        return False
    is_searched = plan.settings.search != 0 and not has_one_pair(plan.domain, rng_at(plan.settings.seed, Phase.SEARCH))
    return is_searched and not (audit.sample is not None and audit.sample.failures)


def look_behind(audit: Audit) -> Audit:
    """Return the audit with the further faults, or warn that the mechanism stopped the search for them.

    With ``isolate``, the loss of a worker is raised. The same audit is then drawn again with crashes as outputs.
    """
    further, signs, ledger = list[Further](), list[Event](), audit.ledger
    shown = _first(audit)
    by_numbers = not _signs(*shown)
    try:
        for number in range(1, 2 if by_numbers else TUNING.most_further + 1):
            own = _on_own_streams(ledger, number)
            pair = (_of_two_kinds(audit) or _of_two_kinds_of_few(own, number)) if by_numbers else None
            if pair is None and (sign := _rarest(own, number, _signs(*shown), signs)) is not None:
                signs.append(sign)
            finding = _refuted(own, number, signs, pair) if pair is not None or len(signs) == number else None
            ledger.spent = replace(ledger.spent, further=ledger.spent.further + own.spent.total)
            if finding is None:
                break
            shown = finding.counted.test, finding.sample
            if by_numbers and not _signs(*shown):  # the same fault once more
                break
            further.append(_further(ledger.plan, finding))
    except MechanismError as error:
        if audit.plan.settings.execution.isolate and isinstance(error, WorkerLostError):
            raise
        audit.plan.store.end(str(error))
        audit = audit.warn(f"the search for what hides behind the violation stopped early: {error}")
    return replace(audit, further=tuple(further))


def _first(audit: Audit) -> tuple[Test[Any] | None, Sample | None]:
    """Return the test that refuted the claim, and the outputs from which it was learned."""
    return audit.answer.shown.test if isinstance(audit.answer, CountEvidence) else None, audit.sample


def _on_own_streams(ledger: Ledger, number: int) -> Ledger:
    """Return a ledger that draws from streams of its own, and neither counts pairs nor knows distances of the audit."""
    own = ledger.on_streams(f"{ledger.plan.name} behind violation {number}")
    return replace(own, pairs=set(), stages=[], distances=defaultdict(dict), compared={})


def _signs(test: Test[Any] | None, sample: Sample | None) -> list[Event]:
    """Return what may hide other faults: an exception, a kind or a value on which the test guesses, or a number that one side
    repeats and the other never has. Ranges of numbers are none, since most pairs have numbers in them.
    """
    if sample is None or not isinstance(test, Event):
        return [RAISES] if sample is not None and sample.raised() else []
    signs = list[Event]()
    for side in (LEFT, RIGHT):
        if atoms := {atom: side for atom, guess in test.rule.atoms.items() if guess == side}:
            signs.append(Event(test.feature, Cells((), (ABSTAIN,), atoms)))
    sides = [_numbers(test.feature.extract(outputs)) for outputs in (sample.left, sample.right)]
    for own, other in (sides, sides[::-1]):
        values, times = np.unique(own, return_counts=True)
        if (
            times.size
            and times.max() >= REPEATED * sample.size / 2
            and not np.any(other == (value := values[times.argmax()]))
        ):
            edges = math.nextafter(value, -math.inf), float(value)
            signs.append(Event(test.feature, Cells(edges, (ABSTAIN, LEFT, ABSTAIN), {})))
    return signs


def _numbers(column: OutputColumn) -> Floats:
    return column.numbers if column.codes is None else column.numbers[column.codes < 0]


def _rarest(ledger: Ledger, number: int, signs: Sequence[Event], before: Sequence[Event]) -> Event | None:
    """Return the sign that most of a few pairs are free of; None if each of them shows it, or one that is known ``before``."""
    if not signs:
        return None
    seen = _at_few(ledger, number, functools.partial(_which_show, (*signs, *before)))
    free = [sum(not shown[i] and not any(shown[len(signs) :]) for _, shown in seen) for i in range(len(signs))]
    return signs[free.index(max(free))] if any(free) else None


def _at_few(ledger: Ledger, number: int, observe: Callable[[Sample], T]) -> list[tuple[Pair, T]]:
    """Return a few pairs, the simplest, those of each value and corners, and what ``observe`` sees in some outputs of each."""
    listed, each = ledger.listed, TUNING.first_look
    most = min(TUNING.looked_behind, max(3, round(TUNING.of_behind * ledger.plan.settings.samples / each))) // 3
    kinds = (
        listed.simplest[:most],
        spread([*itertools.islice(listed.each_value, 8 * most)], most),
        spread(listed.corners, most),
    )
    pairs = distinct([pair for kind in kinds for pair in kind])
    batches = [Batch(pair, each, Phase.SEARCH, (BEHIND * number, i)) for i, pair in enumerate(pairs)]
    return list(zip(pairs, ledger.draw_each(batches, observe, each * len(pairs)), strict=True))


def _which_show(signs: Sequence[Event], sample: Sample) -> list[bool]:
    return [sign.occurs_in(sample) for sign in signs]


def _of_two_kinds(audit: Audit) -> Pair | None:
    """Return the simplest pair whose sides have outputs of different kinds, of those that the search and shrinking saw."""
    seen = [look.pair for look in audit.looks.values() if not look.along and _are_unlike(look.kind)]
    if (
        audit.smallest
        and isinstance(event := audit.smallest.event, ObservedRule)
        and any(Event.of(event).rule.atoms.values())
    ):
        seen.append(audit.smallest.pair)
    return min(seen, key=complexity, default=None)


def _of_two_kinds_of_few(ledger: Ledger, number: int) -> Pair | None:
    kinds = _at_few(ledger, number, kind_of_outputs)
    return min((pair for pair, kind in kinds if _are_unlike(kind)), key=complexity, default=None)


def _are_unlike(kind: str) -> bool:
    return len({*kind.split(SIDES_APART)}) > 1


def _refuted(ledger: Ledger, number: int, signs: Sequence[Event], pair: Pair | None) -> Finding | None:
    """Audit the claim on a pair, or among pairs that show none of the signs; return what refutes it, or None."""
    plan = ledger.plan
    samples = max(FEWEST, round(TUNING.of_behind * plan.settings.samples))
    ledger.plan = replace(
        plan,
        without=tuple(signs),
        neighbours=plan.neighbours if pair is None else Pairs.only(pair.left, pair.right, plan.domain),
        settings=replace(plan.settings, samples=samples),
    )
    flow = PairwiseFlow(ledger)
    flow.rounds.planned = [replace(each, number=BEHIND * number + each.number) for each in flow.rounds.planned]
    with contextlib.suppress(NoAnswerError):
        while not flow.refuted and flow.rounds.next(refuted=False, cheap=True):
            candidate = flow.learn(flow.search())
            if any(sign.occurs_in(candidate.sample) for sign in signs):
                flow.leave_out(candidate.found.pair)
            elif not flow.count(candidate):
                break
    return flow.best if flow.refuted else None


def _further(plan: Plan, finding: Finding) -> Further:
    counted = finding.counted
    bound = replace(counted.at(plan.alpha).proved(counted.test, counted.counts), confidence=1 - plan.alpha)
    return Further(finding.pair, counted.test.report(counted.counts), bound)
