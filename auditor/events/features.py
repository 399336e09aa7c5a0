"""Features: single columns made of outputs, on which the two sides may differ. They are places of the output, or combine some."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from auditor.blackbox.outputs import ABSENT, OutputColumn, Outputs
from auditor.events.cells import Cells, distinct_values
from auditor.interfaces import Feature

# Beyond this many distinct outputs, a joint category would be seen too seldom to learn anything from.
MOST_JOINT_ATOMS = 512
# Places of a list, in its order.
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
            # Numbered afresh after every place, so that the numbers stay small; only the spellings mean anything.
            pairs, codes = distinct_values(codes * len(kinds) + leaves)
            steps.append((pairs, kinds))
        return OutputColumn(self.name, np.zeros(outputs.size), codes.astype(np.int32), self._spelled(steps))

    def _spelled(self, steps: Sequence[tuple[NDArray[np.int64], list[str]]]) -> tuple[str, ...]:
        """Return each distinct output in words; of each place, ``steps`` have its leaves, and the numbers that end with them."""
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
    """Whether a feature looks at the types of values, by themselves or among others."""
    terms, tables = getattr(feature, "terms", ()), getattr(feature, "tables", ())
    names = [feature.name, *getattr(feature, "places", ()), *(term.place for term in terms)]
    return any(name.startswith("type") for name in names) or any(looks_at_types(part) for part, _ in tables)


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
    """Where the binary representation of a number ends: the exponent of its lowest bit that is set.

    Numbers that were rounded at a larger magnitude end earlier. Such an event speaks of the implementation, not of the
    real-valued mechanism (Mironov 2012). A zero, which has no bits, ends nowhere: it counts as 1100, above all doubles.
    """

    place: str

    @property
    def name(self) -> str:
        return f"{BITS} {self.place}"

    def extract(self, outputs: Outputs) -> OutputColumn:
        """Return the exponent of the lowest set bit of each finite number; atoms and infinities do not change."""
        column = outputs.column(self.place)
        finite = np.isfinite(column.numbers)
        mantissa, exponent = np.frexp(np.where(finite, column.numbers, 0.0))
        # 53 bits make the mantissa an integer; a power of two divides it as often as its lowest set bit says.
        whole = np.ldexp(mantissa, 53).astype(np.int64)
        lowest = np.frexp((whole & -whole).astype(np.float64))[1] - 1
        ends = np.where(whole == 0, 1100.0, exponent - 53.0 + lowest)
        return OutputColumn(self.name, np.where(finite, ends, column.numbers), column.codes, column.atoms)


@dataclass(frozen=True, slots=True)
class Decimals:
    """How many decimals it takes to write a number: 0 for a whole one, UNROUNDED if twelve digits are not enough."""

    place: str

    @property
    def name(self) -> str:
        return f"decimals of {self.place}, as short as it can be written"

    def extract(self, outputs: Outputs) -> OutputColumn:
        """Return the number of decimals of each finite number; atoms and infinities do not change."""
        column = outputs.column(self.place)
        finite = np.isfinite(column.numbers)
        found = np.where(finite, UNROUNDED, column.numbers)
        left = np.flatnonzero(finite)
        for decimals in range(MOST_DIGITS):
            numbers = column.numbers[left]
            # A division by an exact power of ten is rounded once, so that it gives the double that is nearest to the decimal.
            with np.errstate(over="ignore"):
                scaled = numbers * 10.0**decimals
            short = np.rint(scaled) / 10.0**decimals == numbers
            if decimals:
                short &= np.abs(scaled) < 10.0**MOST_DIGITS
            found[left[short]] = decimals
            left = left[~short]
        return OutputColumn(self.name, found, column.codes, column.atoms)

    def varies(self, outputs: Outputs) -> bool:
        """Whether some numbers look rounded, by a part of the outputs: ten values or more are short, and not all alike.

        One double in ten thousand is short by chance. Fewer values are looked at by themselves.
        """
        whole = Outputs(outputs.size, (outputs.column(self.place),))
        # With one output of fifty rounded, chances are 0.6 % that none of these is.
        if not _some_short(whole.columns[0].numbers[:: max(1, outputs.size // 256)]):
            return False
        part = whole[:: max(1, outputs.size // 1_000)]
        numbers, decimals = part.column(self.place), self.extract(part).numbers
        there = numbers.is_finite
        short = np.unique(numbers.numbers[there & (decimals < UNROUNDED)])
        return len(short) >= 10 and len(np.unique(decimals[there])) > 1


def _some_short(numbers: NDArray[np.float64]) -> bool:
    """Return whether some numbers, but not all, may be whole or short. Few others pass, and all short ones do."""
    numbers = numbers[np.isfinite(numbers)]
    is_whole = numbers == np.rint(numbers)
    others = numbers[~is_whole]
    if not (others.size and is_whole.any()):
        with np.errstate(over="ignore", invalid="ignore"):
            digits = others * 10.0 ** (MOST_DIGITS - np.ceil(np.log10(np.abs(others))))
            return bool(np.any(np.abs(digits - np.rint(digits)) < 1e-3))
    return True


# Digits of a number that was rounded, at most, and the value that stands for the decimals of all others.
MOST_DIGITS, UNROUNDED = 12, 17.0

BITS = "exponent of the lowest bit of"


@dataclass(frozen=True, slots=True)
class EvidenceSum:
    """The evidence of several places added up: the log-likelihood ratio where places are independent."""

    tables: tuple[tuple[Feature, Cells], ...]
    name: str = "evidence of all places together"

    def extract(self, outputs: Outputs) -> OutputColumn:
        """Return the sum over features of the log-ratio (nats) learned for the value there."""
        total = np.zeros(outputs.size)
        for feature, cells in self.tables:
            total += cells.look_up(feature.extract(outputs))
        # Sums of the same terms must compare equal in every batch.
        return OutputColumn(self.name, np.round(total, 9) + 0.0)
