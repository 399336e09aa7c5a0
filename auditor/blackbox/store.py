"""The store of a run: one SQLite file, to resume the run after an interruption, or to replay it without the mechanism.

Data that belong together are written in one transaction, so a run that is killed loses only the batches in flight. The
content is JSON and arrays, which run no code.
"""

import functools
import hashlib
import io
import json
import sqlite3
import threading
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import Enum, auto
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from auditor.blackbox.batches import Batch, DrawnBatch, Phase
from auditor.blackbox.outputs import NUMBER, OutputColumn, Outputs
from auditor.blackbox.sample import SIDES, Answers, Sample
from auditor.bounds.evidence import Counts, GuessCounts, ProfileCounts, ScoreCounts
from auditor.errors import AuditorError, InvalidInputError, MachineError, MechanismError, how_many
from auditor.foreign_code import Stopped
from auditor.neighbours.pair import Pair, Side, plain
from auditor.untrusted_files import DEEPEST, require_file, require_shallow

T = TypeVar("T")


SCHEMA = """
CREATE TABLE IF NOT EXISTS runs (
    number INTEGER PRIMARY KEY, started TEXT NOT NULL, ended TEXT, identity TEXT NOT NULL, report TEXT);
CREATE TABLE IF NOT EXISTS batches (
    audit TEXT, name TEXT, left_keys BLOB, right_keys BLOB, seen BLOB, PRIMARY KEY (audit, name)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS notes (audit TEXT, name TEXT, content TEXT, PRIMARY KEY (audit, name)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS inputs (name TEXT PRIMARY KEY, content TEXT) WITHOUT ROWID;
"""
VERSION = 2
# The exceptions of SQLite for a spoilt file. The text of an error may quote bytes of the file that are not UTF-8.
SPOILT = (sqlite3.Error, UnicodeDecodeError)
# The name of the note that says why a recorded run stopped drawing.
ENDED = "ended"
COUNTS = {kind.__name__: kind for kind in (Counts, GuessCounts, ScoreCounts, ProfileCounts)}
# Limits of one sample, since a few bytes of an archive can stand for any number of zeros.
MOST_BYTES, MOST_OUTPUTS = 1 << 31, 1 << 26


class _OtherVersionError(sqlite3.DatabaseError):
    """A file that another version of the auditor wrote."""


class Store:
    """The file of a configuration's runs, or of a recording. Audits may write from several threads of one process."""

    def __init__(self, path: Path, *, reading: bool = False) -> None:
        """Open the file. Make it if there is none, unless it is only for ``reading``.

        Raises InvalidInputError if this fails or another run has the file, and MachineError if there is no room.
        """
        self.path, self._lock = path, threading.RLock()
        self._file: sqlite3.Connection | None = None
        try:
            if reading:
                require_file(path)
            self._open(reading)
        except (*SPOILT, InvalidInputError) as error:
            self.close()
            code = getattr(error, "sqlite_errorcode", 0) & 0xFF
            if not reading and isinstance(error, _OtherVersionError):
                raise InvalidInputError(
                    f"finished work cannot be kept in {path}: {error}; use that auditor, name another folder by --out, or remove "
                    "the file, which forgets the violations of earlier runs"
                ) from None
            if not reading and code in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR):
                raise MachineError(f"{path} cannot be written: {error}") from None
            raise InvalidInputError(
                f"{path} cannot be read: {error}; record anew"
                if reading
                else f"finished work cannot be kept in {path}: {error}; if another run is writing there, wait for it or use --out"
            ) from None

    def _open(self, reading: bool) -> None:
        uri = f"{self.path.resolve().as_uri()}?mode={'rw' if reading else 'rwc'}"
        self._file = file = sqlite3.connect(uri, uri=True, timeout=1.0, check_same_thread=False)
        file.isolation_level = None  # transactions begin only where the code says so
        if not reading:
            for pragma in ("locking_mode=EXCLUSIVE", "journal_mode=WAL", "synchronous=NORMAL"):
                file.execute(f"PRAGMA {pragma}")
        [(version,)] = file.execute("PRAGMA user_version")
        if version not in ((VERSION,) if reading else (0, VERSION)):
            raise _OtherVersionError(f"its version is {version}, and this auditor reads {VERSION}")
        if not reading:
            file.executescript(f"BEGIN EXCLUSIVE; {SCHEMA} PRAGMA user_version={VERSION}; COMMIT;")
        with closing(sqlite3.connect(":memory:")) as own:
            own.executescript(SCHEMA)
            if _tables(file) != _tables(own):
                # A view or a computed column could run forever.
                raise sqlite3.DatabaseError("it has other tables than this auditor writes")

    def begin(self, identity: Mapping[str, Any], resume: bool, inputs: Mapping[str, str] | None = None) -> bool:
        """Begin a run, or with ``resume`` go on with an interrupted one. Return whether there was one to go on with.

        ``inputs`` are digests by name. Those of the interrupted run must be unchanged. Without ``resume``, that run is
        deleted. Raises InvalidInputError that lists the differences if the interrupted run was another one.
        """
        inputs = inputs or {}
        with self.transaction() as file:
            open_run = file.execute("SELECT identity FROM runs WHERE ended IS NULL").fetchone()
            if resume and open_run is not None:
                before, now = json.loads(open_run[0]), json.loads(json.dumps(identity))
                kept = dict(file.execute("SELECT name, content FROM inputs"))
                # A process that is used again may have imported more than the run needs.
                needed = {name: inputs.get(name) for name in kept}
                if found := [*_differences(before, now), *_differences(kept, needed)]:
                    raise InvalidInputError(
                        f"the run kept in {self.path} cannot be resumed; this changed since it began:",
                        *(f"  {line}" for line in found),
                        "run it as it was, or start anew without --resume",
                    )
                return True
            self._forget(file)
            file.execute("INSERT INTO runs (started, identity) VALUES (?, ?)", (_now(), json.dumps(identity)))
            file.executemany("INSERT INTO inputs VALUES (?, ?)", inputs.items())
            return False

    @property
    def interrupted(self) -> bool:
        """Whether there is a run that did not end."""
        return bool(self.rows("SELECT 1 FROM runs WHERE ended IS NULL"))

    def enter(self, report: str) -> None:
        """Enter a report as that of a run that ended, unless the last run has just this report. No run is under way."""
        if next(self.reports(), None) != report:
            with self.transaction() as file:
                values = _now(), _now(), "{}", report
                file.execute("INSERT INTO runs (started, ended, identity, report) VALUES (?, ?, ?, ?)", values)

    def reports(self) -> Iterator[str]:
        """Yield the reports of the runs that ended, the last one first."""
        for (number,) in self.rows("SELECT number FROM runs WHERE report IS NOT NULL ORDER BY number DESC"):
            [(report,)] = self.rows("SELECT report FROM runs WHERE number = ?", number)
            yield str(report)

    def end(self, report: str) -> None:
        """Keep the report of the run, and nothing else of it."""
        with self.transaction() as file:
            file.execute("UPDATE runs SET ended = ?, report = ? WHERE ended IS NULL", (_now(), report))
            self._forget(file)
        with self._opened() as file, suppress(sqlite3.OperationalError):  # VACUUM itself needs room
            file.execute("VACUUM")

    def close(self) -> None:
        """Close the file, even if audits still run. They get Stopped at their next access."""
        with self._lock:
            if self._file is not None:
                with suppress(*SPOILT):  # in this mode the file can be read from a disk that is read-only
                    self._file.execute("PRAGMA journal_mode=DELETE")
                self._file.close()
            self._file = None

    @staticmethod
    def _forget(file: sqlite3.Connection) -> None:
        for rows in ("batches", "notes", "inputs", "runs WHERE ended IS NULL"):
            file.execute(f"DELETE FROM {rows}")

    @contextmanager
    def _opened(self) -> Iterator[sqlite3.Connection]:
        with self._lock:
            if self._file is None:
                raise Stopped  # the audits of a closed file must end
            yield self._file

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """Keep either all changes of the block or none."""
        with self._opened() as file:
            try:
                file.execute("BEGIN IMMEDIATE")
                try:
                    yield file
                    file.execute("COMMIT")
                except BaseException:
                    if file.in_transaction:  # an error of the disk may have ended the transaction
                        file.execute("ROLLBACK")
                    raise
            except sqlite3.OperationalError as error:
                raise MachineError(f"{self.path} cannot be written: {error}") from None

    def rows(self, query: str, *values: str | int) -> list[tuple[Any, ...]]:
        """Return the rows that a query finds. Raises InvalidInputError if the file cannot be read."""
        with self._opened() as file:
            try:
                return file.execute(query, values).fetchall()
            except SPOILT as error:
                raise InvalidInputError(f"{self.path} cannot be read: {error}; record anew") from None


def _tables(file: sqlite3.Connection) -> set[tuple[str, str]]:
    """Return the type and the SQL of each table, view, index and trigger of a file."""
    return set(file.execute("SELECT type, sql FROM sqlite_master WHERE sql IS NOT NULL"))


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
            seen = observe(sample)
        else:
            seen = self._decoded(content, what)
        return DrawnBatch(np.frombuffer(left, np.uint64), np.frombuffer(right, np.uint64), seen)

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
            for batch, (left, right, seen) in batches:
                row = self.audit, batch.name, left.tobytes(), right.tobytes(), seen
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


def _differences(before: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[str]:
    """Yield in words which entries of two identities differ."""
    for key in dict.fromkeys([*before, *now]):
        a, b = before.get(key), now.get(key)
        if isinstance(a, dict) and isinstance(b, dict):
            yield from (f"{key}, {inner}" for inner in _differences(a, b))
        elif a != b:
            yield f"{key}: {json.dumps(a, ensure_ascii=False)} before, {json.dumps(b, ensure_ascii=False)} now"


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


# --- Plain data, counts, samples and failures as bytes and back, without loss ---


def encode(value: Any) -> bytes:
    """Return plain data, counts, an exception or a sample as bytes.

    >>> decode(encode((Counts(1, 2, 0, 3), [0.1, None])))
    (Counts(hits_left=1, trials_left=2, hits_right=0, trials_right=3), [0.1, None])
    """
    return packed(value) if isinstance(value, Sample) else json.dumps(_tagged(value)).encode()


def decode(content: bytes) -> Any:
    """Return what was encoded. An exception keeps its name and text, but only a MechanismError keeps its class.

    For other bytes, it raises any Exception of the readers of archives, arrays and JSON.
    """
    if content.startswith(b"PK"):  # an archive
        return unpacked(content)
    require_shallow(content, 3 * DEEPEST)  # each dict is encoded as an object and two lists
    return json.loads(content, object_hook=_untagged)


def _tagged(value: Any) -> Any:
    if isinstance(value, tuple):
        return {"tuple": [_tagged(item) for item in value]}
    if isinstance(value, list):
        return [_tagged(item) for item in value]
    if isinstance(value, dict):
        return {"dict": [[key, _tagged(item)] for key, item in value.items()]}
    if isinstance(value, BaseException):
        return {"raised": [type(value).__name__, str(value)]}
    if type(value).__name__ in COUNTS:
        return {type(value).__name__: [_tagged(getattr(value, field)) for field in value.__slots__]}
    return value.item() if isinstance(value, np.generic) else value


def _untagged(data: dict[str, Any]) -> Any:
    [(kind, content)] = data.items()
    match kind:
        case "tuple":
            return tuple(content)
        case "dict":
            return dict(content)
        case "raised":
            name, text = content
            return MechanismError(text) if name == MechanismError.__name__ else type(name, (Exception,), {})(text)
    return COUNTS[kind](*content)


def packed(sample: Sample, save: Callable[..., None] = np.savez) -> bytes:
    """Return a sample as bytes: an archive of arrays, as ``save`` writes it."""
    arrays, sides = dict[str, Any](), {}
    for side, outputs in zip(SIDES, (sample.left, sample.right), strict=True):
        sides[side] = {"size": outputs.size, "columns": [(c.name, c.atoms) for c in outputs.columns]}
        for i, column in enumerate(outputs.columns):
            for part in ("numbers", "codes"):
                if (array := getattr(column, part)) is not None:
                    # If all cells are one cell in memory, only this cell is written.
                    arrays[f"{side} {i} {part}"] = array if array.size == 0 or array.strides[0] else array[:1]
    about = {"form": sample.form, "calls": sample.calls, "redrawn": sample.redrawn, "failures": sample.failures}
    meta = json.dumps({"sides": sides, "sample": about})
    file = io.BytesIO()
    save(file, meta=np.frombuffer(meta.encode(), np.uint8), **arrays)
    return file.getvalue()


def unpacked(content: bytes) -> Sample:
    """Return the sample that was packed. Raises an Exception of any class for other bytes."""
    with zipfile.ZipFile(io.BytesIO(content)) as members:
        if sum(member.file_size for member in members.infolist()) > MOST_BYTES:
            raise ValueError(f"it has arrays of more than {MOST_BYTES:,} bytes")
    with np.load(io.BytesIO(content), allow_pickle=False) as archive:
        meta = json.loads(archive["meta"].tobytes())
        left, right = (_outputs(archive, side, meta["sides"][side]) for side in SIDES)
        about = meta["sample"]
        return Sample(
            left, right, str(about["form"]), int(about["calls"]), bool(about["redrawn"]), int(about["failures"])
        )


def _outputs(archive: Any, side: Side, meta: Any) -> Outputs:
    size = int(meta["size"])
    if not 0 <= size <= MOST_OUTPUTS:  # a single cell can stand for all outputs
        raise ValueError(f"it has {size:,} outputs on a side, and {MOST_OUTPUTS:,} are the limit")
    columns = []
    for i, (name, atoms) in enumerate(meta["columns"]):
        numbers, codes = (
            _cells(archive, f"{side} {i} {part}", kind, size) for part, kind in (("numbers", "f8"), ("codes", "i4"))
        )
        known = codes is None or not codes.size or NUMBER <= codes.min() <= codes.max() < len(atoms)
        if numbers is None or not known:
            raise ValueError(f'column "{name}" has no numbers, or codes without atoms')
        columns.append(OutputColumn(str(name), numbers, codes, tuple(map(str, atoms))))
    return Outputs(size, tuple(columns))


def _cells(archive: Any, name: str, kind: str, size: int) -> Any:
    if name not in archive:
        return None
    array = archive[name]
    if array.dtype != np.dtype(kind) or array.ndim != 1 or len(array) not in (1, size):
        raise ValueError(f'"{name}" is {array.dtype} of shape {array.shape}, where {size} outputs were recorded')
    return array if len(array) == size else np.broadcast_to(array[0], (size,))
