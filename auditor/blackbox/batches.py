"""What a worker does: draw a batch from the streams at its address, and observe it.

Every batch has an address (audit, phase, pair, batch number), and from it, through
``numpy.random.SeedSequence``, two streams of its own: one for the fair coin that picks the side of each trial,
which the mechanism cannot touch, and one that is handed to the mechanism. What a batch holds therefore depends
on the root seed and its address alone.
"""

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import Generic, NamedTuple, TypeVar, overload

import numpy as np

from auditor.blackbox.repeats import Keys, shown_keys
from auditor.blackbox.sample import Drawer, Labels, Origin, Patience, Sample, changed_form
from auditor.errors import MechanismError
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
    share: float = 1.0  # of the outputs that are drawn together

    @property
    def learning(self) -> bool:
        """Whether its outputs are learned from, and nothing is proved by them."""
        return self.phase not in (Phase.BOUND, Phase.CONFIRM)

    @property
    def label(self) -> str:
        """The batch as errors call it, such as "bound batch 3"."""
        return f"{self.phase.name.lower()} batch {'.'.join(map(str, self.number))}"

    @property
    def name(self) -> str:
        """The name of the batch where it is kept: its address within the audit."""
        return "-".join([self.phase.name.lower(), *map(str, self.number)])


@dataclass(frozen=True, slots=True)
class Batches(Sequence[Batch]):
    """A number of outputs on one pair, cut into batches of one size but for the last; none is kept in memory."""

    first: Batch
    outputs: int
    part: range | None = None  # which of them these are; all without

    @property
    def numbers(self) -> range:
        """The numbers of these batches."""
        return range(math.ceil(self.outputs / self.first.size)) if self.part is None else self.part

    def __len__(self) -> int:
        return len(self.numbers)

    @overload
    def __getitem__(self, at: int) -> Batch: ...

    @overload
    def __getitem__(self, at: slice) -> "Batches": ...

    def __getitem__(self, at: int | slice) -> "Batch | Batches":
        if isinstance(at, slice):
            return replace(self, part=self.numbers[at])
        one, number = self.first, self.numbers[at]
        size = min(one.size, self.outputs - number * one.size)
        address = (*one.number[:-1], number)
        return Batch(one.pair, size, one.phase, address, one.one_by_one, one.form, one.share)


class Drawn(NamedTuple, Generic[T]):
    """A batch as it comes from a worker: the keys of the first outputs on either side, and what was observed."""

    left: Keys
    right: Keys
    seen: T


def _stream(seed: int, audit: int, batch: Batch, use: int) -> np.random.Generator:
    """Return a stream of a batch, by what it is used for: COIN, NOISE, or AGAIN."""
    address = np.random.SeedSequence(seed, spawn_key=(audit, batch.phase, *batch.number, use))
    return np.random.Generator(np.random.PCG64(address))


COIN, NOISE, AGAIN = 0, 1, 2  # AGAIN is for outputs that are drawn again


def draw_all(
    origin: Origin, seed: int, audit: int, observe: Callable[[Sample], T], batches: Sequence[Batch]
) -> tuple[list[Drawn[T]], MechanismError | None, float]:
    """Draw the batches of a task; return what was drawn, the error at which that ended, and the seconds that it took."""
    started, drawn, ended = time.perf_counter(), list[Drawn[T]](), None
    try:
        mechanism = origin.drawer()
        for batch in batches:
            drawn.append(_draw(mechanism, seed, audit, batch, observe))
    except MechanismError as error:
        ended = error
    return drawn, ended, time.perf_counter() - started


def _draw(mechanism: Drawer, seed: int, audit: int, batch: Batch, observe: Callable[[Sample], T]) -> Drawn[T]:
    sample = _sample(mechanism, seed, audit, batch)
    if batch.form and sample.form and batch.form != sample.form:
        raise changed_form(batch.form, sample.form)
    return Drawn(shown_keys(sample.left), shown_keys(sample.right), observe(sample))


def _labels(coin: np.random.Generator, size: int) -> Labels:
    """Toss a fair coin for each trial: the bits of random bytes."""
    bits = np.unpackbits(np.frombuffer(coin.bytes(-(-size // 8)), np.uint8), count=size)
    return bits.view(np.bool_)


def _sample(mechanism: Drawer, seed: int, audit: int, batch: Batch) -> Sample:
    labels = _labels(_stream(seed, audit, batch, COIN), batch.size)
    if batch.pair.relation is Relation.ALONE:
        labels[:] = True
    # To learn from, each output must be a value or a failure of its own. Nothing is proved by these, so that there may be few.
    learning = batch.learning
    patience = Patience(math.ceil(FAILURES[batch.phase] * batch.share)) if learning else None
    sample = mechanism.draw(
        batch.pair, labels, _stream(seed, audit, batch, NOISE), one_by_one=batch.one_by_one, patience=patience
    )
    if learning and mechanism.batched and not batch.one_by_one and sample.raised():
        again = _stream(seed, audit, batch, AGAIN)
        sample = replace(mechanism.draw(batch.pair, labels, again, one_by_one=True, patience=patience), redrawn=True)
    return sample


def draws_the_same_twice(origin: Origin, seed: int, audit: int, batch: Batch) -> bool:
    """Whether two draws from one stream give the same; also where the mechanism raises, for which nothing is to be seen."""
    mechanism = origin.drawer()
    labels, seen = np.arange(batch.size) % 2 == 0, []
    for _ in range(2):
        stream, patience = _stream(seed, audit, batch, NOISE), Patience(FAILURES[batch.phase])
        sample = mechanism.draw(batch.pair, labels, stream, patience=patience)
        if sample.raised():
            return True
        seen.append(b"/".join(shown_keys(side).tobytes() for side in (sample.left, sample.right)))
    return seen[0] == seen[1]


# Processes that die or pass the time limit, after which enough is known of a batch to learn from.
FAILURES = {Phase.CHECK: 1, Phase.SEARCH: 6, Phase.SELECTION: 25, Phase.SHRINK: 6}
