"""A column in rising order, and its cells (intervals of numbers; atoms, which are no numbers), each with a value."""

import bisect
import itertools
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from auditor.blackbox.outputs import ABSENT, NUMBER, OutputColumn
from auditor.blackbox.sample import part_ends
from auditor.bounds.intervals import Floats, Ints


@dataclass(frozen=True, slots=True, eq=False)
class SortedColumn:
    """The numbers of a column in rising order, and how often each atom occurs.

    Sorted numbers can be counted between any edges by binary search.
    """

    numbers: NDArray[np.float64]
    atoms: Mapping[str, int]

    @classmethod
    def of(cls, column: OutputColumn) -> "SortedColumn":
        """Return the entries of a column."""
        if column.codes is None:
            return cls(np.sort(column.numbers), {})
        is_atom = column.codes >= 0
        frequencies = np.bincount(column.codes[is_atom], minlength=len(column.atoms)).tolist()
        return cls(np.sort(column.numbers[~is_atom]), dict(zip(column.atoms, frequencies, strict=True)))

    def __add__(self, other: "SortedColumn") -> "SortedColumn":
        """Return the entries of both columns."""
        # A stable sort (Timsort) only merges two sorted runs.
        numbers = np.sort(np.concatenate([self.numbers, other.numbers]), kind="stable")
        return SortedColumn(
            numbers, {a: self.atoms.get(a, 0) + other.atoms.get(a, 0) for a in {**self.atoms, **other.atoms}}
        )

    @property
    def size(self) -> int:
        """How many entries there are, atoms included."""
        return len(self.numbers) + sum(self.atoms.values())

    @property
    def finite(self) -> NDArray[np.float64]:
        """The finite numbers."""
        below, above = self.count([-np.inf, np.finfo(np.float64).max])[[0, 2]]
        return self.numbers[below : len(self.numbers) - above]

    @property
    def is_whole(self) -> bool:
        """Whether each number is an integer or infinite."""
        return np.array_equal(self.numbers, np.rint(self.numbers))

    def count(self, edges: Sequence[float]) -> Ints:
        """Return how many numbers x lie in each interval edges[i−1] < x ≤ edges[i]."""
        below = np.zeros(len(edges) + 2, np.int64)
        below[1:-1] = self.numbers.searchsorted(np.asarray(edges, np.float64), side="right")
        below[-1] = len(self.numbers)
        return below[1:] - below[:-1]

    def distinct(self, most: int) -> NDArray[np.float64] | None:
        """Return the distinct numbers in rising order; None if there are more than ``most``."""
        is_last = np.append(self.numbers[1:] != self.numbers[:-1], True)[: len(self.numbers)]
        return self.numbers[is_last] if np.count_nonzero(is_last) <= most else None

    def ends(self, numbers: NDArray[np.float64]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Return the first index of each number in the sorted column, and the index after its last."""
        return self.numbers.searchsorted(numbers, side="left"), self.numbers.searchsorted(numbers, side="right")


# LEFT, ABSTAIN and RIGHT are the guesses that a rule can make in a cell.
LEFT, ABSTAIN, RIGHT = 1.0, 0.0, -1.0
# Up to FEW_EDGES edges, comparing all entries with each edge is faster than a binary search for each entry, or than sorting.
FEW_EDGES = 32
# The first PROBED_ENTRIES entries of a column show whether it holds few distinct values.
PROBED_ENTRIES = 1000


@dataclass(frozen=True, slots=True)
class Cells:
    """Cells, each with a value. Interval i holds the numbers x with edges[i−1] < x ≤ edges[i]; each atom is a cell.

    ``values`` has one entry for each interval, one more than ``edges``. An atom not in ``atoms`` has ``otherwise``.
    """

    edges: tuple[float, ...]
    values: tuple[float, ...]
    atoms: Mapping[str, float]
    otherwise: float = 0.0

    @classmethod
    def joined(
        cls, edges: Sequence[float], values: Sequence[float], atoms: Mapping[str, float], otherwise: float = 0.0
    ) -> "Cells":
        """Return the cells with neighbouring intervals of the same value joined to one."""
        ends = [i for i in range(len(values)) if i + 1 == len(values) or values[i] != values[i + 1]]
        return cls(tuple(edges[i] for i in ends[:-1]), tuple(values[i] for i in ends), atoms, otherwise)

    def worth_of(self, atom: str) -> float:
        """Return the value of an atom."""
        return self.atoms.get(atom, self.otherwise)

    def look_up(self, column: OutputColumn) -> NDArray[np.float64]:
        """Return the value of the cell that each entry lies in, as an array of the column's length."""
        # ``take`` needs a tenth of the time of an index in brackets.
        values = np.take(np.asarray(self.values, np.float64), self._places(column.numbers))
        if column.codes is None:
            return values
        of_atoms = np.array([*map(self.worth_of, column.atoms), 0.0])
        return np.where(column.codes >= 0, of_atoms[column.codes], values)

    def _places(self, numbers: NDArray[np.float64]) -> NDArray[np.intp] | NDArray[np.uint8]:
        """Return the interval of each number."""
        if len(self.edges) > FEW_EDGES:
            return np.searchsorted(np.asarray(self.edges), numbers, side="left")
        places = np.zeros(len(numbers), np.uint8)
        for edge in self.edges:
            places += numbers > edge
        return places

    def count(self, entries: SortedColumn) -> dict[float, int]:
        """Return, for each value, the number of entries to which ``look_up`` gives this value."""
        totals = dict.fromkeys(self.worths, 0)
        for value, frequency in zip(self.values, entries.count(self.edges).tolist(), strict=True):
            totals[value] += frequency
        for atom, frequency in entries.atoms.items():
            totals[self.worth_of(atom)] += frequency
        return totals

    @property
    def worths(self) -> set[float]:
        """The values that any entry can have."""
        return {*self.values, *self.atoms.values(), self.otherwise}

    def describe(self, name: str, value: float, threshold: str = "", longest: int = 0) -> str:
        """Say in words where the cells of ``value`` lie. If given, ``threshold`` is written in place of each threshold.

        More than six atoms are cut to the first six, unless all of them take at most ``longest`` characters.

        >>> Cells((0.5, 2.0), (1.0, 0.0, 1.0), {"None": 1.0}).describe("output", 1.0)
        'output ≤ 0.5 or output > 2 or output is None'
        >>> Cells((-999999999999999.9,), (1.0, 0.0), {}).describe("output", 1.0)
        'output ≤ -999999999999999.9'
        >>> Cells((), (0.0,), {"int": 0.0, ABSENT: 1.0}).describe("type of output[1]", 1.0)
        'output[1] is of type float (or absent)'
        >>> rule = Cells((), (0.0,), {"raises KeyError": 1.0, ABSENT: -1.0})
        >>> rule.describe("output", 1.0), rule.describe("output", -1.0)
        ('it raises KeyError', 'the mechanism answers')
        """
        if self._is_any_answer(name, value):
            return ANSWERS_IN_WORDS
        parts = [_interval(name, low, high, threshold) for low, high in self._runs(value)]
        # Outputs do not name the type float, so an absent type is written as float.
        is_type = re.fullmatch("type( of (?P<place>.*))?", name)
        named = {ABSENT: "float (or absent)"} if is_type else {}
        place, name = name, f"{is_type['place'] or 'output'} is of type" if is_type else f"{name} is"
        atoms = list[str]()
        for atom, worth in self.atoms.items():
            if worth != value:
                continue
            if sentence := _sentence_of(place, atom):
                parts.append(sentence)
            else:
                atoms.append(named.get(atom, atom))
        if len(atoms) > 6 and len(", ".join(atoms)) > longest:
            parts.append(f"{name} one of {', '.join(atoms[:6])} and {len(atoms) - 6} others")
        elif atoms:
            parts.append(f"{name} {'one of ' if len(atoms) > 1 else ''}{', '.join(atoms)}")
        return " or ".join(parts) or "never"

    def _is_any_answer(self, name: str, value: float) -> bool:
        """Whether the cells of ``value`` are all outputs that are no exceptions."""
        raised = {atom for atom in self.atoms if atom.startswith(RAISES)}
        own = {atom for atom, worth in self.atoms.items() if worth == value}
        if name != "output" or not raised or own != self.atoms.keys() - raised:
            return False
        numbers = {*self.values}
        return numbers == {value} or (bool(own) and numbers == {ABSTAIN})

    def _runs(self, value: float) -> list[tuple[float, float]]:
        ends = [-math.inf, *self.edges, math.inf]
        runs: list[tuple[float, float]] = []
        for i, worth in enumerate(self.values):
            if worth == value:
                low = runs.pop()[0] if runs and runs[-1][1] == ends[i] else ends[i]
                runs.append((low, ends[i + 1]))
        return runs


def count_rules(
    rules: Sequence[Cells], column: OutputColumn, worths: Sequence[float], parts: int
) -> list[list[list[int]]]:
    """Return to how many entries each rule gives each of ``worths``: by part, then by rule. ``part_ends`` cuts the column into
    ``parts`` parts.

    The numbers are compared once with the edges of all rules. This cuts them into intervals in which no rule has two values.
    """
    edges, shown = sorted({edge for rule in rules for edge in rule.edges}), column.atoms
    last = [*edges, math.inf]  # the last number of each interval
    values = [
        [*(rule.values[bisect.bisect_left(rule.edges, end)] for end in last), *map(rule.worth_of, shown)]
        for rule in rules
    ]
    counted = np.array([_entries(column, edges, *ends) for ends in part_ends(len(column.numbers), parts)], np.int64)
    is_worth = np.array(values)[:, None, :] == np.asarray(worths)[:, None]
    totals = counted @ is_worth.reshape(-1, counted.shape[1]).T.astype(np.int64)
    return totals.reshape(parts, len(rules), len(worths)).tolist()  # type: ignore[no-any-return]


def _entries(column: OutputColumn, edges: Sequence[float], start: int, end: int) -> list[int]:
    """Return how many entries of a part of a column lie in each interval between rising edges, and how many are each atom."""
    numbers, of_atoms = column.numbers[start:end], list[int]()
    if column.codes is not None:
        codes = column.codes[start:end]
        of_atoms = np.bincount(codes - NUMBER, minlength=len(column.atoms) + 1)[1:].tolist()
        numbers = numbers[codes == NUMBER]
    if len(edges) > FEW_EDGES:
        below = np.sort(numbers).searchsorted(edges, side="right").tolist()
    else:
        below = [np.count_nonzero(numbers <= edge) for edge in edges]
    return [*(more - fewer for fewer, more in itertools.pairwise([0, *below, len(numbers)])), *of_atoms]


# The beginning of the atom of an exception; and how an output is called that is none.
RAISES, ANSWERS_IN_WORDS = "raises ", "the mechanism answers"


def _sentence_of(name: str, atom: str) -> str:
    """Return an atom of a column as a sentence of its own, or "" if the column's name and "is" may stand before it."""
    if atom.startswith(RAISES):
        return f"{'it' if name == 'output' else name} {atom}"
    if whole := re.fullmatch(r"\{output: (raises [\w.]+)(?:, message of output: (.*))?\}", atom):
        return f"it {': '.join(filter(None, whole.groups()))}"
    what, _, place = name.partition(" of ")
    if what == "message" and place == "output":
        return ANSWERS_IN_WORDS if atom == ABSENT else f"it raises an exception that says {atom}"
    if atom == ABSENT and name == "output":
        return "output is a collection"
    if atom == ABSENT and what in ("length", "shape"):
        return f"{place} has no {what}"
    return ""


def _written(number: float) -> str:
    """Write a number with 12 digits, or with as many more as it takes to read the same number back."""
    texts = (f"{number:.{digits}g}" for digits in range(12, 18))
    return next(text for text in texts if float(text) == number)


def _interval(name: str, low: float, high: float, threshold: str) -> str:
    start, end = threshold or _written(low), threshold or _written(high)
    if math.nextafter(low, high) == high < math.inf:
        return f"{name} is {end}"
    if low == -math.inf:
        return f"{name} is any number" if high == math.inf else f"{name} ≤ {end}"
    return f"{name} > {start}" if high == math.inf else f"{start} < {name} ≤ {end}"


def readable_edges(column: SortedColumn, most: int) -> list[float]:
    """Return edges that cut the numbers of a column into about ``most`` intervals of equal counts, at short decimals.

    There are further edges near both ends. A value with more than its share of the numbers gets a cell of its own.
    """
    numbers, entries = column.numbers, len(column.numbers)
    if entries == 0:
        return []
    lows = column.distinct(most)
    if lows is None:
        # The cells towards each end hold ever fewer outputs, so that a few outliers are not lost in a large cell.
        few = 4 * 2.0 ** np.arange(max(0, int(np.log2(max(1.0, entries / most / 4)))) + 1)
        few = few[few < entries / most]
        targets = np.concatenate([np.arange(1, most) * entries / most, few, entries - few])
        # Every run of more than entries / most equal numbers has one of these positions.
        heavy = np.unique(numbers[:: entries // most + 1])
        begin, end = column.ends(heavy)
        is_heavy = end - begin > entries / most
        # The value before a heavy value ends a cell too, so that the heavy value has a cell of its own.
        before = begin[is_heavy & (begin > 0)] - 1
        lows = np.unique(
            np.concatenate([numbers[np.ceil(targets).astype(np.intp) - 1], heavy[is_heavy], numbers[before]])
        )
    return _spell_edges(column, lows[lows < numbers[-1]])


def stacked(columns: Sequence[OutputColumn]) -> Floats:
    """Return the numbers of equally long columns as the rows of an array, with NaN in the place of atoms."""
    rows = np.array([column.numbers for column in columns])
    for row, column in zip(rows, columns, strict=True):
        if column.codes is not None:
            row[column.codes >= 0] = np.nan
    return rows


def distinct_values(values: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """Return the distinct values in rising order, and the index among them of each entry.

    Most columns hold few values. For these, a look-up among the first entries takes a tenth of the time of sorting.
    """
    few = np.unique(values[:PROBED_ENTRIES])
    if 2 * len(few) > min(PROBED_ENTRIES, len(values)):
        return np.unique(values, return_inverse=True)
    others = few[np.minimum(np.searchsorted(few, values), len(few) - 1)] != values
    few = np.union1d(few, values[others])
    return few, np.searchsorted(few, values)


def _spell_edges(column: SortedColumn, lows: NDArray[np.float64]) -> list[float]:
    """Return an edge between each of the numbers ``lows`` and the next larger number of the column, in rising order."""
    begin, end = column.ends(lows)
    highs = column.numbers[end]
    is_once = (end - begin == 1) & (column.ends(highs)[1] - end == 1)
    edges: list[float] = []
    for at in range(len(lows)):
        low, high = float(lows[at]), float(highs[at])
        if is_once[at] and 0 < at < len(lows) - 1:
            # If both values occur once, the edge may lie beyond either value, by a tenth of the gap to the next value.
            low -= 0.1 * (low - float(lows[at - 1]))
            high += 0.1 * (float(lows[at + 1]) - high)
        edge = shortest_decimal(low, high)
        if not edges or edge > edges[-1]:
            edges.append(edge)
    return edges


def shortest_decimal(low: float, high: float) -> float:
    """Return the number in [low, high) with the fewest digits; ``low`` if none is shorter, or if an end is infinite.

    >>> shortest_decimal(0.4912, 0.5087), shortest_decimal(3.0, 4.0), shortest_decimal(-1.27, -1.22)
    (0.5, 3.0, -1.27)
    """
    if not (math.isfinite(low) and math.isfinite(high)) or low == math.floor(low):
        return low
    for digits in range(-math.floor(math.log10(high - low)) - 1, 18):
        scaled = math.ceil(low * 10.0**digits)
        candidate = round(scaled / 10.0**digits, max(digits, 0))
        if low <= candidate < high:
            return candidate
    return low
