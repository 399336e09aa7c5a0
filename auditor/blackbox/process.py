"""Processes that run what may crash or hang: each in a group of its own, asked under a time limit, never left behind."""

import atexit
import contextlib
import fcntl
import os
import select
import signal
import subprocess
import threading
import time
import weakref
from collections.abc import Callable, Hashable, Iterator, Sequence

# What is kept of standard error, for messages.
STANDARD_ERROR = 2_000
CHUNK = 1 << 20
# Ends a group of processes when whoever started this shell is gone, however it went: then it reads the end of its input.
GUARD = 'read -r dismissed || kill -s KILL -- "-$0"'


class ProcessFailure(Exception):  # noqa: N818 - an output, and no error of the auditor
    """A process that gave no output: itself an output of the mechanism that ran in it.

    ``standard_error`` is the end of what it wrote there. It is for people to read, and no part of the output.
    """

    standard_error: str = ""

    def message(self) -> str:
        """Say what happened, with the end of standard error."""
        return f"{self}; standard error ends: {self.standard_error}" if self.standard_error else str(self)


class ProcessEnded(ProcessFailure):
    """The process ended before it had answered: exit, crash, or a kill from outside."""


class TimedOut(ProcessFailure):
    """The process did not answer within the time limit, and was killed."""


class Process:
    """A process that is sent bytes and sends bytes back. Raises OSError when it cannot be started."""

    loaded: tuple[bytes, tuple[bool, bool]] | None = None  # what a host has loaded; see auditor.blackbox.host

    def __init__(self, arguments: Sequence[str], folder: str | None = None) -> None:
        pipe = subprocess.PIPE
        self._child = subprocess.Popen(
            arguments, cwd=folder, stdin=pipe, stdout=pipe, stderr=pipe, bufsize=0, start_new_session=True
        )
        self._guard = _guard(self._child.pid)
        assert self._child.stdin and self._child.stdout and self._child.stderr
        self._in, self._out, self._err = (
            s.fileno() for s in (self._child.stdin, self._child.stdout, self._child.stderr)
        )
        self._pending = memoryview(b"")
        self._errors = b""
        self._killing = threading.Lock()
        self._poll = select.poll()
        self._poll.register(self._out, select.POLLIN)
        self._poll.register(self._err, select.POLLIN)
        with contextlib.suppress(OSError):  # a process can then go on while its last answer is being read
            fcntl.fcntl(self._out, fcntl.F_SETPIPE_SZ, CHUNK)
        for stream in (self._in, self._err):
            os.set_blocking(stream, False)
        _LIVE.add(self)

    def send(self, request: bytes, *, last: bool = False) -> None:
        """Send bytes; ``last`` ends the input after them.

        What a pipe cannot hold is written while an answer is awaited, so that neither side blocks the other.
        """
        self._pending, self._last = memoryview(request), last
        self._poll.register(self._in, select.POLLOUT)
        self._write()

    def receive(self, deadline: float | None, most: int = CHUNK) -> bytes:
        """Return what comes next: at least one byte, and at most ``most``.

        ``deadline`` is a time of ``time.monotonic``. Raises ProcessEnded at the end of output, TimedOut past the deadline;
        nothing of the process is left then.
        """
        chunk = self._next(deadline, most)
        if not chunk:
            self.kill()
            raise self._failure(TimedOut("no answer within the time limit"))
        return chunk

    def receive_lines(self, count: int, deadline: float | None, *, wait: bool = False) -> tuple[bytes, int]:
        """Return what comes until it holds ``count`` ends of lines, perhaps with more behind them; and how many it holds.

        Past the deadline that is less, and the process lives; with ``wait`` it is TimedOut, as for ``receive``.
        """
        chunks, ends = list[bytes](), 0
        while ends < count:
            chunk = self.receive(deadline) if wait else self._next(deadline)
            if not chunk:
                break
            chunks.append(chunk)
            ends += chunk.count(b"\n")
        return b"".join(chunks), ends

    def _next(self, deadline: float | None, most: int = CHUNK) -> bytes:
        while True:
            seconds = None if deadline is None else max(0.0, deadline - time.monotonic())
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
                return b""

    def has_output(self) -> bytes:
        """Return what was sent without being asked for; nothing, as a rule."""
        return os.read(self._out, CHUNK) if dict(self._poll.poll(0)).get(self._out, 0) & select.POLLIN else b""

    def standard_error(self) -> str:
        """Return the end of what the process wrote to standard error."""
        return self._errors.decode("utf-8", "replace").strip()

    def kill(self) -> None:
        """End the process and all of its group, and wait until it is gone."""
        with self._killing:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._child.pid, signal.SIGKILL)
            self._child.wait()
            if not self._child.stdout or self._child.stdout.closed:
                return
            with contextlib.suppress(OSError):
                self._read_errors()
            for stream in (self._child.stdin, self._child.stdout, self._child.stderr):
                if stream:
                    stream.close()
            self._guard.communicate(b"dismissed\n")

    def _write(self) -> None:
        try:
            self._pending = self._pending[os.write(self._in, self._pending) :]
        except BlockingIOError:
            return
        except BrokenPipeError:  # it ended, which shows where its output ends
            self._pending = memoryview(b"")
        if not self._pending:
            self._poll.unregister(self._in)
            if self._last and self._child.stdin:
                self._child.stdin.close()

    def _read_errors(self) -> None:
        with contextlib.suppress(BlockingIOError, KeyError):
            while chunk := os.read(self._err, CHUNK):
                self._errors = (self._errors + chunk)[-STANDARD_ERROR:]
            self._poll.unregister(self._err)  # its end was read

    def _ended(self) -> ProcessFailure:
        # A process that closes its output ends in a moment; one that goes on without it is of no use.
        try:
            status = self._child.wait(1.0)
        except subprocess.TimeoutExpired:
            self.kill()
            return self._failure(ProcessEnded("closed its standard output"))
        self.kill()
        try:
            how = f"ended with exit status {status}" if status >= 0 else f"killed by {signal.Signals(-status).name}"
        except ValueError:
            how = f"killed by signal {-status}"
        return self._failure(ProcessEnded(how))

    def _failure(self, failure: ProcessFailure) -> ProcessFailure:
        failure.standard_error = self.standard_error()
        return failure


def _guard(group: int) -> "subprocess.Popen[bytes]":
    """Start what ends a group of processes when its own input ends."""
    nowhere = subprocess.DEVNULL
    return subprocess.Popen(
        ["/bin/sh", "-c", GUARD, str(group)],
        stdin=subprocess.PIPE,
        stdout=nowhere,
        stderr=nowhere,
        start_new_session=True,
    )


def lead_a_group() -> None:
    """Make this process the first of a group that ends with it, whatever it starts and however it goes."""
    os.setsid()
    _OWN.append(_guard(os.getpid()))


_OWN: list["subprocess.Popen[bytes]"] = []  # its input is open for as long as this process lives
_LIVE: "weakref.WeakSet[Process]" = weakref.WeakSet()
_IDLE: dict[Hashable, list[Process]] = {}


_LENDING = threading.Lock()


@contextlib.contextmanager
def lent(
    key: Hashable, start: Callable[[], Process], wishes: Sequence[Callable[[Process], bool]] = (lambda process: True,)
) -> Iterator[Process]:
    """Lend an idle process of that key that meets the first wish, or else the second and so on, and where none does a new one.

    It is idle again afterwards, and killed where anything was raised. A thread that borrows one has it for itself, so that
    there are as many as there are workers.
    """
    key = (os.getpid(), key)  # a fork of the auditor must not talk to the processes of its parent
    with _LENDING:
        idle = _IDLE.get(key, [])
        found = next((process for wish in wishes for process in reversed(idle) if wish(process)), None)
        if found is not None:
            idle.remove(found)
    process = found or start()
    try:
        yield process
    except BaseException:
        process.kill()
        raise
    _IDLE.setdefault(key, []).append(process)


def close_idle(key: Hashable) -> None:
    """End the idle processes of that key."""
    for process in _IDLE.pop((os.getpid(), key), []):
        process.kill()


@atexit.register
def kill_all() -> None:
    """End all processes that are left."""
    left = list(_LIVE)
    _IDLE.clear()
    for process in left:
        process.kill()
