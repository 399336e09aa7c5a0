"""Objects that a mechanism makes itself, of plain classes of the user's: attributes, methods, and ``super()``.

A class is plain if Python's own ``type`` made it, if all its bases are plain down to ``object``, and if it defines no special
method but ``__init__`` and ``__call__``. So reading, writing and calling are what Python does by default. What a class itself
holds is read if it is a function, a property or a constant. All else is shared by all of its objects, and is refused.
"""

import types
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from dp_prover.errors import NotProvedError
from dp_prover.language.outside import on_type, seen
from dp_prover.models.listed import Caller
from dp_prover.models.values import is_constant

# What Python writes into a class by itself, or when an object is copied (slotnames); and the special methods that are modelled.
WRITTEN = frozenset(
    f"__{name}__"
    for name in (
        *("module", "qualname", "doc", "dict", "weakref", "annotations", "firstlineno", "static_attributes"),
        *("annotate_func", "annotations_cache", "conditional_annotations", "classdictcell", "slotnames"),
    )
)
METHODS_OF_OBJECTS = frozenset(("__init__", "__call__"))


@dataclass(frozen=True, slots=True, eq=False)
class MadeObject:
    """An object that the mechanism made. ``values`` are its own attributes."""

    kind: type
    values: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False)
class MethodOfMade:
    """A method of an object that the mechanism made."""

    function: types.FunctionType
    owner: MadeObject


@dataclass(frozen=True, slots=True, eq=False)
class Bases:
    """``super()``: the methods of an object's classes that come after ``kind``."""

    kind: type
    owner: MadeObject


def classes_of(kind: type) -> tuple[type, ...]:
    """Return a class and its bases in the order of look-up, by Python's own descriptor, which no class can hide."""
    return type.__dict__["__mro__"].__get__(kind)  # type: ignore[no-any-return]


def _unusual(kind: type, allowed: frozenset[str], roots: Iterable[type]) -> str | None:
    """Return what a class has that is not plain; None if all of it is."""
    for one in classes_of(kind):
        if one in roots:
            continue
        if type(one) is not type or one.__module__ == "builtins":
            return f"derives from {one.__name__}"
        held = type.__dict__["__dict__"].__get__(one)
        special = sorted(
            name for name in held if not name.isidentifier() or (name.startswith("__") and name not in allowed)
        )
        if special:
            return f"defines {special[0]}"
    return None


def require_plain(kind: type) -> None:
    """Raise NotProvedError if a class does more than Python does by default."""
    unusual = "is that of Python" if kind is object else _unusual(kind, WRITTEN | METHODS_OF_OBJECTS, (object,))
    if unusual is not None:
        raise NotProvedError(
            f"the class {kind.__name__} {unusual}; classes are modelled if their special methods are __init__ and __call__ alone"
        )


def is_plain_exception(kind: Any, builtin: frozenset[Any]) -> bool:
    """Whether a class is an exception of Python, or derives from one and has nothing of its own but a name."""
    if kind in builtin:
        return True
    if type(kind) is not type or not issubclass(kind, Exception) or kind.__name__ in {one.__name__ for one in builtin}:
        return False
    own = [one for one in classes_of(kind) if one not in builtin and one not in (BaseException, object)]
    held = [name for one in own for name in type.__dict__["__dict__"].__get__(one)]
    return set(held) <= WRITTEN and _unusual(kind, WRITTEN, (*builtin, BaseException, object)) is None


def attribute_of_instance(instance: MadeObject, name: str) -> Any:
    """Return an attribute of an object; a property as itself, for the evaluator to call."""
    shared = on_type(instance.kind, name)
    if type(shared) is property:
        if type(shared.fget) is not types.FunctionType:
            raise NotProvedError(f"the property {name} of a {instance.kind.__name__} is not a function")
        return shared
    _require_readable(shared, instance, name)
    if name in instance.values:
        return instance.values[name]
    if type(shared) is types.FunctionType:
        return MethodOfMade(shared, instance)
    if shared is None and not _is_on_type(instance.kind, name):
        raise NotProvedError(f"a {instance.kind.__name__} has no attribute {name} here, which raises AttributeError")
    return seen(shared)


def set_attribute(instance: Any, name: str, value: Any) -> None:
    """Give an object an attribute. Raises NotProvedError if the call did not make it."""
    if not isinstance(instance, MadeObject):
        raise NotProvedError(
            "an attribute of an object is written that the call did not make: the mechanism has a memory; return the value instead"
        )
    shared = on_type(instance.kind, name)
    if type(shared) is property:
        raise NotProvedError(f"the property {name} of a {instance.kind.__name__} is written, which is not modelled")
    _require_readable(shared, instance, name)
    instance.values[name] = value


def has_attribute(instance: MadeObject, name: str) -> bool:
    """Whether an object has an attribute."""
    return name in instance.values or _is_on_type(instance.kind, name)


def _is_on_type(kind: type, name: str) -> bool:
    return any(name in type.__dict__["__dict__"].__get__(one) for one in classes_of(kind))


def _require_readable(shared: Any, instance: MadeObject, name: str) -> None:
    if type(shared) is types.FunctionType or is_constant(shared):
        return
    raise NotProvedError(
        f"the attribute {name} of the class {instance.kind.__name__} is a {type(shared).__name__}, which all its objects share; "
        "set it in __init__"
    )


def method_after(bases: Bases, name: str) -> MethodOfMade:
    """Return a method by ``super()``."""
    every = classes_of(bases.owner.kind)
    for one in every[every.index(bases.kind) + 1 :]:
        held = type.__dict__["__dict__"].__get__(one)
        if name in held:
            if type(held[name]) is not types.FunctionType:
                break
            return MethodOfMade(held[name], bases.owner)
    raise NotProvedError(f"super().{name} is not a method of a class of the mechanism's")


def bases_of(function: Any, values: Mapping[str, Any]) -> Bases:
    """Return ``super()`` in a call of a method with these values of its names."""
    free = function.__code__.co_freevars if type(function) is types.FunctionType else ()
    has_first = "__class__" in free and function.__code__.co_argcount > 0
    first = values.get(function.__code__.co_varnames[0]) if has_first else None
    if not isinstance(first, MadeObject):
        raise NotProvedError("super() is modelled in a method of an object that the mechanism made")
    kind = function.__closure__[free.index("__class__")].cell_contents
    if kind not in classes_of(first.kind):
        raise NotProvedError("super() is called in a method of another class")
    return Bases(kind, first)


def special_method(instance: MadeObject, name: str) -> MethodOfMade:
    """Return a special method of an object, which Python finds on its class."""
    function = on_type(instance.kind, name)
    if type(function) is not types.FunctionType:
        raise NotProvedError(f"a {instance.kind.__name__} has no method {name}")
    return MethodOfMade(function, instance)


def made_instance(caller: Caller, kind: type, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> MadeObject:
    """Return a new object of a class."""
    require_plain(kind)
    instance = MadeObject(kind)
    if on_type(kind, "__init__") is None:
        if arguments or keywords:
            raise NotProvedError(f"{kind.__name__} has no __init__ and is called with arguments")
    elif caller.call(special_method(instance, "__init__"), arguments, keywords) is not None:
        raise NotProvedError(f"__init__ of {kind.__name__} returns a value, which raises TypeError")
    return instance
