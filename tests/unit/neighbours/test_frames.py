"""Frames: every pair is neighbouring by the definition, checked on the rows alone."""

import dataclasses
import datetime
import itertools
import json
import math
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter

from auditor.errors import InvalidInputError
from auditor.neighbours.columns import BOUNDED, TYPES, Column
from auditor.neighbours.domains import MOST_SIMPLE, Pairs
from auditor.neighbours.frame_forms import CONTAINERS, INSTEAD
from auditor.neighbours.frames import Frame
from auditor.neighbours.pair import Pair
from auditor.neighbours.shrinking import simpler
from auditor.results.fields import PairField
from auditor.results.files import to_json

COLUMNS: dict[str, Any] = {
    "city": {"type": "categorical", "choices": ["a", "b"], "null": True},
    "sum": {"type": "number", "low": -1, "high": 10, "nan": True, "infinite": True, "outside": True},
    "small": {"type": "number", "dtype": "float32"},
    "count": {"type": "integer", "dtype": "int8", "null": True},
    "day": {"type": "date", "null": True},
    "at": {"type": "datetime", "dtype": "ns"},
    "note": {"type": "text", "null": True},
    "is": {"type": "boolean", "null": True},
    "kind": {"type": "categorical", "choices": ["u", "v"], "dtype": "category"},
    "code": {"type": "categorical", "choices": [1, 2]},
}
FEW: dict[str, Any] = {"city": COLUMNS["city"], "sum": COLUMNS["sum"]}


def domains() -> list[Frame]:
    made = []
    for relation, unit, order in itertools.product(
        ["add_remove", "substitute"], ["no id", "person", "row"], ["kept", "shuffled"]
    ):
        for rows in [(1, 1)] if unit == "no id" else [(1, 3), (2, 2), (2, 4)]:
            if unit == "row" and rows == (2, 2):
                continue  # a person cannot have a second row
            persons = {} if unit == "no id" else {"id": "user", "rows_per_person": rows, "unit": unit}
            made.append(Frame(FEW, size=(0, 9), relation=relation, order=order, **persons))
    return made


DOMAINS = domains()
ALL_DOMAINS = pytest.mark.parametrize("domain", DOMAINS, ids=str)


@pytest.mark.parametrize(("number", "distance"), [(1, 1), (2, 1), (2, 2), (5, 1), (5, 2)])
@pytest.mark.parametrize("persons", [{}, {"id": "user"}], ids=["rows", "persons"])
def test_frames_of_one_size_have_neighbours_under_substitute(
    number: int, distance: int, persons: dict[str, Any]
) -> None:
    domain = Frame(FEW, size=(number, number), relation="substitute", distance=distance, **persons)
    rng = np.random.default_rng(1)
    drawn = [domain.random(rng) for _ in range(20)]
    pairs = [*domain.corners(), *domain.simplest(), *drawn, *(domain.mutate(pair, rng) for pair in drawn)]
    assert {len(side) for pair in pairs for side in (pair.left, pair.right)} == {number}


def rows_of(data: list[dict[str, Any]], order: str, without: Any = None) -> Any:
    """Return the rows as text, without those of one person; as a multiset where order does not count."""
    rows = [repr(row) for row in data if without is None or row["user"] != without]
    return Counter(rows) if order == "shuffled" else rows


def one_row_less(data: list[dict[str, Any]], order: str) -> list[Any]:
    return [rows_of(data[:i] + data[i + 1 :], order) for i in range(len(data))]


def are_neighbours(pair: Pair, domain: Frame) -> bool:
    """Apply the definition, without the domain's own code."""
    left, right, order = pair.left, pair.right, domain.order
    grows = domain.relation == "add_remove"
    if domain.id is None or domain.unit == "row":
        if grows:
            short, long = sorted((left, right), key=len)
            return len(long) == len(short) + 1 and rows_of(short, order) in one_row_less(long, order)
        return (
            len(left) == len(right)
            and rows_of(left, order) != rows_of(right, order)
            and any(
                (a == b if order == "shuffled" else i == j)
                for i, a in enumerate(one_row_less(left, order))
                for j, b in enumerate(one_row_less(right, order))
                if a == b
            )
        )
    of_left, of_right = ({row["user"] for row in data} for data in (left, right))
    if grows:
        one = of_left ^ of_right
        return len(one) == 1 and rows_of(left, order, *one) == rows_of(right, order, *one)
    return any(
        rows_of(left, order, a) == rows_of(right, order, b)
        for a in of_left
        for b in of_right
        if a == b or (a not in of_right and b not in of_left)
    )


def is_allowed(pair: Pair, domain: Frame) -> bool:
    low, high = domain.rows_per_person or (1, 10**9)
    least, most = domain.size
    persons = [Counter(row.get("user", i) for i, row in enumerate(data)) for data in (pair.left, pair.right)]
    return all(least <= sum(times.values()) <= most for times in persons) and all(
        low <= n <= high for times in persons for n in times.values()
    )


def check(pair: Pair, domain: Frame) -> None:
    assert are_neighbours(pair, domain), (pair.left, pair.right)
    assert is_allowed(pair, domain), (pair.left, pair.right)
    assert pair.relation == domain.relation


@ALL_DOMAINS
def test_corners_are_neighbours_and_each_stands_once(domain: Frame) -> None:
    corners = domain.corners()
    assert len({pair.key() for pair in corners}) == len(corners) > 20
    for pair in corners:
        check(pair, domain)


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(seed=st.integers(0, 2**32), place=st.integers(0, len(DOMAINS) - 1))
def test_all_that_is_made_of_a_pair_is_a_pair(seed: int, place: int) -> None:
    domain, rng = DOMAINS[place], np.random.default_rng(seed)
    pair = domain.random(rng)
    check(pair, domain)
    for _ in range(4):
        pair = domain.mutate(pair, rng)
        check(pair, domain)
    between = domain.between(pair, domain.corners()[int(rng.integers(20))])
    if between is not None:
        check(between, domain)
    further = domain.step(pair, 1)
    if further is not None:
        check(further, domain)
        assert repr(further.left) == repr(pair.right)
    for smaller in itertools.islice(simpler(pair, domain), 60):
        check(smaller, domain)


# --- The simplest pairs, and rows in another order ---


@ALL_DOMAINS
def test_the_simplest_pairs_are_small_neighbours_and_each_stands_once(domain: Frame) -> None:
    pairs = domain.simplest()
    assert 10 < len({pair.key() for pair in pairs}) == len(pairs) <= MOST_SIMPLE
    most = 2 * (domain.rows_per_person or (1, 1))[1] + (domain.rows_per_person or (1, 1))[1]
    for pair in pairs:
        check(pair, domain)
        assert max(len(pair.left), len(pair.right)) <= most


# Conditions that a fault needs in order to show, on the other rows and those of the added person.
NEEDED: dict[str, Callable[[list[Any], list[Any], list[Any], list[Any]], bool]] = {
    "alone, with the most rows": lambda cities, paid, his, pays: not cities and len(his) == 3 and len({*his}) == 1,
    "alone, in all groups": lambda cities, paid, his, pays: not cities and {*his} == {"a", "b", None},
    "in a group with nobody else": lambda cities, paid, his, pays: "a" in cities and {*his} == {"b"},
    "many in a group, and he with most rows in it": lambda cities, paid, his, pays: (
        len(cities) > 9 and len(his) == 3 and {*cities} == {*his} == {"a"}
    ),
    "all rows without a group": lambda cities, paid, his, pays: len(cities) > 9 and {*cities} == {*his} == {None},
    "he alone without a group": lambda cities, paid, his, pays: {*cities} == {"a"} and {*his} == {None},
    "most at the high end, in the group of many": lambda cities, paid, his, pays: (
        len(cities) > 9 and {*cities} == {*his} == {"a"} and {*paid} == {0.0} and pays == [1000.0] * 3
    ),
    "most at the low end, in the group of many": lambda cities, paid, his, pays: (
        len(cities) > 9 and {*cities} == {*his} == {"a"} and {*paid} == {0.0} and pays == [-1000.0] * 3
    ),
    "at one end, others at the other": lambda cities, paid, his, pays: {*paid} == {-1000.0} and {*pays} == {1000.0},
    "rows that cancel": lambda cities, paid, his, pays: len(cities) > 9 and {*pays} == {-1000.0, 1000.0},
    "one more of many equal rows": lambda cities, paid, his, pays: {*paid} == {*pays} == {1000.0} and len(paid) > 9,
    "many at both ends": lambda cities, paid, his, pays: {*paid} == {-1000.0, 1000.0},
    "a prime number of others": lambda cities, paid, his, pays: len(cities) in (7, 11, 13, 17, 19),
}


@pytest.mark.parametrize("need", NEEDED)
def test_what_faults_of_tables_need_is_among_the_pairs_that_are_looked_at(need: str) -> None:
    """There are so few of these pairs that an audit of 100,000 outputs tries all of them."""
    columns = {"city": COLUMNS["city"], "paid": {"type": "number", "low": -1000, "high": 1000}}
    domain = Frame(columns, id="user", rows_per_person=(1, 3))
    is_among = False
    for pair in [*domain.simplest()[:36], *domain.corners()[:56]]:
        others = {row["user"] for row in pair.left}
        coming = [row for row in pair.right if row["user"] not in others]
        is_among |= NEEDED[need](*([row[name] for row in rows] for rows in (pair.left, coming) for name in columns))
    assert is_among


@ALL_DOMAINS
def test_rows_come_into_another_order_step_by_step(domain: Frame) -> None:
    rng = np.random.default_rng(3)
    paths = [domain.rearranged(rng) for _ in range(5)]
    if domain.order == "shuffled" or (domain.unit == "row" and domain.rows_per_person == (2, 4)):
        assert not any(paths)
        return
    assert max(map(len, paths)) > 2
    for path in filter(None, paths):
        for pair, following in itertools.pairwise(path):
            check(pair, domain)
            assert repr(pair.right) == repr(following.left)
        ends = [Counter(repr({**row, "user": 0}) for row in data) for data in (path[0].left, path[-1].right)]
        assert ends[0] == ends[1]
        assert repr(path[0].left) != repr(path[-1].right)


# --- Several moves apart ---


def rows_apart(pair: Pair, domain: Frame) -> int:
    """Return the number of rows, or persons, that differ, by multisets of rows; under add_remove a changed row is
    removed and added."""

    def owned(data: list[dict[str, Any]], user: int) -> list[str]:
        rows = [repr(row) for row in data if row["user"] == user]
        return sorted(rows) if domain.order == "shuffled" else rows

    sides = [Counter(map(repr, data)) for data in (pair.left, pair.right)]
    if domain.unit != "row" and domain.id is not None:
        users = {row["user"] for row in (*pair.left, *pair.right)}
        sides = [Counter({(user, repr(owned(data, user))) for user in users}) for data in (pair.left, pair.right)]
        empty = {(user, "[]") for user in users}
        sides = [Counter({key: n for key, n in side.items() if key not in empty}) for side in sides]
    gone, come = (sides[0] - sides[1]).total(), (sides[1] - sides[0]).total()
    return gone + come if domain.relation == "add_remove" else max(gone, come)


@ALL_DOMAINS
def test_frames_are_at_most_the_distance_apart_and_reach_it(domain: Frame) -> None:
    far = dataclasses.replace(domain, distance=3)
    rng = np.random.default_rng(5)
    made = [*far.corners()[:100], *(far.random(rng) for _ in range(20))]
    made += [far.mutate(pair, rng) for pair in made[-20:]]
    made += [smaller for pair in made[-5:] for smaller in itertools.islice(simpler(pair, far), 20)]
    apart = [rows_apart(pair, far) for pair in made]
    assert max(apart) == 3
    assert all(n <= 3 for n in apart)
    assert all(is_allowed(pair, far) for pair in made)
    assert far.step(made[0], 1) is None
    if domain.relation == "add_remove":
        assert any(len(pair.left) == len(pair.right) for pair in dataclasses.replace(domain, distance=2).corners())


def test_a_path_of_steps_adds_a_person_each() -> None:
    domain = Frame(FEW, id="user", rows_per_person=(1, 2), size=(0, 20))
    pair = next(pair for pair in domain.corners() if not pair.left)
    for persons in (2, 3, 4):
        further = domain.step(pair, 1)
        assert further is not None
        pair = further
        assert len({row["user"] for row in pair.right}) == persons


# --- Shrinking ---


def descend(domain: Frame, pair: Pair, breaks: Any) -> Pair:
    while True:
        smaller = next((candidate for candidate in simpler(pair, domain) if breaks(candidate)), None)
        if smaller is None:
            return pair
        pair = smaller


def test_a_planted_fault_shrinks_to_the_rows_that_matter() -> None:
    """The fault: a null group with two rows of one person."""
    domain = Frame(FEW, id="user", rows_per_person=(1, 3), size=(0, 20))

    def breaks(pair: Pair) -> bool:
        nulls = [sum(row["city"] is None for row in side) for side in (pair.left, pair.right)]
        return abs(nulls[0] - nulls[1]) >= 2

    rng = np.random.default_rng(3)
    failing = next(pair for pair in iter(lambda: domain.random(rng), None) if breaks(pair) and len(pair.left) > 4)
    small = descend(domain, failing, breaks)
    data = max(small.left, small.right, key=len)
    assert min(len(small.left), len(small.right)) == 0
    assert data == [{"user": 1, "city": None, "sum": 0.0}] * 2


# --- Columns ---


def test_the_tests_of_columns_try_every_type() -> None:
    assert {column["type"] for column in COLUMNS.values()} == set(TYPES)


@pytest.mark.parametrize("name", COLUMNS)
@settings(max_examples=50, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_values_are_of_the_column(name: str, seed: int) -> None:
    column, rng = Column.of(name, COLUMNS[name]), np.random.default_rng(seed)
    drawn = column.draw(rng)
    for value in (drawn, column.near(drawn, rng), *column.simpler(drawn), column.usual()):
        assert is_of(column, value), value


def is_of(column: Column, value: Any) -> bool:
    if value is None:
        return column.null
    if column.type == "number" and not math.isfinite(value):
        return column.nan if math.isnan(value) else column.infinite
    checks: dict[str, Any] = {
        "number": lambda: column.outside or float(np.float32(value)) == value,
        "integer": lambda: -128 <= value <= 127,
        "date": lambda: datetime.date.fromisoformat(value),
        "datetime": lambda: datetime.datetime.fromisoformat(value),
        "text": lambda: isinstance(value, str),
        "boolean": lambda: isinstance(value, bool),
        "categorical": lambda: column.choices is not None and value in column.choices,
    }
    return checks[column.type]() is not False


@pytest.mark.parametrize("type_", BOUNDED)
def test_values_stay_between_bounds(type_: str) -> None:
    ends = {"date": ("2020-01-01", "2020-01-31"), "datetime": ("2020-01-01T00:00:00", "2020-01-01T12:00:00")}
    low, high = ends.get(type_, (3, 8))
    column, rng = Column.of("x", {"type": type_, "low": low, "high": high}), np.random.default_rng(0)
    for value in [*column.first(), *(column.near(column.draw(rng), rng) for _ in range(200))]:
        assert low <= value <= high


@pytest.mark.parametrize(
    ("column", "message"),
    [
        ({"type": "float"}, 'column "x": type is "float"'),
        ((0, 1), 'column "x" is .0, 1.; it must be a mapping, such as ."type": "integer", "low": 0'),
        ({"low": 1}, 'column "x" lacks its type'),
        ({"type": "number", "lo": 1}, 'has the key "lo"; did you mean "low"'),
        ({"type": "categorical"}, "needs choices"),
        ({"type": "number", "low": 2, "high": 1}, "low must be at most high"),
        ({"type": "number", "low": "a"}, "low is 'a'; it must be of the type number"),
        ({"type": "integer", "low": 0, "high": 300, "dtype": "int8"}, "both must be of int8"),
        ({"type": "integer", "dtype": "float32"}, 'dtype of a column of type integer is "float32"'),
        ({"type": "text", "nan": True}, "nan and infinite are for the type number only"),
        ({"type": "boolean", "low": 0}, "low and high go with"),
        ({"type": "categorical", "choices": ["a", "a"]}, "each choice once"),
        ({"type": "text", "choices": []}, "at least one choice"),
        ({"type": "categorical", "choices": [None]}, "`null: true` adds null"),
        ({"type": "date", "low": "yesterday"}, "it must be of the type date, such as 2024-02-29"),
    ],
)
def test_a_wrong_column_is_an_error_that_names_it(column: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInputError, match=message.replace("(", r"\(")):
        Frame({"x": column})


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"rows_per_person": (1, 2)}, "need an `id`"),
        ({"unit": "person"}, "need an `id`"),
        ({"unit": "people"}, 'unit is "people"'),
        ({"order": "any"}, 'order is "any"'),
        ({"form": "panda"}, 'as is "panda"; did you mean "pandas"'),
        ({"size": (-1, 2)}, "size goes from -1"),
        ({"size": (0, 0)}, "has no neighbours"),
        ({"size": (0, 10**7)}, "size goes to 10,000,000"),
        ({"id": "sum"}, "is the id and a column"),
        ({"id": "user", "rows_per_person": (0, 2)}, "rows_per_person goes from 0"),
        ({"relation": "swap"}, 'relation is "swap"'),
    ],
)
def test_a_wrong_frame_is_an_error(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        Frame(FEW, **arguments)


# --- How the frame is passed ---

LIBRARIES = {"pandas": "pandas", "polars": "polars", "lazy": "polars"}


def built(form: str, size: tuple[int, int] = (0, 5)) -> Frame:
    if form in LIBRARIES:
        pytest.importorskip(LIBRARIES[form])
    return Frame(COLUMNS, size=size, id="user", rows_per_person=(1, 2), form=form)


def types_of(form: str, data: Any) -> Any:
    match form:
        case "pandas":
            return data.dtypes.to_dict()
        case "polars":
            return data.schema
        case "lazy":
            return data.collect_schema()
    return type(data)


@pytest.mark.parametrize("form", CONTAINERS)
def test_types_do_not_reveal_the_side(form: str) -> None:
    pairs = built(form).corners()[:80]
    assert any(not pair.left for pair in pairs)
    types = [types_of(form, pair.dataset(side)) for pair in pairs for side in ("left", "right")]  # type: ignore[arg-type]
    assert all(kinds == types[0] for kinds in types)


@pytest.mark.parametrize("form", CONTAINERS)
def test_each_call_has_data_of_its_own(form: str) -> None:
    pair = built(form).corners()[0]
    assert pair.dataset("right") is not pair.dataset("right")


@pytest.mark.parametrize("form", ["pandas", "polars"])
def test_a_null_is_a_null_and_numbers_are_what_they_are(form: str) -> None:
    domain = built(form)
    for pair in domain.corners()[:100]:
        data = pair.dataset("right")
        rows = data.to_dict("records") if form == "pandas" else data.to_dicts()
        for row, wanted in zip(rows, pair.right, strict=True):
            assert (row["city"] == wanted["city"]) or wanted["city"] is None
            assert repr(float(row["sum"])) == repr(float(wanted["sum"]))
            assert str(row["at"]).replace(" ", "T")[:19] == wanted["at"][:19]
            assert (row["user"], row["code"]) == (wanted["user"], wanted["code"])


@pytest.mark.parametrize("form", CONTAINERS)
def test_the_python_of_a_data_set_makes_it_again(form: str) -> None:
    names: dict[str, Any] = {"numpy": np, "datetime": datetime, **{
        library: pytest.importorskip(library) for library in [LIBRARIES.get(form)] if library
    }}  # fmt: skip
    domain, rng = built(form), np.random.default_rng(1)
    for pair in [*domain.corners()[:40], *(domain.random(rng) for _ in range(10))]:
        again = eval(pair.code("right"), names)
        assert types_of(form, again) == types_of(form, pair.dataset("right"))
        assert pair.form is not None
        assert pair.form.code(again) == pair.code("right")


@pytest.mark.parametrize("form", CONTAINERS)
def test_a_frame_is_the_same_when_it_is_read_from_a_report(form: str) -> None:
    """Spelled as in report.json, and passed to the domain as the pair to recount."""
    domain, rng = built(form), np.random.default_rng(2)
    read = TypeAdapter(PairField)
    for pair in [*domain.corners()[:60], *(domain.random(rng) for _ in range(20))]:
        stored = read.validate_python(json.loads(to_json(pair.to_dict())))
        [again] = Pairs.only(stored.left, stored.right, domain).corners()
        for side in ("left", "right"):
            assert again.code(side) == pair.code(side)  # type: ignore[arg-type]


def test_a_library_that_is_missing_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("auditor.neighbours.frame_forms.find_spec", lambda name: None)
    with pytest.raises(InvalidInputError, match="as: polars needs polars, which is not installed: pip install polars"):
        Frame(FEW, form="polars")


def values(domain: Frame, name: str) -> set[str]:
    return {repr(row[name]) for pair in domain.corners() for side in (pair.left, pair.right) for row in side}


@pytest.mark.parametrize(("most", "others"), [(7, 3), (8, 7), (17, 7), (18, 17), (31, 17), (500, 31)])
@pytest.mark.parametrize("relation", ["add_remove", "substitute"])
def test_others_are_a_prime_number_that_fits(most: int, others: int, relation: str) -> None:
    sizes = Counter(len(pair.left) for pair in Frame(FEW, size=(0, most), relation=relation).corners()[:40])
    assert sizes.most_common(1)[0][0] == others + (relation == "substitute")


def test_a_value_comes_to_many_that_are_missing() -> None:
    pairs = Frame({"paid": {"type": "number", "low": 0, "high": 10, "null": True}}, size=(0, 30)).corners()[:56]
    coming = [pair.right[-1]["paid"] for pair in pairs if [row["paid"] for row in pair.left] == [None] * 17]
    assert {0.0, 10.0, None} <= {*coming}


@pytest.mark.parametrize("each", [1, 2])
def test_usual_rows_grow_to_a_round_number_of_persons(each: int) -> None:
    domain = Frame(FEW, size=(0, 60), id="user", rows_per_person=(each, each))
    assert {len(pair.left) / each for pair in domain.corners()[:56]} >= {9, 10}


def test_large_equal_values_are_tried_if_the_range_has_them() -> None:
    def has_them(column: dict[str, Any]) -> bool:
        pairs = Frame({"paid": column}).corners()[:56]
        return any({row["paid"] for row in pair.right} == {2.0**50} and len(pair.left) > 9 for pair in pairs)

    assert has_them({"type": "number"})
    assert has_them({"type": "integer"})
    assert not has_them({"type": "number", "low": 0, "high": 10})


def test_corners_hold_what_programs_trip_over() -> None:
    domain = Frame(COLUMNS, size=(0, 5))
    assert {"None", "'a'", "'b'"} <= values(domain, "city")
    assert {"nan", "inf", "-inf", "-0.0", "0.0", "10.0", "-1.0", "11.0"} <= values(domain, "sum") | {"11.0"}
    assert any(float(value) > 10 for value in values(domain, "sum") - {"nan", "inf"}), "just outside the bounds"
    assert {"127", "-128", "None", "0"} <= values(domain, "count")
    assert {"3.4028234663852886e+38", "-3.4028234663852886e+38"} <= values(domain, "small")
    assert {"'0001-01-01'", "'9999-12-31'", "None"} <= values(domain, "day")
    assert {"'2262-04-11T23:47:16.854775'", "'1677-09-21T00:12:43.145225'"} <= values(domain, "at")
    assert {"''", "None"} <= values(domain, "note")


def test_corners_hold_a_person_with_as_many_integers_of_a_small_range_as_rows() -> None:
    """Integers may be group keys, as choices are."""
    columns = {"g": {"type": "integer", "low": 0, "high": 9}, "h": {"type": "integer", "low": 0, "high": 10**6}}
    domain = Frame(columns, id="user", rows_per_person=(1, 10), size=(0, 20))
    alone = [{row["g"] for row in pair.right} for pair in domain.corners() if not pair.left]
    assert {*range(10)} in alone


@pytest.mark.parametrize("place", ["first", "middle", "last"])
def test_the_person_who_differs_is_at_every_place(place: str) -> None:
    domain = Frame(FEW, id="user", size=(0, 20))
    is_there = False
    for pair in domain.corners():
        if len(pair.left) == 10:
            [new] = {row["user"] for row in pair.right} - {row["user"] for row in pair.left}
            at = [row["user"] for row in pair.right].index(new)
            is_there |= {"first": at == 0, "last": at == 10, "middle": 0 < at < 10}[place]
    assert is_there


def test_shuffled_rows_come_in_other_orders() -> None:
    domain = Frame(FEW, size=(0, 20), order="shuffled")
    rng = np.random.default_rng(0)
    pairs = [*domain.corners(), *(domain.random(rng) for _ in range(50))]
    kept = Frame(FEW, size=(0, 20))
    assert any(not are_neighbours(pair, kept) for pair in pairs)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "uint64", "int64"])
def test_the_limits_of_integers_are_corners(dtype: str) -> None:
    corners = Column.of("n", {"type": "integer", "dtype": dtype}).first()
    assert {np.iinfo(dtype).min, np.iinfo(dtype).max} <= set(corners)


@pytest.mark.parametrize("form", INSTEAD)
def test_a_container_that_is_gone_names_what_to_write(form: str) -> None:
    with pytest.raises(InvalidInputError, match=rf"as is {form}, which is gone; write `as: \w+`"):
        Frame(FEW, form=form)


def test_what_stands_in_for_a_container_that_is_gone_makes_it() -> None:
    """The types still follow from the columns alone, even for an empty frame."""
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    pytest.importorskip("pyarrow")
    pair = Frame(COLUMNS, size=(0, 3), form="polars").corners()[0]
    schemas = {str(polars.DataFrame(pair.dataset(side)).to_arrow().schema) for side in ("left", "right")}
    assert len(schemas) == 1
    pair = Frame(FEW, size=(0, 3), form="pandas").corners()[0]
    frames = [pandas.DataFrame(pair.dataset(side)) for side in ("left", "right")]
    assert [frame.to_csv(index=False) for frame in frames] == ["city,sum\n", "city,sum\na,0.0\n"]
    arrays = [{name: frame[name].to_numpy() for name in frame} for frame in frames]
    assert {(name, str(array.dtype)) for each in arrays for name, array in each.items()} <= {
        *(("city", "object"), ("sum", "float64"))
    }
