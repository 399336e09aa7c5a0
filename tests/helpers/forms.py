"""Outputs in every form that mechanisms return, described by plain data from which any process can build them.

A *recipe* is ``[name, part, ...]``: the name of a form in FORMS, and its parts: numbers, texts, or recipes. ``recipes`` draws
nested ones. ``build`` makes the output in the process that runs the mechanism.
"""

import array
import collections
import datetime as dt
import enum
import math
import types
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from hypothesis import strategies as st

Recipe = Any


class Point(NamedTuple):
    x: Any
    y: Any = 0


@dataclass
class Result:
    value: Any
    note: str = "fine"


class Slots:
    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __repr__(self) -> str:
        return f"Slots({self.value!r})"


class Opaque:
    """An object with the same text whatever it contains."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __repr__(self) -> str:
        return "Opaque"


class Tagged(str):
    """A text with an attribute."""

    tag: Any = None


class Level(enum.Enum):
    LOW = 0
    HIGH = 1


class Flag(enum.IntFlag):
    A = 1
    B = 2


class RefusalError(ValueError):
    """A user-defined error."""


def _tagged(value: Any) -> Tagged:
    made = Tagged("text")
    made.tag = value
    return made


def _with_notes(value: Any) -> Exception:
    made = ValueError("out of budget")
    made.add_note(f"note {value!r}")
    return made


def _object_array(*values: Any) -> Any:
    made = np.empty(len(values), dtype=object)
    made[:] = values
    return made


def _pandas() -> Any:
    import pandas

    return pandas


def _polars() -> Any:
    import polars

    return polars


def _arrow() -> Any:
    import pyarrow

    return pyarrow


# Forms that hold one number: each gets a float.
OF_A_NUMBER: dict[str, Callable[[float], Any]] = {
    "float": float,
    "int": lambda v: int(_small(v) * 16),
    "numpy.float64": np.float64,
    "numpy.float32": np.float32,
    "numpy.float16": np.float16,
    "numpy.longdouble": np.longdouble,
    "numpy.int64": lambda v: np.int64(_small(v) * 16),
    "numpy.uint8": lambda v: np.uint8(int(_small(v) * 8) % 256),
    "numpy.complex128": np.complex128,
    "numpy.complex64": np.complex64,
    "complex": lambda v: complex(v, -v),
    "Decimal": lambda v: Decimal(repr(v)),
    "Fraction": lambda v: Fraction(v) if math.isfinite(v) else Fraction(0),
    "datetime": lambda v: dt.datetime(2026, 1, 1) + dt.timedelta(seconds=_small(v)),
    "date": lambda v: dt.date(2026, 1, 1) + dt.timedelta(days=int(_small(v))),
    "timedelta": lambda v: dt.timedelta(seconds=_small(v)),
    "numpy.datetime64": lambda v: (
        np.datetime64("2026-01-01T00:00:00", "us") + np.timedelta64(int(_small(v) * 1e6), "us")
    ),
    "numpy.timedelta64": lambda v: np.timedelta64(int(_small(v) * 1e6), "us"),
    "0-d array": np.array,
    "array of float64": lambda v: np.array([v, v]),
    "array of float32": lambda v: np.array([v, 1.0], dtype=np.float32),
    "array of >f8": lambda v: np.array([v], dtype=">f8"),
    "array of int32": lambda v: np.array([int(_small(v) * 16)], dtype=np.int32),
    "array of complex": lambda v: np.array([complex(v, 1.0)]),
    "array of 2 axes": lambda v: np.array([[v, 0.0], [1.0, v]]),
    "empty array": lambda v: np.zeros((0, int(min(abs(_small(v)), 50)))),
    "array of str": lambda v: np.array([repr(v), "s"]),
    "array of bytes": lambda v: np.array([repr(v).encode()]),
    "array of datetime64": lambda v: np.array([np.datetime64(int(_small(v) * 1e6), "us")]),
    "structured array": lambda v: np.array([(v, 1)], dtype=[("value", "f8"), ("n", "i4")]),
    "structured scalar": lambda v: np.array([(v, 1)], dtype=[("value", "f8"), ("n", "i4")])[0],
    "object array": lambda v: _object_array(v, "s"),
    "masked array": lambda v: np.ma.array([v, 1.0], mask=[False, True]),
    "array.array": lambda v: array.array("d", [v]),
    "memoryview": lambda v: memoryview(np.array([v])),
    "bytes": lambda v: repr(v).encode(),
    "bytearray": lambda v: bytearray(repr(v).encode()),
    "text of a number": repr,
    "text with a number": lambda v: f"the total is {v!r} units",
    "range": lambda v: range(int(min(abs(_small(v)), 50))),
    "set of a number": lambda v: {v},
    "set of numpy.float64": lambda v: {np.float64(v)},
    "dict keyed by a number": lambda v: {v: 1},
    "str with an attribute": _tagged,
    "dataclass": Result,
    "namedtuple": Point,
    "object with slots": Slots,
    "SimpleNamespace": lambda v: types.SimpleNamespace(value=v),
    "object of constant text": Opaque,
    "exception": ValueError,
    "exception of the mechanism": lambda v: RefusalError(f"spent {v!r}"),
    "exception with a note": _with_notes,
    "exception group": lambda v: ExceptionGroup("several", [ValueError(v), KeyError("k")]),
    "pandas.Series": lambda v: _pandas().Series([v, 1.0]),
    "pandas.DataFrame": lambda v: _pandas().DataFrame({"a": [v], "b": ["s"]}),
    "pandas.Index": lambda v: _pandas().Index([v]),
    "pandas.Timestamp": lambda v: _pandas().Timestamp("2026-01-01") + _pandas().Timedelta(seconds=_small(v)),
    "pandas.Timedelta": lambda v: _pandas().Timedelta(seconds=_small(v)),
    "pandas.Interval": lambda v: _pandas().Interval(min(_small(v), 0.0), max(_small(v), 0.0)),
    "pandas.Categorical": lambda v: _pandas().Categorical([repr(v), "s"]),
    "polars.Series": lambda v: _polars().Series("a", [v]),
    "polars.DataFrame": lambda v: _polars().DataFrame({"a": [v], "b": ["s"]}),
    "pyarrow.Array": lambda v: _arrow().array([v]),
    "pyarrow.Scalar": lambda v: _arrow().scalar(v),
    "pyarrow.Table": lambda v: _arrow().table({"a": [v]}),
}


def _small(v: float) -> float:
    """Return a number of moderate size, since dates and counts have limits."""
    return float(np.clip(v, -1e5, 1e5)) if math.isfinite(v) else 0.0


# Forms without a number.
CONSTANTS: dict[str, Callable[[], Any]] = {
    "None": lambda: None,
    "True": lambda: True,
    "numpy.True_": lambda: np.True_,
    "NaN": lambda: math.nan,
    "-0.0": lambda: -0.0,
    "infinity": lambda: math.inf,
    "numpy.float64(-0.0)": lambda: np.float64(-0.0),
    "large int": lambda: 2**60 + 1,
    "huge int": lambda: 10**400,
    "NaT": lambda: np.datetime64("NaT"),
    "pandas.NA": lambda: _pandas().NA,
    "enum": lambda: Level.HIGH,
    "flag": lambda: Flag.A | Flag.B,
    "aware time": lambda: dt.datetime(2026, 1, 1, tzinfo=dt.UTC),
    "empty list": list,
    "empty dict": dict,
    "empty set": set,
    "empty text": str,
    "exception without arguments": ValueError,
    "Ellipsis": lambda: ...,
    "type": lambda: int,
}
# Forms that hold others.
CONTAINERS: dict[str, Callable[..., Any]] = {
    "list": lambda *parts: list(parts),
    "tuple": lambda *parts: parts,
    "dict": lambda *parts: dict(zip("abcdefgh", parts, strict=False)),
    "dict keyed by many": lambda *parts: dict(
        zip((1, "1", (2, 3), None, True, 2.5, b"k", Level.LOW), parts, strict=False)
    ),
    "OrderedDict": lambda *parts: collections.OrderedDict(zip("abcdefgh", parts, strict=False)),
    "defaultdict": lambda *parts: collections.defaultdict(list, zip("abcdefgh", parts, strict=False)),
    "Counter": lambda *parts: collections.Counter({str(i): i + 1 for i, _ in enumerate(parts)}),
    "mappingproxy": lambda *parts: types.MappingProxyType(dict(zip("abcdefgh", parts, strict=False))),
    "deque": lambda *parts: collections.deque(parts),
    "bounded deque": lambda *parts: collections.deque(parts, maxlen=9),
    "namedtuple of": lambda *parts: Point(*parts[:2]) if parts else Point(0),
    "dataclass of": lambda *parts: Result(list(parts)),
    "namespace of": lambda *parts: types.SimpleNamespace(parts=parts),
    "object array of": _object_array,
    "exception of": ValueError,
    # Of numbers, since the order of texts in a set, and so its repr, differs from process to process.
    "frozenset": lambda *parts: frozenset(len(repr(part)) for part in parts),
}


def build(recipe: Recipe) -> Any:
    """Build the output of a recipe from new objects."""
    name, *parts = recipe
    if name in OF_A_NUMBER:
        with np.errstate(over="ignore"):
            return OF_A_NUMBER[name](float(parts[0]))
    if name in CONSTANTS:
        return CONSTANTS[name]()
    if name == "text":
        return parts[0]
    if name == "integer":
        return int(parts[0])
    return CONTAINERS[name](*map(build, parts))


NUMBERS = st.one_of(
    st.floats(-1e6, 1e6, allow_nan=False),
    st.sampled_from([0.0, -0.0, 1.0, 2.5, math.inf, -math.inf, math.nan, 1e300, 5e-324]),
).map(repr)  # as text, since the data sets of a pair are compared with each other
LEAVES = st.one_of(
    st.tuples(st.sampled_from(sorted(OF_A_NUMBER)), NUMBERS).map(list),
    st.sampled_from(sorted(CONSTANTS)).map(lambda name: [name]),
    st.text(max_size=12).map(lambda text: ["text", text]),
    st.integers(-(2**70), 2**70).map(lambda number: ["integer", str(number)]),
)


def _holding(inside: st.SearchStrategy[Recipe]) -> st.SearchStrategy[Recipe]:
    parts = st.lists(inside, max_size=3)
    return st.tuples(st.sampled_from(sorted(CONTAINERS)), parts).map(lambda drawn: [drawn[0], *drawn[1]])


recipes = st.recursive(LEAVES, _holding, max_leaves=6)
