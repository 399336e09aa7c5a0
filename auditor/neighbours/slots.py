"""Two tables next to each other: which rows are common to both, for making a pair simpler."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from auditor.neighbours.pair import Relation, same

Row = Any  # a tuple of values, with the owner first where rows have owners; or a single value
NO_ROW = object()  # no row on this side; None may be a row


@dataclass(frozen=True, slots=True)
class Slot:
    """A row on either side, or on one of them. It is ``frozen`` if a change could increase the distance of the sides."""

    left: Row
    right: Row
    common: bool = False
    frozen: bool = False

    @property
    def rows(self) -> list[Row]:
        """The rows on either side; one, if it is common or only on one side."""
        return [row for row in ((self.left,) if self.common else (self.left, self.right)) if row is not NO_ROW]


def in_both(row: Row) -> Slot:
    """Return the slot of a row that both sides have."""
    return Slot(row, row, common=True)


def aligned(left: Sequence[Row], right: Sequence[Row], relation: Relation) -> list[Slot]:
    """Align rows: place by place under substitute, else from both ends inwards."""
    if relation is Relation.SUBSTITUTE:
        return [Slot(a, b, common=same(a, b)) for a, b in zip(left, right, strict=True)]
    most = min(len(left), len(right))
    head = next((i for i in range(most) if not same(left[i], right[i])), most)
    tail = next((i for i in range(most - head) if not same(left[-1 - i], right[-1 - i])), most - head)
    gone, come = left[head : len(left) - tail], right[head : len(right) - tail]
    # If some were added and others removed, rows between them may be common to both, and are not changed.
    both = bool(gone and come)
    middle = [Slot(row, NO_ROW, frozen=both) for row in gone]
    middle += [Slot(NO_ROW, row, frozen=both) for row in come]
    return [*map(in_both, left[:head]), *middle, *map(in_both, left[len(left) - tail :])]


def aligned_by_owner(left: Sequence[Row], right: Sequence[Row]) -> list[Slot]:
    """Align the rows of persons. If a person's rows differ, none of these rows counts as common. The other persons have the same
    order on both sides.
    """
    sides = [{rows[unit[0]][0]: [rows[i] for i in unit] for unit in units_of(rows)} for rows in (left, right)]
    differ = {owner for owner in (*sides[0], *sides[1]) if repr(sides[0].get(owner)) != repr(sides[1].get(owner))}
    slots, i, j = list[Slot](), 0, 0
    while i < len(left) or j < len(right):
        a = left[i] if i < len(left) and left[i][0] in differ else NO_ROW
        b = right[j] if j < len(right) and right[j][0] in differ else NO_ROW
        common = a is b  # neither differs
        slots.append(in_both(left[i]) if common else Slot(a, b))
        i, j = i + (common or a is not NO_ROW), j + (common or b is not NO_ROW)
    return slots


def units_of(rows: Sequence[Row]) -> list[list[int]]:
    """Return the places of each owner's rows, in the order of their first ones."""
    found: dict[Any, list[int]] = {}
    for i, row in enumerate(rows):
        found.setdefault(row[0], []).append(i)
    return list(found.values())


def blocks(rows: Sequence[str]) -> Iterator[slice]:
    """Yield all, halves, quarters and so on down to single ones of rows, which are given by their spelling.

    A block equal to the block before it is skipped: removing either block leaves the same rows.
    """
    size = len(rows)
    while size > 0:
        for start in range(0, len(rows), size):
            block = slice(start, start + size)
            if start == 0 or rows[start - size : start] != rows[block]:
                yield block
        size //= 2
