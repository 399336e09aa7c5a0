"""Counts of a report made again: its rules are applied to the outputs that were recorded."""

import operator
from collections.abc import Iterable
from dataclasses import replace
from functools import reduce
from typing import Any

from auditor.blackbox.sample import Sample
from auditor.errors import InvalidInputError
from auditor.events.event import Event
from auditor.events.observed import Hits, Observed, ObservedProfile, ObservedReport, ObservedRule, ObservedScore
from auditor.methods.divergence import ScoreTest
from auditor.methods.method import Test
from auditor.methods.probability import hits
from auditor.methods.profile import ProfileTest


def frozen_test(event: Observed) -> Test[Any] | None:
    """Return the test that a report holds: what it counts in any outputs. None if the event is not a rule that was learned.

    Raises InvalidInputError if an earlier auditor wrote the report, without the rule.
    """
    match event:
        case ObservedRule():
            return Event.of(event)
        case ObservedProfile():
            return ProfileTest(tuple(map(Event.of, event.points)))
        case ObservedScore():
            return ScoreTest.of(event)
        case _:
            return None


def recounted(event: Observed, samples: Iterable[Sample]) -> Observed | None:
    """Return the event with what it counts in these outputs; None if it holds no counts.

    Raises InvalidInputError if there are no outputs, or if the report lacks the rule.
    """
    if isinstance(event, ObservedReport):
        trials = [(hits(sample), sample.size) for sample in samples]
        return replace(event, counts=Hits((sum(h for h, _ in trials), sum(n for _, n in trials))))
    test = frozen_test(event)
    return None if test is None else test.report(counted(test, samples))


def counted(test: Test[Any], samples: Iterable[Sample]) -> Any:
    """Return what a test counts in all of these outputs.

    Raises InvalidInputError if there are none.
    """
    counts = [test.count(sample) for sample in samples]
    if not counts:
        raise InvalidInputError("there are no outputs to count")
    return reduce(operator.add, counts)
