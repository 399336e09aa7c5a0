"""The store of a run: one SQLite file, to resume the run after an interruption, or to replay it without the mechanism.

Data that belong together are written in one transaction, so a run that is killed loses only the batches in flight. The
content is JSON and arrays, which run no code.
"""

import json
import sqlite3
import threading
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from auditor.errors import InvalidInputError, MachineError
from auditor.foreign_code import Stopped
from auditor.untrusted_files import require_file

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
                before, present = json.loads(open_run[0]), json.loads(json.dumps(identity))
                kept = dict(file.execute("SELECT name, content FROM inputs"))
                # A process that is used again may have imported more than the run needs.
                needed = {name: inputs.get(name) for name in kept}
                if differences := [*_differences(before, present), *_differences(kept, needed)]:
                    raise InvalidInputError(
                        f"the run kept in {self.path} cannot be resumed; this changed since it began:",
                        *(f"  {line}" for line in differences),
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


def _differences(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[str]:
    """Yield in words which entries of two identities differ."""
    for key in dict.fromkeys([*before, *after]):
        a, b = before.get(key), after.get(key)
        if isinstance(a, dict) and isinstance(b, dict):
            yield from (f"{key}, {inner}" for inner in _differences(a, b))
        elif a != b:
            yield f"{key}: {json.dumps(a, ensure_ascii=False)} before, {json.dumps(b, ensure_ascii=False)} now"


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
