"""Take an output apart into leaves: numbers or texts, each named by its place. ``OUTPUT_KINDS`` has the rules."""

import itertools
import operator
from collections import deque
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, is_dataclass
from datetime import date, time, timedelta
from decimal import Decimal
from fractions import Fraction
from types import TracebackType
from typing import Any

import numpy as np

from auditor.blackbox.attributes import overridden_base, read_additions, read_attributes, read_items
from auditor.blackbox.containers import (
    array_forms,
    array_items,
    array_leaves,
    array_places,
    dict_leaves,
    key_orders,
    list_leaves,
    set_items,
    set_leaves,
)
from auditor.blackbox.digests import UNREADABLE, digest_of
from auditor.blackbox.known_types import is_importable, is_known, is_spelled_whole, type_name
from auditor.blackbox.library_values import (
    array_like_parts,
    array_like_places,
    is_array_like,
    is_arrow_scalar,
    item_of_arrow,
    library_leaves,
)
from auditor.blackbox.number_text import Leaves
from auditor.blackbox.objects import (
    LEVELS,
    as_plain,
    attributes_of,
    exception_leaves,
    exception_parts,
    field_names,
    object_leaves,
)
from auditor.blackbox.scalars import complex_parts, exact_leaves, leaves_of_number, text_leaves, time_leaves
from auditor.blackbox.spelling import spell
from auditor.errors import MechanismError
from auditor.foreign_code import ForeignCode, result_or_error


class Row(Leaves):
    """The leaves of an output. They replace an output whose class this process cannot import."""


_NESTED = "return numbers, text, or lists and dicts of these, in which nothing holds itself"


class _Reading(ForeignCode):
    """The block in which an output is read, which may call the user's code. A MemoryError passes unchanged."""

    __slots__ = ()

    def __exit__(self, kind: object, error: BaseException | None, place: TracebackType | None) -> None:
        if isinstance(error, RecursionError):
            raise MechanismError(f"an output holds itself, or is nested too deep to be read; {_NESTED}") from None
        super().__exit__(kind, error, place)


READING = _Reading("reading an output", "return numbers, text, lists or dicts", (MemoryError,))


def require_few(places: Collection[Any]) -> None:
    """Raise MechanismError if an output has too many places, as a list that holds one list again and again soon has."""
    if len(places) > 100_000:
        raise MechanismError(
            f"an output has more than 100,000 parts, the limit; return one array in place of lists, or fewer parts; {_NESTED}"
        )


@dataclass(frozen=True, slots=True)
class OutputKind:
    """A kind of value: how to take a value apart into leaves of its own, and parts that are values themselves.

    ``own(place, value)`` returns the own leaves, ``places(place, value)`` the places of the parts. ``forms`` returns
    the form of each of several values of one type. Values of one form have equal own leaves and equal places, and are
    taken apart together. ``parts`` takes such values: it yields all parts of the first, then all of the second, etc.
    """

    holds: Callable[[Any], bool]
    own: Callable[[str, Any], Leaves] = lambda place, value: {}
    places: Callable[[str, Any], Iterable[str]] = lambda place, value: ()
    parts: Callable[[Sequence[Any]], Iterable[Any]] = lambda values: ()
    forms: Callable[[Sequence[Any]], Sequence[Hashable]] = lambda values: range(len(values))


def items_in_turn(kind: OutputKind, values: Sequence[Any], each: int) -> Sequence[Any]:
    """Return the parts of values of one form. Raises MechanismError unless there are ``each`` parts for each value."""
    items = [*itertools.islice(kind.parts(values), each * len(values) + 1)]
    if len(items) != each * len(values):
        raise MechanismError(
            f"an output is {type(values[0]).__name__}, whose length differs from its number of items; return a list"
        )
    return items


def _is(*types: type) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, types)


def _fields_in_turn(values: Sequence[Any]) -> Iterable[Any]:
    columns = [map(operator.attrgetter(name), values) for name in field_names(values[0])]
    return itertools.chain.from_iterable(zip(*columns, strict=True))


FIELDS = OutputKind(
    lambda value: bool(field_names(value)),
    places=lambda place, value: [f"{place}.{name}" for name in field_names(value)],
    parts=_fields_in_turn,
    forms=lambda values: [()] * len(values) if is_dataclass(values[0]) else range(len(values)),
)
OBJECT = OutputKind(lambda value: True, object_leaves)
# The first kind that fits a value is used.
OUTPUT_KINDS = (
    OutputKind(_is(Row), lambda place, row: row),
    OutputKind(_is(np.ndarray), array_leaves, array_places, array_items, array_forms),
    OutputKind(
        _is(Mapping),
        dict_leaves,
        lambda place, value: [f"{place}[{spell(key)}]" for key in value],
        lambda values: itertools.chain.from_iterable(map(operator.methodcaller("values"), values)),
        key_orders,
    ),
    OutputKind(
        _is(list, tuple, deque),
        list_leaves,
        lambda place, value: [f"{place}[{at}]" for at, _ in zip(range(len(value)), value, strict=False)],
        itertools.chain.from_iterable,
        lambda values: [(len(value), getattr(value, "maxlen", None)) for value in values],
    ),
    OutputKind(
        _is(Set),
        set_leaves,
        lambda place, value: [f"{words} of {place}" for words, _ in set_items(value)],
        lambda values: (item for value in values for _, item in set_items(value)),
    ),
    OutputKind(
        _is(BaseException),
        exception_leaves,
        lambda place, error: [f"{words} of {place}" for words in exception_parts(error)],
        lambda values: itertools.chain.from_iterable(exception_parts(value).values() for value in values),
    ),
    OutputKind(
        _is(complex, np.complexfloating),
        places=lambda place, value: (f"{place}.real", f"{place}.imag"),
        parts=complex_parts,
        forms=lambda values: [type_name(value) for value in values],
    ),
    OutputKind(_is(Fraction, Decimal), exact_leaves),
    OutputKind(_is(np.datetime64, np.timedelta64, date, time, timedelta), time_leaves),
    FIELDS,
    OutputKind(
        is_arrow_scalar,
        library_leaves,
        lambda place, value: [place],
        lambda values: map(item_of_arrow, values),
    ),
    OutputKind(
        is_array_like,
        library_leaves,
        array_like_places,
        array_like_parts,
    ),
    OutputKind(_is(int, float, np.floating), leaves_of_number),
    OutputKind(_is(str, bytes, bytearray), text_leaves),
    OBJECT,
)


def output_kind(value: Any) -> OutputKind:
    """Return the first entry of OUTPUT_KINDS that fits a value."""
    return next(kind for kind in OUTPUT_KINDS if kind.holds(value))


def _besides_fields(value: Any, names: Sequence[str]) -> dict[str, Any]:
    """Return the attributes of an object, except the fields that hold what the object says of them."""
    if not names:
        return attributes_of(value, LEVELS)
    held = read_attributes(value)
    others = {name: part for name, part in held.items() if name not in names or part is not getattr(value, name)}
    unset = {f"{name} is not set": True for name in names if name not in held}
    return {**{name: as_plain(part, LEVELS) for name, part in others.items()}, **unset}


def unnamed_attributes(value: Any) -> dict[str, Any]:
    """Return the attributes of an object that no rule of OUTPUT_KINDS names; {} for types of libraries that it knows."""
    kind: Any = type(value)
    if is_known(kind):
        return {name: as_plain(part, LEVELS) for name, part in read_additions(value).items()}
    if is_spelled_whole(value):
        return {}
    names = field_names(value)
    named = names if names and output_kind(value) is FIELDS else ()
    attributes = result_or_error(_besides_fields, value, named)
    if isinstance(attributes, BaseException):
        return {"": UNREADABLE}
    if (base := overridden_base(kind)) is not None:
        attributes["items"] = as_plain(read_items(base, value), LEVELS)
    if not is_importable(kind):  # a class that was made for the output may hold anything
        attributes["class"] = digest_of(kind)
    return dict(attributes)
