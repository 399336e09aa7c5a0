"""Outputs kept in a folder, so that the statistics can be run again without the mechanism.

A file for each batch, by its address. Files are arrays and JSON only: reading one never runs what stands in it.
"""

import hashlib
import io
import json
import os
import re
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from auditor.blackbox.mechanism import SIDES, Answers, Query, Sample
from auditor.blackbox.outputs import NUMBER, Column, Outputs
from auditor.errors import InvalidInputError, MechanismError
from auditor.neighbours.pair import Pair, Side, plain

START, ENDED, ANSWERS = "start", "ended", "answers"


@dataclass(frozen=True, slots=True)
class Recording:
    """The folder of one audit; ``replaying`` reads it, and otherwise it is written."""

    folder: str
    replaying: bool = False

    def write(self, name: str, pair: Pair, sample: Sample) -> None:
        """Keep a batch under the name of its address."""
        self._write(f"{name}.npz", packed(sample, _key(pair), np.savez_compressed))

    def read(self, name: str, pair: Pair) -> Sample:
        """Return the batch of that address.

        Raises MechanismError where the mechanism broke the protocol there, and InvalidInputError where the batch is missing, is
        of another pair, or was not written by an auditor.
        """
        path = self._path(f"{name}.npz")
        for note in (name, ENDED):
            if not path.is_file() and (told := self.noted(note)) is not None:
                raise MechanismError(str(told))
        try:
            pair_key, sample = unpacked(path)
        except FileNotFoundError:
            raise InvalidInputError(
                f"the recording has no batch {path}: the run that was recorded ended before, or its file was deleted; record anew"
            ) from None
        except (OSError, ValueError, KeyError, TypeError, EOFError, zipfile.BadZipFile) as error:
            raise InvalidInputError(
                f"{path} is no recorded batch ({type(error).__name__}: {error}); record anew"
            ) from None
        if pair_key != _key(pair):
            raise InvalidInputError(f"{path} was recorded on another pair than {pair.to_dict()}; record anew")
        return sample

    def note(self, name: str, data: Any) -> None:
        """Keep plain data under a name."""
        self._write(f"{name}.json", json.dumps(data).encode())

    def noted(self, name: str) -> Any:
        """Return what was noted; None where nothing was. Raises InvalidInputError where it is not JSON."""
        path = self._path(f"{name}.json")
        try:
            return json.loads(path.read_bytes()) if path.is_file() else None
        except ValueError as error:
            raise InvalidInputError(f"{path} is not JSON ({error}); record anew") from None

    def _path(self, name: str) -> Path:
        return Path(self.folder, name)

    def _write(self, name: str, content: bytes) -> None:
        path = self._path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{name}.")
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        Path(temporary).replace(path)


def folder_of(audit: str) -> str:
    """Return the name of an audit's folder, which no other audit shares.

    >>> folder_of("KSW under add/remove")
    'ksw-under-add-remove-7f164367'
    """
    words = re.sub(r"[^a-z0-9]+", "-", audit.lower()).strip("-")[:40]
    return f"{words}-{hashlib.sha256(audit.encode()).hexdigest()[:8]}"


def _key(pair: Pair) -> str:
    return hashlib.sha256(repr([plain(pair.left), plain(pair.right), str(pair.relation)]).encode()).hexdigest()


def packed(sample: Sample, key: str, save: Callable[..., None] = np.savez) -> bytes:
    """Return a batch as bytes, with a key that says what it is of."""
    arrays, sides = dict[str, Any](), {}
    for side, outputs in zip(SIDES, (sample.left, sample.right), strict=True):
        sides[side] = {"size": outputs.size, "columns": [(c.name, c.atoms) for c in outputs.columns]}
        for i, column in enumerate(outputs.columns):
            for part in ("numbers", "codes"):
                array = getattr(column, part)
                if array is not None:
                    # One cell stands for all where all are one in memory.
                    arrays[f"{side} {i} {part}"] = array if array.size == 0 or array.strides[0] else array[:1]
    told = {"form": sample.form, "redrawn": sample.redrawn, "failures": sample.failures}
    meta = json.dumps({"pair": key, "sides": sides, "sample": told})
    file = io.BytesIO()
    save(file, meta=np.frombuffer(meta.encode(), np.uint8), **arrays)
    return file.getvalue()


def unpacked(file: Path | BinaryIO) -> tuple[str, Sample]:
    """Return the key and the batch. Raises what reading raises where these are other bytes."""
    with np.load(file, allow_pickle=False) as archive:
        meta = json.loads(archive["meta"].tobytes())
        left, right = (_outputs(archive, side, meta["sides"][side]) for side in SIDES)
        told = meta["sample"]
        return meta["pair"], Sample(left, right, str(told["form"]), bool(told["redrawn"]), int(told["failures"]))


def _outputs(archive: Any, side: Side, meta: Any) -> Outputs:
    size = int(meta["size"])
    columns = []
    for i, (name, atoms) in enumerate(meta["columns"]):
        parts = [
            _cells(archive, f"{side} {i} {part}", kind, size) for part, kind in (("numbers", "f8"), ("codes", "i4"))
        ]
        numbers, codes = parts
        if numbers is None or (
            codes is not None and codes.size and not NUMBER <= codes.min() <= codes.max() < len(atoms)
        ):
            raise ValueError(f'column "{name}" has no numbers, or codes without atoms')
        columns.append(Column(str(name), numbers, codes, tuple(map(str, atoms))))
    return Outputs(size, tuple(columns))


def _cells(archive: Any, name: str, kind: str, size: int) -> Any:
    if name not in archive:
        return None
    array = archive[name]
    if array.dtype != np.dtype(kind) or array.ndim != 1 or len(array) not in (1, size):
        raise ValueError(f'"{name}" is {array.dtype} of shape {array.shape}, where {size} outputs were recorded')
    return array if len(array) == size else np.broadcast_to(array[0], (size,))


class Asked:
    """A deterministic query whose answers are kept in order, or read in the same order."""

    def __init__(self, recording: Recording, query: Query | None = None) -> None:
        self._recording, self._query, self._kept = recording, query, list[Any]()
        self._read: Iterator[Any] = iter(())
        if query is not None:
            self.name, self.batched, self.takes_rng = query.name, query.batched, query.takes_rng
            return
        kept = recording.noted(ANSWERS)
        if kept is None:
            raise InvalidInputError(f"the recording {recording.folder} has no answers of this query; record anew")
        self.name, self.batched, self.takes_rng = kept["query"]
        self._read = iter(kept["answers"])

    def answers(self, pairs: Sequence[Pair]) -> Iterator[Answers]:
        """Yield what the query answers on each pair; see Query.answers."""
        if self._query is None:
            yield from map(self._next, pairs)
            return
        done = 0
        try:
            for answers, pair in zip(self._query.answers(pairs), pairs, strict=True):
                self._kept.append((pair.to_dict(), [_kept_answer(answer) for answer in answers]))
                done += 1
                yield answers
        except MechanismError as error:  # its process failed
            self._kept.append((pairs[done].to_dict(), str(error)))
            raise

    def _next(self, pair: Pair) -> Answers:
        asked, answers = next(self._read, (None, ()))
        if asked != pair.to_dict():
            raise InvalidInputError(
                f"the recording {self._recording.folder} has no answer on {pair.to_dict()} here; record anew"
            )
        if isinstance(answers, str):
            raise MechanismError(answers)
        a, b, c, d = (type(kind, (Exception,), {})(answer) if kind else answer for kind, answer in answers)
        return a, b, c, d

    def keep(self) -> None:
        """Write the answers."""
        if self._query is not None:
            self._recording.note(ANSWERS, {"query": (self.name, self.batched, self.takes_rng), "answers": self._kept})


def _kept_answer(answer: Any) -> tuple[str, Any]:
    """Return the name of the exception and its text, or no name and the answer."""
    return (type(answer).__name__, str(answer)) if isinstance(answer, BaseException) else ("", plain(answer))
