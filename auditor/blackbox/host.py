"""Python mechanisms in processes of their own, so that a crash or a hang is an output and does not end the audit.

This module has both ends: ``Hosted`` asks from the auditor's process, ``serve`` answers in the other process, the host.
"""

import contextlib
import copy
import io
import itertools
import math
import multiprocessing
import os
import pickle
import sys
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, BinaryIO, ClassVar, TypeVar

import numpy as np

from auditor.blackbox.journal import Journal
from auditor.blackbox.mechanism import Mechanism
from auditor.blackbox.process import (
    CHUNK,
    Process,
    ProcessEnded,
    ProcessFailure,
    TimedOut,
    borrow_process,
    keep_memory,
)
from auditor.blackbox.sample import (
    ALWAYS,
    MOST,
    PIECE,
    Answers,
    Drawer,
    Labels,
    Patience,
    Sample,
    Stream,
    sample_of,
)
from auditor.blackbox.seal import from_wire, to_wire, unseal
from auditor.blackbox.spelling import spell
from auditor.errors import MechanismError
from auditor.foreign_code import ForeignCode, describe_error, result_or_error
from auditor.interfaces import Source
from auditor.neighbours.pair import Pair, Side

T = TypeVar("T")

# The seconds that an import may take if the limit for a batch is shorter.
IMPORT_SECONDS = 60.0


def isolated(source: Source, limit: float | None, ends: float | None = None) -> Drawer:
    """Return a mechanism that runs outside this process.

    ``limit`` is the most seconds for a batch, or for an output that is drawn alone. At ``ends``, by ``time.monotonic``, the
    audit must end: then a call raises OverdueError. Raises MechanismError if the mechanism cannot be imported or started,
    or cannot be sent to another process.
    """
    if source.is_program:
        program: Any = source.drawer(limit)
        return program if ends is None else replace(program, ends=ends)  # type: ignore[no-any-return]
    return hosted(source, limit, ends)


def hosted(source: Source, limit: float | None, ends: float | None = None) -> "Hosted":
    """Return a Python mechanism that runs in a process of its own, and is not imported here. Raises as ``isolated``."""
    pickled = _pickled(source)
    try:
        with _host(pickled, limit, ends) as process:
            batched, takes_rng = process.loaded[1]
    except ProcessFailure as failure:
        raise MechanismError(f'mechanism "{source.name}": importing it failed, {failure.message()}') from None
    return Hosted(source.name, batched, takes_rng, pickled, limit, ends)


@contextlib.contextmanager
def reserve_host(source: Source) -> Iterator[None]:
    """Load no other mechanism into the processes of ``source``. If loaded again, ``source`` might repeat itself."""
    # An error is not raised here, since running the mechanism raises it again.
    pickled = None if source.is_program else result_or_error(_pickled, source)
    _HELD.append(pickled)
    try:
        yield
    finally:
        _HELD.remove(pickled)


_HELD = list[Any]()  # the pickled sources of running audits; append and remove are atomic


def _pickled(source: Source) -> bytes:
    import cloudpickle

    pickled = result_or_error(cloudpickle.dumps, source)
    if isinstance(pickled, BaseException):
        raise MechanismError(
            f'mechanism "{source.name}" cannot be sent to a process of its own ({describe_error(pickled)}); give it by '
            "name, module:function, or set `isolate` to false: then it runs in the auditor's process, and a "
            "crash ends that process too"
        ) from None
    return bytes(pickled)


@dataclass(frozen=True, slots=True)
class Hosted(Drawer):
    """A Python mechanism in a process of its own. A failure of the process is an output, and a new process goes on."""

    name: str
    batched: bool
    takes_rng: bool
    pickled: bytes
    limit: float | None = None
    ends: float | None = None
    shares: ClassVar[bool] = False

    def batch(self, pair: Pair, labels: Labels, rng: Stream, least: int = 1) -> Sample | BaseException:
        try:
            [sample] = self._answers("draw", pair.to_send(), labels, rng, least)
        except ProcessFailure as failure:
            return failure
        return sample  # type: ignore[no-any-return]

    def pieces(self, pair: Pair, labels: Labels, rng: Stream, patience: Patience | None) -> Iterator[Sample]:
        """See Drawer. An output is a value, or its Row if this process cannot import its class, or the failure of the process.

        The host makes a piece canonical. If a failure cuts a piece short, this process does it, with the outputs that the host
        had entered in its journal, the failure, and those of another host.
        """
        later, start, made = copy.deepcopy(rng), 0, list[Any]()  # ``later`` seeds a new stream after each failure
        while start < len(labels):
            missing, failure = (PIECE - len(made) if made else 0), None
            with contextlib.closing(self._pieces(pair, labels[start + len(made) :], rng, missing)) as answers:
                try:
                    for answer in answers:
                        if patience is not None:
                            patience.answered = True
                        if isinstance(answer, Sample):
                            start, made = start + answer.size, []
                            yield answer
                            continue
                        made += answer
                        if missing and len(made) == min(PIECE, len(labels) - start):
                            yield sample_of(made, labels[start : start + len(made)])
                            start, made, missing = start + len(made), [], 0
                except ProcessFailure as caught:
                    failure = caught
            if failure is None or start + len(made) == len(labels):
                break
            made.append(failure)
            rng = np.random.default_rng(later.integers(2**32, size=8))
            is_over = patience is not None and patience.is_over(bool(labels[start + len(made) - 1]))
            while len(made) >= PIECE or (made and is_over):
                yield sample_of(made[:PIECE], labels[start : start + len(made[:PIECE])])
                start, made = start + len(made[:PIECE]), made[PIECE:]
            if is_over:
                return
        if made:
            yield sample_of(made, labels[start:])

    def _pieces(self, pair: Pair, labels: Labels, rng: Stream, missing: int) -> Generator[Any, None, None]:
        """Yield a sample for each piece, and outputs that do not wait for it: the first ones if ``missing`` are, those for which
        the journal has no room, and those before a failure, which is raised then.
        """
        heard = seen = 0
        with _host(self.pickled, self.limit, self.ends) as process:
            journal: Journal = process.journal

            def due() -> float | None:
                nonlocal seen
                seen, since = journal.progress
                if self.limit is None:
                    return None
                # The mechanism is not running, but may be soon: this is asked again then.
                return (time.monotonic() if since == math.inf else since) + self.limit

            journal.clear()
            conversation = _Conversation(process)
            conversation.say(("pieces", (pair.to_send(), labels, rng, missing, self.limit is not None)))
            try:
                while isinstance(answer := conversation.hear(due), tuple):
                    heard += 1
                    yield answer[0] if isinstance(answer[0], Sample) else [*map(from_wire, answer[0])]
            except ProcessFailure as failure:
                # What was entered after the limit does not count: the process was about to be killed.
                if left := journal.outputs(heard, seen if isinstance(failure, TimedOut) else PIECE):
                    yield left
                raise

    def call_once(self, pair: Pair, side: Side, rng: Stream) -> Any:
        try:
            [output] = self._answers("call_once", pair.to_send(), side, rng)
            return output
        except ProcessFailure as failure:
            return failure

    def alike(self, pairs: Sequence[Pair], rng: Stream, size: int) -> Iterator[float]:
        """Yield the distance of each pair: MOST if the process failed on the pair, and 0 after ALWAYS failures."""
        done, failed = 0, 0
        while done < len(pairs) and failed < ALWAYS:
            try:
                for distance in self._answers(
                    "alike", [pair.to_send() for pair in pairs[done:]], rng, size, outputs=2 * size
                ):
                    yield distance
                    done += 1
            except ProcessFailure:
                yield MOST
                done, failed = done + 1, failed + 1
        yield from itertools.repeat(0.0, len(pairs) - done)

    def answers(self, pairs: Sequence[Pair]) -> Iterator[Answers]:
        """See Drawer. Raises MechanismError if the process fails."""
        done = 0
        try:
            for answers in self._answers("answers", [pair.to_send() for pair in pairs]):
                yield answers
                done += 1
        except ProcessFailure as failure:
            asked = pairs[done].to_dict()
            raise MechanismError(f'"{self.name}" was asked about {asked}: {failure.message()}') from None

    def apply(self, function: Callable[..., T], *arguments: Any) -> T:
        """Return ``function(mechanism, *arguments)``, called in a fork of the process, so the process does not change.

        Raises ProcessFailure if the fork ends or passes the time limit, and whatever pickle raises.
        """
        [answer] = self._answers("apply", function, *arguments)
        return answer  # type: ignore[no-any-return]

    def _answers(self, method: str, *arguments: Any, outputs: int = 1) -> Generator[Any, None, None]:
        """Yield the answers to a question, each within ``outputs`` times the limit. Closing early kills the process."""
        limit = None if self.limit is None else outputs * self.limit
        with _host(self.pickled, self.limit, self.ends) as process:
            conversation = _Conversation(process)
            conversation.say((method, arguments))
            while isinstance(answer := conversation.hear(within(limit)), tuple):
                yield answer[0]


@contextlib.contextmanager
def _host(pickled: bytes, limit: float | None, ends: float | None) -> Iterator[Process]:
    """Lend a process in which a mechanism is loaded, if possible one that has loaded it before."""
    wishes = (
        lambda process: process.loaded[0] == pickled,
        lambda process: process.loaded[0] not in _HELD,
    )
    with borrow_process("host", lambda: Process("auditor.blackbox.host:serve"), wishes) as process:
        process.ends = ends
        if process.loaded[0] != pickled:
            conversation = _Conversation(process)
            journal = process.journal = process.journal or Journal.create()
            # The process may have started for another mechanism, with a shorter search path.
            conversation.say(("load", (sys.path, pickled, journal.path)))
            answer = conversation.hear(within(None if limit is None else max(limit, IMPORT_SECONDS)))
            process.loaded = pickled, answer
            journal.unlink()
        yield process


class _Conversation(io.RawIOBase):
    """Pickled messages to a host and from it. As a file, it reads the bytes that the host writes."""

    def __init__(self, process: Process) -> None:
        self._process, self._answers = process, io.BufferedReader(self, CHUNK)
        self._due: Callable[[], float | None] = within(None)

    def say(self, message: Any) -> None:
        self._process.send(pickle.dumps(message, pickle.HIGHEST_PROTOCOL))

    def hear(self, due: Callable[[], float | None]) -> Any:
        """Return the next message. Raises what the host raised, or ProcessFailure.

        ``due`` is asked until when to wait, again each time that this moment has come.
        """
        self._due = due
        answer = pickle.load(self._answers)
        if isinstance(answer, BaseException):
            raise answer
        return answer

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        deadline = self._due()
        # Some output may have come since, and the next one has time of its own.
        while not (received := self._process.receive(deadline, len(buffer), wait=False)):
            if deadline == (deadline := self._due()):
                received = self._process.receive(deadline, len(buffer))
                break
        buffer[: len(received)] = received
        return len(received)


def within(limit: float | None) -> Callable[[], float | None]:
    """Return until when to wait for an answer that is due within ``limit`` seconds."""
    deadline = None if limit is None else time.monotonic() + limit
    return lambda: deadline


# --- Inside the process ---


def serve() -> None:
    """Answer questions about the mechanism that was loaded last, until the input ends."""
    # The mechanism must not print among the answers, and must not read the questions.
    questions, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    keep_memory()
    mechanism: Mechanism | None = None
    journal: Journal | None = None
    while questions.peek(1):
        method, arguments = pickle.load(questions)
        try:
            if method == "load":
                sys.path[:], pickled, path = arguments
                journal = journal or Journal(path)
                with ForeignCode("loading the mechanism"):
                    mechanism = pickle.loads(pickled).drawer()
                _answer(answers, (mechanism.batched, mechanism.takes_rng))
                continue
            assert mechanism is not None
            assert journal is not None
            if method == "pieces":
                for message in _pieces(mechanism, journal, *arguments):
                    _answer(answers, (message,))
                _answer(answers, None)
                continue
            if method == "apply":
                function, *others = arguments
                _answer_from_copy(answers, function, mechanism, *others)
                continue
            # Each answer is sent before the next one is made, since the mechanism may end this process.
            for output in QUESTIONS[method](mechanism, *arguments):
                _answer(answers, (output,))
            _answer(answers, None)
        except MechanismError as error:
            _answer(answers, error)


# The questions by name. Each function returns the answers of a mechanism in turn.
QUESTIONS: dict[str, Callable[..., Iterable[Any]]] = {
    "draw": lambda mechanism, *arguments: [mechanism.draw(*arguments)],
    "alike": lambda mechanism, *arguments: mechanism.alike(*arguments),
    "call_once": lambda mechanism, *arguments: [_shown(mechanism.call_once(*arguments))],
    "answers": lambda mechanism, pairs: (tuple(map(_shown, answers)) for answers in mechanism.answers(pairs)),
}


def _pieces(
    mechanism: Mechanism, journal: Journal, pair: Pair, labels: Labels, rng: Stream, missing: int, timed: bool
) -> Iterator[Any]:
    """Draw one by one, and yield the messages of ``Hosted._pieces``. With ``timed``, the journal says when each output came."""
    outputs = mechanism.each(pair, labels, rng)
    journal.restart()
    for start, end in itertools.pairwise([0, *range(missing or PIECE, len(labels), PIECE), len(labels)]):
        part, made = labels[start:end], list[Any]()
        is_first = missing > 0 and start == 0
        for seals, goes_on in journal.enter(itertools.islice(outputs, len(part)), timed=timed):
            made += seals
            if goes_on or is_first:
                yield [*map(to_wire, seals)]
        if not is_first:
            yield sample_of([*map(unseal, made)], part)


def _answer_from_copy(answers: BinaryIO, function: Callable[..., Any], *arguments: Any) -> None:
    own = multiprocessing.get_context("fork").Process(target=lambda: _answer(answers, (function(*arguments),)))
    own.start()
    own.join()
    _answer(answers, ProcessEnded("its copy ended without an answer") if own.exitcode else None)


def _answer(answers: BinaryIO, answer: Any) -> None:
    answers.write(pickle.dumps(answer, pickle.HIGHEST_PROTOCOL))
    answers.flush()


class _Known(pickle.Unpickler):
    """Reads only objects of Python, NumPy and the auditor, since the auditor does not import the mechanism."""

    def find_class(self, module: str, name: str) -> Any:
        if module.partition(".")[0] not in {*sys.stdlib_module_names, "numpy", "auditor"} or module == "__main__":
            raise pickle.UnpicklingError(f"an object of {module}")
        return super().find_class(module, name)


def _travels(output: Any) -> bool:
    """Whether the auditor's process can read an output."""

    def travel() -> bool:
        _Known(io.BytesIO(pickle.dumps(output, pickle.HIGHEST_PROTOCOL))).load()
        return True

    return result_or_error(travel) is True


def _shown(output: Any) -> Any:
    """Return an output. If the auditor's process cannot read it, return its text, or its type if the text raises."""
    if _travels(output):
        return output
    if isinstance(output, BaseException):
        return RuntimeError(f"{type(output).__name__}: {result_or_error(str, output)}")
    text = result_or_error(spell, output)
    return text if isinstance(text, str) else type(output).__name__
