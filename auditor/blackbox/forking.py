"""Processes that begin as forks of one process, the template, which has imported what they need. A fork takes five
milliseconds, where another Python takes half a second of a processor.

The template runs no foreign code, draws nothing and has one thread, so a fork of it is as good as a new Python. It is
this process's alone, and ends with it. ``begin`` asks from the auditor's process, ``serve`` answers in the template.
"""

import array
import atexit
import contextlib
import fcntl
import gc
import importlib
import os
import pickle
import select
import signal
import socket
import struct
import subprocess
import sys
import threading
import traceback
import weakref
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from pkgutil import resolve_name
from typing import IO, Any, NoReturn

from auditor.defaults import ONE_THREAD

# What workers and hosts import. A module that is missing here is imported by each of them.
IMPORTED = ("auditor.auditing.flow", "auditor.blackbox.host", "loky.process_executor", "cloudpickle")
# An interpreter and its libraries read variables that begin so when they start. If one changes, a new template starts.
READ_AT_START = ("PYTHON", "LD_", "OMP_", "OPENBLAS_", "MKL_", "BLIS_", "NPY_", "MALLOC_", "GLIBC_", "LANG", "LC_")
# The libraries of other systems start threads when they are loaded, which a fork would not have.
CAN_FORK = sys.platform == "linux"
_LENGTH, _BEGUN = struct.Struct("<Q"), struct.Struct("<q")
_ENDED = struct.Struct("<i")


@contextlib.contextmanager
def deaf_to_interrupts() -> Iterator[None]:
    """Block SIGINT in this thread, and in processes and threads that the block starts.

    A key of the terminal interrupts every process of its group. A process that starts is still in the group, and would
    print a traceback. It is ended by its parent.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@dataclass(slots=True, weakref_slot=True)
class Fork:
    """A process that ``begin`` started. It is a child of the template, which says how it ended."""

    pid: int
    ended: int  # a pipe, which has the exit status once the process has ended
    returncode: int | None = None
    stdin: IO[bytes] | None = None
    stdout: IO[bytes] | None = None
    stderr: IO[bytes] | None = None

    def __post_init__(self) -> None:
        weakref.finalize(self, os.close, self.ended).atexit = False  # the processes that are left are ended after it

    def wait(self, timeout: float | None = None) -> int:
        """Return the exit status: below 0, it is that of a signal. Raises TimeoutExpired after ``timeout`` seconds."""
        if self.returncode is None:
            if not _readable(self.ended, timeout):
                raise subprocess.TimeoutExpired("a fork", timeout or 0.0)
            said = os.read(self.ended, _ENDED.size)
            # If the template was killed, nobody knows how its forks ended.
            self.returncode = _ENDED.unpack(said)[0] if said else -signal.SIGKILL
        return self.returncode


def _readable(file: int, timeout: float | None) -> bool:
    poll = select.poll()
    poll.register(file, select.POLLIN)
    return bool(poll.poll(None if timeout is None else max(0.0, timeout) * 1000))


def begin(
    function: str,
    files: Mapping[int, int],
    *,
    arguments: Sequence[str] = (),
    environment: Mapping[str, str] | None = None,
    leads: bool = False,
) -> Fork:
    """Call ``function``, named "module:function", in a new process that has the open ``files`` of this one.

    Args:
        files: for each number of a file in the new process its number here. The others are closed; 0 to 2 lead nowhere.
        arguments: what the process finds in ``sys.argv``, behind its name.
        environment: variables to set beside those of this process.
        leads: whether the process leads a session of its own.

    Raises OSError if the process cannot be started.
    """
    environment = {**os.environ, **(environment or {})}
    wanted = (function, tuple(arguments), environment, str(Path.cwd()), [*sys.path], leads, tuple(files))
    ended, say_ended = os.pipe()
    try:
        with _STARTING:
            pid = _template(environment).ask(wanted, [*files.values(), say_ended])
    except BaseException:
        os.close(ended)
        raise
    finally:
        os.close(say_ended)
    return Fork(pid, ended)


def call_apart(function: str) -> "Fork | subprocess.Popen[bytes]":
    """Call ``function``, named "module:function", in a new process that leads a session and has pipes for its files 0 to 2.

    Raises OSError if the process cannot be started.
    """
    if not CAN_FORK:
        module, name = function.split(":")
        start, pipe = f"import sys; sys.path[:] = {sys.path!r}; from {module} import {name}; {name}()", subprocess.PIPE
        arguments = [sys.executable, "-c", start]
        return subprocess.Popen(arguments, stdin=pipe, stdout=pipe, stderr=pipe, bufsize=0, start_new_session=True)
    (theirs_in, ours_in), (ours_out, theirs_out), (ours_err, theirs_err) = os.pipe(), os.pipe(), os.pipe()
    ours = [os.fdopen(file, mode, 0) for file, mode in ((ours_in, "wb"), (ours_out, "rb"), (ours_err, "rb"))]
    try:
        made = begin(function, {0: theirs_in, 1: theirs_out, 2: theirs_err}, leads=True)
    except BaseException:
        for stream in ours:
            stream.close()
        raise
    finally:
        for file in (theirs_in, theirs_out, theirs_err):
            os.close(file)
    made.stdin, made.stdout, made.stderr = ours
    return made


def prepare() -> None:
    """Start the template without waiting for it, if forks can be made on this system."""
    if CAN_FORK:
        with _STARTING:
            _template({**os.environ, **ONE_THREAD})


@atexit.register
def close() -> None:
    """End the template. The next fork starts another one."""
    with _STARTING:
        _end_template()


class _Template:
    """The template, as seen from the process whose forks it makes."""

    def __init__(self, variables: Mapping[str, str]) -> None:
        self.variables, self.of = variables, os.getpid()
        self._socket, other = socket.socketpair()
        with other:
            start = f"import sys; sys.path[:] = {sys.path!r}; from auditor.blackbox.forking import serve; serve(int(sys.argv[1]))"
            nowhere = subprocess.DEVNULL
            with deaf_to_interrupts():
                self._process = subprocess.Popen(
                    [sys.executable, "-c", start, str(other.fileno())],
                    stdin=nowhere,
                    stdout=nowhere,
                    stderr=nowhere,
                    pass_fds=(other.fileno(),),
                    start_new_session=True,
                    env={**os.environ, **ONE_THREAD},
                )

    def ask(self, wanted: Any, files: Sequence[int]) -> int:
        """Return the process id of a new fork. Raises OSError if there is none."""
        request = pickle.dumps(wanted)
        try:
            socket.send_fds(self._socket, [_LENGTH.pack(len(request))], files)
            self._socket.sendall(request)
            pid: int = _BEGUN.unpack(_received(self._socket, _BEGUN.size))[0]
        except BaseException:
            self.end()  # otherwise its answer would be taken for that to the next request
            raise
        if pid < 0:
            raise OSError(-pid, os.strerror(-pid))
        return pid

    def is_alive(self) -> bool:
        return self.of == os.getpid() and self._process.poll() is None

    def end(self) -> None:
        self._socket.close()
        if self.of == os.getpid():
            self._process.kill()
            self._process.wait()


_STARTING = threading.Lock()
_CURRENT = list[_Template]()


def _template(environment: Mapping[str, str]) -> _Template:
    variables = {name: text for name, text in environment.items() if name.startswith(READ_AT_START)} | ONE_THREAD
    if not (_CURRENT and _CURRENT[0].is_alive() and _CURRENT[0].variables == variables):
        _end_template()
        _CURRENT.append(_Template(variables))
    return _CURRENT[0]


def _end_template() -> None:
    while _CURRENT:
        _CURRENT.pop().end()


def _received(link: socket.socket, size: int) -> bytes:
    """Return ``size`` bytes. Raises ConnectionResetError if the other end is gone."""
    parts = list[bytes]()
    while size:
        part = link.recv(min(size, 1 << 20))
        if not part:
            raise ConnectionResetError("the process that starts others has ended")
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


# --- Inside the template ---


def serve(number: int) -> None:
    """Make forks as the process at the other end of a socket asks, until it ends."""
    import_ahead()
    gc.collect()
    gc.freeze()  # the forks share these objects, and their collectors must not write to them
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    woken, wake = os.pipe()
    for file in (woken, wake):
        os.set_blocking(file, False)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda number, frame: None)
    link, children = socket.socket(fileno=number), dict[int, int]()
    poll = select.poll()
    poll.register(link, select.POLLIN)
    poll.register(woken, select.POLLIN)
    while True:
        ready = dict(poll.poll())
        if woken in ready:
            with contextlib.suppress(BlockingIOError):
                os.read(woken, 4096)
            _say_who_ended(children)
        if number in ready:
            try:
                wanted, files = _wanted(link)
            except (ConnectionError, EOFError):
                return  # the auditor has ended; guards and pipes end what is left
            _make(link, children, wanted, files)


def import_ahead() -> None:
    """Import what workers and hosts need."""
    for module in IMPORTED:
        with contextlib.suppress(ImportError):  # who needs it raises it again
            importlib.import_module(module)


def _wanted(link: socket.socket) -> tuple[Any, list[int]]:
    """Return what is asked, and the files that come with it. Raises ConnectionResetError if nobody asks any more."""
    files = array.array("i")
    head, sent, _, _ = link.recvmsg(_LENGTH.size, socket.CMSG_SPACE(64 * files.itemsize))
    for level, kind, data in sent:
        if (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
            files.frombytes(data[: len(data) - len(data) % files.itemsize])
    if not head:
        raise ConnectionResetError
    head += _received(link, _LENGTH.size - len(head))
    return pickle.loads(_received(link, _LENGTH.unpack(head)[0])), list(files)


def _make(link: socket.socket, children: dict[int, int], wanted: Any, files: list[int]) -> None:
    *theirs, say_ended = files
    # The fork says that it leads its session before anybody kills the group of that session.
    told, tell = os.pipe()
    try:
        pid = os.fork()
    except OSError as error:
        answer = -(error.errno or 1)
        os.close(say_ended)
    else:
        if pid == 0:
            _be_another(wanted, theirs, tell)
        children[pid] = say_ended
        answer = pid
    os.close(tell)
    for file in theirs:
        os.close(file)
    os.read(told, 1)
    os.close(told)
    link.sendall(_BEGUN.pack(answer))


def _say_who_ended(children: dict[int, int]) -> None:
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if pid == 0:
            return
        if (file := children.pop(pid, None)) is not None:
            with contextlib.suppress(BrokenPipeError):
                os.write(file, _ENDED.pack(os.waitstatus_to_exitcode(status)))
            os.close(file)


# --- Inside a fork ---


def _be_another(wanted: Any, files: list[int], tell: int) -> NoReturn:
    """Become the process that is wanted, and end with its exit status."""
    status = 1
    try:
        function, arguments, environment, folder, path, leads, numbers = wanted
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        if leads:
            os.setsid()
        os.write(tell, b".")
        _take(dict(zip(numbers, files, strict=True)))
        os.environ.clear()
        os.environ.update(environment)
        os.chdir(folder)
        sys.path[:], sys.argv[:] = path, ["-c", *arguments]
        _forget_randomness()
        status = _status_of(function)
    except BaseException:
        traceback.print_exc()
    finally:
        with contextlib.suppress(Exception):
            sys.stdout.flush()
        with contextlib.suppress(Exception):
            sys.stderr.flush()
        os._exit(status)  # noqa: TID251 - what the template does at its end is not the fork's to do


def _take(files: Mapping[int, int]) -> None:
    """Give the files the numbers that they are wanted under, and close all others."""
    above = max([2, *files]) + 1
    moved = {wanted: fcntl.fcntl(file, fcntl.F_DUPFD, above) for wanted, file in files.items()}
    for wanted, file in moved.items():
        os.dup2(file, wanted, inheritable=wanted < 3)
    begin = 3
    for kept in [*sorted(wanted for wanted in moved if wanted > 2), os.sysconf("SC_OPEN_MAX")]:
        os.closerange(begin, kept)
        begin = kept + 1


def _forget_randomness() -> None:
    """Seed the generators that were made in the template, since all its forks have a copy of them. Python seeds its own."""
    if (loaded := sys.modules.get("numpy.random")) is not None:
        loaded.seed()


def _status_of(function: str) -> int:
    """Call a function by its name, and return the exit status of a Python that would run nothing else."""
    try:
        resolve_name(function)()
    except SystemExit as leaving:
        if leaving.code is None or isinstance(leaving.code, int):
            return (leaving.code or 0) & 0xFF
        sys.stderr.write(f"{leaving.code}\n")
        return 1
    return 0
