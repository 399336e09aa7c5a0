"""Observe what a call writes and leaves behind, in addition to its value.

A mechanism that is observed returns {"output": its value, or the exception that it raised, "stdout": …, "log": …}. Its outputs
are made one at a time, since what a batch writes cannot be divided among its outputs.
"""

import contextlib
import functools
import inspect
import logging
import os
import sys
import tempfile
import threading
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from auditor.blackbox.mechanism import signature_of
from auditor.defaults import ObserveKind
from auditor.door import outcome
from auditor.errors import InvalidInputError
from auditor.interfaces import Source

_Read = Callable[[], Any]


def observing(source: Source, what: Sequence[ObserveKind]) -> Source:
    """Return the source of a mechanism whose outputs hold what is observed too.

    Raises InvalidInputError for a program, whose process is not Python's.
    """
    if not what:
        return source
    if source.is_program:
        raise InvalidInputError(
            f"observe is {list(what)}; a program cannot be observed: write what it shows into its outputs"
        )
    return source.wrapped(functools.partial(ObservedCall, what=tuple(what)))


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
            if hasattr(value, "__dict__") and not isinstance(value, BaseException):
                value = type(value).__name__
        return {"output": value, **{kind: seen[kind] for kind in self.what}}

    def _called(self, dataset: Any, given: Mapping[str, Any]) -> Any:
        value = self.function(dataset, **given)
        return value[0] if "size" in given else value


def attributes_of(value: Any, depth: int = 3) -> Any:
    """Return the attributes of an object by name, those of objects in them too, ``depth`` levels deep; of anything else, nothing.

    Of an exception, its arguments and what it was raised from are among them.
    """
    if isinstance(value, type) or not hasattr(value, "__dict__"):
        return {}
    found = {name: _shown(one, depth) for name, one in sorted(vars(value).items())}
    if isinstance(value, BaseException):
        before = {name: getattr(value, name) for name in ("__cause__", "__context__")}
        return found | {name: _shown(one, depth) for name, one in [("args", value.args), *before.items()]}
    return found | {"repr": _without_address(value)}


def _shown(value: Any, depth: int) -> Any:
    if isinstance(value, bool | int | float | complex | str | bytes | np.ndarray | np.generic) or value is None:
        return value
    if isinstance(value, list | tuple | set | frozenset) and depth:
        return [_shown(one, depth - 1) for one in value]
    if isinstance(value, Mapping) and depth:
        return {str(key): _shown(one, depth - 1) for key, one in value.items()}
    if hasattr(value, "__dict__") and not callable(value) and depth:
        shown = {"type": type(value).__name__, "text": str(value)} if isinstance(value, BaseException) else {}
        return shown | attributes_of(value, depth - 1)
    return _without_address(value)


def _without_address(value: Any) -> str:
    """Return the text of an object; of one without a text of its own, its type. An address in memory is no property of data."""
    text = repr(value)
    return type(value).__name__ if " at 0x" in text else text


@contextlib.contextmanager
def _stdout() -> Iterator[_Read]:
    """Take what file descriptors 1 and 2 get from this process and its children, and what Python's own streams get."""
    with tempfile.TemporaryFile() as file, contextlib.ExitStack() as stack:
        text = stack.enter_context(os.fdopen(os.dup(file.fileno()), "w", encoding="utf-8", errors="backslashreplace"))

        def flush() -> None:
            for stream in (text, sys.__stdout__, sys.__stderr__):
                if stream is not None and not stream.closed:
                    stream.flush()

        def read() -> str:
            flush()
            file.seek(0)
            return file.read().decode("utf-8", "backslashreplace")

        flush()
        for descriptor in (1, 2):
            kept = os.dup(descriptor)
            stack.callback(os.close, kept)
            stack.callback(os.dup2, kept, descriptor)
            os.dup2(file.fileno(), descriptor)
        stack.enter_context(contextlib.redirect_stdout(text))
        stack.enter_context(contextlib.redirect_stderr(text))
        yield read


@contextlib.contextmanager
def _log() -> Iterator[_Read]:
    """Take the messages where loggers make them, whatever their levels are, and whether they pass them on or not."""
    messages, handle, is_enabled = list[str](), logging.Logger.handle, logging.Logger.isEnabledFor

    def keep(logger: logging.Logger, record: logging.LogRecord) -> None:
        messages.append(f"{record.levelname} {record.name}: {record.getMessage()}")
        if is_enabled(logger, record.levelno):
            handle(logger, record)

    logger: Any = logging.Logger
    logger.handle, logger.isEnabledFor = keep, lambda logger, level: True
    try:
        yield lambda: list(messages)
    finally:
        logger.handle, logger.isEnabledFor = handle, is_enabled


@contextlib.contextmanager
def _warnings() -> Iterator[_Read]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield lambda: [f"{one.category.__name__}: {one.message}" for one in caught]


# Names of audit events, and how many paths they begin with.
CHANGES = {
    **dict.fromkeys(("os.remove", "os.mkdir", "os.rmdir", "os.chmod", "os.truncate", "os.utime"), 1),
    **dict.fromkeys(("os.rename", "os.link", "os.symlink"), 2),
}


# In ``names`` the files that the calling thread opened to write, made, renamed or removed, while they are listed.
_CHANGED = threading.local()


def _hear(event: str, arguments: tuple[Any, ...]) -> None:
    """Note a file that is opened to write, or changed otherwise."""
    names: list[str] | None = getattr(_CHANGED, "names", None)
    if names is None:
        return
    paths = arguments[: CHANGES.get(event, 0)]
    if event == "open":
        name, mode, flags = arguments
        writes = any(letter in (mode or "") for letter in "wax+") or bool((flags or 0) & (os.O_WRONLY | os.O_RDWR))
        paths = (name,) if writes else ()
    names += [os.fsdecode(path) for path in paths if isinstance(path, str | bytes | os.PathLike)]


@functools.cache
def _listen() -> None:
    sys.addaudithook(_hear)  # it cannot be removed


@contextlib.contextmanager
def _files() -> Iterator[_Read]:
    _listen()
    names = _CHANGED.names = list[str]()
    try:
        yield lambda: [_content(name) for name in dict.fromkeys(names)]
    finally:
        _CHANGED.names = None


def _content(name: str) -> dict[str, Any]:
    """Return the name, size and mode of a file, and the end of its text; None for what it does not have, or if it is gone."""
    path = Path(name)
    shown: dict[str, Any] = {"name": Path(name).name, "content": None, "bytes": None, "mode": None}
    with contextlib.suppress(OSError):
        about = path.lstat()
        shown |= {"bytes": about.st_size if path.is_file() else None, "mode": about.st_mode}
    with contextlib.suppress(OSError), path.open("rb") as file:
        file.seek(max(0, file.seek(0, os.SEEK_END) - (1 << 16)))
        shown["content"] = file.read().decode("utf-8", "backslashreplace")
    return shown


OBSERVERS: dict[str, Callable[[], contextlib.AbstractContextManager[_Read]]] = {
    "stdout": _stdout,
    "log": _log,
    "warnings": _warnings,
    "files": _files,
}
