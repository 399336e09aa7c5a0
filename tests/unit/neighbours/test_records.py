"""Every pair of records is neighbouring by the definition, checked from outside; corners are the worst cases."""

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pairs_of_domains import edits, made, pairs_of, with_simpler

from auditor.errors import InvalidInputError
from auditor.neighbours.pair import Pair, Relation
from auditor.neighbours.records import Records


def distance(pair: Pair, relation: str) -> float:
    """Return the number of steps of the relation between the two data sets."""
    left, right = pair.left, pair.right
    if relation == "add_remove":
        # Common prefixes and suffixes cost nothing, but long data sets would take much time.
        while left and right and left[-1] == right[-1]:
            left, right = left[:-1], right[:-1]
        start = next(
            (i for i, (a, b) in enumerate(zip(left, right, strict=False)) if a != b), min(len(left), len(right))
        )
        return edits(left[start:], right[start:])
    return sum(a != b for a, b in zip(left, right, strict=True)) if len(left) == len(right) else float("inf")


NUMBERS = st.tuples(st.integers(-50, 50), st.integers(0, 80)).map(lambda x: {"record": (x[0], x[0] + x[1])})
KINDS = st.one_of(
    NUMBERS.map(lambda kind: {**kind, "integer": True}),
    NUMBERS,
    NUMBERS.map(lambda kind: {"record": (kind["record"][0] / 7, kind["record"][1] / 7)}),
    st.lists(st.sampled_from(["a", "bb", "", 0, 1.5]), min_size=1, max_size=4, unique=True).map(
        lambda choices: {"choices": choices}
    ),
)
SIZES = st.tuples(st.integers(0, 8), st.integers(0, 25)).map(lambda size: (size[0], size[0] + size[1]))


@given(KINDS, SIZES, st.none() | st.integers(1, 3), st.sampled_from(["add_remove", "substitute"]), st.integers(1, 3))
@settings(max_examples=60)
def test_pairs_are_neighbours_within_their_ranges(
    kind: dict[str, Any], size: tuple[int, int], columns: int | None, relation: str, steps: int
) -> None:
    domain = made(lambda: Records(**kind, size=size, columns=columns, relation=relation, distance=steps))
    if domain is None:
        return
    for pair in with_simpler(domain):
        assert pair.relation is Relation(relation)
        assert 1 <= distance(pair, relation) <= steps
        for side in (pair.left, pair.right):
            assert size[0] <= len(side) <= size[1]
            values = side if columns is None else list(itertools.chain.from_iterable(side))
            assert columns is None or all(len(record) == columns for record in side)
            if "choices" in kind:
                assert all(value in kind["choices"] for value in values)
                continue
            low, high = kind["record"]
            assert all(low <= value <= high for value in values)
            assert {type(value) for value in values} <= {int if kind.get("integer") else float}


@given(KINDS, SIZES, st.none() | st.integers(1, 3), st.sampled_from(["add_remove", "substitute"]))
@settings(max_examples=40)
def test_mechanisms_receive_arrays_of_one_type_and_shape(
    kind: dict[str, Any], size: tuple[int, int], columns: int | None, relation: str
) -> None:
    """Neither the type nor the shape of a record distinguishes the sides, including empty data."""
    domain = made(lambda: Records(**kind, size=size, columns=columns, relation=relation))
    if domain is None:
        return
    for pair in pairs_of(domain, walk=4):
        left, right = pair.dataset("left"), pair.dataset("right")
        assert left.dtype == right.dtype
        if "record" in kind:
            assert left.dtype == (np.int64 if kind.get("integer") else np.float64)
        for array, side in ((left, pair.left), (right, pair.right)):
            assert array.shape == ((len(side),) if columns is None else (len(side), columns))
            assert [str(x) for x in array.ravel()] == [str(x) for x in np.array(side, dtype=left.dtype).ravel()]


def test_every_distance_up_to_the_allowed_one_is_reached() -> None:
    for relation, steps in itertools.product(("add_remove", "substitute"), (1, 2, 3)):
        domain = Records((0, 10), integer=True, size=(0, 12), relation=relation, distance=steps)
        assert max(distance(pair, relation) for pair in domain.corners()) == steps
        assert max(distance(pair, relation) for pair in pairs_of(domain)) == steps


# --- The worst cases of the documents lie at the corners ---


def corners(**options: Any) -> set[tuple[Any, Any]]:
    """Return the corners, either way round."""
    corners_of_domain = Records(**{"record": (0, 10), "integer": True, "size": (0, 20), **options}).corners()
    assert len({pair.key() for pair in corners_of_domain}) == len(corners_of_domain)
    return {(pair.left, pair.right) for pair in corners_of_domain} | {
        (pair.right, pair.left) for pair in corners_of_domain
    }


def insertions(base: tuple[int, ...], record: int) -> list[tuple[Any, Any]]:
    """Insert the record at the first, the middle and the last place."""
    return [(base, (*base[:at], record, *base[at:])) for at in (0, len(base) // 2, len(base))]


ENDS = [(end,) * n for end in (0, 10) for n in (1, 2, 5, 10, 20)]
TEN = [(0,) * 9 + (10,), (10,) * 9 + (0,), (0, 10) * 5, (10, 0) * 5, (0,) * 5 + (10,) * 5]
SIGNED = {"record": (-1, 1), "integer": False, "size": (5, 30), "columns": 2, "relation": "substitute"}
WORST: dict[str, tuple[dict[str, Any], list[tuple[Any, Any]]]] = {
    "empty data and one record": ({}, [((), (0,)), ((), (10,)), ((10,), (10, 0)), ((0,), (0, 10))]),
    "one record substituted": ({"relation": "substitute"}, [((0,), (10,))]),
    "all at one end, and one more": ({"size": (0, 21)}, [p for e in ENDS for r in (0, 10) for p in insertions(e, r)]),
    "as many as a round number": ({}, [((0,) * n, (0,) * (n + 1)) for n in (1, 4, 9, 19)]),
    # Inserting a record before or after an equal one gives the same data set.
    "outliers, in turn, in blocks": (
        {},
        [p for base in TEN for p in (insertions(base, 0)[0], insertions(base, 10)[2])],
    ),
    "a first, middle or last record substituted": (
        {"relation": "substitute"},
        [
            (base, (*base[:at], 10 - base[at], *base[at + 1 :]))
            for base in ((0,) * 10, (0, 10) * 5, (10,) * 10)
            for at in (0, 5, 9)
        ],
    ),
    "from end to end among many in the middle": (
        SIGNED,
        [
            (((1.0, 1.0), *[(0.0, 0.0)] * 29), ((1.0, -1.0), *[(0.0, 0.0)] * 29)),
            (((-1.0, 1.0), *[(0.0, 0.0)] * 29), ((1.0, 1.0), *[(0.0, 0.0)] * 29)),
        ],
    ),
    "columns at the ends together": (
        {"record": (0, 1), "columns": 2, "size": (0, 3)},
        [((), ((1, 1),)), (((0, 0), (0, 0)), ((0, 0), (1, 1), (0, 0)))],
    ),
}


@pytest.mark.parametrize(("low", "high"), [(0, 200), (7, 7), (100, 300), (0, 1), (49, 51)])
def test_the_smallest_and_the_largest_size_are_corners(low: int, high: int) -> None:
    corners_of_domain = Records((0.0, 1.0), size=(low, high), relation="substitute").corners()
    sizes = {len(pair.left) for pair in corners_of_domain}
    assert {max(low, 1), high} <= sizes
    assert (low, high) == (7, 7) or {
        low,
        high,
    } <= {len(side) for pair in Records((0.0, 1.0), size=(low, high)).corners() for side in (pair.left, pair.right)}


# --- Columns that differ ---

MIXED = [{"low": 0, "high": 1}, {"choices": ["a", "b"]}]


def test_lists_and_arrays_have_a_row_for_each_record() -> None:
    lists, arrays = (Records(columns=MIXED, size=(0, 3), container=container) for container in ("list", "array"))
    one, other = lists.corners()[0], arrays.corners()[0]
    assert (one.dataset("left"), one.dataset("right")) == ([], [[0.0, "a"]])
    assert (other.dataset("left").shape, other.dataset("right").tolist()) == ((0, 2), [[0.0, "a"]])
    assert other.dataset("left").dtype == other.dataset("right").dtype == object


def test_columns_of_numbers_are_an_array_of_numbers() -> None:
    columns = [{"low": 0.0, "high": 1.0}, {"choices": [0, 1]}, {"low": 0, "high": 9, "integer": True}]
    for pair in Records(columns=columns, size=(0, 4)).corners():
        assert pair.dataset("right").dtype == np.float64


@given(st.integers(0, 2**32), st.sampled_from(["add_remove", "substitute"]))
@settings(max_examples=20)
def test_each_value_is_one_of_its_column(seed: int, relation: str) -> None:
    domain = Records(columns=MIXED, size=(0, 6), relation=relation)
    pairs = pairs_of(domain, seed)
    assert {record[1] for pair in pairs for record in pair.right} == {"a", "b"}
    for pair in pairs:
        assert distance(pair, relation) == 1
        assert all(0 <= x <= 1 and kind in ("a", "b") for side in (pair.left, pair.right) for x, kind in side)


# --- What cannot be meant ---

WRONG: list[tuple[dict[str, Any], str]] = [
    ({}, "needs either record"),
    ({"record": 0, "choices": 100}, "one argument: write Records((0, 100), size="),
    ({"record": (0, 1), "choices": [1]}, "not both"),
    ({"choices": []}, "choices are empty"),
    ({"choices": [[0, 1], [1, 0]]}, "choices hold [0, 1]; each must be a single value"),
    ({"record": (1, 0)}, "low must be at most high"),
    ({"record": (0, 1.5), "integer": True}, "both must be integers"),
    ({"record": (0, 1), "size": (-1, 3)}, "size goes from -1"),
    (
        {"record": [1, 2, 3]},
        "record is [1, 2, 3]; it must be the two ends, [low, high]; give single values by `choices`",
    ),
    ({"record": (0, 1), "size": (2, 2)}, "the values of a record, or choose the relation substitute"),
    ({"record": (0, 1), "size": (0, 0)}, "has no pairs under add_remove"),
    ({"record": (1, 1), "relation": "substitute"}, "has no pairs under substitute"),
    ({"record": (0, 1), "columns": 0}, "columns is 0"),
    ({"record": (0, 1), "columns": MIXED}, "or record: {choices}, or columns: [{low"),
    ({"columns": [{"lo": 0, "high": 1}]}, 'has the key "lo"; did you mean "low"'),
    ({"columns": [{"low": 0}]}, "the high end of record is None"),
    ({"record": (0, 1), "distance": 0}, "distance is 0"),
    ({"record": (0, 1), "distance": 10**13}, "at least 1, and at most 1,000,000"),
    ({"record": (0, 1), "size": (0, 10**13)}, "size goes to 10,000,000,000,000: a data set then has up to"),
    ({"record": (0, 1), "size": (0, 600), "columns": 2000}, "up to 1,200,000 numbers. At most 1,000,000 are allowed"),
]


@pytest.mark.parametrize(("options", "message"), WRONG, ids=[message for _, message in WRONG])
def test_what_cannot_be_meant_is_told(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        Records(**{"size": (0, 5), **options})
    assert message in str(caught.value)


@pytest.mark.parametrize("columns", [None, 2])
def test_data_sets_in_lists_are_those_in_arrays(columns: int | None) -> None:
    arrays, lists = (
        Records((0, 10), size=(0, 4), columns=columns, container=container) for container in ("array", "list")
    )
    for one, other in zip(pairs_of(arrays), pairs_of(lists), strict=True):
        for side in ("left", "right"):
            data = other.dataset(side)
            assert type(data) is list
            assert data == one.dataset(side).tolist()
            assert {type(record) for record in data} <= {list if columns else float}
        simpler = zip(arrays.simpler(one), lists.simpler(other), strict=True)
        assert all(type(b.left) is list and b.to_dict() == a.to_dict() for a, b in itertools.islice(simpler, 30))


def test_an_unknown_container_is_told_with_those_that_are_known() -> None:
    with pytest.raises(InvalidInputError, match=r'container is "lists"; did you mean "list"\? Allowed: array, list'):
        Records((0, 1), size=(0, 1), container="lists")


@pytest.mark.parametrize(("options", "pairs"), WORST.values(), ids=WORST)
def test_the_worst_cases_are_corners(options: dict[str, Any], pairs: list[tuple[Any, Any]]) -> None:
    assert set(pairs) <= corners(**options)


@pytest.mark.parametrize("n", [1, 2, 3, 5, 10, 20, 50])
def test_a_record_of_a_sign_opposite_to_all_others(n: int) -> None:
    ones = (1,) * n
    assert {(ones, (*ones, -n)), (ones, (-n, *ones))} <= corners(record=(-n, n), size=(0, 60))


def test_where_floats_are_few_each_is_tried_as_the_value_of_all_records() -> None:
    """Near 2⁵⁰ there are five floats between two integers, and a rounding fault shows on only some of them."""
    low = 2.0**50
    domain = Records((low, low + 1.0), size=(64, 64), relation="substitute")
    alike = {pair.left[0] - low for pair in domain.simplest() if len({*pair.left}) == 1}
    assert alike == {0.0, 0.25, 0.5, 0.75, 1.0}


def test_each_of_a_few_values_is_tried_alone() -> None:
    pairs = Records((0, 99), integer=True, size=(0, 10)).simplest()
    assert {pair.right[0] for pair in pairs if not len(pair.left)} == set(range(100))


def test_a_run_of_records_becomes_like_another() -> None:
    """A crowd of two values is one step away from a crowd with other shares of them: misses have probability below 1e-9."""
    domain, rng = Records((0, 100), size=(0, 20)), np.random.default_rng(1)
    [pair] = [one for one in domain.crowds() if list(one.left) == [*[0.0] * 18, 50.0] and one.right[-1] == 100]
    near = [list(domain.mutate(pair, rng).left) for _ in range(500)]
    assert {2, 3} <= {one.count(50.0) for one in near if len(one) == 19 and set(one) == {0.0, 50.0}}
