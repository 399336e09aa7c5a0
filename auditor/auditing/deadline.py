"""Audits and searches that must end in time, with a bound that holds.

How many outputs fit into the time is measured before any that the audit uses is drawn, on outputs of their own: the numbers of
outputs for search, selection and bound are then fixed, and follow from the clock and those outputs alone. So the bound is one
on a number of trials fixed in advance, whatever else the time that an output takes may tell.

Where the mechanism becomes so much slower that the time is over before, the bound ends with the batches that were counted by
then, in their order. That is a rule which looks at the clock and at no output: given how long batches take, the number of
trials is fixed, and each trial is what it was. It holds for mechanisms whose time does not depend on what they put out; and the
report says how many outputs were drawn of how many.

A search that has seconds of its own is fitted in the same way, but by small searches and not by outputs alone, since it spends
more time on learning than on drawing. From then on it is the search of that number of outputs, which the report tells.
"""

import itertools
import math
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from auditor.auditing.plan import Ledger, Plan
from auditor.auditing.settings import ENOUGH, FEWEST
from auditor.blackbox.store import AuditStore
from auditor.neighbours.search import LEAST_OUTPUTS, LEAST_ROUNDS
from auditor.results.result import OutputsSpent

# The share of the time that all outputs are planned to take (the rest is for starting workers, for learning, and for a pace
# that was measured too fast), and how many these are for each output of the bound, search and selection included.
SHARE, ALL_PHASES, ALL_BUT_SEARCH = 0.6, 1.25, 1.1
# Of the seconds of a search: the share that a small search must have taken to be believed, and that of what is then left for which
# outputs are planned. How much the outputs of small searches grow until one is believed, and how many the first has.
BELIEVED, PLANNED = 0.1, 0.8
GROWTH, FIRST = 2, 4_096
# A search has at most this share of the seconds of its audit.
MOST_FOR_SEARCH = 0.5


# search(ledger, outputs, stage): draw for a search, below an address of its own.
Search = Callable[[Ledger, int, int], Any]


def fitted(ledger: Ledger) -> Plan:
    """Return the plan with as many outputs as fit into its time, at most as many as planned. Raises what sampling raises."""
    plan = ledger.plan
    if plan.settings.seconds is None:
        return plan
    fit = plan.store.recall("outputs that fit", lambda: _fit(ledger))
    return plan.with_settings(samples=max(FEWEST, min(plan.settings.samples, fit)))


def _fit(ledger: Ledger) -> int:
    plan = ledger.plan
    assert plan.settings.seconds is not None
    of_search = _seconds_of_search(plan)
    left = max(0.0, SHARE * (plan.settings.seconds - ledger.elapsed() - (of_search or 0.0)))
    each = ledger.sampler().seconds_each(plan.domain.corners()[0], left / 10)
    return math.floor(left * ledger.pace.workers / (ALL_PHASES if of_search is None else ALL_BUT_SEARCH) / each)


def _seconds_of_search(plan: Plan) -> float | None:
    seconds = plan.settings.search.seconds
    if seconds is None or plan.settings.seconds is None:
        return seconds
    return min(seconds, MOST_FOR_SEARCH * plan.settings.seconds)


def fit_search(ledger: Ledger, search: Search) -> Plan:
    """Return the plan with as many outputs for its search as fit into the seconds that this has. Raises what sampling raises."""
    plan = ledger.plan
    if plan.settings.search.seconds is None:
        return plan
    fit = plan.store.recall(FITTING_SEARCH, lambda: _fit_search(ledger, search))
    return plan.with_settings(search=replace(plan.settings.search, outputs=fit))


# Under which the number is kept, for a run that is resumed and for a replay.
FITTING_SEARCH = "outputs that fit into the search"


def _fit_search(ledger: Ledger, search: Search) -> int:
    seconds, started = _seconds_of_search(ledger.plan) or 0.0, time.monotonic()
    each = ledger.sampler().seconds_each(ledger.plan.domain.corners()[0], BELIEVED * seconds)
    drawn = ledger.pace.workers / each  # in a second
    outputs = min(FIRST, math.floor(BELIEVED * seconds * drawn))
    if outputs < LEAST_ROUNDS * LEAST_OUTPUTS:  # too slow for a small search, so that learning does not count
        return math.floor(PLANNED * max(0.0, seconds - (time.monotonic() - started)) * drawn)
    # What is drawn here serves for nothing else, and is no part of what the audit spends.
    alone = replace(ledger.plan, store=AuditStore())
    for stage in itertools.count(1):
        aside = replace(ledger, plan=alone, listener=lambda progress: None, spent=OutputsSpent(), pairs=set())
        before = time.monotonic()
        search(aside, outputs, stage)
        took = time.monotonic() - before
        if took >= BELIEVED * seconds or outputs >= ENOUGH or not aside.spent.search:
            break
        outputs *= GROWTH
    left = max(0.0, seconds - (time.monotonic() - started))
    return min(ENOUGH, max(outputs, math.floor(PLANNED * left / took * outputs)))
