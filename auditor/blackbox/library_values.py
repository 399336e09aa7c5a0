"""Arrays, columns, frames and scalars of libraries (pandas, polars, pyarrow, and any that NumPy reads as an array)."""

import array
import re
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from auditor.blackbox.digests import digest_of
from auditor.blackbox.known_types import library_of
from auditor.blackbox.number_text import Leaves
from auditor.blackbox.spelling import without_address
from auditor.errors import MechanismError
from auditor.foreign_code import describe_error, result_or_error

# The attributes by which libraries say how the items of an array, a column or a frame are held, and how it is named.
_DESCRIPTIONS = ("dtype", "dtypes", "schema", "type", "typecode", "format", "num_chunks", "name", "names", "attrs")


def is_array_like(value: Any) -> bool:
    """Whether NumPy reads a value as an array."""
    # Where an iterator of NumPy stands is not read, so none is read as an array.
    has_items = hasattr(value, "__array__") and not isinstance(value, type | np.floating | np.flatiter)
    return has_items or isinstance(value, memoryview | array.array)


def is_arrow_scalar(value: Any) -> bool:
    """Whether a value is a scalar of pyarrow."""
    return hasattr(value, "as_py") and not isinstance(value, type)


def _label_names(value: Any) -> list[str]:
    """Return the attributes that hold the labels of an object, such as a frame of pandas."""
    return [name for name in ("index", "columns") if hasattr(getattr(value, name, None), "__array__")]


def array_like_places(place: str, value: Any) -> list[str]:
    """Return the places of an array-like object: of its items, and of its labels."""
    return [place, *(f"{name} of {place}" for name in _label_names(value))]


def library_leaves(place: str, value: Any) -> Leaves:
    """Return how an array-like object, and its labels, hold their items, and their names."""
    leaves: Leaves = {}
    labels = {f"{name} of {place}": getattr(value, name) for name in _label_names(value)}
    for where, inside in {place: value, **labels}.items():
        if inside is not value:
            leaves[f"class of {where}"] = type(inside).__name__
        for name in _DESCRIPTIONS:
            description = result_or_error(getattr, inside, name, None)
            is_empty = isinstance(description, BaseException | dict) and not description
            if description is None or callable(description) or is_empty:
                continue
            items = result_or_error(list, description) if name == "dtypes" else None
            text = str([*map(without_address, items)]) if isinstance(items, list) else without_address(description)
            leaves[f"{'item type' if name == 'type' else name} of {where}"] = text
    emptied = result_or_error(_without_items, value)
    if emptied is not None and not isinstance(emptied, BaseException):
        leaves[f"rest of {place}"] = digest_of(emptied)
    return leaves


def _without_items(value: Any) -> Any:
    """Return an object of a library without its items: levels and categories that nothing uses, metadata, flags."""
    library = library_of(type(value))
    if library == "pandas":
        return value[:0]
    if library != "pyarrow":
        return value.iloc[:0] if hasattr(value, "iloc") else None
    columns = value.columns if hasattr(value, "columns") else [value]
    chunks = [chunk for column in columns for chunk in getattr(column, "chunks", [column])]
    dictionaries = [chunk.dictionary for chunk in chunks if hasattr(chunk, "dictionary")]
    return [getattr(value, "schema", None), getattr(value, "type", None), *dictionaries]


def array_like_parts(values: Sequence[Any]) -> Iterable[Any]:
    """Yield the items of each array-like object, and then its labels, as arrays. Raises MechanismError if an object cannot be
    read as an array.
    """
    for value in values:
        items = result_or_error(_items_as_array, value)
        if isinstance(items, BaseException):
            raise MechanismError(
                f"an output is {type(value).__name__}, which cannot be read as an array: {describe_error(items)}; return a "
                "NumPy array, or numbers"
            ) from None
        yield items
        yield from (np.asarray(getattr(value, name)) for name in _label_names(value))


def _items_as_array(value: Any) -> Any:
    """Return the items of an object as an array. Items of several types stay as they are: floats would lose digits of ids,
    and what tells a missing value from a NaN.
    """
    library = library_of(type(value))
    if library == "pandas" and hasattr(value, "dtypes"):
        if _TIME_OF_DAY.search(str(value.dtypes)):
            raise TypeError("it holds times of day in nanoseconds; return integers")
        kinds = {*value.dtypes} if hasattr(value, "columns") else {value.dtype}
        is_plain = len(kinds) == 1 and all(isinstance(kind, np.dtype) for kind in kinds)
        return np.asarray(value) if is_plain else value.to_numpy(dtype=object)
    rows = None
    if library == "polars" and hasattr(value, "get_columns"):
        rows = list(zip(*map(_items_of_polars, value.get_columns()), strict=True))
    elif library == "polars" and hasattr(value, "to_list"):
        rows = _items_of_polars(value)
    elif library == "pyarrow" and hasattr(value, "columns"):
        rows = list(zip(*map(_items_of_arrow, value.columns), strict=True))
    elif library == "pyarrow" and (getattr(value, "null_count", None) or _has_times_of_day(value)):
        rows = _items_of_arrow(value)
    if rows is None:
        return np.asarray(value)
    items = np.empty(value.shape if hasattr(value, "shape") else len(rows), dtype=object)
    items[:] = rows
    return items


# Times of Python have no nanoseconds. Where a library would leave them out, its integers are read instead. A name of a field
# that looks like such a type does no harm.
_NANOSECONDS_OF_POLARS = re.compile(r"'ns'|\bTime\b")
# Types whose integers are not what they stand for.
_CODED = re.compile(r"Categorical|Enum|Decimal")
_TIME_OF_DAY = re.compile(r"\btime64\[ns\]")


def _items_of_polars(column: Any) -> list[Any]:
    kind = str(column.dtype)
    if _NANOSECONDS_OF_POLARS.search(kind) is None:
        return list(column.to_list())
    if _CODED.search(kind):
        raise TypeError(f"its items are {kind}; return a column for each field")
    return list(column.to_physical().to_list())


def _has_times_of_day(value: Any) -> bool:
    return _TIME_OF_DAY.search(str(getattr(value, "type", ""))) is not None


def _items_of_arrow(column: Any) -> list[Any]:
    if _TIME_OF_DAY.fullmatch(str(column.type)):
        return list(column.cast("int64").to_pylist())
    if _has_times_of_day(column):
        raise TypeError(f"its items are {column.type}; return a column for each field")
    return list(column.to_pylist())


def item_of_arrow(scalar: Any) -> Any:
    """Return what a scalar of pyarrow stands for; a time of day in nanoseconds as an integer."""
    return scalar.value if _TIME_OF_DAY.fullmatch(str(getattr(scalar, "type", ""))) else scalar.as_py()
