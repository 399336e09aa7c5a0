"""Processes for what may crash or hang. Each has a group of its own and a time limit, and none is left behind."""

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

# The errors of a system that cannot start one more process.
NO_ROOM = (errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EAGAIN)
# Options of glibc's mallopt (bytes): larger blocks are returned at once, and so is more memory at the end of the heap.
_MMAP_THRESHOLD, _TRIM_THRESHOLD = -3, -1
CHUNK = 1 << 20
# Bytes of one line, and of all lines that are read at once. A batch of 65,536 outputs of 8,000 characters fits.
LONGEST_LINE, LONGEST_ANSWER = 1 << 26, 1 << 29
LATE = "no answer within the time limit"


class ProcessFailure(Exception):  # noqa: N818 - an output, and no error of the auditor
    """A process that gave no output. This failure is then the output of the mechanism.

    ``standard_error`` is the end of what the process wrote there. It is for people to read, and no part of the output.
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

    # Which mechanism a host has loaded, if any, and whether it is batched and takes rng; see auditor.blackbox.host
    loaded: tuple[bytes, tuple[bool, bool]] = b"", (False, False)

    def __init__(self, arguments: Sequence[str], folder: str | None = None) -> None:
        pipe = subprocess.PIPE
        self._child = subprocess.Popen(
            arguments, cwd=folder, stdin=pipe, stdout=pipe, stderr=pipe, bufsize=0, start_new_session=True
        )
        try:
            self._guard = _guard(self._child.pid)
        except OSError:
            os.killpg(self._child.pid, signal.SIGKILL)
            self._child.communicate()
            raise
        assert self._child.stdin and self._child.stdout and self._child.stderr
        self._streams = self._child.stdin, self._child.stdout, self._child.stderr
        self._in, self._out, self._err = (stream.fileno() for stream in self._streams)
        self._pending = memoryview(b"")
        self._errors = b""
        self._killing = threading.Lock()
        self._poll = select.poll()
        self._poll.register(self._out, select.POLLIN)
        self._poll.register(self._err, select.POLLIN)
        with contextlib.suppress(OSError):  # with a larger pipe the process can go on while its last answer is read
            fcntl.fcntl(self._out, fcntl.F_SETPIPE_SZ, CHUNK)
        for stream in (self._in, self._err):
            os.set_blocking(stream, False)
        _LIVE.add(self)

    def send(self, request: bytes, *, last: bool = False) -> None:
        """Send bytes. With ``last`` the input ends after them.

        Bytes that do not fit into the pipe are written while an answer is awaited. So neither side blocks the other.
        """
        self._pending, self._last = memoryview(request), last
        self._poll.register(self._in, select.POLLOUT)
        self._write()

    def receive(self, deadline: float | None, most: int = CHUNK, *, wait: bool = True) -> bytes:
        """Return the next bytes: at least one, and at most ``most``; none past the deadline, a time of ``time.monotonic``.

        Raises ProcessEnded at the end of output; with ``wait`` also TimedOut past the deadline. Then the process is gone.
        """
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
                if wait:
                    raise self._failed(TimedOut(LATE))
                return b""

    def receive_lines(self, count: int, deadline: float | None, *, wait: bool = False) -> tuple[bytes, int]:
        """Return the bytes up to ``count`` ends of lines, and the number of these ends. More may follow the last of them.

        Past the deadline it holds fewer, and the process lives. With ``wait`` it raises TimedOut instead, as ``receive`` does. It
        raises ProcessEnded, and the process is gone, if a line or all lines together are too long to be held.
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
            for what, seen, most in (("a line", line, LONGEST_LINE), ("an answer", whole, LONGEST_ANSWER)):
                if seen > most:
                    raise self._failed(ProcessEnded(f"killed, since it wrote {what} of over {most:,} bytes"))
            if wait and ends < count and deadline is not None and time.monotonic() >= deadline:
                raise self._failed(TimedOut(LATE))  # it writes on and on
        return b"".join(chunks), ends

    def has_output(self) -> bytes:
        """Return output that was not asked for, if there is any."""
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
            if self._streams[1].closed:
                return
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
        except BrokenPipeError:  # the process ended, which reading its output will show
            self._pending = memoryview(b"")
        if not self._pending:
            self._poll.unregister(self._in)
            if self._last:
                self._streams[0].close()

    def _read_errors(self) -> None:
        with contextlib.suppress(BlockingIOError, KeyError):
            # Not until there is none: a process may write faster than it is read.
            if chunk := os.read(self._err, CHUNK):
                self._errors = (self._errors + chunk)[-2_000:]
            else:
                self._poll.unregister(self._err)

    def _ended(self) -> ProcessFailure:
        # A process that closes its output ends in a moment. One that goes on without output is of no use.
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
    """Start a shell that ends a group of processes when its own input ends, as it does when its parent is gone."""
    arguments = ["/bin/sh", "-c", 'read -r dismissed || kill -s KILL -- "-$0"', str(group)]
    nowhere = subprocess.DEVNULL
    return subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=nowhere, stderr=nowhere, start_new_session=True)


def lead_a_group() -> None:
    """Make this process the leader of a group. The group ends with it, and with its parent, even if they are killed."""
    os.setsid()
    _OWN.append(_guard(os.getpid()))
    parent = os.getppid()

    def end_with_parent() -> None:
        while os.getppid() == parent:
            time.sleep(1.0)
        os.killpg(0, signal.SIGKILL)

    threading.Thread(target=end_with_parent, daemon=True).start()


def keep_memory() -> None:
    """Keep the memory of one batch for the next: to return it and get it again takes a tenth of the time of a fast mechanism."""
    with contextlib.suppress(AttributeError, OSError):  # only glibc can be told so
        for option, most in ((_MMAP_THRESHOLD, 1 << 25), (_TRIM_THRESHOLD, 1 << 26)):
            ctypes.CDLL(None).mallopt(option, most)


def print_nowhere() -> None:
    """Drop the printed text of this process: a mechanism may print for each of a million outputs."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)


_OWN: list["subprocess.Popen[bytes]"] = []  # guards, whose input is open for as long as this process lives
_LIVE: "weakref.WeakSet[Process]" = weakref.WeakSet()
_IDLE: dict[Hashable, list[Process]] = {}
_LENDING = threading.Lock()


@contextlib.contextmanager
def lent(
    key: Hashable, start: Callable[[], Process], wishes: Sequence[Callable[[Process], bool]] = (lambda process: True,)
) -> Iterator[Process]:
    """Lend an idle process of that key. The first wish that one meets decides. If none meets any, a new one starts.

    Afterwards it is idle again, or killed if anything was raised. Each thread borrows a process of its own, so there is at most
    one for each worker.
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
