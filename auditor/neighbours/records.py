"""Tables of records: bounded numbers or choices, in one column or several, with a range of sizes.

The order of records counts, because some mechanisms depend on it. A record is added, removed or substituted at the
first, the middle or the last place, or at a random place.
"""

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np

from auditor.errors import InvalidInputError, how_many, require_known, visible
from auditor.interfaces import CLOSELY, FEW_VALUES, Values
from auditor.neighbours.domains import MOST_CORNERS, require_memory
from auditor.neighbours.limits import any_of, counts, ends
from auditor.neighbours.numbers import Number, Range, arrangements, spelling, with_value
from auditor.neighbours.pair import Arrays, Pair, Relation, Row, distinct
from auditor.neighbours.table import Move, Moves, Rows, Table, size_range

# The sizes of the corners: small sizes, near which most mechanisms change their behaviour, and powers of ten.
CORNER_SIZES = (0, 1, 2, 3, 5, 10, 20, 50, 100, 1000, 10_000)
RECORD_CONTAINERS = ("array", "list")
NEEDED = (
    "a records domain needs either record: {low, high}, or record: {choices}, or columns: [{low, high}, {choices}, ...], "
    "and not both"
)


@dataclass(frozen=True, slots=True)
class RecordValues(Values):
    """The possible values at one place of a record: ``marks`` to try first, and the ``range`` of numbers, if any."""

    marks: tuple[Any, ...]
    range: Range | None = None

    @classmethod
    def of_column(cls, given: Mapping[str, Any]) -> "RecordValues":
        """Return the values of one column, given as {"low": …, "high": …, "integer": …} or {"choices": …}."""
        require_known("a column of records has the key", given, ("low", "high", "integer", "choices"))
        ends = None if "choices" in given else (given.get("low"), given.get("high"))
        return cls.of(ends, given.get("choices"), bool(given.get("integer")))  # type: ignore[arg-type]

    @classmethod
    def of(cls, record: Sequence[Number] | None, choices: Sequence[Any] | None, integer: bool) -> "RecordValues":
        """Return the values between two ends, or the choices. Raises InvalidInputError if they are invalid."""
        if (record is None) == (choices is None):
            if isinstance(record, int | float) and isinstance(choices, int | float):
                raise InvalidInputError(
                    f"the ends of a record are one argument: write Records(({record!r}, {choices!r}), size=(low, high))"
                )
            raise InvalidInputError(NEEDED)
        if record is not None:
            if isinstance(record, list | tuple) and len(record) != 2:
                raise InvalidInputError(
                    f"record is {visible(repr(record), 200)}; it must be the two ends, [low, high]; give single values by `choices`"
                )
            numbers = Range.of("record", record, integer)
            if integer and not numbers.has_integer_ends:
                raise InvalidInputError(f"record goes from {numbers.low} to {numbers.high}; both must be integers here")
            return cls(tuple(numbers.ladder()), numbers)
        if not choices:
            raise InvalidInputError("choices are empty; a record needs a value")
        for choice in choices:
            if isinstance(choice, list | tuple | dict | set | np.ndarray):
                raise InvalidInputError(
                    f"choices hold {choice!r}; each must be a single value; `columns` says how many make a record"
                )
        return cls(tuple(choices))

    def limits(self) -> dict[str, Any]:
        return {"choices": any_of(self.marks)} if self.range is None else ends(self.range)

    def __str__(self) -> str:
        if self.range is None:
            return f"one of {len(self.marks)} choices"
        return f"{'integers' if self.range.integer else 'numbers'} from {self.range.low:g} to {self.range.high:g}"

    def few(self, most: int = FEW_VALUES) -> list[Any]:
        return list(self.marks) if self.range is None else self.range.few(most)

    def edges(self) -> list[Any]:
        return Values.edges(self) if self.range is None else self.range.edges()

    def ordered(self) -> list[Any]:
        """Return all values if there are few, else the values to try first; both ends, 1 and a value off the grid come first."""
        values = self.few() or self.marks
        return list(dict.fromkeys([values[0], values[-1], *self.off_grid(), *values]))

    def off_grid(self) -> list[Any]:
        return self.range.off_grid() if self.range is not None and self.range.integer else []

    def ends(self) -> list[Any]:
        """Return the lowest and the highest value, and 1 between them if the range has 1 and negative numbers."""
        values = [self.marks[0], self.marks[-1]]
        if self.range is not None and self.range.low < 0 < self.range.high:
            unit = 1 if self.range.integer else 1.0
            values.insert(1, unit if self.range.high >= 1 else values[1])
        return list(dict.fromkeys(values))

    def first(self) -> list[Any]:
        return list(self.marks)

    def usual(self) -> Any:
        return min(self.marks, key=spelling)

    def draw(self, rng: np.random.Generator) -> Any:
        if self.range is None or rng.random() < 0.5:
            return self.marks[rng.integers(len(self.marks))]
        return self.range.draw(rng)

    def near(self, value: Any, rng: np.random.Generator) -> Any:
        return self.draw(rng) if self.range is None else self.range.near(value, rng)

    def simpler(self, value: Any) -> list[Any]:
        if self.range is not None:
            return self.range.simpler(value)
        return sorted((v for v in self.marks if spelling(v) < spelling(value)), key=spelling)

    def has(self, value: Any) -> bool:
        return self.range.has(value) if self.range is not None else repr(value) in map(repr, self.marks)


@dataclass(eq=False)
class Records(Table):
    """Data sets of bounded records.

    Args:
        record: [low, high], the ends of the range of a record's numbers.
        choices: instead of record, the possible values of a record.
        integer: whether the numbers are integers.
        size: [low, high], how many records a data set may have.
        columns: how many numbers or choices a record has; by default a record is a single value. Or, instead of record
            and choices, a list of the columns: {"low": 0, "high": 1, "integer": False} or {"choices": [...]} for each.
        relation: "add_remove" or "substitute".
        distance: how many such steps the data sets of a pair may be apart (group privacy).
        container: what a Python mechanism receives. "array": a NumPy array of shape (n,) or (n, columns), of objects if
            a column has other values than numbers. "list": a list of n values, or of n lists. A program receives JSON.

    Raises InvalidInputError for empty ranges.
    """

    record: Sequence[Number] | None = None
    choices: Sequence[Any] | None = None
    _: KW_ONLY
    size: Sequence[int]
    integer: bool = False
    columns: int | Sequence[Mapping[str, Any]] | None = None
    relation: str = Relation.ADD_REMOVE
    distance: int = 1
    container: str = "array"

    def __post_init__(self) -> None:
        self._is_single = self.columns is None
        self._columns = self._columns_given()
        self._values = self._columns
        self._size = size_range("size", self.size, "records")
        low, high = self._size.low, self._size.high
        self._set_relation(self.relation, self.distance)
        require_memory("size", f"goes to {high:,}", int(high) * len(self._columns))
        require_known("container is", [self.container], RECORD_CONTAINERS)
        self._corners = self._list_corners()
        if not self._corners:
            raise InvalidInputError(
                f"a records domain of {low} to {high} records has no pairs under {self.relation} at distance {self.distance}; "
                "widen size, or the values of a record"
                + (", or choose the relation substitute" if self.relation == Relation.ADD_REMOVE and high else "")
            )

    def _columns_given(self) -> list[RecordValues]:
        given = self.columns
        if given is None or isinstance(given, int):
            if given is not None and given < 1:
                raise InvalidInputError(f"columns is {given}; it must be at least 1")
            require_memory("columns", f"is {given or 1:,}", given or 1)
            return [RecordValues.of(self.record, self.choices, self.integer)] * (given or 1)
        if self.record is not None or self.choices is not None or not given:
            raise InvalidInputError(NEEDED)
        return [RecordValues.of_column(column) for column in given]

    def __str__(self) -> str:
        each = ", ".join(dict.fromkeys(map(str, self._columns)))
        if not self._is_single:
            alike = ", each" if isinstance(self.columns, int) else ":"
            each = f"{how_many(len(self._columns), 'value')}{alike} {each}"
        apart = f"; up to {self.distance} changes apart" if self.distance > 1 else ""
        return f"{self._size.low:,} to {how_many(self._size.high, 'record')} ({each}){apart}"

    def limits(self) -> dict[str, Any]:
        columns = {f"column {number}": column.limits() for number, column in enumerate(self._columns, 1)}
        record = self._columns[0].limits() if self._is_single else {"columns": len(self._columns), **columns}
        apart = {"relation": str(self._relation), "distance": {"high": self.distance}}
        return {"record": record, "size": counts(self._size), **apart}

    def _read(self, record: Any) -> Row:
        if not self._is_single and not isinstance(record, list):
            raise ValueError
        return self._row([record] if self._is_single else record)

    def all_records(self, most: int) -> list[Row]:
        """Return all possible records if there are at most ``most``, else none."""
        values = [column.few(most) for column in self._columns]
        some = itertools.product(*values) if math.prod(map(len, values)) <= most else ()
        return [self._row(record) for record in some]

    def _shown(self, left: Rows, right: Rows, container: str | None = None) -> Pair:
        if (container or self.container) == "list":
            # Tuples become lists, as in JSON, so that pairs read back from a report are equal to these.
            first, other = ([list(r) if isinstance(r, tuple) else r for r in side] for side in (left, right))
            return Pair(first, other, self._relation)
        marks = itertools.chain.from_iterable(column.marks for column in self._columns)
        numbers = isinstance(self.columns, int | None) or all(isinstance(mark, bool | int | float) for mark in marks)
        form = Arrays(() if self._is_single else (len(self._columns),), "" if numbers else "object")
        return Pair(left, right, self._relation, form)

    def as_received(self, left: Rows, right: Rows) -> Pair:
        """Return the pair of these records, in the container in which mechanisms receive them."""
        return self._shown(left, right)

    def contained_otherwise(self, pair: Pair) -> Pair:
        """Return the same pair in the other container: as arrays instead of lists, or as lists instead of arrays."""
        return self._shown(pair.left, pair.right, "array" if self.container == "list" else "list")

    # --- The pairs to try first ---

    def _list_corners(self) -> list[Pair]:
        # The data sets are patterns of records at the ends of the range, changed at the first, middle and last place.
        low, high = int(self._size.low), int(self._size.high)
        sizes = sorted({n for n in (*CORNER_SIZES, low + 1, high - 1, low, high) if n in self._size})
        moves = self._corner_moves()
        # Small sizes of all patterns come first. The pairs of the largest size are always kept.
        largest = self._distinct((base, move) for base in self._patterns(sizes[-1]) for move in moves)
        smaller = self._distinct((base, move) for n in sizes[:-1] for base in self._patterns(n) for move in moves)
        # The size below each is tried as well, since a mechanism may cap or test the size at a round number.
        marks = [n for n in CORNER_SIZES if n in self._size]
        near = sorted({*marks, *(n - 1 for n in marks if n - 1 in self._size)})
        first = self._distinct(itertools.chain.from_iterable(map(self._among_equals, near)))
        unlike = self._distinct(self._one_unlike_the_usual(high)) if high > 0 and not self._grows else []
        most = MOST_CORNERS + len(unlike)
        some = distinct([*first, *unlike, *smaller], max(1, most - len(largest)))
        return distinct([*some, *largest], most)

    def _few_rows(self) -> Iterator[Pair | None]:
        tried = itertools.starmap(self._pair, self._simple_inserts() if self._grows else self._simple_replacements())
        return itertools.chain(itertools.islice(tried, CLOSELY), self._one_at_the_other_end(), tried)

    def _among_equals(self, n: int) -> list[tuple[Rows, Moves]]:
        """Return n equal records with moves that add an equal or another record (or that substitute another record)."""
        low, high = self._ends()[0], self._ends()[-1]
        tried = [(low, low, 1.0), (low, high, 0.0), (high, high, 1.0)] if self._grows else [(low, high, 0.0)]
        return [((one,) * n, self._comes(at, (other,))) for one, other, at in tried]

    def _one_unlike_the_usual(self, n: int) -> Iterator[tuple[Rows, Moves]]:
        """Yield n − 1 usual records and one record that changes between two of the simplest records."""
        usual = self._row(values.usual() for values in self._columns)
        for one, other in itertools.permutations(self._simple_records()[: CLOSELY + 2], 2):
            yield (one, *(usual,) * (n - 1)), self._comes(0.0, (other,))

    def _distinct(self, tried: Iterable[tuple[Rows, Moves]]) -> list[Pair]:
        return list({pair.key(): pair for pair in filter(None, itertools.starmap(self._pair, tried))}.values())

    def _simple_inserts(self) -> Iterator[tuple[Rows, Moves]]:
        """Yield few records and one that is added: each record alone, then next to equal ones, then next to others."""
        records, least = self._simple_records(), int(self._size.low)
        alone = [((records[0],) * least, self._comes(1.0, (record,))) for record in records]
        next_to_equals = [((record,) * (least + 1), self._comes(1.0, (record,))) for record in records]
        yield from [alone[0], next_to_equals[0], *alone[1:], *next_to_equals[1:]]
        for n, (one, other) in itertools.product((least + 1, least + 2), itertools.product(records, repeat=2)):
            yield from (((one,) * n, self._comes(at, (other,))) for at in (1.0, 0.0))

    def _simple_replacements(self) -> Iterator[tuple[Rows, Moves]]:
        """Yield few equal records, one of which changes: from an end to any, from each to the next, then any to any."""
        records, least = self._simple_records(), max(1, int(self._size.low), self.distance)
        ends = itertools.product(records[:2], records)
        for one, other in itertools.chain(ends, itertools.pairwise(records), itertools.product(records, repeat=2)):
            yield (one,) * least, self._comes(0.0, (other,))

    def _rows(self, columns: Sequence[Sequence[Any]]) -> list[Row]:
        """Return the row of all first values, of all second values, ...; a short column repeats its last value."""
        longest = max(map(len, columns))
        return [self._row(values[min(i, len(values) - 1)] for values in columns) for i in range(longest)]

    def _simple_records(self) -> list[Row]:
        """Return the records to try first, the ends first. With several columns, also records with one high value."""
        columns = [values.ordered() for values in self._columns]
        rows = self._rows(columns)
        if len(columns) == 1:
            return rows
        low, high = rows[0], rows[min(1, len(rows) - 1)]
        uneven = [with_value(low, i, value) for i, value in enumerate(high)]
        return [*rows[:2], *uneven, *rows[2:]]

    def _patterns(self, n: int) -> list[Rows]:
        """Return data sets of n records: all equal, alternating, in two blocks, with one outlier at the end, rising."""
        ends = self._ends()
        steps = self._columns[0].marks if self._is_single else ends
        rising = [tuple(steps[i * len(steps) // n] for i in range(n))] if n else []
        return [*((end,) * n for end in ends), *arrangements(ends[0], ends[-1], n)[2:8], *rising]

    def _ends(self) -> list[Row]:
        return self._rows([values.ends() for values in self._columns])

    def _corner_moves(self) -> list[Moves]:
        moves = [self._comes(at, (end,)) for end in self._ends() for at in (1.0, 0.0, 0.5)]
        if self._grows and self.distance > 1:
            # In these moves, some records are added and some removed.
            removals = (Move("remove", 0.0),) * (self.distance // 2)
            moves += [(*move[len(removals) :], *removals) for move in moves[:2]]
        return moves
