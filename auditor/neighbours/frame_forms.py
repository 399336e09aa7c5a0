"""How a frame is passed to a mechanism: as rows, or as a frame of pandas or polars.

One thing has four names: a container here, ``form=`` of a Frame in Python, ``as:`` in YAML, and for a Pair a TableForm
(its DataForm). A pair holds rows, each a dict of plain values. Types follow from the columns and never from the values,
since they must not reveal the side. Each library is an extra, imported when its container is made.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from importlib.util import find_spec
from typing import Any

import numpy as np

from auditor.errors import InvalidInputError, require_known
from auditor.neighbours.columns import FLOATS, INTEGERS, Column
from auditor.neighbours.pair import DataForm
from auditor.untrusted_files import floats_as_words

Columns = Mapping[str, Column]
ColumnLists = Mapping[str, list[Any]]


@dataclass(frozen=True, slots=True)
class Container:
    """A container of frames: its name, how to make it, its Python code, the library it needs, whether it is JSON."""

    words: str
    made: Callable[[Columns, ColumnLists], Any]
    code: Callable[[Any], str]
    library: str = ""
    is_json: bool = False


@dataclass(frozen=True)
class TableForm(DataForm):
    """The DataForm of frames: passes these columns in the container called ``name``."""

    name: str
    columns: Columns

    def __str__(self) -> str:
        return CONTAINERS[self.name].words

    @property
    def is_json(self) -> bool:  # type: ignore[override]
        """Whether programs can receive the container."""
        return CONTAINERS[self.name].is_json

    def build(self, data: Any, other: Any) -> Any:
        values = {name: [_value(column, row[name]) for row in data] for name, column in self.columns.items()}
        return CONTAINERS[self.name].made(self.columns, values)

    def code(self, built: Any) -> str:
        return CONTAINERS[self.name].code(built)


def _value(column: Column, value: Any) -> Any:
    """Return the value of a column, which may come from a report: JSON has NaN and infinities as text."""
    if column.type in ("text", "categorical"):
        return floats_as_words(value)
    return float(value) if column.type == "number" and value is not None else value


def _kind_of(column: Column) -> str:
    """Return the NumPy dtype of a column; for a categorical column, that of its choices."""
    if column.type in ("number", "integer"):
        return column.stored_as
    if column.type == "boolean":
        return "bool"
    if column.type == "categorical":
        types = {type(choice).__name__ for choice in column.choices or ()}
        only = types.pop() if len(types) == 1 else "object"
        return {"int": "int64", "float": "float64"}.get(only, only)
    return {"date": "datetime64[D]", "datetime": f"datetime64[{column.stored_as}]", "text": "str"}[column.type]


def _array_of(column: Column, values: Sequence[Any]) -> Any:
    """Return a NumPy array. A missing float is NaN, a missing time NaT; other columns with null have dtype object."""
    kind = _kind_of(column)
    keeps_null = kind in FLOATS or kind.startswith("datetime")
    if kind in ("object", "str") or (column.null and not keeps_null):
        # A text dtype has a width, which would depend on the values.
        array = np.empty(len(values), object)
        array[:] = values
        return array
    return np.array(values, kind)


def _rows(columns: Columns, values: ColumnLists) -> list[dict[str, Any]]:
    return [dict(zip(values, row, strict=True)) for row in zip(*values.values(), strict=True)]


def _pandas(columns: Columns, values: ColumnLists) -> Any:
    import pandas

    return pandas.DataFrame({name: _series(column, values[name]) for name, column in columns.items()})


def _series(column: Column, values: list[Any]) -> Any:
    """Return a pandas Series. Integers and booleans with null have pandas' own dtypes, such as Int64 and boolean."""
    import pandas

    kind = _kind_of(column)
    if column.stored_as == "category":
        return pandas.Series(pandas.Categorical(values, categories=list(column.choices or ())))
    if column.null and (kind in INTEGERS or kind == "bool"):
        own = "boolean" if kind == "bool" else kind.replace("int", "Int").replace("u", "U")
        return pandas.Series(values, dtype=own)
    if kind == "str":
        return pandas.Series(values, dtype="str" if int(pandas.__version__.split(".")[0]) >= 3 else "object")
    array = _array_of(column, values)
    return pandas.Series(array.astype("datetime64[s]") if kind == "datetime64[D]" else array)


def _pandas_code(built: Any) -> str:
    types = [
        f"{name!r}: pandas.CategoricalDtype({kind.categories.tolist()!r})"
        if hasattr(kind, "categories")
        else f"{name!r}: {str(kind)!r}"
        for name, kind in built.dtypes.items()
    ]
    columns_of_objects = {
        name: column.astype(object).where(column.notna(), None).tolist() for name, column in built.items()
    }
    return f"pandas.DataFrame({_spelled(columns_of_objects)}).astype({{{', '.join(types)}}})"


def _polars(columns: Columns, values: ColumnLists) -> Any:
    import polars

    def type_of(column: Column) -> Any:
        kind = _kind_of(column)
        if column.stored_as == "category":
            return polars.Enum(list(map(str, column.choices or ())))
        if column.type == "datetime":
            unit: Any = column.stored_as
            return polars.Datetime("ms" if unit == "s" else unit)
        names = {"bool": "Boolean", "str": "String", "datetime64[D]": "Date", "object": "Object"}
        return getattr(polars, names.get(kind, kind.title().replace("int", "Int").replace("Uint", "UInt")))

    types = {name: type_of(column) for name, column in columns.items()}
    return polars.DataFrame(_read(columns, values), schema=types, strict=False)


def _polars_code(built: Any) -> str:
    schema = ", ".join(f"{name!r}: polars.{kind!r}" for name, kind in built.schema.items())
    return f"polars.DataFrame({_spelled(built.to_dict(as_series=False))}, {{{schema}}})"


def _read(columns: Columns, values: ColumnLists) -> dict[str, list[Any]]:
    """Return the values, with dates and times as Python objects, and categories as text."""
    readers: dict[str, Callable[[Any], Any]] = {"date": date.fromisoformat, "datetime": datetime.fromisoformat}
    as_lists = {}
    for name, column in columns.items():
        read = str if column.stored_as == "category" else readers.get(column.type)
        as_lists[name] = values[name] if read is None else [None if v is None else read(v) for v in values[name]]
    return as_lists


def _spelled(values: Any) -> str:
    """Return Python code for columns of values. NaN and infinities are written as float("nan"), float("inf")."""
    if isinstance(values, dict):
        return "{" + ", ".join(f"{name!r}: {_spelled(column)}" for name, column in values.items()) + "}"
    if isinstance(values, list):
        return f"[{', '.join(map(_spelled, values))}]"
    if isinstance(values, np.ndarray):
        return f"numpy.array({_spelled(values.tolist())}, {values.dtype.str!r})"
    if isinstance(values, float) and not math.isfinite(values):
        return f'float("{values}")'
    return repr(values.to_pydatetime() if hasattr(values, "to_pydatetime") else values)


# The containers, by the name in ``form=`` and ``as:``. Three other files name them too: config/schema.py (the values of
# ``as:``), neighbours/pair.py (``rows_of`` turns a container back into rows), config/scaffold.py (proposes one).
CONTAINERS = {
    "rows": Container("lists of dicts", _rows, _spelled, is_json=True),
    "pandas": Container("pandas DataFrames", _pandas, _pandas_code, "pandas"),
    "polars": Container("polars DataFrames", _polars, _polars_code, "polars"),
    "lazy": Container(
        "polars LazyFrames",
        lambda columns, values: _polars(columns, values).lazy(),
        lambda built: f"{_polars_code(built.collect())}.lazy()",
        "polars",
    ),
}
# Containers of earlier versions, and what to write instead: the libraries convert their frames in one call.
INSTEAD = {
    "columns": "write `as: pandas`; of its frame, `{name: frame[name].to_numpy() for name in frame}` is a dict of NumPy arrays",
    "arrow": "write `as: polars`; `frame.to_arrow()` makes an Arrow table of its frame",
    "csv": "write `as: pandas`; `frame.to_csv(index=False)` makes CSV text of its frame. A program receives `as: rows`",
}


def form_named(name: str, columns: Columns) -> TableForm:
    """Return the form called ``name``. Raises InvalidInputError if it is unknown or its library is not installed."""
    if instead := INSTEAD.get(name):
        raise InvalidInputError(f"as is {name}, which is gone; {instead}")
    require_known("as is", [name], CONTAINERS)
    library = CONTAINERS[name].library
    if library and find_spec(library) is None:
        raise InvalidInputError(f"as: {name} needs {library}, which is not installed: pip install {library}")
    return TableForm(name, columns)
