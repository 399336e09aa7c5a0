"""An output of any kind as its leaves: numbers and words, each named by its place in the output."""

import inspect
import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields, is_dataclass
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from auditor.blackbox.number_text import EXACT, MINUS_ZERO, SEPARATORS, JsonNumber, Leaf, number_leaves
from auditor.errors import MechanismError

Leaves = dict[str, Leaf]

ARRAY_OF_NUMBERS = "array of numbers"
# Names have no widths, since widths of integers and strings depend on all outputs of a batch.
KIND = {"b": "bool", "i": "int", "u": "int", "f": "float", "U": "str", "S": "bytes"}
# Prefixes of leaves on how a value is written, not on what it is.
WRITTEN = ("position of ", "sign of ", "decimals of ", "exponent of ", "form of ")
# Parts of the scalars of pandas that are not numbers themselves.
PANDAS = {"Period": ("ordinal", "freqstr"), "Interval": ("left", "right", "closed")}
# The default repr of objects: a memory address.
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]{4,}>")
_DAY, _EPOCH = timedelta(days=1) // timedelta(microseconds=1), date(1970, 1, 1).toordinal()


def row_of(output: Any) -> Leaves:
    """Return the row of an output: its leaves by place, and the types on the way.

    Raises MechanismError if an object in it does not say what it holds.
    """
    leaves: Leaves = {}
    flatten("output", output, leaves)
    leaves["type"] = leaves.pop("type of output", "float")
    return leaves


def flatten(place: str, value: Any, leaves: Leaves) -> None:  # noqa: PLR0912 - a branch for each kind of value
    """Write the leaves of a value under their places. A number is a float unless its type is written too."""
    if isinstance(value, np.generic) and value.dtype.kind not in "Mm":
        value = value.item()
    kind = type_name(value)
    if kind != "float":
        leaves[f"type of {place}"] = kind
    if isinstance(value, np.ndarray):
        leaves[f"shape of {place}"] = str(value.shape)
        for index, item in np.ndenumerate(value):
            inside = f"{place}[{','.join(map(str, index))}]"
            flatten(inside, item, leaves)
            if kind == ARRAY_OF_NUMBERS:
                leaves.pop(f"type of {inside}", None)
    elif isinstance(value, dict):
        leaves[f"length of {place}"] = float(len(value))
        for at, name in positions(value):
            leaves[f"position of {place}[{name}]"] = float(at)
        for key, item in value.items():
            flatten(f"{place}[{spelled(key)}]", item, leaves)
    elif isinstance(value, list | tuple):
        leaves[f"length of {place}"] = float(len(value))
        for at, item in enumerate(value):
            flatten(f"{place}[{at}]", item, leaves)
    elif isinstance(value, set | frozenset):
        leaves[f"length of {place}"] = float(len(value))
        leaves.update({f"{spelled(item)} in {place}": "yes" for item in value})
    elif isinstance(value, BaseException):
        leaves[place] = f"raises {type(value).__name__}"
        leaves[f"message of {place}"] = spelled(value, str)
    elif isinstance(value, complex):
        _write_number(f"{place}.real", value.real, leaves)
        _write_number(f"{place}.imag", value.imag, leaves)
    elif isinstance(value, Fraction | Decimal):
        leaves.update(_exact_number(place, value))
    elif isinstance(value, np.datetime64 | np.timedelta64 | date | time | timedelta):
        leaves.update(_time_leaves(place, value))
    elif parts := parts_of(value):
        for name in parts:
            flatten(f"{place}.{name}", getattr(value, name), leaves)
    elif (hasattr(value, "__array__") and not isinstance(value, type)) or isinstance(value, memoryview):
        _flatten_array_like(place, value, leaves)
        leaves[f"type of {place}"] = kind
    elif isinstance(value, int | float):
        _write_number(place, value, leaves)
    elif isinstance(value, str | bytes):
        leaves.update(text_leaves(place, value))
    else:
        leaves[place] = spelled(value)


def parts_of(value: Any) -> tuple[str, ...]:
    """Return the names of a record's fields."""
    if is_dataclass(value) and not isinstance(value, type):
        return tuple(field.name for field in fields(value))
    names = PANDAS.get(type(value).__name__, ())
    return names if all(hasattr(value, name) for name in names) else ()


def positions(value: Mapping[Any, Any]) -> Iterable[tuple[int, str]]:
    """Return where each key stands, if the keys are not in their own order: of numbers, or else of the words for them."""
    keys = list(value)
    words = [spelled(key) for key in keys]
    own = keys if all(map(_is_number, keys)) else words
    return () if sorted(own) == own else enumerate(words)


def _is_number(key: Any) -> bool:
    return isinstance(key, int) or (isinstance(key, float) and not math.isnan(key))


def text_leaves(place: str, text: str | bytes) -> Leaves:
    """Return the value of a text that spells a number, with how it is written; of fields, each by itself; or the text."""
    if isinstance(text, JsonNumber):
        return number_leaves(place, text) or {place: float(text)}
    leaves: Leaves = {}
    if isinstance(text, str):
        leaves = number_leaves(place, text) or _field_leaves(place, text)
    return {**(leaves or {place: spelled(text)}), f"length of {place}": float(len(text))}


def _field_leaves(place: str, text: str) -> Leaves:
    """Return the leaves of a line of fields, as of CSV; none where no field is a number."""
    for separator in SEPARATORS:
        parts = text.split(separator)
        numbers = [number_leaves(f"{place} field {at}", part) for at, part in enumerate(parts)]
        if len(parts) > 1 and any(numbers):
            leaves: Leaves = {place: f"fields between {separator!r}", f"fields of {place}": float(len(parts))}
            for at, (part, number) in enumerate(zip(parts, numbers, strict=True)):
                leaves.update(number or {f"{place} field {at}": repr(part)})
            return leaves
    return {}


def _exact_number(place: str, value: Fraction | Decimal) -> Leaves:
    """Return the nearest float, the rounding error, and the exponent of a decimal."""
    if isinstance(value, Decimal) and not value.is_finite():
        return {place: "NaN" if value.is_nan() else float(value)}
    try:
        found: Leaves = {place: float(value) + 0.0}
        left_over = Fraction(value) - Fraction(found[place])
    except OverflowError:
        return {place: math.inf if value > 0 else -math.inf, f"rounded off {place}": repr(value)}
    if left_over:
        found[f"rounded off {place}"] = str(left_over)
    if isinstance(value, Decimal):
        found[f"exponent of {place}"] = float(value.as_tuple().exponent)
        if value.is_signed() and not value:
            found[f"sign of {place}"] = MINUS_ZERO
    return found


def _time_leaves(place: str, value: Any) -> Leaves:
    """Return a date in days since 1970, a time in microseconds (NumPy: in its own unit), and what else the value says."""
    if str(value) == "NaT":
        return {place: "NaT"}
    leaves: Leaves = {}
    match value:
        case np.datetime64() | np.timedelta64():
            number = int(value.astype(np.int64))
        case timedelta():
            number = value.days * _DAY + value.seconds * 10**6 + value.microseconds
        case _:
            number = value.toordinal() - _EPOCH if isinstance(value, date) else 0
            if isinstance(value, datetime | time):
                seconds = (value.hour * 60 + value.minute) * 60 + value.second
                number = number * _DAY + seconds * 10**6 + value.microsecond
                if value.tzinfo is not None:
                    leaves[f"time zone of {place}"] = f"{spelled(value.tzinfo)}, {value.utcoffset()}"
                if value.fold:
                    leaves[f"fold of {place}"] = float(value.fold)
    _write_number(place, number, leaves)
    # pandas counts further than the standard library.
    if nanoseconds := getattr(value, "nanosecond", getattr(value, "nanoseconds", 0)):
        leaves[f"nanoseconds of {place}"] = float(nanoseconds)
    return leaves


def _flatten_array_like(place: str, value: Any, leaves: Leaves) -> None:
    """Write the items, and the labels of rows and columns. The text of such an object would leave out digits and rows."""
    try:
        inside = np.asarray(value)
    except Exception as error:  # whatever an object's own conversion raises
        raise MechanismError(
            f"an output is {type(value).__name__}, which cannot be read as an array: {error}; return a NumPy array, or numbers"
        ) from None
    flatten(place, inside, leaves)
    for name in ("index", "columns"):
        labels = getattr(value, name, None)
        if hasattr(labels, "__array__"):
            flatten(f"{name} of {place}", np.asarray(labels), leaves)


def type_name(value: Any) -> str:
    """Return the type of a value by name, without what depends on the other outputs of a batch."""
    if isinstance(value, BaseException):
        return "exception"
    if isinstance(value, np.ndarray):
        if value.dtype.kind in "biuf":
            return ARRAY_OF_NUMBERS
        return f"array of {KIND.get(value.dtype.kind, str(value.dtype))}"
    if isinstance(value, JsonNumber):
        return "float" if set(value) & set(".eE") else "int"
    return str(value.dtype) if isinstance(value, np.generic) else type(value).__name__


def _write_number(place: str, number: int | float, leaves: Leaves) -> None:
    """Write the nearest float; also the rounding error of a large integer, and whether a zero has a minus."""
    if isinstance(number, int) and abs(number) > EXACT:
        leaves[place], leaves[f"rounded off {place}"] = _large_integer(number)
    elif math.isnan(number):
        leaves[place] = "NaN"
    else:
        leaves[place] = float(number) + 0.0
        if number == 0 and math.copysign(1.0, number) < 0:
            leaves[f"sign of {place}"] = MINUS_ZERO


def _large_integer(number: int) -> tuple[float, Leaf]:
    """Return the nearest float and the rounding error; the whole integer if the error is too large for a float."""
    try:
        nearest = float(number)
    except OverflowError:
        return (math.inf if number > 0 else -math.inf), hex(number)  # decimals are limited to 4300 digits
    left_over = number - int(nearest)
    return nearest, float(left_over) if abs(left_over) <= EXACT else hex(number)


def spelled(value: Any, text: Callable[[Any], str] = repr) -> str:
    """Return an object's own text, or a text for the exception that asking for it raises.

    Raises MechanismError for an object without a text of its own: the audit could not see what it holds.
    """
    try:
        found = text(value)
    except Exception as error:  # an object that cannot be spelled is an output too
        return f"{type(value).__name__} that raises {type(error).__name__}"
    if text is str:
        return repr(found)
    if not isinstance(value, str | bytes) and _ADDRESS.search(found):
        raise MechanismError(f"an output is {found}, which does not show what it holds; {_instead(value)}")
    return found


def _instead(value: Any) -> str:
    if inspect.isawaitable(value):
        if inspect.iscoroutine(value):
            value.close()  # or Python warns that nobody waited for it
        return "the mechanism is asynchronous: wrap it in a function that returns asyncio.run(...)"
    if inspect.isroutine(value):
        return "name the function that draws outputs, not one that makes it"
    if hasattr(value, "__next__"):
        return "return a list of what it yields"
    return "return numbers, text, lists or dicts, or give its class a __repr__ that shows all it holds"
