"""The task of a worker: draw batches from the streams at their addresses, and observe them.

The address of a batch is a name (the audit's or a recount's, see ``Ledger.on_streams``), its phase and its number.
``stream`` makes a stream for the sides of outputs, and one for the mechanism. So outputs depend on the root seed and
the address alone, unless the mechanism has randomness or a memory of its own. There are three exceptions: the address
of a health check has no name, queries get ``default_rng(0)``, and ``Hosted.pieces`` derives another stream after a
failure.
"""

import functools
import hashlib
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import Any, Generic, NamedTuple, Self, TypeVar

import numpy as np

from auditor.blackbox.repeats import SHOWN, Calls, Keys, shown_keys
from auditor.blackbox.sample import Drawer, Labels, Patience, Sample, calls_of, changed_form
from auditor.errors import MechanismError
from auditor.interfaces import Source
from auditor.neighbours.pair import Lazy, Pair, Relation

T = TypeVar("T")
# The origin of outputs: a source that workers import, or an object that draws in a process of its own.
Origin = Source | Drawer


class Phase(IntEnum):
    """The purpose of outputs. No output serves two of them."""

    CHECK = 0
    SEARCH = 1
    SELECTION = 2
    BOUND = 3
    SHRINK = 4
    CONFIRM = 5  # the bound on the smallest pair


BOUNDS = Phase.BOUND, Phase.CONFIRM  # the outputs of other phases prove nothing

# The least number of calls on each side for a bound. With few calls, state that each call keeps could tell the sides
# apart by chance.
CALLS_OF_BOUND = 128


@dataclass(frozen=True, slots=True)
class Batch:
    """``size`` outputs on a pair, at an address of phase and number. ``one_by_one`` gives each output a call of its own."""

    pair: Pair
    size: int
    phase: Phase
    number: tuple[int, ...]
    one_by_one: bool = False
    form: str = ""  # the form of earlier batches; another form is an error
    share: float = 1.0  # the share of this batch in the outputs that are drawn together

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the batch with its pair as processes of a mechanism get it."""
        values = (self.size, self.phase, self.number, self.one_by_one, self.form, self.share)
        return Batch, (self.pair.to_send(), *values)

    @property
    def learning(self) -> bool:
        """Whether the outputs serve for learning, and not for a bound."""
        return self.phase not in BOUNDS

    @property
    def calls(self) -> int:
        """The least number of calls of the batch on each side. The batches of a bound together have CALLS_OF_BOUND."""
        return 1 if self.learning else math.ceil(CALLS_OF_BOUND * self.share)

    @property
    def label(self) -> str:
        """The name of the batch in errors, such as "bound batch 3"."""
        return f"{self.phase.name.lower()} batch {'.'.join(map(str, self.number))}"

    @property
    def name(self) -> str:
        """The name of the batch in a store: its address within the audit."""
        return "-".join([self.phase.name.lower(), *map(str, self.number)])


@dataclass(frozen=True, slots=True)
class Batches(Lazy[Batch]):
    """A number of outputs on one pair, in batches of one size. The last may be smaller."""

    first: Batch
    outputs: int

    @classmethod
    def of(cls, first: Batch, outputs: int) -> Self:
        """Return ``outputs`` outputs in batches like the first."""
        numbers = range(math.ceil(outputs / first.size))
        return cls(numbers, functools.partial(_batch_at, first, outputs), first, outputs)


def _batch_at(first: Batch, outputs: int, number: int) -> Batch:
    size = min(first.size, outputs - number * first.size)
    return replace(first, size=size, number=(*first.number[:-1], number))


class DrawnBatch(NamedTuple, Generic[T]):
    """A batch from a worker: the keys of the first outputs on each side (see shown_keys), and the observations."""

    left: Keys
    right: Keys
    seen: T


# After so many dead or hung processes, a batch of the phase ends, since enough is known to learn from.
FAILURES = {Phase.CHECK: 1, Phase.SEARCH: 6, Phase.SELECTION: 25, Phase.SHRINK: 6}
ALIKE = 3  # the part of an address that marks outputs with the same noise on both sides
COIN, NOISE, AGAIN = 0, 1, 2  # the uses of a stream: for sides, for the mechanism, for outputs that are drawn again


def rng_at(seed: int, *address: int) -> np.random.Generator:
    """Return the stream at an address. Equal seeds and addresses give equal random numbers."""
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed, spawn_key=address)))


def stream(seed: int, audit: str, batch: Batch, use: int) -> np.random.Generator:
    """Return a batch's stream for one use: COIN, NOISE or AGAIN. ``audit`` is the name in the address."""
    return rng_at(seed, _key(audit), batch.phase, *batch.number, use)


@functools.cache  # called for each stream of each batch
def _key(name: str) -> int:
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "big")


def draw_all(
    origin: Origin, seed: int, audit: str, observe: Callable[[Sample], T], batches: Sequence[Batch]
) -> tuple[list[DrawnBatch[T]], MechanismError | None, float]:
    """Draw the batches of a task. Return the batches drawn, the error that ended the task, and its seconds."""
    started, drawn, ended = time.perf_counter(), list[DrawnBatch[T]](), None
    try:
        mechanism = origin.drawer()
        for batch in batches:
            labels, learning = _labels(stream(seed, audit, batch, COIN), batch), batch.learning
            # Outputs to learn from prove nothing, so they may end early.
            patience = Patience(math.ceil(FAILURES[batch.phase] * batch.share)) if learning else None
            noise, one_by_one = stream(seed, audit, batch, NOISE), batch.one_by_one
            sample = mechanism.draw(batch.pair, labels, noise, batch.calls, one_by_one=one_by_one, patience=patience)
            if learning and mechanism.batched and not one_by_one and sample.raised():
                # To learn from, each output must be a value or a failure of its own.
                again = stream(seed, audit, batch, AGAIN)
                sample = mechanism.draw(batch.pair, labels, again, one_by_one=True, patience=patience)
                sample = replace(sample, redrawn=True)
            if batch.form and sample.form and batch.form != sample.form:
                raise changed_form(batch.form, sample.form)
            drawn.append(DrawnBatch(shown_keys(sample.left), shown_keys(sample.right), observe(sample)))
    except MechanismError as error:
        ended = error
    return drawn, ended, time.perf_counter() - started


def first_calls(seed: int, audit: str, batch: Batch) -> tuple[Labels, Calls]:
    """Return the labels of the first outputs of a batch, and the call of each output, if a call gives many outputs."""
    labels = _labels(stream(seed, audit, batch, COIN), batch)
    pieces = calls_of(labels, batch.calls)
    piece = np.repeat(np.arange(len(pieces)), [*map(len, pieces)])[: 4 * SHOWN]
    labels = labels[: 4 * SHOWN]
    is_second = labels != np.array([part[0] for part in pieces])[piece]
    return labels, np.unique(2 * piece + is_second, return_inverse=True)[1]


def _labels(rng: np.random.Generator, batch: Batch) -> Labels:
    """Return the side of each output, by fair coins. A search has half of each side, and a single data set is the left one."""
    if batch.pair.relation is Relation.ALONE:
        return np.ones(batch.size, np.bool_)
    if batch.phase is Phase.SEARCH:
        return np.asarray(rng.permutation(batch.size) % 2 == 0)
    coins = np.frombuffer(rng.bytes(math.ceil(batch.size / 8)), np.uint8)
    return np.unpackbits(coins, count=batch.size).view(np.bool_)


# A single output that takes more seconds is not drawn again. A program fails before, at 4 seconds.
LONG_CALL = 5.0


class Trial(NamedTuple):
    """Whether two draws from one stream are the ``same``, and the cost of an output: seconds and columns (``numbers``).

    ``values`` counts columns of the output's own values. ``constant``: all outputs of a side are equal decimals.
    """

    same: bool
    seconds: float = 0.0
    numbers: int = 0
    values: int = 0
    constant: bool = False


def draw_twice(origin: Origin, seed: int, audit: str, batch: Batch) -> Trial:
    """Draw twice from one stream. Draws count as equal if the mechanism raises, since an exception shows no difference.

    The time is that of the second draw, since the first may include the start of a program. A long call is not redone.
    """
    mechanism = origin.drawer()
    labels, observed = np.arange(batch.size) % 2 == 0, []
    for _ in range(2):
        noise, patience = stream(seed, audit, batch, NOISE), Patience(FAILURES[batch.phase])
        began = time.perf_counter()
        sample = mechanism.draw(batch.pair, labels, noise, patience=patience)
        about = (time.perf_counter() - began) / batch.size, len(sample.left.columns)
        if sample.raised():
            return Trial(True, about[0])
        if batch.size == 1 and about[0] > LONG_CALL:
            return Trial(True, *about)
        keys = [shown_keys(side) for side in (sample.left, sample.right)]
        observed.append(b"/".join(key.tobytes() for key in keys))
    places = [
        column for column in sample.left.columns if column.name.startswith("output") and " field " not in column.name
    ]
    decimals = any(bool(np.any(column.numbers[column.is_finite] % 1)) for column in places)
    constant = all(len(np.unique(key)) == 1 for key in keys)
    return Trial(observed[0] == observed[1], *about, len(places), constant and decimals)


def compare(origin: Origin, seed: int, audit: str, size: int, pairs: Sequence[Pair]) -> list[float]:
    """Return the distance of ``size`` outputs of either side of each pair. All pairs and sides have the same noise."""
    return [*origin.drawer().alike(pairs, rng_at(seed, _key(audit), Phase.CHECK, ALIKE, NOISE), size)]
