"""Rare events that occur on one side only: repeated values, atoms, and ends of the support.

The evidence for such an event is a count on one side and none on the other. These events are few, and luck does not
produce them: no two values from a density are equal. So their own counts judge them, with no margin for many rivals.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from auditor.bounds.intervals import Floats
from auditor.bounds.utility import HeldOutWins
from auditor.events.blocks import BlockTable, Choice, Forecaster, RuleCounts
from auditor.events.cells import ABSTAIN, LEFT, RIGHT, Cells, shortest_decimal
from auditor.events.event import Event

# RARE is the largest share of outputs of a rare event: half of one side's. Rules on blocks use more frequent events.
# Of more than MOST_RARE rare values, as many are tried, at equal distances: the luckiest would win too often.
RARE, MOST_RARE = 0.25, 64
# The least number of outputs beyond the other side's support for a rule on ends. Fewer are mostly luck.
LEAST_BEYOND = 12

# A number or an atom, and its counts on the left and on the right.
_Seen = tuple[float | str, tuple[int, int]]


@dataclass(frozen=True, slots=True)
class RareChoice(Choice):
    """A rule on rare events, and its wins on other outputs than those that suggested it."""

    wins: HeldOutWins


def rare_choice(table: BlockTable, forecaster: Forecaster, most: float = RARE) -> RareChoice | None:
    """Return the rule with the best forecast on rare events of a feature. Return None if there are no such events.

    A number may have the share ``most`` of all outputs. Of atoms, a threshold that guesses the side of each shows frequent ones.
    """
    choices = [*_one_sided(table, forecaster, most), *_beyond(table, forecaster)]
    return max(choices, key=lambda choice: choice.forecast, default=None)


def _judged(event: Event, hits: Sequence[int], trials: int, forecaster: Forecaster) -> RareChoice:
    """Return a rule with its forecast. ``hits``, ordered as in RuleCounts, lack the outputs that suggested the rule."""
    left_wins, left_losses, right_wins, right_losses = hits
    wins, losses = left_wins + right_wins, left_losses + right_losses
    held_out = HeldOutWins(wins, wins + losses, trials, (left_wins > 0) + (right_wins > 0))
    if losses:
        return RareChoice(event, float(forecaster.forecast(RuleCounts.single(hits, trials))[0]), held_out)
    return RareChoice(event, forecaster.forecast_unbeaten(wins, trials, held_out.directions), held_out)


def _one_sided(table: BlockTable, forecaster: Forecaster, most: float) -> Iterator[RareChoice]:
    """Yield the rule that guesses a side at each rare value that occurred twice or more on this side only.

    The first output with a value suggests the guess, and each other one is a win. A value of both sides that occurred
    once on one of them is a loss. A rule with only losses is yielded too: it makes it likelier that wins on other pairs
    are luck.
    """
    wins, losses, guess = {LEFT: 0, RIGHT: 0}, {LEFT: 0, RIGHT: 0}, dict[float | str, float]()
    for value, (on_left, on_right) in [*_repeated(table, most), *_rare_atoms(table)]:
        for side, own, other in ((LEFT, on_left, on_right), (RIGHT, on_right, on_left)):
            if other == 0 and own > 1:
                wins[side] += own - 1
                guess[value] = side
            losses[side] += int(other == 1 and own > 0)
    if guess or any(losses.values()):
        hits = wins[LEFT], losses[LEFT], wins[RIGHT], losses[RIGHT]
        yield _judged(Event(table.feature, _at_values(guess)), hits, table.trials, forecaster)


def _repeated(table: BlockTable, most: float) -> Iterable[_Seen]:
    """Return some of the rare numbers that occur more than once, with their counts."""
    numbers = table.both.numbers
    if not np.any(numbers[1:] == numbers[:-1]):
        return ()
    begins = np.flatnonzero(np.append(True, numbers[1:] != numbers[:-1]))
    times = np.diff(begins, append=len(numbers))
    again = (times > 1) & (times <= most * table.trials)
    values = numbers[begins[again]]
    values = values[_some(len(values))]
    counts = [np.subtract(*reversed(side.ends(values))).tolist() for side in (table.left, table.right)]
    return zip(values.tolist(), zip(*counts, strict=True), strict=True)


def _rare_atoms(table: BlockTable) -> Iterable[_Seen]:
    frequencies = {atom: (table.left.atoms.get(atom, 0), table.right.atoms.get(atom, 0)) for atom in table.both.atoms}
    rare = {atom: counts for atom, counts in frequencies.items() if 0 < sum(counts) <= RARE * table.trials}
    return [*rare.items()][_some(len(rare))]


def _some(number: int) -> slice:
    """Return which of so many values are tried: at most MOST_RARE, which their counts do not choose."""
    return slice(None, None, max(1, -(-number // MOST_RARE)))


def _at_values(guess: Mapping[float | str, float]) -> Cells:
    """Return the rule that guesses at these values and abstains elsewhere."""
    edges, values = list[float](), [ABSTAIN]
    for value in sorted(value for value in guess if isinstance(value, float)):
        before = math.nextafter(value, -math.inf)
        if edges and edges[-1] == before:
            values.pop()
        else:
            edges.append(before)
        edges.append(value)
        values += [guess[value], ABSTAIN]
    return Cells(tuple(edges), tuple(values), {v: worth for v, worth in guess.items() if isinstance(v, str)})


def _beyond(table: BlockTable, forecaster: Forecaster) -> Iterator[RareChoice]:
    """Yield the rule that guesses a side beyond all numbers of the other side.

    The sorted outputs at an end are of one side until the first output of the other side, which counts as a loss. So a
    run of n outputs has the likelihood of n wins and a loss, wherever the support ends.
    """
    rule = _ends(table.left.numbers, table.right.numbers)
    if rule is None:
        return
    on_left, on_right = rule.count(table.left).get(LEFT, 0), rule.count(table.right).get(RIGHT, 0)
    if on_left + on_right >= LEAST_BEYOND:
        hits = on_left, rule.values.count(LEFT), on_right, rule.values.count(RIGHT)
        yield _judged(Event(table.feature, rule), hits, table.trials, forecaster)


def _ends(left: Floats, right: Floats) -> Cells | None:
    """Return the rule that guesses a side on its runs, without the quarter of each run nearest to the other side.

    A run is the numbers of a side below, or above, all numbers of the other side. Return None if all runs together are too short.
    Return None if the sides do not overlap either, since rules on frequent events show this.
    """
    if not (len(left) and len(right)):
        return None
    low, high = float(max(left[0], right[0])), float(min(left[-1], right[-1]))
    if low > high:
        return None
    ends = [
        (numbers[: numbers.searchsorted(low)], numbers[numbers.searchsorted(high, "right") :])
        for numbers in (left, right)
    ]
    if sum(len(run) for runs in ends for run in runs) < LEAST_BEYOND:
        return None
    edges, values = list[float](), [ABSTAIN]
    for side, (below, above) in zip((LEFT, RIGHT), ends, strict=True):
        if len(below):
            edges.insert(0, shortest_decimal(float(below[math.ceil(0.75 * len(below)) - 1]), low))
            values.insert(0, side)
        if len(above):
            edges.append(shortest_decimal(high, float(above[len(above) // 4])))
            values.append(side)
    return Cells(tuple(edges), tuple(values), {}) if edges else None
