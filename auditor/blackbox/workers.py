"""Workers that all running audits share: processes or threads of this machine, or the workers of a Dask cluster.

The library that runs the tasks decides their order. The result of a task does not depend on when or where it runs.
"""

import contextlib
import functools
import gc
import io
import logging
import os
import pickle
import runpy
import signal
import subprocess
import sys
import threading
import warnings
from collections import deque
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from itertools import islice
from multiprocessing import resource_tracker
from typing import Any

from auditor.blackbox.forking import CAN_FORK, begin, deaf_to_interrupts, import_ahead
from auditor.blackbox.process import (
    hear_interrupts_again,
    keep_memory,
    lead_a_group,
    print_nowhere,
)
from auditor.defaults import ONE_THREAD
from auditor.errors import InvalidInputError, MachineError, WorkerLostError
from auditor.foreign_code import Stopped

# A function and its arguments.
Task = tuple[Callable[..., Any], tuple[Any, ...]]
# The seconds that a Dask scheduler, and then its first worker, may take to answer.
WAIT = 30
LOST = "a worker process ended while it ran the mechanism: it crashed, or memory ran out"


class Workers:
    """Workers that run tasks, ``size`` of them at once."""

    size: int

    def start(self) -> None:
        """Start worker processes without waiting for them. By default there are none to start."""

    def run(self, tasks: Iterator[Task], ahead: int) -> Generator[Any, None, None]:
        """Yield the results of tasks, in the order of the tasks. At most ``ahead`` tasks are submitted at a time.

        Raises what a task raises, WorkerLostError if a worker of this machine died, and Stopped after ``close``.
        """
        raise NotImplementedError

    def close(self) -> None:
        """End the workers, even in the middle of a task."""


class Here(Workers):
    """The calling thread, which runs one task after the other."""

    size = 1

    def run(self, tasks: Iterator[Task], ahead: int) -> Generator[Any, None, None]:
        for function, arguments in tasks:
            yield function(*arguments)


class Threads(Workers):
    """Threads of this process. They wait for the processes of mechanisms, or run mechanisms if ``isolate`` is False."""

    lost: tuple[type[BaseException], ...] = (CancelledError,)  # a future raises one of these if its worker is dead

    def __init__(self, size: int) -> None:
        self.size, self._closed = size, False
        self._threads = ThreadPoolExecutor(size)
        self._runs, self._left, self._counting = 0, list[Future[Any]](), threading.Lock()

    def submit(self, function: Callable[..., Any], *arguments: Any) -> "Future[Any]":
        """Start a task."""
        return self._threads.submit(function, *arguments)

    def run(self, tasks: Iterator[Task], ahead: int) -> Generator[Any, None, None]:
        asked = deque[Future[Any]]()
        with self._counting:
            self._runs += 1
        try:
            while True:
                for function, arguments in islice(tasks, ahead - len(asked)):
                    if self._closed:
                        raise Stopped
                    asked.append(self.submit(function, *arguments))
                if not asked:
                    return
                try:
                    result = asked.popleft().result()
                except self.lost:
                    raise (Stopped() if self._closed else WorkerLostError(LOST)) from None
                yield result
        except KeyboardInterrupt:
            self.stop()  # a task may never end
            raise
        finally:
            # A task that never ends would occupy a worker, and would keep Python from ending.
            with self._counting:
                self._runs -= 1
                self._left = [future for future in (*self._left, *asked) if not (future.cancel() or future.done())]
                if self._left and not self._runs and wait(self._left, 0.5).not_done:
                    self.stop()

    def stop(self) -> None:
        """Kill the workers. By default nothing is done, since threads cannot be killed."""

    def close(self) -> None:
        self._closed = True
        self.stop()
        self._threads.shutdown(wait=False, cancel_futures=True)


def _begin() -> None:
    print_nowhere()  # first, so that a failure of the next line prints nothing: the auditor reports it
    lead_a_group()
    hear_interrupts_again()
    keep_memory()


def _work(search_path: list[str], task: bytes) -> Any:
    # The search path may have changed since this process started, and the modules of the task must be found.
    sys.path[:] = search_path
    try:
        return _call(task)
    finally:
        _freeze()


@functools.cache
def _freeze() -> None:
    """Exclude the objects of imported libraries from garbage collection, once in a process. Walking through them again
    and again would take a tenth of the time of a mechanism that returns dicts.
    """
    gc.freeze()


def _call(task: bytes) -> Any:
    function, arguments = pickle.loads(task)
    return function(*arguments)


@functools.cache
def _forking_context() -> Any:
    """Return what loky starts its workers by: as forks of the template, or None where they cannot be forked."""
    if not CAN_FORK:
        return None
    from multiprocessing.context import set_spawning_popen

    from loky.backend import reduction, spawn
    from loky.backend.context import LokyContext
    from loky.backend.popen_loky_posix import Popen
    from loky.backend.process import LokyProcess

    class Forked(Popen):  # type: ignore[misc]
        """As loky's, with a fork in place of a new Python, which gets the same message by the same files."""

        def _launch(self, process: Any) -> None:
            message = io.BytesIO()
            set_spawning_popen(self)
            try:
                about = spawn.get_preparation_data(process._name, False)
                reduction.dump(about, message)
                reduction.dump(process, message)
            finally:
                set_spawning_popen(None)
            kept = [*self._fds, about["tracker_fd"], about["mp_tracker_fd"]]
            read, write = os.pipe()
            try:
                arguments = ["--process-name", process.name, "--pipe", str(read)]
                files = {file: file for file in (read, *kept)}
                self._fork = begin(
                    "auditor.blackbox.workers:run_worker", files, arguments=arguments, environment=process.env
                )
            except BaseException:
                os.close(write)
                raise
            finally:
                os.close(read)
            self.pid, self.sentinel = self._fork.pid, self._fork.ended
            with os.fdopen(write, "wb") as pipe:
                pipe.write(message.getbuffer())

        def poll(self, flag: int = os.WNOHANG) -> int | None:
            """Return the exit status; None if the worker has not ended."""
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.returncode = self._fork.wait(0.0 if flag == os.WNOHANG else None)
            return self.returncode

    class Process(LokyProcess):  # type: ignore[misc]
        _Popen = staticmethod(Forked)

    context = LokyContext()
    context.Process = Process
    return context


def run_worker() -> None:
    """Be a worker of loky, in a fork."""
    runpy.run_module("loky.backend.popen_loky_posix", run_name="__main__")


class Processes(Threads):
    """Processes of this machine, kept from one audit to the next. After ``stop``, the next task starts new ones."""

    def __init__(self, size: int) -> None:
        from loky.process_executor import ShutdownExecutorError

        super().__init__(size)
        self.lost = CancelledError, BrokenProcessPool, ShutdownExecutorError
        self._executor: Any = None
        self._changing = threading.Lock()
        self._started = dict[int, Any]()  # all worker processes, by process id

    def start(self) -> None:
        if self._executor is None:
            with contextlib.suppress(WorkerLostError):  # the first task of an audit raises it again
                for _ in range(self.size):
                    self.submit(import_ahead)

    def run(self, tasks: Iterator[Task], ahead: int) -> Generator[Any, None, None]:
        # Loky's own thread warns that it has replaced a worker. No task is lost by that, so nobody needs to know.
        warnings.filterwarnings("ignore", "A worker (stopped|was restarted) while some jobs were given", UserWarning)
        yield from super().run(tasks, ahead)

    def submit(self, function: Callable[..., Any], *arguments: Any) -> "Future[Any]":
        import cloudpickle
        from loky import ProcessPoolExecutor

        task = cloudpickle.dumps((function, arguments))
        for _ in range(10):  # try again with new workers if the old ones ended before they took the task
            with self._changing:
                if self._executor is None:
                    # If Python's tracker of resources does not run yet, loky starts it, which unblocks SIGINT again.
                    resource_tracker.ensure_running()
                    try:
                        # A worker that is idle for five minutes ends.
                        self._executor = ProcessPoolExecutor(
                            self.size, timeout=300, env=ONE_THREAD, initializer=_begin, context=_forking_context()
                        )
                    except OSError as error:
                        raise MachineError(
                            f"workers cannot share memory (on Linux in /dev/shm): {error.strerror}"
                        ) from None
                executor = self._executor
            try:
                with deaf_to_interrupts():  # this may start workers, now or later in a thread that it begins
                    drawn: Future[Any] = executor.submit(_work, list(sys.path), task)
            except self.lost:  # a worker ended, or all were stopped meanwhile
                with self._changing:
                    if self._executor is executor:
                        self._executor = None
                continue
            with self._changing:
                self._started |= executor._processes or {}
            return drawn
        raise WorkerLostError(LOST)

    def stop(self) -> None:
        with self._changing:
            executor, self._executor = self._executor, None
            started, self._started = self._started, {}
        if executor is not None:
            executor.shutdown(wait=True, kill_workers=True)
        # Loky's thread may have ended for lack of memory before it killed all workers. Python would wait for them.
        for worker in started.values():
            if worker.exitcode is None:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(worker.pid, signal.SIGKILL)


class Dask(Workers):
    """The workers of a Dask cluster, used through joblib. Dask runs a task again if its worker was lost.

    Raises InvalidInputError if Dask is not installed, or if nothing answers at the address.
    """

    def __init__(self, address: str) -> None:
        try:
            import distributed as library
        except ImportError:
            raise InvalidInputError(
                "backend dask needs a library that is not installed; install it with: pip install 'dp-auditor[dask]'"
            ) from None
        distributed: Any = library  # it has no types
        try:
            self._client = distributed.Client(address, timeout=WAIT, set_as_default=False)
            self._client.submit(_call, pickle.dumps((int, ()))).result(timeout=WAIT)
        except Exception as error:  # the cluster may have other versions of Dask and of the auditor
            raise InvalidInputError(
                f"no Dask cluster with auditor at {address} ({type(error).__name__}: {error}); start one by `dask scheduler` and "
                f"`dask worker {address}`, with the same packages as here"
            ) from None
        self.size = sum(self._client.nthreads().values())
        self._lost = distributed.KilledWorker, CancelledError

    def run(self, tasks: Iterator[Task], ahead: int) -> Generator[Any, None, None]:
        """See Workers. Raises MachineError if the cluster gives up a task."""
        import cloudpickle
        from joblib import Parallel, delayed

        # An audit may end before all its tasks have run. Dask and joblib warn of that.
        warnings.filterwarnings("ignore", ".*(successfully executed +but not used|have been cancelled)", UserWarning)
        parallel = Parallel(backend=self._backend(), return_as="generator", batch_size=1, pre_dispatch=ahead)
        try:
            # Bytes travel with their task. Joblib would store an object on one worker, and lose it with that worker.
            yield from parallel(delayed(_call)(cloudpickle.dumps(task)) for task in tasks)
        except self._lost as error:
            raise MachineError(f"the Dask cluster gave up a task: {error}") from None

    def _backend(self) -> Any:
        """Return joblib's Dask backend, made to report tasks that Dask gives up. Joblib 1.6 waits for them forever."""
        from joblib import parallel_config
        from joblib.parallel import get_active_backend

        with parallel_config(backend="dask", client=self._client):
            kind: Any = type(get_active_backend()[0])

        class Reporting(kind):  # type: ignore[misc]
            def submit(self, func: Any, callback: Any = None) -> "Future[Any]":
                drawn: Future[Any] = super().submit(func, callback)
                drawn.add_done_callback(lambda drawn: (error := drawn.exception()) and callback(error))
                return drawn

        return Reporting(client=self._client)

    def close(self) -> None:
        """Leave the cluster. Its workers finish the tasks that they have begun, since others may use the cluster."""
        for name in ("distributed", "distributed.client", "tornado.application", "asyncio"):
            logging.getLogger(name).setLevel(logging.CRITICAL)  # they log that connections and tasks end
        with contextlib.suppress(TimeoutError):
            self._client.close(timeout=1)


_STARTED: dict[tuple[str, int | str], Workers] = {}
_STARTING = threading.Lock()


def workers_for(kind: str, workers: int, address: str | None = None) -> Workers:
    """Return the workers of a kind, made once: "loky", "threading", or "dask" with all workers at the address."""
    with _STARTING:
        key = kind, address or workers
        if key not in _STARTED:
            local = Threads if kind == "threading" else Processes
            _STARTED[key] = Dask(address) if address else local(processes(workers))
        return _STARTED[key]


def close_all() -> None:
    """Close all workers. A thread that waits for a task gets Stopped."""
    while _STARTED:
        _STARTED.popitem()[1].close()


@functools.cache  # loky reads the limits of the system at each call
def processes(workers: int) -> int:
    """Return the number of processes for ``workers``, counted as by joblib: −1 is one for each core, −2 one fewer."""
    if workers > 0:
        return workers
    from loky import cpu_count  # joblib's, without the rest of joblib

    return max(1, int(cpu_count()) + 1 + workers)
