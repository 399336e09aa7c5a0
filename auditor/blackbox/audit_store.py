"""What one audit keeps in the file of its run, and reads from it: batches, answers, and what was found once."""

import functools
import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any, TypeVar

import numpy as np

from auditor.blackbox.batches import Batch, DrawnBatch, Phase
from auditor.blackbox.encoding import decode, encode, packed
from auditor.blackbox.sample import Answers, Sample
from auditor.blackbox.store import Store
from auditor.errors import AuditorError, InvalidInputError, MechanismError, how_many
from auditor.neighbours.pair import Pair, plain

T = TypeVar("T")

# The name of the note that says why a recorded run stopped drawing.
ENDED = "ended"


class Mode(Enum):
    """Which data of an audit are stored or read."""

    NOTHING = auto()
    RESUME = auto()  # observations, so that the same run can go on
    RECORD = auto()  # outputs and answers, for a replay
    REPLAY = auto()  # outputs and answers are read, and no mechanism runs


@dataclass(frozen=True, slots=True)
class AuditStore:
    """The stored data of one audit, to write or to read. By default nothing is stored."""

    mode: Mode = Mode.NOTHING
    file: Store | None = None
    audit: str = ""

    @property
    def resumes(self) -> bool:
        """Whether only observations are kept, and not the outputs."""
        return self.mode is Mode.RESUME

    @property
    def _has_outputs(self) -> bool:
        return self.mode in (Mode.RECORD, Mode.REPLAY)

    def recalls(self, name: str) -> bool:
        """Whether ``recall`` computes nothing, since the data are stored or this is a replay."""
        return self.mode is Mode.REPLAY or self._note(name) is not None

    def recall(self, name: str, find: Callable[[], T], unrecorded: T | None = None) -> T:
        """Return plain data from the store. If there are none, compute them by ``find`` and store them.

        A recording also stores a MechanismError of ``find``, and its replay raises it again. A replay without the data
        returns ``unrecorded``, or if this is None, raises InvalidInputError, or MechanismError if the run had stopped.
        """
        kept = self._note(name)
        if kept is not None:
            return self._decoded(kept, name)  # type: ignore[no-any-return]
        if self.mode is Mode.REPLAY:
            if unrecorded is not None:
                return unrecorded
            raise self._missing(name)
        try:
            value = find()
        except MechanismError as error:
            if self.mode is Mode.RECORD:
                self.keep(notes={name: MechanismError(*error.args)})  # no other class is decoded as an error
            raise
        self.keep(notes={name: value})
        return value

    def happens(self, name: str, at: int, test: Callable[[], bool]) -> bool:
        """Return whether a test that depends on the clock holds at a point. A replay returns whether it held there."""
        if self.mode is Mode.REPLAY:
            kept = self._note(name)
            return kept is not None and self._decoded(kept, name) == at
        if so := test():
            self.keep(notes={name: at})
        return so

    def answers(self, pairs: Sequence[Pair], ask: Callable[[Sequence[Pair]], Iterator[Answers]]) -> Iterator[Answers]:
        """Yield the answers of a query on each pair. ``ask`` answers for the pairs that are not kept."""
        if not self._has_outputs:
            yield from ask(pairs)
            return
        names = [f"answers on {_digest(pair).hex()}" for pair in pairs]
        unknown = [pair for pair, name in zip(pairs, names, strict=True) if self._note(name) is None]
        asked = ask(unknown) if unknown else iter(())
        for name in names:
            yield self.recall(name, lambda: _plain(next(asked)))
        next(asked, None)  # ends the generator, so that the process of the query becomes idle again

    def batch(self, batch: Batch, observe: Callable[[Sample], T]) -> DrawnBatch[T] | None:
        """Return a batch from the store, or None.

        Raises MechanismError if the mechanism broke the protocol in the batch, or if the recorded run stopped before.
        Raises InvalidInputError if a replay has no such batch, or a batch of another pair, or one no auditor wrote.
        """
        rows = self._rows("SELECT left_keys, right_keys, seen FROM batches WHERE audit = ? AND name = ?", batch.name)
        what = f"batch {batch.name}"
        if not rows:
            if self.mode is Mode.REPLAY:
                raise self._missing(what)
            return None
        [(left, right, content)] = rows
        if self._has_outputs:
            sample = self._of_pair(content, batch.pair, what)
            if sample.size != batch.size:
                raise self._error(f"{what} has {how_many(sample.size, 'output')} where {batch.size:,} were drawn")
            observed = observe(sample)
        else:
            observed = self._decoded(content, what)
        return DrawnBatch(np.frombuffer(left, np.uint64), np.frombuffer(right, np.uint64), observed)

    def has(self, phase: Phase, number: int) -> bool:
        """Whether any outputs of a phase of a round are recorded."""
        return bool(self._names(f"{phase.name.lower()}-{number}-"))

    def samples(self, phase: Phase, number: int, pair: Pair) -> Iterator[Sample]:
        """Yield the recorded outputs of a phase of one round on its pair, in order. Raises InvalidInputError for another pair."""
        start = f"{phase.name.lower()}-{number}-"
        rest = [name.removeprefix(start) for name in self._names(start)]
        for batch in sorted(int(number) for number in rest if "-" not in number):
            [(content,)] = self._rows("SELECT seen FROM batches WHERE audit = ? AND name = ?", f"{start}{batch}")
            yield self._of_pair(content, pair, f"batch {start}{batch}")

    def _of_pair(self, content: bytes, pair: Pair, what: str) -> Sample:
        digest = _digest(pair)  # stands before the outputs of a batch
        if not content.startswith(digest):
            raise self._error(f"{what} was recorded on a pair other than {pair.to_dict()}")
        sample = self._decoded(content[len(digest) :], what)
        if not isinstance(sample, Sample):
            raise self._error(f"{what} holds no outputs")
        return sample

    @contextmanager
    def name_the_cause(self) -> Iterator[None]:
        """Raise InvalidInputError that blames the file for any error in a replay, since anybody may have written it."""
        try:
            yield
        except Exception as error:
            if isinstance(error, AuditorError) or self.mode is not Mode.REPLAY:
                raise
            raise self._error(f"what was recorded is not of this audit ({type(error).__name__}: {error})") from error

    def observer(self, observe: Callable[[Sample], T]) -> Callable[[Sample], Any]:
        """Return the function that workers apply to each sample, for ``record``."""
        return functools.partial(_observed_and_packed, observe) if self.mode is Mode.RECORD else observe

    def record(
        self,
        group: Sequence[tuple[Batch, DrawnBatch[Any]]],
        failed: Batch | None = None,
        error: MechanismError | None = None,
    ) -> Sequence[tuple[Batch, DrawnBatch[Any]]]:
        """Return the observations of batches from workers. A recording stores samples, and the next batch's error."""
        if self.mode is not Mode.RECORD:
            return group
        nothing = np.empty(0, np.uint64)
        kept = [(batch, drawn._replace(seen=drawn.seen[1])) for batch, drawn in group]
        if failed is not None:
            kept.append((failed, DrawnBatch(nothing, nothing, encode(error))))
        self._write([(batch, drawn._replace(seen=_digest(batch.pair) + drawn.seen)) for batch, drawn in kept], {})
        return [(batch, drawn._replace(seen=drawn.seen[0])) for batch, drawn in group]

    def keep(
        self, batches: Iterable[tuple[Batch, DrawnBatch[Any]]] = (), notes: Mapping[str, Any] | None = None
    ) -> None:
        """Store notes and, for a run that can be resumed, the observations of batches: either all or none."""
        observed = [(batch, drawn._replace(seen=encode(drawn.seen))) for batch, drawn in batches if self.resumes]
        self._write(observed, notes or {})

    def end(self, why: str) -> None:
        """Note why nothing more is drawn. A replay reports this if a batch is missing."""
        self.keep(notes={ENDED: why})

    def close(self) -> None:
        """Close the file."""
        if self.file is not None:
            self.file.close()

    def _write(self, batches: Iterable[tuple[Batch, DrawnBatch[bytes]]], notes: Mapping[str, Any]) -> None:
        if self.file is None or self.mode is Mode.REPLAY:
            return
        with self.file.transaction() as file:
            for batch, (left, right, observed) in batches:
                row = self.audit, batch.name, left.tobytes(), right.tobytes(), observed
                file.execute("INSERT OR REPLACE INTO batches VALUES (?, ?, ?, ?, ?)", row)
            for name, content in notes.items():
                file.execute("INSERT OR REPLACE INTO notes VALUES (?, ?, ?)", (self.audit, name, encode(content)))

    def _rows(self, query: str, *values: str | int) -> list[tuple[Any, ...]]:
        return [] if self.file is None else self.file.rows(query, self.audit, *values)

    def _names(self, start: str) -> list[str]:
        query = "SELECT name FROM batches WHERE audit = ? AND substr(name, 1, ?) = ?"
        return [name for (name,) in self._rows(query, len(start), start)]

    def _note(self, name: str) -> Any:
        rows = self._rows("SELECT content FROM notes WHERE audit = ? AND name = ?", name)
        return rows[0][0] if rows else None

    def _decoded(self, content: Any, what: str) -> Any:
        """Return stored data. Raise the data if they are a MechanismError."""
        try:
            value = decode(content)
        except Exception as error:
            raise self._error(
                f"{what} cannot be read, so the file was changed ({type(error).__name__}: {error})"
            ) from None
        if isinstance(value, MechanismError):
            raise value
        return value

    def _missing(self, what: str) -> InvalidInputError | MechanismError:
        ended = self._note(ENDED)
        if ended is not None:
            return MechanismError(self._decoded(ended, ENDED))
        return self._error(f"{what} is missing: the recorded run ended too early, or the file was changed")

    def _error(self, what: str) -> InvalidInputError:
        assert self.file is not None
        return InvalidInputError(f'{self.file.path}, audit "{self.audit}": {what}; record anew')


def _observed_and_packed(observe: Callable[[Sample], T], sample: Sample) -> tuple[T, bytes]:
    return observe(sample), packed(sample, np.savez_compressed)


def _plain(answers: Answers) -> Answers:
    a, b, c, d = (answer if isinstance(answer, BaseException) else plain(answer) for answer in answers)
    return a, b, c, d


def _digest(pair: Pair) -> bytes:
    # The pair is written as in a report, so that it can be compared with the pair of a report.
    return hashlib.sha256(json.dumps(pair.to_dict()).encode()).digest()
