"""Outputs of a host in memory that the auditor shares, so that those drawn before the host died are known.

The mechanism may end its process at any output. So each output is entered here before the next one is drawn, which costs a
hundredth of a message. The host makes whole pieces of outputs canonical, and sends tables; only after a failure the auditor
reads the outputs themselves.
"""

import io
import math
import mmap
import pickle
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from auditor.blackbox.sample import PIECE
from auditor.blackbox.seal import Pickled, from_wire, seal, to_wire
from auditor.errors import MachineError

# The bytes of outputs that are no floats. Outputs beyond are sent, and do not wait for their piece to be complete.
ROOM = 1 << 20
# Where the file may be: in memory if possible.
FOLDERS = "/dev/shm", tempfile.gettempdir()
# The kinds of entries: a float in its cell; or a record among the others: what goes to the wire, or the pickle of an output.
_FLOAT, _NUMPY_FLOAT, _RECORD, _PICKLED = 0, 1, 2, 3
# The bytes of the counters, of the kinds of entries, and of the cells.
_HEAD, _KINDS, _CELLS = 64, PIECE, 8 * PIECE
SIZE = _HEAD + _KINDS + _CELLS + ROOM
NO_MESSAGE = -1


class Journal:
    """The outputs that a host has drawn since its last message.

    The counters are the number of the next message, and how many outputs were entered for it. The clock says since when, by
    ``time.monotonic``, the mechanism has been making the next output; infinity while it makes none.
    """

    def __init__(self, path: str) -> None:
        self.path, self._message = path, 0
        self._file: Any = None  # of the auditor: closing it removes it
        with Path(path).open("r+b") as file:
            view = memoryview(mmap.mmap(file.fileno(), SIZE))
        self._counters, self._clock = view[:16].cast("q"), view[16:24].cast("d")
        self._kinds, rest = view[_HEAD : _HEAD + _KINDS], view[_HEAD + _KINDS :]
        self._cells, self._records = rest[:_CELLS].cast("d"), rest[_CELLS:]

    @classmethod
    def create(cls) -> "Journal":
        """Return a new journal. Raises MachineError if there is no room for it."""
        for folder in FOLDERS:
            try:
                file = tempfile.NamedTemporaryFile("wb", 0, prefix="auditor-", dir=folder)  # noqa: SIM115 - see ``unlink``
                file.write(bytes(SIZE))  # where memory is only promised, a write to it may end the process
                journal = cls(file.name)
            except OSError as error:
                refused = f"{folder}: {error.strerror}"
            else:
                journal._file = file
                return journal
        raise MachineError(f"the process of a mechanism cannot share memory ({refused}); free some room there")

    def unlink(self) -> None:
        """Remove the file, once both processes have opened it. Its memory stays until both have ended."""
        if self._file is not None:
            self._file.close()

    def clear(self) -> None:
        """Forget all outputs, before the host is asked for others."""
        self._counters[0], self._counters[1], self._clock[0] = NO_MESSAGE, 0, time.monotonic()

    @property
    def progress(self) -> tuple[int, float]:
        """How many outputs were entered since the last message, and the clock."""
        return self._counters[1], self._clock[0]

    def outputs(self, message: int, most: int = PIECE) -> list[Any]:
        """Return what was entered for the message of that number, ``most`` outputs at most: the host did not send it."""
        if self._counters[0] != message:
            return []
        records, outputs = io.BytesIO(self._records), list[Any]()
        for at in range(min(most, self._counters[1])):
            kind = self._kinds[at]
            if kind >= _RECORD:
                record = pickle.load(records)
                outputs.append(record if kind == _PICKLED else from_wire(record))
            else:
                outputs.append(self._cells[at] if kind == _FLOAT else np.float64(self._cells[at]))
        return outputs

    def enter(self, outputs: Iterator[Any], *, timed: bool) -> Iterator[tuple[list[Any], bool]]:
        """Seal a piece of outputs, and enter each. Yield the seals for a message: when there is no more room, and at the end.

        The second item says whether more follow. Only with ``timed`` the clock is kept. Raises MechanismError as ``seal``.
        """
        kinds, cells, records, counters, clock = self._kinds, self._cells, self._records, self._counters, self._clock
        made, count, used, dumps, now = list[Any](), 0, 0, pickle.dumps, time.monotonic
        self._begin()
        for output in outputs:
            kind = type(output)
            if kind is float or kind is np.float64:
                made.append(output)
                kinds[count], cells[count] = kind is not float, output
            else:
                sealed = seal(output)
                made.append(sealed)
                is_pickled = type(sealed) is Pickled
                record = sealed if is_pickled else dumps(to_wire(sealed), pickle.HIGHEST_PROTOCOL)
                if used + len(record) > ROOM:
                    clock[0] = math.inf
                    yield made, True
                    made, count, used = [], 0, 0
                    self._begin()
                    continue
                kinds[count] = _PICKLED if is_pickled else _RECORD
                records[used : used + len(record)] = record
                used += len(record)
            count += 1
            counters[1] = count
            if timed:
                clock[0] = now()
        clock[0] = math.inf
        yield made, False

    def restart(self) -> None:
        """Number messages from 0 again, for another question."""
        self._message = 0

    def _begin(self) -> None:
        # In this order: whenever the host may die, what was sent is not taken for the outputs of the next message.
        self._counters[1] = 0
        self._counters[0], self._clock[0] = self._message, time.monotonic()
        self._message += 1
