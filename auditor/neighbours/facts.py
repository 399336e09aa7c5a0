"""Facts of a data set that code may treat apart: no records, a value, a category, a gap, a duplicate, an order, a size.

A fault of real code often shows on data sets with one such fact, and on no others.
"""

import itertools
import math
from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from auditor.neighbours.pair import plain
from auditor.neighbours.scripts import Asked


class Fact(NamedTuple):
    """A kind of facts in words, and which one it is."""

    kind: str
    which: Hashable

    def __str__(self) -> str:
        return self.kind if self.which is None else f"{self.kind} {self.which}"


def facts_of(dataset: Any) -> frozenset[Fact]:
    """Return the facts of a data set: of a list of records, of a vector, or of a single value. A script adds none.

    >>> sorted(map(str, facts_of([3, 3])))
    ['a duplicate', 'a prime size', 'neighbouring records (3, 3)', 'size 2', 'the value 3']
    """
    if isinstance(dataset, Asked):
        return facts_of(dataset["data"])
    data = plain(dataset)
    if not isinstance(data, list):
        return frozenset({Fact("the value", _hashable(data))})
    return frozenset(_of_records([_hashable(record) for record in data], data))


def _of_records(records: Sequence[Hashable], data: Sequence[Any]) -> Iterator[Fact]:
    yield Fact("size", len(records)) if records else Fact("no records", None)
    yield from (Fact("the value", record) for record in dict.fromkeys(records))
    if len(set(records)) < len(records):
        yield Fact("a duplicate", None)
    if len(records) > 2 and len(set(records)) == 1:
        yield Fact("all records alike", None)
    if len(records) > 1 and all(len(records) % divisor for divisor in range(2, math.isqrt(len(records)) + 1)):
        yield Fact("a prime size", None)
    yield from (Fact("neighbouring records", two) for two in dict.fromkeys(itertools.pairwise(records)))
    if data and all(isinstance(row, Mapping) for row in data):
        yield from _of_rows(data)


def _of_rows(rows: Sequence[Mapping[str, Any]]) -> Iterator[Fact]:
    for name in rows[0]:
        cells = [_hashable(row.get(name)) for row in rows]
        yield from (Fact(f"the {name}", cell) for cell in dict.fromkeys(cells) if cell is not None)
        if None in cells:
            yield Fact(f"{name} is missing", None)
        most = max(Counter(cells).values())
        if most > 1:
            yield Fact(f"rows with one {name}", most)
        if len(set(cells)) == 1 and len(rows) > 2:
            yield Fact(f"all rows in one {name}", None)


def _hashable(value: Any) -> Hashable:
    if isinstance(value, list):
        return tuple(map(_hashable, value))
    if isinstance(value, Mapping):
        return tuple(_hashable(one) for one in value.values())
    return str(value) if isinstance(value, float) and math.isnan(value) else value
