"""Boundaries between kinds of output, located by bisection on every domain that has points in between."""

from collections.abc import Sequence
from typing import Any

import pytest

from auditor.interfaces import Domain
from auditor.neighbours.domains import Pairs
from auditor.neighbours.pair import Pair
from auditor.neighbours.records import Records
from auditor.neighbours.search import MOST_HALVINGS, find_edges
from auditor.neighbours.totals import Totals

EDGE = 137


DOMAINS: list[tuple[Domain, Any]] = [
    (Totals([[1]], (0, 100_000)), lambda data: data[0]),
    (Totals([[1, 1], [0, 1]], (0, 2000)), lambda data: data[1]),
    (Totals(cells=2, values=(0, 5000), contribution={"linf": 1}), lambda data: data[0]),
    (Records((0, 1), size=(0, 1000)), len),
]


@pytest.mark.parametrize(("domain", "measure"), DOMAINS, ids=["people", "two kinds", "cells", "records"])
def test_the_pair_across_an_edge_is_found_in_few_steps(domain: Domain, measure: Any) -> None:
    asked = 0

    def kinds(pairs: Sequence[Pair]) -> list[str]:
        nonlocal asked
        asked += len(pairs)
        return [f"{measure(pair.left) < EDGE} {measure(pair.right) < EDGE}" for pair in pairs]

    corners = domain.corners()
    edges = find_edges(domain, kinds, corners, kinds(corners))
    assert any((measure(pair.left) < EDGE) != (measure(pair.right) < EDGE) for pair in edges)
    assert asked - len(corners) <= 4 * MOST_HALVINGS
    assert isinstance(domain, Records) or {type(total) for pair in edges for total in pair.left} == {int}


def test_where_all_outputs_are_of_one_kind_there_is_nothing_to_find() -> None:
    domain = DOMAINS[0][0]
    assert find_edges(domain, lambda pairs: ["number"] * len(pairs), domain.corners(), ["number"] * 20) == []
    pairs = Pairs([(0, 1), (5, 6)])
    assert find_edges(pairs, lambda asked: ["x"] * len(asked), pairs.corners(), ["a", "b"]) == [
        *pairs.corners()[1:],
        *pairs.corners()[:1],
    ]
