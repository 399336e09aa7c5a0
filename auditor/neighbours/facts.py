"""Facts about a data set to which code may react: a size, a value, a missing value, a duplicate, many equal records.

A fault of real code often shows only on data sets with one such fact.
"""

import itertools
import math
from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from auditor.neighbours.pair import plain
from auditor.neighbours.scripts import ScriptedData

# That a data set has CROWD or more equal records is a fact.
CROWD = 15
TWO_IN_A_ROW = "two certain records in a row"


class Fact(NamedTuple):
    """A kind of fact in words, and the value, size or row that the fact is about, if any."""

    kind: str
    which: Hashable = None

    @property
    def is_of_one(self) -> bool:
        """Whether the fact is about one value, size or row of many, each of which a search has to try by itself."""
        return self.which is not None and self.kind != TWO_IN_A_ROW

    def __str__(self) -> str:
        return self.kind if self.which is None else f"{self.kind}, {self.which}"


def facts_of(dataset: Any) -> frozenset[Fact]:
    """Return the facts about a list of records, a vector, or a single value. A script of questions adds no facts.

    >>> sorted(map(str, facts_of([3, 3])))  # doctest: +NORMALIZE_WHITESPACE
    ['a certain last record, 3', 'a certain size, 2', 'a certain value, 3', 'a duplicate', 'a prime size',
     'two certain records in a row, (3, 3)']
    """
    if isinstance(dataset, ScriptedData):
        return facts_of(dataset["data"])
    data = plain(dataset)
    if not isinstance(data, list):
        return frozenset({Fact("a certain value", _hashable(data))})
    return frozenset(_of_records([*map(_hashable, data)], data))


def _of_records(records: Sequence[Hashable], data: Sequence[Any]) -> Iterator[Fact]:
    yield Fact("a certain size", len(records)) if records else Fact("no records")
    yield from (Fact("a certain last record", record) for record in records[-1:])
    times = Counter(records)
    yield from (Fact("a certain value", record) for record in times)
    if len(times) < len(records):
        yield Fact("a duplicate")
    if max(times.values(), default=0) >= CROWD:
        yield Fact(f"{CROWD} or more records alike")
    if len(records) > 2 and len(times) == 1:
        yield Fact("all records alike")
    if len(records) > 1 and all(len(records) % divisor for divisor in range(2, math.isqrt(len(records)) + 1)):
        yield Fact("a prime size")
    yield from (Fact(TWO_IN_A_ROW, two) for two in dict.fromkeys(itertools.pairwise(records)))
    if data and all(isinstance(row, Mapping) for row in data):
        yield from _of_rows(data)


def _of_rows(rows: Sequence[Mapping[str, Any]]) -> Iterator[Fact]:
    for name in rows[0]:
        cells = [_hashable(row.get(name)) for row in rows]
        times = Counter(cells)
        yield from (Fact(f"a certain {name}", cell) for cell in times if cell is not None)
        if None in times:
            yield Fact(f"a missing {name}")
        if (most := max(times.values())) > 1:
            yield Fact(f"so many rows of one {name}", most)
        if len(times) == 1 and len(rows) > 2:
            yield Fact(f"one {name} in all rows")


def _hashable(value: Any) -> Hashable:
    kind = type(value)
    if kind in (int, str, bool, type(None)) or (kind is float and not math.isnan(value)):  # most records and cells
        return value  # type: ignore[no-any-return]
    if isinstance(value, list):
        return tuple(map(_hashable, value))
    if kind is dict or isinstance(value, Mapping):
        return tuple(_hashable(item) for item in value.values())
    return str(value) if isinstance(value, float) and math.isnan(value) else value
