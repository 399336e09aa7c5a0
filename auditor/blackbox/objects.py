"""Objects: their attributes as plain data, what exceptions hold, and the leaves of what no other rule reads."""

import inspect
from collections.abc import Sized
from dataclasses import fields, is_dataclass
from typing import Any

from auditor.blackbox.attributes import (
    ITEM_METHODS,
    names_slots,
    read_additions,
    read_attributes,
    read_exception,
    read_items,
)
from auditor.blackbox.containers import set_items
from auditor.blackbox.digests import MOST_ITEMS, digest_of, is_plain, summarize
from auditor.blackbox.known_types import (
    LIBRARIES,
    is_key_spelled_whole,
    is_of_python,
    is_spelled_whole,
    library_of,
    module_leaves,
    once_per_type,
    type_name,
)
from auditor.blackbox.number_text import Leaves
from auditor.blackbox.spelling import hide_addresses, spell, without_address
from auditor.foreign_code import result_or_error

# How many levels of objects in objects are read, where the attributes of an object are.
LEVELS = 3
# These scalars of pandas are not numbers, so their attributes are read.
_PANDAS_SCALARS = {"Period": ("ordinal", "freqstr"), "Interval": ("left", "right", "closed")}


def _is_code(value: Any) -> bool:
    """Whether a value is a class, a function or a module, whose attributes are not read."""
    return isinstance(value, type) or inspect.isroutine(value) or inspect.ismodule(value)


def attributes_of(value: Any, depth: int = LEVELS) -> dict[str, Any]:
    """Return the attributes of an object by name, as plain data down to ``depth`` levels of objects in objects."""
    attributes = {} if _is_code(value) else read_attributes(value)
    return {name: as_plain(part, depth) for name, part in attributes.items()}


def as_plain(value: Any, depth: int) -> Any:
    """Return a value as plain data. An object becomes a dict of its attributes.

    What is not read in full, by its type or below ``depth`` levels, has its digest beside its type: it shows that
    something differs, and a digest that differs on every call is named in the report.
    """
    if is_plain(value):
        return value
    kind = type(value)
    if depth and not (isinstance(value, Sized) and result_or_error(len, value) not in range(MOST_ITEMS + 1)):
        if kind in (list, tuple):
            return kind(as_plain(item, depth - 1) for item in value)
        if kind in (set, frozenset):
            return {"type": kind.__name__, "items": [as_plain(item, depth - 1) for _, item in set_items(value)]}
        if kind is dict and value and all(map(is_key_spelled_whole, value)):
            return {_key_text(key): as_plain(item, depth - 1) for key, item in value.items()}
        for base in ITEM_METHODS:
            if issubclass(kind, base) and kind is not base:
                items = as_plain(read_items(base, value), depth)
                rest = {**module_leaves("it", value), **attributes_of(value, depth - 1)}
                return {"type": type_name(value), "items": items, **rest}
        if isinstance(value, BaseException):
            parts = exception_parts(value, depth - 1)
            for name in parts.keys() & {"cause", "context", "exceptions"}:
                parts[name] = as_plain(parts[name], depth - 1)
            return {
                "type": kind.__name__,
                **module_leaves("it", value),
                "text": _message(value),
                **parts,
                **attributes_of(value, depth - 1),
                "repr": without_address(value),
            }
        is_object = hasattr(value, "__dict__") or names_slots(kind)
        is_read_otherwise = callable(value) or inspect.ismodule(value) or library_of(kind) in LIBRARIES
        if is_object and not (is_read_otherwise or is_spelled_whole(value)):
            rest = {} if is_of_python(kind) else {"rest": digest_of(value)}
            return {
                "type": kind.__name__,
                **module_leaves("it", value),
                **attributes_of(value, depth - 1),
                **rest,
                "repr": without_address(value),
            }
    summary = summarize(value)
    added = read_additions(value) if depth and library_of(kind) in LIBRARIES else {}
    return (
        {"digest": summary, **{name: as_plain(part, depth - 1) for name, part in added.items()}} if added else summary
    )


def _message(error: BaseException) -> str:
    text = result_or_error(str, error)
    return (
        hide_addresses(text) if isinstance(text, str) else f"{type(error).__name__} that raises {type(text).__name__}"
    )


def _key_text(key: Any) -> str:
    """Return the text of a key. A text that could be mistaken for another key is in quotes."""
    if type(key) is not str:
        return f"{type(key).__name__} {without_address(key)}"
    return key if key.isidentifier() else repr(key)


def exception_parts(error: BaseException, depth: int = LEVELS) -> dict[str, Any]:
    """Return what an exception holds, by the words for it, as ``read_exception`` does. Arguments, notes and fields are plain
    data, down to ``depth`` levels of objects in objects.
    """
    parts = read_exception(error)
    if "arguments" in parts:
        parts["arguments"] = [as_plain(argument, depth) for argument in parts["arguments"]]
    if "notes" in parts:
        parts["notes"] = as_plain(parts["notes"], depth)
    if "fields" in parts:
        parts["fields"] = {name: as_plain(part, depth) for name, part in parts["fields"].items()}
    return parts


def exception_leaves(place: str, error: BaseException) -> Leaves:
    """Return the class and the message of an exception, and whether its context is hidden."""
    kind = type(error)
    bases = [base.__qualname__ for base in kind.__mro__[1:-3]] if kind.__module__ != "builtins" else []
    leaves: Leaves = {place: f"raises {kind.__name__}", f"message of {place}": spell(error, str)}
    if bases or kind.__qualname__ != kind.__name__:
        leaves[f"class of {place}"] = " < ".join([kind.__qualname__, *bases])
    if vars(BaseException)["__suppress_context__"].__get__(error):
        leaves[f"context of {place} is hidden"] = "yes"
    return leaves


def field_names(value: Any) -> tuple[str, ...]:
    """Return the names of the fields of a dataclass, or of a scalar of pandas. Return () for any other value."""
    kind = type(value)
    names = _dataclass_fields(kind)
    if names is not None:
        return names
    names = _PANDAS_SCALARS.get(kind.__name__, ())
    return names if all(hasattr(value, name) for name in names) else ()


@once_per_type
def _dataclass_fields(kind: type) -> tuple[str, ...] | None:
    return tuple(field.name for field in fields(kind)) if is_dataclass(kind) else None


def object_leaves(place: str, value: Any) -> Leaves:
    """Return the repr of an object and, unless its repr or its attributes show all of it, a digest."""
    leaves: Leaves = {place: spell(value)}
    has_attributes = not _is_code(value) and (hasattr(value, "__dict__") or hasattr(type(value), "__slots__"))
    is_read = (has_attributes and is_of_python(type(value))) or is_spelled_whole(value)
    if value is not None and not is_read and str(value) != "<NA>":
        leaves[f"rest of {place}"] = digest_of(value)
    return leaves
