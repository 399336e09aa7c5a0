"""What a mechanism refers to that its call did not make: constants, functions, listed modules, and objects that are only read."""

import builtins
import math
import pathlib
import types
from dataclasses import dataclass
from typing import Any

import numpy as np

from dp_prover.errors import NotProvedError
from dp_prover.models.listed import Listed
from dp_prover.models.listed_numpy import NUMPY
from dp_prover.models.listed_python import BUILTINS, MATH
from dp_prover.models.values import Array, Mark, from_numpy, is_constant

NUMPY_FILES = str(pathlib.Path(np.__file__).parent)


def is_original(function: Any) -> bool:
    """Whether a function is Python's or NumPy's own. A replacement made before this module was loaded is not."""
    inner = getattr(function, "_implementation", function)
    if type(inner) is types.FunctionType:
        return inner.__code__.co_filename.startswith(NUMPY_FILES)
    return isinstance(inner, types.BuiltinFunctionType | type | np.ufunc)


LISTED: dict[int, Listed] = {id(entry.real): entry for entry in (*BUILTINS, *MATH, *NUMPY) if is_original(entry.real)}
MODULES = (math, np, np.linalg)


@dataclass(frozen=True, slots=True, eq=False)
class Foreign:
    """An object from outside of the call. Only ``attribute_of`` may read it."""

    value: Any


@dataclass(frozen=True, slots=True, eq=False)
class BoundMethod:
    """A method of an object from outside of the call."""

    function: types.FunctionType
    owner: Any


def entry_of(value: Any) -> Listed | None:
    """Return the entry of a function that is on the list."""
    entry = LISTED.get(id(value))
    return entry if entry is not None and entry.real is value else None


def seen(value: Any) -> Any:
    """Return an object from outside of the call as a value: a constant, a function or a module as it is, all else as foreign.

    An array is frozen: it is read as it is now, and may not be written.
    """
    if is_constant(value) or entry_of(value) is not None:
        return value
    if type(value) in (types.FunctionType, types.ModuleType) or isinstance(value, type):
        return value
    if type(value) is np.ndarray and value.dtype.kind in "biufUS":
        array = from_numpy(value)
        assert isinstance(array, Array)
        array.store.may_be_copied()
        return array
    return Foreign(value)


def given(value: Any) -> Any:
    """Return an argument of the call as a value. The argument is a copy."""
    met = set[int]()
    found = _given(value, met)
    if met and _holds_an_object(found):
        raise NotProvedError(
            "an argument is an object, which may hold a list or an array of another one; pass what it holds"
        )
    return found


def _holds_an_object(value: Any) -> bool:
    if isinstance(value, list | tuple):
        return any(map(_holds_an_object, value))
    return isinstance(value, Foreign) if not isinstance(value, dict) else any(map(_holds_an_object, value.values()))


def _given(value: Any, met: set[int]) -> Any:
    if type(value) in (np.ndarray, list, dict):
        if id(value) in met:
            raise NotProvedError("an argument holds one list, dict or array in two places; give each its own")
        met.add(id(value))
    if type(value) is np.ndarray:
        return from_numpy(value)
    if type(value) in (list, tuple):
        return type(value)(_given(item, met) for item in value)
    if type(value) is dict:
        return {key: _given(item, met) for key, item in value.items()}
    return seen(value)


def attribute_of(value: Any, name: str) -> Any:
    """Return an attribute of a module, or of a plain object: the value in its own dict or slot."""
    if isinstance(value, types.ModuleType):
        if name not in vars(value):
            raise NotProvedError(f"the module {value.__name__} has no {name} of its own")
        found = vars(value)[name]
        modelled = is_constant(found) or isinstance(found, type) or entry_of(found) is not None or found in MODULES
        if value in MODULES and not modelled:
            raise NotProvedError(f"{value.__name__}.{name} is not on the list of functions that are modelled")
        return seen(found)
    assert isinstance(value, Foreign)
    owner = value.value
    kind = type(owner)
    if type(kind) is not type or any(on_type(kind, one) is not None for one in ("__getattribute__", "__getattr__")):
        raise NotProvedError(f"a {kind.__name__} computes its attributes, which is not modelled")
    shared, own = on_type(kind, name), _own_attributes(owner)
    if isinstance(shared, types.MemberDescriptorType) or (shared is None and name in own):
        return seen(object.__getattribute__(owner, name))
    if type(shared) is types.FunctionType and name not in own:
        return BoundMethod(shared, value)
    if shared is not None and is_constant(shared) and name not in own:
        return shared
    raise NotProvedError(f"the attribute {name} of a {kind.__name__} from outside of the call is not read")


def on_type(kind: type, name: str) -> Any:
    """Return the attribute of a class or its base classes; None for attributes of ``object``."""
    # By the descriptors of Python itself, which no class can hide.
    every = type.__dict__["__mro__"].__get__(kind)
    spaces = (type.__dict__["__dict__"].__get__(one) for one in every if one is not object)
    return next((space[name] for space in spaces if name in space), None)


def _own_attributes(owner: Any) -> dict[str, Any]:
    """Return the dict of an object; empty where it has none. Raises NotProvedError for one of a class of its own."""
    holder = on_type(type(owner), "__dict__")
    if holder is None:
        return {}
    own = holder.__get__(owner) if type(holder) is types.GetSetDescriptorType else None
    if type(own) is not dict:
        raise NotProvedError(f"a {type(owner).__name__} has attributes in something other than a dict")
    return own


def described(value: Any) -> str:
    """Describe a value whose use is not modelled."""
    if isinstance(value, Mark):
        return value.words
    if isinstance(value, Foreign):
        more = " (write it as a tuple)" if type(value.value) is list else ""
        return f"a {type(value.value).__name__} from outside of the call{more}"
    if isinstance(value, types.ModuleType):
        return f"the module {value.__name__}"
    name = getattr(value, "__qualname__", None) if isinstance(value, types.FunctionType | type) else None
    return name or f"a {type(value).__name__}"


def builtin(name: str) -> Any:
    """Return the builtin of Python with this name."""
    return vars(builtins).get(name)
