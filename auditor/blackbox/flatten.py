"""Take an output apart into leaves: numbers or texts, each named by its place. ``OUTPUT_KINDS`` has the rules."""

import array
import functools
import hashlib
import inspect
import io
import itertools
import math
import operator
import pickle
import re
import sys
from collections import deque
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence, Set, Sized
from dataclasses import dataclass, fields, is_dataclass
from datetime import date, datetime, time, timedelta, tzinfo
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from types import GetSetDescriptorType, MemberDescriptorType, TracebackType
from typing import Any

import numpy as np

from auditor.blackbox.number_text import EXACT, MINUS_ZERO, SEPARATORS, JsonNumber, Leaf, number_leaves
from auditor.errors import MechanismError
from auditor.foreign_code import ForeignCode, describe_error, result_or_error

Leaves = dict[str, Leaf]


class Row(Leaves):
    """The leaves of an output. They replace an output whose class this process cannot import."""


# Libraries whose types are named with the library, since two of them have types of one name.
LIBRARIES = ("numpy", "pandas", "polars", "pyarrow")
# How many levels of objects in objects are read, where the attributes of an object are.
LEVELS = 3
# In attributes, arrays and lists of more items are known by a digest: a model may hold millions of numbers.
MOST_ITEMS = 1_000
# How many letters of an exception's text are read; a digest stands for the others.
LETTERS = 1_000
_NESTED = "return numbers, text, or lists and dicts of these, in which nothing holds itself"
LARGEST = 8  # bytes of NumPy's largest integers and floats, without long doubles
# Prefixes of the leaves that say how a value is written, such as the sign of a zero.
WRITTEN = ("position of ", "sign of ", "decimals of ", "exponent of ", "form of ", "rounded off ")


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


def is_number_array(value: Any) -> bool:
    """Whether a value is an array of booleans, integers or floats, without long doubles."""
    return isinstance(value, np.ndarray) and value.dtype.kind in "biuf" and value.dtype.itemsize <= LARGEST


def items_at(place: str, array: Any) -> list[str]:
    """Return the places of an array's items."""
    return [f"{place}[{','.join(map(str, index))}]" for index in np.ndindex(array.shape)]


def _items(arrays: Sequence[Any]) -> Iterable[Any]:
    return itertools.chain.from_iterable(np.asarray(array).flat for array in arrays)


def require_unmasked(value: Any) -> None:
    """Raise MechanismError if a value is a masked array, since the values below the mask are unknown."""
    if isinstance(value, np.ma.MaskedArray):
        raise MechanismError(
            "the mechanism returned a masked array; return an array, with NaN or None for missing values"
        )


def _array_forms(arrays: Sequence[Any]) -> Sequence[Hashable]:
    require_unmasked(arrays[0])
    return [(array.dtype, array.shape, _is_fortran(array)) for array in arrays]


def _is_fortran(value: Any) -> bool:
    return bool(value.flags.f_contiguous and not value.flags.c_contiguous)


def _array_leaves(place: str, value: Any) -> Leaves:
    """Return the shape of an array, the width of its texts, and its order in memory unless it is C's."""
    leaves: Leaves = {f"shape of {place}": str(value.shape)}
    if value.dtype.kind in "US":
        leaves[f"width of {place}"] = float(value.dtype.itemsize)
    if _is_fortran(value):
        leaves[f"order of {place} in memory"] = "Fortran"
    return leaves


def _dict_leaves(place: str, value: Mapping[Any, Any]) -> Leaves:
    """Return the length of a dict, its keys that are fractions, and the positions of its keys unless they are sorted
    (by number, or by text).
    """
    keys = list(value)
    words = [spelled(key) for key in keys]
    are_numbers = all(isinstance(key, int) or (isinstance(key, float) and not math.isnan(key)) for key in keys)
    own = keys if are_numbers else words
    order = [] if sorted(own) == own else words
    fractions = sorted(key for key in keys if isinstance(key, float | np.floating) and not math.isnan(key))
    made: Leaves = {f"fraction {at} among the keys of {place}": float(key) for at, key in enumerate(fractions)}
    # A key that is an object may hold more than its text, and two keys of one text have one place.
    if len(set(words)) < len(words) or not all(map(_is_shown, keys)):
        made[f"rest of {place}"] = digest_of(list(value.items()))
    return {
        **_length(place, value),
        **made,
        **{f"position of {place}[{name}]": float(at) for at, name in enumerate(order)},
    }


def _length(place: str, value: Any) -> Leaves:
    return {f"length of {place}": float(len(value))}


def _list_leaves(place: str, value: Any) -> Leaves:
    most = (
        {f"most items of {place}": float(value.maxlen)} if isinstance(value, deque) and value.maxlen is not None else {}
    )
    return {**_length(place, value), **most}


def _set_items(value: Collection[Any]) -> list[tuple[str, Any]]:
    """Return the items of a set with the words for their places: numbers in rising order, then others in that of their
    texts. A set has no order of its own. NaN comes last of the numbers.
    """
    numbers = [item for item in value if isinstance(item, int | float | np.integer | np.floating | np.bool_)]
    numbers.sort(key=lambda item: (item != item, item))  # noqa: PLR0124 - only a NaN differs from itself
    others = sorted((item for item in value if not any(item is number for number in numbers)), key=_in_words)
    return [(f"number {at}", item) for at, item in enumerate(numbers)] + [
        (f"item {at}", i) for at, i in enumerate(others)
    ]


def _in_words(value: Any) -> str:
    """Return a text that sorts values: their repr, without an address."""
    return without_address(value)


def _set_leaves(place: str, value: Collection[Any]) -> Leaves:
    """Return the length of a set, and a leaf for each item that is a word or a small integer."""
    items = [
        item
        for item in value
        if (isinstance(item, int) and abs(item) < 1_000) or (isinstance(item, str) and len(item) < 30)
    ]
    return {**_length(place, value), **{f"{word} in {place}": "yes" for word in sorted(map(spelled, items))}}


# --- Objects: what they hold besides their text ---


def attributes_of(value: Any, depth: int = LEVELS) -> dict[str, Any]:
    """Return the attributes of an object by name, as plain data, down to ``depth`` levels of objects in objects."""
    if isinstance(value, type) or inspect.isroutine(value) or inspect.ismodule(value):
        return {}
    return {name: as_plain(part, depth) for name, part in _held_by(value).items()}


def _held_by(value: Any) -> dict[str, Any]:
    """Return the slots and the attributes of an object, whatever its class says of them. Notes of an exception have a
    place of their own.
    """
    held = dict[str, Any]()
    kind: Any = type(value)
    for name, slot in _slots_of(kind):
        part = result_or_error(slot.__get__, value)
        if not isinstance(part, AttributeError):  # an empty slot
            held[name] = part
    inside = result_or_error(object.__getattribute__, value, "__dict__")
    held.update({str(name): part for name, part in inside.items()} if isinstance(inside, dict) else {})
    return {n: part for n, part in held.items() if n != "__notes__" or not isinstance(value, BaseException)}


@functools.lru_cache(maxsize=1_024)
def _slots_of(kind: type) -> tuple[tuple[str, Any], ...]:
    """Return the slots of a class and of its bases, with a name of its own for each."""
    found = dict[str, Any]()
    for base in kind.__mro__:
        for name, member in vars(base).items() if base.__module__ != "builtins" else ():
            if isinstance(member, MemberDescriptorType) and name != "__dict__":
                found[f"{base.__qualname__}.{name}" if name in found else name] = member
    return tuple(found.items())


def unnamed_attributes(value: Any) -> dict[str, Any]:
    """Return the attributes of an object that no rule of OUTPUT_KINDS names; {} for types of libraries that it knows."""
    kind = type(value)
    module = kind.__module__.partition(".")[0]
    is_known = module in KNOWN_MODULES or (module == "numpy" and isinstance(value, np.ndarray | np.generic))
    if is_known and not isinstance(value, BaseException):
        return {name: as_plain(part, LEVELS) for name, part in _added_to(value).items()}
    if _is_known_whole(value):
        return {}
    found = result_or_error(attributes_of, value)
    if isinstance(found, BaseException):
        return {"": UNREADABLE}
    named = _names_of(value) if output_kind(value) is FIELDS else ()
    found = {**{name: part for name, part in found.items() if name not in named}, **_denied_items(value)}
    if not _is_importable(kind):  # a class that was made for the output may hold anything
        found["class"] = digest_of(kind)
    return found


def _added_to(value: Any) -> dict[str, Any]:
    """Return the attributes of an object of a library that the library itself did not set: a fresh object lacks them.
    Of a mapped file they are the file and the offset.
    """
    own = getattr(value, "__dict__", None)
    if not own:
        return {}
    if isinstance(value, np.ndarray):
        return {name: part for name, part in own.items() if not name.startswith("_")}
    fresh = result_or_error(lambda: vars(value[:0]))
    return {name: part for name, part in own.items() if name not in fresh} if isinstance(fresh, dict) else {}


def _denied_items(value: Any) -> dict[str, Any]:
    """Return the items of a list, a tuple, a set or a dict whose own class says what they are, under "items"."""
    kind: Any = type(value)
    base = _denied_base(kind)
    return {} if base is None else {"items": as_plain(_items_of(base, value), LEVELS)}


@functools.lru_cache(maxsize=1_024)
def _denied_base(kind: type) -> type | None:
    """Return the type of Python that holds the items of a class, if a method of another class says which there are."""
    for base, asked in ASKED.items():
        if issubclass(kind, base):
            tellers = [next(one for one in kind.__mro__ if name in vars(one)) for name in asked]
            return None if all(teller.__module__ in sys.stdlib_module_names for teller in tellers) else base
    return None


def _items_of(base: Any, value: Any) -> Any:
    """Return the items of a value as an object of a type of Python that it has as a base, whatever its class says."""
    return dict(dict.items(value)) if base is dict else base(base.__iter__(value))


# The methods that say which items an object of a type has.
ASKED: dict[type, tuple[str, ...]] = {
    dict: ("__len__", "__iter__", "values"),
    **dict.fromkeys((list, tuple, set, frozenset, deque), ("__len__", "__iter__")),
}
KNOWN_MODULES = {
    *(
        "pandas",
        "polars",
        "pyarrow",
        "builtins",
        "datetime",
        "decimal",
        "fractions",
        "array",
        "zoneinfo",
        "uuid",
        "pathlib",
    ),
    "auditor",
}


def as_plain(value: Any, depth: int) -> Any:
    """Return a value as plain data. An object becomes a dict of its attributes.

    What is not read in full, by its type or below ``depth`` levels, has its digest beside its type: it shows that
    something differs, and a digest that differs on every call is named in the report.
    """
    kind = type(value)
    if kind in PLAIN or (isinstance(value, np.generic) and kind.__module__ == "numpy"):
        return value
    if kind is np.ndarray and value.dtype.kind in "biufcUSMm" and value.size <= MOST_ITEMS:
        return value
    if depth and not (isinstance(value, Sized) and result_or_error(len, value) not in range(MOST_ITEMS + 1)):
        if kind in (list, tuple):
            return kind(as_plain(item, depth - 1) for item in value)
        if kind in (set, frozenset):
            return {"type": kind.__name__, "items": [as_plain(item, depth - 1) for _, item in _set_items(value)]}
        if kind is dict and value and all(map(_is_shown, value)):
            return {_key_text(key): as_plain(item, depth - 1) for key, item in value.items()}
        for base in ASKED:
            if issubclass(kind, base) and kind is not base:
                items = as_plain(_items_of(base, value), depth)
                held = {**module_of("it", value), **attributes_of(value, depth - 1)}
                return {"type": type_name(value), "items": items, **held}
        if isinstance(value, BaseException):
            parts = _exception_parts(value, depth - 1)
            for name in parts.keys() & {"cause", "context", "exceptions"}:
                parts[name] = as_plain(parts[name], depth - 1)
            held = {**parts, **attributes_of(value, depth - 1)}
            return {
                "type": kind.__name__,
                **module_of("it", value),
                "text": _message(value),
                **held,
                "repr": without_address(value),
            }
        is_object = hasattr(value, "__dict__") or any(getattr(one, "__slots__", ()) for one in kind.__mro__)
        is_of_library = kind.__module__.partition(".")[0] in LIBRARIES
        if is_object and not (callable(value) or inspect.ismodule(value) or is_of_library or _is_known_whole(value)):
            rest = {} if _is_of_python(kind) else {"rest": digest_of(value)}
            held = {**attributes_of(value, depth - 1), **rest}
            return {"type": kind.__name__, **module_of("it", value), **held, "repr": without_address(value)}
    if _is_known_whole(value):
        return f"{kind.__name__} {without_address(value)}"
    shown = f"{kind.__name__} {digest_of(value)}"
    added = _added_to(value) if depth and kind.__module__.partition(".")[0] in LIBRARIES else {}
    return {"digest": shown, **{name: as_plain(part, depth - 1) for name, part in added.items()}} if added else shown


PLAIN = frozenset(
    (bool, int, float, complex, str, bytes, type(None), Fraction, Decimal, date, datetime, time, timedelta)
)
# The words for what cannot be read, nor pickled for a digest.
UNREADABLE = "cannot be read"
DIGEST = "digest "


def _message(error: BaseException) -> str:
    text = result_or_error(str, error)
    return text if isinstance(text, str) else f"{type(error).__name__} that raises {type(text).__name__}"


def _key_text(key: Any) -> str:
    """Return the text of a key. Of texts, those that might stand for another key are in quotes."""
    if type(key) is not str:
        return f"{type(key).__name__} {without_address(key)}"
    return key if key.isidentifier() else repr(key)


def _is_shown(key: Any) -> bool:
    """Whether the type and the repr of a key show all of it."""
    if type(key) is tuple:
        return all(map(_is_shown, key))
    if isinstance(key, datetime | time) and not _is_known_zone(key.tzinfo):
        return False
    return (
        type(key) in PLAIN or (isinstance(key, np.generic) and type(key).__module__ == "numpy") or _is_known_whole(key)
    )


def _is_known_whole(value: Any) -> bool:
    """Whether the repr of a value shows all of it: a class or a function that can be imported, an Enum, a UUID, a path."""
    if isinstance(value, type) or inspect.isroutine(value):
        return _is_importable(value)
    if isinstance(value, Enum):
        return _is_importable(type(value))
    return isinstance(value, range | slice) or (
        type(value).__module__ in ("builtins", "uuid", "pathlib", "zoneinfo")
        and (
            type(value).__name__ in ("ellipsis", "NotImplementedType", "UUID", "PosixPath", "PurePosixPath", "ZoneInfo")
        )
    )


def _is_of_python(kind: type) -> bool:
    """Whether a class and its bases are written in Python, so that instances hold nothing besides their attributes."""
    modules = (sys.modules.get(base.__module__) for base in kind.__mro__[:-1])
    # A module that is built in has no file, and neither has the one that Python was started with.
    return all(
        module is None or module.__name__ == "__main__" or str(getattr(module, "__file__", "")).endswith(".py")
        for module in modules
    )


def _is_importable(value: Any) -> bool:
    module = sys.modules.get(getattr(value, "__module__", None) or "")
    for part in getattr(value, "__qualname__", "<").split("."):
        module = getattr(module, part, None)
    return module is value


def digest_of(value: Any) -> str:
    """Return a digest of all that pickle sees of a value, or UNREADABLE if it cannot be pickled."""
    # Without a memo the pickle does not depend on which equal texts are one object. What holds itself needs a memo.
    for fast in (True, False):
        pickled = result_or_error(_pickled, value, fast)
        if isinstance(pickled, bytes):
            return DIGEST + hashlib.sha256(pickled).hexdigest()[:16]
    return UNREADABLE


def _pickled(value: Any, fast: bool) -> bytes:
    file = io.BytesIO()
    pickler = _pickler()(file)
    pickler.fast = fast
    pickler.dump(value)
    return file.getvalue()


@functools.cache
def _pickler() -> Any:
    """Return a class of picklers whose pickles of a value do not depend on what else the process has imported."""
    import cloudpickle

    registered = cloudpickle.CloudPickler.dispatch_table

    def as_dict(parts: dict[str, Any]) -> tuple[Any, ...]:
        return dict, (), None, None, iter(parts.items())  # pickle then knows the object when it meets it in a part

    def can_be_pickled(part: Any) -> bool:
        return isinstance(result_or_error(cloudpickle.dumps, part), bytes)

    class Reductions:
        """Of the ways to pickle types, those of cloudpickle, and those that Python or a type's own library registered.
        Others, such as loky and tblib, register theirs for the types of Python, in processes that import them.
        """

        def __getitem__(self, kind: type) -> Any:
            reduction = registered[kind]
            library = str(getattr(reduction, "__module__", "")).partition(".")[0]
            if library not in ("copyreg", "cloudpickle", kind.__module__.partition(".")[0]):
                raise KeyError(kind)
            return reduction

    class Pickler(cloudpickle.CloudPickler):  # type: ignore[misc]
        dispatch_table = Reductions()

        def reducer_override(self, value: Any) -> Any:
            """Return how to make a value again, by what it holds and nothing else.

            A class may say how it is pickled, and leave something out. Long doubles, and fields that are aligned, have
            bytes between them that mean nothing.
            """
            kind: Any = type(value)
            if isinstance(value, BaseException):
                parts = {name: part for name, part in _exception_parts(value, 0).items() if name != "arguments"}
                return as_dict({"kind": kind, "args": _given_to(value), **parts, "": _held_by(value)})
            if not isinstance(value, type) and not _is_known_whole(value) and _has_own_pickle(kind):
                rest = None if _is_of_python(kind) else value.__reduce_ex__(pickle.DEFAULT_PROTOCOL)
                kept = {n: part if can_be_pickled(part) else type(part) for n, part in _held_by(value).items()}
                return as_dict({"kind": kind, "rest": rest, "": kept})
            if isinstance(value, np.ndarray | np.generic) and (value.dtype.char in "gG" or value.dtype.names):
                items = value.tolist() if isinstance(value, np.ndarray) or value.dtype.names else repr(value)
                return type(value), (str(value.dtype), value.shape, items)
            return super().reducer_override(value)

    return Pickler


@functools.lru_cache(maxsize=1_024)
def _has_own_pickle(kind: type) -> bool:
    """Whether a class of a user, or a base of it, says how it is pickled. It may leave attributes out."""
    ways = ("__reduce__", "__reduce_ex__", "__getstate__")
    own = any(name in vars(base) for base in kind.__mro__[:-1] for name in ways)
    return own and kind.__module__.partition(".")[0] not in OF_PYTHON


def without_address(value: Any) -> str:
    """Return the repr of an object. Return the name of its type if the repr shows an address in memory."""
    if inspect.isroutine(value) or isinstance(value, type):
        return f"{getattr(value, '__module__', '')}.{getattr(value, '__qualname__', type(value).__name__)}"
    text = result_or_error(repr, value)
    return type(value).__name__ if not isinstance(text, str) or " at 0x" in text else text


def _rest_leaves(place: str, value: Any) -> Leaves:
    """Return the repr of an object and, unless its repr or its attributes show all of it, a digest."""
    leaves: Leaves = {place: spelled(value)}
    is_code = isinstance(value, type) or inspect.isroutine(value) or inspect.ismodule(value)
    has_attributes = not is_code and (hasattr(value, "__dict__") or hasattr(type(value), "__slots__"))
    is_read = _is_known_whole(value) or (has_attributes and _is_of_python(type(value)))
    if value is not None and not is_read and str(value) != "<NA>":
        leaves[f"rest of {place}"] = digest_of(value)
    return leaves


def _given_to(error: BaseException) -> tuple[Any, ...]:
    """Return the arguments of an exception, whatever its class says of them."""
    return BaseException.args.__get__(error)  # type: ignore[attr-defined, no-any-return]


def _exception_parts(error: BaseException, depth: int = LEVELS) -> dict[str, Any]:
    """Return what an exception holds, by the words for it: arguments, notes, cause, context and exceptions, if it has any.
    The first two are plain data, down to ``depth`` levels of objects in objects.
    """
    inside = getattr(error, "exceptions", ()) if isinstance(error, BaseExceptionGroup) else ()
    # Of a group, the exceptions are parts of their own, and its second argument.
    given = _given_to(error)
    arguments = given[:1] if inside else given
    parts: dict[str, Any] = {"arguments": [as_plain(argument, depth) for argument in arguments]} if arguments else {}
    if notes := getattr(error, "__notes__", None):
        parts["notes"] = as_plain(notes, depth)
    fields_of_c = {
        name: as_plain(part, depth)
        for kind in type(error).__mro__[:-2]
        for name, member in vars(kind).items()
        if isinstance(member, MemberDescriptorType | GetSetDescriptorType) and not name.startswith("__")
        if (part := result_or_error(getattr, error, name)) is not None and name != "args"
        if not (inside and name == "exceptions")
    }
    if fields_of_c:
        parts["fields"] = fields_of_c
    for words, before in (("cause", error.__cause__), ("context", error.__context__)):
        if before is not None and not (words == "context" and before is error.__cause__):
            parts[words] = before
    return {
        **parts,
        **({"exceptions": tuple(inside) if isinstance(given[1], tuple) else list(inside)} if inside else {}),
    }


def _exception_leaves(place: str, error: BaseException) -> Leaves:
    kind = type(error)
    bases = [base.__qualname__ for base in kind.__mro__[1:-3]] if kind.__module__ != "builtins" else []
    leaves: Leaves = {place: f"raises {kind.__name__}", f"message of {place}": spelled(error, str)}
    if bases or kind.__qualname__ != kind.__name__:
        leaves[f"class of {place}"] = " < ".join([kind.__qualname__, *bases])
    if error.__suppress_context__:
        leaves[f"context of {place} is hidden"] = "yes"
    return leaves


def _key_orders(values: Sequence[Mapping[Any, Any]]) -> Sequence[Hashable]:
    # Equal strings have one text, and so have equal integers. Other equal keys, such as 1 and True, may have two.
    plain = set(map(type, itertools.chain.from_iterable(values))) <= {str, int}
    return [*map(tuple, values)] if plain else range(len(values))


def _names_of(value: Any) -> tuple[str, ...]:
    """Return the names of the fields of a dataclass, or of a scalar of pandas. Return () for any other value."""
    if is_dataclass(type(value)):
        return tuple(field.name for field in fields(value))
    # These scalars of pandas are not numbers, so their attributes are read.
    scalars = {"Period": ("ordinal", "freqstr"), "Interval": ("left", "right", "closed")}
    names = scalars.get(type(value).__name__, ())
    return names if all(hasattr(value, name) for name in names) else ()


def _fields_in_turn(values: Sequence[Any]) -> Iterable[Any]:
    columns = [map(operator.attrgetter(name), values) for name in _names_of(values[0])]
    return itertools.chain.from_iterable(zip(*columns, strict=True))


def _own_complex(value: Any) -> Any:
    return complex.__pos__(value) if isinstance(value, complex) else value


def is_array_like(value: Any) -> bool:
    """Whether NumPy reads a value as an array."""
    has_items = hasattr(value, "__array__") and not isinstance(value, type | np.floating)
    return has_items or isinstance(value, memoryview | array.array)


def _labels(value: Any) -> list[str]:
    """Return the attributes that hold the labels of an object, such as a frame of pandas."""
    return [name for name in ("index", "columns") if hasattr(getattr(value, name, None), "__array__")]


# The attributes by which libraries say how the items of an array, a column or a frame are held, and how it is named.
ABOUT = ("dtype", "dtypes", "schema", "type", "typecode", "format", "num_chunks", "name", "names", "attrs")


def _about(place: str, value: Any) -> Leaves:
    """Return how an array-like object, and its labels, hold their items, and their names."""
    leaves: Leaves = {}
    labels = {f"{label} of {place}": getattr(value, label) for label in _labels(value)}
    for where, inside in {place: value, **labels}.items():
        if inside is not value:
            leaves[f"class of {where}"] = type(inside).__name__
        for name in ABOUT:
            said = result_or_error(getattr, inside, name, None)
            if said is None or callable(said) or (isinstance(said, BaseException | dict) and not said):
                continue
            items = result_or_error(list, said) if name == "dtypes" else None
            text = str([*map(without_address, items)]) if isinstance(items, list) else without_address(said)
            leaves[f"{'item type' if name == 'type' else name} of {where}"] = text
    kept = result_or_error(_emptied, value)
    if kept is not None and not isinstance(kept, BaseException):
        leaves[f"rest of {place}"] = digest_of(kept)
    return leaves


def _as_arrays(values: Sequence[Any]) -> Iterable[Any]:
    for value in values:
        inside = result_or_error(_as_array, value)
        if isinstance(inside, BaseException):
            raise MechanismError(
                f"an output is {type(value).__name__}, which cannot be read as an array: {describe_error(inside)}; return a "
                "NumPy array, or numbers"
            ) from None
        yield inside
        yield from (np.asarray(getattr(value, name)) for name in _labels(value))


def _as_array(value: Any) -> Any:
    """Return the items of an object as an array. Items of several types stay as they are: floats would lose digits of ids,
    and what tells a missing value from a NaN.
    """
    library = type(value).__module__.partition(".")[0]
    if library == "pandas" and hasattr(value, "dtypes"):
        kinds = {*value.dtypes} if hasattr(value, "columns") else {value.dtype}
        is_plain = len(kinds) == 1 and all(isinstance(kind, np.dtype) for kind in kinds)
        return np.asarray(value) if is_plain else value.to_numpy(dtype=object)
    rows = value.rows() if library == "polars" and hasattr(value, "rows") else None
    if rows is None and library in ("polars", "pyarrow") and getattr(value, "null_count", None):
        rows = value.to_list() if hasattr(value, "to_list") else value.to_pylist()
    if rows is None and library == "pyarrow" and hasattr(value, "columns"):
        rows = list(zip(*(column.to_pylist() for column in value.columns), strict=True))
    if rows is None:
        return np.asarray(value)
    items = np.empty(value.shape if hasattr(value, "shape") else len(rows), dtype=object)
    items[:] = rows
    return items


def _emptied(value: Any) -> Any:
    """Return an object of a library without its items: levels and categories that nothing uses, metadata, flags."""
    library = type(value).__module__.partition(".")[0]
    if library == "pandas":
        return value[:0]
    if library != "pyarrow":
        return value.iloc[:0] if hasattr(value, "iloc") else None
    arrays = value.columns if hasattr(value, "columns") else [value]
    chunks = [chunk for one in arrays for chunk in getattr(one, "chunks", [one])]
    dictionaries = [chunk.dictionary for chunk in chunks if hasattr(chunk, "dictionary")]
    return [getattr(value, "schema", None), getattr(value, "type", None), *dictionaries]


def type_name(value: Any) -> str:
    """Return the name of the type of a value. It does not depend on the other outputs of a batch."""
    if isinstance(value, BaseException):
        return "exception"
    if isinstance(value, JsonNumber):
        return "float" if set(value) & set(".eE") else "int"
    if isinstance(value, np.ndarray):
        # The width of a text is a number, see _array_leaves.
        name = "array" if type(value) is np.ndarray else type(value).__name__
        return f"{name} of {TEXTS.get(value.dtype.kind, value.dtype)}"
    kind = type(value)
    if isinstance(value, np.generic):
        name = "numpy" if kind.__module__ == "numpy" else f"{kind.__name__} of numpy"
        return f"{name}.{TEXTS.get(value.dtype.kind, value.dtype)}"
    library = kind.__module__.partition(".")[0]
    name = kind.__qualname__.rpartition("<locals>.")[2]
    if isinstance(value, tuple) and hasattr(kind, "_fields"):
        name = f"{name}({', '.join(kind._fields)})"
    return f"{library}.{name}" if library in LIBRARIES else name


def module_of(place: str, value: Any) -> Leaves:
    """Return the module of a value's class, since two modules may have classes of one name; nothing for those of Python.

    Of a file it is the name of the file, which does not depend on its folder.
    """
    module = type(value).__module__
    if module.partition(".")[0] in OF_PYTHON:
        return {}
    return {f"module of {place}": re.sub(r"^auditor_file_[0-9a-f]{16}_", "", module)}


OF_PYTHON = frozenset((*KNOWN_MODULES, *LIBRARIES, *sys.stdlib_module_names))


TEXTS = {"U": "str", "S": "bytes"}


def leaves_of_number(place: str, number: Any) -> Leaves:
    """Return the nearest float, the rounding error of a large integer or long double, and the sign of −0."""
    rounded = f"rounded off {place}"
    if isinstance(number, int | float):  # a subclass may say that it is another number
        number = int.__pos__(number) if isinstance(number, int) else float.__pos__(number)
    if isinstance(number, int) and abs(number) > EXACT:
        try:
            nearest = float(number)
        except OverflowError:
            return {
                place: math.inf if number > 0 else -math.inf,
                rounded: hex(number),
            }  # Python refuses to write more than 4300 decimal digits
        left_over = number - int(nearest)
        return {place: nearest, rounded: float(left_over) if abs(left_over) <= EXACT else hex(number)}
    value = float(number)
    if math.isnan(value):
        return {place: "NaN"}
    leaves: Leaves = {place: value + 0.0}
    if value != number:
        leaves[rounded] = repr(number)
    if value == 0 and math.copysign(1.0, value) < 0:
        leaves[f"sign of {place}"] = MINUS_ZERO
    return leaves


def _exact_leaves(place: str, value: Fraction | Decimal) -> Leaves:
    """Return the nearest float, the rounding error and, for a Decimal, the exponent and the sign of −0."""
    if isinstance(value, Decimal) and not value.is_finite():
        return {place: "NaN" if value.is_nan() else float(value)}
    try:
        found: Leaves = {place: float(value) + 0.0}
        left_over = Fraction(value) - Fraction(found[place])
    except OverflowError:
        return {place: math.inf if value > 0 else -math.inf, f"rounded off {place}": repr(value)}
    if left_over and isinstance(value, Decimal):  # its digits say more than the difference to a float
        sign, digits, _ = value.as_tuple()
        found[f"rounded off {place}"] = "-" * sign + "".join(map(str, digits))
    elif left_over:
        found[f"rounded off {place}"] = str(left_over)
    if isinstance(value, Decimal):
        found[f"exponent of {place}"] = float(value.as_tuple().exponent)
        if value.is_signed() and not value:
            found[f"sign of {place}"] = MINUS_ZERO
    return found


def _is_known_zone(zone: tzinfo | None) -> bool:
    return zone is None or type(zone).__module__ in KNOWN_MODULES


def _time_leaves(place: str, value: Any) -> Leaves:
    """Return a date in days since 1970, a time in microseconds (NumPy: in its unit), zone, fold and nanoseconds."""
    if str(value) == "NaT":
        return {place: "NaT"}
    leaves: Leaves = {}
    day = 86_400 * 10**6  # microseconds
    match value:
        case np.datetime64() | np.timedelta64():
            number = int(value.astype(np.int64))
        case timedelta():
            number = value.days * day + value.seconds * 10**6 + value.microseconds
        case _:
            number = value.toordinal() - date(1970, 1, 1).toordinal() if isinstance(value, date) else 0
            if isinstance(value, datetime | time):
                seconds = (value.hour * 60 + value.minute) * 60 + value.second
                number = number * day + seconds * 10**6 + value.microsecond
                if value.tzinfo is not None:
                    leaves[f"time zone of {place}"] = f"{spelled(value.tzinfo)}, {value.utcoffset()}"
                    if not _is_known_zone(value.tzinfo):
                        leaves[f"rest of the time zone of {place}"] = digest_of(value.tzinfo)
                if value.fold:
                    leaves[f"fold of {place}"] = float(value.fold)
    leaves.update(leaves_of_number(place, number))
    # Times of pandas have nanoseconds, which those of the standard library lack.
    if nanoseconds := getattr(value, "nanosecond", getattr(value, "nanoseconds", 0)):
        leaves[f"nanoseconds of {place}"] = float(nanoseconds)
    if isinstance(unit := getattr(value, "unit", None), str):
        leaves[f"unit of {place}"] = unit
    return leaves


def _text_leaves(place: str, text: str | bytes | bytearray) -> Leaves:
    """Return the leaves of a text: a number and how it is written, or each field of a line, or the text itself."""
    if isinstance(text, JsonNumber):
        return number_leaves(place, text) or {place: float(text)}
    if not isinstance(text, str):
        text = memoryview(text).tobytes()  # its type says if it was a bytearray
    elif type(text) is not str:
        text = str.__str__(text)  # a subclass may say something else
    leaves = _parsed(place, text) if isinstance(text, str) else {}
    return {**(leaves or {place: spelled(text)}), f"length of {place}": float(len(text))}


def is_word(text: str) -> bool:
    """Whether a text is not a number, and no field of the text is a number."""
    return not (_parsed_once(text) if len(text) <= 64 else _parsed("", text))


def _parsed(place: str, text: str) -> Leaves:
    return number_leaves(place, text) or _field_leaves(place, text)


_parsed_once = functools.lru_cache(maxsize=1 << 16)(functools.partial(_parsed, ""))


def _field_leaves(place: str, text: str) -> Leaves:
    """Return the leaves of a line of fields, such as a line of CSV. Return no leaves if no field is a number."""
    for separator in SEPARATORS:
        parts = text.split(separator)
        numbers = [number_leaves(f"{place} field {at}", part) for at, part in enumerate(parts)]
        if len(parts) > 1 and any(numbers):
            leaves: Leaves = {place: f"fields between {separator!r}", f"fields of {place}": float(len(parts))}
            for at, (part, number) in enumerate(zip(parts, numbers, strict=True)):
                leaves.update(number or {f"{place} field {at}": repr(part)})
            return leaves
    return {}


def spelled(value: Any, text: Callable[[Any], str] = repr) -> str:
    """Return the text of an object, by default its repr. If this raises, return the names of type and exception.

    Raises MechanismError if the repr is an address in memory, since the audit could not see the content of the object.
    """
    found = result_or_error(text, value)
    if not isinstance(found, str):  # an object that cannot be spelled is an output too
        return f"{type(value).__name__} that raises {type(found).__name__}"
    if text is str:
        found = re.sub(r" at 0x[0-9a-fA-F]{4,}", " at 0x…", found)  # an address differs from process to process
        digest = hashlib.sha256(found.encode("utf-8", "surrogatepass")).hexdigest()[:16]
        return repr(found if len(found) <= LETTERS else f"{found[:LETTERS]}… ({len(found):,} letters, digest {digest})")
    # The default repr of an object shows its memory address.
    if not isinstance(value, str | bytes) and re.search(r" at 0x[0-9a-fA-F]{4,}>", found):
        raise MechanismError(f"an output is {found}, which does not show what it holds; {_instead(value)}")
    return found


def _instead(value: Any) -> str:
    if inspect.isawaitable(value):
        if inspect.iscoroutine(value):
            value.close()  # otherwise Python warns that it was never awaited
        return "the mechanism is asynchronous: wrap it in a function that returns asyncio.run(...)"
    if inspect.isroutine(value):
        return (
            "name the function that draws outputs, not a function that makes that function; if it is a session that is asked "
            "questions, say which with `ask`"
        )
    if hasattr(value, "__next__"):
        return "return a list of the values that it yields"
    if hasattr(value, "collect_schema"):  # a LazyFrame of polars
        return "return what its method `.collect()` returns"
    shown = "return numbers, text, lists or dicts, or give its class a __repr__ that shows all it holds"
    return (
        f"if it is a session that is asked questions, say which with `ask`; else {shown}" if callable(value) else shown
    )


FIELDS = OutputKind(
    lambda value: bool(_names_of(value)),
    places=lambda place, value: [f"{place}.{name}" for name in _names_of(value)],
    parts=_fields_in_turn,
    forms=lambda values: [()] * len(values) if is_dataclass(values[0]) else range(len(values)),
)
# The first kind that fits a value is used.
OUTPUT_KINDS = (
    OutputKind(_is(Row), lambda place, row: row),
    OutputKind(_is(np.ndarray), _array_leaves, items_at, _items, _array_forms),
    OutputKind(
        _is(Mapping),
        _dict_leaves,
        lambda place, value: [f"{place}[{spelled(key)}]" for key in value],
        lambda values: itertools.chain.from_iterable(map(operator.methodcaller("values"), values)),
        _key_orders,
    ),
    OutputKind(
        _is(list, tuple, deque),
        _list_leaves,
        lambda place, value: [f"{place}[{at}]" for at, _ in zip(range(len(value)), value, strict=False)],
        itertools.chain.from_iterable,
        lambda values: [(len(value), getattr(value, "maxlen", None)) for value in values],
    ),
    OutputKind(
        _is(Set),
        _set_leaves,
        lambda place, value: [f"{words} of {place}" for words, _ in _set_items(value)],
        lambda values: (item for value in values for _, item in _set_items(value)),
    ),
    OutputKind(
        _is(BaseException),
        _exception_leaves,
        lambda place, e: [f"{words} of {place}" for words in _exception_parts(e)],
        lambda values: itertools.chain.from_iterable(_exception_parts(value).values() for value in values),
    ),
    OutputKind(
        _is(complex, np.complexfloating),
        places=lambda place, value: (f"{place}.real", f"{place}.imag"),
        parts=lambda values: [part for value in map(_own_complex, values) for part in (value.real, value.imag)],
        forms=lambda values: [type_name(value) for value in values],
    ),
    OutputKind(_is(Fraction, Decimal), _exact_leaves),
    OutputKind(_is(np.datetime64, np.timedelta64, date, time, timedelta), _time_leaves),
    FIELDS,
    OutputKind(
        lambda value: hasattr(value, "as_py") and not isinstance(value, type),  # a scalar of pyarrow
        _about,
        lambda place, value: [place],
        lambda values: (value.as_py() for value in values),
    ),
    OutputKind(
        is_array_like,
        _about,
        places=lambda place, value: [place, *(f"{name} of {place}" for name in _labels(value))],
        parts=_as_arrays,
    ),
    OutputKind(_is(int, float, np.floating), leaves_of_number),
    OutputKind(_is(str, bytes, bytearray), _text_leaves),
    OutputKind(lambda value: True, _rest_leaves),
)


def output_kind(value: Any) -> OutputKind:
    """Return the first entry of OUTPUT_KINDS that fits a value."""
    return next(kind for kind in OUTPUT_KINDS if kind.holds(value))
