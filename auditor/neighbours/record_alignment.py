"""Two data sets of records side by side: which records are common to both, for shrinking a pair."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from auditor.neighbours.pair import Relation, same

Record = Any
NO_RECORD = object()  # no record on this side; None may be a record


@dataclass(frozen=True, slots=True)
class RecordSlot:
    """A record on either side, or on one of them. It is ``frozen`` if a change could increase the distance of the sides."""

    left: Record
    right: Record
    common: bool = False
    frozen: bool = False


def record_in_both(record: Record) -> RecordSlot:
    """Return the slot of a record that both sides have."""
    return RecordSlot(record, record, common=True)


def aligned(left: Sequence[Record], right: Sequence[Record], relation: Relation) -> list[RecordSlot]:
    """Align records: place by place under substitute, else from both ends inwards."""
    if relation is Relation.SUBSTITUTE:
        return [RecordSlot(a, b, common=same(a, b)) for a, b in zip(left, right, strict=True)]
    most = min(len(left), len(right))
    head = next((i for i in range(most) if not same(left[i], right[i])), most)
    tail = next((i for i in range(most - head) if not same(left[-1 - i], right[-1 - i])), most - head)
    gone, come = left[head : len(left) - tail], right[head : len(right) - tail]
    # If some were added and others removed, records between them may be common to both, and are not changed.
    both = bool(gone and come)
    middle = [RecordSlot(record, NO_RECORD, frozen=both) for record in gone]
    middle += [RecordSlot(NO_RECORD, record, frozen=both) for record in come]
    return [*map(record_in_both, left[:head]), *middle, *map(record_in_both, left[len(left) - tail :])]


def blocks(records: Sequence[str]) -> Iterator[slice]:
    """Yield all, halves, quarters and so on down to single ones of records, which are given by their spelling.

    A block equal to the one before it is left out: without either, the same records remain.
    """
    size = len(records)
    while size > 0:
        for start in range(0, len(records), size):
            block = slice(start, start + size)
            if start == 0 or records[start - size : start] != records[block]:
                yield block
        size //= 2
