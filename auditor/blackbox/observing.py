"""What a call shows in addition to its value: what it wrote and left behind.

A mechanism that is observed returns {"output": its value, or the exception that it raised, "stdout": …, "log": …}. Its outputs
are made one at a time, since what a batch writes cannot be divided among its outputs.
"""

import contextlib
import functools
import inspect
import io
import logging
import os
import sys
import threading
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from auditor.blackbox.mechanism import PythonSource, signature_of
from auditor.blackbox.sources import Source
from auditor.defaults import ObserveKind
from auditor.door import outcome
from auditor.errors import InvalidInputError

# Levels of objects in the attributes of an object, and the length of what is read of a file.
DEPTH, MOST_READ = 3, 1 << 16

_Read = Callable[[], Any]


def observing(source: Source, what: Sequence[ObserveKind]) -> Source:
    """Return the source of a mechanism whose outputs hold what is observed too.

    Raises InvalidInputError for a program, whose process is not Python's.
    """
    if not what:
        return source
    if not isinstance(source, PythonSource):
        raise InvalidInputError(
            f"observe is {list(what)}; a program cannot be observed: write what it shows into its outputs"
        )
    return replace(source, through=(*source.through, functools.partial(ObservedCall, what=tuple(what))))


@dataclass(frozen=True, slots=True)
class ObservedCall:
    """A mechanism whose output is its value and what else it showed, in the order of ``what``."""

    function: Callable[..., Any]
    name: str
    what: tuple[ObserveKind, ...]

    @property
    def __signature__(self) -> inspect.Signature:
        """The signature of the mechanism, without ``size``: outputs are observed one at a time."""
        signature = signature_of(self.function, self.name)
        return signature.replace(parameters=[one for name, one in signature.parameters.items() if name != "size"])

    def __call__(self, dataset: Any, **given: Any) -> dict[str, Any]:
        """Return the output with what was observed. An exception is the output."""
        if "size" in signature_of(self.function, self.name).parameters:
            given["size"] = 1
        before = Path.cwd()
        with contextlib.ExitStack() as stack:
            reads = {kind: stack.enter_context(begin()) for kind, begin in OBSERVERS.items() if kind in self.what}
            value = outcome(self._called, dataset, given)
            seen = {kind: read() for kind, read in reversed(reads.items())}
        if Path.cwd() != before:
            os.chdir(before)
        if "attributes" in self.what:
            seen["attributes"] = outcome(attributes_of, value)
            value = (
                value if isinstance(value, BaseException) or not hasattr(value, "__dict__") else type(value).__name__
            )
        return {"output": value, **{kind: seen[kind] for kind in self.what}}

    def _called(self, dataset: Any, given: Mapping[str, Any]) -> Any:
        value = self.function(dataset, **given)
        return value[0] if "size" in given else value


def attributes_of(value: Any, depth: int = DEPTH) -> Any:
    """Return the attributes of an object by name, those of objects in them too; of anything else, nothing."""
    if isinstance(value, BaseException | type) or not hasattr(value, "__dict__"):
        return {}
    found = {name: _shown(one, depth) for name, one in sorted(vars(value).items())}
    return found | {"repr": _without_address(value)}


def _shown(value: Any, depth: int) -> Any:
    if isinstance(value, bool | int | float | complex | str | bytes | np.ndarray | np.generic) or value is None:
        return value
    if isinstance(value, list | tuple | set | frozenset) and depth:
        return [_shown(one, depth - 1) for one in value]
    if isinstance(value, Mapping) and depth:
        return {str(key): _shown(one, depth - 1) for key, one in value.items()}
    if hasattr(value, "__dict__") and not callable(value) and depth:
        return attributes_of(value, depth - 1)
    return _without_address(value)


def _without_address(value: Any) -> str:
    """Return the text of an object; of one without a text of its own, its type. An address in memory is no property of data."""
    text = repr(value)
    return type(value).__name__ if " at 0x" in text else text


@contextlib.contextmanager
def _stdout() -> Iterator[_Read]:
    text = io.StringIO()
    with contextlib.redirect_stdout(text), contextlib.redirect_stderr(text):
        yield text.getvalue


class _Kept(logging.Handler):
    """Keeps the messages."""

    def __init__(self) -> None:
        super().__init__(logging.NOTSET)
        self.messages: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.messages.append(f"{record.levelname} {record.name}: {record.getMessage()}")


@contextlib.contextmanager
def _log() -> Iterator[_Read]:
    kept, root = _Kept(), logging.getLogger()
    level = root.level
    root.addHandler(kept)
    root.setLevel(logging.DEBUG)
    try:
        yield lambda: list(kept.messages)
    finally:
        root.removeHandler(kept)
        root.setLevel(level)


@contextlib.contextmanager
def _warnings() -> Iterator[_Read]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield lambda: [f"{one.category.__name__}: {one.message}" for one in caught]


class _Opened(threading.local):
    """The files that the calling thread opened to write, while they are listed. An audit hook cannot be removed."""

    def __init__(self) -> None:
        self.names: list[str] | None = None

    def begin(self, names: list[str] | None) -> None:
        """List from now on in ``names``; None ends it."""
        self.names = names

    def hear(self, event: str, arguments: tuple[Any, ...]) -> None:
        """Note a file that is opened to write."""
        if event == "open" and self.names is not None:
            name, mode, flags = arguments
            writes = any(letter in (mode or "") for letter in "wax+") or bool((flags or 0) & (os.O_WRONLY | os.O_RDWR))
            if writes and isinstance(name, str | bytes | os.PathLike):
                self.names.append(os.fsdecode(name))


_OPENED = _Opened()


@functools.cache
def _listen() -> None:
    sys.addaudithook(_OPENED.hear)


@contextlib.contextmanager
def _files() -> Iterator[_Read]:
    names: list[str] = []
    _listen()
    _OPENED.begin(names)
    try:
        yield lambda: [_content(name) for name in dict.fromkeys(names)]
    finally:
        _OPENED.begin(None)


def _content(name: str) -> dict[str, Any]:
    """Return the name of a file and what it holds now, as text where it is text; None if it is gone."""
    try:
        content = Path(name).read_bytes()
    except OSError:
        return {"name": Path(name).name, "content": None}
    shown = content[:MOST_READ].decode("utf-8", "backslashreplace")
    return {"name": Path(name).name, "content": shown, "bytes": len(content)}


OBSERVERS: dict[str, Callable[[], contextlib.AbstractContextManager[_Read]]] = {
    "stdout": _stdout,
    "log": _log,
    "warnings": _warnings,
    "files": _files,
}
