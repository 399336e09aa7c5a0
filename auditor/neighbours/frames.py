"""Frames: tables with columns of different types, missing values, and persons with several rows.

A pair is a row of slots. Each holds a row of both sides, of one side, or two different ones. Every change of a pair changes its
slots, and ``_pair`` makes sure that the two sides are still neighbours.
"""

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any

import numpy as np

from auditor.errors import InvalidInputError, did_you_mean
from auditor.neighbours.columns import Column
from auditor.neighbours.domains import MOST_CORNERS, MOST_NUMBERS, MOST_SIMPLE, Domain, require_memory, retried
from auditor.neighbours.numbers import Range
from auditor.neighbours.pair import Pair, Relation, relation_named
from auditor.neighbours.slots import (
    TURNED,
    PersonChange,
    Row,
    Slot,
    distinct_rows,
    fewer,
    group_rows,
    last_owner,
    moves_apart,
    plainer,
    rearranging,
    reordered,
    special_rows,
    units_of,
    with_owner,
    with_value,
)
from auditor.neighbours.tables import form_named

_Rows = Sequence[Row]
# Rows of the corners, in addition to the fewest and the most; or persons, who have the fewest rows each.
SIZES = (1, 2, 3, 10, 30)
UNITS = ("person", "row")
ORDERS = ("kept", "shuffled")
# Rows of a frame whose order is changed.
MOST_REARRANGED = 64
FIRST, MIDDLE, SPREAD = (0.0, 0.0), (0.5, 0.5), (0.0, 1.0)


@dataclass(eq=False)
class Frame(Domain):
    """Frames with named columns.

    Args:
        columns: by name, each a dict such as {"type": "number", "low": 0, "high": 1, "null": True}. The types are number,
            integer, categorical, boolean, date, datetime and text.
        size: [low, high], how many rows a frame may have.
        id: the name of one more column, which says whose row it is. Ids are integers from 1 up.
        rows_per_person: [low, high], how many rows a person may have, if there is an id.
        relation: "add_remove" or "substitute".
        unit: what is added, removed or substituted: a "person" with all rows (the default if there is an id), or a "row".
        order: "kept", or "shuffled" if neighbours may have their rows in any order.
        distance: how many rows or persons apart the pairs may be (group privacy).
        form: how the frame is passed: rows (a list of dicts), columns (a dict of arrays), pandas, polars, lazy
            (polars), arrow, or csv (text). ``as`` in YAML.

    Raises InvalidInputError if these do not go together, or no pair is possible.
    """

    columns: Mapping[str, Column | dict[str, Any]]
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
        if not self.columns and self.id is None:
            raise InvalidInputError("a frame without columns holds nothing; name a column, or an id")
        self._columns = {name: Column.of(name, column) for name, column in self.columns.items()}
        self._relation = relation_named(self.relation)
        self._size = _counts("size", self.size, 0)
        require_memory("size", f"goes to {self._size.high:,}", int(self._size.high) * (len(self.columns) + 1))
        unit = self.unit or ("person" if self.id else "row")
        for name, value, allowed in (("unit", unit, UNITS), ("order", self.order, ORDERS)):
            if value not in allowed:
                raise InvalidInputError(f'{name} is "{value}"; {did_you_mean(str(value), allowed)}')
        if self.id is None and (unit == "person" or self.rows_per_person is not None):
            raise InvalidInputError(
                "`unit: person` and `rows_per_person` need an `id`: the column that says whose row it is"
            )
        if self.id in self._columns:
            raise InvalidInputError(f'"{self.id}" is the id and a column; name the id once, as `id`')
        if not 1 <= self.distance <= MOST_NUMBERS:
            raise InvalidInputError(f"distance is {self.distance}; it must be at least 1, and at most {MOST_NUMBERS:,}")
        self._by_person = unit == "person"
        self._each = _counts("rows_per_person", self.rows_per_person or (1, 1), 1)
        # Rows that both sides have: where rows are substituted, each side has some of its own.
        own = self.distance * (int(self._each.low) if self._by_person else 1) * (self._relation is Relation.SUBSTITUTE)
        self._shared = Range(max(0, int(self._size.low) - own), max(0, int(self._size.high) - own), True)
        held = {self.id: Column("integer")} if self.id else {}
        self._names = [*held, *self._columns]
        self._form = form_named(self.form, {**held, **self._columns})
        self._usual = tuple(column.usual() for column in self._columns.values())
        self._special, self._groups = special_rows(self._columns.values()), group_rows(self._columns.values())
        self._corners = self._first_pairs()
        if not self._corners:
            raise InvalidInputError(
                f"a frame of {self._size.low} to {self._size.high} rows has no neighbours under {self.relation} of a {unit}; widen "
                "size, rows_per_person, or the values of a column"
            )

    def __str__(self) -> str:
        each = f" of persons with {self._each.low} to {self._each.high} rows each" if self.id else ""
        differ = "the rows of one person" if self._by_person else "one row"
        if self.distance > 1:
            differ = f"the rows of up to {self.distance} persons" if self._by_person else f"up to {self.distance} rows"
        order = "; rows in any order" if self.order == "shuffled" else ""
        kinds = ", ".join(f"{name} {column.type}" for name, column in self._columns.items())
        return f"{self._size.low:,} to {self._size.high:,} rows ({kinds}){each}; neighbours differ in {differ}{order}"

    def corners(self) -> list[Pair]:
        return list(self._corners)

    def simplest(self) -> list[Pair]:
        """See Domain. There are few rows. One person has usual rows, rows that differ, rows in all groups, or one unusual value."""
        least, each = int(self._shared.low), int(self._each.low)
        plain = [self._changes(row) for row in self._special]
        alone = [
            *plain[0],
            *(changes for several in plain[1:] for changes in several[:1]),
            *itertools.chain(*plain[1:]),
        ]
        tried = [([self._usual] * least, changes) for changes in alone]
        for n, (one, other) in itertools.product((1, 2), itertools.product(self._groups, repeat=2)):
            tried += [([one] * (least + n * each), changes) for changes in self._changes(other)]
        pairs = filter(None, (self._applied(base, changes) for base, changes in tried[: 4 * MOST_SIMPLE]))
        return list(itertools.islice(_distinct(pairs), MOST_SIMPLE))

    def rearranged(self, rng: np.random.Generator) -> Sequence[Pair]:
        each = int(self._each.low) if self._by_person else 1
        persons = min(int(self._size.high), max(MOST_REARRANGED, int(self._size.low) + each)) // each
        if self.distance > 1 or self.order == "shuffled" or persons < 2:
            return ()
        units = [[self._owned(self._draw(rng), 1 + i) for _ in range(each)] for i in range(persons)]
        goal = [units[i] for i in rng.permutation(persons)]
        steps = rearranging(units, goal, self._relation, bool(self.id))
        pairs = [self._pair(slots) for slots in steps]
        return [pair for pair in pairs if pair is not None] if all(pairs) else ()

    def _first_pairs(self) -> list[Pair]:
        each, groups = int(self._each.low), self._groups
        most = int(self._each.high) * self._by_person * self.distance
        low, high = int(self._shared.low), int(self._size.high)
        fits = [
            n
            for n in dict.fromkeys((low, 10 * each, high - max(1, most), *(each * n for n in SIZES)))
            if n in self._shared
        ]
        few = sorted(n for n in fits if n <= low + 2 * each)
        families = (
            self._tried(few[:2], self._special, everywhere=False),
            self._tried([n for n in fits if n not in few], groups[:3], everywhere=True),
            self._tried(few[:2], groups, everywhere=True),
            self._tried(few[2:], self._special, everywhere=False),
        )
        # The beginning of the list is a mixture, since a small search looks at that alone.
        mixed = itertools.chain.from_iterable(itertools.zip_longest(*families))
        tried = filter(None, itertools.chain(self._tried(fits, groups[:1], everywhere=False), mixed))
        return list(itertools.islice(_distinct(tried), MOST_CORNERS))

    def _tried(self, sizes: Sequence[int], rows: Sequence[Row], *, everywhere: bool) -> Iterator[Pair | None]:
        """Yield pairs on frames of few kinds of rows; ``everywhere`` in several places of them."""
        turned = self.order == "shuffled"
        for n, row in itertools.product(sizes, rows):
            alike, spread = [self._usual] * n, [self._groups[i * len(self._groups) // n] for i in range(n)]
            ends = [self._special[1:3][i % 2] for i in range(n)] if len(self._special) > 2 else alike
            for base in distinct_rows([alike, spread, ends]) if everywhere else [alike]:
                for changes in self._changes(row):
                    yield self._applied(base, changes)
                    for at in (FIRST, MIDDLE, SPREAD) if everywhere and n else ():
                        yield self._applied(base, [replace(change, at=at) for change in changes])
                    for other in TURNED if turned and n > 1 else ():
                        yield self._applied(base, changes, other)
            # The same row again: ties.
            yield self._applied([row] * n, self._changes(row)[0])

    def _changes(self, row: Row) -> list[list[PersonChange]]:
        """Return what persons may have, as many as differ: the row once, as often as allowed, and different rows."""
        most, least = (int(self._each.high), int(self._each.low)) if self._by_person else (1, 1)
        several = [(row,) * most, (row,) * least]
        if most > 1:
            # Rows of all groups, and rows of one group.
            groups, special = self._groups, self._special
            several.append(tuple(groups[i % len(groups)] for i in range(most)))
            several.append(tuple(special[-1 - i % len(special)] for i in range(most)))
        other = next((r for r in self._special if repr(r) != repr(row)), row)
        grows = self._relation is Relation.ADD_REMOVE
        changes = [PersonChange(() if grows else (other,) * least, rows) for rows in distinct_rows(several)]
        many = [[change] * self.distance for change in changes]
        if grows and self.distance > 1:
            goes = PersonChange((other,) * least, ())
            many += [[goes if i % 2 else change for i in range(self.distance)] for change in changes]
        return many

    # --- From rows and a change to a pair ---

    def _applied(self, base: _Rows, changes: Sequence[PersonChange], turned: int = 0) -> Pair | None:
        """Return the pair of these rows and some changes. The base is of persons with the fewest rows, one after the other."""
        block = int(self._each.low)
        common = [self._owned(row, 1 + i // block) for i, row in enumerate(base)]
        owner = 1 + -(-len(base) // block)
        if not self._by_person and base and self._each.high > 1:
            owner = 1  # a row more of a person who has one
        slots = [Slot(row, row) for row in common]
        for person, change in enumerate(changes, start=owner):
            whose = person if self._by_person else owner
            changed = [
                Slot(None if a is None else self._owned(a, whose), None if b is None else self._owned(b, whose))
                for a, b in itertools.zip_longest(change.left, change.right)
            ]
            (first, last), before = change.at, len(slots)
            for i, slot in enumerate(changed):
                at = first + (last - first) * i / max(1, len(changed) - 1)
                slots.insert(round(at * before) + i, slot)
        return self._pair(slots, turned)

    def _owned(self, row: Row, owner: int) -> Row:
        return (owner, *row) if self.id else row

    def _pair(self, slots: Iterable[Slot], turned: int = 0) -> Pair | None:
        """Return the pair, or None if its sides are not neighbours of this domain.

        ``turned`` says how the right side is ordered: 0 as it is, one of TURNED, else at random with this seed.
        """
        slots = tuple(slots)
        left = [slot.left for slot in slots if slot.left is not None]
        right = [slot.right for slot in slots if slot.right is not None]
        if turned and self.order == "shuffled":
            right = reordered(right, turned, bool(self.id))
        if repr(left) == repr(right) or not all(
            len(side) in self._size and self._each_has_few(side) for side in (left, right)
        ):
            return None
        if not 1 <= moves_apart(slots, self._relation, self._by_person) <= self.distance:
            return None
        named = [[dict(zip(self._names, row, strict=True)) for row in side] for side in (left, right)]
        return Pair(named[0], named[1], self._relation, self._form, origin=(slots, turned))

    def _each_has_few(self, rows: _Rows) -> bool:
        """Whether each person has as many rows as allowed."""
        if not self.id:
            return True
        times: dict[Any, int] = {}
        for row in rows:
            times[row[0]] = times.get(row[0], 0) + 1
        return all(n in self._each for n in times.values())

    # --- Random pairs, and changes of pairs ---

    @retried
    def random(self, rng: np.random.Generator) -> Pair | None:
        n = int(self._shared.draw(rng))
        n -= n % int(self._each.low)
        kinds = [self._draw(rng) for _ in range(2 if rng.random() < 0.5 else max(1, n))]
        base = [kinds[i] for i in rng.integers(len(kinds), size=n)]
        pair = self._applied(base, self._random_changes(rng), self._random_turn(rng))
        return pair if pair is None or not self.id else self._regrouped(pair, rng)

    def _regrouped(self, pair: Pair, rng: np.random.Generator) -> Pair:
        """Return the pair with some persons made one, as far as they may have as many rows."""
        slots, turned = pair.origin
        most = int(self._each.high)
        owners = list(dict.fromkeys(slot.left[0] for slot in slots if slot.common))
        if most == 1 or len(owners) < 2 or rng.random() < 0.3:
            return pair
        joined = {owner: owners[i // max(1, most // int(self._each.low))] for i, owner in enumerate(owners)}
        moved = [Slot(row, row) if (row := with_owner(slot.left, joined)) and slot.common else slot for slot in slots]
        order = [i for i, slot in enumerate(slots) if slot.common]
        shuffled = dict(zip(order, rng.permutation(order), strict=True))
        return self._pair([moved[shuffled.get(i, i)] for i in range(len(moved))], turned) or pair

    def _random_turn(self, rng: np.random.Generator) -> int:
        return int(rng.integers(2**31)) if self.order == "shuffled" and rng.random() < 0.5 else 0

    def _random_changes(self, rng: np.random.Generator) -> list[PersonChange]:
        return [self._random_change(rng) for _ in range(self.distance)]

    def _random_change(self, rng: np.random.Generator) -> PersonChange:
        a, b = (self._random_rows(rng) for _ in range(2))
        if self._relation is Relation.ADD_REMOVE:
            a, b = ((), b) if rng.random() < 0.5 else (a, ())
        first, last = (float(x) for x in rng.random(2))
        return PersonChange(a, b, (min(first, last), max(first, last)))

    def _random_rows(self, rng: np.random.Generator) -> tuple[Row, ...]:
        times = int(self._each.draw(rng)) if self._by_person else 1
        row = self._draw(rng)
        return (row,) * times if rng.random() < 0.5 else tuple(self._draw(rng) for _ in range(times))

    def _draw(self, rng: np.random.Generator) -> Row:
        if rng.random() < 0.25:
            special = self._special
            return special[rng.integers(len(special))]
        return tuple(column.draw(rng) for column in self._columns.values())

    @retried
    def mutate(self, pair: Pair, rng: np.random.Generator) -> Pair | None:
        slots, turned = list(pair.origin[0]), pair.origin[1]
        kind, at = int(rng.integers(5)), int(rng.integers(len(slots)))
        if kind == 0:  # another change on the same rows
            base = [slot.left[bool(self.id) :] for slot in slots if slot.common]
            return self._applied(base, self._random_changes(rng), self._random_turn(rng))
        if kind == 1 and slots[at].common:  # more rows like one
            times = int(Range(1, max(1, len(slots)), True).draw(rng))
            fresh = 1 + last_owner(slots, bool(self.id))
            copies = [slots[at].left[bool(self.id) :]] * times
            owned = [self._owned(row, fresh + i // int(self._each.low)) for i, row in enumerate(copies)]
            return self._pair([*slots[:at], *(Slot(row, row) for row in owned), *slots[at:]], turned)
        if kind == 2:  # fewer rows
            times = int(Range(1, max(1, len(slots) // 2), True).draw(rng))
            return self._pair(
                [slot for i, slot in enumerate(slots) if not (at <= i < at + times and slot.common)], turned
            )
        if not self._columns:
            return None
        place = int(rng.integers(len(self._columns)))
        column, where = [*self._columns.values()][place], place + bool(self.id)
        row = slots[at].right if slots[at].right is not None else slots[at].left
        value = column.near(row[where], rng)
        if kind == 3:  # one value; of a row that differs, on one side
            return self._pair([*slots[:at], with_value(slots[at], where, value), *slots[at + 1 :]], turned)
        # The same value wherever it stands.
        same = [repr(row[where]) == repr((slot.right or slot.left)[where]) for slot in slots]
        return self._pair(
            [with_value(s, where, value) if equal else s for s, equal in zip(slots, same, strict=True)], turned
        )

    def between(self, one: Pair, other: Pair) -> Pair | None:
        more, fewer = sorted((one, other), key=lambda pair: -len(pair.origin[0]))
        slots, turned = more.origin
        surplus = (len(slots) - len(fewer.origin[0])) // 2
        if not surplus:
            return None
        common = [i for i, slot in enumerate(slots) if slot.common][::-1]
        gone = set(common[:surplus])
        return self._pair([slot for i, slot in enumerate(slots) if i not in gone], turned)

    def step(self, pair: Pair, way: int) -> Pair | None:
        slots, turned = pair.origin
        if way == -1 or turned or self.distance > 1:
            return None
        rows = [slot.right for slot in slots if slot.right is not None]
        new = [slot.right for slot in slots if not slot.common and slot.right is not None]
        base = [Slot(row, row) for row in rows]
        if not new:
            return None
        if self._relation is Relation.ADD_REMOVE:
            owner = {row[0]: 1 + last_owner(slots, bool(self.id)) for row in new} if self._by_person else {}
            return self._pair([*base, *(Slot(None, with_owner(row, owner)) for row in new)])
        # The next row, or person, that is not yet like the new one.
        wanted = [row[bool(self.id) :] for row in new]
        for unit in units_of(rows, self._by_person):
            if repr([rows[i][bool(self.id) :] for i in unit]) != repr(wanted):
                owner_of = rows[unit[0]][:1] if self.id else ()
                changed = {i: Slot(rows[i], (*owner_of, *row)) for i, row in zip(unit, wanted, strict=False)}
                changed |= {i: Slot(rows[i], None) for i in unit[len(wanted) :]}
                added = [Slot(None, (*owner_of, *row)) for row in wanted[len(unit) :]]
                return self._pair([*(changed.get(i, slot) for i, slot in enumerate(base)), *added])
        return None

    # --- Simpler pairs ---

    def simpler(self, pair: Pair) -> Iterator[Pair]:
        slots, turned = pair.origin
        tried = itertools.chain(
            [(slots, 0)] if turned else [],
            ((simple, turned) for simple in fewer(slots, self._usual, bool(self.id))),
            ((simple, turned) for simple in plainer(slots, [*self._columns.values()], bool(self.id))),
        )
        yield from filter(None, itertools.starmap(self._pair, tried))


def _counts(name: str, ends: Sequence[int], least: int) -> Range:
    counts = Range.of(name, ends)
    if counts.low < least or not counts.has_integer_ends:
        raise InvalidInputError(
            f"{name} goes from {counts.low!r} to {counts.high!r}; it counts rows, an integer from {least} up"
        )
    return counts


def _distinct(pairs: Iterable[Pair]) -> Iterator[Pair]:
    """Yield the first of equal pairs."""
    seen: set[str] = set()
    for pair in pairs:
        if (key := pair.key()) not in seen:
            seen.add(key)
            yield pair
