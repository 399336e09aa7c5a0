"""Pairs of data sets: what counts as neighbouring, and data sets that a mechanism may change."""

import math
import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditor.errors import InvalidInputError
from auditor.neighbours.domains import Pairs
from auditor.neighbours.pair import Arrays, Pair, Relation, check_neighbours, plain, relation_named, same
from auditor.neighbours.records import Records

NAN = math.nan
RECORDS = st.one_of(st.integers(-3, 3), st.sampled_from(["a", "b"]), st.just(NAN), st.lists(st.integers(0, 1)))
DATASETS = st.lists(RECORDS, max_size=6)


@given(DATASETS, RECORDS, st.data())
def test_a_data_set_and_itself_with_one_record_more_are_neighbours_under_add_remove(
    records: list[Any], one: Any, data: st.DataObject
) -> None:
    at = data.draw(st.integers(0, len(records)))
    more = [*records[:at], one, *records[at:]]
    check_neighbours(records, more, Relation.ADD_REMOVE)
    check_neighbours(more, records, Relation.ADD_REMOVE)


@given(DATASETS, DATASETS)
def test_only_data_sets_with_one_record_more_or_less_are_neighbours_under_add_remove(
    left: list[Any], right: list[Any]
) -> None:
    short, long = sorted((left, right), key=len)
    one_removed = [repr(long[:i] + long[i + 1 :]) for i in range(len(long))]
    expected = len(long) == len(short) + 1 and repr(short) in one_removed
    assert is_accepted(left, right, Relation.ADD_REMOVE) == expected


@given(DATASETS, DATASETS)
def test_only_data_sets_of_one_length_that_differ_once_are_neighbours_under_substitute(
    left: list[Any], right: list[Any]
) -> None:
    differences = sum(repr(a) != repr(b) for a, b in zip(left, right, strict=False))
    assert is_accepted(left, right, Relation.SUBSTITUTE) == (len(left) == len(right) and differences == 1)


def is_accepted(left: Any, right: Any, relation: Relation) -> bool:
    try:
        check_neighbours(left, right, relation)
    except InvalidInputError:
        return False
    return True


@pytest.mark.parametrize(
    ("left", "right", "relation"),
    [
        ([1, 2], [1, 2], Relation.SUBSTITUTE),
        ([1, 2], [1, 2], Relation.ADD_REMOVE),
        ([1, 2], [2, 1], Relation.SUBSTITUTE),
        ([1, 2], [2, 3, 1], Relation.ADD_REMOVE),
        ([], [1, 2], Relation.ADD_REMOVE),
        (1, 2, Relation.ADD_REMOVE),
        (1, 1, Relation.SUBSTITUTE),
        (NAN, NAN, Relation.SUBSTITUTE),
        (1, [1], Relation.SUBSTITUTE),
    ],
)
def test_a_pair_that_is_not_neighbouring_is_told_with_both_data_sets_and_the_rule(
    left: Any, right: Any, relation: Relation
) -> None:
    with pytest.raises(InvalidInputError) as caught:
        Pairs([(left, right)], relation)
    for part in (repr(left), repr(right), f"not neighbouring under {relation}", "one"):
        assert part in str(caught.value)


@pytest.mark.parametrize(
    ("left", "right"),
    [(1, 2), ("yes", "no"), (None, 0), (np.array([[1, 2], [3, 4]]), np.array([[1, 2], [3, 5]]))],
)
def test_single_values_and_rows_of_arrays_are_records_under_substitute(left: Any, right: Any) -> None:
    check_neighbours(left, right, Relation.SUBSTITUTE)


def test_a_relation_that_there_is_not_is_told_with_the_nearest() -> None:
    with pytest.raises(InvalidInputError, match='relation is "substitut"; did you mean "substitute"'):
        relation_named("substitut")
    with pytest.raises(InvalidInputError, match='"add-remove"; did you mean "add_remove"'):
        Pairs([(0, 1)], "add-remove")


@pytest.mark.parametrize("data", [[1, [2, 3]], {"a": [1]}, np.arange(3)])
@pytest.mark.parametrize("side", ["left", "right"])
def test_a_mechanism_that_changes_its_data_set_changes_no_other(data: Any, side: Any) -> None:
    pair = Pair(data, data)
    before = repr(data)
    given_away = pair.dataset(side)
    if isinstance(given_away, dict):
        given_away["a"].append(2)
    else:
        given_away[0] = 99
        given_away[-1] = 99
    assert repr(data) == before
    assert repr(pair.dataset(side)) == before


def test_arrays_are_fresh_each_time_and_have_the_shape_of_their_records() -> None:
    pair = Pair((), ((1, 2),), Relation.ADD_REMOVE, Arrays((2,)))
    empty, one = pair.dataset("left"), pair.dataset("right")
    assert (empty.shape, one.shape) == ((0, 2), (1, 2))
    one += 1
    assert pair.dataset("right").tolist() == [[1, 2]]


@pytest.mark.parametrize(
    ("left", "right"),
    [((), (1,)), ((1,), (1, 2.5)), (("a",), ("a", "long")), ((0,), (2**40,)), ((True,), (True, False))],
)
def test_the_type_of_an_array_does_not_tell_its_side(left: tuple[Any, ...], right: tuple[Any, ...]) -> None:
    """NumPy gives an empty list the float dtype, and strings the width of the longest one, which a mechanism may reveal."""
    pair = Pair(left, right, Relation.ADD_REMOVE, Arrays())
    assert pair.dataset("left").dtype == pair.dataset("right").dtype
    assert pair.dataset("left").tolist() == list(left)
    assert pair.dataset("right").tolist() == list(right)


def test_a_pair_is_the_same_whichever_side_is_called_left() -> None:
    assert Pair([1], [1, 2]).key() == Pair([1, 2], [1]).key() == Pair((1,), np.array([1, 2])).key()
    assert Pair([1], [1, 2]).key() != Pair([1], [1, 3]).key()


def test_a_report_holds_plain_lists_and_numbers() -> None:
    class Odd:
        def __repr__(self) -> str:
            return "odd"

    assert plain((np.int64(1), np.array([[0.5]]), {2: (None, "a")}, Odd())) == [1, [[0.5]], {"2": [None, "a"]}, "odd"]
    entry = Pair(np.array([1]), (2, NAN), Relation.SUBSTITUTE).to_dict()
    assert repr(entry) == "{'left': [1], 'right': [2, nan], 'relation': 'substitute'}"


@given(DATASETS)
def test_every_data_set_is_the_same_as_itself_nan_included(records: list[Any]) -> None:
    assert same(records, [float("nan") if value is NAN else value for value in records])


@pytest.mark.parametrize(
    ("a", "b"), [([1], [1, 1]), ({"a": NAN}, {"a": 0}), ({"a": 1}, {"b": 1}), ([NAN], [None]), ("1", 1)]
)
def test_unlike_data_sets_are_not_the_same(a: Any, b: Any) -> None:
    assert not same(a, b)


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_frames_are_shown_as_their_rows(library: str) -> None:
    module = pytest.importorskip(library)
    columns = {"user": [1, 2], "city": ["a", "b"]}
    frame = module.table(columns) if library == "pyarrow" else module.DataFrame(columns)
    rows = [{"user": 1, "city": "a"}, {"user": 2, "city": "b"}]
    assert plain([frame]) == [rows]
    if library == "polars":
        assert plain(frame.lazy()) == rows


def test_a_pair_travels_without_its_texts_and_is_the_same_pair() -> None:
    domain = Records((0.0, 1.0), size=(100, 200))
    pair = domain.random(np.random.default_rng(1))
    key, empty = pair.key(), len(pickle.dumps(Pair((), (0.5,), pair.relation, pair.form)))
    arrived = pickle.loads(pickle.dumps(pair))
    assert (arrived, arrived.key(), arrived.grows, arrived.origin) == (pair, key, pair.grows, pair.origin)
    assert arrived.dataset("left").tolist() == list(pair.left)
    # A float takes nine bytes, and two more where a side repeats it; its text alone would take twenty.
    assert len(pickle.dumps(pair)) < empty + 12 * (len(pair.left) + len(pair.right))
