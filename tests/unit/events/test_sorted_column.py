"""A sorted column: counts between edges equal those of a scan, with atoms counted separately."""

import itertools
import math
from typing import Any

import numpy as np
import pytest

from auditor.blackbox.canonical import from_list
from auditor.blackbox.outputs import OutputColumn
from auditor.blackbox.sample import part_ends
from auditor.events.blocks import Blocks
from auditor.events.cells import FEW_EDGES, Cells, SortedColumn, count_rules

RNG = np.random.default_rng(0)
KINDS: dict[str, list[Any]] = {
    "numbers": RNG.normal(size=500).tolist(),
    "integers": RNG.integers(0, 7, 500).tolist(),
    "infinities and atoms": [0.5, math.inf, None, -math.inf, "x", math.nan, 2.0, 2.0, None, 1e308, -1e308] * 5,
    "atoms": [None, "x", "x"],
    "nothing": [],
}
EDGES = (-math.inf, -1.0, 0.5, 2.0, 5.0, math.inf)
FEW, MANY = EDGES[1:4], (*EDGES[:-1], *(6.0 + i for i in range(FEW_EDGES)), math.inf)


def column(outputs: list[Any]) -> OutputColumn:
    return from_list(outputs).column("output")


@pytest.mark.parametrize("kind", KINDS)
def test_a_sorted_column_is_counted_as_its_entries_are(kind: str) -> None:
    entries = column(KINDS[kind])
    ordered = SortedColumn.of(entries)
    assert ordered.size == len(KINDS[kind])
    numbers = entries.numbers if entries.codes is None else entries.numbers[entries.codes < 0]
    ends = [-math.inf, *EDGES, math.inf]
    expected = [
        sum((low < x or i == 0) and (x <= high or i == len(EDGES)) for x in numbers.tolist())
        for i, (low, high) in enumerate(itertools.pairwise(ends))
    ]
    assert ordered.count(EDGES).tolist() == expected
    assert sorted(x for x in numbers.tolist() if math.isfinite(x)) == ordered.finite.tolist()
    values = sorted(set(numbers.tolist()))
    distinct = ordered.distinct(len(values))
    assert distinct is not None
    assert distinct.tolist() == values
    assert ordered.distinct(len(values) - 1) is None
    begin, end = ordered.ends(distinct)
    assert begin.tolist() == [sum(y < x for y in numbers.tolist()) for x in values]
    assert end.tolist() == [sum(y <= x for y in numbers.tolist()) for x in values]
    assert ordered.is_whole == all(math.isinf(x) or x.is_integer() for x in values)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("edges", [FEW, MANY])
def test_a_rule_counts_a_line_and_a_column_alike(kind: str, edges: tuple[float, ...]) -> None:
    worths = tuple(float(i % 3 - 1) for i in range(len(edges) + 1))
    rule, entries = Cells(edges, worths, {"None": 1.0}, otherwise=7.0), column(KINDS[kind])
    each = rule.look_up(entries).tolist()
    expected = {worth: each.count(worth) for worth in (-1.0, 0.0, 1.0, 7.0)}
    assert rule.count(SortedColumn.of(entries)) == expected
    [[counted]] = count_rules([rule], entries, tuple(expected), 1)
    assert dict(zip(expected, counted, strict=True)) == expected


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("edges", [FEW, MANY, ()])
def test_rules_that_are_counted_together_are_counted_as_each_alone(kind: str, edges: tuple[float, ...]) -> None:
    """Rules share edges or not, and name atoms or not; parts begin and end inside runs of equal numbers and of atoms."""
    entries, parts = column(KINDS[kind]), 3
    rules = [
        Cells(edges, tuple(float(i % 3 - 1) for i in range(len(edges) + 1)), {"None": 1.0}, otherwise=-1.0),
        Cells((0.5, 0.75), (1.0, 0.0, -1.0), {"'x'": -1.0, "NaN": 1.0}),
        Cells((), (0.0,), {}),
    ]
    counted = count_rules(rules, entries, (1.0, -1.0), parts)
    for at, (start, end) in enumerate(part_ends(len(entries.numbers), parts)):
        for rule, totals in zip(rules, counted[at], strict=True):
            each = rule.look_up(entries).tolist()[start:end]
            assert totals == [each.count(1.0), each.count(-1.0)]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("other", KINDS)
def test_two_lines_are_one_of_all_entries(kind: str, other: str) -> None:
    both, together = (
        SortedColumn.of(column(KINDS[kind])) + SortedColumn.of(column(KINDS[other])),
        KINDS[kind] + KINDS[other],
    )
    whole = SortedColumn.of(column(together))
    assert both.numbers.tolist() == whole.numbers.tolist()
    assert {atom: n for atom, n in both.atoms.items() if n} == {atom: n for atom, n in whole.atoms.items() if n}


def test_the_mean_of_each_interval() -> None:
    ordered = SortedColumn.of(column([1.0, 2.0, 6.0, 8.0, 9.0, 1e308, 1.5e308, 1.7e308, math.inf]))
    blocks = Blocks([5.0, 7.0, 7.5, 10.0, 1e308], [])
    assert blocks.means(ordered).tolist() == [1.5, 6.0, 8.0, 8.5, 1e308, 1.7e308]
    assert Blocks([0.0], []).means(SortedColumn.of(column([math.inf, -math.inf]))).tolist() == [0.0, 1.0]
