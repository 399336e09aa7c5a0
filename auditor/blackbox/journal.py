"""What is done of a run, kept so that a run which was interrupted goes on from there; and the reports of runs that ended.

One SQLite file. Whatever belongs together is written in one transaction, so that a run which is killed at any moment finds it
whole or not at all, and loses the batches in flight. Nothing in the file is ever run.
"""

import io
import json
import sqlite3
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from auditor.blackbox.mechanism import Sample
from auditor.blackbox.recording import packed, unpacked
from auditor.bounds.evidence import Counts, GuessCounts, ProfileCounts, ScoreCounts
from auditor.errors import InvalidInputError

SCHEMA = """
CREATE TABLE IF NOT EXISTS runs (
    number INTEGER PRIMARY KEY, started TEXT NOT NULL, ended TEXT, identity TEXT NOT NULL, report TEXT);
CREATE TABLE IF NOT EXISTS batches (
    audit TEXT, name TEXT, left_keys BLOB, right_keys BLOB, seen BLOB, PRIMARY KEY (audit, name)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS notes (audit TEXT, name TEXT, content TEXT, PRIMARY KEY (audit, name)) WITHOUT ROWID;
"""
VERSION = 1
KINDS = {kind.__name__: kind for kind in (Counts, GuessCounts, ScoreCounts, ProfileCounts)}


class Journal:
    """The file of a configuration's runs. One run at a time, and one process; its audits may write from several threads."""

    def __init__(self, path: Path) -> None:
        """Open the file, or make it. Raises InvalidInputError where that cannot be, or another run has it."""
        self._path, self._lock = path, threading.RLock()
        try:
            self._file: sqlite3.Connection | None = sqlite3.connect(path, timeout=1.0, check_same_thread=False)
            self._file.isolation_level = None  # transactions are begun where they are meant
            for pragma in ("locking_mode=EXCLUSIVE", "journal_mode=WAL", "synchronous=NORMAL"):
                self._file.execute(f"PRAGMA {pragma}")
            [(version,)] = self._file.execute("PRAGMA user_version")
            if version not in (0, VERSION):
                raise InvalidInputError(f"{path} has version {version}; this auditor reads {VERSION}: move it away")
            self._file.executescript(f"BEGIN EXCLUSIVE; {SCHEMA} PRAGMA user_version={VERSION}; COMMIT;")
        except sqlite3.Error as error:
            raise InvalidInputError(
                f"what is done cannot be kept in {path}: {error}; if another run is writing there, wait for it or use --out"
            ) from None

    def begin(self, identity: Mapping[str, Any], resume: bool) -> bool:
        """Begin a run, or go on with the one that was interrupted; return whether there was one to go on with.

        Raises InvalidInputError where that was another run, with what differs. Without ``resume`` it is forgotten.
        """
        with self._transaction() as file:
            open_run = file.execute("SELECT identity FROM runs WHERE ended IS NULL").fetchone()
            if resume and open_run is not None:
                differences = list(_differences(json.loads(open_run[0]), json.loads(json.dumps(identity))))
                if differences:
                    raise InvalidInputError(
                        f"the run kept in {self._path} cannot go on, for it was another:\n  "
                        + "\n  ".join(differences)
                        + "\nrun it as it was, or start anew without --resume"
                    )
                return True
            self._forget(file)
            file.execute("INSERT INTO runs (started, identity) VALUES (?, ?)", (_now(), json.dumps(identity)))
            return False

    def audit(self, name: str) -> "AuditJournal":
        """Return the part of one audit of the run."""
        return AuditJournal(self, name)

    def end(self, report: str) -> None:
        """Keep the report of the run, and nothing else of it."""
        with self._transaction() as file:
            file.execute("UPDATE runs SET ended = ?, report = ? WHERE ended IS NULL", (_now(), report))
            self._forget(file)
        with self._lock:
            if self._file is not None:
                self._file.execute("VACUUM")

    def close(self) -> None:
        """Write nothing more, whatever audits are still doing."""
        with self._lock:
            if self._file is not None:
                self._file.close()
            self._file = None

    @staticmethod
    def _forget(file: sqlite3.Connection) -> None:
        for table in ("batches", "notes"):
            file.execute(f"DELETE FROM {table}")
        file.execute("DELETE FROM runs WHERE ended IS NULL")

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with self._lock:
            if self._file is None:
                raise KeyboardInterrupt  # a run that was interrupted; what its audits still do is in vain
            self._file.execute("BEGIN IMMEDIATE")
            try:
                yield self._file
            except BaseException:
                self._file.execute("ROLLBACK")
                raise
            self._file.execute("COMMIT")


def history(path: Path) -> list[tuple[str, str]]:
    """Return when each run ended, and its report as JSON, the earliest first; nothing where there is no such file."""
    if not path.is_file():
        return []
    file = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)
    try:
        return file.execute("SELECT ended, report FROM runs WHERE ended IS NOT NULL ORDER BY number").fetchall()
    finally:
        file.close()


@dataclass(frozen=True, slots=True)
class AuditJournal:
    """What is done of one audit."""

    journal: Journal
    name: str

    def keep(self, batches: Mapping[str, tuple[Any, Any, Any]], notes: Mapping[str, Any] | None = None) -> None:
        """Keep batches by address, each the keys of either side and what was observed, and notes; all at once or nothing."""
        with self.journal._transaction() as file:
            file.executemany(
                "INSERT OR REPLACE INTO batches VALUES (?, ?, ?, ?, ?)",
                [
                    (self.name, at, left.tobytes(), right.tobytes(), encode(seen))
                    for at, (left, right, seen) in batches.items()
                ],
            )
            file.executemany(
                "INSERT OR REPLACE INTO notes VALUES (?, ?, ?)",
                [(self.name, name, encode(content)) for name, content in (notes or {}).items()],
            )

    def kept(self, address: str) -> tuple[Any, Any, Any] | None:
        """Return a batch as it was kept; None where it was not."""
        with self.journal._transaction() as file:
            row = file.execute(
                "SELECT left_keys, right_keys, seen FROM batches WHERE audit = ? AND name = ?", (self.name, address)
            ).fetchone()
        return None if row is None else (*(np.frombuffer(keys, np.uint64) for keys in row[:2]), decode(row[2]))

    def noted(self, name: str) -> Any:
        """Return a note; None where there is none."""
        with self.journal._transaction() as file:
            row = file.execute("SELECT content FROM notes WHERE audit = ? AND name = ?", (self.name, name)).fetchone()
        return None if row is None else decode(row[0])


def encode(value: Any) -> bytes:
    """Return plain data, counts or a sample as bytes, exactly.

    >>> decode(encode((Counts(1, 2, 0, 3), [0.1, None])))
    (Counts(hits_left=1, trials_left=2, hits_right=0, trials_right=3), [0.1, None])
    """
    return packed(value, "") if isinstance(value, Sample) else json.dumps(_tagged(value)).encode()


def decode(content: bytes) -> Any:
    """Return what was encoded."""
    if content.startswith(b"PK"):
        return unpacked(io.BytesIO(content))[1]
    return json.loads(content, object_hook=_untagged)


def _tagged(value: Any) -> Any:
    if isinstance(value, tuple):
        return {"tuple": [_tagged(item) for item in value]}
    if isinstance(value, list):
        return [_tagged(item) for item in value]
    if isinstance(value, dict):
        return {"dict": [[key, _tagged(item)] for key, item in value.items()]}
    if type(value).__name__ in KINDS:
        return {type(value).__name__: [_tagged(getattr(value, field)) for field in value.__slots__]}
    return value.item() if isinstance(value, np.generic) else value


def _untagged(data: dict[str, Any]) -> Any:
    [(kind, content)] = data.items()
    if kind == "tuple":
        return tuple(content)
    return dict(content) if kind == "dict" else KINDS[kind](*content)


def _differences(before: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[str]:
    """Say in words which entries of two identities differ."""
    for key in dict.fromkeys([*before, *now]):
        a, b = before.get(key), now.get(key)
        if isinstance(a, dict) and isinstance(b, dict):
            yield from (f"{key}, {told}" for told in _differences(a, b))
        elif a != b:
            yield f"{key}: {json.dumps(a, ensure_ascii=False)} before, {json.dumps(b, ensure_ascii=False)} now"


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
