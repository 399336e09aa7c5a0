"""Draw outputs in parallel. Workers and backend do not change the outputs.

The size of a batch follows from the number of outputs asked for, and changes the outputs. The number of batches in a
task follows from measured times, and changes only when and where a batch is drawn.
"""

import contextlib
import itertools
import math
import operator
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar, get_args

import numpy as np

from auditor.blackbox.audit_store import AuditStore
from auditor.blackbox.batches import (
    BOUNDS,
    Batch,
    Batches,
    DrawnBatch,
    Origin,
    Phase,
    Trial,
    compare,
    draw_all,
    draw_twice,
    first_calls,
)
from auditor.blackbox.host import isolated
from auditor.blackbox.repeats import RepeatGuard
from auditor.blackbox.sample import CALLS, TRIAL, Sample
from auditor.blackbox.workers import Here, Task, Workers, processes, workers_for
from auditor.defaults import BATCH, WORKERS, BackendName
from auditor.errors import InvalidInputError, OverdueError, how_many, require_number
from auditor.interfaces import Source
from auditor.neighbours.pair import Pair

T = TypeVar("T")

# Outputs are cut into at least PIECES batches, so that many workers can share them and an interruption loses little.
# Outputs to learn from are cut into PIECES_TO_LEARN batches, since a mechanism that hangs does so a few times in each
# batch. A batch has at least LEAST outputs, since the guard against repeats compares sequences of outputs.
PIECES, PIECES_TO_LEARN, LEAST = 128, 16, 128
# The factor by which batches grow while their seconds are measured.
GROWTH = 4
# A task takes at least LEAST_TASK seconds, so that its overhead is small, and at most TASK seconds, so that all workers
# are busy to the end. With many workers tasks may take longer, so that at most A_SECOND tasks end in a second.
LEAST_TASK, TASK, A_SECOND = 0.01, 0.25, 200


@dataclass(frozen=True, slots=True)
class Execution:
    """How outputs are drawn. Only ``batch`` changes numbers in a report.

    ``backend`` is loky (processes of this machine), threading, or dask, with the ``address`` of the scheduler.
    ``workers`` follows joblib: −1 is one for each core. ``batch`` is the most outputs of a batch. ``timeout`` is the
    seconds for a batch, or for an output drawn alone; a timeout is an output. Several loky workers without a timeout
    run Python mechanisms themselves. If a crash ends a worker, the audit starts again with ``lost``. Then, and in all
    other cases, a mechanism runs in processes of its own, and a crash is an output. Without ``isolate``, one worker or
    threads run it in the calling process, for debuggers. There its time has no limit, and a crash ends the run.
    """

    backend: BackendName = "loky"
    workers: int = WORKERS
    batch: int = BATCH
    timeout: float | None = None
    isolate: bool = True
    address: str | None = None
    lost: bool = False  # a worker process has died in this audit
    ends: float | None = None  # when an audit with a limit of time must end, by time.monotonic

    def __post_init__(self) -> None:
        if self.backend not in get_args(BackendName):
            raise InvalidInputError(
                f'backend is "{self.backend}"; it must be one of {", ".join(get_args(BackendName))}'
            )
        if self.workers == 0:
            raise InvalidInputError("workers is 0; it must be at least 1, or −1 for one for each core")
        if self.batch < 1:
            raise InvalidInputError(f"batch is {self.batch}; it must be at least 1")
        if self.timeout is not None:
            require_number("timeout", self.timeout, 0, 31_536_000, low_open=True)  # at most a year
        # A worker takes 100 MB or more of memory, and more workers than cores gain nothing.
        if self.backend != "dask" and self.workers > (most := 32 * processes(-1)):
            raise InvalidInputError(f"workers is {self.workers:,}; this machine can start {most:,}, 32 for each core")
        if self.address is not None and self.backend != "dask":
            raise InvalidInputError(
                f"address is {self.address!r}, but backend is {self.backend}; an address goes with dask"
            )
        if self.address is None and self.backend == "dask":
            raise InvalidInputError(
                "backend is dask, but there is no address; give that of the scheduler, such as tcp://scheduler:8786"
            )
        if not self.isolate and (self.backend == "dask" or self.timeout is not None):
            chosen = "backend is dask" if self.backend == "dask" else f"timeout is {self.timeout}"
            raise InvalidInputError(
                f"{chosen}, but isolate is false; leave out isolate, since the mechanism needs a process of its own"
            )

    @property
    def on_cluster(self) -> bool:
        """Whether workers may be on other machines."""
        return self.backend == "dask" and self.workers != 1

    def workers_for(self, *, waiting: bool) -> Workers:
        """Return workers, which only wait for processes if ``waiting``. Raises InvalidInputError without a cluster."""
        if self.on_cluster:
            return workers_for("dask", self.workers, self.address)
        if processes(self.workers) == 1:
            return Here()
        return workers_for("threading" if waiting or self.backend == "threading" else "loky", self.workers)

    @property
    def in_workers(self) -> bool:
        """Whether worker processes run Python mechanisms themselves. A mechanism that crashes then ends its worker.

        A worker that hangs cannot be ended alone. So under a limit of time, mechanisms have processes of their own.
        """
        may = self.backend == "loky" and processes(self.workers) > 1 and not self.lost
        return may and self.timeout is None and self.ends is None

    def reach(self, source: Source) -> None:
        """Start the workers early, since this takes a while. Raises InvalidInputError if no cluster answers."""
        if self.on_cluster:
            self.workers_for(waiting=True)
        elif self.in_workers and not source.is_program:
            self.workers_for(waiting=False).start()


@dataclass
class Pace:
    """The measured seconds of an audit's batches. They decide when and where batches are drawn, and change no output."""

    workers: int = 1
    worker: str = "worker"  # a word for a worker, such as "process"
    each: float | None = None  # seconds of an output, while all workers are busy
    outputs: int = 1  # in a batch

    def next_task(self, left: int) -> int:
        """Return how many of the remaining batches the next task draws."""
        if self.each is None:
            return 1
        fair = left if self.workers == 1 else max(1, left // (2 * self.workers))
        batch = max(self.each * self.outputs, 1e-9)
        least, most = (length / batch for length in (LEAST_TASK, max(TASK, self.workers / A_SECOND)))
        return max(1, min(left, max(fair, math.ceil(least)), int(most)))

    def drawn_by(self) -> str:
        """Return the number of workers in words.

        >>> Pace(2, "process").drawn_by()
        '2 processes'
        """
        return how_many(self.workers, self.worker)

    def note(self, batches: int, seconds: float) -> None:
        """Enter the seconds of a task of so many batches."""
        self.each = seconds / max(1, batches * self.outputs)


@dataclass(frozen=True, slots=True)
class Sampler:
    """Draws the batches of one audit. ``name`` is part of the address of each batch.

    ``guard`` has looked at all earlier batches, so no address may be drawn twice with one guard. ``store`` keeps
    batches, and a batch in the store is not drawn again. ``pace`` is the measured speed of the workers.
    """

    source: Source
    name: str
    seed: int
    execution: Execution
    guard: RepeatGuard = field(default_factory=RepeatGuard)
    store: AuditStore = field(default_factory=AuditStore)
    pace: Pace = field(default_factory=Pace)

    def map(self, batches: Sequence[Batch], observe: Callable[[Sample], T]) -> Generator[T, None, None]:
        """Draw each batch and yield its observation by ``observe``, in order.

        Raises MechanismError if the mechanism cannot be built, breaks the protocol, or repeats itself. Raises
        WorkerLostError if a worker process ends while it draws.
        """
        for group in self.groups(batches, observe, keep=True):
            yield from (drawn.seen for _, drawn in group)

    def groups(
        self, batches: Sequence[Batch], observe: Callable[[Sample], T], *, keep: bool = False
    ) -> Generator[Sequence[tuple[Batch, DrawnBatch[T]]], None, None]:
        """Draw each batch, and yield the batches of each task together. ``keep`` stores their observations.

        Batches in the store are read instead, and yielded one by one. Raises as ``map`` does.
        """
        done = 0
        for drawn in self.recall(batches, observe):
            yield [(batches[done], drawn)]
            done += 1
        batches, pace, how, origin = batches[done:], self.pace, self.execution, self.origin()
        workers = how.workers_for(waiting=self.apart)
        kind = "process" if how.isolate or (not self.apart and how.backend == "loky") else "thread"
        pace.workers, pace.outputs = workers.size, batches[0].size if batches else pace.outputs
        pace.worker = "Dask worker" if how.on_cluster else "worker" if workers.size == 1 else kind

        def tasks() -> Iterator[Task]:
            begun = 0
            while begun < len(batches):
                ends = begun + pace.next_task(len(batches) - begun)
                yield draw_all, (origin, self.seed, self.name, self.store.observer(observe), batches[begun:ends])
                begun = ends

        done = 0
        with contextlib.closing(workers.run(tasks(), 3 * pace.workers)) as results:
            for task, error, seconds in results:
                pace.note(len(task), seconds)
                group = list(zip(batches[done : done + len(task)], task, strict=True))
                done += len(task)
                failed = None if error is None or isinstance(error, OverdueError) else batches[done]
                observed = self.store.record(group, failed, error)
                for batch, drawn in observed:
                    self._look(batch, drawn)
                if keep:
                    self.store.keep(observed)
                if observed:
                    yield observed
                if error is not None:
                    raise error

    def _look(self, batch: Batch, drawn: DrawnBatch[Any]) -> None:
        if batch.phase is Phase.CHECK:
            return  # these outputs are only timed
        self.guard.look(drawn.left, drawn.right, batch.label)
        if not batch.learning and self.guard.awaits(2 * max(CALLS, batch.calls), batch.size):
            labels, calls = first_calls(self.seed, self.name, batch)
            for numbers, single in ((calls, False), (np.arange(len(calls)), True)):
                self.guard.look_at_calls((drawn.left, drawn.right), labels, numbers, single, batch.label)

    def recall(self, batches: Sequence[Batch], observe: Callable[[Sample], T]) -> Iterator[DrawnBatch[T]]:
        """Yield batches from the store, up to the first that it does not have. The guard looks at them again."""
        for batch in batches:
            kept = self.store.batch(batch, observe)
            if kept is None:
                return
            self._look(batch, kept)
            yield kept

    def trial(self, pair: Pair, size: int = TRIAL) -> Trial:
        """Draw outputs twice from one stream. Return whether both draws are equal, and what an output costs.

        If they differ, the mechanism has randomness or a memory of its own, of which each worker would have a copy. A
        failure counts as equal. A trial of one output only measures the cost, and a program has 4 seconds for it.
        """
        how, origin = self.execution, self.origin()
        if size == 1 and self.source.is_program:
            origin = self.source.drawer(min(how.timeout or 4.0, 4.0))
        batch = Batch(pair, size, Phase.CHECK, (2 if size == 1 else 0,))
        task = draw_twice, (origin, self.seed, self.name, batch)
        [trial] = how.workers_for(waiting=self.apart).run(iter([task]), 1)
        return Trial(*trial)

    def compare(self, pairs: Sequence[Pair], size: int, in_task: int = 32) -> Generator[float, None, None]:
        """Yield the distance of ``size`` outputs of either side of each pair, drawn with the same noise.

        A task has ``in_task`` pairs, which changes no distance.
        """
        origin, how = self.origin(), self.execution
        parts = ([pair.to_send() for pair in pairs[at : at + in_task]] for at in range(0, len(pairs), in_task))
        tasks = ((compare, (origin, self.seed, self.name, size, part)) for part in parts)
        distances = how.workers_for(waiting=self.apart).run(tasks, 2 * processes(how.workers))
        with contextlib.closing(distances):
            yield from itertools.chain.from_iterable(distances)

    def seconds_each(self, pair: Pair, most: float, place: int = 1) -> float:
        """Return the seconds that a worker needs for an output, measured for about ``most`` seconds.

        ``place`` is part of the address of these outputs, which serve nothing else. Each worker's first does not count.
        """
        timed = replace(self, store=AuditStore())

        def drawn(attempt: int, size: int, many: int = 1) -> float:
            batches = [Batch(pair, size, Phase.CHECK, (place, attempt, i)) for i in range(many)]
            for _ in timed.map(batches, operator.attrgetter("size")):
                pass
            return (self.pace.each or 0.0) * size

        drawn(0, 1, processes(self.execution.workers))
        attempt, size = 1, 1
        while GROWTH * (seconds := drawn(attempt, size)) <= most and size < self.execution.batch:
            attempt, size = attempt + 1, min(GROWTH * size, self.execution.batch)
        return max(seconds, 1e-9) / size

    @property
    def apart(self) -> bool:
        """Whether the mechanism runs in a process of its own, for which a worker only waits."""
        return self.source.is_program or (self.execution.isolate and not self.execution.in_workers)

    def origin(self) -> Origin:
        """Return the object that draws in a process of its own, or the source itself if workers import it."""
        return isolated(self.source, self.execution.timeout, self.execution.ends) if self.apart else self.source

    def batches(
        self,
        pair: Pair,
        outputs: int,
        phase: Phase,
        one_by_one: bool = False,
        form: str = "",
        number: tuple[int, ...] = (),
        least: int = LEAST,
    ) -> Batches:
        """Cut a number of outputs on one pair into batches of at least ``least``, whose addresses begin with ``number``."""
        pieces = PIECES if phase in BOUNDS else PIECES_TO_LEARN
        size = min(self.execution.batch, max(least, math.ceil(outputs / pieces)))
        share = min(1.0, size / max(1, outputs))
        return Batches.of(Batch(pair, size, phase, (*number, 0), one_by_one, form, share), outputs)
