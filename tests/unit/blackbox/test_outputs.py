"""Outputs in canonical form: nothing is dropped, and a row depends on its own output alone."""

import collections
import copyreg
import dataclasses
import functools
import hashlib
import io
import itertools
import math
import re
import sqlite3
import types
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any, Generic, TypeVar

import hidden_kinds
import numpy as np
import pandas
import polars
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from auditor.blackbox import digests
from auditor.blackbox.canonical import from_batch, from_list, row_of
from auditor.blackbox.command import value_of
from auditor.blackbox.outputs import ABSENT, Outputs, concatenate
from auditor.blackbox.seal import seal, unseal
from auditor.errors import MechanismError

_T = TypeVar("_T")

Row = dict[str, float | str]


def rows(outputs: Outputs) -> list[Row]:
    """Read the table row by row; a place that an output lacks is missing from its row."""
    table: list[Row] = [{} for _ in range(outputs.size)]
    for column in outputs.columns:
        assert len(column.numbers) == outputs.size
        for i, row in enumerate(table):
            code = -1 if column.codes is None else int(column.codes[i])
            leaf = float(column.numbers[i]) if code < 0 else column.atoms[code]
            if leaf != ABSENT:
                row[column.name] = leaf
    return table


def row(output: Any) -> Row:
    [only] = rows(from_list([output]))
    return only


class Odd:
    def __repr__(self) -> str:
        raise RuntimeError("no words")


class WordlessError(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no words")


DIGITS = st.text("0123456789", max_size=3)
NUMBER_TEXTS = (
    st.builds(
        "{}{}{}{}{}".format,
        st.sampled_from(["", "-", "+", " "]),
        DIGITS,
        st.sampled_from(["", "."]),
        DIGITS,
        st.sampled_from(["", "e5", "E-7", "e+05", "e-07", " "]),
    )
    | st.floats().map(repr)
    | st.floats(-1e9, 1e9).map("{:.17g}".format)
    | st.integers(0, 10**25).map(str)
)
TEXTS = st.text(max_size=3) | NUMBER_TEXTS | st.lists(NUMBER_TEXTS, max_size=3).map(",".join)
NUMBERS = st.floats() | st.integers() | st.integers(-(2**70), 2**70) | st.booleans() | st.sampled_from([-0.0, 2**53])
LEAVES = (
    NUMBERS
    | st.none()
    | TEXTS
    | st.datetimes()
    | st.dates()
    | st.times()
    | st.timedeltas()
    | st.binary(max_size=3)
    | st.complex_numbers()
    | st.fractions()
    | st.decimals()
    | st.sampled_from([ValueError("a"), ValueError("b"), KeyError("a"), "NaN", "None", "absent", "0", np.float64(1.5)])
    | st.sampled_from([np.int64(3), np.bool_(True), np.float32(0.1), np.uint64(2**64 - 1), np.str_("a"), ...])
)
NESTED = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(st.text(max_size=2) | st.integers(0, 3), inner, max_size=3)
        | st.lists(inner, min_size=1, max_size=2).map(lambda items: np.array([*items, None], dtype=object))
        | st.sets(st.integers(0, 3) | st.text(max_size=1), max_size=3)
    ),
    max_leaves=6,
)
ARRAYS = arrays.arrays(
    st.sampled_from([np.float64, np.float32, np.int64, np.uint64, np.int8, np.bool_, np.complex128, "<U2"]),
    arrays.array_shapes(max_dims=3, max_side=3),
)
OUTPUTS = st.lists(NESTED | ARRAYS, max_size=6) | st.lists(st.integers()) | st.lists(st.floats()) | st.lists(NUMBERS)


def _written(number: float) -> Any:
    """Return a number from an array, which does not show whether it was an integer."""
    return repr(number) if math.isnan(number) or (number == 0 and math.copysign(1, number) < 0) else number


def identity(output: Any) -> Any:
    """Describe an output in an independent way: two descriptions are equal exactly if nothing distinguishes the outputs."""
    value = output.item() if isinstance(output, np.generic) else output
    says = {
        float: lambda: repr(value),
        Decimal: lambda: "NaN" if value.is_nan() else str(value.as_tuple()),
        complex: lambda: (identity(value.real), identity(value.imag)),
        np.ndarray: lambda: (
            ("numbers", value.shape, *map(_written, value.ravel().tolist()))
            if value.dtype.kind in "biuf"
            else (value.dtype.kind, value.shape, *map(identity, value.ravel().tolist()))
        ),
        list: lambda: [*map(identity, value)],
        tuple: lambda: [*map(identity, value)],
        dict: lambda: [(repr(key), identity(item)) for key, item in value.items()],
        set: lambda: {*map(repr, value)},
        ValueError: lambda: str(value),
        KeyError: lambda: str(value),
    }
    return type(value).__name__, says.get(type(value), lambda: value)()


@given(OUTPUTS, OUTPUTS)
@example([1], ["a"])
@example([2**53 + 1], [0.5])
@example([2**63], [-1])
@example([2**64], [1])
def test_a_row_depends_on_its_own_output_alone(first: list[Any], second: list[Any]) -> None:
    alone = [row(output) for output in first + second]
    assert rows(from_list(first + second)) == alone
    assert rows(concatenate([from_list(first), from_list(second)])) == alone
    assert rows(concatenate([from_list([output]) for output in first + second] or [from_list([])])) == alone


@dataclasses.dataclass
class Pair:
    a: Any
    b: Any


ALIKE = st.sampled_from(["list", "dict", "pair", "array"]).flatmap(
    lambda kind: st.lists(st.tuples(LEAVES, NUMBERS), max_size=6).map(
        lambda items: [
            {
                "list": lambda a=a, b=b: [b, (a, b)],
                "dict": lambda a=a, b=b: {"x": a, "y": [b]} if isinstance(b, int) else {"y": [b], "x": a},
                "pair": lambda a=a, b=b: Pair(a, {"z": b}),
                "array": lambda a=a, b=b: np.array([0.5, 1 if isinstance(b, bool) else -0.0]),
            }[kind]()
            for a, b in items
        ]
    )
)


@given(OUTPUTS | ALIKE | st.lists(TEXTS) | st.lists(ARRAYS, max_size=4))
@example([{"b": 1, "a": 2}, {"a": 1, "b": 2}, {"a": "x"}])
@example([{1: 0.5}, {True: 0.5}, {"1": 0.5}])
@example([1.5, None, "3.50", 1.5, 2**70, 2**60, -0.0])
def test_columns_are_those_of_the_rows(outputs: list[Any]) -> None:
    """Outputs that are flattened together give the same table as outputs that are flattened one by one."""
    together, one_by_one = from_list(outputs), from_list([row_of(output) for output in outputs])
    assert rows(together) == rows(one_by_one)
    assert {column.name for column in together.columns} == {column.name for column in one_by_one.columns}
    for column in together.columns:
        other = one_by_one.column(column.name)
        assert (column.codes is None, column.atoms) == (other.codes is None, other.atoms)


SHAPES = arrays.array_shapes(min_dims=1, max_dims=3, min_side=0, max_side=4)


@given(
    arrays.arrays(
        st.sampled_from([np.float64, np.int64, np.uint64, np.float16, np.bool_, np.complex128, "<U3"]), SHAPES
    )
    | arrays.arrays(object, SHAPES, elements=LEAVES),
    st.integers(0, 4),
)
def test_a_row_of_an_array_depends_on_that_row_alone(batch: Any, cut: int) -> None:
    cut = min(cut, len(batch))
    whole = rows(from_batch(batch, len(batch)))
    parts = [from_batch(batch[:cut], cut), from_batch(batch[cut:], len(batch) - cut)]
    assert rows(concatenate(parts)) == whole
    assert [rows(from_batch(batch[i : i + 1], 1))[0] for i in range(len(batch))] == whole


@pytest.mark.parametrize("longest", ["b", "longer"])
def test_the_type_of_a_row_of_strings_does_not_tell_how_long_the_others_are(longest: str) -> None:
    """NumPy makes all strings in an array as wide as the longest."""
    first, _ = rows(from_batch(np.array([["a"], [longest]]), 2))
    assert first == rows(from_batch(np.array([["a"]]), 1))[0]


@given(OUTPUTS, OUTPUTS, st.slices(6))
def test_a_slice_holds_the_same_rows(first: list[Any], second: list[Any], cut: slice) -> None:
    outputs = concatenate([from_list(first), from_list(second)])
    assert rows(outputs[cut]) == rows(outputs)[cut]
    assert outputs[cut].size == len(rows(outputs)[cut])


@given(NESTED | ARRAYS, NESTED | ARRAYS)
@example(2**53, 2**53 + 1)
@example(2**53, float(2**53))
@example(2**200, 2**200 + 1)
@example(10**400, 10**400 + 1)
@example(10**5000, -(10**5000))
@example([1], (1,))
@example([], ())
@example(1, True)
@example(1, 1.0)
@example(0.0, -0.0)
@example("NaN", math.nan)
@example("None", None)
@example({"a": 1}, {"a": 1, "b": None})
@example([1, [2]], [[1], 2])
@example(b"a", "a")
@example(1 + 0j, 1.0)
@example({0: 1}, [1])
@example(np.zeros((1, 2)), np.zeros((2, 1)))
@example(np.zeros(0), np.zeros((0, 3)))
def test_two_outputs_have_the_same_row_exactly_when_nothing_tells_them_apart(a: Any, b: Any) -> None:
    assert (row(a) == row(b)) == (identity(a) == identity(b))


@given(OUTPUTS)
def test_numbers_are_never_nan_and_never_minus_zero(outputs: list[Any]) -> None:
    for column in from_list(outputs).columns:
        assert not np.isnan(column.numbers).any()
        assert not np.signbit(column.numbers[column.numbers == 0]).any()


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        (1.5, {"output": 1.5, "type": "float"}),
        (np.float32(0.5), {"output": 0.5, "type": "numpy.float32"}),
        (3, {"output": 3.0, "type": "int"}),
        (True, {"output": 1.0, "type": "bool"}),
        (-0.0, {"output": 0.0, "type": "float"}),
        (math.nan, {"output": "NaN", "type": "float"}),
        (-math.inf, {"output": -math.inf, "type": "float"}),
        (None, {"output": "None", "type": "NoneType"}),
        ("yes", {"output": "'yes'", "length of output": 3.0, "type": "str"}),
        ([], {"length of output": 0.0, "type": "list"}),
        ((1.0, None), {"output[0]": 1.0, "output[1]": "None", "type of output[1]": "NoneType"}),
        ({"a": [2.0]}, {"output['a'][0]": 2.0, "length of output['a']": 1.0, "type": "dict"}),
        ({"x"}, {"'x' in output": "yes", "length of output": 1.0, "type": "set"}),
        (ValueError("no"), {"output": "raises ValueError", "message of output": "'no'", "type": "exception"}),
        (SystemExit(0), {"output": "raises SystemExit", "message of output": "'0'", "type": "exception"}),
        (2 - 0.0j, {"output.real": 2.0, "output.imag": 0.0, "type": "complex"}),
        (2**53 + 1, {"output": 2.0**53, "rounded off output": 1.0, "type": "int"}),
        (np.array([[1.5]]), {"output[0,0]": 1.5, "shape of output": "(1, 1)", "type": "array of float64"}),
        (memoryview(b"ab"), {"output[0]": 97.0, "shape of output": "(2,)", "type": "memoryview"}),
        (Odd(), {"output": "Odd that raises RuntimeError", "type": "Odd"}),
        (WordlessError(), {"message of output": "WordlessError that raises RuntimeError", "type": "exception"}),
    ],
    ids=lambda value: type(value).__name__ if not isinstance(value, dict) else "",
)
def test_each_kind_of_output_stands_under_its_place(output: Any, expected: Row) -> None:
    cells = row(output)
    assert {name: cells.get(name) for name in expected} == expected


def test_outputs_of_several_forms_in_turn_are_those_of_each_alone() -> None:
    outputs = [{"a": 1, "b": 0}, {"a": 2, "c": 0}, {"a": 3, "b": 0}, {"d": 5}, {"a": 4, "c": 0}]
    for output, together in zip(outputs, rows(from_list(outputs)), strict=True):
        alone = row(output)
        assert {name: together[name] for name in alone} == alone


@pytest.mark.parametrize("large", [np.array([2**60, 2**60 + 1]), np.array([2**64 - 1, 2**64 - 2], np.uint64)])
def test_large_integers_of_an_array_are_told_apart(large: Any) -> None:
    first, second = rows(from_batch(large, 2))
    assert first != second
    assert [first, second] == [{**row(int(n)), "type": "number"} for n in large]


def test_long_doubles_are_told_apart() -> None:
    """NumPy has no Python number for these, since they have more digits than a float."""
    third = np.longdouble(1) / 3
    for make in (lambda x: x, lambda x: [x], lambda x: np.array([x]), lambda x: x * (1 + 0j)):
        assert row(make(third)) != row(make(np.nextafter(third, np.longdouble(1))))
    assert row(np.longdouble(0.5))["output"] == 0.5
    batch = np.array([third, 0.5, -0.0, math.nan], np.longdouble)
    assert [entry["output"] for entry in rows(from_batch(batch, 4))] == [float(third), 0.5, 0.0, "NaN"]


def test_large_integers_keep_their_order() -> None:
    table = rows(from_list([2**60, 2**61, 2**62]))
    assert [entry["output"] for entry in table] == [2.0**60, 2.0**61, 2.0**62]


def test_one_rare_output_does_not_change_what_is_said_of_the_others() -> None:
    """NumPy turns integers into floats if there is one float among them; the other rows must not show it."""
    plain, promoted = (from_batch(np.array(batch), 3) for batch in ([1, 2, 3], [1, 2, 0.5]))
    assert rows(plain)[:2] == rows(promoted)[:2]


def test_outputs_do_not_change_when_a_mechanism_uses_its_array_again() -> None:
    for dtype in (np.float64, np.int64, np.bool_):
        batch = np.zeros((3, 2), dtype)
        outputs = from_batch(batch, 3)
        batch[:] = 1
        assert {entry["output[0]"] for entry in rows(outputs)} == {0.0}


@pytest.mark.parametrize(
    "batch",
    [np.zeros(3), np.zeros((3, 2)), [1, 2, 3], np.zeros(0), [], 5.0, None, np.float64(1), np.array(1.0), object()],
)
def test_a_batch_of_the_wrong_size_is_an_error_that_names_both_sizes(batch: Any) -> None:
    with pytest.raises(MechanismError, match="for a batch of 2") as caught:
        from_batch(batch, 2)
    assert "the first axis" in str(caught.value) or "whose first axis is size" in str(caught.value)


@pytest.mark.parametrize("batch", ["ab", b"ab", {0: 1.0, 1: 2.0}, {1, 2}, frozenset({1, 2}), {1: 0, 2: 0}.keys()])
def test_what_has_a_length_but_no_first_axis_is_no_batch(batch: Any) -> None:
    """A dictionary with two entries would be taken for its keys, and its values would be lost."""
    with pytest.raises(MechanismError, match="whose first axis is size"):
        from_batch(batch, 2)


def test_a_table_whose_length_counts_something_else_is_no_batch() -> None:
    class Frame:
        """Like a pandas.DataFrame, whose length is its number of rows and which yields the names of its columns."""

        def __len__(self) -> int:
            return 2

        def __iter__(self) -> Any:
            return iter(["a", "b", "c"])

    with pytest.raises(MechanismError, match="holds 3 outputs"):
        from_batch(Frame(), 2)


def test_a_place_that_no_output_has_is_absent_everywhere() -> None:
    column = from_list([1, 2, 3]).column("output[7]")
    assert column.codes is not None
    assert [column.atoms[code] for code in column.codes] == [ABSENT] * 3


def test_outputs_that_are_all_exceptions_are_a_failure_and_no_others_are() -> None:
    assert from_list([ValueError("no"), KeyError("a")]).failure() == "raises ValueError: 'no'"
    assert from_list([ValueError("no"), 1.0]).failure() is None
    assert from_list([1.0, ValueError("no")]).failure() is None
    assert from_list([]).failure() is None
    assert from_batch(np.zeros(3), 3).failure() is None
    assert from_list(["raises ValueError"]).failure() is None


async def later() -> float:
    return 1.0


class Silent:
    """Its text shows nothing of its content."""


class SilentSession(Silent):
    """A session, whose content shows only in its answers."""

    def __call__(self, question: str) -> float:
        return 1.0


def sqlite_row() -> sqlite3.Row:
    connection = sqlite3.connect(":memory:")
    connection.row_factory = sqlite3.Row
    row: sqlite3.Row = connection.execute("SELECT 1 AS number").fetchone()
    connection.close()
    return row


@pytest.mark.parametrize(
    ("output", "way_out"),
    [
        (later, "name the function"),
        (SilentSession(), "if it is a session that is asked questions, say which with `ask`"),
        (later(), "asyncio.run"),
        (iter([1]), "a list of the values that it yields"),
        (io.StringIO("1"), r"`\.getvalue\(\)`"),
        (sqlite_row(), r"return dict\(\.\.\.\) of it"),
        (polars.LazyFrame({"a": [1.0]}), r"`\.collect\(\)`"),
        (Silent(), "a __repr__ that shows all it holds"),
        ([1, {"a": (Silent(),)}], "a __repr__ that shows all it holds"),
        ({(1, Silent()): 1}, "lists or dicts"),
    ],
    ids=[
        "a function",
        "a session",
        "asynchronous",
        "an iterator",
        "a file in memory",
        "a row of a database",
        "a lazy frame",
        "an object",
        "an object inside",
        "a key",
    ],
)
def test_what_does_not_tell_what_it_holds_is_no_output(output: Any, way_out: str) -> None:
    """Their texts are addresses: all differ, none shows the content, and a leak would go unnoticed."""
    with pytest.raises(MechanismError, match=way_out):
        from_list([output])


def test_words_that_look_like_an_address_are_words() -> None:
    assert row("<x at 0x7f9e30d0e5d0>")["output"] == "'<x at 0x7f9e30d0e5d0>'"
    assert row(ValueError("<x at 0x7f9e30d0e5d0>"))["output"] == "raises ValueError"
    assert row(Silent)["type"] == "type"


@dataclasses.dataclass
class Record:
    a: float
    b: Any


def test_a_record_s_fields_are_places() -> None:
    """NumPy prints eight digits only."""
    nearly = [Record(1.0, np.array([1 / 3])), Record(1.0, np.array([1 / 3 + 1e-12]))]
    assert row(nearly[0]) != row(nearly[1])
    assert row(nearly[0])["output.b[0]"] == 1 / 3


def test_series_and_frames_are_read_to_the_last_digit_and_row() -> None:
    pd = pytest.importorskip("pandas")
    many = [pd.Series([1 / 3 + tiny] * 100) for tiny in (0.0, 1e-12)]
    assert row(many[0])["output[50]"] == 1 / 3
    assert row(many[0]) != row(many[1])
    frames = [pd.DataFrame({name: [1.5]}, index=[label]) for name, label in (("a", 0), ("b", 0), ("a", 1))]
    assert row(frames[0])["output[0,0]"] == 1.5
    assert len({str(row(frame)) for frame in frames}) == 3


def test_an_object_that_should_be_an_array_and_cannot_is_refused() -> None:
    class Tensor:
        def __array__(self, *arguments: Any, **more: Any) -> Any:
            raise RuntimeError("it requires a gradient")

    with pytest.raises(
        MechanismError, match="Tensor, which cannot be read as an array: RuntimeError: it requires a gradient"
    ):
        from_list([Tensor()])


def test_an_object_without_a_reason_is_refused_by_the_kind_of_its_error() -> None:
    class Silent:
        def __array__(self, *arguments: Any, **more: Any) -> Any:
            raise SystemExit

    with pytest.raises(MechanismError, match=r"as an array: SystemExit \(.*line \d+\); return"):
        row_of(Silent())


@dataclasses.dataclass
class Holder:
    held: Any


def holding_itself(kind: str) -> Any:
    """Return an output that contains itself, or one that is nested in 1,000 levels."""
    inside: list[Any] = [0.5]
    match kind:
        case "list":
            inside.append(inside)
        case "dict":
            inside.append({"a": inside})
        case "tuple":
            inside.append((inside,))
        case "attribute":
            inside.append(Holder(inside))
        case "array":
            inside.append(np.array([inside, None], object))
        case _:
            for _ in range(1_000):
                inside = [inside]
    return inside


@pytest.mark.parametrize("kind", ["list", "dict", "tuple", "attribute", "array", "deep"])
@pytest.mark.parametrize(
    "read", [row_of, lambda output: from_list([output] * 3), lambda output: from_batch([output], 1)]
)
def test_an_output_that_holds_itself_or_is_too_deep_is_refused_in_words(kind: str, read: Any) -> None:
    with pytest.raises(
        MechanismError, match=r"holds itself, or is nested too deep to be read; return numbers"
    ) as raised:
        read(holding_itself(kind))
    assert "auditor/blackbox" not in str(raised.value)


@pytest.mark.parametrize("read", [row_of, lambda output: from_list([output] * 3)])
def test_a_list_that_holds_one_list_again_and_again_has_too_many_places(read: Any) -> None:
    output: list[Any] = [0.5]
    for _ in range(40):
        output = [output, output]
    with pytest.raises(MechanismError, match="more than 100,000 parts, the limit"):
        read(output)


def test_other_keys_in_each_output_are_refused_and_many_keys_are_not() -> None:
    other = [{f"k{i}": 0.5} for i in range(5_000)]
    for refused in (
        lambda: from_list(other),
        lambda: from_list([*map(row_of, other)]),
        lambda: concatenate([from_list([output]) for output in other]),
    ):
        with pytest.raises(
            MechanismError, match=r"more than 4,096 different places, such as .*; return dicts with the same"
        ):
            refused()
    same = [dict.fromkeys(map(str, range(5_000)), 0.5)] * 3
    assert len(concatenate([from_list(same), from_list([*map(row_of, same)])]).columns) > 5_000


def test_a_long_text_of_an_exception_is_cut() -> None:
    [said] = [
        column.atoms for column in from_list([ValueError("x" * 5_000_000)] * 2).columns if "message" in column.name
    ]
    assert said == (repr("x" * 1_000 + "… (5,000,000 letters, digest 03a7bd518f3e4eca)"),)


def test_what_a_library_registers_for_the_types_of_others_changes_no_digest(monkeypatch: pytest.MonkeyPatch) -> None:
    """loky and tblib, which dask imports, register ways to pickle Python's own types, and only in some processes."""
    output = collections.deque([ValueError("spent"), re.compile("a+"), str.join, ValueError])
    before = row_of([output])
    # pickle's dispatch table contains only types that pickle looks up there, and no classes.
    for kind in (ValueError, collections.deque, type(str.join)):
        monkeypatch.setitem(copyreg.dispatch_table, kind, lambda value: (str, (repr(value),)))
    assert row_of([output]) == before


def test_an_exception_that_was_looked_at_has_the_digest_of_one_that_was_not() -> None:
    at_rest, observed, with_more = ValueError("spent"), ValueError("spent"), ValueError("spent")
    assert vars(observed) == {}
    with_more.left = 1.0  # type: ignore[attr-defined]
    rows = [row_of(types.SimpleNamespace(last=collections.deque([error]))) for error in (at_rest, observed, with_more)]
    assert rows[0] == rows[1] != rows[2]


@pytest.mark.parametrize(
    ("dtype", "value", "other", "between"),
    [
        ("g", 1.5, 2.5, slice(10, 16)),
        ("G", 1.5j, 2.5j, slice(26, 32)),
        (np.dtype([("a", "i1"), ("b", "f8")], align=True), (1, 1.5), (2, 1.5), slice(1, 8)),
    ],
)
def test_bytes_between_numbers_change_no_digest(dtype: Any, value: Any, other: Any, between: slice) -> None:
    """A long double has 10 bytes, and is kept in 16."""
    if np.finfo("g").nmant != 63:
        pytest.skip("long doubles of this machine are no x87 numbers")

    def array(number: Any, filler: int) -> Any:
        made: Any = np.array([number] * 3, dtype)
        made.view("u1").reshape(3, -1)[:, between] = filler
        return made

    assert array(value, 0).tobytes() != array(value, 255).tobytes()
    for kind in (lambda array: array, lambda array: array[0]):
        outputs = [kind(array(value, 0)), kind(array(value, 255)), kind(array(other, 0))]
        rows = [row_of(types.SimpleNamespace(last=collections.deque([output]))) for output in outputs]
        assert rows[0] == rows[1] != rows[2]


def test_a_class_made_for_an_output_has_the_digest_of_what_it_holds() -> None:
    """cloudpickle gives such a class a random name, so that its pickle differs from process to process."""

    def output(number: int) -> Any:
        return types.SimpleNamespace(kind=type("Local", (), {"number": number, "__module__": "nowhere"}))

    assert row_of(output(1)) == row_of(output(1)) != row_of(output(2))


def test_a_class_or_function_by_value_is_digested_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a memo pickle would meet it again and again, for five thousand rounds."""
    asked = list[Any]()
    usual = digests._pickler().reducer_override

    def counting(pickler: Any, value: Any) -> Any:
        asked.append(value)
        return usual(pickler, value)

    class Local(Exception):  # noqa: N818 - of a mechanism in a notebook
        limit = 3

        def __str__(self) -> str:
            return "spent"

    monkeypatch.setattr(digests._pickler(), "reducer_override", counting)
    values = Local, Local("left"), lambda: Local.limit, {"kind": Local}
    seen = [digests.digest_of(value) for value in values]
    assert len(asked) < 200
    assert seen == [
        digests.DIGEST + hashlib.sha256(digests._pickle(value, fast=False)).hexdigest()[:16] for value in values
    ]


def test_an_address_in_the_message_of_an_exception_within_an_exception_is_not_read() -> None:
    outputs = [
        ValueError(ValueError(memoryview(b""))) for _ in range(3)
    ]  # alive at the same time, so at three addresses
    first, *others = map(row_of, outputs)
    assert others == [first, first]


def test_exact_numbers_lie_on_the_line() -> None:
    parts = {"numerator of output": 1.0, "denominator of output": 4.0}
    assert row(Fraction(1, 4)) == {"output": 0.25, **parts, "type": "Fraction"}
    assert row(Decimal("0.10"))["output"] == 0.1
    assert row(Decimal("0.10")) != row(Decimal("0.1"))
    assert row(Fraction(1, 3)) != row(Fraction(1, 3) + Fraction(1, 10**40))
    assert [row(Decimal(word))["output"] for word in ("NaN", "-Infinity")] == ["NaN", -math.inf]


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        ({"b": 1.5, "a": 2.5}, {"position of output['b']": 0.0, "position of output['a']": 1.0}),
        ({2: 1.5, 10: 2.5}, {"position of output[2]": None, "output[10]": 2.5}),
        ({10: 1.5, 2: 2.5}, {"position of output[10]": 0.0, "position of output[2]": 1.0}),
        ("2.50", {"output": 2.5, "decimals of output": 2.0, "length of output": 4.0, "type": "str"}),
        ("1e-07", {"output": 1e-07, "form of output": "scientific"}),
        ("-0", {"output": 0.0, "sign of output": "-0.0"}),
        ("mean,2.5", {"output field 0": "'mean'", "output field 1": 2.5, "fields of output": 2.0}),
        ("Smith, John", {"output": "'Smith, John'"}),
        ("1" * 61, {"output": repr("1" * 61)}),
        ("1970-01-03", {"output": "'1970-01-03'", "time of output": 2 * 86_400e6, "length of output": 10.0}),
        ("1970-01-01 00:00:01.5", {"time of output": 1.5e6}),
        ("1970-01-01T02:00Z", {"time of output": 7_200e6}),
        ("1970-01-01T02:00:00+02:00", {"time of output": 0.0}),
        ("1970-02-30", {"output": "'1970-02-30'", "time of output": None}),
        ("on 1970-01-03", {"output": "'on 1970-01-03'", "time of output": None}),
        (date(1970, 1, 3), {"output": 2.0, "type": "date"}),
        (datetime(1970, 1, 1, 0, 0, 1), {"output": 1e6, "type": "datetime"}),
        (datetime(1970, 1, 1, tzinfo=UTC), {"time zone of output": "datetime.timezone.utc, 0:00:00"}),
        (timedelta(days=-1), {"output": -86_400e6}),
        (np.datetime64("1970-01-02", "s"), {"output": 86_400.0, "type": "numpy.datetime64[s]"}),
        (np.timedelta64("NaT"), {"output": "NaT"}),
    ],
    ids=str,
)
def test_how_an_output_is_written_stands_beside_its_value(output: Any, expected: Row) -> None:
    cells = row(output)
    assert {name: cells.get(name) for name in expected} == expected


LONG = "0." + "123456789" * 10


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (f"{LONG}1", f"{LONG}2"),
        (f"{LONG}E1", f"{LONG}e1"),
        ("1e400", "2e400"),
        ("-1e400", "-1E400"),
        ("1e-400", "2e-400"),
    ],
)
def test_numbers_of_a_program_that_no_float_shows_are_told_apart(first: str, second: str) -> None:
    rows = [row_of(value_of(text.encode(), 1)) for text in (first, second)]
    assert rows[0] != rows[1]
    assert rows[0]["output"] == rows[1]["output"] == float(first)
    assert row_of([value_of(first.encode(), 1)]) != row_of([value_of(second.encode(), 1)])


@given(st.lists(st.datetimes(), min_size=2, max_size=2) | st.lists(st.timedeltas(), min_size=2, max_size=2))
def test_times_keep_their_order(times: list[Any]) -> None:
    first, second = (row(time) for time in sorted(times))
    assert first["output"] <= second["output"]


def test_scalars_of_pandas_are_numbers() -> None:
    pd = pytest.importorskip("pandas")
    for early, late in (
        (pd.Timestamp("2026-01-01"), pd.Timestamp("2026-01-01 00:00:01")),
        (pd.Timedelta("1s"), pd.Timedelta("2s")),
    ):
        assert row(early)["output"] < row(late)["output"]
    assert row(pd.Timestamp("2026-01-01") + pd.Timedelta("1ns"))["nanoseconds of output"] == 1.0
    assert row(pd.NaT)["output"] == "NaT"
    assert row(pd.Period("2026-01", "M"))["output.ordinal"] < row(pd.Period("2026-02", "M"))["output.ordinal"]
    assert row(pd.Interval(0, 5))["output.right"] == 5.0


class OfAnotherClass(np.ndarray[Any, Any]):
    pass


def test_arrays_of_another_class_keep_their_own_numbers() -> None:
    arrays_of_it = [np.array([number, 1.0]).view(OfAnotherClass) for number in (0.5, 2.0)]
    table = rows(from_list(arrays_of_it))
    assert table == [row(array) for array in arrays_of_it]
    assert [array["output[0]"] for array in table] == [0.5, 2.0]


@pytest.mark.parametrize("read", [row, lambda output: from_list([output] * 3), lambda output: row({"a": output})])
def test_a_masked_array_is_refused_wherever_it_stands(read: Any) -> None:
    with pytest.raises(MechanismError, match="masked array; return an array, with NaN"):
        read(np.ma.array([0.5, 1.0], mask=[False, True]))


class Lying(list[float]):
    def __iter__(self) -> Any:
        return itertools.count()


@pytest.mark.parametrize("read", [row_of, lambda output: from_list([output] * 3)])
def test_a_list_with_more_items_than_its_length_is_refused(read: Any) -> None:
    with pytest.raises(MechanismError, match="Lying, whose length differs from its number of items"):
        read(Lying([0.5]))


@pytest.mark.parametrize("name", hidden_kinds.DENIED)
def test_what_python_or_a_class_denies_is_read(name: str) -> None:
    """Two outputs that differ have different rows, both in the process that made them and in another."""
    make, rng = hidden_kinds.DENIED[name], np.random.default_rng(0)
    left, right = [rows(from_list([unseal(seal([make(side, rng)]))])) for side in (0, 1)]
    assert left != right
    assert rows(from_list([[make(0, rng)]])) == left
    assert "cannot be read" not in str((left, right))


class Spelled:
    def __repr__(self) -> str:
        return "an object"


class OfAnyKind(Spelled, Generic[_T]):
    pass


class WithSlots(Spelled):
    __slots__ = ("mean",)


class OfNamespace(types.SimpleNamespace):
    pass


@pytest.mark.parametrize("kind", [types.SimpleNamespace, OfNamespace, Spelled, OfAnyKind, WithSlots])
def test_an_object_that_holds_its_attributes_alone_is_read_whole(kind: Any) -> None:
    """A digest beside them would be a part that was not read, and would make a sound mechanism's verdict weak."""
    output = kind()
    output.mean = 0.5
    row = row_of(output)
    assert row["attributes of output['mean']"] == 0.5
    assert "rest of output" not in row


class OfPartial(Spelled, functools.partial):  # type: ignore[type-arg]
    pass


@pytest.mark.parametrize("kind", [functools.partial, OfPartial])
def test_an_object_that_holds_more_than_its_attributes_has_a_digest(kind: Any) -> None:
    assert "rest of output" in row_of(kind(math.sqrt, 2.0))


@pytest.mark.parametrize("library", [pandas, polars])
def test_a_frame_is_no_batch(library: Any) -> None:
    """A frame's length is its number of rows, but it yields columns: a square frame has as many of them."""
    with pytest.raises(MechanismError, match="whose items are columns"):
        from_batch(library.DataFrame({"a": [1.0, 2.0], "b": [3.0, 4.0]}), 2)


def test_seals_do_not_depend_on_what_was_sealed_before_or_meanwhile() -> None:
    """A pickler serves many outputs, one after another: also after one that it refused half-way, and in several threads."""

    class Own:
        def __repr__(self) -> str:
            return "Own"

    kept = [[0.0], {"a": [1]}]
    small = seal([[1]])
    for refused in ([[1], Own()], [kept, Own()]):
        assert isinstance(seal(refused), dict), "its leaves"
        kept[0][0] += 1.0  # type: ignore[index, operator]
        assert unseal(seal(kept)) == kept
        assert seal([[1]]) == small
    outputs = [[[n, [n]], {"a": (n, [str(n)])}] for n in range(2_000)]
    with ThreadPoolExecutor(4) as threads:
        for sealed in threads.map(lambda _: [*map(seal, outputs)], range(8)):
            assert [*map(unseal, sealed)] == outputs
