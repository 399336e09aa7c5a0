"""What an object holds, as it is: attributes, slots and items, read past what the object's own class says of them."""

import sys
from collections import deque
from types import GetSetDescriptorType, MemberDescriptorType
from typing import Any

import numpy as np

from auditor.blackbox.known_types import library_of, once_per_type
from auditor.foreign_code import result_or_error

# The methods that say which items an object of a type has.
ITEM_METHODS: dict[type, tuple[str, ...]] = {
    dict: ("__len__", "__iter__", "values"),
    **dict.fromkeys((list, tuple, set, frozenset, deque), ("__len__", "__iter__")),
}


def read_attributes(value: Any) -> dict[str, Any]:
    """Return the slots and the attributes of an object, whatever its class says of them. Notes of an exception have a
    place of their own.
    """
    attributes = dict[str, Any]()
    for name, slot in _slots(type(value)):
        part = result_or_error(slot.__get__, value)
        if not isinstance(part, AttributeError):  # an empty slot
            attributes[name] = part
    inside = result_or_error(object.__getattribute__, value, "__dict__")
    if isinstance(inside, dict):
        attributes.update({str(name): part for name, part in inside.items()})
    if isinstance(value, BaseException):
        attributes.pop("__notes__", None)
    return attributes


@once_per_type
def _slots(kind: type) -> tuple[tuple[str, Any], ...]:
    """Return the slots of a class and of its bases, with a name of its own for each."""
    slots = dict[str, Any]()
    for base in kind.__mro__:
        for name, member in vars(base).items() if base.__module__ != "builtins" else ():
            if isinstance(member, MemberDescriptorType) and name != "__dict__":
                slots[f"{base.__qualname__}.{name}" if name in slots else name] = member
    return tuple(slots.items())


@once_per_type
def names_slots(kind: type) -> bool:
    """Whether a class or a base of it names slots."""
    return any(getattr(base, "__slots__", ()) for base in kind.__mro__)


def read_additions(value: Any) -> dict[str, Any]:
    """Return the attributes of an object of a library that the library itself did not set: a fresh object lacks them.
    Of a mapped file they are the file and the offset.
    """
    own = getattr(value, "__dict__", None)
    if not own:
        return {}
    if isinstance(value, np.ndarray):
        return {name: part for name, part in own.items() if name != "_mmap"}  # what was read of the file are its items
    fresh = result_or_error(lambda: vars(value[:0]))
    return {name: part for name, part in own.items() if name not in fresh} if isinstance(fresh, dict) else {}


@once_per_type
def overridden_base(kind: type) -> type | None:
    """Return the type of Python that holds the items of a class, if a method of another class says which there are."""
    for base, methods in ITEM_METHODS.items():
        if issubclass(kind, base):
            owners = [next(owner for owner in kind.__mro__ if name in vars(owner)) for name in methods]
            return None if all(library_of(owner) in sys.stdlib_module_names for owner in owners) else base
    return None


def read_items(base: Any, value: Any) -> Any:
    """Return the items of a value as an object of a type of Python that it has as a base, whatever its class says."""
    return dict(dict.items(value)) if base is dict else base(base.__iter__(value))


def exception_arguments(error: BaseException) -> tuple[Any, ...]:
    """Return the arguments of an exception, whatever its class says of them."""
    return BaseException.args.__get__(error)  # type: ignore[attr-defined, no-any-return]


def notes_of(error: BaseException) -> Any:
    """Return the notes of an exception, whatever its class says of them; None if it has none."""
    return vars(BaseException)["__dict__"].__get__(error).get("__notes__")


def read_exception(error: BaseException) -> dict[str, Any]:
    """Return what an exception holds, by the words for it: a list of arguments, notes, a dict of fields, cause, context and
    exceptions, if it has any.
    """
    # Each part is read past what the exception's own class says of it.
    inside = BaseExceptionGroup.exceptions.__get__(error) if isinstance(error, BaseExceptionGroup) else ()
    # Of a group, the exceptions are parts of their own, and its second argument.
    arguments = exception_arguments(error)
    parts: dict[str, Any] = {"arguments": [*(arguments[:1] if inside else arguments)]} if arguments else {}
    if notes := notes_of(error):
        parts["notes"] = notes
    fields_of_c = {
        name: part
        for kind in type(error).__mro__[:-2]
        for name, member in vars(kind).items()
        if isinstance(member, MemberDescriptorType | GetSetDescriptorType) and not name.startswith("__")
        if (part := result_or_error(member.__get__, error)) is not None and name != "args"
        if not (inside and name == "exceptions")
    }
    if fields_of_c:
        parts["fields"] = fields_of_c
    cause, context = (vars(BaseException)[name].__get__(error) for name in ("__cause__", "__context__"))
    for words, before in (("cause", cause), ("context", context)):
        if before is not None and not (words == "context" and before is cause):
            parts[words] = before
    if inside:
        parts["exceptions"] = tuple(inside) if isinstance(arguments[1], tuple) else list(inside)
    return parts
