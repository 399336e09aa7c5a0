"""Calls of foreign code: the code of a user, a library, an adapter, a prover or a report format.

An exception of foreign code, even SystemExit or KeyboardInterrupt, becomes a value (``result_or_error``), or an error that says
where it was raised (``ForeignCode``). Only ``Stopped`` passes, by which a person or the system ends the work. No module
imports adapters and provers: ``entry_points_of`` loads them by the entry points of this distribution and of others.
"""

import contextlib
import errno
import functools
import os
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any

from auditor.errors import AuditorError, CodeError, InvalidInputError

_OWN = str(Path(__file__).parent)
# The error numbers of a machine that lacks room, memory or processes, or denies access.
OF_THE_MACHINE = (
    *(errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EACCES, errno.EPERM),
    *(errno.EIO, errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EAGAIN),
)


class Stopped(KeyboardInterrupt):
    """The work is ended, by a signal or by the auditor. ``number`` is the number of the signal, if there was one."""

    def __init__(self, number: int | None = None) -> None:
        super().__init__()
        self.number = number


_heard: list[Stopped] = []


@contextlib.contextmanager
def stoppable(*numbers: int) -> Iterator[None]:
    """Let signals end the block by ``Stopped``, even if foreign code catches it. An ignored signal stays ignored.

    Only the main thread can handle signals. In any other thread nothing is changed.
    """

    def stop(number: int, frame: FrameType | None) -> None:
        _heard.append(Stopped(number))
        raise _heard[-1]

    usual = dict[int, Any]()
    try:
        if threading.current_thread() is threading.main_thread():
            for number in numbers:
                if signal.getsignal(number) is not signal.SIG_IGN:
                    usual[number] = signal.signal(number, stop)
        yield
    finally:
        for number, handler in usual.items():
            signal.signal(number, handler or signal.SIG_DFL)  # the handler is None if it was not set in Python
        if usual:
            _heard.clear()


def exits_refused(*, silent_only: bool = False) -> dict[str, Callable[..., Any]]:
    """Return substitutes for ``os._exit``, ``execv`` and ``execve``, which would end this process unseen: they raise SystemExit.

    In child processes they work as usual. With ``silent_only``, so does ``_exit`` with a status that says that something failed.
    """
    own = os.getpid()

    def refuse(name: str, usual: Callable[..., Any], *given: Any) -> Any:
        if os.getpid() != own or (silent_only and name == "_exit" and given != (0,)):
            return usual(*given)
        raise SystemExit(f"os.{name} would end the auditor")

    return {name: functools.partial(refuse, name, getattr(os, name)) for name in ("_exit", "execv", "execve")}


def is_stopped() -> bool:
    """Whether a signal has arrived in the current block of ``stoppable``."""
    return bool(_heard)


def result_or_error(function: Callable[..., Any], *arguments: Any, **keywords: Any) -> Any:
    """Call foreign code, and return the result or the exception. Raises Stopped."""
    try:
        result = function(*arguments, **keywords)
    except Stopped:
        raise
    except BaseException as error:
        result = error
    if _heard:  # foreign code may have caught Stopped
        raise _heard[-1]
    return result


class ForeignCode:
    """A block of foreign code. An exception becomes a CodeError that names ``what`` and gives the ``advice``.

    AuditorError and Stopped pass unchanged, and so do the types in ``passes``.
    """

    __slots__ = ("advice", "passes", "what")

    def __init__(self, what: str, advice: str = "", passes: tuple[type[BaseException], ...] = ()) -> None:
        self.what, self.advice, self.passes = what, advice, (AuditorError, Stopped, *passes)

    def __enter__(self) -> None:
        """Do nothing."""

    def __exit__(self, kind: object, error: BaseException | None, place: TracebackType | None) -> None:
        """Turn an exception of the block into a CodeError."""
        if _heard:
            raise _heard[-1]
        if error is not None and not isinstance(error, self.passes):
            raise CodeError(f"{self.what} raised {describe_error(error)}{self.advice and '; '}{self.advice}") from error


def describe_error(error: BaseException) -> str:
    """Return the type and the text of an exception, and the last line of its traceback that is foreign code. If there
    is no such line, return the last line of all.

    >>> describe_error(ValueError("no"))
    'ValueError: no'
    """
    text = message_of(error)
    words = f"{type(error).__name__}{text and ': '}{text}"
    lines = [(frame.f_code.co_filename, line) for frame, line in traceback.walk_tb(error.__traceback__)]
    theirs = [(file, line) for file, line in lines if not file.startswith((_OWN, "<"))] or lines
    return f"{words} ({theirs[-1][0]}, line {theirs[-1][1]})" if theirs else words


def message_of(error: BaseException) -> str:
    """Return the text of an exception, or a sentence in its place if ``str`` fails."""
    text = result_or_error(str, error)
    return text if isinstance(text, str) else "its text cannot be had"


def refused_by_machine(error: BaseException | None) -> BaseException | None:
    """Return the exception that says what the machine refused (room, memory, access, a thread): the given exception, or
    one that led to it. Return None if there is none.
    """
    # Texts by which Python and its libraries say it in exceptions of other types.
    too_little = ("can't start new thread", "failed to map segment", "annot allocate memory")
    while error is not None:
        if isinstance(error, OSError) and error.errno in OF_THE_MACHINE:
            return error
        if isinstance(error, MemoryError) or any(words in str(result_or_error(str, error)) for words in too_little):
            return error
        error = error.__cause__ or error.__context__
    return None


def entry_points_of(group: str) -> dict[str, Any]:
    """Load the entry points of a group, and return the objects by "module" or "module:attribute".

    Entry points of other distributions come first, so that they can replace those of this one. An entry point is
    skipped if its module has been removed.

    Raises InvalidInputError if an entry point cannot be loaded for another reason.
    """
    return _entry_points(group, tuple(sys.path))


@functools.cache
def _entry_points(group: str, path: tuple[str, ...]) -> dict[str, Any]:
    from importlib.metadata import entry_points  # a slow import

    points = sorted(
        entry_points(group=group), key=lambda one: (getattr(one.dist, "name", "") == "dp-auditor", one.value)
    )
    loaded = dict[str, Any]()
    for point in points:
        plugin = result_or_error(point.load)
        missing = plugin.name if isinstance(plugin, ModuleNotFoundError) else None
        if missing and f"{point.module}.".startswith(f"{missing}."):
            continue
        if isinstance(plugin, BaseException):
            raise InvalidInputError(
                f"the entry point {point.value} of {group} cannot be loaded: {describe_error(plugin)}; repair or uninstall "
                "the package that has it"
            ) from plugin
        loaded[point.value] = plugin
    return loaded
