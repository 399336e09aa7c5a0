"""Boundaries between kinds of output, located by bisection on every domain that has points in between."""

from collections.abc import Sequence
from typing import Any

import numpy as np
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


def test_names_do_not_hide_an_edge_between_answers_and_exceptions() -> None:
    """Of many kinds of outputs that differ in a name only, few have a way of their own; an exception always has."""
    domain = Totals(cells=2, values=(0, 5_000), contribution={"linf": 1})

    def kind(total: int) -> str:
        return f"output: raises ValueError, message: 'no {total}'" if total >= EDGE else f"output: 'name {total % 7}'"

    def kinds(pairs: Sequence[Pair]) -> list[str]:
        return [f"{kind(pair.left[0])} | {kind(pair.right[0])}" for pair in pairs]

    corners = domain.corners()
    edges = find_edges(domain, kinds, corners, kinds(corners), most=2)
    assert any((pair.left[0] < EDGE) != (pair.right[0] < EDGE) for pair in edges)


def test_an_edge_is_crossed_where_a_move_is_of_another_cell() -> None:
    """Pairs that move the first cell only, on both sides of an edge of the second: their left sides are neighbours across it."""
    domain = Totals(cells=2, values=(0, 5_000), contribution={"linf": 1})
    low, high = domain.moved((10, 0), (1, 0)), domain.moved((10, 5_000), (1, 0))
    assert low is not None and high is not None

    def kinds(pairs: Sequence[Pair]) -> list[str]:
        return [
            " | ".join("raises" if side[1] >= EDGE else "number" for side in (pair.left, pair.right)) for pair in pairs
        ]

    edges = find_edges(domain, kinds, [low, high], kinds([low, high]))
    assert any((pair.left[1] < EDGE) != (pair.right[1] < EDGE) for pair in edges)


@pytest.mark.parametrize("contribution", [{"l1": 3}, {"l2": 2}, {"linf": 2}])
def test_a_pair_halfway_is_of_neighbours(contribution: dict[str, int]) -> None:
    domain, rng = Totals(cells=3, values=(0, 6), contribution=contribution), np.random.default_rng(0)
    [(norm, reach)] = contribution.items()
    order = {"l1": 1, "l2": 2, "linf": np.inf}[norm]
    halves = (domain.between(domain.random(rng), domain.random(rng)) for _ in range(500))
    lengths = [np.linalg.norm(np.subtract(half.right, half.left), order) for half in halves if half is not None]
    assert len(lengths) > 100 and min(lengths) > 0 and max(lengths) <= reach
