"""Names: the frames of calls, and functions that are made inside of the mechanism."""

import builtins
import types
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from dp_prover.errors import NotProvedError
from dp_prover.language.outside import seen
from dp_prover.language.source import Node


@dataclass(slots=True, eq=False)
class CallScope:
    """The names of a call. The names of enclosing functions are in ``outer``, and the names of the module in ``function``."""

    names: frozenset[str]
    file: str
    outer: "CallScope | None" = None
    function: Any = None  # of a module, whose names these are not
    values: dict[str, Any] = field(default_factory=dict)

    def bind(self, name: str, value: Any) -> None:
        """Give a name a value: in the function that is evaluated, or in the enclosing function that owns the name."""
        frame: CallScope | None = self
        while frame is not None:
            if name in frame.names:
                frame.values[name] = value
                return
            frame = frame.outer
        raise NotProvedError(f"{name} is assigned, but is not a name of the mechanism")

    def unbind(self, name: str) -> None:
        """Forget a name."""
        if name not in self.values:
            raise NotProvedError(f"{name} has no value here")
        del self.values[name]

    def look_up(self, name: str) -> Any:
        """Return the value of a name, as Python finds it."""
        frame: CallScope | None = self
        while frame is not None:
            if name in frame.names:
                if name not in frame.values:
                    raise NotProvedError(f"{name} has no value here")
                return frame.values[name]
            if frame.function is not None:
                return _of_function(frame.function, name)
            frame = frame.outer
        raise NotProvedError(f"{name} has no value here")


def _of_function(function: types.FunctionType, name: str) -> Any:
    """Return what a function refers to: a cell of its closure, a global name, or a builtin."""
    free = function.__code__.co_freevars
    if name in free:
        try:
            return seen((function.__closure__ or ())[free.index(name)].cell_contents)
        except ValueError:
            raise NotProvedError(f"{name} has no value here") from None
    module = function.__globals__
    if type(module) is not dict or getattr(function, "__builtins__", None) is not vars(builtins):
        raise NotProvedError("the globals or builtins of a function are not Python's ordinary ones")
    if name in module:
        return seen(module[name])
    if name in vars(builtins):
        return seen(vars(builtins)[name])
    raise NotProvedError(f"{name} has no value here")


@dataclass(frozen=True, slots=True, eq=False)
class Closure:
    """A function that the mechanism made itself. ``defaults`` are the values of parameters that have one."""

    node: Node
    names: frozenset[str]
    frame: CallScope
    defaults: Mapping[str, Any]


def bound_arguments(
    node: Node, arguments: list[Any], keywords: Mapping[str, Any], defaults: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the values of all parameters. Raises NotProvedError if the arguments do not fit."""
    given = node.args
    places = [one.arg for one in (*given.posonlyargs, *given.args)]
    found: dict[str, Any] = dict(zip(places, arguments, strict=False))
    more = arguments[len(places) :]
    if more and given.vararg is None:
        raise NotProvedError(f"a function of {len(places)} arguments is called with {len(arguments)}")
    if given.vararg is not None:
        found[given.vararg.arg] = tuple(more)
    named = {one.arg for one in (*given.args, *given.kwonlyargs)}
    rest = {}
    for name, value in keywords.items():
        if name in named and name not in found:
            found[name] = value
        elif given.kwarg is not None and name not in found:
            rest[name] = value
        else:
            raise NotProvedError(f"a function is called with an argument {name} that it does not have, or has twice")
    if given.kwarg is not None:
        found[given.kwarg.arg] = rest
    for name in (*places, *(one.arg for one in given.kwonlyargs)):
        if name not in found:
            if name not in defaults:
                raise NotProvedError(f"a function is called without its argument {name}")
            found[name] = defaults[name]
    return found
