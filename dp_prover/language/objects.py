"""Objects that a mechanism creates, of plain user-defined classes: attributes, methods, and ``super()``.

A class is plain if its metaclass is ``type``, all its bases up to ``object`` are plain, and it defines no special methods except
``__init__`` and ``__call__``. Reading, writing and calling then have Python's default meaning. Functions, properties and
constants of a class may be read; any other class attribute is state that its objects share, and is refused.
"""

import types
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from dp_prover.errors import NotProvedError
from dp_prover.language.outside import from_outside, on_type
from dp_prover.models.listed import Caller
from dp_prover.models.values import is_constant

# Attributes that Python itself adds to classes, some of them when an object is copied (slotnames).
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
    """An object that the mechanism created. ``values`` are its instance attributes."""

    kind: type
    values: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False)
class MethodOfMade:
    """A method of an object that the mechanism created."""

    function: types.FunctionType
    owner: MadeObject


@dataclass(frozen=True, slots=True, eq=False)
class Bases:
    """``super()``: the methods of the classes after ``kind`` in an object's resolution order."""

    kind: type
    owner: MadeObject


def classes_of(kind: type) -> tuple[type, ...]:
    """Return a class's method resolution order, through Python's own descriptor, which no class can override."""
    return type.__dict__["__mro__"].__get__(kind)  # type: ignore[no-any-return]


def _unusual(kind: type, allowed: frozenset[str], roots: Iterable[type]) -> str | None:
    """Describe what makes a class not plain; None if it is plain."""
    for base in classes_of(kind):
        if base in roots:
            continue
        if type(base) is not type or base.__module__ == "builtins":
            return f"derives from {base.__name__}"
        members = type.__dict__["__dict__"].__get__(base)
        special = sorted(
            name for name in members if not name.isidentifier() or (name.startswith("__") and name not in allowed)
        )
        if special:
            return f"defines {special[0]}"
    return None


def require_plain(kind: type) -> None:
    """Raise NotProvedError unless a class is plain."""
    unusual = "is that of Python" if kind is object else _unusual(kind, WRITTEN | METHODS_OF_OBJECTS, (object,))
    if unusual is not None:
        raise NotProvedError(
            f"the class {kind.__name__} {unusual}; only classes whose special methods are __init__ and __call__ are modelled"
        )


def is_plain_exception(kind: Any, builtin: frozenset[Any]) -> bool:
    """Whether a class is a builtin exception, or an empty class derived from one."""
    if kind in builtin:
        return True
    if (
        type(kind) is not type
        or not issubclass(kind, Exception)
        or kind.__name__ in {known.__name__ for known in builtin}
    ):
        return False
    own = [base for base in classes_of(kind) if base not in builtin and base not in (BaseException, object)]
    members = {name for base in own for name in type.__dict__["__dict__"].__get__(base)}
    return members <= WRITTEN and _unusual(kind, WRITTEN, (*builtin, BaseException, object)) is None


def attribute_of_instance(instance: MadeObject, name: str) -> Any:
    """Return an attribute of an object; a property itself, for the evaluator to call."""
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
    return from_outside(shared)


def set_attribute(instance: Any, name: str, value: Any) -> None:
    """Set an attribute of an object. Raises NotProvedError unless the call created it."""
    if not isinstance(instance, MadeObject):
        raise NotProvedError(
            "the mechanism sets an attribute of an object from outside the call, and so keeps state; return the value instead"
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
    return any(name in type.__dict__["__dict__"].__get__(base) for base in classes_of(kind))


def _require_readable(shared: Any, instance: MadeObject, name: str) -> None:
    if type(shared) is types.FunctionType or is_constant(shared):
        return
    raise NotProvedError(
        f"the attribute {name} of the class {instance.kind.__name__} is a {type(shared).__name__}, which all its objects share; "
        "set it in __init__"
    )


def method_after(bases: Bases, name: str) -> MethodOfMade:
    """Return a method through ``super()``."""
    order = classes_of(bases.owner.kind)
    for base in order[order.index(bases.kind) + 1 :]:
        members = type.__dict__["__dict__"].__get__(base)
        if name in members:
            if type(members[name]) is not types.FunctionType:
                break
            return MethodOfMade(members[name], bases.owner)
    raise NotProvedError(f"super().{name} is not a method of a class of the mechanism's")


def bases_of(function: Any, values: Mapping[str, Any]) -> Bases:
    """Return ``super()`` in a call of a method with these local values."""
    free = function.__code__.co_freevars if type(function) is types.FunctionType else ()
    has_first = "__class__" in free and function.__code__.co_argcount > 0
    first = values.get(function.__code__.co_varnames[0]) if has_first else None
    if not isinstance(first, MadeObject):
        raise NotProvedError("super() is only modelled in methods of objects that the mechanism creates")
    kind = function.__closure__[free.index("__class__")].cell_contents
    if kind not in classes_of(first.kind):
        raise NotProvedError("super() is called in a method of another class")
    return Bases(kind, first)


def special_method(instance: MadeObject, name: str) -> MethodOfMade:
    """Return a special method of an object, which Python looks up on the class."""
    function = on_type(instance.kind, name)
    if type(function) is not types.FunctionType:
        raise NotProvedError(f"a {instance.kind.__name__} has no method {name}")
    return MethodOfMade(function, instance)


def made_instance(caller: Caller, kind: type, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> MadeObject:
    """Create an object of a class."""
    require_plain(kind)
    instance = MadeObject(kind)
    if on_type(kind, "__init__") is None:
        if arguments or keywords:
            raise NotProvedError(f"{kind.__name__} has no __init__ and is called with arguments")
    elif caller.call(special_method(instance, "__init__"), arguments, keywords) is not None:
        raise NotProvedError(f"__init__ of {kind.__name__} returns a value, which raises TypeError")
    return instance
