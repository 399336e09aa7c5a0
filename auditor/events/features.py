"""Features: columns in which the sides may differ. A feature is a place of the output (output[0]), or combines several."""

import functools
import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from auditor.blackbox.number_text import WRITTEN
from auditor.blackbox.outputs import ABSENT, OutputColumn, Outputs
from auditor.bounds.intervals import Floats
from auditor.events.cells import Cells, distinct_values
from auditor.interfaces import Feature

# Above this number of distinct outputs, each would be seen too rarely as a category to learn anything.
MOST_JOINT_ATOMS = 512
# Matches the places of a list of numbers, or of an array.
_PLAIN = re.compile(r"output(\[\d+(,\d+)*\])?")


@dataclass(frozen=True, slots=True)
class Place:
    """One place of the output as it stands."""

    name: str

    def extract(self, outputs: Outputs) -> OutputColumn:
        return outputs.column(self.name)


@dataclass(frozen=True, slots=True)
class Whole:
    """The whole output as one category, for outputs with few distinct values."""

    places: tuple[str, ...]
    name: str = "output"

    def extract(self, outputs: Outputs) -> OutputColumn:
        """Return an atom for each output: the list of its leaves, or its leaves with their places."""
        codes, steps = np.zeros(outputs.size, np.int64), list[tuple[NDArray[np.int64], list[str]]]()
        for place in self.places:
            leaves, kinds = _categories(outputs.column(place))
            # The codes are renumbered after every place, so that they stay small.
            pairs, codes = distinct_values(codes * len(kinds) + leaves)
            steps.append((pairs, kinds))
        return OutputColumn(self.name, np.zeros(outputs.size), codes.astype(np.int32), self._spelled(steps))

    def _spelled(self, steps: Sequence[tuple[NDArray[np.int64], list[str]]]) -> tuple[str, ...]:
        """Return each distinct output in words. ``steps`` has each place's pairs (code before, leaf) and its leaves."""
        rest, columns = np.arange(len(steps[-1][0])), list[list[str]]()
        for pairs, kinds in reversed(steps):
            rest, leaves = np.divmod(pairs[rest], len(kinds))
            columns.append([kinds[leaf] for leaf in leaves.tolist()])
        are_plain = all(map(_PLAIN.fullmatch, self.places))
        return tuple(self._words(leaves, are_plain) for leaves in zip(*reversed(columns), strict=True))

    def _words(self, leaves: Sequence[str], are_plain: bool) -> str:
        if are_plain and ABSENT not in leaves:
            return f"[{', '.join(leaves)}]"
        there = [f"{place}: {leaf}" for place, leaf in zip(self.places, leaves, strict=True) if leaf != ABSENT]
        return f"{{{', '.join(there)}}}"


def looks_at_types(feature: Feature) -> bool:
    """Whether a feature looks at the types of values, alone or together with other things."""
    terms, tables = getattr(feature, "terms", ()), getattr(feature, "tables", ())
    names = [feature.name, *getattr(feature, "places", ()), *(term.place for term in terms)]
    return any(name.startswith("type") for name in names) or any(looks_at_types(part) for part, _ in tables)


def plainness(feature: Feature) -> int:
    """Return a rank by which equally good features are chosen: the output itself, a place of it, what describes either
    (a length, a shape, the message of an exception), then a type, then what is computed from several places.
    """
    if looks_at_types(feature):
        return 3
    if not isinstance(feature, Place):
        return 4
    return 0 if feature.name == "output" else 1 if feature.name.startswith("output") else 2


def varies(column: OutputColumn) -> bool:
    """Return whether a column holds more than one value."""
    if len(column.numbers) == 0:
        return False
    codes, numbers = column.codes, column.numbers
    if codes is not None and (codes[0] >= 0 or np.any(codes != codes[0])):
        return bool(np.any(codes != codes[0]))
    return bool(np.any(numbers != numbers[0]))


def _categories(column: OutputColumn) -> tuple[NDArray[np.int64], list[str]]:
    numbers, leaves = distinct_values(column.numbers)
    kinds = [f"{number:.17g}" for number in numbers.tolist()]
    if column.codes is None:
        return leaves, kinds
    return np.where(column.codes >= 0, len(kinds) + column.codes, leaves), [*kinds, *column.atoms]


@dataclass(frozen=True, slots=True)
class LowestBit:
    """The exponent of the lowest set bit of a number, where its binary representation ends.

    A number that was rounded at a larger magnitude has a larger exponent. Such an event concerns the implementation,
    not the real-valued mechanism (Mironov 2012). Zero, which has no set bit, gets 1100, above all exponents of doubles.
    """

    place: str

    @property
    def name(self) -> str:
        return f"{LOWEST_BIT_OF} {self.place}"

    def extract(self, outputs: Outputs) -> OutputColumn:
        """Return the exponent of the lowest set bit of each finite number; atoms and infinities do not change."""
        column = outputs.column(self.place)
        finite = np.isfinite(column.numbers)
        mantissa, exponent = np.frexp(np.where(finite, column.numbers, 0.0))
        # The mantissa, scaled by 2⁵³, is an integer; ``lowest`` is the position of its lowest set bit.
        whole = np.ldexp(mantissa, 53).astype(np.int64)
        lowest = np.frexp((whole & -whole).astype(np.float64))[1] - 1
        ends = np.where(whole == 0, 1100.0, exponent - 53.0 + lowest)
        return OutputColumn(self.name, np.where(finite, ends, column.numbers), column.codes, column.atoms)


@dataclass(frozen=True, slots=True)
class Decimals:
    """How many decimals a number needs: 0 for a whole number, UNROUNDED if twelve digits are not enough."""

    place: str

    @property
    def name(self) -> str:
        return f"decimals of {self.place}, as short as it can be written"

    def extract(self, outputs: Outputs) -> OutputColumn:
        """Return the number of decimals of each finite number; atoms and infinities do not change."""
        column = outputs.column(self.place)
        finite = np.isfinite(column.numbers)
        digits = np.where(finite, UNROUNDED, column.numbers)
        left = np.flatnonzero(finite)
        for decimals in range(MOST_DIGITS):
            numbers = column.numbers[left]
            # A division by an exact power of ten is rounded once, so it gives the double nearest to the decimal.
            with np.errstate(over="ignore"):
                scaled = numbers * 10.0**decimals
            short = np.rint(scaled) / 10.0**decimals == numbers
            if decimals:
                short &= np.abs(scaled) < 10.0**MOST_DIGITS
            digits[left[short]] = decimals
            left = left[~short]
        return OutputColumn(self.name, digits, column.codes, column.atoms)

    def varies(self, outputs: Outputs) -> bool:
        """Whether some numbers look rounded: in part of the outputs, at least ten distinct values need few decimals.

        The numbers of decimals must differ, too. One double in ten thousand needs few decimals by chance.
        """
        whole = Outputs(outputs.size, (outputs.column(self.place),))
        # If one output in fifty is rounded, this part of the outputs holds none with probability 0.6 %.
        if not _some_short(whole.columns[0].numbers[:: max(1, outputs.size // 256)]):
            return False
        part = whole[:: max(1, outputs.size // 1_000)]
        numbers, decimals = part.column(self.place), self.extract(part).numbers
        there = numbers.is_finite
        short = np.unique(numbers.numbers[there & (decimals < UNROUNDED)])
        return len(short) >= 10 and len(np.unique(decimals[there])) > 1


def _some_short(numbers: NDArray[np.float64]) -> bool:
    """Return True if some numbers have few decimals, unless all are whole. Few other columns pass this quick test."""
    numbers = numbers[np.isfinite(numbers)]
    is_whole = numbers == np.rint(numbers)
    others = numbers[~is_whole]
    if others.size in (0, numbers.size):
        with np.errstate(over="ignore", invalid="ignore"):
            digits = others * 10.0 ** (MOST_DIGITS - np.ceil(np.log10(np.abs(others))))
            return bool(np.any(np.abs(digits - np.rint(digits)) < 1e-3))
    return True


# A rounded number has at most MOST_DIGITS digits. UNROUNDED stands for the number of decimals of any other number.
MOST_DIGITS, UNROUNDED = 12, 17.0

LOWEST_BIT_OF = "exponent of the lowest bit of"


@dataclass(frozen=True, slots=True)
class EvidenceSum:
    """The sum of the evidence of several places: the log-likelihood ratio if places are independent."""

    tables: tuple[tuple[Feature, Cells], ...]
    name: str = "evidence of all places together"

    def extract(self, outputs: Outputs) -> OutputColumn:
        """Return for each output the sum, over features, of the log-ratio (nats) learned for the feature's value."""
        total = np.zeros(outputs.size)
        for feature, cells in self.tables:
            total += cells.look_up(feature.extract(outputs))
        # Rounding makes sums of the same terms equal in every batch.
        return OutputColumn(self.name, np.round(total, 9) + 0.0)


# --- Features of outputs that hold several numbers ---

# With more places, no differences of neighbouring places are tried; the score learned from all places may show them.
MOST_DIFFERENCES = 32
# LARGEST_FLOAT is the largest float. It replaces infinite sums.
LARGEST_FLOAT = float(np.finfo(np.float64).max)


def _column(name: str, numbers: Floats, is_number: NDArray[np.bool_]) -> OutputColumn:
    if np.all(is_number):
        return OutputColumn(name, numbers + 0.0)
    codes = np.where(is_number, -1, 0).astype(np.int32)
    return OutputColumn(name, np.where(is_number, numbers, 0.0) + 0.0, codes, ("not all finite numbers",))


def combined_column(name: str, first: OutputColumn, second: OutputColumn, sign: float) -> OutputColumn:
    """Return the column of the first numbers plus or minus (``sign``) the second; an atom where either is no finite number."""
    is_number = first.is_finite & second.is_finite
    with np.errstate(over="ignore", invalid="ignore"):
        numbers = np.where(is_number, first.numbers + sign * second.numbers, 0.0)
    return _column(name, numbers, is_number & np.isfinite(numbers))


def _numbers(outputs: Outputs, places: Sequence[str]) -> tuple[list[Floats], NDArray[np.bool_]]:
    """Return the numbers at some places, and which outputs have finite numbers at all these places. The others get 0."""
    columns, is_number = [outputs.column(place) for place in places], np.ones(outputs.size, np.bool_)
    for column in columns:
        is_number &= column.is_finite
    return [np.where(is_number, column.numbers, 0.0) for column in columns], is_number


@dataclass(frozen=True, slots=True)
class Difference:
    """The number at one place minus the number at another."""

    first: str
    second: str

    @property
    def name(self) -> str:
        return f"{self.first} − {self.second}"

    def extract(self, outputs: Outputs) -> OutputColumn:
        return combined_column(self.name, outputs.column(self.first), outputs.column(self.second), -1.0)


@dataclass(frozen=True, slots=True)
class Total:
    """The sum of the numbers at some places: shares of a secret, or a part and the rest, show it only together."""

    places: tuple[str, ...]
    name: str = "sum of the numbers of the output"

    def extract(self, outputs: Outputs) -> OutputColumn:
        numbers, is_number = _numbers(outputs, self.places)
        with np.errstate(over="ignore", invalid="ignore"):  # the sum of two infinite sums
            total = functools.reduce(np.add, numbers)
        return _column(self.name, np.where(is_number, total, 0.0), is_number & np.isfinite(total))


@dataclass(frozen=True, slots=True)
class OrderStatistic:
    """The number with a given rank among the places of an output; rank 0 is the smallest number."""

    places: tuple[str, ...]
    rank: int

    @property
    def name(self) -> str:
        ends = {0: "smallest number", len(self.places) - 1: "largest number"}
        return f"{ends.get(self.rank, f'number of rank {self.rank + 1} from below')} of the output"

    def extract(self, outputs: Outputs) -> OutputColumn:
        numbers, is_number = _numbers(outputs, self.places)
        # For ten places, this finds the extremes in a tenth of the time of a partition.
        if extreme := {0: np.minimum, len(numbers) - 1: np.maximum}.get(self.rank):
            return _column(self.name, functools.reduce(extreme, numbers), is_number)
        return _column(self.name, np.partition(np.stack(numbers, axis=1), self.rank, axis=1)[:, self.rank], is_number)


@dataclass(frozen=True, slots=True)
class WhereLargest:
    """The index of the first place that holds the largest number of the output."""

    places: tuple[str, ...]
    name: str = "place of the largest number"

    def extract(self, outputs: Outputs) -> OutputColumn:
        numbers, is_number = _numbers(outputs, self.places)
        return _column(self.name, np.stack(numbers, axis=1).argmax(axis=1).astype(np.float64), is_number)


@dataclass(frozen=True, slots=True)
class HowMany:
    """At how many places the output holds ``value``."""

    places: tuple[str, ...]
    value: float

    @property
    def name(self) -> str:
        return f"count of {self.value:.12g} in the output"

    def extract(self, outputs: Outputs) -> OutputColumn:
        occurrences = np.zeros(outputs.size)
        for column in map(outputs.column, self.places):
            occurrences += (column.numbers == self.value) & (True if column.codes is None else column.codes < 0)
        return OutputColumn(self.name, occurrences)


@dataclass(frozen=True, slots=True)
class HowManyDiffer:
    """How many different values the output holds at some places, which shows whether two of them are equal."""

    places: tuple[str, ...]
    name: str = "number of different values in the output"

    def extract(self, outputs: Outputs) -> OutputColumn:
        """Return the number of different numbers and atoms of each output. A place that is absent counts for nothing."""
        columns = [outputs.column(place) for place in self.places]
        _, values = distinct_values(np.concatenate([column.numbers for column in columns]))
        kinds = values.reshape(len(columns), outputs.size).copy()
        atoms = dict[str, int]()
        for row, column in zip(kinds, columns, strict=True):
            if column.codes is not None:
                of_code = [-1 if atom == ABSENT else atoms.setdefault(atom, len(atoms)) for atom in column.atoms]
                codes = np.array([*of_code, 0])[column.codes]
                row[:] = np.where(column.codes < 0, row, np.where(codes < 0, -1, codes + len(values)))
        kinds.sort(axis=0)
        is_new = kinds >= 0
        is_new[1:] &= kinds[1:] != kinds[:-1]
        return OutputColumn(self.name, is_new.sum(axis=0).astype(np.float64))


@dataclass(frozen=True, slots=True)
class SumOfAnswers:
    """The sum of all numbers in the answers of a transcript. An answer that is not a finite number counts as 0.

    If the answers have independent noise of one size, the loss is largest in their sum, and few outputs show it.
    """

    name: str = "sum of the answers"

    def extract(self, outputs: Outputs) -> OutputColumn:
        total = np.zeros(outputs.size)
        for column in outputs.columns:
            if re.match(r"output(\['output'\])?(\['answers'\])?\[\d+\]", column.name):
                total += np.where(column.is_finite, column.numbers, 0.0)
        return OutputColumn(self.name, np.clip(total, -LARGEST_FLOAT, LARGEST_FLOAT) + 0.0)


def vector_features(outputs: Outputs, places: Sequence[str]) -> Iterator[Feature]:
    """Suggest features that combine several places: of all kinds, and numbers if at least two places have only numbers."""
    of_output = tuple(place for place in places if place.startswith("output"))
    if 2 <= len(of_output) <= MOST_DIFFERENCES:
        yield HowManyDiffer(of_output)
    numeric = _numeric(outputs, places)
    if len(numeric) < 2:
        return
    # Differences of yes-or-no answers add little to the answers, so only places with more than two values count.
    varied = [place for place in numeric if _takes_many_values(outputs, place)]
    if len(varied) <= MOST_DIFFERENCES:
        yield from _differences(varied)
    # These say "number of the output", which a length is not.
    numeric = tuple(place for place in numeric if place.startswith("output"))
    if len(numeric) < 2:
        return
    yield from (OrderStatistic(numeric, rank) for rank in sorted({0, len(numeric) // 2, len(numeric) - 1}))
    yield WhereLargest(numeric)
    values, counts = np.unique(
        np.concatenate([outputs.column(place).numbers[:1000] for place in numeric]), return_counts=True
    )
    common = np.argsort(-counts, kind="stable")[:3]
    yield from (HowMany(numeric, float(values[i])) for i in common if counts[i] >= 0.05 * counts.sum())
    if len(varied) > 1:  # the sum of yes-or-no answers is how many are yes
        yield Total(numeric)


def _differences(places: Sequence[str]) -> list[Feature]:
    """Return the difference of each place and the one before it."""
    return [Difference(place, before) for before, place in itertools.pairwise(places)]


def increments(outputs: Outputs, places: Sequence[str]) -> list[Feature]:
    """Return the first number, and the step from each number to the next: the terms of a running sum."""
    numeric = _numeric(outputs, places)
    if not 2 <= len(numeric) <= MOST_DIFFERENCES or not any(_takes_many_values(outputs, place) for place in numeric):
        return []
    return [Place(numeric[0]), *_differences(numeric)]


def _numeric(outputs: Outputs, places: Sequence[str]) -> tuple[str, ...]:
    # A place with a prefix of WRITTEN says how a number is written, and is not compared with numbers of the output.
    return tuple(place for place in places if outputs.column(place).codes is None and not place.startswith(WRITTEN))


def _takes_many_values(outputs: Outputs, place: str) -> bool:
    """Whether a place takes more than two values in the first outputs."""
    numbers = outputs.column(place).numbers[:200]
    others = numbers[numbers != numbers[:1]]
    return bool(np.any(others != others[:1]))
