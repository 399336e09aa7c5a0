"""An output of any kind as its leaves: numbers and words, each named by its place in the output."""

import inspect
import math
import re
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from auditor.errors import MechanismError

Leaf = float | str

EXACT = 2.0**53 - 1  # up to here each integer is a float, and no other integer rounds to it
ARRAY_OF_NUMBERS = "array of numbers"
# Names have no widths, since widths of integers and strings depend on all outputs of a batch.
KIND = {"b": "bool", "i": "int", "u": "int", "f": "float", "U": "str", "S": "bytes"}
# The default repr of objects: a memory address.
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]{4,}>")


def row_of(output: Any) -> dict[str, Leaf]:
    """Return the row of an output: its leaves by place, and the types on the way.

    Raises MechanismError if an object in it does not say what it holds.
    """
    leaves: dict[str, Leaf] = {}
    _flatten("output", output, leaves)
    leaves["type"] = leaves.pop("type of output", "float")
    return leaves


def _flatten(place: str, value: Any, leaves: dict[str, Leaf]) -> None:  # noqa: PLR0912 - a branch for each kind of value
    """Write the leaves of a value under their places. A number is a float unless its type is written too."""
    if isinstance(value, np.generic):
        value = value.item()
    kind = _kind(value)
    if kind != "float":
        leaves[f"type of {place}"] = kind
    if isinstance(value, np.ndarray):
        leaves[f"shape of {place}"] = str(value.shape)
        for index, item in np.ndenumerate(value):
            inside = f"{place}[{','.join(map(str, index))}]"
            _flatten(inside, item, leaves)
            if kind == ARRAY_OF_NUMBERS:
                leaves.pop(f"type of {inside}", None)
    elif isinstance(value, list | tuple | dict):
        leaves[f"length of {place}"] = float(len(value))
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            _flatten(f"{place}[{_spelled(key)}]", item, leaves)
    elif isinstance(value, set | frozenset):
        leaves[f"length of {place}"] = float(len(value))
        leaves.update({f"{_spelled(item)} in {place}": "yes" for item in value})
    elif isinstance(value, BaseException):
        leaves[place] = f"raises {type(value).__name__}"
        leaves[f"message of {place}"] = _spelled(value, str)
    elif isinstance(value, complex):
        leaves[f"{place}.real"], leaves[f"{place}.imag"] = _number_leaf(value.real), _number_leaf(value.imag)
    elif isinstance(value, Fraction | Decimal):
        leaves.update(_exact_number(place, value))
    elif is_dataclass(value) and not isinstance(value, type):
        for field in fields(value):
            _flatten(f"{place}.{field.name}", getattr(value, field.name), leaves)
    elif (hasattr(value, "__array__") and not isinstance(value, type)) or isinstance(value, memoryview):
        _flatten_array_like(place, value, leaves)
        leaves[f"type of {place}"] = kind
    elif isinstance(value, int) and abs(value) > EXACT:
        leaves[place], leaves[f"rounded off {place}"] = _large_integer(value)
    else:
        leaves[place] = _number_leaf(value) if isinstance(value, int | float) else _spelled(value)
        if isinstance(value, str | bytes):
            leaves[f"length of {place}"] = float(len(value))


def _exact_number(place: str, value: Fraction | Decimal) -> dict[str, Leaf]:
    """Return the nearest float, the rounding error, and the exponent of a decimal."""
    if isinstance(value, Decimal) and not value.is_finite():
        return {place: "NaN" if value.is_nan() else float(value)}
    try:
        found: dict[str, Leaf] = {place: float(value) + 0.0}
        left_over = Fraction(value) - Fraction(found[place])
    except OverflowError:
        return {place: math.inf if value > 0 else -math.inf, f"rounded off {place}": repr(value)}
    if left_over:
        found[f"rounded off {place}"] = str(left_over)
    if isinstance(value, Decimal):
        found[f"exponent of {place}"] = float(value.as_tuple().exponent)
    return found


def _flatten_array_like(place: str, value: Any, leaves: dict[str, Leaf]) -> None:
    """Write the items, and the labels of rows and columns. The text of such an object would leave out digits and rows."""
    try:
        inside = np.asarray(value)
    except Exception as error:  # whatever an object's own conversion raises
        raise MechanismError(
            f"an output is {type(value).__name__}, which cannot be read as an array: {error}; return a NumPy array, or numbers"
        ) from None
    _flatten(place, inside, leaves)
    for name in ("index", "columns"):
        labels = getattr(value, name, None)
        if hasattr(labels, "__array__"):
            _flatten(f"{name} of {place}", np.asarray(labels), leaves)


def _kind(value: Any) -> str:
    if isinstance(value, BaseException):
        return "exception"
    if isinstance(value, np.ndarray):
        if value.dtype.kind in "biuf":
            return ARRAY_OF_NUMBERS
        return f"array of {KIND.get(value.dtype.kind, str(value.dtype))}"
    return type(value).__name__


def _large_integer(number: int) -> tuple[float, Leaf]:
    """Return the nearest float and the rounding error; the whole integer if the error is too large for a float."""
    try:
        nearest = float(number)
    except OverflowError:
        return (math.inf if number > 0 else -math.inf), hex(number)  # decimals are limited to 4300 digits
    left_over = number - int(nearest)
    return nearest, float(left_over) if abs(left_over) <= EXACT else hex(number)


def _spelled(value: Any, text: Callable[[Any], str] = repr) -> str:
    """Return an object's own text, or a text for the exception that asking for it raises.

    Raises MechanismError for an object without a text of its own: the audit could not see what it holds.
    """
    try:
        spelled = text(value)
    except Exception as error:  # an object that cannot be spelled is an output too
        return f"{type(value).__name__} that raises {type(error).__name__}"
    if text is str:
        return repr(spelled)
    if not isinstance(value, str | bytes) and _ADDRESS.search(spelled):
        raise MechanismError(f"an output is {spelled}, which does not say what it holds; {_instead(value)}")
    return spelled


def _instead(value: Any) -> str:
    if inspect.isawaitable(value):
        if inspect.iscoroutine(value):
            value.close()  # or Python warns that nobody waited for it
        return "the mechanism is asynchronous: wrap it in a function that returns asyncio.run(...)"
    if inspect.isroutine(value):
        return "name the function that draws outputs, not one that makes it"
    if hasattr(value, "__next__"):
        return "return a list of what it yields"
    return "return numbers, text, lists or dicts, or give its class a __repr__ that says all"


def _number_leaf(number: bool | int | float) -> Leaf:
    return "NaN" if math.isnan(number) else float(number) + 0.0
