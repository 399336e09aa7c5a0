"""Plain data, counts, samples and failures as bytes and back, without loss. The bytes are JSON and arrays, which run no code."""

import io
import json
import threading
import zipfile
from collections.abc import Callable
from typing import Any

import numpy as np

from auditor.blackbox.outputs import NUMBER, OutputColumn, Outputs
from auditor.blackbox.sample import SIDES, Sample
from auditor.bounds.evidence import Counts, GuessCounts, ProfileCounts, ScoreCounts
from auditor.errors import MechanismError
from auditor.neighbours.pair import Side
from auditor.untrusted_files import DEEPEST, require_shallow

COUNTS = {kind.__name__: kind for kind in (Counts, GuessCounts, ScoreCounts, ProfileCounts)}
# Limits of one sample, since a few bytes of an archive can stand for any number of zeros.
MOST_BYTES, MOST_OUTPUTS = 1 << 31, 1 << 26
# NumPy reads the header of an array by Python's parser of literals, which counts its depth for all threads together: if garbage is
# collected meanwhile, two threads count each other's steps, and one ends in a SystemError (CPython 3.11).
_ONE_READER = threading.Lock()


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
    with _ONE_READER, np.load(io.BytesIO(content), allow_pickle=False) as archive:
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
        valid = codes is None or not codes.size or NUMBER <= codes.min() <= codes.max() < len(atoms)
        if numbers is None or not valid:
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
