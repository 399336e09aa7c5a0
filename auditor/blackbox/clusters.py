"""Which workers a backend has: processes on this machine, or those of a Dask or Ray cluster.

Dask and Ray run a task again if its worker was lost. They may, since a batch is the same whichever worker draws it.
"""

import atexit
import os
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError, Future
from contextlib import contextmanager, suppress
from typing import Any

from auditor.blackbox.workers import ENVIRONMENT, Pool, Processes, Workers, translated
from auditor.errors import InvalidInputError

CLUSTERS = ("dask", "ray")
# A task that loses this many workers is given up, and the mechanism is suspected.
LOSSES = 3
WAIT = 30  # seconds for a scheduler, and for its first worker
CLOSING = 10  # seconds for workers that were started here to end

_STARTED: dict[tuple[str, int, str | None], Workers] = {}


def workers_for(backend: str, workers: int, address: str | None) -> Workers:
    """Return the workers of a backend, which are started once.

    There are ``workers`` of them, or fewer if a cluster has fewer; −1 is all there are. ``address`` is the address of a cluster's
    scheduler. Without it, and without one in the environment, a cluster is started on this machine. Raises InvalidInputError if
    the cluster's library is not installed, or nothing answers at the address.
    """
    key = (backend, workers, address) if backend in CLUSTERS else ("", processes(workers), None)
    if key not in _STARTED:
        makers: dict[str, Callable[[int, str | None], Pool]] = {"dask": Dask, "ray": Ray}
        _STARTED[key] = Workers(makers[backend](workers, address) if backend in makers else Processes(key[1]))
    return _STARTED[key]


def close_all() -> None:
    """Stop all workers at once. Whoever waits for them gets a KeyboardInterrupt."""
    while _STARTED:
        _STARTED.popitem()[1].close()


def processes(workers: int) -> int:
    """Return the number of processes on this machine for ``workers``, where −1 means one for each core."""
    from joblib import cpu_count

    return workers if workers > 0 else max(1, cpu_count() + 1 + workers)


def _missing(backend: str) -> InvalidInputError:
    return InvalidInputError(
        f"backend {backend} needs a library that is not installed; install it with: pip install 'dp-auditor[{backend}]'"
    )


# For workers that are started here. By default Dask returns the memory of every array to the system, which makes a fast mechanism
# 50 % slower. It also reads the stacks of its workers a hundred times a second.
DASK_SETTINGS = {"distributed.nanny.pre-spawn-environ": ENVIRONMENT, "distributed.worker.profile.enabled": False}


class Dask:
    """The workers of a Dask cluster."""

    def __init__(self, workers: int, address: str | None) -> None:
        try:
            import dask
            import distributed as library
        except ImportError:
            raise _missing("dask") from None
        address = address or os.environ.get("DASK_SCHEDULER_ADDRESS")
        distributed: Any = library  # it has no types
        self._cluster: Any = None
        try:
            if address:
                self._client = distributed.Client(address, timeout=WAIT, set_as_default=False)
            else:
                with dask.config.set(DASK_SETTINGS):
                    self._cluster = distributed.LocalCluster(
                        n_workers=processes(workers),
                        threads_per_worker=1,
                        dashboard_address="localhost:0",
                        scheduler_kwargs={"dashboard": False},
                    )
                self._client = distributed.Client(self._cluster, set_as_default=False)
            self._client.wait_for_workers(1, timeout=WAIT)
        except (OSError, TimeoutError, ValueError) as error:
            raise InvalidInputError(f"no Dask cluster at {address or 'this machine'}: {error}") from None
        # This runs before the library's own clean-up, which waits long for a cluster that is gone.
        atexit.register(self.close)
        threads = sum(self._client.nthreads().values())
        self.size = threads if workers < 0 else min(workers, threads)
        self._lost = distributed.KilledWorker, CancelledError
        self._at_work = set[Any]()

    def submit(self, function: Callable[..., Any], *arguments: Any) -> "Future[Any]":
        drawn = self._client.submit(function, *arguments, pure=False)
        self._at_work.add(drawn)
        drawn.add_done_callback(self._at_work.discard)
        return translated(drawn, *self._lost)

    def stop(self) -> None:
        """Give up all tasks. Workers finish the tasks that they have begun, since others may use the cluster."""
        self._client.cancel(list(self._at_work))

    def close(self) -> None:
        """Leave the cluster, and end it if it was started here. Does not wait long for slow parts to end."""
        atexit.unregister(self.close)
        # A client that had started the cluster itself would wait for its end much longer, and log an error.
        for part, seconds in ((self._client, 1), (self._cluster, CLOSING)):
            if part is not None:
                with suppress(TimeoutError):
                    part.close(timeout=seconds)


@contextmanager
def _environment() -> Iterator[None]:
    """Start processes, and those that they start, with the variables of ENVIRONMENT that are not set already."""
    new = ENVIRONMENT.keys() - os.environ.keys()
    os.environ.update({name: ENVIRONMENT[name] for name in new})
    try:
        yield
    finally:
        for name in new:
            os.environ.pop(name, None)


class Ray:
    """The workers of a Ray cluster."""

    def __init__(self, workers: int, address: str | None) -> None:
        try:
            import ray as library
        except ImportError:
            raise _missing("ray") from None
        ray: Any = library  # it has few types
        address = address or os.environ.get("RAY_ADDRESS")
        self._started = not ray.is_initialized()
        if self._started:
            try:
                with _environment():
                    ray.init(
                        address,
                        num_cpus=None if address else processes(workers),
                        include_dashboard=None if address else False,
                        log_to_driver=False,
                        logging_level="error",
                    )
            except (ConnectionError, ValueError, RuntimeError) as error:
                raise InvalidInputError(f"no Ray cluster at {address or 'this machine'}: {error}") from None
        cores = int(ray.cluster_resources()["CPU"])
        self.size = cores if workers < 0 else min(workers, cores)
        self._ray, self._functions, self._at_work = ray, dict[Any, Any](), set[Any]()

    def submit(self, function: Callable[..., Any], *arguments: Any) -> "Future[Any]":
        if function not in self._functions:
            self._functions[function] = self._ray.remote(max_retries=LOSSES, num_cpus=1)(function)
        drawn = self._functions[function].remote(*arguments)
        self._at_work.add(drawn)
        future = drawn.future()
        future.add_done_callback(lambda _: self._at_work.discard(drawn))
        return translated(future, self._ray.exceptions.WorkerCrashedError, self._ray.exceptions.TaskCancelledError)

    def stop(self) -> None:
        for drawn in list(self._at_work):
            self._ray.cancel(drawn, force=True)

    def close(self) -> None:
        if self._started:
            self._ray.shutdown()
