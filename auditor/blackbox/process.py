"""Processes for code that may crash or hang. Each leads a process group, which ends with it or with the auditor."""

import atexit
import contextlib
import ctypes
import errno
import fcntl
import os
import select
import signal
import subprocess
import threading
import time
import weakref
from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Any

from auditor.blackbox.forking import call_apart
from auditor.errors import OverdueError

# The errors of a system that cannot start one more process.
NO_ROOM = (errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EAGAIN)
# Options of glibc's mallopt: the bytes above which a free block, or a free end of the heap, goes back to the system.
_MMAP_THRESHOLD, _TRIM_THRESHOLD = -3, -1
CHUNK = 1 << 20
# The most bytes of one line, and of all lines of an answer. A batch of 262,144 outputs of 2,000 characters fits.
LONGEST_LINE, LONGEST_ANSWER = 1 << 26, 1 << 29
LATE = "no answer within the time limit"
OVERDUE = (
    "the time limit was over before the mechanism answered; raise `seconds`, or set `timeout` in `execution`: then a call that "
    "hangs is an output"
)


class ProcessFailure(Exception):  # noqa: N818 - an output, and no error of the auditor
    """The failure of a process that gave no output. The failure is then the output of the mechanism.

    ``standard_error`` is the end of the text that the process wrote to standard error. It is for people, and no part of the output.
    """

    standard_error: str = ""

    def message(self) -> str:
        """Say what happened, with the end of standard error."""
        return f"{self}; standard error ends: {self.standard_error}" if self.standard_error else str(self)


class ProcessEnded(ProcessFailure):
    """The process ended before it had answered: by an exit, a crash, or a kill from outside."""


class TimedOut(ProcessFailure):
    """The process did not answer within the time limit, and was killed."""


class Process:
    """A process that receives bytes and sends bytes back. Raises OSError if it cannot be started.

    ``runs`` has the program and its arguments, or is the name "module:function" of what a new Python calls.
    """

    # The pickled source that a host has loaded, and whether the mechanism is batched and takes rng; see host.py
    loaded: tuple[bytes, tuple[bool, bool]] = b"", (False, False)
    journal: Any = None  # of a host, see journal.py
    # When the audit that uses the process must end, by ``time.monotonic``, if it has a limit of time.
    ends: float | None = None

    def __init__(self, runs: Sequence[str] | str, folder: str | None = None) -> None:
        pipe = subprocess.PIPE
        self._child = (
            call_apart(runs)
            if isinstance(runs, str)
            else subprocess.Popen(
                runs, cwd=folder, stdin=pipe, stdout=pipe, stderr=pipe, bufsize=0, start_new_session=True
            )
        )
        assert self._child.stdin and self._child.stdout and self._child.stderr
        self._streams = self._child.stdin, self._child.stdout, self._child.stderr
        try:
            self._guard = _guard(self._child.pid)
        except OSError:
            os.killpg(self._child.pid, signal.SIGKILL)
            self._child.wait()
            for stream in self._streams:
                stream.close()
            raise
        self._in, self._out, self._err = (stream.fileno() for stream in self._streams)
        self._pending = memoryview(b"")
        self._errors = b""
        self._killing = threading.Lock()
        self._poll = select.poll()
        self._poll.register(self._out, select.POLLIN)
        self._poll.register(self._err, select.POLLIN)
        # With a large pipe the process can go on while its last answer is read. Only Linux can resize a pipe, up to a limit.
        if (resize := getattr(fcntl, "F_SETPIPE_SZ", None)) is not None:
            with contextlib.suppress(OSError):
                fcntl.fcntl(self._out, resize, CHUNK)
        for file in (self._in, self._err):
            os.set_blocking(file, False)
        _LIVE.add(self)

    def send(self, request: bytes, *, last: bool = False) -> None:
        """Send bytes. With ``last`` the input of the process ends after these bytes.

        Bytes that do not fit into the pipe are written while an answer is awaited, so neither side blocks the other.
        """
        self._pending, self._last = memoryview(request), last
        self._poll.register(self._in, select.POLLOUT)
        self._write()

    def receive(self, deadline: float | None, most: int = CHUNK, *, wait: bool = True) -> bytes:
        """Return the next bytes, at most ``most``. Raises ProcessEnded if there are no more.

        After the ``deadline`` (by ``time.monotonic``) it raises TimedOut. Without ``wait`` it returns no bytes then. When the
        audit must end, it kills the process and raises OverdueError.
        """
        while True:
            now, first = time.monotonic(), min((at for at in (deadline, self.ends) if at is not None), default=None)
            if self.ends is not None and now >= self.ends:
                self.kill()
                raise OverdueError(OVERDUE)
            seconds = None if first is None else max(0.0, first - now)
            ready = dict(self._poll.poll(None if seconds is None else seconds * 1000))
            if self._out in ready:
                if chunk := os.read(self._out, most):
                    return chunk
                raise self._ended()
            if self._err in ready:
                self._read_errors()
            if self._in in ready:
                self._write()
            if not ready and deadline is not None and time.monotonic() >= deadline:
                if wait:
                    raise self._failed(TimedOut(LATE))
                return b""

    def receive_lines(self, count: int, deadline: float | None, *, wait: bool = False) -> tuple[bytes, int]:
        """Return bytes with at least ``count`` line ends, and the number of line ends. Bytes may follow the last one.

        Past the deadline there are fewer line ends, or with ``wait``, TimedOut is raised as by ``receive``. If a line
        or all lines together are too long to be held, the process is killed, and ProcessEnded is raised.
        """
        chunks, ends, whole, line = list[bytes](), 0, 0, 0
        while ends < count:
            chunk = self.receive(deadline, wait=wait)
            if not chunk:
                break
            chunks.append(chunk)
            ends += chunk.count(b"\n")
            whole += len(chunk)
            line = len(chunk) - chunk.rindex(b"\n") if b"\n" in chunk else line + len(chunk)
            for what, received, most in (("a line", line, LONGEST_LINE), ("an answer", whole, LONGEST_ANSWER)):
                if received > most:
                    raise self._failed(ProcessEnded(f"killed, since it wrote {what} of over {most:,} bytes"))
            if wait and ends < count and deadline is not None and time.monotonic() >= deadline:
                raise self._failed(TimedOut(LATE))  # the process wrote in time, but too little
        return b"".join(chunks), ends

    def has_output(self) -> bytes:
        """Return bytes that the process wrote without being asked. Return no bytes if there are none."""
        return os.read(self._out, CHUNK) if dict(self._poll.poll(0)).get(self._out, 0) & select.POLLIN else b""

    def standard_error(self) -> str:
        """Return the end of what the process wrote to standard error."""
        return self._errors.decode("utf-8", "replace").strip()

    def kill(self) -> None:
        """Kill the process and its group, and wait until the process is gone."""
        with self._killing:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._child.pid, signal.SIGKILL)
            self._child.wait()
            if self._streams[1].closed:
                return
            if self.journal is not None:
                self.journal.unlink()
            with contextlib.suppress(OSError):
                self._read_errors()
            for stream in self._streams:
                stream.close()
            self._guard.communicate(b"dismissed\n")

    def _write(self) -> None:
        try:
            self._pending = self._pending[os.write(self._in, self._pending) :]
        except BlockingIOError:
            return
        except BrokenPipeError:  # the process has ended, which reading its output will show
            self._pending = memoryview(b"")
        if not self._pending:
            self._poll.unregister(self._in)
            if self._last:
                self._streams[0].close()

    def _read_errors(self) -> None:
        with contextlib.suppress(BlockingIOError, KeyError):
            # One chunk only, since a process may write faster than it is read.
            if chunk := os.read(self._err, CHUNK):
                self._errors = (self._errors + chunk)[-2_000:]
            else:
                self._poll.unregister(self._err)

    def _ended(self) -> ProcessFailure:
        # A process that has closed its output usually ends at once. If not, it is killed, since it cannot answer.
        try:
            status = self._child.wait(1.0)
        except subprocess.TimeoutExpired:
            return self._failed(ProcessEnded("closed its standard output"))
        try:
            how = f"ended with exit status {status}" if status >= 0 else f"killed by {signal.Signals(-status).name}"
        except ValueError:
            how = f"killed by signal {-status}"
        return self._failed(ProcessEnded(how))

    def _failed(self, failure: ProcessFailure) -> ProcessFailure:
        self.kill()
        failure.standard_error = self.standard_error()
        return failure


def _guard(group: int) -> "subprocess.Popen[bytes]":
    """Start a shell that kills a process group when the shell's input ends, which happens when its parent is gone."""
    arguments = ["/bin/sh", "-c", 'read -r dismissed || kill -s KILL -- "-$0"', str(group)]
    nowhere = subprocess.DEVNULL
    return subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=nowhere, stderr=nowhere, start_new_session=True)


def lead_a_group() -> None:
    """Make this process the leader of a group. The group ends when this process or its parent ends or is killed."""
    os.setsid()
    _OWN.append(_guard(os.getpid()))
    parent = os.getppid()

    def end_with_parent() -> None:
        while os.getppid() == parent:
            time.sleep(1.0)
        os.killpg(0, signal.SIGKILL)

    threading.Thread(target=end_with_parent, daemon=True).start()


def hear_interrupts_again() -> None:
    """Let this process receive SIGINT. One that came while it was blocked is dropped."""
    usual = signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    signal.signal(signal.SIGINT, usual)


def keep_memory() -> None:
    """Keep the memory of a batch for the next, since getting memory again takes a tenth of a fast mechanism's time."""
    with contextlib.suppress(AttributeError, OSError):  # only glibc has mallopt
        for option, most in ((_MMAP_THRESHOLD, 1 << 25), (_TRIM_THRESHOLD, 1 << 26)):
            ctypes.CDLL(None).mallopt(option, most)


def print_nowhere() -> None:
    """Drop the text that this process prints, since a mechanism may print for each of a million outputs."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)


_OWN: list["subprocess.Popen[bytes]"] = []  # guards, whose input stays open as long as this process lives
_LIVE: "weakref.WeakSet[Process]" = weakref.WeakSet()
_IDLE: dict[Hashable, list[Process]] = {}
_LENDING = threading.Lock()


@contextlib.contextmanager
def borrow_process(
    key: Hashable, start: Callable[[], Process], wishes: Sequence[Callable[[Process], bool]] = (lambda process: True,)
) -> Iterator[Process]:
    """Lend an idle process of the key: one that meets the first wish, or else the second, ..., or else a new process.

    After the block the process is idle again, or killed if the block raised anything. Each thread borrows a process of
    its own, so each worker has at most one.
    """
    key = (os.getpid(), key)  # a fork of the auditor must not talk to the processes of its parent
    with _LENDING:
        idle = _IDLE.get(key, [])
        suitable = next((process for wish in wishes for process in reversed(idle) if wish(process)), None)
        if suitable is not None:
            idle.remove(suitable)
    process = suitable or start()
    try:
        yield process
    except BaseException:
        process.kill()
        raise
    _IDLE.setdefault(key, []).append(process)


def close_idle(key: Hashable) -> None:
    """End the idle processes of the key."""
    for process in _IDLE.pop((os.getpid(), key), []):
        process.kill()


@atexit.register
def kill_all() -> None:
    """End all processes that are left."""
    left = list(_LIVE)
    _IDLE.clear()
    for process in left:
        process.kill()
