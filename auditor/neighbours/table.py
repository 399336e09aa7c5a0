"""The domain of tables of rows, which may have owners, and the neighbours among tables; Records and Frame subclass it.

A pair is made from the rows of its left side by moves. A move adds, removes or replaces a row, or a person with all
rows. So every pair is neighbouring, and the same moves can be made on other rows.
"""

import functools
import itertools
from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, cast

import numpy as np

from auditor.errors import InvalidInputError
from auditor.interfaces import Domain, Values
from auditor.neighbours.domains import MOST_CELLS_OF_DATA, MOST_SIMPLE, retried
from auditor.neighbours.numbers import Range, blocks, with_value
from auditor.neighbours.pair import (
    NO_ROW,
    Lazy,
    Pair,
    Relation,
    Row,
    Slot,
    aligned,
    distinct,
    in_both,
    relation_named,
    same,
)

Rows = tuple[Row, ...]
# Orders of the right side of a pair, if any order is allowed. Any other number above 0 is the seed of a random order.
BACKWARDS, SORTED, FALLING = TURNED = 1, 2, 3
# How many units crowds have, besides the most allowed. Of crowds larger than LARGE_CROWD only the likeliest are made.
CROWD_SIZES = (20, 60, 19, 80, 8, 200, 4, 13, 2)
LARGE_CROWD = 1000
# If common rows are of at most so many kinds, shrinking tries a single row of each kind.
FEW_KINDS = 4
# The most crowds, and the most columns that vary alone in them.
MOST_CROWDS = 600
MOST_AXES = 4


@dataclass(frozen=True, slots=True)
class Move:
    """One person, or one row, is added, removed or replaced. ``at`` is the place, as a share of the table's length.

    ``rows`` are the new rows, without an owner. If ``to`` is given, the new rows are spread from ``at`` to ``to``.
    """

    op: str  # insert | remove | replace
    at: float
    rows: Rows = ()
    to: float | None = None


Moves = tuple[Move, ...]


@dataclass(frozen=True, slots=True)
class Made:
    """The origin of a pair: both sides' rows, the moves if known, and how the right side was reordered (``turned``)."""

    left: Rows
    right: Rows
    moves: Moves = ()
    turned: int = 0


class Table(Domain):
    """Tables with a range of sizes, and their neighbours."""

    # Whether the columns have names. If so, single values are changed as well as whole rows.
    has_names: ClassVar[bool] = False

    distance: int
    order: str = "kept"
    _corners: list[Pair]
    _values: Sequence[Values]
    _size: Range
    _relation: Relation
    _each = Range(1, 1, True)  # how many rows a person has
    _owned = False  # whether each row begins with its owner
    _by_person = False  # whether a move is of a person with all rows, and not of a single row
    _is_single = False  # whether a row is a single value, and not a tuple

    def _set_relation(self, relation: str, distance: int) -> None:
        self._relation = relation_named(relation)
        if not 1 <= distance <= MOST_CELLS_OF_DATA:
            raise InvalidInputError(
                f"distance is {distance}; it must be at least 1, and at most {MOST_CELLS_OF_DATA:,}"
            )

    def corners(self) -> list[Pair]:
        return list(self._corners)

    def simplest(self) -> list[Pair]:
        return list(self._simplest)

    @functools.cached_property
    def _simplest(self) -> list[Pair]:
        return distinct(itertools.islice(self._few_rows(), 4 * MOST_SIMPLE), MOST_SIMPLE)

    @abstractmethod
    def _few_rows(self) -> Iterator[Pair | None]:
        """Yield the pairs of few rows that a reader would try by hand, the simplest first."""

    @property
    def _grows(self) -> bool:
        return self._relation is Relation.ADD_REMOVE

    # --- Rows ---

    @abstractmethod
    def _shown(self, left: Rows, right: Rows) -> Pair:
        """Return the pair of these rows, in the form in which a report shows it and mechanisms receive it."""

    @abstractmethod
    def _read(self, record: Any) -> Row:
        """Return the row of a record from a report. Raises ValueError if the record has another form."""

    def _row(self, values: Iterable[Any]) -> Row:
        """Return the row of these values, without owner."""
        return next(iter(values)) if self._is_single else tuple(values)

    def _values_of(self, row: Row) -> tuple[Any, ...]:
        return (row,) if self._is_single else tuple(row[self._owned :])

    def _unowned(self, row: Row) -> Row:
        return row[1:] if self._owned else row

    def _changed(self, row: Row, values: Iterable[Any]) -> Row:
        """Return the row of the same owner with other values."""
        return (*row[:1], *values) if self._owned else self._row(values)

    def _random_row(self, rng: np.random.Generator) -> Row:
        return self._values[0].draw(rng) if self._is_single else tuple([values.draw(rng) for values in self._values])

    def _in_persons(self, rows: Sequence[Row], first: int = 1) -> list[Row]:
        """Return the rows with owners (if rows have owners), numbered from ``first``, with the fewest rows each."""
        least = int(self._each.low)
        return [(first + i // least, *row) for i, row in enumerate(rows)] if self._owned else list(rows)

    def _in_random_persons(self, rows: Sequence[Row], rng: np.random.Generator) -> list[Row]:
        """Return the rows with owners (if rows have owners) of random numbers of rows, half of the time shuffled."""
        if not self._owned:
            return list(rows)
        owners, n = list[int](), len(rows)
        while (left := n - len(owners)) >= self._each.low:
            owners += [1 + (owners[-1] if owners else 0)] * min(left, int(self._each.draw(rng)))
        if rng.random() < 0.5:
            owners = [owners[i] for i in rng.permutation(len(owners))]
        return [(owner, *row) for owner, row in zip(owners, rows, strict=False)]

    def _holds(self, rows: Rows) -> bool:
        """Whether the number of rows is allowed, in all and for each person."""
        if len(rows) not in self._size:
            return False
        return not self._owned or all(len(unit) in self._each for unit in units_of(rows))

    # --- Pairs ---

    def own(self, left: Any, right: Any) -> Pair | None:
        """See Domain. Shuffled rows are recognised only if both sides have the same order."""
        try:
            one, other = (tuple(map(self._read, side)) for side in (left, right))
        except (TypeError, ValueError):
            return None
        is_allowed = all(map(self._allows, (*one, *other))) and self._are_apart(one, other)
        return self._of(Made(one, other)) if is_allowed else None

    def _allows(self, row: Row) -> bool:
        """Whether each value of a row is allowed in its column, and the owner (if rows have owners) is an id."""
        if self._owned and not (type(row[0]) is int and row[0] >= 1):
            return False
        values = self._values_of(row)
        return len(values) == len(self._values) and all(
            v.has(value) for v, value in zip(self._values, values, strict=True)
        )

    def _are_apart(self, left: Rows, right: Rows) -> bool:
        """Whether at most ``distance`` rows, or persons, differ, and all other rows are equal and in the same order."""
        if not self._by_person:
            if not self._grows and len(left) != len(right):
                return False
            # Rows are compared as text, so that 0.0 differs from −0.0. A row that is replaced keeps its owner.
            slots = aligned([*map(repr, left)], [*map(repr, right)], self._relation)
            keeps = self._grows or not self._owned or [row[0] for row in left] == [row[0] for row in right]
            return keeps and sum(not slot.common for slot in slots) <= self.distance
        one, other = (
            {rows[unit[0]][0]: repr([rows[i] for i in unit]) for unit in units_of(rows)} for rows in (left, right)
        )
        moved = {owner for owner in {**one, **other} if one.get(owner) != other.get(owner)}
        rest = [repr([row for row in rows if row[0] not in moved]) for rows in (left, right)]
        stay = all((owner in one and owner in other) != self._grows for owner in moved)
        return stay and rest[0] == rest[1] and len(moved) <= self.distance

    def _pair(self, base: Iterable[Row], moves: Moves, turned: int = 0) -> Pair | None:
        base = tuple(base)
        moved = self._moved(base, moves)
        return None if moved is None else self._of(Made(base, moved, moves, turned))

    def _of(self, made: Made) -> Pair | None:
        """Return the pair. Return None if its sides are equal, or if a side is not in this domain."""
        left, right = made.left, made.right
        if _equal(left, right) or not (self._holds(left) and self._holds(right)):
            return None
        if made.turned:
            right = reordered(right, made.turned, self._owned)
            if _equal(left, right):
                return None
        shown = self._shown(left, right)
        return Pair(
            shown.left, shown.right, shown.relation, shown.form, shown.grows, made
        )  # in a third of the time of replace

    def _moved(self, base: Rows, moves: Moves) -> Rows | None:
        """Return the rows after the moves; None if there is no row to remove or replace."""
        rows = list(base)
        for i, move in enumerate(moves):
            if move.op == "insert":
                _put(rows, self._newly_owned(move.rows, rows), move.at, move.to)
                continue
            if not rows:
                return None
            # The i-th move is made i units further on, so that moves at one place change different rows, or persons.
            units = self._units(rows)
            unit = units[(min(int(move.at * len(units)), len(units) - 1) + i) % len(units)]
            new = [(rows[unit[0]][0], *row) for row in move.rows] if self._owned else list(move.rows)
            here, spread = (new, []) if move.to is None else ([], new)
            # If there are more new rows than old ones, the further ones follow the last old row.
            rows[unit[-1] + 1 : unit[-1] + 1] = here[len(unit) :]
            for place, row in zip(unit, here, strict=False):
                rows[place] = row
            for place in reversed(unit[len(here) :]):
                del rows[place]
            _put(rows, spread, move.at, move.to)
        return tuple(rows)

    def _units(self, rows: Sequence[Row]) -> Sequence[Sequence[int]]:
        """Return the units that moves change: the places of each person's rows, or of each single row."""
        return units_of(rows) if self._by_person else Lazy(range(len(rows)), lambda i: range(i, i + 1))

    def _newly_owned(self, new: Rows, rows: Sequence[Row]) -> list[Row]:
        """Return new rows with an owner: a new person, or person 1 if single rows move and 1 may have more rows."""
        if not self._owned:
            return list(new)
        owners = Counter(row[0] for row in rows)
        joins = not self._by_person and 0 < owners[1] < self._each.high
        owner = 1 if joins else next(i for i in itertools.count(1) if i not in owners)
        return [(owner, *row) for row in new]

    @retried
    def random(self, rng: np.random.Generator) -> Pair | None:
        n = int(self._size.draw(rng))
        if rng.random() < 0.5:
            few = [self._random_row(rng) for _ in range(2)]
            base = [few[i] for i in rng.integers(2, size=n)]
        else:
            base = [self._random_row(rng) for _ in range(n)]
        owned = self._in_random_persons(base, rng)
        return self._pair(owned, self._random_moves(rng), self._random_turn(rng))

    def _comes(self, at: float, rows: Rows) -> Moves:
        """Return ``distance`` equal moves, by which these rows are added or, under substitute, replace others."""
        return (Move("insert" if self._grows else "replace", at, rows),) * self.distance

    def _random_turn(self, rng: np.random.Generator) -> int:
        return int(rng.integers(2**31)) if self.order == "shuffled" and rng.random() < 0.5 else 0

    def _random_moves(self, rng: np.random.Generator) -> Moves:
        return tuple(self._random_move(rng) for _ in range(self.distance))

    def _random_move(self, rng: np.random.Generator) -> Move:
        ops = ["insert", "remove"] if self._grows else ["replace"]
        op, at, row = ops[rng.integers(len(ops))], float(rng.random()), self._random_row(rng)
        times = int(self._each.draw(rng)) if self._by_person else 1
        if op == "remove":
            return Move(op, at)
        if times == 1:
            return Move(op, at, (row,))
        rows = (row,) * times if rng.random() < 0.5 else (row, *(self._random_row(rng) for _ in range(times - 1)))
        return Move(op, at, rows, float(rng.uniform(at, 1)) if rng.random() < 0.5 else None)

    @retried
    def mutate(self, pair: Pair, rng: np.random.Generator) -> Pair | None:
        made: Made = pair.origin
        base, kind = list(made.left), rng.integers(7 if self.has_names else 5)
        if kind == 0:
            return self._pair(base, self._random_moves(rng), self._random_turn(rng))
        if kind > 4:
            return self._with_value(made, kind == 5, rng)
        at, least = int(rng.integers(len(base) + 1)), int(self._each.low)
        if kind == 1:
            # Insert a run of equal rows, at most as long as the table: a new row, or a copy of a row of the table.
            row, times = self._random_row(rng), int(Range(1, max(1, len(base)), True).draw(rng))
            if base and rng.random() < 0.5:
                row = self._unowned(_one_of(base, rng))
            last = max((row[0] for row in base), default=0) if self._owned else 0
            base[at:at] = self._in_persons([row] * (times + -times % least), last + 1)
        elif base:
            run = slice(at % len(base), at % len(base) + int(Range(1, max(1, len(base) // 2), True).draw(rng)))
            if kind == 2:
                del base[run]
            elif kind == 3:
                like = self._values_of(_one_of(base, rng))
                base[run] = [self._changed(row, like) for row in base[run]]
            else:
                # Each different row is chosen with the same probability, even if one of them occurs many times.
                row = _one_of(base, rng)
                near = (values.near(old, rng) for values, old in zip(self._values, self._values_of(row), strict=True))
                base[base.index(row)] = self._changed(row, near)
        return None if _equal(tuple(base), made.left) else self._pair(base, made.moves, made.turned)

    def _with_value(self, made: Made, alone: bool, rng: np.random.Generator) -> Pair | None:
        """Return the pair with one value changed, in one row (``alone``) or wherever it occurs, in added rows, too."""
        base, new = list(made.left), [row for move in made.moves for row in move.rows]
        rows = [*map(self._unowned, base), *new]
        if not (rows and self._values):
            return None
        place, chosen = int(rng.integers(len(self._values))), int(rng.integers(len(rows)))
        old = rows[chosen][place]
        value = self._values[place].near(old, rng)
        for i, row in enumerate(rows):
            if i == chosen or (not alone and same(row[place], old)):
                rows[i] = with_value(row, place, value)
        base = [self._changed(row, values) for row, values in zip(base, rows, strict=False)]
        coming = iter(rows[len(base) :])
        moves = [replace(move, rows=tuple(next(coming) for _ in move.rows)) for move in made.moves]
        return self._pair(base, tuple(moves), made.turned)

    def between(self, one: Pair, other: Pair) -> Pair | None:
        base, base_of_other = one.origin.left, other.origin.left
        half = (len(base) + len(base_of_other)) // 2
        if half in (len(base), len(base_of_other)):
            return None
        return self._pair(max(base, base_of_other, key=len)[:half], one.origin.moves, one.origin.turned)

    def step(self, pair: Pair, way: int) -> Pair | None:
        made: Made = pair.origin
        if way == -1 or self.distance > 1 or made.turned or not made.moves:
            return None
        [move] = made.moves
        if move.op == "replace":
            # Go to the next row or person that the new rows would change. After the end, start from the beginning.
            rows = made.right
            units = self._units(rows)
            n, place = len(units), min(int(move.at * len(units)), len(units) - 1)
            places = ((place + further) % n for further in range(1, n))
            other = next((i for i in places if not same([self._unowned(rows[j]) for j in units[i]], move.rows)), None)
            if other is None:
                return None
            move = replace(move, at=(other + 0.5) / n)
        return self._pair(made.right, (move,))

    # --- Many pairs that are cheap to compare ---

    def each_value(self) -> Iterator[Pair]:
        usual = [values.usual() for values in self._values]
        alone, least = int(self._size.low), max(int(self._each.low), int(self._size.low))
        columns = [values.few(400) for values in self._values]  # no values of a column with more than 400
        for place, value in _in_turns(columns):
            row = self._row([*usual[:place], value, *usual[place + 1 :]])
            for n in (alone, least + 1):
                yield from self._with_one_more([self._row(usual)] * n, row)

    def crowds(self) -> Iterator[Pair]:
        axes = self._axes() if self._values else []
        each = (itertools.islice(self._crowds_of(edges), MOST_CROWDS // len(axes)) for edges in axes)
        yield from filter(None, itertools.chain.from_iterable(itertools.zip_longest(*each)))

    def _crowds_of(self, edges: Sequence[Row]) -> Iterator[Pair]:
        """Yield crowds of units at one end of a range, with a few at the other end or inside; the likeliest come first.

        What an order statistic or a limit taken from the data leaks depends on the share of these few, and on a second value
        near the other end.
        """
        least, fewest = int(self._each.low), int(self._size.low)
        most = self._most_units
        sizes = [n for n in dict.fromkeys((most, *CROWD_SIZES, most - 1)) if fewest <= n * least and 0 < n <= most]
        places = itertools.product(range(len(sizes)), range(12), range(6), range(3), range(2))
        seen = set[str]()
        for at_size, at_few, inside, comes, end in sorted(places, key=_unlikeliness):
            n, fews = sizes[at_size], _few_of(sizes[at_size])
            low, high, middle, *nearer = edges if end == 0 else [edges[i] for i in (1, 0, 2, 4, 3, 6, 5)]
            if at_few >= len(fews) or (n > LARGE_CROWD and (inside or at_few > 3)):
                continue
            few = fews[at_few]
            others = [[], [nearer[2]] * 2, [nearer[2]] * few, [nearer[0]] * few, [middle] * few, [nearer[1]] * few][
                inside
            ]
            rows = [*[low] * (n - few), *others[:few], *[high] * (few - len(others))]
            row = (high, low, middle)[comes]
            if (key := repr((rows[n - few :], n, low, row))) not in seen:
                seen.add(key)
                yield from self._with_one_more([one for one in rows for _ in range(least)], row)

    def _axes(self) -> list[list[Row]]:
        """Return, for all columns together and for each alone, seven rows with the values of ``edges``."""
        edges, usual = [values.edges() for values in self._values], [values.usual() for values in self._values]
        alone = [[with_value(usual, place, value) for value in column] for place, column in enumerate(edges)]
        rows = [list(zip(*edges, strict=True)), *(alone[:MOST_AXES] if len(edges) > 1 else [])]
        return [[*map(self._row, axis)] for axis in rows]

    def _off_grid(self) -> list[Row]:
        """Return rows of values off the grid of their ranges; other columns have their usual value."""
        columns = [values.off_grid() for values in self._values]
        longest = max(map(len, columns), default=0)
        return [
            self._row(
                (*some, *[values.usual()] * longest)[i] for some, values in zip(columns, self._values, strict=True)
            )
            for i in range(longest)
        ]

    def _one_at_the_other_end(self) -> list[Pair]:
        """Return pairs of ten units at one end and one at the other, which is the worst case of a clipped mean."""
        if not self._values:
            return []
        low, high, *_ = self._axes()[0]
        least = int(self._each.low)
        n = least * max(-(-int(self._size.low) // least), min(10, self._most_units))
        return [pair for many, other in ((low, high), (high, low)) for pair in self._with_one_more([many] * n, other)]

    @property
    def _most_units(self) -> int:
        """The most persons, or rows, of the left side of a pair, if each person has the fewest rows."""
        return int(self._size.high) // int(self._each.low) - self.distance * self._grows

    def _with_one_more(self, rows: Sequence[Row], row: Row) -> Iterator[Pair]:
        """Yield the pair in which the row, or a person with copies of it, is added or replaces the first one."""
        base, times = self._in_persons(rows), int(self._each.low) if self._by_person else 1
        if pair := self._pair(base, self._comes(1.0 if self._grows else 0.0, (row,) * times)):
            yield pair

    # --- The same rows in another order ---

    def rearranged(self, rng: np.random.Generator) -> Sequence[Pair]:
        each = int(self._each.low) if self._by_person else 1
        least = int(self._size.low) + each * self._grows
        n = min(int(self._size.high), max(64, least)) // each
        if self.distance > 1 or self.order == "shuffled" or n < 2 or n * each < least:
            return ()
        rows = self._assorted(n * each, rng)
        units = [tuple(rows[i * each : (i + 1) * each]) for i in range(n)]
        base = tuple((i, *row) if self._owned else row for i, unit in enumerate(units, 1) for row in unit)
        return self._path(base, units, rng.permutation(n).tolist())

    def _assorted(self, n: int, rng: np.random.Generator) -> list[Row]:
        """Return n rows: all values in random order, repeatedly, if the only column has few; else random rows."""
        few = self._values[0].few() if len(self._values) == 1 else []
        if not few:
            return [self._random_row(rng) for _ in range(n)]
        values = [few[i] for _ in range(0, n, len(few)) for i in rng.permutation(len(few))][:n]
        return [self._row([value]) for value in values]

    def _path(self, base: Rows, units: Sequence[Rows], goal: Sequence[int]) -> Sequence[Pair]:
        """Return a path of neighbours from ``base`` to its ``units`` in the order ``goal``, one unit after another."""
        n, numbers = len(units), dict[str, int]()
        # Equal units have the same number: the place of the first of them.
        kinds = [numbers.setdefault(repr(unit), place) for place, unit in enumerate(units)]
        order, moves = kinds.copy(), list[Move]()
        orders = [tuple(order)]
        for place, wanted in enumerate(kinds[unit] for unit in goal):
            if order[place] == wanted:
                continue
            if self._grows:
                old = order.index(wanted, place)
                del order[old]
                moves.append(Move("remove", (old + 0.5) / n))
                orders.append(tuple(order))
                order.insert(place, wanted)
                moves.append(Move("insert", place / max(1, n - 1), units[wanted]))
            else:
                order[place] = wanted
                moves.append(Move("replace", (place + 0.5) / n, units[wanted]))
            orders.append(tuple(order))
        passed = [base]
        # The owner of a new row depends on all rows, so tables with owners are made at once, and others when read.
        for move in moves if self._owned else ():
            moved = self._moved(passed[-1], (move,))
            if moved is None:
                return ()
            passed.append(moved)

        def rows(step: int) -> Rows:
            return passed[step] if self._owned else tuple(row for i in orders[step] for row in units[i])

        def pair(step: int) -> Pair | None:
            return self._of(Made(rows(step), rows(step + 1), (moves[step],)))

        # The size of the table repeats after two steps, so two pairs are checked.
        allowed = all(pair(step) is not None for step in range(min(2, len(moves))))
        return Lazy(range(len(moves)), lambda step: cast(Pair, pair(step))) if allowed else ()

    # --- Simpler pairs ---

    def simpler(self, pair: Pair) -> Iterator[Pair]:
        made: Made = pair.origin or Made(tuple(pair.left), tuple(pair.right))
        sides = made.left, made.right
        align = aligned_by_owner(*sides) if self._by_person else aligned(*sides, self._relation)
        tried = itertools.chain(
            [(align, 0)] if made.turned else [],
            ((slots, made.turned) for slots in itertools.chain(self._fewer(align), self._plainer(align))),
        )
        for slots, turned in tried:
            left, right = _sides(slots)
            if (simple := self._of(Made(left, right, turned=turned))) is not None:
                yield simple

    def _fewer(self, slots: Sequence[Slot]) -> Iterator[Sequence[Slot]]:
        """Yield fewer common rows, or usual ones instead: of many persons at once, of many rows, then single ones; then fewer
        rows of a person who differs.
        """
        common = [i for i, slot in enumerate(slots) if slot.common]
        usual = [values.usual() for values in self._values]
        ways: list[list[Sequence[int]]] = [[(i,) for i in common]]
        if self._owned:
            ways.insert(0, [[common[i] for i in unit] for unit in units_of([slots[i].left for i in common])])
        for units in ways:
            texts = [repr([self._unowned(slots[i].left) for i in unit]) for unit in units]
            for chosen in groups(texts):
                places = {i for number in chosen for i in units[number]}
                yield [slot for i, slot in enumerate(slots) if i not in places]
                # Usual values come before smaller groups, since equal rows make fewer groups.
                yield [
                    in_both(self._changed(slot.left, usual)) if i in places else slot for i, slot in enumerate(slots)
                ]
        if not self._by_person:
            return
        persons, moved = _persons(slots), [i for i, slot in enumerate(slots) if not slot.common]
        for block in blocks([repr(slots[i]) for i in moved]):
            gone = moved[block]
            slot = slots[gone[0]]
            single = [[replace(slot, left=NO_ROW)], [replace(slot, right=NO_ROW)]] if len(gone) == 1 else []
            for instead in [[], *single]:
                # A person without rows would be gone, which would change the number of moves.
                less = [each for i, slot in enumerate(slots) for each in (instead if i in gone else [slot])]
                if _persons(less) == persons:
                    yield less

    def _plainer(self, slots: Sequence[Slot]) -> Iterator[Sequence[Slot]]:
        """Yield the same rows with the ids 1, 2, 3, …, then with a simpler value, in a whole column or in one row."""
        if self._owned:
            owners = dict.fromkeys(row[0] for slot in slots for row in slot.rows)
            names = {owner: i for i, owner in enumerate(owners, start=1)}
            yield [_each_row(slot, lambda row: (names[row[0]], *row[1:])) for slot in slots]
        done: set[str] = set()
        for i, slot in enumerate(slots):
            before, after = slots[:i], slots[i + 1 :]
            for place, values in enumerate(self._values):
                for old in [] if slot.frozen else [self._values_of(row)[place] for row in slot.rows]:
                    if (slot.common or self.has_names) and (key := repr((place, old))) not in done:
                        done.add(key)
                        for value in values.simpler(old):
                            yield [self._replaced(other, place, old, value) for other in slots]
            if slot.common and not (i and slots[i - 1].common and same(slots[i - 1].left, slot.left)):
                yield from ([*before, in_both(row), *after] for row in self._simpler_rows(slot.left))
            if not slot.common and not slot.frozen:
                for row in self._simpler_rows(slot.left):
                    yield [*before, replace(slot, left=row), *after]
                for row in self._simpler_rows(slot.right):
                    yield [*before, replace(slot, right=row), *after]

    def _replaced(self, slot: Slot, place: int, old: Any, value: Any) -> Slot:
        """Return the slot with ``value`` instead of ``old`` at one place; unchanged if the slot may not be changed."""
        if not slot.common and (slot.frozen or not self.has_names):
            return slot

        def changed(row: Row) -> Row:
            values = self._values_of(row)
            if not same(values[place], old):
                return row
            return self._changed(row, with_value(values, place, value))

        return _each_row(slot, changed)

    def _simpler_rows(self, row: Row) -> list[Row]:
        values = () if row is NO_ROW else self._values_of(row)
        simpler = ((place, value) for place, old in enumerate(values) for value in self._values[place].simpler(old))
        return [self._changed(row, with_value(values, place, value)) for place, value in simpler]


def _few_of(n: int) -> list[int]:
    """Return how many of ``n`` differ from the crowd: shares of it, and one more, and the smallest numbers."""
    few, half, tenth, quarter = (round(share * n) for share in (0.05, 0.5, 0.1, 0.25))
    numbers = (1, few, half, few + 1, half + 1, tenth, tenth + 1, 0, 3, 2, quarter, quarter + 1)
    return [number for number in dict.fromkeys(numbers) if number < n]


def _unlikeliness(places: tuple[int, ...]) -> tuple[int, tuple[int, ...]]:
    return sum(place * weight for place, weight in zip(places, (2, 1, 2, 4, 2), strict=True)), places


def size_range(name: str, ends: Sequence[int], what: str, least: int = 0) -> Range:
    """Return a range of numbers of rows. Raises InvalidInputError unless the ends are integers from ``least`` up."""
    counts = Range.of(name, ends)
    if counts.low < least or not counts.has_integer_ends:
        raise InvalidInputError(
            f"{name} goes from {counts.low!r} to {counts.high!r}; both ends must be integers of at least {least}, "
            f"since {name} counts {what}"
        )
    return counts


def _each_row(slot: Slot, changed: Callable[[Row], Row]) -> Slot:
    left, right = (row if row is NO_ROW else changed(row) for row in (slot.left, slot.right))
    return replace(slot, left=left, right=right)


def _sides(slots: Sequence[Slot]) -> tuple[Rows, Rows]:
    left, right = ((slot.left for slot in slots), (slot.right for slot in slots))
    return tuple(row for row in left if row is not NO_ROW), tuple(row for row in right if row is not NO_ROW)


def _persons(slots: Sequence[Slot]) -> list[set[Any]]:
    """Return the set of owners of each side."""
    return [{row[0] for row in side} for side in _sides(slots)]


def _equal(left: Rows, right: Rows) -> bool:
    """Whether rows are equal and have the same text: 0.0 differs from −0.0."""
    return left == right and repr(left) == repr(right)


def _one_of(rows: Sequence[Row], rng: np.random.Generator) -> Row:
    """Return a random row; each different row has the same probability."""
    different = list({repr(row): row for row in rows}.values())
    return different[rng.integers(len(different))]


def _put(rows: list[Row], new: Sequence[Row], at: float, to: float | None) -> None:
    """Insert rows at the place ``at`` or, if ``to`` is given, spread from ``at`` to ``to``."""
    n, way = len(rows), 0.0 if to is None else to - at
    for i, row in enumerate(new):
        rows.insert(round((at + way * i / max(1, len(new) - 1)) * n) + i, row)


def reordered(rows: Rows, how: int, owned: bool) -> Rows:
    """Return the rows backwards, sorted by their text without owners (rising or falling), or shuffled with a seed."""
    if how == BACKWARDS:
        return rows[::-1]
    if how in (SORTED, FALLING):
        return tuple(sorted(rows, key=lambda row: repr(row[owned:]), reverse=how == FALLING))
    return tuple(rows[i] for i in np.random.default_rng(how).permutation(len(rows)))


def _in_turns(columns: Sequence[Sequence[Any]]) -> Iterator[tuple[int, Any]]:
    """Yield (column, value): the first value of every column, then the second values, and so on."""
    for number in range(max(map(len, columns), default=0)):
        yield from ((place, values[number]) for place, values in enumerate(columns) if number < len(values))


def aligned_by_owner(left: Sequence[Row], right: Sequence[Row]) -> list[Slot]:
    """Align the rows of persons. If the rows of a person differ between the sides, none of these rows counts as common.
    The rows of all other persons have the same order on both sides.
    """
    sides = [{rows[unit[0]][0]: [rows[i] for i in unit] for unit in units_of(rows)} for rows in (left, right)]
    differ = {owner for owner in (*sides[0], *sides[1]) if repr(sides[0].get(owner)) != repr(sides[1].get(owner))}
    slots, i, j = list[Slot](), 0, 0
    while i < len(left) or j < len(right):
        a = left[i] if i < len(left) and left[i][0] in differ else NO_ROW
        b = right[j] if j < len(right) and right[j][0] in differ else NO_ROW
        common = a is b  # both are NO_ROW, so neither owner differs
        slots.append(in_both(left[i]) if common else Slot(a, b))
        i, j = i + (common or a is not NO_ROW), j + (common or b is not NO_ROW)
    return slots


def units_of(rows: Sequence[Row]) -> list[list[int]]:
    """Return the places of each owner's rows. Owners are in the order of their first rows."""
    rows_of: dict[Any, list[int]] = {}
    for i, row in enumerate(rows):
        rows_of.setdefault(row[0], []).append(i)
    return list(rows_of.values())


def groups(texts: Sequence[str]) -> Iterator[Sequence[int]]:
    """Yield groups of units to leave out, given as texts, the boldest first: all; all but one of each kind, or of the same few
    kinds; then their blocks.
    """
    if not texts:
        return
    yield range(len(texts))
    of_kind: dict[str, list[int]] = {}
    for i, text in enumerate(texts):
        of_kind.setdefault(text, []).append(i)
    if len(of_kind) < len(texts):
        if 1 < len(of_kind) <= FEW_KINDS:
            for kind in sorted(of_kind.values(), key=len):
                yield [i for i in range(len(texts)) if i != kind[0]]
        yield sorted(i for kind in of_kind.values() for i in kind[1:])
    for block in itertools.islice(blocks(texts), 1, None):
        yield range(len(texts))[block]
