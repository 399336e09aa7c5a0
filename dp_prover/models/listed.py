"""The allow-list of functions that the evaluator models, by function object; calling any other ends the attempt.

An entry's model handles terms and lazy values. With constants, a ``pure`` function is called itself. ``listed_python`` and
``listed_numpy`` hold the entries.
"""

import functools
import inspect
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from dp_prover.errors import NotProvedError
from dp_prover.models.arithmetic import native
from dp_prover.models.arrays import is_known, ours, real, require_few
from dp_prover.models.lazy import Lazy, Numbered, unmodelled
from dp_prover.models.run import TracedRun
from dp_prover.models.values import Array, Mark, RaisesError, Term, is_constant, typed

MOST_STEPS = 100_000  # of a loop
LONG, MOST_FOR_LONG = ("math.factorial", "math.comb", "math.perm"), 2_000


class Caller(Protocol):
    """The evaluator's interface for models."""

    run: TracedRun

    def call(self, function: Any, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
        """Call a function of the mechanism, or a listed one."""

    def truth(self, value: Any) -> bool:
        """Return whether a value is true, forking if it may be either."""


@dataclass(frozen=True, slots=True)
class Listed:
    """A modelled function. ``model`` takes the caller, then the arguments; None models constants only."""

    name: str
    real: Any
    model: Callable[..., Any] | None
    pure: bool = True


class Iterated:
    """An iterator. After it has raised, it cannot be used again."""

    def __init__(self, values: Iterator[Any]) -> None:
        self.values = _UntilRaised(values)


class _UntilRaised(Iterator[Any]):
    """Yields values until one raises. Python's iterators then differ: a map goes on, a generator has ended."""

    def __init__(self, values: Iterator[Any]) -> None:
        self._values, self._raised = values, False

    def __next__(self) -> Any:
        if self._raised:
            raise NotProvedError("an iterator is used after it raised an exception")
        try:
            return next(self._values)
        except RaisesError:
            self._raised = True
            raise


class View:
    """A live view of a dict's "keys", "values" or "items"."""

    def __init__(self, mapping: dict[Any, Any], kind: str) -> None:
        self.mapping, self.kind = mapping, kind

    def __len__(self) -> int:
        return len(self.mapping)

    def content(self) -> list[Any]:
        """Return the view's present content."""
        return list(getattr(self.mapping, self.kind)())


def iterate(value: Any) -> Iterator[Any]:
    """Iterate over a value, as Python's ``iter`` does."""
    if isinstance(value, Iterated):
        return value.values
    if isinstance(value, Array):
        if not value.shape:
            raise NotProvedError("an array without axes is iterated over")
        if len(value.shape) == 1:
            return (typed(value.store[at], value.dtype) for at in value.index.tolist())
        return (Array(value.store, row, value.dtype) for row in value.index)
    if type(value) in (list, tuple, range, str, bytes):
        require_few(len(value))
        return _by_place(value) if type(value) is list else iter(value)
    if type(value) is dict:
        return _of_dict(value, value)
    if isinstance(value, View):
        return _of_dict(value.mapping, value.content(), value.kind)
    if type(value) is set:
        raise NotProvedError("the order of a set is not modelled; use sorted()")
    shown = "a number from data or noise" if isinstance(value, Term) else f"a {type(value).__name__}"
    shown = value.words if isinstance(value, Mark) else shown
    raise NotProvedError(f"{shown} is iterated over, which is not modelled")


def _by_place(items: list[Any]) -> Iterator[Any]:
    """Iterate over a list that may grow meanwhile, as Python does."""
    at = 0
    while at < len(items):
        yield items[at]
        at += 1


def _of_dict(mapping: dict[Any, Any], rows: Iterable[Any], kind: str = "keys") -> Iterator[Any]:
    """Iterate over a dict. Raises NotProvedError if its keys change meanwhile."""
    return _unchanged(mapping, len(mapping), list(mapping), list(rows), kind)


def _unchanged(mapping: dict[Any, Any], length: int, keys: list[Any], rows: list[Any], kind: str) -> Iterator[Any]:
    for key, row in zip(keys, rows, strict=True):
        if len(mapping) == length and key in mapping:
            yield key if kind == "keys" else mapping[key] if kind == "values" else (key, mapping[key])
        if len(mapping) != length or row is mapping or not all(map(operator.is_, mapping, keys)):
            raise NotProvedError(
                "a dict is changed while a loop iterates over it, which raises RuntimeError; iterate over list(...)"
            )


def listed(values: Any) -> list[Any]:
    """Return the items of an iterable as a list."""
    items = []
    for value in iterate(values):
        items.append(value)
        require_few(len(items))
    return items


def called(entry: Listed, caller: Caller, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
    """Call a listed function: itself with constants, its model otherwise."""
    constant = all(map(is_known, arguments)) and all(map(is_known, keywords.values()))
    if entry.pure and constant and not any(isinstance(argument, Iterated) for argument in arguments):
        return of_constants(entry.name, entry.real, arguments, keywords)
    if entry.model is None:
        raise NotProvedError(f"{entry.name} has a number from data or noise, for which it is not modelled")
    require_accepted(entry.real, arguments, keywords)
    return modelled(entry.name, entry.model, (caller, *arguments), keywords)


class _NoExampleError(Exception):
    """A value has no ordinary example."""


def require_accepted(function: Callable[..., Any], arguments: Sequence[Any], keywords: Mapping[str, Any]) -> None:
    """Raise NotProvedError if the real function raises on an example of the arguments."""
    try:
        given, named = list(map(_example, arguments)), {name: _example(value) for name, value in keywords.items()}
    except _NoExampleError:
        return
    try:
        function(*given, **named)
    except Exception as error:
        raise unmodelled(error) from None


def _example(value: Any) -> Any:
    """Return an ordinary value of the same type and shape, with 1 for each number from data or noise."""
    if isinstance(value, Array):
        return np.ones(value.shape, value.dtype)
    if isinstance(value, Term):
        return value.kind.type(1) if isinstance(value.kind, np.dtype) else value.kind(1)
    if isinstance(value, Numbered):
        return value.low
    if isinstance(value, Lazy):
        return value.values()[0]
    if type(value) in (list, tuple):
        return type(value)(map(_example, value))
    if is_constant(value) or isinstance(value, type):
        return value
    raise _NoExampleError


def of_constants(name: str, function: Callable[..., Any], arguments: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
    """Call a real function with copies of constants. Raises NotProvedError if it changes an argument, or returns one."""
    given = list(map(real, arguments))
    if name in LONG and any(isinstance(number, int) and abs(number) > MOST_FOR_LONG for number in given):
        raise NotProvedError(
            f"{name} of a number above {MOST_FOR_LONG} takes too long; compute it outside the mechanism"
        )
    named = {key: real(value) for key, value in keywords.items()}
    arrays = [value for value in (*given, *named.values()) if isinstance(value, np.ndarray)]
    before = [array.tobytes() for array in arrays]
    result = native(function, *given, **named)
    if [array.tobytes() for array in arrays] != before:
        raise NotProvedError(f"{name} writes into its argument, which is not modelled; remove `out=`")
    parts = result if isinstance(result, list | tuple) else [result]
    results = [part for part in parts if isinstance(part, np.ndarray)]
    if any(np.may_share_memory(part, array) for part in results for array in arrays):
        raise NotProvedError(f"{name} returns its argument, or a part of it; make a copy()")
    return ours(result)


@functools.lru_cache(maxsize=1024)
def _signature(model: Callable[..., Any]) -> inspect.Signature:
    return inspect.signature(model)


def modelled(name: str, model: Callable[..., Any], arguments: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
    """Call a model. Raises NotProvedError if it lacks a parameter."""
    try:
        _signature(model).bind(*arguments, **keywords)
    except TypeError as error:
        raise NotProvedError(f"{name} is not modelled with these arguments: {error}") from None
    return model(*arguments, **keywords)


def is_type(value: Any) -> bool:
    """Whether a value is a type that isinstance() may test for."""
    return isinstance(value, type) and (
        value in (int, float, bool, str, list, tuple, dict, set) or issubclass(value, np.generic)
    )
