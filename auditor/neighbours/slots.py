"""A pair of frames as a row of slots: which rows are on both sides, and which on one."""

import math
import operator
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np

from auditor.neighbours.columns import Column
from auditor.neighbours.pair import Relation
from auditor.neighbours.record_alignment import blocks

Row = tuple[Any, ...]
T = TypeVar("T")
# How the right side of a pair is ordered, where any order is allowed; other numbers are seeds.
BACKWARDS, SORTED, FALLING = TURNED = 1, 2, 3


@dataclass(frozen=True, slots=True)
class Slot:
    """A row on either side, or on one of them."""

    left: Row | None
    right: Row | None

    @property
    def common(self) -> bool:
        """Whether both sides have the same row."""
        return repr(self.left) == repr(self.right)


Slots = tuple[Slot, ...]
SIDES = (operator.attrgetter("left"), operator.attrgetter("right"))


@dataclass(frozen=True, slots=True)
class PersonChange:
    """What one person has on the left and on the right, without the id. On one side it may be nothing."""

    left: tuple[Row, ...]
    right: tuple[Row, ...]
    at: tuple[float, float] = (1.0, 1.0)  # where the first and the last row lie, as parts of the way through the frame


def distinct_rows(rows: Iterable[T]) -> list[T]:
    """Keep the first of equal rows, or lists of rows, at its place; NaN equals NaN, and 0.0 is not −0.0."""
    return list({repr(row): row for row in rows}.values())


def moves_apart(slots: Sequence[Slot], relation: Relation, by_person: bool) -> float:
    """Return how many persons, or rows, come, go or change from the left side to the right.

    Under add_remove what changes goes and comes again, which are two moves. Under substitute what goes makes room for what comes:
    ∞ where they are not equally many. With persons, a row begins with its owner.
    """
    changed = [slot for slot in slots if not slot.common]
    if by_person:
        gone, come = ({row[0] for slot in changed if (row := side(slot)) is not None} for side in SIDES)
        stay = {slot.left[0] for slot in slots if slot.common and slot.left is not None}
        both = len(gone & come | (gone | come) & stay)
        goes, comes = len(gone - come - stay), len(come - gone - stay)
    else:
        both = sum(slot.left is not None and slot.right is not None for slot in changed)
        goes, comes = (sum(side(slot) is not None for slot in changed) - both for side in SIDES)
    if relation is Relation.ADD_REMOVE:
        return goes + comes + 2 * both
    return comes + both if goes == comes else math.inf


def special_rows(columns: Iterable[Column]) -> list[Row]:
    """Return rows worth trying: the usual one, all lowest and highest, then those with one unusual value."""
    corners = [column.corners() for column in columns]
    usual = tuple(values[0] for values in corners)
    rows = [usual, *(tuple(values[i % len(values)] for values in corners) for i in (1, 2, -1))]
    for place, values in enumerate(corners):
        rows += [(*usual[:place], value, *usual[place + 1 :]) for value in values]
    return distinct_rows(rows)


def group_rows(columns: Iterable[Column]) -> list[Row]:
    """Return a row for each value of the columns that have few."""
    columns = list(columns)
    usual = tuple(column.usual() for column in columns)
    found = [usual]
    for place, column in enumerate(columns):
        if column.choices is not None or column.type == "boolean":
            found += [(*usual[:place], value, *usual[place + 1 :]) for value in column.corners()]
    return distinct_rows(found)


def units_of(rows: Sequence[Row], by_person: bool) -> list[list[int]]:
    """Return the places of each person's rows, or of each row."""
    if not by_person:
        return [[i] for i in range(len(rows))]
    found: dict[Any, list[int]] = {}
    for i, row in enumerate(rows):
        found.setdefault(row[0], []).append(i)
    return list(found.values())


def reordered(rows: Sequence[Row], how: int, owned: bool) -> list[Row]:
    """Return the rows backwards, sorted by how they are written without their owners (or falling), or at random with a seed."""
    if how == BACKWARDS:
        return list(rows[::-1])
    if how in (SORTED, FALLING):
        return sorted(rows, key=lambda row: repr(row[owned:]), reverse=how == FALLING)
    return [rows[i] for i in np.random.default_rng(how).permutation(len(rows))]


def last_owner(slots: Iterable[Slot], owned: bool) -> int:
    """Return the largest id; 0 if rows have none."""
    rows = [row for slot in slots for row in (slot.left, slot.right) if row is not None]
    return max((row[0] for row in rows), default=0) if owned else 0


def rearranging(
    units: Sequence[Sequence[Row]], goal: Sequence[Sequence[Row]], relation: Relation, owned: bool
) -> Iterator[list[Slot]]:
    """Yield the neighbours on a path from rows to the same in another order, person by person.

    Under add_remove a person leaves and comes at another place. Under substitute the persons stay, and their rows change places.
    """
    now = list(units)
    for place, wanted in enumerate(goal):
        if relation is Relation.ADD_REMOVE:
            old = next(i for i in range(place, len(now)) if now[i] is wanted)
            if old == place:
                continue
            for at, gone in ((old, True), (place, False)):
                if gone:
                    del now[at]
                moved = [Slot(row, None) if gone else Slot(None, row) for row in wanted]
                yield [*_all_common(now[:at]), *moved, *_all_common(now[at:])]
            now.insert(place, wanted)
            continue
        new = [(*row[:owned], *other[owned:]) for row, other in zip(now[place], wanted, strict=True)]
        if repr(new) != repr(now[place]):
            changed = [Slot(row, other) for row, other in zip(now[place], new, strict=True)]
            yield [*_all_common(now[:place]), *changed, *_all_common(now[place + 1 :])]
            now[place] = new


def _all_common(units: Iterable[Sequence[Row]]) -> list[Slot]:
    return [in_both(row) for unit in units for row in unit]


def in_both(row: Row) -> Slot:
    """Return the slot of a row that both sides have."""
    return Slot(row, row)


def with_owner(row: Row | None, names: Mapping[Any, Any]) -> Row | None:
    """Return the row with the owner renamed."""
    return row if row is None else (names.get(row[0], row[0]), *row[1:])


def with_value(slot: Slot, where: int, value: Any) -> Slot:
    """Return the slot with a value at one place: on both sides of a common one, else on the right or the only side."""
    row = slot.right if slot.right is not None else slot.left
    assert row is not None  # a slot has a row
    changed = (*row[:where], value, *row[where + 1 :])
    if slot.common:
        return in_both(changed)
    return replace(slot, right=changed) if slot.right is not None else replace(slot, left=changed)


def replaced(slot: Slot, where: int, spelled: str, value: Any) -> Slot:
    """Return the slot with a value instead of another, given by its spelling, on either side."""
    rows = [
        row if row is None or repr(row[where]) != spelled else (*row[:where], value, *row[where + 1 :])
        for row in (slot.left, slot.right)
    ]
    return Slot(rows[0], rows[1])


def fewer(slots: Slots, usual: Row, owned: bool) -> Iterator[Sequence[Slot]]:
    """Yield fewer common rows, or as many usual ones, in blocks; then fewer rows of the person who differs.

    ``owned`` says that rows begin with their owner.
    """
    common = [i for i, slot in enumerate(slots) if slot.common]
    rows = {i: row for i in common if (row := slots[i].left) is not None}
    for block in blocks([repr(rows[i]) for i in common]):
        chosen = set(common[block])
        yield [slot for i, slot in enumerate(slots) if i not in chosen]
        yield [in_both((*rows[i][:owned], *usual)) if i in chosen else slot for i, slot in enumerate(slots)]
    for owner in dict.fromkeys(row[0] for row in rows.values()) if owned else ():
        yield [slot for i, slot in enumerate(slots) if i not in rows or rows[i][0] != owner]
    for i, slot in enumerate(slots):
        if not slot.common:
            yield [*slots[:i], *slots[i + 1 :]]
            for one in (replace(slot, left=None), replace(slot, right=None)):
                yield [*slots[:i], one, *slots[i + 1 :]]


def plainer(slots: Slots, columns: Sequence[Column], owned: bool) -> Iterator[Sequence[Slot]]:
    """Yield the same rows with the ids 1, 2, 3, …, then with simpler values: the same value everywhere, then in one row or side."""
    rows = [row for slot in slots for row in (slot.left, slot.right) if row is not None]
    if owned:
        names = {owner: i for i, owner in enumerate(dict.fromkeys(row[0] for row in rows), start=1)}
        yield [Slot(with_owner(slot.left, names), with_owner(slot.right, names)) for slot in slots]
    for where, column in enumerate(columns, start=owned):
        for spelled, value in {repr(row[where]): row[where] for row in rows}.items():
            for simple in column.simpler(value):
                yield [replaced(slot, where, spelled, simple) for slot in slots]
        for i, slot in enumerate(slots):
            for one in _plainer_slots(slot, where, column):
                yield [*slots[:i], one, *slots[i + 1 :]]


def _plainer_slots(slot: Slot, where: int, column: Column) -> Iterator[Slot]:
    for side, row in (("right", slot.right), ("left", slot.left)):
        if row is None or (slot.common and side == "left"):
            continue
        for simple in column.simpler(row[where]):
            changed = (*row[:where], simple, *row[where + 1 :])
            yield in_both(changed) if slot.common else replace(slot, **{side: changed})
