"""Scopes: the names of a call, and functions that the mechanism defines inside itself."""

import builtins
import types
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from dp_prover.errors import NotProvedError
from dp_prover.language.outside import from_outside
from dp_prover.language.source import Node


@dataclass(slots=True, eq=False)
class CallScope:
    """The local names of a call. ``outer`` is the enclosing scope; ``function`` gives access to closure cells and globals."""

    names: frozenset[str]
    file: str
    outer: "CallScope | None" = None
    function: Any = None  # for a function of a module
    values: dict[str, Any] = field(default_factory=dict)

    def bind(self, name: str, value: Any) -> None:
        """Assign to a name, in the innermost scope that owns it."""
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
        """Return a name's value, in Python's order of lookup."""
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
    """Return the value that a name has in a function: its closure cell, a global, or a builtin."""
    free = function.__code__.co_freevars
    if name in free:
        try:
            return from_outside((function.__closure__ or ())[free.index(name)].cell_contents)
        except ValueError:
            raise NotProvedError(f"{name} has no value here") from None
    module = function.__globals__
    if type(module) is not dict or getattr(function, "__builtins__", None) is not vars(builtins):
        raise NotProvedError("the globals or builtins of a function are not Python's ordinary ones")
    if name in module:
        return from_outside(module[name])
    if name in vars(builtins):
        return from_outside(vars(builtins)[name])
    raise NotProvedError(f"{name} has no value here")


@dataclass(frozen=True, slots=True, eq=False)
class Closure:
    """A function that the mechanism defines itself. ``defaults`` are its parameters' default values."""

    node: Node
    names: frozenset[str]
    frame: CallScope
    defaults: Mapping[str, Any]


def bound_arguments(
    node: Node, arguments: list[Any], keywords: Mapping[str, Any], defaults: Mapping[str, Any]
) -> dict[str, Any]:
    """Bind arguments to parameters. Raises NotProvedError if they do not fit."""
    parameters = node.args
    places = [parameter.arg for parameter in (*parameters.posonlyargs, *parameters.args)]
    bound: dict[str, Any] = dict(zip(places, arguments, strict=False))
    more = arguments[len(places) :]
    if more and parameters.vararg is None:
        raise NotProvedError(f"a function of {len(places)} arguments is called with {len(arguments)}")
    if parameters.vararg is not None:
        bound[parameters.vararg.arg] = tuple(more)
    named = {parameter.arg for parameter in (*parameters.args, *parameters.kwonlyargs)}
    rest = {}
    for name, value in keywords.items():
        if name in named and name not in bound:
            bound[name] = value
        elif parameters.kwarg is not None and name not in bound:
            rest[name] = value
        else:
            raise NotProvedError(f"a function is called with an argument {name} that it does not have, or has twice")
    if parameters.kwarg is not None:
        bound[parameters.kwarg.arg] = rest
    for name in (*places, *(parameter.arg for parameter in parameters.kwonlyargs)):
        if name not in bound:
            if name not in defaults:
                raise NotProvedError(f"a function is called without its argument {name}")
            bound[name] = defaults[name]
    return bound
