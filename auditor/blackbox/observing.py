"""Observe what a call prints, logs and leaves behind, in addition to its value.

An observed mechanism returns a dict: {"output": the value or the exception, "stdout": …, "log": …}. Its outputs are
drawn one at a time, since the text that a batch prints cannot be divided among the outputs of the batch.
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

from auditor.blackbox.flatten import OBJECT, output_kind
from auditor.blackbox.mechanism import signature_of
from auditor.blackbox.objects import LEVELS, as_plain, attributes_of
from auditor.blackbox.spelling import without_address
from auditor.defaults import ObserveKind
from auditor.errors import InvalidInputError
from auditor.foreign_code import result_or_error
from auditor.interfaces import Source

_Read = Callable[[], Any]


def observing(source: Source, what: Sequence[ObserveKind]) -> Source:
    """Return a source whose outputs also hold the observations named in ``what``.

    Raises InvalidInputError for a program, since its process does not run Python.
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
    """A mechanism whose output is a dict: the value of a call, then the observations in the order of ``what``."""

    function: Callable[..., Any]
    name: str
    what: tuple[ObserveKind, ...]

    @property
    def __signature__(self) -> inspect.Signature:
        """The signature of the mechanism without ``size``, since outputs are observed one at a time."""
        signature = signature_of(self.function, self.name)
        return signature.replace(
            parameters=[parameter for name, parameter in signature.parameters.items() if name != "size"]
        )

    def __call__(self, dataset: Any, **given: Any) -> dict[str, Any]:
        """Return the value of one call with the observations. If the call raises, the value is the exception."""
        if "size" in signature_of(self.function, self.name).parameters:
            given["size"] = 1
        before = Path.cwd()
        with contextlib.ExitStack() as stack:
            reads = {kind: stack.enter_context(begin()) for kind, begin in OBSERVERS.items() if kind in self.what}
            value = result_or_error(self._called, dataset, given)
            side_outputs = {kind: read() for kind, read in reversed(reads.items())}
        if Path.cwd() != before:
            os.chdir(before)
        if "attributes" in self.what:
            side_outputs["attributes"] = result_or_error(_attributes, value)
            # Of an object that is a number, a text or a collection as well, this is read, too.
            if hasattr(value, "__dict__") and output_kind(value) is OBJECT:
                value = type(value).__name__
        return {"output": value, **{kind: side_outputs[kind] for kind in self.what}}

    def _called(self, dataset: Any, given: Mapping[str, Any]) -> Any:
        value = self.function(dataset, **given)
        return value[0] if "size" in given else value


def _attributes(value: Any) -> Any:
    """Return the attributes of a value by name, and its repr. Other values than objects have none.

    An exception has its arguments, its cause and its context in place of the repr.
    """
    if isinstance(value, type) or not hasattr(value, "__dict__"):
        return {}
    if isinstance(value, BaseException):
        before = {name: getattr(value, name) for name in ("args", "__cause__", "__context__")}
        return attributes_of(value) | {name: as_plain(part, LEVELS) for name, part in before.items()}
    return attributes_of(value) | {"repr": without_address(value)}


@contextlib.contextmanager
def _stdout() -> Iterator[_Read]:
    """Capture file descriptors 1 and 2 of this process and its children, and Python's sys.stdout and sys.stderr."""
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


_OF_ANY_RECORD = frozenset((*vars(logging.makeLogRecord({})), "message", "asctime"))


def _of_record(record: logging.LogRecord) -> Any:
    """Return the message of a record with its level and its logger; and what the record holds besides, if it does: the
    exception, and the fields that were given as ``extra``.
    """
    message = f"{record.levelname} {record.name}: {record.getMessage()}"
    rest: dict[str, Any] = {
        name: as_plain(part, LEVELS) for name, part in vars(record).items() if name not in _OF_ANY_RECORD
    }
    if record.exc_info and record.exc_info[1] is not None:
        rest["exception"] = record.exc_info[1]
    return {"message": message, **rest} if rest else message


@contextlib.contextmanager
def _log() -> Iterator[_Read]:
    """Capture each message when a logger makes it, at every level, even if the logger does not pass it on."""
    messages, handle, is_enabled = list[Any](), logging.Logger.handle, logging.Logger.isEnabledFor

    def keep(logger: logging.Logger, record: logging.LogRecord) -> None:
        messages.append(_of_record(record))
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
        yield lambda: [f"{warning.category.__name__}: {warning.message}" for warning in caught]


# The audit events of Python that change files. The number says how many of the first arguments are paths.
CHANGES = {
    **dict.fromkeys(("os.remove", "os.mkdir", "os.rmdir", "os.chmod", "os.truncate", "os.utime"), 1),
    **dict.fromkeys(("os.rename", "os.link", "os.symlink"), 2),
}


# ``names`` lists the files that the calling thread has changed so far. It is None if the thread is not observed.
_CHANGED = threading.local()


def _hear(event: str, arguments: tuple[Any, ...]) -> None:
    """Note the files that an audit event opens for writing, or changes in another way."""
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
    sys.addaudithook(_hear)  # Python cannot remove a hook


@contextlib.contextmanager
def _files() -> Iterator[_Read]:
    _listen()
    names = _CHANGED.names = list[str]()
    try:
        yield lambda: [_content(name) for name in dict.fromkeys(names)]
    finally:
        _CHANGED.names = None


def _content(name: str) -> dict[str, Any]:
    """Return the name, size and mode of a file, and the last 64 KiB of its text. An unreadable value is None."""
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
