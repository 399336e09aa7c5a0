"""Calls of other people's code: a user's, a library's, an adapter's, a prover's, a report format's.

Whatever such code raises, SystemExit and KeyboardInterrupt too, is a value (``outcome``) or an error that says where (``Door``).
Only ``Stopped`` passes: the person, or the system, ends the work. Nobody imports adapters and provers; ``found`` finds
them by their entry points, in this distribution and in others.
"""

import contextlib
import errno
import functools
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
# The errors of a system that has no room, or gives no right.
OF_THE_MACHINE = (
    *(errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EACCES, errno.EPERM),
    *(errno.EIO, errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EAGAIN),
)


class Stopped(KeyboardInterrupt):
    """A signal ends the work, or the work was ended. ``number`` is the signal's, if there was one."""

    def __init__(self, number: int | None = None) -> None:
        super().__init__()
        self.number = number


_heard: list[Stopped] = []


@contextlib.contextmanager
def stoppable(*numbers: int) -> Iterator[None]:
    """Let signals end the block by ``Stopped``, whatever code of others makes of it. A signal that is ignored stays so.

    Only the main thread can hear signals; elsewhere nothing is changed.
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
            signal.signal(number, handler or signal.SIG_DFL)  # none if it was not set in Python
        if usual:
            _heard.clear()


def is_stopped() -> bool:
    """Whether a signal was heard in the block of ``stoppable`` that goes on."""
    return bool(_heard)


def outcome(function: Callable[..., Any], *arguments: Any, **keywords: Any) -> Any:
    """Return what a call of somebody's code returns, or what it raises. Raises Stopped."""
    try:
        found = function(*arguments, **keywords)
    except Stopped:
        raise
    except BaseException as error:
        found = error
    if _heard:  # somebody's code may have caught it
        raise _heard[-1]
    return found


class Door:
    """A block of somebody's code. Whatever it raises is a CodeError that names ``what``, and says what it must do.

    An AuditorError passes, since it says what is wrong itself, and so does what ``passes`` names.
    """

    __slots__ = ("advice", "passes", "what")

    def __init__(self, what: str, advice: str = "", passes: tuple[type[BaseException], ...] = ()) -> None:
        self.what, self.advice, self.passes = what, advice, (AuditorError, Stopped, *passes)

    def __enter__(self) -> None:
        """Nothing is to be prepared."""

    def __exit__(self, kind: object, error: BaseException | None, place: TracebackType | None) -> None:
        """Make an error of what was raised."""
        if _heard:
            raise _heard[-1]
        if error is not None and not isinstance(error, self.passes):
            raise CodeError(f"{self.what} raised {told(error)}{self.advice and '; '}{self.advice}") from error


def told(error: BaseException) -> str:
    """Return the kind of an error, its text, and the last line of somebody's code that led to it; if there is none, of the
    auditor's.

    >>> told(ValueError("no"))
    'ValueError: no'
    """
    text = text_of(error)
    words = f"{type(error).__name__}{text and ': '}{text}"
    lines = [(frame.f_code.co_filename, line) for frame, line in traceback.walk_tb(error.__traceback__)]
    theirs = [(file, line) for file, line in lines if not file.startswith((_OWN, "<"))] or lines
    return f"{words} ({theirs[-1][0]}, line {theirs[-1][1]})" if theirs else words


def text_of(error: BaseException) -> str:
    """Return the text of an error; words in its place if it has none that can be had."""
    text = outcome(str, error)
    return text if isinstance(text, str) else "its text cannot be had"


def refused_by_machine(error: BaseException | None) -> BaseException | None:
    """Return the thing that the machine refused in an error, or in an earlier error that led to it: room, memory, a right, a
    thread. None if nothing.
    """
    # As Python and its libraries say it in other errors.
    too_little = ("can't start new thread", "failed to map segment", "annot allocate memory")
    while error is not None:
        if isinstance(error, OSError) and error.errno in OF_THE_MACHINE:
            return error
        if isinstance(error, MemoryError) or any(words in str(outcome(str, error)) for words in too_little):
            return error
        error = error.__cause__ or error.__context__
    return None


def found(group: str) -> dict[str, Any]:
    """Return what the entry points of a group name, loaded, by "module" or "module:attribute".

    Those of other distributions come first, so that they can replace what this one has. A module that is not there, since somebody
    took it out, is passed over.

    Raises InvalidInputError if one cannot be loaded for another reason.
    """
    return _found(group, tuple(sys.path))


@functools.cache
def _found(group: str, path: tuple[str, ...]) -> dict[str, Any]:
    from importlib.metadata import entry_points  # which takes long to load

    points = sorted(
        entry_points(group=group), key=lambda one: (getattr(one.dist, "name", "") == "dp-auditor", one.value)
    )
    loaded = dict[str, Any]()
    for point in points:
        plugin = outcome(point.load)
        missing = plugin.name if isinstance(plugin, ModuleNotFoundError) else None
        if missing and f"{point.module}.".startswith(f"{missing}."):
            continue
        if isinstance(plugin, BaseException):
            raise InvalidInputError(
                f"the entry point {point.value} of {group} cannot be loaded: {told(plugin)}; repair or uninstall "
                "the package that has it"
            ) from plugin
        loaded[point.value] = plugin
    return loaded
