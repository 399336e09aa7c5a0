"""Workers, shared by all audits that run at once: processes on this machine or a cluster, and threads that wait for processes.

A free worker goes to the audit that has used the least time of workers, so that a slow audit does not hold the others back.
What a task computes does not depend on when or where it runs.
"""

import contextlib
import functools
import gc
import os
import pickle
import signal
import sys
import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from typing import Any, Protocol

from auditor.blackbox.process import lead_a_group, print_nowhere
from auditor.errors import MachineError, WorkerLostError

# A task that is expected to take less (s) is queued at a busy worker, which then need not wait for its next task. A longer one is
# not queued there: the tasks behind it would wait for it.
QUICK = 0.5
# New workers that are started for a task, if others ended before they took it.
ATTEMPTS = 10
# Seconds after which an idle worker ends.
IDLE = 300
# There is a worker for each core, so libraries must not start threads of their own. The memory of one batch is kept for the next
# (glibc; bytes): to return it and get it again takes a tenth of the time of a fast mechanism.
ENVIRONMENT = {
    **dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS"), "1"),
    "MALLOC_MMAP_THRESHOLD_": str(2**25),
    "MALLOC_TRIM_THRESHOLD_": str(2**26),
}
LOST = "a worker process ended while it ran the mechanism: it crashed, or memory ran out"


class Pool(Protocol):
    """A pool that runs tasks, ``size`` of them at once. Futures raise WorkerLostError if a worker ended."""

    size: int

    def submit(self, function: Callable[..., Any], *arguments: Any) -> "Future[Any]":
        """Start a task."""

    def stop(self) -> None:
        """End the workers, in the middle of a task if need be; new ones start with the next task."""

    def close(self) -> None:
        """Part with the workers for good."""


@dataclass(eq=False)
class Share:
    """The seconds of workers that one audit has used, and its tasks."""

    seconds: float = 0.0
    at_work: "list[Task]" = field(default_factory=list)
    waiting: "deque[Task]" = field(default_factory=deque)

    def used(self, seconds: float) -> None:
        """Add seconds that a worker spent."""
        self.seconds += seconds

    def begins_at(self, seconds: float) -> None:
        """An audit that starts later must not be preferred because others used time before it."""
        self.seconds = max(self.seconds, seconds)


@dataclass(eq=False)
class Task:
    """A function to run: in a thread of this process if ``here``, and else by the pool.

    ``expected`` is how long it takes (s), if known. ``limit`` is how long it may take.
    """

    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    here: bool = False
    expected: float | None = None
    limit: float | None = None
    answer: "Future[Any]" = field(default_factory=Future)
    started: float | None = None
    stops: int = 0  # how often the pool was stopped before the task started
    dropped: bool = False

    def starts(self, stops: int) -> None:
        """Note that the task starts now, and how often the pool was stopped before."""
        self.started, self.stops = time.monotonic(), stops

    def starts_again(self) -> None:
        """Note that the task waits once more."""
        self.started = None

    def drop(self) -> None:
        """Note that nobody waits for the task."""
        self.dropped = True

    def result(self) -> Any:
        """Wait for the result of the function. Raises the function's own exception, WorkerLostError if a worker ended,
        KeyboardInterrupt if the workers were closed, and TimeoutError past the limit.
        """
        if self.limit is None:
            return self.answer.result()
        while not self.answer.done():
            if self.started is not None and time.monotonic() - self.started > self.limit:
                raise TimeoutError
            time.sleep(min(0.02, self.limit))
        return self.answer.result()


class Workers:
    """Gives the tasks of all audits to a pool. The audit with the least time used goes first.

    Each audit submits its tasks from a thread of its own.
    """

    def __init__(self, pool: Pool) -> None:
        self.pool = pool
        self._threads = ThreadPoolExecutor(pool.size)
        self._lock, self._shares, self._busy = threading.RLock(), list[Share](), 0
        self._stops, self._closed = 0, False

    def submit(self, share: Share, task: Task) -> Task:
        """Queue a task. Raises KeyboardInterrupt if the workers were closed."""
        with self._lock:
            if self._closed:
                raise KeyboardInterrupt
            if share not in self._shares:
                share.begins_at(min((other.seconds for other in self._shares), default=0.0))
                self._shares.append(share)
            share.waiting.append(task)
        self._start_some()
        return task

    def _start_some(self) -> None:
        while True:
            with self._lock:
                share = self._next()
                if share is None:
                    return
                task = share.waiting.popleft()
                share.at_work.append(task)
                self._busy += 1
                task.starts(self._stops)
            try:
                pool: Any = self._threads if task.here else self.pool
                drawn = pool.submit(task.function, *task.arguments)
            except Exception as error:  # whatever an object's own pickling raises
                self._finish(share, task)
                task.answer.set_exception(error)
            else:
                drawn.add_done_callback(lambda drawn, share=share, task=task: self._done(share, task, drawn))

    def _next(self) -> Share | None:
        """Return the share whose first task starts next, if a worker is free for it."""
        if self._closed:
            return None
        self._shares = [share for share in self._shares if share.waiting or share.at_work]
        able = [share for share in self._shares if share.waiting and self._has_room(share.waiting[0])]
        return min(able, key=lambda share: share.seconds + QUICK * len(share.at_work), default=None)

    def _has_room(self, task: Task) -> bool:
        is_quick = task.expected is not None and task.expected < QUICK
        return self._busy < (2 if is_quick else 1) * self.pool.size

    def _done(self, share: Share, task: Task, drawn: "Future[Any]") -> None:
        self._finish(share, task)
        error = drawn.exception()
        with self._lock:
            stopped_for_another = isinstance(error, WorkerLostError) and task.stops < self._stops
            if again := stopped_for_another and not (task.dropped or self._closed):
                task.starts_again()
                share.waiting.appendleft(task)
                self._shares += [share] * (share not in self._shares)
        if self._closed:
            task.answer.set_exception(KeyboardInterrupt())
        elif error is not None and not again:
            task.answer.set_exception(error)
        elif not again:
            task.answer.set_result(drawn.result())
        self._start_some()

    def _finish(self, share: Share, task: Task) -> None:
        with self._lock:
            self._busy -= 1
            share.at_work.remove(task)
            share.used(time.monotonic() - (task.started or 0.0))

    def drop(self, share: Share) -> None:
        """Give up the tasks of a share.

        Tasks at work have a moment to end. If any do not, all workers are stopped, and the tasks of others run again.
        """
        with self._lock:
            share.waiting.clear()
            for task in share.at_work:
                task.drop()
        moment = time.monotonic() + QUICK
        while share.at_work and time.monotonic() < moment:
            time.sleep(0.01)
        with self._lock:
            must_stop = any(not task.here for task in share.at_work)
            self._stops += must_stop
        if must_stop:
            self.pool.stop()

    def close(self) -> None:
        """Stop at once. All tasks raise KeyboardInterrupt, and the workers end."""
        with self._lock:
            self._closed = True
            waiting = [task for share in self._shares for task in share.waiting]
        for task in waiting:
            task.answer.set_exception(KeyboardInterrupt())
        self._threads.shutdown(wait=False, cancel_futures=True)
        self.pool.stop()
        self.pool.close()


def _begin() -> None:
    print_nowhere()  # first: if there is no room for a group, the auditor says so
    lead_a_group()


def _work(search_path: list[str], task: bytes) -> Any:
    # The process may have been started when other folders were searched for modules, which the task may need to be read.
    sys.path[:] = search_path
    function, arguments = pickle.loads(task)
    try:
        return function(*arguments)
    finally:
        # Python's collector would walk again and again through the libraries that were imported for the first task. That is a
        # tenth of the time of a mechanism that returns dicts.
        if not gc.get_freeze_count():
            gc.freeze()


class Processes:
    """Processes on this machine, kept from one audit to the next."""

    def __init__(self, size: int) -> None:
        self.size = size
        self._executor: Any = None
        self._changing = threading.Lock()
        self._started = dict[int, Any]()  # all workers, by process id
        # Callbacks run in a thread of our own: loky's threads, which end workers, must not start new ones.
        self._callbacks = ThreadPoolExecutor(1)

    def submit(self, function: Callable[..., Any], *arguments: Any) -> "Future[Any]":
        import cloudpickle
        from loky import ProcessPoolExecutor
        from loky.process_executor import ShutdownExecutorError

        task = cloudpickle.dumps((function, arguments))
        for _ in range(ATTEMPTS):
            with self._changing:
                if self._executor is None:
                    try:
                        self._executor = ProcessPoolExecutor(
                            self.size, timeout=IDLE, env=ENVIRONMENT, initializer=_begin
                        )
                    except OSError as error:
                        raise MachineError(f"workers cannot share memory (/dev/shm): {error.strerror}") from None
                executor = self._executor
            try:
                drawn = executor.submit(_work, list(sys.path), task)
            except (BrokenProcessPool, ShutdownExecutorError):  # a worker ended, or all were stopped meanwhile
                with self._changing:
                    if self._executor is executor:
                        self._executor = None
                continue
            with self._changing:
                self._started |= executor._processes or {}
            return translated(drawn, BrokenProcessPool, ShutdownExecutorError, through=self._callbacks.submit)
        raise WorkerLostError(LOST)

    def stop(self) -> None:
        with self._changing:
            executor, self._executor = self._executor, None
            started, self._started = self._started, {}
        if executor is not None:
            executor.shutdown(wait=True, kill_workers=True)
        # Loky's thread, which does so, may have ended for lack of memory. Then Python would wait for the workers at its end.
        for worker in started.values():
            if worker.exitcode is None:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(worker.pid, signal.SIGKILL)

    def close(self) -> None:
        """Let the last callbacks run; no worker is left after ``stop``."""
        self._callbacks.shutdown(wait=False)


def translated(drawn: Any, *lost: type[BaseException], through: Callable[..., Any] | None = None) -> "Future[Any]":
    """Return a future of this process for a future of a library, with WorkerLostError for errors of the kinds ``lost``.

    Callbacks run in the library's own thread, or by ``through``.
    """
    answer: Future[Any] = Future()

    def pass_on(drawn: Any) -> None:
        try:
            answer.set_result(drawn.result())
        except lost:
            answer.set_exception(WorkerLostError(LOST))
        except BaseException as error:  # it is not of this thread
            answer.set_exception(error)

    drawn.add_done_callback(pass_on if through is None else functools.partial(through, pass_on))
    return answer
