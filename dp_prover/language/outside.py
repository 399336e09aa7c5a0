"""Values from outside a call: constants, functions, modules, and objects that the mechanism may only read."""

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
    """Whether a function is Python's or NumPy's own, not a replacement made before this module was imported."""
    inner = getattr(function, "_implementation", function)
    if type(inner) is types.FunctionType:
        return inner.__code__.co_filename.startswith(NUMPY_FILES)
    return isinstance(inner, types.BuiltinFunctionType | type | np.ufunc)


LISTED: dict[int, Listed] = {id(entry.real): entry for entry in (*BUILTINS, *MATH, *NUMPY) if is_original(entry.real)}
MODULES = (math, np, np.linalg)


@dataclass(frozen=True, slots=True, eq=False)
class Foreign:
    """An object from outside the call. Only ``attribute_of`` may read it."""

    value: Any


@dataclass(frozen=True, slots=True, eq=False)
class BoundMethod:
    """A method of an object from outside the call."""

    function: types.FunctionType
    owner: Any


def entry_of(value: Any) -> Listed | None:
    """Return the allow-list's entry for a function; None if it has none."""
    entry = LISTED.get(id(value))
    return entry if entry is not None and entry.real is value else None


def from_outside(value: Any) -> Any:
    """Wrap an object from outside the call: constants, functions and modules stay themselves, all others become ``Foreign``.

    An array is frozen: its present items may be read, and not written.
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


def as_argument(value: Any) -> Any:
    """Return an argument of the call as a value of the evaluator. The argument is a copy, which the mechanism may change."""
    containers = set[int]()
    argument = _as_argument(value, containers)
    if containers and _holds_an_object(argument):
        raise NotProvedError(
            "an argument is an object, which may share a list or an array with another argument; pass its content"
        )
    return argument


def _holds_an_object(value: Any) -> bool:
    if isinstance(value, list | tuple):
        return any(map(_holds_an_object, value))
    return isinstance(value, Foreign) if not isinstance(value, dict) else any(map(_holds_an_object, value.values()))


def _as_argument(value: Any, containers: set[int]) -> Any:
    if type(value) in (np.ndarray, list, dict):
        if id(value) in containers:
            raise NotProvedError("an argument contains the same list, dict or array twice; make copies")
        containers.add(id(value))
    if type(value) is np.ndarray:
        return from_numpy(value)
    if type(value) in (list, tuple):
        return type(value)(_as_argument(item, containers) for item in value)
    if type(value) is dict:
        return {key: _as_argument(item, containers) for key, item in value.items()}
    return from_outside(value)


def attribute_of(value: Any, name: str) -> Any:
    """Return an attribute of a module, or of a plain object: the value in the object's dict or slot."""
    if isinstance(value, types.ModuleType):
        if name not in vars(value):
            raise NotProvedError(f"the module {value.__name__} has no {name} of its own")
        member = vars(value)[name]
        modelled = is_constant(member) or isinstance(member, type) or entry_of(member) is not None or member in MODULES
        if value in MODULES and not modelled:
            raise NotProvedError(f"{value.__name__}.{name} is not on the list of functions that are modelled")
        return from_outside(member)
    assert isinstance(value, Foreign)
    owner = value.value
    kind = type(owner)
    if type(kind) is not type or any(
        on_type(kind, special) is not None for special in ("__getattribute__", "__getattr__")
    ):
        raise NotProvedError(f"a {kind.__name__} computes its attributes, which is not modelled")
    shared, own = on_type(kind, name), _own_attributes(owner)
    if isinstance(shared, types.MemberDescriptorType) or (shared is None and name in own):
        return from_outside(object.__getattribute__(owner, name))
    if type(shared) is types.FunctionType and name not in own:
        return BoundMethod(shared, value)
    if shared is not None and is_constant(shared) and name not in own:
        return shared
    raise NotProvedError(f"the attribute {name} of a {kind.__name__} from outside the call is not read")


def on_type(kind: type, name: str) -> Any:
    """Return an attribute of a class or its bases; None for attributes of ``object``."""
    # Through Python's own descriptors, which no class can override.
    bases = type.__dict__["__mro__"].__get__(kind)
    spaces = (type.__dict__["__dict__"].__get__(base) for base in bases if base is not object)
    return next((space[name] for space in spaces if name in space), None)


def _own_attributes(owner: Any) -> dict[str, Any]:
    """Return an object's dict, empty if it has none. Raises NotProvedError if its class overrides ``__dict__``."""
    holder = on_type(type(owner), "__dict__")
    if holder is None:
        return {}
    own = holder.__get__(owner) if type(holder) is types.GetSetDescriptorType else None
    if type(own) is not dict:
        raise NotProvedError(f"a {type(owner).__name__} keeps its attributes in something other than a dict")
    return own


def describe(value: Any) -> str:
    """Describe a value whose use is not modelled."""
    if isinstance(value, Mark):
        return value.words
    if isinstance(value, Foreign):
        more = " (write it as a tuple)" if type(value.value) is list else ""
        return f"a {type(value.value).__name__} from outside the call{more}"
    if isinstance(value, types.ModuleType):
        return f"the module {value.__name__}"
    name = getattr(value, "__qualname__", None) if isinstance(value, types.FunctionType | type) else None
    return name or f"a {type(value).__name__}"
