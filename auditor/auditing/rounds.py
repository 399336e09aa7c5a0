"""The rounds of one audit as they come: which is next, how many outputs it has, and which share of the level.

Sizes and levels follow from the settings, from the clock if the time is limited, and from outputs of earlier rounds. So given all
that went before a round, its bound errs with probability at most its share of alpha. Shares add up to 1 at most: all bounds of all
rounds hold together with probability at least 1 − alpha, however the audit ends.
"""

import itertools
from dataclasses import dataclass, field, replace

from auditor.auditing.ledger import Ledger
from auditor.auditing.plan import Plan
from auditor.auditing.sizes import Round, rounds_for, selection_of, sharpening
from auditor.blackbox.batches import Phase, rng_at
from auditor.blackbox.sample import Sample
from auditor.defaults import FEWEST
from auditor.neighbours.pair import Pair
from auditor.neighbours.search import has_one_pair

# A trial takes the share TRIAL of a time limit. A first round takes OF_FIRST of the time left, a later one PLANNED.
TRIAL, OF_FIRST, PLANNED = 0.05, 0.25, 0.85
# A round is the last one if the time after it is too short for a round with WORTH_MORE times its outputs. A last round
# may have fewer outputs than the one before, but at least the share WORTH_ENDING, since it has most of the level.
WORTH_MORE, WORTH_ENDING = 1.5, 0.75
# Under a time limit, a round learns from at least this many outputs, and the first bound counts at least as many.
LEAST_IN_TIME = 40
# With fewer outputs to learn from, there is no answer in time.
LEAST_OF_ALL = 4
# Roughly the most outputs of a bound that may end their process or exceed the time limit, since each costs time. If all
# are on one side and none on the other, they refute ε = 2.6 at 99.9 %.
MOST_FAILURES = 100
# An output is taken to cost at least this share of its mean in the last round: the fixed cost may be overestimated.
LEAST_OF_MEAN = 0.3


def outputs_at_first(ledger: Ledger, pair: Pair, seconds: float, place: int = 1) -> float:
    """Return how many outputs on a pair fit into a first round. ``place`` is part of the trial's address."""
    each = ledger.sampler().seconds_each(pair, TRIAL * seconds, place) / ledger.pace.workers
    return OF_FIRST * (seconds - ledger.elapsed()) / each


def seconds_for(ledger: Ledger, outputs: float) -> float:
    """Return the time limit, in seconds, under which so many outputs fit into a first round, by the pace so far."""
    return ledger.elapsed() + outputs * (ledger.pace.each or 0.0) / ledger.pace.workers / OF_FIRST


def few_failures(sample: Sample) -> int:
    """Return the number of outputs with MOST_FAILURES expected failures, by the share of failures in a sample."""
    return max(FEWEST, round(MOST_FAILURES * sample.size / sample.failures))


@dataclass
class Rounds:
    """Says which round comes next. ``done`` holds the rounds so far."""

    plan: Plan
    ledger: Ledger
    done: list[Round] = field(default_factory=list)
    ended: bool = False
    began: list[float] = field(default_factory=list)  # seconds of the audit at which each round began

    def __post_init__(self) -> None:
        settings = self.plan.settings
        planned = rounds_for(settings.samples, settings.search)
        # A given test needs no earlier rounds to learn from.
        self.planned = planned if self.plan.test is None else [replace(planned[-1], number=0, share=1.0)]

    @property
    def current(self) -> Round:
        """The round that began last."""
        return self.done[-1]

    def next(self, *, refuted: bool, cheap: bool) -> Round | None:
        """Return the next round; None after the last one. A round without a search keeps the last pair.

        Without ``sharpen``, a refuted claim has one more round, if a call gives many outputs (``cheap``).
        """
        settings, number = self.plan.settings, len(self.done)
        if self.ended or number == len(self.planned):
            return None
        upcoming = self.planned[number]
        self.ended = number == len(self.planned) - 1
        # Under a time limit, the first round is a small one, which shows how long a larger one takes.
        if refuted and not settings.sharpen and (self.done or settings.seconds is None):
            # A search may find a pair with a larger bound, even from fewer outputs than on the pair before.
            searches = settings.search != 0 and not has_one_pair(
                self.plan.domain, rng_at(settings.seed, Phase.SEARCH, number)
            )
            search, bound = sharpening(settings.samples, searches=searches)
            upcoming = replace(upcoming, search=search, selection=selection_of(search + bound), bound=bound)
            self.ended = True
            if not cheap or (not searches and self.done and upcoming.bound <= self.done[-1].bound):
                return None
        if settings.seconds is not None:
            upcoming = self._in_time(upcoming, settings.seconds)
            if not upcoming.bound:
                return None
        self.done.append(upcoming)
        return self.ending_with(upcoming.bound) if self.ended else upcoming

    def ending_with(self, bound: int) -> Round:
        """Make the round just begun the last one; its bound gets this number of outputs and the rest of the level."""
        self.ended = True
        share = 1 - sum(each.share for each in self.done[:-1])
        self.done[-1] = replace(self.done[-1], bound=bound, share=share)
        return self.done[-1]

    def affordable(self, sample: Sample) -> str:
        """Make the round just begun a smaller last one if its outputs would take too long, and say so; else return "".

        An output that ends its process or is late takes long. The number follows from the selection only, so it is
        independent of the bound's outputs.
        """
        bound = few_failures(sample) if sample.failures else self.done[-1].bound
        if bound >= self.done[-1].bound:
            return ""
        self.ending_with(bound)
        return f"; more would take long: {sample.failures} of {sample.size} ended their process or were late"

    def why_ended(self, *, refuted: bool = False) -> str:
        """Return the reason to stop: the number of outputs drawn for the bounds, and the number asked for."""
        settings, last, drawn = self.plan.settings, self.done[-1].bound if self.done else 0, self.ledger.spent.bound
        if refuted and last < settings.samples:
            return f"refuted after {drawn:,} outputs"
        if settings.seconds is not None and (last < settings.samples or self.ledger.out_of_time):
            return f"{settings.seconds:g} seconds were over: {drawn:,} of {settings.samples:,} outputs drawn"
        return f"all {last:,} outputs drawn"

    def _in_time(self, upcoming: Round, seconds: float) -> Round:
        """Return a round with as many outputs as fit into the time left; with none in its bound if too few fit.

        The round is the last one if no larger round fits after it.
        """
        name = f"round {upcoming.number} in time"
        times, self.ended = self.plan.store.recall(name, lambda: self._fitting(upcoming, seconds))
        bound = int(times * upcoming.bound)
        # If not even the least of both fits, a round learns from as many outputs as it counts, and does not search.
        least, searches = min(LEAST_IN_TIME, bound), bound >= LEAST_IN_TIME
        selection = max(least, int(times * upcoming.selection)) if searches else bound
        return replace(
            upcoming, search=int(times * upcoming.search) if searches else 0, selection=selection, bound=bound
        )

    def _fitting(self, upcoming: Round, seconds: float) -> tuple[float, bool]:
        """Return the factor for the round's planned outputs, and whether the round is the last one."""
        if not self.done:
            fits = outputs_at_first(self.ledger, self.plan.domain.corners()[0], seconds)
            self.began.append(self.ledger.elapsed())
            # The most outputs that the bound can get, if it shares all of the time equally with learning.
            most = PLANNED / OF_FIRST * fits / 2
            if most < LEAST_IN_TIME:
                return (most if most >= LEAST_OF_ALL else 0.0) / upcoming.bound, True
            return min(1.0, max(LEAST_IN_TIME / upcoming.bound, fits / upcoming.planned)), self.ended
        self.began.append(self.ledger.elapsed())
        fixed, each = self._cost()
        left = PLANNED * (seconds - self.began[-1]) - fixed
        # The round also learns from the outputs that the round before counted.
        takes = each * (upcoming.search + max(0, upcoming.selection - self.done[-1].bound) + upcoming.bound)
        times = min(1.0, left / takes)
        if times * upcoming.bound < WORTH_ENDING * self.done[-1].bound:
            return 0.0, True
        # No larger round fits after a round that takes nearly all of the time.
        fills = left < fixed + (1 + WORTH_MORE) * takes
        if fills and not self.ended:
            times = min(left / takes, self.plan.settings.samples / upcoming.bound)
        return times, self.ended or fills

    def _cost(self) -> tuple[float, float]:
        """Return the fixed seconds of a round, and the seconds of each output of its search and bound.

        A first round starts workers and imports modules, which takes longer than its outputs. Two rounds show both
        costs. After one round, all of its time is counted for its outputs.
        """
        took = [after - before for before, after in itertools.pairwise(self.began)]
        outputs = [finished.search + finished.bound for finished in self.done]
        each = max(took[-1], 1e-9) / outputs[-1]
        if len(took) > 1 and outputs[-1] > outputs[-2]:
            slope = (took[-1] - took[-2]) / (outputs[-1] - outputs[-2])
            each = min(each, max(slope, LEAST_OF_MEAN * each))
        return took[-1] - each * outputs[-1], each
