"""The list of functions that the evaluator models, by the objects that Python calls; all others end an attempt.

An entry has a model for arguments with terms and lazy values. One that is ``pure`` is called itself with constants. The lists of
Python and of NumPy are in ``listed_python`` and ``listed_numpy``.
"""

import functools
import inspect
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

MOST_STEPS = 100_000  # of what a loop goes over
LONG, MOST_FOR_LONG = ("math.factorial", "math.comb", "math.perm"), 2_000


class Caller(Protocol):
    """The interface of the evaluator for models."""

    run: TracedRun

    def call(self, function: Any, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
        """Call a function of the mechanism, or one that is listed."""

    def truth(self, value: Any) -> bool:
        """Return whether a value is true, after a fork if that is not known."""


@dataclass(frozen=True, slots=True)
class Listed:
    """A function that is modelled. ``model`` is called with the caller, then the arguments."""

    name: str
    real: Any
    model: Callable[..., Any] | None
    pure: bool = True


class Iterated:
    """An iterator of values, which a loop can go over once. After an exception in it, it is not used again."""

    def __init__(self, values: Iterator[Any]) -> None:
        self.values = _UntilRaised(values)


class _UntilRaised(Iterator[Any]):
    """Yields values. After an exception Python's own differ, since a map goes on and a generator has ended."""

    def __init__(self, values: Iterator[Any]) -> None:
        self._values, self._raised = values, False

    def __next__(self) -> Any:
        if self._raised:
            raise NotProvedError("an iterator is used after an exception in it")
        try:
            return next(self._values)
        except RaisesError:
            self._raised = True
            raise


class View:
    """The keys, values or items of a dict, as they are whenever they are looked at."""

    def __init__(self, found: dict[Any, Any], what: str) -> None:
        self.found, self.what = found, what

    def __len__(self) -> int:
        return len(self.found)

    def now(self) -> list[Any]:
        """Return what it holds."""
        return list(getattr(self.found, self.what)())


def iterate(value: Any) -> Iterator[Any]:
    """Return an iterator over a value, as Python's ``iter``."""
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
        return _of_dict(value.found, value.now(), value.what)
    if type(value) is set:
        raise NotProvedError("the order of a set is not modelled; use sorted()")
    shown = "a number from data or noise" if isinstance(value, Term) else f"a {type(value).__name__}"
    shown = value.words if isinstance(value, Mark) else shown
    raise NotProvedError(f"{shown} is iterated over, which is not modelled")


def _by_place(items: list[Any]) -> Iterator[Any]:
    """Go over a list that may grow meanwhile, as Python does."""
    at = 0
    while at < len(items):
        yield items[at]
        at += 1


def _of_dict(found: dict[Any, Any], rows: Iterable[Any], what: str = "keys") -> Iterator[Any]:
    """Go over a dict. Raises NotProvedError if it gets another length meanwhile."""
    return _unchanged(found, len(found), list(found), list(rows), what)


def _unchanged(found: dict[Any, Any], length: int, keys: list[Any], rows: list[Any], what: str) -> Iterator[Any]:
    for key, row in zip(keys, rows, strict=True):
        if len(found) == length and key in found:
            yield key if what == "keys" else found[key] if what == "values" else (key, found[key])
        if len(found) != length or row is found or not _are_same(list(found), keys):
            raise NotProvedError(
                "a dict is changed while a loop goes over it, which raises RuntimeError; go over list(...)"
            )


def _are_same(some: list[Any], others: list[Any]) -> bool:
    return all(one is other for one, other in zip(some, others, strict=True))


def listed(values: Any) -> list[Any]:
    """Return the items of an iterator as a list."""
    found = []
    for value in iterate(values):
        found.append(value)
        require_few(len(found))
    return found


def called(entry: Listed, caller: Caller, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
    """Call a function of the list: the function itself with constants, and its model otherwise."""
    known = all(map(is_known, arguments)) and all(map(is_known, keywords.values()))
    if entry.pure and known and all(not isinstance(one, Iterated) for one in arguments):
        return of_constants(entry.name, entry.real, arguments, keywords)
    if entry.model is None:
        raise NotProvedError(f"{entry.name} has a number from data or noise, for which it is not modelled")
    require_accepted(entry.real, arguments, keywords)
    return modelled(entry.name, entry.model, (caller, *arguments), keywords)


class _NoExampleError(Exception):
    """A value for which no other can stand."""


def require_accepted(function: Callable[..., Any], arguments: Sequence[Any], keywords: Mapping[str, Any]) -> None:
    """Raise NotProvedError if a real function raises on other numbers than those of data and noise."""
    try:
        given, named = [_example(one) for one in arguments], {name: _example(one) for name, one in keywords.items()}
    except _NoExampleError:
        return
    try:
        function(*given, **named)
    except Exception as error:
        raise unmodelled(error) from None


def _example(value: Any) -> Any:
    """Return an ordinary Python value like the one given, with 1 for each number from data or noise."""
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
    """Call a real function with constants. It gets copies of its arguments. A function that writes into an argument or returns it
    is refused.
    """
    given = [real(one) for one in arguments]
    if name in LONG and any(isinstance(one, int) and abs(one) > MOST_FOR_LONG for one in given):
        raise NotProvedError(
            f"{name} of a number above {MOST_FOR_LONG} takes long; compute it outside of the mechanism"
        )
    named = {key: real(value) for key, value in keywords.items()}
    arrays = [one for one in (*given, *named.values()) if isinstance(one, np.ndarray)]
    before = [one.tobytes() for one in arrays]
    found = native(function, *given, **named)
    if [one.tobytes() for one in arrays] != before:
        raise NotProvedError(f"{name} writes into an array that it is given, which is not modelled; remove `out=`")
    results = [one for one in (found if isinstance(found, list | tuple) else [found]) if isinstance(one, np.ndarray)]
    if any(np.may_share_memory(one, other) for one in results for other in arrays):
        raise NotProvedError(f"{name} returns an array that it is given, or a part of it; make a copy()")
    return ours(found)


@functools.lru_cache(maxsize=1024)
def _signature(model: Callable[..., Any]) -> inspect.Signature:
    return inspect.signature(model)


def modelled(name: str, model: Callable[..., Any], arguments: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
    """Call a model. If it does not have an argument, the attempt ends."""
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
