"""Corners, simplest pairs and crowds hold what classes of faults need: short moves, values off the grid, shares, one at an end."""

import itertools
import math
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from auditor.interfaces import Domain
from auditor.neighbours.domains import Value
from auditor.neighbours.frames import Frame
from auditor.neighbours.pair import Pair
from auditor.neighbours.records import Records
from auditor.neighbours.table import MOST_CROWDS, Table
from auditor.neighbours.totals import OneNumber, Totals, TotalsByKey

RELATIONS = ("add_remove", "substitute")


# --- Moves shorter than their limit ---


def length(pair: Pair) -> float:
    """Return by how much the number that moves most moves."""
    if isinstance(pair.left, dict):
        keys = {**pair.left, **pair.right}
        return max(float(abs(pair.left.get(key, 0) - pair.right.get(key, 0))) for key in keys)
    steps = np.atleast_1d(pair.right) - np.atleast_1d(pair.left)
    return float(max(map(abs, steps.tolist())))


def is_off_grid(step: float, most: float) -> bool:
    """Whether a step shows through noise in steps of the limit, of its half, third, fifth or tenth, and of 2."""
    shares = [most / k for k in (1, 2, 3, 5, 10) if most / k > 1]
    return all(abs(step / share - round(step / share)) > 1e-9 for share in (*shares, 2))


def cells_within(cells: int, norm: str, integer: bool) -> Callable[[int], Domain]:
    return lambda most: Totals(cells=cells, values=(0, 10 * most), contribution={norm: most}, integer=integer)


WITH_REACH: dict[str, Callable[[int], Domain]] = {
    f"{cells} cells in {norm}, integer: {integer}": cells_within(cells, norm, integer)
    for cells, norm, integer in itertools.product((1, 4), ("l1", "l2", "linf"), (True, False))
}
WITH_REACH |= {
    "one key of three": lambda m: TotalsByKey(["a", "b", "c"], (0, 10 * m), contribution={"l0": 1, "linf": m}),
    "keys together": lambda m: TotalsByKey(["a", "b", "c"], (0, 9 * m), contribution={"l0": 2, "linf": m, "l1": 2 * m}),
    "one integer": lambda m: OneNumber((0, 10 * m), m),
    "one number": lambda m: OneNumber((0.0, 10.0 * m), float(m)),
}


@pytest.mark.parametrize("most", [10, 50, 100, 600])
@pytest.mark.parametrize("make", WITH_REACH.values(), ids=WITH_REACH)
def test_moves_shorter_than_their_limit_are_among_all_pairs(make: Callable[[int], Domain], most: int) -> None:
    domain, rng = make(most), np.random.default_rng(1)
    simplest, corners = [*map(length, domain.simplest()[:6])], [*map(length, domain.corners())]
    assert {1, most} <= {*simplest}
    assert {1, most} <= {*corners}
    assert any(is_off_grid(step, most) for step in simplest)
    # Each of 400 draws is shorter with a probability of ¼ or more, and off the grid with ⅒ or more.
    drawn = [domain.random(rng) for _ in range(400)]
    near = [domain.mutate(pair, rng) for pair in domain.corners()[:1] * 800]
    for pairs in (drawn, near):
        steps = [*map(length, pairs)]
        assert sum(step < 0.99 * most for step in steps) > 20
        assert len({round(step, 6) for step in steps if is_off_grid(step, most)}) > (most > 10)


# --- Values off the grid of their ends ---


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize(
    ("low", "high"), [(0, 150), (0, 600), (0, 1000), (-600, 600), (-1000, 0), (18, 300), (1000, 5000)]
)
@pytest.mark.parametrize("columns", [0, 1, 2])
def test_the_simplest_pairs_hold_1_and_a_value_off_the_grid(low: int, high: int, relation: str, columns: int) -> None:
    size, width = (int(relation == "substitute"), 10), high - low
    column = {"type": "integer", "low": low, "high": high}
    domain: Table = (
        Frame({f"column {i}": column for i in range(columns)}, size=size, relation=relation)
        if columns
        else Records((low, high), integer=True, size=size, relation=relation)
    )
    rows = [row for pair in domain.simplest()[:8] for side in (pair.left, pair.right) for row in side]
    numbers = {number for row in rows for number in (row.values() if columns else [row])}
    assert (1 if low < 1 < high else low + 1) in numbers
    inside = [number for number in numbers if abs(number - low - width / 3) < width / 6]
    assert any(math.gcd(number - low, 30 * width) == 1 or math.gcd(number, 30 * high) == 1 for number in inside)


# --- Crowds by share ---


def at_quantile(rows: int, share: float) -> tuple[int, int, int]:
    """Return how many of so many rows stay at the low end, a little inside the high end, and at the high end."""
    high = round(share * rows)
    return rows - high, 0, high


def is_crowd(
    pair: Pair, value: Callable[[Any], float], group: Callable[[Any], Any], counts: tuple[int, int, int]
) -> bool:
    """Whether the left side has so many rows at 0, above 90 and at 100, all of one group, and one more comes at 100."""
    sides = pair.left, pair.right
    if len({repr(group(row)) for side in sides for row in side}) > 1:
        return False
    found = []
    for side in sides:
        values = [value(row) for row in side]
        found.append((values.count(0), sum(90 < v < 100 for v in values), values.count(100)))
    low, inside, high = counts
    wanted = (low, inside, high), (low - (len(sides[0]) == len(sides[1])), inside, high + 1)
    return tuple(found) == wanted


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("rows", [20, 60, 80])
@pytest.mark.parametrize("form", ["records", "frame", "persons"])
def test_crowds_hold_shares_at_both_ends_and_a_second_value_inside(form: str, rows: int, relation: str) -> None:
    size = (0 if relation == "add_remove" else rows, rows)
    income: dict[str, Any] = {"type": "number", "low": 0, "high": 100}
    city: dict[str, Any] = {"type": "categorical", "choices": ["a", "b", "c"]}
    person: dict[str, Any] = {"id": "user", "rows_per_person": (1, 2)} if form == "persons" else {}
    domain: Table = (
        Records((0, 100), size=size, relation=relation)
        if form == "records"
        else Frame({"city": city, "income": income}, size=size, relation=relation, **person)
    )
    is_frame = form != "records"
    value: Any = (lambda row: row["income"]) if is_frame else (lambda row: row)
    group: Any = (lambda row: row["city"]) if is_frame else (lambda row: None)
    crowds = list(domain.crowds())
    n = rows - (relation == "add_remove")
    few = round(0.05 * n) + 1
    mixes = [at_quantile(n, 0.05), at_quantile(n, 0.1), at_quantile(n, 0.5), (n - few, 2, few - 2)]
    for counts in mixes:
        found = [i for i, pair in enumerate(crowds) if is_crowd(pair, value, group, counts)]
        assert found, counts
        assert found[0] < len(crowds) / 2
    assert len(crowds) <= MOST_CROWDS


def test_crowds_are_made_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    calls, made = 0, Table._pair

    def counted(*arguments: Any) -> Pair | None:
        nonlocal calls
        calls += 1
        return made(*arguments)

    monkeypatch.setattr(Table, "_pair", counted)
    domain = Records((0, 1), size=(0, 100_000))
    calls = 0
    crowds = iter(domain.crowds())
    assert len({pair.key() for pair in itertools.islice(crowds, 5)}) == 5
    assert calls == 5


# --- All at one end, and one at the other ---


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize(("low", "high"), [(0, 20), (5, 12), (30, 40), (10, 10)])
@pytest.mark.parametrize("form", ["records", "columns", "frame"])
def test_all_at_one_end_and_one_at_the_other_come_early(form: str, low: int, high: int, relation: str) -> None:
    if low == high and relation == "add_remove":
        return
    column = {"type": "number", "low": -1, "high": 1}
    domain: Table = (
        Frame({"x": column, "y": column}, size=(low, high), relation=relation)
        if form == "frame"
        else Records((-1, 1), size=(low, high), columns=2 if form == "columns" else None, relation=relation)
    )
    first = [*domain.simplest()[:8], *domain.corners()[:3]]
    for end in (-1.0, 1.0):
        assert any(
            {len(pair.left), len(pair.right)} & {max(10, low), max(10, low) + 1}
            and sorted(Counter(map(repr, side)).values())[0] == 1
            and [np.sign(_flat(row)).tolist() for row in side].count(np.sign(_flat(side[0])).tolist())
            in (1, len(side) - 1)
            and Counter(float(_flat(row)[0]) for row in side)[end] == len(side) - 1
            and {abs(float(x)) for row in side for x in _flat(row)} == {1.0}
            for pair in first
            for side in (pair.left, pair.right)
            if len(side) > 2
        )


def _flat(row: Any) -> Any:
    return np.atleast_1d(list(row.values()) if isinstance(row, dict) else row)


# --- Two values of a range ---


@pytest.mark.parametrize("ends", [(0, 1000), (-600, 600), (0.0, 7.5)])
def test_the_simplest_pairs_of_a_range_hold_both_ends_1_and_a_value_off_the_grid(ends: tuple[float, float]) -> None:
    low, high = ends
    pairs = [{pair.left, pair.right} for pair in Value(range=ends).simplest()]
    assert {low, high} in pairs
    assert {low, 1} in pairs
    assert any({low, n} in pairs for pair in pairs for n in pair if is_off_grid(n - low, high - low))
