"""Frames: tables with columns of different types, missing values, and persons with several rows.

The first pairs have the usual row, rows with one unusual value, and a row of each group: a value of a column with few.
"""

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, TypeVar

import numpy as np

from auditor.errors import InvalidInputError, how_many, require_known, visible
from auditor.neighbours.columns import LARGE_FLOAT, Column
from auditor.neighbours.domains import MOST_CORNERS, require_memory
from auditor.neighbours.frame_forms import form_named
from auditor.neighbours.limits import counts
from auditor.neighbours.numbers import Range, with_value
from auditor.neighbours.pair import Pair, Relation, Row, distinct
from auditor.neighbours.table import TURNED, Move, Rows, Table, size_range

T = TypeVar("T")
# The numbers of rows (or of persons, with the fewest rows each) of the corners, in addition to the fewest and the most.
CORNER_ROWS = (1, 2, 3, 10, 30)
ROW_ORDERS = ("kept", "shuffled")
AT_END, AT_START = (1.0, None), (0.0, None)  # places at the end and at the beginning, as in _Change.at


@dataclass(frozen=True, slots=True)
class _Change:
    """The rows of an added person and, under substitution, of a removed one. With ``swaps``, some are added and others removed."""

    comes: Rows
    goes: Rows
    at: tuple[float, float | None] = AT_END  # the places of the first row and, if rows are spread, of the last row
    swaps: bool = False


@dataclass(eq=False)
class Frame(Table):
    """Frames with named columns.

    Args:
        columns: by name, each a dict such as {"type": "number", "low": 0, "high": 1, "null": True}. The types are
            number, integer, categorical, boolean, date, datetime and text.
        size: [low, high], how many rows a frame may have.
        id: the name of a further column, which holds the owner of each row. Ids are integers from 1 up.
        rows_per_person: [low, high], how many rows a person may have, if there is an id.
        relation: "add_remove" or "substitute".
        unit: what is added, removed or substituted: a "person" with all rows (the default if there is an id), or a "row".
        order: "kept", or "shuffled" if neighbours may have their rows in any order.
        distance: how many rows or persons the data sets of a pair may be apart (group privacy).
        form: how the frame is passed, ``as`` in YAML: rows (a list of dicts), pandas, polars, or lazy (polars).

    Raises InvalidInputError if the arguments contradict each other, or no pair is possible.
    """

    has_names = True
    columns: Mapping[str, dict[str, Any]]
    _: KW_ONLY
    size: Sequence[int] = (0, 20)
    id: str | None = None
    rows_per_person: Sequence[int] | None = None
    relation: str = Relation.ADD_REMOVE
    unit: str | None = None
    order: str = "kept"
    distance: int = 1
    form: str = "rows"

    def __post_init__(self) -> None:
        if not isinstance(self.columns, Mapping):
            raise InvalidInputError(
                f"columns is {visible(repr(self.columns), 200)}; it must be a mapping of columns by name, such as "
                '{"age": {"type": "integer", "low": 0, "high": 99}}'
            )
        if not self.columns and self.id is None:
            raise InvalidInputError("a frame without columns holds nothing; name a column, or an id")
        self._columns = {name: Column.of(name, column) for name, column in self.columns.items()}
        self._set_relation(self.relation, self.distance)
        self._size = size_range("size", self.size, "rows")
        require_memory("size", f"goes to {self._size.high:,}", int(self._size.high) * (len(self.columns) + 1))
        unit = self.unit or ("person" if self.id else "row")
        require_known("unit is", [unit], ("person", "row"))
        require_known("order is", [self.order], ROW_ORDERS)
        if self.id is None and (unit == "person" or self.rows_per_person is not None):
            raise InvalidInputError(
                "`unit: person` and `rows_per_person` need an `id`: the column that says whose row it is"
            )
        if self.id in self._columns:
            raise InvalidInputError(f'"{self.id}" is the id and a column; name the id once, as `id`')
        self._owned, self._by_person = self.id is not None, unit == "person"
        self._each = size_range("rows_per_person", self.rows_per_person or (1, 1), "rows", 1)
        most = int(self._each.high)
        require_memory("rows_per_person", f"goes to {most:,}", most * (1 + len(self._columns)))
        # The number of rows that both sides share. Under substitution, each side also has ``own`` rows of its own.
        own = self.distance * (int(self._each.low) if self._by_person else 1) * (self._relation is Relation.SUBSTITUTE)
        self._shared = Range(max(0, int(self._size.low) - own), max(0, int(self._size.high) - own), True)
        id_column = {self.id: Column("integer")} if self.id else {}
        self._names = [*id_column, *self._columns]
        self._form = form_named(self.form, {**id_column, **self._columns})
        self._values = list(self._columns.values())
        self._usual = tuple(column.usual() for column in self._values)
        self._special, self._kinds = self._special_rows(), self._kind_rows()
        self._groups = self._kind_rows(integers=False)
        self._corners = self._first_pairs()
        if not self._corners:
            raise InvalidInputError(
                f"a frame of {self._size.low} to {self._size.high} rows has no neighbours under {self.relation} of a {unit}; widen "
                "size, rows_per_person, or the values of a column"
            )

    def __str__(self) -> str:
        each = f" of persons with {self._each.low} to {how_many(self._each.high, 'row')} each" if self.id else ""
        differ = "the rows of one person" if self._by_person else "one row"
        if self.distance > 1:
            differ = f"the rows of up to {self.distance} persons" if self._by_person else f"up to {self.distance} rows"
        order = "; rows in any order" if self.order == "shuffled" else ""
        kinds = ", ".join(f"{name} {column.type}" for name, column in self._columns.items())
        return f"{self._size.low:,} to {how_many(self._size.high, 'row')} ({kinds}){each}; neighbours differ in {differ}{order}"

    def limits(self) -> dict[str, Any]:
        columns = [{"name": name, **column.limits()} for name, column in self._columns.items()]
        unit = "person" if self._by_person else "row"
        apart = {"distance": {"high": self.distance}, "relation": str(self._relation), "unit": unit}
        of_person = {"id": self.id, "rows_per_person": counts(self._each)} if self.id else {}
        orders = [order for order in ROW_ORDERS if order in ("kept", self.order)]
        return {"columns": columns, "size": counts(self._size), **of_person, **apart, "orders": orders}

    def _read(self, record: Any) -> Row:
        if not isinstance(record, dict) or list(record) != self._names:
            raise ValueError
        return tuple(record.values())

    def _shown(self, left: Rows, right: Rows) -> Pair:
        named = [[dict(zip(self._names, row, strict=True)) for row in side] for side in (left, right)]
        return Pair(named[0], named[1], self._relation, self._form)

    def _few_rows(self) -> Iterator[Pair | None]:
        """See Table. The first pairs add a person to an empty frame, then to a frame with one other person. At first
        the added person has the most rows, all equal.
        """
        least, each = int(self._shared.low), int(self._each.low)
        alone = [([self._usual] * least, self._changes(row)) for row in self._special]
        both = list(itertools.product(self._groups, repeat=2))
        # A row of each group is added to the usual row, or to a row of its own group; then to rows of all groups.
        near = [(one, other) for one, other in both if one is self._groups[0] or one is other]
        next_to_some = [
            ([one] * (least + n * each), self._changes(other))
            for n, groups in ((1, near), (1, both), (2, both))
            for one, other in groups
        ]
        off_grid = [([self._usual] * least, self._changes(row)) for row in self._off_grid()]
        # One pair of ``alone`` comes first, then one of ``next_to_some``, in which a row is added to an equal row.
        tried = itertools.chain(
            ((base, changes[0]) for base, changes in (alone[0], next_to_some[0], *alone[1:2], *off_grid)),
            ((alone[0][0], change) for change in alone[0][1]),
            ((base, changes[0]) for base, changes in (*alone, *next_to_some[: len(near)])),
            ((base, change) for base, changes in (*alone, *next_to_some) for change in changes),
        )
        return itertools.starmap(self._applied, tried)

    def _first_pairs(self) -> list[Pair]:
        each, groups = int(self._each.low), self._groups
        most = int(self._each.high) * self._by_person * self.distance
        low, high = int(self._shared.low), int(self._size.high)
        sizes = dict.fromkeys((low, 10 * each, high - max(1, most), *(each * n for n in CORNER_ROWS)))
        fits = [n for n in sizes if n in self._shared]
        few = sorted(n for n in fits if n <= low + 2 * each)
        # The number of others in a crowd is prime, since some mechanisms work in blocks.
        crowd = next((each * p for p in (31, 17, 7, 3) if low <= each * p <= high - max(1, most)), low)
        families = (
            self._tried(few[:2], self._special, everywhere=False),
            self._tried([n for n in fits if n not in few], groups[:3], everywhere=True),
            self._tried(few[:2], groups, everywhere=True),
            self._tried(few[2:], self._special, everywhere=False),
        )
        # The families are interleaved, since a small search looks at the beginning of the list only.
        mixed = itertools.chain.from_iterable(itertools.zip_longest(*families))
        plain = self._tried(fits, groups[:1], everywhere=False)
        both = itertools.product((crowd, 10 * each), self._changes(self._usual))
        several = (self._applied([self._usual] * n, change) for n, change in both)
        # The size below each is tried as well, since a mechanism may cap or test the size at a round number.
        near = sorted({each * (size - less) for size in CORNER_ROWS for less in (0, 1)})
        alike = itertools.chain.from_iterable(self._among_equals(n) for n in near if n in self._shared)
        first = itertools.chain(itertools.islice(plain, 1), several, self._among(crowd), alike)
        pairs = distinct(itertools.chain(first, mixed, plain), MOST_CORNERS)
        return distinct([*pairs[:1], *self._one_at_the_other_end(), *pairs[1:]]) if pairs else []

    def _among_equals(self, n: int) -> list[Pair | None]:
        """Return pairs of n usual rows to which a person with a usual row, or with a row of another group, is added."""
        other = self._groups[min(1, len(self._groups) - 1)]
        changes = [replace(self._changes(row)[0], at=at) for row, at in ((self._usual, AT_END), (other, AT_START))]
        return [self._applied([self._usual] * n, change) for change in changes]

    def _among(self, n: int) -> Iterator[Pair | None]:
        """Yield pairs in which a person with the most rows is added to a crowd of n rows.

        All rows of the person are one row: usual, at an end, the crowd's first, or with one unusual value. The crowd's
        rows are one row (usual, at an end, or with all values odd or large), a mix of all groups, or a mix of both ends.
        """
        usual, *ends = self._special[:4]
        each = self._columns.values()
        large = tuple(LARGE_FLOAT if LARGE_FLOAT in column.ordinary() else column.usual() for column in each)
        odd = [column.odd()[:1] for column in each]
        columns = [column.ordinary()[1:3] + some for column, some in zip(each, odd, strict=True)]
        marked = [with_value(usual, place, value) for place, values in enumerate(columns) for value in values]
        all_odd = tuple((some or [value])[0] for some, value in zip(odd, self._usual, strict=True))
        crowds = _distinct_rows([*([row] * n for row in (usual, *ends, all_odd, large)), *self._mixed(n)])
        others = [(base, row) for base in crowds for row in _distinct_rows([usual, *ends, *base[:1]])]
        for pair in itertools.zip_longest(((crowds[0], row) for row in marked), others):
            for base, row in filter(None, pair):
                yield self._applied(base, self._changes(row)[0])

    def _both_ends(self, n: int) -> list[Row]:
        ends = self._special[1:3] or self._special
        return [ends[i % len(ends)] for i in range(n)]

    def _mixed(self, n: int) -> list[list[Row]]:
        """Return two lists of n rows: rows of all groups, and rows of both ends."""
        return [[self._groups[i * len(self._groups) // n] for i in range(n)], self._both_ends(n)]

    def _tried(self, sizes: Sequence[int], rows: Sequence[Row], *, everywhere: bool) -> Iterator[Pair | None]:
        """Yield pairs on frames with few kinds of rows. With ``everywhere``, changes are made at several places."""
        turned = self.order == "shuffled"
        for n, row in itertools.product(sizes, rows):
            alike = [self._usual] * n
            for base in _distinct_rows([alike, *self._mixed(n)]) if everywhere else [alike]:
                for change in self._changes(row):
                    yield self._applied(base, change)
                    for at in (AT_START, (0.5, None), (0.0, 1.0)) if everywhere and n else ():
                        yield self._applied(base, replace(change, at=at))
                    for other in TURNED if turned and n > 1 else ():
                        yield self._applied(base, change, other)
            # A row is added to equal rows, which makes ties.
            yield self._applied([row] * n, self._changes(row)[0])

    def _changes(self, row: Row) -> list[_Change]:
        """Return changes by a person with copies of ``row``, the most and the least allowed, or with different rows."""
        most, least = (int(self._each.high), int(self._each.low)) if self._by_person else (1, 1)
        several = [(row,) * most, (row,) * least]
        if most > 1:
            # The rows are of all kinds, or differ in unusual values, or are of both ends, so that they cancel.
            kinds, special = self._kinds, self._special
            several.append(tuple(kinds[i % len(kinds)] for i in range(most)))
            several.append(tuple(special[-1 - i % len(special)] for i in range(most)))
            several.append(tuple(self._both_ends(most)))
        other = next((r for r in self._special if repr(r) != repr(row)), row)
        changes = [_Change(rows, (other,) * least) for rows in _distinct_rows(several)]
        swapped = [replace(change, swaps=True) for change in changes] if self._grows and self.distance > 1 else []
        return [*changes, *swapped]

    def _applied(self, base: Sequence[Row], change: _Change, turned: int = 0) -> Pair | None:
        """Return the pair that ``distance`` changes make of these rows, owned by persons with the fewest rows each."""
        rows, (at, to) = self._in_persons(base), change.at
        goes = self.distance // 2 if change.swaps else 0 if self._grows else self.distance
        first = round(at * len(rows))
        for _ in range(goes):
            rows[first:first] = self._newly_owned(change.goes, rows)
        units = self._units(rows)
        place = len(self._units(rows[:first]))

        n = len(units)
        if not self._grows:
            moves = [Move("replace", (place % n + 0.5) / n, change.comes, to)] * goes
        else:
            # The place moves on by one unit with each removal.
            moves = [Move("remove", ((place - i) % (n - i) + 0.5) / (n - i)) for i in range(goes)]
            moves += [Move("insert", at, change.comes, to)] * (self.distance - goes)
        return self._pair(rows, tuple(moves), turned)

    def _random_row(self, rng: np.random.Generator) -> Row:
        if rng.random() < 0.25:
            return self._special[rng.integers(len(self._special))]
        return super()._random_row(rng)

    def _special_rows(self) -> list[Row]:
        """Return the usual row, rows of all highest, all lowest and all last values, then rows with one other value."""
        corners = [column.first() for column in self._columns.values()]
        rows = [self._usual, *(tuple(values[i % len(values)] for values in corners) for i in (1, 2, -1))]
        for place, values in enumerate(corners):
            rows += [with_value(self._usual, place, value) for value in values]
        return _distinct_rows(rows)

    def _kind_rows(self, *, integers: bool = True) -> list[Row]:
        """Return a row for each value of columns with few values; with ``integers``, also of small integer ranges."""
        rows = [self._usual]
        for place, column in enumerate(self._columns.values()):
            if integers or column.type != "integer" or column.choices is not None:
                rows += [with_value(self._usual, place, value) for value in column.few()]
        return _distinct_rows(rows)


def _distinct_rows(rows: Iterable[T]) -> list[T]:
    """Keep the first of equal rows, or of equal lists of rows. NaN equals NaN, and 0.0 differs from −0.0."""
    return list({repr(row): row for row in rows}.values())
