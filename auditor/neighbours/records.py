"""Data sets of records: bounded numbers or choices, in one column or several, of any size in a range.

The order of records counts, because some mechanisms depend on it: a record is added, removed or substituted at the
first, the middle or the last place, or anywhere.
"""

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any

import numpy as np

from auditor.errors import InvalidInputError, did_you_mean
from auditor.neighbours.domains import MOST_CORNERS, MOST_NUMBERS, MOST_SIMPLE, Domain, require_memory, retried
from auditor.neighbours.numbers import Number, Range, one_changed, spelling
from auditor.neighbours.pair import Arrays, Pair, Relation, distinct, relation_named, same
from auditor.neighbours.record_alignment import NO_RECORD, Record, RecordSlot, aligned, blocks, record_in_both
from auditor.neighbours.record_moves import Move, moved_by

# Sizes of the corners: small ones, where most edges are, and powers of ten.
SIZES = (0, 1, 2, 3, 5, 10, 20, 50, 100, 1000, 10_000)
CONTAINERS = ("array", "list")
# Up to this number of values, each is tried as the record that differs.
FEW_VALUES = 128
# Records in a data set whose order is changed.
MOST_REARRANGED = 64


@dataclass(eq=False)
class Records(Domain):
    """Data sets of bounded records.

    Args:
        record: [low, high], the ends of the numbers a record may be.
        choices: instead, the values a record may be.
        integer: whether the numbers are integers.
        size: [low, high], how many records a data set may have.
        columns: how many numbers or choices a record has; without it a data set is a vector of single ones.
        relation: "add_remove" or "substitute".
        distance: how many such steps apart the pairs may be (group privacy).
        container: what a Python mechanism receives: "array", a NumPy array of shape (n,) or (n, columns); or "list", a list of
            n values, or of n lists of ``columns`` values each. A program receives JSON either way.

    Raises InvalidInputError for empty ranges.
    """

    record: Sequence[Number] | None = None
    choices: Sequence[Any] | None = None
    _: KW_ONLY
    size: Sequence[int]
    integer: bool = False
    columns: int | None = None
    relation: str = Relation.ADD_REMOVE
    distance: int = 1
    container: str = "array"

    def __post_init__(self) -> None:
        record, choices, integer, columns = self.record, self.choices, self.integer, self.columns
        if (record is None) == (choices is None):
            raise InvalidInputError(
                "a records domain needs either record: {low, high} or record: {choices}, and not both"
            )
        self._range = Range.of("record", record, integer) if record is not None else None
        if integer and self._range is not None and not self._range.has_integer_ends:
            raise InvalidInputError(
                f"record goes from {self._range.low} to {self._range.high}; both must be integers here"
            )
        self._choices = self._range.ladder() if self._range is not None else list(choices or ())
        if not self._choices:
            raise InvalidInputError("choices are empty; a record needs a value")
        for choice in self._choices:
            if isinstance(choice, list | tuple | dict | set | np.ndarray):
                raise InvalidInputError(
                    f"choices hold {choice!r}; each must be a single value; `columns` says how many make a record"
                )
        self._size = Range.of("size", self.size)
        low, high = self._size.low, self._size.high
        if low < 0 or not self._size.has_integer_ends:
            raise InvalidInputError(f"size goes from {low!r} to {high!r}; it counts records, an integer from 0 up")
        if columns is not None and columns < 1:
            raise InvalidInputError(f"columns is {columns}; it must be at least 1")
        self._relation = relation_named(self.relation)
        if not 1 <= self.distance <= MOST_NUMBERS:
            raise InvalidInputError(f"distance is {self.distance}; it must be at least 1, and at most {MOST_NUMBERS:,}")
        require_memory("size", f"goes to {high:,}", int(high) * (columns or 1))
        if self.container not in CONTAINERS:
            raise InvalidInputError(f'container is "{self.container}"; {did_you_mean(str(self.container), CONTAINERS)}')
        self._corners = self._list_corners()
        if not self._corners:
            raise InvalidInputError(
                f"a records domain of {low} to {high} records has no pairs under {self.relation} at distance {self.distance}; "
                "widen size, or the values of a record"
            )

    def __str__(self) -> str:
        values = (
            f"{'integers' if self.integer else 'numbers'} from {self._range.low:g} to {self._range.high:g}"
            if self._range is not None
            else f"one of {len(self._choices)} choices"
        )
        each = f"{self.columns} values, each {values}" if self.columns else values
        apart = f"; up to {self.distance} changes apart" if self.distance > 1 else ""
        return f"{self._size.low:,} to {self._size.high:,} records ({each}){apart}"

    def all_values(self) -> list[Any] | None:
        """Return all values that a number of a record may have; None if these are not integers or choices."""
        if self._range is None:
            return list(self._choices)
        return list(range(int(self._range.low), int(self._range.high) + 1)) if self.integer else None

    def corners(self) -> list[Pair]:
        return list(self._corners)

    def _list_corners(self) -> list[Pair]:
        # Records at the ends of their range in several patterns, changed at the first, middle and last place.
        low, high = int(self._size.low), int(self._size.high)
        sizes = sorted({n for n in (*SIZES, low + 1, high - 1, low, high) if n in self._size})
        moves = self._corner_moves()
        # Small sizes of every pattern come before large ones of any, but for the largest, which is not to be missed.
        largest = self._distinct((base, move) for base in self._patterns(sizes[-1]) for move in moves)
        smaller = self._distinct((base, move) for n in sizes[:-1] for base in self._patterns(n) for move in moves)
        return distinct([*smaller[: max(1, MOST_CORNERS - len(largest))], *largest])[:MOST_CORNERS]

    def simplest(self) -> list[Pair]:
        tried = self._simple_inserts() if self._relation is Relation.ADD_REMOVE else self._simple_replacements()
        return self._distinct(itertools.islice(tried, 4 * MOST_SIMPLE))[:MOST_SIMPLE]

    def _distinct(self, tried: Iterable[tuple[tuple[Record, ...], tuple[Move, ...]]]) -> list[Pair]:
        return list({pair.key(): pair for pair in filter(None, itertools.starmap(self._pair, tried))}.values())

    def _simple_inserts(self) -> Iterator[tuple[tuple[Record, ...], tuple[Move, ...]]]:
        """Yield few records, and one more: first each value alone, then next to its equals, then two that differ."""
        records, least = self._simple_records(), int(self._size.low)

        def insert(record: Record, at: float = 1.0) -> tuple[Move, ...]:
            return (Move("insert", at, record),) * self.distance

        for n in dict.fromkeys((least, least + 1)):
            yield from (((records[0] if n == least else record,) * n, insert(record)) for record in records)
        for n, (one, other) in itertools.product((least + 1, least + 2), itertools.product(records, repeat=2)):
            yield from (((one,) * n, insert(other, at)) for at in (1.0, 0.0))

    def _simple_replacements(self) -> Iterator[tuple[tuple[Record, ...], tuple[Move, ...]]]:
        """Yield few equal records, one of which is replaced by each value; next to one another, and all by all."""
        records, least = self._simple_records(), max(1, int(self._size.low), self.distance)
        ends = itertools.product(records[:2], records)
        for one, other in itertools.chain(ends, itertools.pairwise(records), itertools.product(records, repeat=2)):
            yield (one,) * least, (Move("replace", 0.0, other),) * self.distance

    def _simple_records(self) -> list[Record]:
        """Return the values of a record where they are few, the ends first; else those worth trying."""
        few = self._range.few(FEW_VALUES) if self._range is not None else self._choices
        values = few or self._choices
        ordered = list(dict.fromkeys([values[0], values[-1], *values]))
        if self.columns is None or self.columns == 1:
            return [self._alike(value) for value in ordered]
        uneven = one_changed(self._alike(ordered[0]), lambda value: [ordered[1]])
        return [self._alike(ordered[0]), self._alike(ordered[1]), *uneven, *map(self._alike, ordered[2:])]

    def rearranged(self, rng: np.random.Generator) -> Sequence[Pair]:
        low, high = int(self._size.low), int(self._size.high)
        grows = self._relation is Relation.ADD_REMOVE
        n = min(high, max(MOST_REARRANGED, low + grows))
        if self.distance > 1 or n < max(2, low + grows):
            return ()
        values = self._range.few(FEW_VALUES) if self._range is not None else self._choices
        if self.columns is None and values:
            # Each value once, as far as there is room for them.
            records = [values[i] for start in range(0, n, len(values)) for i in rng.permutation(len(values))][:n]
        else:
            records = [self._random_record(rng) for _ in range(n)]
        return self._path(tuple(records), [records[i] for i in rng.permutation(n)], grows)

    def _path(self, base: tuple[Record, ...], goal: Sequence[Record], grows: bool) -> list[Pair]:
        """Return neighbours from one data set to another order of it: record by record, each put in its place."""
        steps, n = list[Pair](), len(base)
        for place, record in enumerate(goal):
            if same(base[place], record):
                continue
            moves = [Move("replace", (place + 0.5) / n, record)]
            if grows:
                old = next(i for i in range(place, n) if same(base[i], record))
                moves = [Move("remove", (old + 0.5) / n), Move("insert", place / max(1, n - 1), record)]
            for move in moves:
                pair = self._pair(base, (move,))
                if pair is None:
                    return []
                steps.append(pair)
                base = tuple(pair.right)
        return steps

    def step(self, pair: Pair, way: int) -> Pair | None:
        base, moves = pair.origin
        if way == -1 or len(moves) > 1:
            return None
        [move] = moves
        if move.op == "replace":
            # The next record of another value, round the end.
            n, place = len(base), min(int(move.at * len(base)), len(base) - 1)
            places = ((place + i) % n for i in range(1, n))
            other = next((i for i in places if not same(pair.right[i], move.record)), None)
            if other is None:
                return None
            move = replace(move, at=(other + 0.5) / n)
        return self._pair(pair.right, (move,))

    @retried
    def random(self, rng: np.random.Generator) -> Pair | None:
        n = int(self._size.draw(rng))
        if rng.random() < 0.5:
            few = [self._random_record(rng) for _ in range(2)]
            base = tuple(few[i] for i in rng.integers(2, size=n))
        else:
            base = tuple(self._random_record(rng) for _ in range(n))
        return self._pair(base, self._random_moves(rng))

    @retried
    def mutate(self, pair: Pair, rng: np.random.Generator) -> Pair | None:
        base, moves = list(pair.origin[0]), pair.origin[1]
        kind = rng.integers(4)
        if kind == 0:
            return self._pair(tuple(base), self._random_moves(rng))
        at = int(rng.integers(len(base) + 1))
        if kind == 1:
            # Insert a run of equal records, at most as long as the data set.
            base[at:at] = [self._random_record(rng)] * int(Range(1, max(1, len(base)), True).draw(rng))
        elif kind == 2:
            del base[at : at + int(Range(1, max(1, len(base) // 2), True).draw(rng))]
        elif base:
            base[at % len(base)] = self._near_record(base[at % len(base)], rng)
        return self._pair(tuple(base), moves)

    def between(self, one: Pair, other: Pair) -> Pair | None:
        (base, moves), (base_of_other, _) = one.origin, other.origin
        half = (len(base) + len(base_of_other)) // 2
        if half in (len(base), len(base_of_other)):
            return None
        return self._pair(max(base, base_of_other, key=len)[:half], moves)

    def _patterns(self, n: int) -> list[tuple[Record, ...]]:
        """List data sets of n records: all alike, alternating, in two blocks, one unlike the others, rising."""
        ends = self._ends()
        alike = [(end,) * n for end in ends]
        low, high = ends[0], ends[-1]
        alternating = [tuple((low, high)[i % 2] for i in range(n)), tuple((high, low)[i % 2] for i in range(n))]
        blocks = [(low,) * (n // 2) + (high,) * (n - n // 2), (high,) * (n // 2) + (low,) * (n - n // 2)]
        outlier = [(low,) * (n - 1) + (high,), (high,) * (n - 1) + (low,)] if n > 2 else []
        choices = self._choices if self.columns is None else ends
        rising = [tuple(choices[i * len(choices) // n] for i in range(n))] if n else []
        return [*alike, *alternating, *blocks, *outlier, *rising]

    def _ends(self) -> list[Record]:
        """Return the lowest and the highest record, and what lies next to zero or in the middle."""
        values: list[Any] = [self._choices[0], self._choices[-1]]
        if self._range is not None and self._range.low < 0 < self._range.high:
            one = 1 if self.integer else 1.0
            values.insert(1, one if self._range.high >= 1 else values[1])
        return [self._alike(value) for value in dict.fromkeys(values)]

    def _corner_moves(self) -> list[tuple[Move, ...]]:
        op = "insert" if self._relation is Relation.ADD_REMOVE else "replace"
        single = [Move(op, at, end) for end in self._ends() for at in (1.0, 0.0, 0.5)]
        moves = [(move,) * self.distance for move in single]
        if op == "insert" and self.distance > 1:
            # Some added and some removed.
            removals = (Move("remove", 0.0),) * (self.distance // 2)
            moves += [(move,) * (self.distance - len(removals)) + removals for move in single[:2]]
        return moves

    def _random_moves(self, rng: np.random.Generator) -> tuple[Move, ...]:
        ops = ["insert", "remove"] if self._relation is Relation.ADD_REMOVE else ["replace"]
        return tuple(
            Move(ops[rng.integers(len(ops))], float(rng.random()), self._random_record(rng))
            for _ in range(self.distance)
        )

    def _pair(self, base: tuple[Record, ...], moves: tuple[Move, ...]) -> Pair | None:
        moved = moved_by(base, moves)
        if moved is None or moved == base or not all(len(side) in self._size for side in (base, moved)):
            return None
        return self._contained(base, moved, (base, moves))

    def _contained(
        self, left: Sequence[Record], right: Sequence[Record], origin: Any = None, container: str | None = None
    ) -> Pair:
        if (container or self.container) == "list":
            # As JSON holds them, so that pairs read back from a report are the same.
            one, other = ([list(r) if isinstance(r, tuple) else r for r in side] for side in (left, right))
            return Pair(one, other, self._relation, origin=origin)
        form = Arrays(() if self.columns is None else (self.columns,))
        return Pair(tuple(left), tuple(right), self._relation, form, origin=origin)

    def contained_otherwise(self, pair: Pair) -> Pair:
        """Return the same pair in the other container: in arrays instead of lists, or in lists."""
        other = "array" if self.container == "list" else "list"
        return self._contained(pair.left, pair.right, container=other)

    def _alike(self, value: Any) -> Record:
        return value if self.columns is None else (value,) * self.columns

    def _random_record(self, rng: np.random.Generator) -> Record:
        if self.columns is None:
            return self._random_value(rng)
        return tuple(self._random_value(rng) for _ in range(self.columns))

    def _random_value(self, rng: np.random.Generator) -> Any:
        if self._range is None or rng.random() < 0.5:
            return self._choices[rng.integers(len(self._choices))]
        return self._range.draw(rng)

    def _near_record(self, record: Record, rng: np.random.Generator) -> Record:
        if self._range is None:
            return self._random_record(rng)
        if self.columns is None:
            return self._range.near(record, rng)
        return tuple(self._range.near(value, rng) for value in record)

    def simpler(self, pair: Pair) -> Iterator[Pair]:
        # Fewer common records or simpler ones, many before few. Common records are changed on both sides alike.
        slots = aligned(pair.left, pair.right, self._relation)
        common = [i for i, slot in enumerate(slots) if slot.common]
        simplest = record_in_both(self._alike(min(self._choices, key=spelling)))
        for block in blocks([repr(slots[i].left) for i in common]):
            chosen = set(common[block])
            yield from self._pair_of([slot for i, slot in enumerate(slots) if i not in chosen])
            # Before smaller blocks are left out: equal records make fewer blocks.
            yield from self._pair_of([simplest if i in chosen else slot for i, slot in enumerate(slots)])
        done: set[str] = set()
        for i, slot in enumerate(slots):
            before, after = slots[:i], slots[i + 1 :]
            records = self._simpler_records(slot.left) if not slot.frozen else []
            if slot.common and repr(slot.left) not in done:
                done.add(repr(slot.left))
                alike = [other.common and same(other.left, slot.left) for other in slots]
                for record in records:
                    changed = zip(slots, alike, strict=True)
                    yield from self._pair_of([record_in_both(record) if equal else other for other, equal in changed])
            if slot.common and not (i and slots[i - 1].common and same(slots[i - 1].left, slot.left)):
                for record in records:
                    yield from self._pair_of([*before, record_in_both(record), *after])
            if not slot.common and not slot.frozen:
                options = [replace(slot, left=record) for record in records]
                options += [replace(slot, right=record) for record in self._simpler_records(slot.right)]
                for option in options:
                    yield from self._pair_of([*before, option, *after])

    def _simpler_records(self, record: Record) -> list[Record]:
        if record is NO_RECORD:
            return []
        return self._simpler_values(record) if self.columns is None else [*one_changed(record, self._simpler_values)]

    def _simpler_values(self, value: Any) -> list[Any]:
        if self._range is not None:
            return self._range.simpler(value)
        return sorted((v for v in self._choices if spelling(v) < spelling(value)), key=spelling)

    def _pair_of(self, slots: Sequence[RecordSlot]) -> Iterator[Pair]:
        left = [slot.left for slot in slots if slot.left is not NO_RECORD]
        right = [slot.right for slot in slots if slot.right is not NO_RECORD]
        if not same(left, right) and all(len(side) in self._size for side in (left, right)):
            yield self._contained(left, right)
