"""Features of outputs that hold several numbers: differences, extremes, where they lie, how many there are of a kind."""

import functools
import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from auditor.blackbox.flatten import WRITTEN
from auditor.blackbox.outputs import OutputColumn, Outputs
from auditor.bounds.intervals import Floats
from auditor.events.features import Place
from auditor.interfaces import Feature

# With more places, differences of neighbours are left to the score that is learned of all.
MOST_DIFFERENCES = 32
# The largest float, in place of an infinite sum.
LARGEST = float(np.finfo(np.float64).max)


def _column(name: str, numbers: Floats, known: NDArray[np.bool_]) -> OutputColumn:
    if np.all(known):
        return OutputColumn(name, numbers + 0.0)
    codes = np.where(known, -1, 0).astype(np.int32)
    return OutputColumn(name, np.where(known, numbers, 0.0) + 0.0, codes, ("not all finite numbers",))


def _numbers(outputs: Outputs, places: Sequence[str]) -> tuple[list[Floats], NDArray[np.bool_]]:
    """Return the numbers of each of some places, and which outputs have a finite one at all of them; else they are 0."""
    columns, known = [outputs.column(place) for place in places], np.ones(outputs.size, np.bool_)
    for column in columns:
        known &= column.is_finite
    return [np.where(known, column.numbers, 0.0) for column in columns], known


@dataclass(frozen=True, slots=True)
class Difference:
    """One place less another."""

    first: str
    second: str

    @property
    def name(self) -> str:
        return f"{self.first} − {self.second}"

    def extract(self, outputs: Outputs) -> OutputColumn:
        (first, second), known = _numbers(outputs, (self.first, self.second))
        with np.errstate(over="ignore"):
            difference = first - second
        return _column(self.name, difference, known & np.isfinite(difference))


@dataclass(frozen=True, slots=True)
class OrderStatistic:
    """The number of a rank among the places: 0 is the smallest."""

    places: tuple[str, ...]
    rank: int

    @property
    def name(self) -> str:
        known = {0: "smallest number", len(self.places) - 1: "largest number"}
        return f"{known.get(self.rank, f'number of rank {self.rank + 1} from below')} of the output"

    def extract(self, outputs: Outputs) -> OutputColumn:
        numbers, known = _numbers(outputs, self.places)
        # The extremes of ten places in a tenth of the time that a partition takes.
        if extreme := {0: np.minimum, len(numbers) - 1: np.maximum}.get(self.rank):
            return _column(self.name, functools.reduce(extreme, numbers), known)
        return _column(self.name, np.partition(np.stack(numbers, axis=1), self.rank, axis=1)[:, self.rank], known)


@dataclass(frozen=True, slots=True)
class WhereLargest:
    """The first place that holds the largest number, counted from 0."""

    places: tuple[str, ...]
    name: str = "place of the largest number"

    def extract(self, outputs: Outputs) -> OutputColumn:
        numbers, known = _numbers(outputs, self.places)
        return _column(self.name, np.stack(numbers, axis=1).argmax(axis=1).astype(np.float64), known)


@dataclass(frozen=True, slots=True)
class HowMany:
    """At how many places the output holds a value."""

    places: tuple[str, ...]
    value: float

    @property
    def name(self) -> str:
        return f"count of {self.value:.12g} in the output"

    def extract(self, outputs: Outputs) -> OutputColumn:
        held = np.zeros(outputs.size)
        for column in map(outputs.column, self.places):
            held += (column.numbers == self.value) & (True if column.codes is None else column.codes < 0)
        return OutputColumn(self.name, held)


@dataclass(frozen=True, slots=True)
class SumOfAnswers:
    """The sum of all numbers in the answers of a transcript. An answer that is no finite number counts as 0.

    Answers that are noisy alike and independent lose most together, and few outputs show it.
    """

    name: str = "sum of the answers"

    def extract(self, outputs: Outputs) -> OutputColumn:
        total = np.zeros(outputs.size)
        for column in outputs.columns:
            if re.match(r"output(\['output'\])?(\['answers'\])?\[\d+\]", column.name):
                total += np.where(column.is_finite, column.numbers, 0.0)
        return OutputColumn(self.name, np.clip(total, -LARGEST, LARGEST) + 0.0)


def vector_features(outputs: Outputs, places: Sequence[str]) -> Iterator[Feature]:
    """Suggest features of the places that hold numbers in these outputs, where there are several."""
    numeric = _numeric(outputs, places)
    if len(numeric) < 2:
        return
    # Differences of two yes-or-no answers say little that the answers together do not.
    varied = [place for place in numeric if _takes_many_values(outputs, place)]
    if len(varied) <= MOST_DIFFERENCES:
        yield from _differences(varied)
    yield from (OrderStatistic(numeric, rank) for rank in sorted({0, len(numeric) // 2, len(numeric) - 1}))
    yield WhereLargest(numeric)
    values, counts = np.unique(
        np.concatenate([outputs.column(place).numbers[:1000] for place in numeric]), return_counts=True
    )
    common = np.argsort(-counts, kind="stable")[:3]
    yield from (HowMany(numeric, float(values[i])) for i in common if counts[i] >= 0.05 * counts.sum())


def _differences(places: Sequence[str]) -> list[Feature]:
    """Return the difference of each place and the one before it."""
    return [Difference(place, before) for before, place in itertools.pairwise(places)]


def increments(outputs: Outputs, places: Sequence[str]) -> list[Feature]:
    """Return the first number and the steps from one to the next, the parts that a running sum is made of."""
    numeric = _numeric(outputs, places)
    if not 2 <= len(numeric) <= MOST_DIFFERENCES or not any(_takes_many_values(outputs, place) for place in numeric):
        return []
    return [Place(numeric[0]), *_differences(numeric)]


def _numeric(outputs: Outputs, places: Sequence[str]) -> tuple[str, ...]:
    # How a number is written is not a number of the output, to be compared with the others.
    return tuple(place for place in places if outputs.column(place).codes is None and not place.startswith(WRITTEN))


def _takes_many_values(outputs: Outputs, place: str) -> bool:
    """Whether a place is more than a yes or no, by the first outputs."""
    numbers = outputs.column(place).numbers[:200]
    others = numbers[numbers != numbers[:1]]
    return bool(np.any(others != others[:1]))
