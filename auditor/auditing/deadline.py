"""Audits that must end in time, with a bound that holds.

What drawing and learning take is measured first, on outputs that serve for nothing else: by single outputs, small searches, and
tests learned from few outputs. The numbers of outputs for search, selection and bound follow from the clock alone. So the
bound is on a number of trials that is fixed in advance.

The mechanism may become slower. If the time is over before the bound is done, the bound ends with the batches that were counted
by then, in their order. This rule looks at the clock and at no output: given how long batches take, the number of trials is fixed.
It holds for mechanisms whose time does not depend on their outputs. The report says how many outputs were drawn of how many.
"""

import itertools
import math
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from auditor.auditing.draw import Draw, as_drawn
from auditor.auditing.plan import Plan
from auditor.auditing.sizes import ENOUGH, Sizes, sizes_for
from auditor.blackbox.batches import Phase
from auditor.blackbox.sample import join_samples
from auditor.defaults import FEWEST
from auditor.neighbours.search import LEAST_OUTPUTS, LEAST_ROUNDS

# Shares of the seconds of an audit. The bound has the rest.
OF_SEARCH, OF_SELECTION = 0.25, 0.1
# Of the time for a part: what a trial must take to be believed, and what outputs are planned for after it.
BELIEVED, PLANNED = 0.1, 0.8
# The outputs of the first trial, and the factor by which trials grow until one is believed.
FIRST, GROWTH = 512, 2
# Under which the numbers are kept, for a run that is resumed and for a replay.
FITTING_SEARCH, FITTING_SELECTION = "outputs that fit into the search", "outputs that fit into the selection"
FITTING_BOUND, EACH = "outputs that fit", "seconds of an output"
# The number in the addresses of outputs that tests are learned from on trial.
TRIAL = 2


# search(plan, sizes, draw, stage): draw for a search, below an address of its own.
Searching = Callable[[Plan, Sizes, Draw, int], Any]


def sizes_in_time(plan: Plan, draw: Draw, search: Searching) -> Sizes:
    """Return the numbers of outputs of the audit's parts that fit into the time of the audit and of its search.

    That of the bound is a first estimate; see :func:`with_all_that_is_left`. Raises what sampling raises.
    """
    settings, sizes = plan.settings, plan.settings.sizes
    if settings.seconds is not None:
        seconds, drawn = (1 - OF_SEARCH - OF_SELECTION) * settings.seconds, _drawn_in_a_second(plan, draw)
        bound = max(FEWEST, min(sizes.bound, math.floor(PLANNED * seconds * drawn)))
        sizes = replace(sizes, bound=bound, selection=sizes_for(bound).selection)
    if settings.seconds is not None and settings.search is None:
        of_search = OF_SEARCH * settings.seconds
        fit = plan.store.recall(FITTING_SEARCH, lambda: _fit_search(plan, sizes, draw, search, of_search))
        sizes = replace(sizes, search=min(fit, sizes.search))
    if settings.seconds is not None and plan.kind == "pairwise":
        fit = plan.store.recall(FITTING_SELECTION, lambda: _fit_selection(plan, sizes, draw))
        sizes = replace(sizes, selection=max(FEWEST, min(sizes.selection, fit)))
    return sizes


def with_all_that_is_left(plan: Plan, sizes: Sizes, draw: Draw) -> Sizes:
    """Return the sizes whose bound takes what search and selection left of the budget, of outputs or of time."""
    left = draw.left()
    if plan.settings.seconds is not None:
        seconds = plan.settings.seconds - draw.elapsed()
        fit = plan.store.recall(FITTING_BOUND, lambda: math.floor(PLANNED * seconds * _drawn_in_a_second(plan, draw)))
        left = min(left, fit)
    return replace(sizes, bound=max(FEWEST, left))


def _drawn_in_a_second(plan: Plan, draw: Draw) -> float:
    """Return how many outputs all workers draw in a second, if they do nothing else."""
    most = BELIEVED * OF_SELECTION * (plan.settings.seconds or 0.0)
    each = plan.store.recall(EACH, lambda: draw.sampler().seconds_each(plan.domain.corners()[0], most))
    return draw.pace.workers / float(each)


def _fit_search(plan: Plan, sizes: Sizes, draw: Draw, search: Searching, seconds: float) -> int:
    stages = itertools.count(1)

    def trial(outputs: int) -> bool:
        aside = draw.aside()
        search(plan, replace(sizes, search=outputs), aside, next(stages))
        return aside.spent.search > 0  # else there is nothing to search

    least = LEAST_ROUNDS * LEAST_OUTPUTS
    return min(ENOUGH, _fit(seconds, lambda: _drawn_in_a_second(plan, draw), trial, least, ENOUGH))


def _fit_selection(plan: Plan, sizes: Sizes, draw: Draw) -> int:
    method, sampler, pair = plan.method(sizes.bound), draw.aside().sampler(), plan.domain.corners()[0]

    def trial(outputs: int) -> bool:
        batches = sampler.batches(pair, outputs, Phase.CHECK, number=(TRIAL, outputs))
        method.learn(join_samples(list(sampler.map(batches, as_drawn))))
        return True

    seconds = OF_SELECTION * (plan.settings.seconds or 0.0)
    return _fit(seconds, lambda: _drawn_in_a_second(plan, draw), trial, FEWEST, sizes.selection)


def _fit(seconds: float, pace: Callable[[], float], trial: Callable[[int], bool], least: int, enough: int) -> int:
    """Return the outputs that fit into these seconds, if a trial takes time in proportion to its outputs.

    Trials grow until one takes long enough to be believed, has enough outputs, or returns that there is nothing to try. Where
    ``least`` outputs are too slow for a trial, learning does not count next to drawing: ``pace`` is what is drawn in a second.
    """
    started = time.monotonic()
    drawn = pace()
    outputs = min(FIRST, math.floor(BELIEVED * seconds * drawn))
    if outputs < least:
        return math.floor(PLANNED * max(0.0, seconds - (time.monotonic() - started)) * drawn)
    while True:
        before = time.monotonic()
        if not trial(outputs):
            return outputs
        took = max(time.monotonic() - before, 1e-9)
        if took >= BELIEVED * seconds or outputs >= enough:
            break
        outputs *= GROWTH
    left = max(0.0, seconds - (time.monotonic() - started))
    return max(outputs, math.floor(PLANNED * left / took * outputs))
