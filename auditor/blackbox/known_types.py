"""What is known of types: their names, which of them Python and its libraries define, and which texts show a value whole."""

import functools
import inspect
import re
import sys
import types
from collections.abc import Callable
from datetime import date, datetime, time, timedelta, tzinfo
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from typing import Any, TypeVar

import numpy as np

from auditor.blackbox.number_text import JsonNumber, Leaves

# Libraries whose types are named with the library, since two of them have types of one name.
LIBRARIES = ("numpy", "pandas", "polars", "pyarrow")
# Modules whose objects hold nothing that no rule names, unless it was added to them.
KNOWN_MODULES = frozenset(
    (
        "array",
        "auditor",
        "builtins",
        "datetime",
        "decimal",
        "fractions",
        "pandas",
        "pathlib",
        "polars",
        "pyarrow",
        "uuid",
        "zoneinfo",
    )
)
_OF_PYTHON = frozenset((*KNOWN_MODULES, *LIBRARIES, *sys.stdlib_module_names))
# The flag of types that were made while the program runs, by a class statement for example.
_ON_HEAP = 1 << 9
_POINTER = object.__basicsize__ // 2  # bytes: an object is its number of references and its type
# Types whose values are plain data.
PLAIN = frozenset(
    (bool, int, float, complex, str, bytes, type(None), Fraction, Decimal, date, datetime, time, timedelta)
)
# Types of Python, by name, and their modules. Their reprs show all of a value.
_SPELLED_WHOLE = frozenset(("ellipsis", "NotImplementedType", "UUID", "PosixPath", "PurePosixPath", "ZoneInfo"))
_OF_SPELLED_WHOLE = frozenset(("builtins", "uuid", "pathlib", "zoneinfo"))
# The words for the items of NumPy's arrays of text.
TEXTS = {"U": "str", "S": "bytes"}
_AUDITOR_FILE = re.compile(r"^auditor_file_[0-9a-f]{16}_")
# The types of methods and attributes in C. The slots of a class in Python are member descriptors, and none of these.
_IN_C = types.MethodDescriptorType | types.WrapperDescriptorType | types.GetSetDescriptorType | types.BuiltinMethodType
_T = TypeVar("_T")


def once_per_type(function: Callable[[type], _T]) -> Callable[[type], _T]:
    """Keep what a function returned for the last thousand types. A mechanism may make a type for each output."""
    return functools.lru_cache(maxsize=1_024)(function)


@once_per_type
def library_of(kind: type) -> str:
    """Return the name of the library that a type is from, such as "numpy".

    Return "" if a class only says that it is from a library that is known: it may hold anything.
    """
    library = str(kind.__module__).partition(".")[0]
    # A type that was made by a library in C is not on the heap, so nobody else made it.
    is_certain = library not in _OF_PYTHON or not kind.__flags__ & _ON_HEAP or is_importable(kind)
    return library if is_certain else ""


def type_name(value: Any) -> str:
    """Return the name of the type of a value. It does not depend on the other outputs of a batch."""
    if isinstance(value, BaseException):
        return "exception"
    if isinstance(value, JsonNumber):
        return "float" if set(value) & set(".eE") else "int"
    if isinstance(value, np.ndarray):
        # The width of a text is a number, see ``array_leaves``.
        name = "array" if type(value) is np.ndarray else type(value).__name__
        return f"{name} of {TEXTS.get(value.dtype.kind, value.dtype)}"
    kind = type(value)
    if isinstance(value, np.generic):
        name = "numpy" if is_numpy_scalar(value) else f"{kind.__name__} of numpy"
        return f"{name}.{TEXTS.get(value.dtype.kind, value.dtype)}"
    library = library_of(kind)
    name = kind.__qualname__.rpartition("<locals>.")[2]
    if isinstance(value, tuple) and hasattr(kind, "_fields"):
        name = f"{name}({', '.join(kind._fields)})"
    return f"{library}.{name}" if library in LIBRARIES else name


def module_leaves(place: str, value: Any) -> Leaves:
    """Return the module of a value's class, since two modules may have classes of one name; nothing for those of Python.

    Of a file it is the name of the file, which does not depend on its folder.
    """
    kind = type(value)
    return {} if library_of(kind) in _OF_PYTHON else {f"module of {place}": _AUDITOR_FILE.sub("", kind.__module__)}


def is_numpy_scalar(value: Any) -> bool:
    """Whether a value is a scalar of NumPy itself, and not of a subclass."""
    return isinstance(value, np.generic) and library_of(type(value)) == "numpy"


@once_per_type
def is_known(kind: type) -> bool:
    """Whether the library of a type is known, so that its objects hold only what rules name and what was added to them."""
    library = library_of(kind)
    is_known_module = library in KNOWN_MODULES or (library == "numpy" and issubclass(kind, np.ndarray | np.generic))
    return is_known_module and not issubclass(kind, BaseException)


@once_per_type
def has_only_named_parts(kind: type) -> bool:
    """Whether a type is known, and its objects have no ``__dict__`` to which anything could be added."""
    return is_known(kind) and not any("__dict__" in vars(base) for base in kind.__mro__)


@once_per_type
def is_of_python(kind: type) -> bool:
    """Whether a class and its bases are written in Python, so that instances hold nothing besides their attributes."""
    bases = kind.__mro__[:-1]
    modules = (sys.modules.get(base.__module__) for base in bases)
    # A module that is built in has no file, and neither has the one that Python was started with.
    return not any(map(_is_of_c, bases)) and all(
        module is None or module.__name__ == "__main__" or str(getattr(module, "__file__", "")).endswith(".py")
        for module in modules
    )


def _is_of_c(kind: type) -> bool:
    """Whether a class has a method or an attribute in C. It may name a module in Python all the same, as partial does.

    Objects with room for attributes alone hold nothing else, so a class such as SimpleNamespace counts as one of Python.
    """
    pointers = 2 + (kind.__dictoffset__ > 0) + (kind.__weakrefoffset__ > 0)  # two that all objects have
    if kind.__basicsize__ <= pointers * _POINTER and not kind.__itemsize__:
        return False
    if not kind.__flags__ & _ON_HEAP:
        return True
    for name, member in vars(kind).items():
        own = getattr(member, "__objclass__", None) is kind or getattr(member, "__self__", None) is kind
        if own and isinstance(member, _IN_C) and name not in ("__dict__", "__weakref__"):
            return True
    return False


@once_per_type
def has_own_pickle(kind: type) -> bool:
    """Whether a class of a user, or a base of it, says how it is pickled. It may leave attributes out."""
    ways = ("__reduce__", "__reduce_ex__", "__getstate__")
    own = any(name in vars(base) for base in kind.__mro__[:-1] for name in ways)
    return own and library_of(kind) not in _OF_PYTHON


def is_importable(value: Any) -> bool:
    """Whether a module has this class or function under its name. The module may replace it at any time."""
    module = sys.modules.get(getattr(value, "__module__", None) or "")
    for part in getattr(value, "__qualname__", "<").split("."):
        module = getattr(module, part, None)
    return module is value


def is_spelled_whole(value: Any) -> bool:
    """Whether the repr of a value shows all of it: a class or a function that can be imported, an Enum, a UUID, a path."""
    kind = type(value)
    if isinstance(value, type | Enum):
        return is_importable(value if isinstance(value, type) else kind) and _has_repr_of_python(kind)
    if inspect.isroutine(value):
        return is_importable(value)
    if isinstance(value, slice):
        return all(map(is_key_spelled_whole, (value.start, value.stop, value.step)))
    return isinstance(value, range) or (library_of(kind) in _OF_SPELLED_WHOLE and kind.__name__ in _SPELLED_WHOLE)


@once_per_type
def _has_repr_of_python(kind: type) -> bool:
    """Whether the repr of a type's objects is that of a class of Python, and not of a user's class."""
    owner = next(base for base in kind.__mro__ if "__repr__" in vars(base))
    return library_of(owner) in sys.stdlib_module_names


def is_key_spelled_whole(key: Any) -> bool:
    """Whether the type and the repr of a key show all of it."""
    if type(key) is tuple:
        return all(map(is_key_spelled_whole, key))
    if isinstance(key, datetime | time) and not is_known_zone(key.tzinfo):
        return False
    return type(key) in PLAIN or is_numpy_scalar(key) or is_spelled_whole(key)


def is_known_zone(zone: tzinfo | None) -> bool:
    """Whether the name of a time zone shows all of it."""
    return zone is None or library_of(type(zone)) in KNOWN_MODULES
