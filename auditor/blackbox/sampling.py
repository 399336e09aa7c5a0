"""Draw outputs in parallel: seeds by address, batches, and the same numbers whatever the workers and backend.

Every batch has an address (audit, phase, pair, batch number), and from it, through
``numpy.random.SeedSequence``, two streams of its own: one for the fair coin that picks the side of each trial,
which the mechanism cannot touch, and one that is handed to the mechanism. What a batch holds therefore depends
on the root seed and its address alone.
"""

import contextlib
import hashlib
import itertools
import multiprocessing
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field, replace
from enum import IntEnum
from typing import Any, TypeVar

import numpy as np

from auditor.blackbox.host import isolated
from auditor.blackbox.mechanism import TRIAL, Drawer, Patience, Sample, Source, changed_form
from auditor.blackbox.recording import Recording
from auditor.blackbox.repeats import Keys, RepeatGuard, shown_keys
from auditor.errors import InvalidInputError, MechanismError, WorkerLostError
from auditor.neighbours.pair import Pair, Relation

T = TypeVar("T")


class Phase(IntEnum):
    """What outputs are drawn for. None is ever used for two of these."""

    CHECK = 0
    SEARCH = 1
    SELECTION = 2
    BOUND = 3
    SHRINK = 4
    CONFIRM = 5  # the bound on the smallest pair


@dataclass(frozen=True, slots=True)
class Batch:
    """``size`` trials on a pair, at an address below that of the audit; batch mechanisms ``one_by_one`` where wanted."""

    pair: Pair
    size: int
    phase: Phase
    number: tuple[int, ...]
    one_by_one: bool = False
    form: str = ""  # that earlier batches had; another is an error

    @property
    def told(self) -> str:
        """The batch as errors call it, such as "bound batch 3"."""
        return f"{self.phase.name.lower()} batch {'.'.join(map(str, self.number))}"

    @property
    def file(self) -> str:
        """The name of the batch in a recording."""
        return "-".join([self.phase.name.lower(), *map(str, self.number)])


BACKENDS = ("loky", "threading")


@dataclass(frozen=True, slots=True)
class Execution:
    """How outputs are drawn; nothing here but ``batch`` changes any number in a report.

    ``workers`` follows joblib: −1 is one for each core. ``batch`` is the most outputs drawn at once, and ``timeout`` the
    seconds for one, or for a single output where they are drawn one by one. To pass it is an output, and so is to crash: for
    that, mechanisms run in processes of their own. ``isolate`` False lets Python mechanisms run in the calling process with
    one worker or threads, for debuggers and for what cannot be pickled: there nothing limits their time, and a crash is the end.
    """

    backend: str = "loky"
    workers: int = -1
    batch: int = 65_536
    timeout: float | None = None
    isolate: bool = True

    def __post_init__(self) -> None:
        if self.backend not in BACKENDS:
            raise InvalidInputError(f'backend is "{self.backend}"; it must be one of {", ".join(BACKENDS)}')
        if self.workers == 0:
            raise InvalidInputError("workers is 0; it must be at least 1, or −1 for one for each core")
        if self.batch < 1:
            raise InvalidInputError(f"batch is {self.batch}; it must be at least 1")
        if self.timeout is not None and not self.timeout > 0:
            raise InvalidInputError(f"timeout is {self.timeout}; it must be above 0 seconds")

    @property
    def in_processes(self) -> bool:
        """Whether joblib's worker processes draw. Those are lost where a mechanism crashes or hangs, and its outputs with them."""
        from joblib import effective_n_jobs

        return self.backend == "loky" and effective_n_jobs(self.workers) > 1

    def one_worker(self) -> "Execution":
        """Return the same with a single worker."""
        return replace(self, workers=1)

    def protected(self) -> "Execution":
        """Return the same where no crash is the end, at the cost of sending outputs from process to process."""
        return replace(self, backend="threading", isolate=True)


@dataclass(frozen=True, slots=True)
class Sampler:
    """Draws batches of one audit. ``name`` is the audit's, and part of every address.

    ``guard`` has seen the batches that were drawn before; no address may be drawn twice under one guard. ``recording`` keeps
    the batches that are drawn, or holds those that are to be taken instead.
    """

    source: Source
    name: str
    seed: int
    execution: Execution
    guard: RepeatGuard = field(default_factory=RepeatGuard)
    recording: Recording | None = None

    def map(self, batches: Iterable[Batch], observe: Callable[[Sample], T]) -> Iterator[T]:
        """Draw each batch and yield what ``observe`` makes of it, in order.

        Raises MechanismError when the mechanism cannot be built, breaks the protocol, or repeats itself; and where joblib's
        processes draw, TimeoutError, and WorkerLostError when one of them ends.
        """
        todo, told = itertools.tee(batches)
        audit = _audit_key(self.name)
        drawn = self._run(_draw, ((self.seed, audit, batch, observe, self.recording) for batch in todo))
        return self._guarded(told, drawn)

    def repeats_itself(self, pair: Pair) -> bool:
        """Ask a mechanism for the same outputs twice, from the same stream; return whether it gave the same.

        Where it did not, it has randomness or a memory of its own, of which workers would each have a copy. Where it fails at
        once, that is for the audit to see. Raises as ``map`` does.
        """
        batch = Batch(pair, TRIAL, Phase.CHECK, (0,))
        [same] = self._run(_repeats_itself, [(self.seed, _audit_key(self.name), batch)])
        return bool(same)

    def _run(self, function: Callable[..., T], tasks: Iterable[tuple[Any, ...]]) -> Generator[T, None, None]:
        """Run a function on the mechanism and each task, by the workers, and yield what it returns in order."""
        from joblib import Parallel, delayed

        how = self.execution
        drawer = self.source if self.recording and self.recording.replaying else self.drawer()
        if how.workers == 1:
            return (function(drawer, *task) for task in tasks)
        # What runs in a process of its own needs no more than a thread that waits for it.
        backend = how.backend if isinstance(drawer, Source) else "threading"
        timeout = how.timeout if isinstance(drawer, Source) else None
        parallel = Parallel(how.workers, backend=backend, timeout=timeout, return_as="generator")
        return _with_own_errors(parallel(delayed(function)(drawer, *task) for task in tasks))

    def _guarded(self, batches: Iterable[Batch], drawn: Generator[tuple[Keys, Keys, T], None, None]) -> Iterator[T]:
        with contextlib.closing(drawn):
            for batch, (left, right, observed) in zip(batches, drawn, strict=True):
                self.guard.look(batch.pair, left, right, batch.told)
                yield observed

    def drawer(self) -> Drawer | Source:
        """Return what draws outside this process; the source itself, where workers import it and draw."""
        how = self.execution
        if self.source.command is not None or (how.isolate and not how.in_processes):
            return isolated(self.source, how.timeout)
        return self.source

    def batches(
        self, pair: Pair, outputs: int, phase: Phase, one_by_one: bool = False, form: str = ""
    ) -> Iterator[Batch]:
        """Cut a number of outputs on one pair into batches."""
        for number, start in enumerate(range(0, outputs, self.execution.batch)):
            yield Batch(pair, min(self.execution.batch, outputs - start), phase, (number,), one_by_one, form)


def _with_own_errors(results: Generator[T, None, None]) -> Generator[T, None, None]:
    try:
        for result in results:  # noqa: UP028 - which would close it before warnings are silenced
            yield result
    except multiprocessing.TimeoutError:  # not a kind of the built-in TimeoutError
        raise TimeoutError from None
    except BrokenProcessPool:
        raise WorkerLostError("a worker process ended while it ran the mechanism: a crash, or no memory left") from None
    finally:
        with warnings.catch_warnings():  # joblib's, that a mechanism which is refused was drawn from in vain
            warnings.simplefilter("ignore", UserWarning)
            results.close()


def _audit_key(name: str) -> int:
    """Return 64 bits of the audit's name, so that an audit draws the same whichever others run with it."""
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "big")


def _streams(
    seed: int, audit: int, batch: Batch
) -> tuple[np.random.Generator, np.random.Generator, np.random.Generator]:
    """Return the coin of a batch, the stream of the mechanism, and another for outputs that are drawn again."""
    address = (audit, batch.phase, *batch.number)
    coin, stream, again = (
        np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed, spawn_key=(*address, use))))
        for use in (0, 1, 2)
    )
    return coin, stream, again


def _draw(
    origin: Drawer | Source,
    seed: int,
    audit: int,
    batch: Batch,
    observe: Callable[[Sample], T],
    recording: Recording | None = None,
) -> tuple[Keys, Keys, T]:
    """Return the keys of the first outputs on either side, and what is observed."""
    if recording is not None and recording.replaying:
        sample = recording.read(batch.file, batch.pair)
    else:
        try:
            sample = _sample(origin, seed, audit, batch)
        except MechanismError as error:
            if recording is not None:
                recording.note(batch.file, str(error))
            raise
        if recording is not None:
            recording.write(batch.file, batch.pair, sample)
    if batch.form and sample.form and batch.form != sample.form:
        raise changed_form(batch.form, sample.form)
    return shown_keys(sample.left), shown_keys(sample.right), observe(sample)


def _sample(origin: Drawer | Source, seed: int, audit: int, batch: Batch) -> Sample:
    coin, stream, again = _streams(seed, audit, batch)
    labels = coin.random(batch.size) < 0.5
    if batch.pair.relation is Relation.ALONE:
        labels[:] = True
    mechanism: Drawer = origin.build() if isinstance(origin, Source) else origin
    # To learn from, each output must be a value or a failure of its own. Nothing is proved by these, so that there may be few.
    learning = batch.phase not in (Phase.BOUND, Phase.CONFIRM)
    patience = Patience(FAILURES[batch.phase]) if learning else None
    sample = mechanism.draw(batch.pair, labels, stream, one_by_one=batch.one_by_one, patience=patience)
    if learning and mechanism.batched and not batch.one_by_one and sample.raised():
        sample = replace(mechanism.draw(batch.pair, labels, again, one_by_one=True, patience=patience), redrawn=True)
    return sample


def _repeats_itself(origin: Drawer | Source, seed: int, audit: int, batch: Batch) -> bool:
    mechanism: Drawer = origin.build() if isinstance(origin, Source) else origin
    labels, seen = np.arange(batch.size) % 2 == 0, []
    for _ in range(2):
        stream, patience = _streams(seed, audit, batch)[1], Patience(FAILURES[batch.phase])
        sample = mechanism.draw(batch.pair, labels, stream, patience=patience)
        if sample.raised():
            return True
        seen.append(b"/".join(shown_keys(side).tobytes() for side in (sample.left, sample.right)))
    return seen[0] == seen[1]


# Processes that die or pass the time limit, after which a batch to learn from has told enough.
FAILURES = {Phase.CHECK: 1, Phase.SEARCH: 6, Phase.SELECTION: 25, Phase.SHRINK: 6}
