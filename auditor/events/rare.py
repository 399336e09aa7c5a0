"""Events that one side alone shows, rare ones above all: values that repeat, atoms, and ends of the support.

Evidence here is a count on one side and none on the other. Such events are few, and they do not stand out by luck:
of values from a density no two are equal. So they are judged by their own counts, with no margin for the best of many.
"""

import itertools
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from auditor.bounds.intervals import Floats
from auditor.bounds.prospect import HeldOut
from auditor.events.blocks import Choice, Forecaster, RuleCounts
from auditor.events.cells import ABSTAIN, LEFT, RIGHT, Cells, shortest_decimal
from auditor.events.event import Event
from auditor.events.features import Feature
from auditor.events.sorted_column import SortedColumn

# The share of outputs up to which an event is rare: half of one side's. More frequent ones are left to the blocks, or to one
# threshold where outputs are few. In a column with more rare values, the luckiest would win.
RARE, MOST_RARE = 0.25, 64
# Outputs beyond the other side's support. From fewer the ends are mostly luck.
LEAST_BEYOND = 12


@dataclass(frozen=True, slots=True)
class RareChoice(Choice):
    """A rule on rare events, and what it won on outputs other than those that suggested it."""

    seen: HeldOut


def rare_choice(feature: Feature, left: SortedColumn, right: SortedColumn, forecaster: Forecaster) -> RareChoice | None:
    """Return the rule on rare events of a feature with the best forecast; None if one side alone shows nothing."""
    found = [*_one_sided(feature, left, right, forecaster), *_beyond(feature, left, right, forecaster)]
    return max(found, key=lambda choice: choice.forecast, default=None)


@dataclass(frozen=True, slots=True)
class _Judged:
    """What a rule won and lost on outputs other than those that suggested it."""

    left_wins: int = 0
    left_losses: int = 0
    right_wins: int = 0
    right_losses: int = 0

    def with_more(
        self, left_wins: int = 0, left_losses: int = 0, right_wins: int = 0, right_losses: int = 0
    ) -> "_Judged":
        """Return the sums with further wins and losses."""
        return _Judged(
            self.left_wins + left_wins,
            self.left_losses + left_losses,
            self.right_wins + right_wins,
            self.right_losses + right_losses,
        )

    @property
    def wins(self) -> int:
        return self.left_wins + self.right_wins

    @property
    def losses(self) -> int:
        return self.left_losses + self.right_losses

    def choice(self, event: Event, trials: int, forecaster: Forecaster) -> RareChoice:
        """Return the rule with its forecasts."""
        counts = (self.left_wins, self.left_losses, self.right_wins, self.right_losses)
        left_wins, left_losses, right_wins, right_losses = (np.array([float(n)]) for n in counts)
        careful = float(forecaster.forecast(RuleCounts(left_wins, left_losses, right_wins, right_losses, trials))[0])
        seen = HeldOut(self.wins, self.wins + self.losses, trials, (self.left_wins > 0) + (self.right_wins > 0))
        if self.losses:
            return RareChoice(event, careful, seen)
        return RareChoice(event, forecaster.forecast_unbeaten(self.wins, trials, seen.directions), seen)


def _one_sided(
    feature: Feature, left: SortedColumn, right: SortedColumn, forecaster: Forecaster
) -> Iterator[RareChoice]:
    """Suggest to guess the side at every rare value that was seen there alone, twice or more.

    The first output at a value suggests the guess, and the others win it. A value that both sides gave is a loss where one output
    alone speaks against the guess. Losses count without any win too: what is won on other pairs is likelier luck then.
    """
    numbers, atoms = _repeated(left, right), _rare_atoms(left, right)
    judged, guess = _Judged(), dict[float | str, float]()
    for value, (on_left, on_right) in itertools.chain[tuple[float | str, tuple[int, int]]](
        numbers.items(), atoms.items()
    ):
        if on_right == 0 and on_left > 1:
            judged, guess[value] = judged.with_more(left_wins=on_left - 1), LEFT
        elif on_left == 0 and on_right > 1:
            judged, guess[value] = judged.with_more(right_wins=on_right - 1), RIGHT
        else:
            judged = judged.with_more(
                left_losses=int(on_right == 1 and on_left > 0), right_losses=int(on_left == 1 and on_right > 0)
            )
    if guess or judged.losses:
        yield judged.choice(Event(feature, _at_values(guess)), left.size + right.size, forecaster)


def _repeated(left: SortedColumn, right: SortedColumn) -> dict[float, tuple[int, int]]:
    """Return the rare numbers that occur more than once, and how often on either side; none if there are many."""
    numbers = (left + right).numbers
    if not len(numbers):
        return {}
    begins = np.flatnonzero(np.append(True, numbers[1:] != numbers[:-1]))
    times = np.diff(begins, append=len(numbers))
    again = (times > 1) & (times <= RARE * (left.size + right.size))
    if np.count_nonzero(again) > MOST_RARE:
        return {}
    values = numbers[begins[again]]
    counts = [np.subtract(*reversed(side.ends(values))).tolist() for side in (left, right)]
    return dict(zip(values.tolist(), zip(*counts, strict=True), strict=True))


def _rare_atoms(left: SortedColumn, right: SortedColumn) -> dict[str, tuple[int, int]]:
    seen = {atom: (left.atoms.get(atom, 0), right.atoms.get(atom, 0)) for atom in {**left.atoms, **right.atoms}}
    most = RARE * (left.size + right.size)
    rare = {atom: counts for atom, counts in seen.items() if 0 < sum(counts) <= most}
    return rare if len(rare) <= MOST_RARE else {}


def _at_values(guess: Mapping[float | str, float]) -> Cells:
    """Return the rule that guesses at single values only."""
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


def _beyond(feature: Feature, left: SortedColumn, right: SortedColumn, forecaster: Forecaster) -> Iterator[RareChoice]:
    """Suggest to guess a side beyond all numbers of the other.

    Outputs at an end are of one side until the first of the other comes, which is a loss. So a run of n outputs has the likelihood
    of n wins and a loss, wherever the support ends.
    """
    rule = _ends(left, right)
    if rule is None:
        return
    wins_and_losses = (
        (rule.count(side).get(sign, 0), rule.values.count(sign)) for side, sign in ((left, LEFT), (right, RIGHT))
    )
    judged = _Judged(*itertools.chain(*wins_and_losses))
    if judged.wins >= LEAST_BEYOND:
        yield judged.choice(Event(feature, rule), left.size + right.size, forecaster)


def _ends(left: SortedColumn, right: SortedColumn) -> Cells | None:
    """Return the rule that guesses a side on its runs at the ends, but for the quarter of each that is nearest to the other side.

    None if there are no runs.
    """
    edges, values = list[float](), [ABSTAIN]
    for side, runs in ((LEFT, _runs(left, right)), (RIGHT, _runs(right, left))):
        if runs is None:
            return None
        if len(runs.below):
            edges.insert(0, shortest_decimal(float(runs.below[math.ceil(0.75 * len(runs.below)) - 1]), runs.overlap[0]))
            values.insert(0, side)
        if len(runs.above):
            edges.append(shortest_decimal(runs.overlap[1], float(runs.above[len(runs.above) // 4])))
            values.append(side)
    return Cells(tuple(edges), tuple(values), {}) if edges else None


class _Runs(NamedTuple):
    """The numbers of a side below and above all numbers of the other, and the ends of what both cover."""

    below: Floats
    above: Floats
    overlap: tuple[float, float]


def _runs(side: SortedColumn, other: SortedColumn) -> _Runs | None:
    """Return the runs of a side at either end.

    None if one has no number, or if the sides do not overlap, which rules on frequent events see.
    """
    mine, others = side.numbers, other.numbers
    if not (len(mine) and len(others)):
        return None
    low, high = max(mine[0], others[0]), min(mine[-1], others[-1])
    if low > high:
        return None
    above = mine[np.searchsorted(mine, high, side="right") :]
    return _Runs(mine[: np.searchsorted(mine, low)], above, (float(low), float(high)))
