"""Bumps much narrower than the noise around them: blocks are too wide for these, and no value repeats.

A bump is suggested by a run: sorted numbers of one side with none of the other side between them. The run learned on each half of
the outputs is judged by the other half.
"""

import math

import numpy as np

from auditor.bounds.intervals import Floats
from auditor.bounds.utility import HeldOutWins
from auditor.events.blocks import BlockTable, Forecaster, RuleCounts
from auditor.events.cells import ABSTAIN, LEFT, RIGHT, Cells, shortest_decimal
from auditor.events.event import Event
from auditor.events.rare import RareChoice

# The least number of outputs by which a run is longer than the longest one of the same noise on both sides. Pure noise has such a
# run in at most one of eight columns.
LEAST_BEYOND_LUCK = 4


def longest_by_luck(outputs: int) -> float:
    """Return the length that the longest run of pure noise hardly exceeds: by k more with probability at most 2^−k."""
    return math.log2(max(2, outputs))


def bump_choice(first: BlockTable, second: BlockTable, forecaster: Forecaster) -> RareChoice | None:
    """Return the rule that guesses a side on its longest run; None without a run that is longer than by luck.

    The tables hold the two halves of the outputs.
    """
    rule = _on_longest_run(first + second, LEAST_BEYOND_LUCK)
    if rule is None:
        return None
    counted = [
        other.of_rule(of_half)
        for half, other in ((first, second), (second, first))
        if (of_half := _on_longest_run(half, 0)) is not None
    ]
    hits = np.sum([(0, 0, 0, 0), *(counts.hits for counts in counted)], axis=0).tolist()
    trials = first.trials + second.trials
    held_out = HeldOutWins(hits[0] + hits[2], sum(hits), trials, int(any(hits[:2])) + int(any(hits[2:])))
    # Unlike the wins at a value that only one side repeats, the few wins on a short run are often without a loss by luck. So the
    # forecast is that of any rule with these counts, even if there is no loss.
    return RareChoice(
        Event(first.feature, rule), float(forecaster.forecast(RuleCounts.single(hits, trials))[0]), held_out
    )


def _on_longest_run(table: BlockTable, beyond: int) -> Cells | None:
    """Return the rule that guesses a side on its longest run; None if it is not ``beyond`` longer than by luck."""
    left, right = table.left.numbers, table.right.numbers
    if not (len(left) and len(right)):
        return None
    runs = [(side, *_longest_run(*sides), *sides) for side, sides in ((LEFT, (left, right)), (RIGHT, (right, left)))]
    side, begin, end, own, other = max(runs, key=lambda run: run[2] - run[1])
    if end - begin < longest_by_luck(len(left) + len(right)) + beyond:
        return None
    before, after = np.searchsorted(other, own[begin]) - 1, np.searchsorted(other, own[end - 1])
    edges = (
        shortest_decimal(float(other[before]), float(own[begin])),
        shortest_decimal(float(own[end - 1]), float(other[after])),
    )
    return Cells(edges, (ABSTAIN, side, ABSTAIN), {})


def _longest_run(own: Floats, other: Floats) -> tuple[int, int]:
    """Return where a side's longest run begins and ends, apart from those at the ends of all numbers; (0, 0) without a run."""
    # Two numbers have the same place if no number of the other side lies between them or equals one of them.
    below, up_to = np.searchsorted(other, own), np.searchsorted(other, own, side="right")
    begins = np.flatnonzero(np.diff(below + up_to, prepend=-1))
    apart = (below == up_to) & (below > 0) & (below < len(other))
    lengths = np.where(apart[begins], np.diff(begins, append=len(own)), 0)
    longest = int(np.argmax(lengths))
    return (int(begins[longest]), int(begins[longest] + lengths[longest])) if lengths[longest] else (0, 0)
