"""Python mechanisms in a process of their own, so that one that crashes or hangs is an output and not the end of the audit.

This module is both ends: ``Hosted`` asks, and ``main`` runs in the process and answers. Messages are pickles, each
preceded by its length.
"""

import contextlib
import copy
import io
import os
import pickle
import struct
import sys
import time
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO

import numpy as np

from auditor.blackbox.command import Program
from auditor.blackbox.flatten import row_of
from auditor.blackbox.mechanism import Mechanism, Source
from auditor.blackbox.outputs import from_rows
from auditor.blackbox.process import Process, ProcessFailure, lent
from auditor.blackbox.sample import Answers, Isolated, Labels, Patience, Sample, Stream, all_failed, in_turn
from auditor.errors import MechanismError
from auditor.neighbours.pair import Pair, Side

LENGTH = struct.Struct("<Q")
# An import may take longer than a batch, whatever the limit for that.
IMPORT_SECONDS = 60.0
# The auditor's own search path, so that it is the same modules that are found there.
START = "import sys; sys.path[:] = {path!r}; from auditor.blackbox.host import main; main()"


def isolated(source: Source, limit: float | None) -> "Program | Hosted":
    """Return a mechanism that runs outside this process, ``limit`` seconds at most for a batch, or one output of those drawn
    one by one.

    Raises MechanismError when it cannot be imported or started, or cannot travel to another process.
    """
    return hosted(source, limit) if source.command is None else source.program(limit)


def hosted(source: Source, limit: float | None) -> "Hosted":
    """Return a Python mechanism that is imported and runs in a process of its own only, whatever its import does.

    Raises MechanismError when it cannot be imported, or cannot travel to another process.
    """
    pickled = _pickled(source)
    try:
        with _host(pickled, limit) as process:
            assert process.loaded is not None
            batched, takes_rng = process.loaded[1]
    except ProcessFailure as failure:
        raise MechanismError(f'mechanism "{source.name}": importing it failed, {failure.message()}') from None
    return Hosted(source.name, batched, takes_rng, pickled, limit)


@contextlib.contextmanager
def held(source: Source) -> Iterator[None]:
    """Let no other mechanism have the processes in which this one is loaded.

    Imported anew it would begin anew, and repeat itself where it has randomness of its own.
    """
    try:
        pickled = b"" if source.command is not None else _pickled(source)
    except MechanismError:  # raised again where this is to run
        pickled = b""
    _HELD.append(pickled)
    try:
        yield
    finally:
        _HELD.remove(pickled)


_HELD: list[bytes] = []  # what audits under way have loaded; to append and to remove are atomic


def _pickled(source: Source) -> bytes:
    from joblib.externals.loky.backend.reduction import dumps

    try:
        return bytes(dumps(source))
    except Exception as error:  # whatever an object's own pickling raises
        raise MechanismError(
            f'mechanism "{source.name}" cannot be sent to a process of its own ({type(error).__name__}: {error}); give it by '
            "name, module:function, or set isolate to false: then it runs in the auditor's process, and may end it"
        ) from None


@dataclass(frozen=True, slots=True)
class Hosted(Isolated):
    """A Python mechanism in a process of its own. Gives the outputs of Mechanism.draw, and failures of the process as outputs.

    After a failure the outputs that are left are drawn in a new process, from a stream that its predecessor did not touch.
    """

    name: str
    batched: bool
    takes_rng: bool
    pickled: bytes
    limit: float | None = None

    def draw(
        self, pair: Pair, labels: Labels, rng: Stream, *, one_by_one: bool = False, patience: Patience | None = None
    ) -> Sample:
        """Draw one output for every label (True: on the left data set); see Mechanism.draw."""
        if self.batched and not one_by_one:
            try:
                [sample] = self._answers("draw", pair, labels, rng)
            except ProcessFailure as failure:
                return all_failed(failure, labels)
            return sample  # type: ignore[no-any-return]
        with contextlib.closing(self._each(pair, labels, rng)) as outputs:
            return in_turn(labels, outputs, patience, from_rows)

    def _each(self, pair: Pair, labels: Labels, rng: Stream) -> Generator[tuple[Any, bool], None, None]:
        """Yield the row of each output, and whether its process failed."""
        later, done = copy.deepcopy(rng), 0
        while done < len(labels):
            with contextlib.closing(self._answers("each", pair, labels[done:], rng)) as rows:
                try:
                    for row in rows:
                        yield row, False
                        done += 1
                except ProcessFailure as failure:
                    yield row_of(failure), True
                    done += 1
                    rng = np.random.default_rng(later.integers(2**32, size=8))

    def call_once(self, pair: Pair, side: Side, rng: Stream) -> Any:
        """Return one output as the mechanism returns it, or the exception it raised, or the failure of its process."""
        try:
            [output] = self._answers("call_once", pair, side, rng)
            return output
        except ProcessFailure as failure:
            return failure

    def answers(self, pairs: Sequence[Pair]) -> Iterator[Answers]:
        """Yield what a query answers on each pair. Raises MechanismError where its process fails."""
        done = 0
        try:
            for answers in self._answers("answers", pairs):
                yield answers
                done += 1
        except ProcessFailure as failure:
            raise MechanismError(
                f'"{self.name}" was asked about {pairs[done].to_dict()}: {failure.message()}'
            ) from None

    def _answers(self, method: str, *arguments: Any) -> Generator[Any, None, None]:
        """Yield what the process answers to one question. Closed before the end, it ends the process."""
        with _host(self.pickled, self.limit) as process:
            stream = _Frames(process)
            stream.send((method, arguments))
            while (answer := stream.next(self.limit)) is not None:
                yield answer[0]


@contextlib.contextmanager
def _host(pickled: bytes, limit: float | None) -> Iterator[Process]:
    """Lend a process in which a mechanism is loaded: the one that has it, as a rule."""
    wishes = (
        lambda process: process.loaded is not None and process.loaded[0] == pickled,
        lambda process: process.loaded is None or process.loaded[0] not in _HELD,
    )
    with lent("host", _start, wishes) as process:
        if process.loaded is None or process.loaded[0] != pickled:
            stream = _Frames(process)
            stream.send(("load", pickled))
            process.loaded = pickled, stream.next(None if limit is None else max(limit, IMPORT_SECONDS))
        yield process


class _Frames:
    def __init__(self, process: Process) -> None:
        self._process, self._buffer, self._at = process, b"", 0

    def send(self, message: Any) -> None:
        self._process.send(_framed(pickle.dumps(message, pickle.HIGHEST_PROTOCOL)))

    def next(self, limit: float | None) -> Any:
        """Return the next message. Raises what the host raised, or ProcessFailure."""
        deadline = None if limit is None else time.monotonic() + limit
        self._need(LENGTH.size, deadline)
        [size] = LENGTH.unpack_from(self._buffer, self._at)
        self._at += LENGTH.size
        self._need(size, deadline)
        answer = pickle.loads(memoryview(self._buffer)[self._at : self._at + size])
        self._at += size
        if isinstance(answer, BaseException):
            raise answer
        return answer

    def _need(self, size: int, deadline: float | None) -> None:
        if len(self._buffer) - self._at >= size:
            return
        parts = [self._buffer[self._at :]]
        while sum(map(len, parts)) < size:
            parts.append(self._process.receive(deadline))
        self._buffer, self._at = b"".join(parts), 0


def _framed(body: bytes) -> bytes:
    return LENGTH.pack(len(body)) + body


def _start() -> Process:
    return Process([sys.executable, "-c", START.format(path=sys.path)])


# --- Inside the process ---


def main() -> None:
    """Answer questions about the mechanism that was loaded last, until the input ends."""
    # What the mechanism prints must not be taken for an answer, nor what it reads be a question.
    questions, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    mechanism: Mechanism | None = None
    while len(length := questions.read(LENGTH.size)) == LENGTH.size:
        method, arguments = pickle.loads(questions.read(LENGTH.unpack(length)[0]))
        try:
            if method == "load":
                mechanism = pickle.loads(arguments).drawer()
                _answer(answers, (mechanism.batched, mechanism.takes_rng))
                continue
            assert mechanism is not None
            # Each is sent before the next is begun, which may be the end of this process.
            for output in _outputs(mechanism, method, arguments):
                _answer(answers, (output,))
            _answer(answers, None)
        except (MechanismError, KeyboardInterrupt) as error:
            _answer(answers, error)


def _outputs(mechanism: Mechanism, method: str, arguments: tuple[Any, ...]) -> Iterator[Any]:
    match method:
        case "draw":
            yield mechanism.draw(*arguments)
        case "each":
            yield from map(row_of, mechanism.each(*arguments))
        case "call_once":
            yield _able_to_travel(mechanism.call_once(*arguments))
        case "answers":
            for answers in mechanism.answers(*arguments):
                yield tuple(map(_able_to_travel, answers))


def _answer(answers: BinaryIO, answer: Any) -> None:
    answers.write(_framed(pickle.dumps(answer, pickle.HIGHEST_PROTOCOL)))
    answers.flush()


class _Known(pickle.Unpickler):
    """Reads what the auditor's process can read as well, which has not imported the mechanism's own modules."""

    def find_class(self, module: str, name: str) -> Any:
        if module.partition(".")[0] not in {*sys.stdlib_module_names, "numpy", "auditor"} or module == "__main__":
            raise pickle.UnpicklingError(f"an object of {module}")
        return super().find_class(module, name)


def _able_to_travel(output: Any) -> Any:
    """Return an output itself, or its text where the auditor's process cannot read it."""
    try:
        _Known(io.BytesIO(pickle.dumps(output, pickle.HIGHEST_PROTOCOL))).load()
    except Exception:  # whatever an object's own pickling raises
        return RuntimeError(f"{type(output).__name__}: {output}") if isinstance(output, BaseException) else repr(output)
    return output
