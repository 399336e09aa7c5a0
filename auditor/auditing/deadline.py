"""Audits and searches that must end in time, with a bound that holds.

The pace is measured first, on outputs that serve for nothing else. The numbers of outputs for search, selection and bound follow
from the clock and those outputs alone. So the bound is on a number of trials that is fixed in advance.

The mechanism may become slower. If the time is over before the bound is done, the bound ends with the batches that were counted
by then, in their order. This rule looks at the clock and at no output: given how long batches take, the number of trials is fixed.
It holds for mechanisms whose time does not depend on their outputs. The report says how many outputs were drawn of how many.

A search with seconds of its own is fitted in the same way, but by small searches, since it spends more time on learning than on
drawing. From then on it is the search of that number of outputs, which the report states.
"""

import itertools
import math
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from auditor.auditing.draw import Draw
from auditor.auditing.plan import Plan
from auditor.auditing.settings import Search
from auditor.auditing.sizes import ENOUGH, Sizes, sizes_for
from auditor.defaults import FEWEST
from auditor.neighbours.search import LEAST_OUTPUTS, LEAST_ROUNDS

# The share of the time that all outputs are planned to take: the rest is for starting workers, for learning, and for a pace that
# was measured too fast. Then the outputs of all phases for each output of the bound, and those of all phases but the search.
SHARE, ALL_PHASES, ALL_BUT_SEARCH = 0.6, 1.25, 1.1
# Shares of the seconds of a search: what a small search must take to be believed, and of the rest, what outputs are planned for.
# The factor by which small searches grow until one is believed, and the outputs of the first.
BELIEVED, PLANNED = 0.1, 0.8
GROWTH, FIRST = 2, 4_096
# Where time is short, a search has this number of outputs, or if these are more, this share of all.
LEAST_SEARCH, MOST_OF_FEW = 8_192, 0.175
# A search has at most this share of the seconds of its audit.
MOST_FOR_SEARCH = 0.5
# Under which the number is kept, for a run that is resumed and for a replay.
FITTING_SEARCH = "outputs that fit into the search"


# search(plan, sizes, draw, stage): draw for a search, below an address of its own.
Searching = Callable[[Plan, Sizes, Draw, int], Any]


def sizes_in_time(plan: Plan, draw: Draw, search: Searching) -> Sizes:
    """Return the numbers of outputs of the audit's parts that fit into the time of the audit and of its search.

    Raises what sampling raises.
    """
    sizes = fit_outputs(plan, draw)
    if plan.settings.search.seconds is None:
        return sizes
    fit = plan.store.recall(FITTING_SEARCH, lambda: _fit_search(plan, sizes, draw, search))
    return replace(sizes, search=fit, fitted=fit)


def fit_outputs(plan: Plan, draw: Draw) -> Sizes:
    """Return the outputs that fit into the seconds of the audit, at most those planned. Raises what sampling raises."""
    settings = plan.settings
    if settings.seconds is None:
        return settings.sizes
    fit = plan.store.recall("outputs that fit", lambda: _fit(plan, draw))
    bound = max(FEWEST, min(settings.samples, fit))
    sizes = sizes_for(bound, settings.outputs, settings.search.outputs)
    if fit >= settings.samples or settings.search != Search() or len(plan.domain.corners()) == 1:
        return sizes
    # Of few outputs the usual share is not a search at all, and a bound on the first pair would say nothing about the others.
    in_all = ALL_PHASES * fit
    search = round(min(max(sizes.search, LEAST_SEARCH), MOST_OF_FEW * in_all))
    left = max(FEWEST, math.floor((in_all - search) / ALL_BUT_SEARCH))
    return sizes_for(min(bound, left), settings.outputs, search)


def with_all_that_is_left(plan: Plan, sizes: Sizes, draw: Draw) -> Sizes:
    """Return the sizes whose bound takes what search and selection left of the budget; where time is limited, as they are."""
    return sizes if plan.settings.seconds is not None else replace(sizes, bound=max(FEWEST, draw.left()))


def _fit(plan: Plan, draw: Draw) -> int:
    assert plan.settings.seconds is not None
    of_search = _seconds_of_search(plan)
    left = max(0.0, SHARE * (plan.settings.seconds - draw.elapsed() - (of_search or 0.0)))
    each = draw.sampler().seconds_each(plan.domain.corners()[0], left / 10)
    return math.floor(left * draw.pace.workers / (ALL_PHASES if of_search is None else ALL_BUT_SEARCH) / each)


def _seconds_of_search(plan: Plan) -> float | None:
    seconds = plan.settings.search.seconds
    if seconds is None or plan.settings.seconds is None:
        return seconds
    return min(seconds, MOST_FOR_SEARCH * plan.settings.seconds)


def _fit_search(plan: Plan, sizes: Sizes, draw: Draw, search: Searching) -> int:
    seconds, started = _seconds_of_search(plan) or 0.0, time.monotonic()
    each = draw.sampler().seconds_each(plan.domain.corners()[0], BELIEVED * seconds)
    drawn = draw.pace.workers / each  # in a second
    outputs = min(FIRST, math.floor(BELIEVED * seconds * drawn))
    if outputs < LEAST_ROUNDS * LEAST_OUTPUTS:  # too slow for a small search, so that learning does not count
        return math.floor(PLANNED * max(0.0, seconds - (time.monotonic() - started)) * drawn)
    for stage in itertools.count(1):
        aside, before = draw.aside(), time.monotonic()
        search(plan, replace(sizes, search=outputs), aside, stage)
        took = time.monotonic() - before
        if not aside.spent.search:  # there is nothing to search
            return outputs
        if took >= BELIEVED * seconds or outputs >= ENOUGH:
            break
        outputs *= GROWTH
    left = max(0.0, seconds - (time.monotonic() - started))
    return min(ENOUGH, max(outputs, math.floor(PLANNED * left / took * outputs)))
