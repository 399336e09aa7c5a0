"""Mechanisms that are programs in any language. A request is a line of JSON, and so is each output."""

import itertools
import json
import os
import shlex
import shutil
import time
from collections.abc import Generator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from pydantic_core import from_json, to_json

from auditor.blackbox.canonical import from_list
from auditor.blackbox.mechanism import named_files
from auditor.blackbox.number_text import json_integer, json_number
from auditor.blackbox.outputs import Outputs, concatenate
from auditor.blackbox.process import NO_ROOM, Process, ProcessEnded, ProcessFailure, borrow_process, close_idle
from auditor.blackbox.sample import SIDES, TRIAL, Drawer, Labels, Sample, Stream, calls_of, sides_of
from auditor.errors import InvalidInputError, MechanismError, NoAnswerError, how_many
from auditor.foreign_code import result_or_error
from auditor.interfaces import Wrapper
from auditor.neighbours.pair import Pair, plain
from auditor.untrusted_files import floats_as_words, require_shallow, with_unique_keys, words_as_floats

TRIAL_SECONDS = 10.0
REQUEST = '{"dataset": …, "size": …, "seed": …, "parameters": {…}}'
LONGER = "; if it only needs longer, set `execution: {timeout: seconds}`"
# The most outputs of a request. With more, the program would be idle while its last answer is read.
LARGEST = 16_384


@dataclass(frozen=True, slots=True)
class Command:
    """A program that is the mechanism, and the folder it runs in.

    The program reads requests ``{"dataset": ..., "size": n, "seed": s, "parameters": {...}}``, one on each line, until the input
    ends. The program answers each request with n lines, each of which is one JSON value.

    >>> Command(["node", "my mechanism.js"]).name
    "node 'my mechanism.js'"
    """

    arguments: Sequence[str]
    folder: str = field(default_factory=os.getcwd)

    def __post_init__(self) -> None:
        given = self.arguments
        if isinstance(given, str) or not given or not all(isinstance(part, str) for part in given) or not given[0]:
            raise InvalidInputError(
                f'command is {given!r}; it must be a list of the program and its arguments, such as ["node", "mechanism.js"]'
            )
        object.__setattr__(self, "arguments", tuple(given))

    @property
    def name(self) -> str:
        """The command as one would type it."""
        return shlex.join(self.arguments)

    def find(self) -> str:
        """Return the path of the program. Raises MechanismError if there is none.

        As in a shell, a path is relative to the folder, and a plain name is looked for on the PATH.
        """
        program = self.arguments[0]
        path = str(Path(self.folder, program)) if "/" in program else program
        resolved = shutil.which(path)
        if resolved is None:
            why = "is not executable" if Path(path).is_file() else "was not found"
            where = f"in {self.folder}" if "/" in program else "on the PATH"
            raise MechanismError(
                f'command "{self.name}": the program {program} {why} {where}; install or build it, or correct its name '
                "(paths are relative to the folder of the YAML)"
            )
        return str(Path(resolved).absolute())

    def start(self) -> Process:
        """Start the program. Raises OSError if the machine has no room for a process, otherwise MechanismError."""
        try:
            return Process([self.find(), *self.arguments[1:]], self.folder)
        except OSError as error:
            if error.errno in NO_ROOM:
                raise
            raise MechanismError(f'command "{self.name}" cannot be started in {self.folder}: {error}') from None


@dataclass(frozen=True, slots=True)
class Program(Drawer):
    """A command bound to its parameters. It is both the Source and the Drawer of a batch mechanism.

    A program that dies or passes ``limit``, the most seconds for a request, is started again at the next request.
    """

    command: Command
    parameters: Mapping[str, Any] = field(default_factory=dict)
    limit: float | None = None
    ends: float | None = None  # when the audit that draws must end, see Process
    is_program: ClassVar[bool] = True
    shares: ClassVar[bool] = False
    batched: bool = field(default=True, init=False)
    takes_rng: bool = field(default=True, init=False)

    @property
    def name(self) -> str:
        """The name of the command."""
        return self.command.name

    def files(self) -> list[Path]:
        """Return the file of the program, and the files that its arguments and parameters name."""
        candidates = [Path(self.command.folder, argument) for argument in self.command.arguments]
        with suppress(MechanismError):  # starting the program raises it again
            candidates.append(Path(self.command.find()))
        return [*(path for path in candidates if path.is_file()), *named_files(self.parameters, (self.command.folder,))]

    def drawer(self, limit: float | None = None) -> "Program":
        """Return the program with ``limit`` seconds for a request, by default its own. Raises MechanismError if it is not found."""
        self.command.find()
        return self if limit is None else replace(self, limit=limit)

    def wrapped(self, make: Wrapper) -> "Program":
        """Return the program itself, since it cannot be wrapped."""
        return self

    def truth(self, pair: Pair) -> None:
        """Return None, since a program states no loss."""

    def close(self) -> None:
        """End the idle processes of the program."""
        close_idle(self.command)

    def batch(self, pair: Pair, labels: Labels, rng: Stream, least: int = 1) -> Sample | BaseException:
        # If a request fails, the batch fails: output is buffered, so the last line does not show which output failed.
        calls = calls_of(labels, least)
        requests = [
            (label, asked, min(LARGEST, size - at))
            for call in calls
            for label, dataset, size in sides_of(pair, call)
            for asked in [self._asked(dataset)]
            for at in range(0, size, LARGEST)
        ]
        drawn: dict[bool, list[Outputs]] = {True: [], False: []}
        try:
            with borrow_process(self.command, self.command.start) as process:
                process.ends = self.ends
                for _, asked, size in requests[:1]:
                    self._ask(process, asked, size, rng)
                for (label, _, size), following in itertools.zip_longest(requests, requests[1:]):
                    answer = self._answer(process, size)
                    if following is not None:  # the program makes the next outputs while these are read
                        self._ask(process, following[1], following[2], rng)
                    drawn[label].append(from_answer(answer, size))
        except ProcessFailure as failure:
            return failure
        return Sample(concatenate(drawn[True]), concatenate(drawn[False]), calls=len(calls))

    def each(self, pair: Pair, labels: Labels, rng: Stream) -> Generator[Any, None, None]:
        asked = {label: self._asked(dataset) for label, dataset, _ in sides_of(pair, labels)}
        for label in labels.tolist():
            try:
                with borrow_process(self.command, self.command.start) as process:
                    process.ends = self.ends
                    self._ask(process, asked[label], 1, rng)
                    output = value_of(self._answer(process, 1)[:-1], 1)
            except ProcessFailure as failure:
                output = failure
            yield output

    def repeats_itself(self, pair: Pair) -> bool:
        """Whether a new process of the program answers one request twice with equal outputs. False if it always fails.

        The request is on the left data set or, if the program fails there, on the right. Then the input ends. This
        shows two faults for which an audit would wait forever: too few lines, and lines that stay in a buffer. Raises
        MechanismError if the program breaks the protocol, and NoAnswerError if it is silent on both sides.
        """
        if pair.form is not None and not pair.form.is_json:
            raise MechanismError(f"a program receives JSON, and data sets arrive as {pair.form}: write `as: rows`")
        silent = list[NoAnswerError]()
        for side in SIDES:
            try:
                if (repeated := self._trial(self._asked(pair.dataset(side)) % (TRIAL, 0))) is not None:
                    return repeated
            except NoAnswerError as error:
                silent.append(error)
        if len(silent) == len(SIDES):
            raise silent[0]
        return False

    def _trial(self, request: bytes) -> bool | None:
        end: ProcessFailure
        patience, wanted = self.limit or TRIAL_SECONDS, 2 * TRIAL
        process = self.command.start()
        process.ends = self.ends
        try:
            process.send(request * 2)
            try:
                answer, in_time = process.receive_lines(wanted, time.monotonic() + patience)
            except ProcessFailure:
                return None
            process.send(b"", last=True)
            try:
                until = time.monotonic() + patience  # for all lines together, since a program may write without end
                while answer.count(b"\n") <= 100 * wanted:
                    answer += process.receive_lines(1, until, wait=True)[0]
                end = ProcessEnded("wrote more lines than it was asked for")
            except ProcessFailure as failure:
                end = failure
        finally:
            process.kill()
        lines, clean = answer.splitlines(), isinstance(end, ProcessEnded) and str(end) == "ended with exit status 0"
        if len(lines) > wanted or (clean and len(lines) < wanted):
            raise self._wrong(
                f"answered two requests of size {TRIAL} with {how_many(len(lines), 'line')}", process, lines
            )
        if clean and in_time < wanted:
            raise MechanismError(
                f'command "{self.command.name}" gave {in_time} of {wanted} lines in {patience:g} s, and the others after its '
                f"input ended: it must flush its standard output after each answer, and read line by line{LONGER}"
            )
        # A program that does not end with its input hangs. With a limit this is an output; without, the audit hangs.
        if not lines and (isinstance(end, ProcessEnded) or self.limit is None):
            waits = ", and ended when its input did" if isinstance(end, ProcessEnded) else ", nor after its input ended"
            raise NoAnswerError(
                f'command "{self.command.name}" answered nothing in {patience:g} s{waits}: it must answer each line of its input, '
                f"{REQUEST}, at once with `size` lines, flush, and not wait for the end (docs/how-to/program.md){LONGER}"
            )
        return len(lines) == wanted and lines[:TRIAL] == lines[TRIAL:]

    def _asked(self, dataset: Any) -> bytes:
        """Return a request with placeholders for size and seed."""
        data, parameters = (
            json.dumps(floats_as_words(plain(value)), allow_nan=False).replace("%", "%%")
            for value in (dataset, dict(self.parameters))
        )
        return f'{{"dataset": {data}, "size": %d, "seed": %d, "parameters": {parameters}}}\n'.encode()

    def _ask(self, process: Process, asked: bytes, size: int, rng: Stream) -> None:
        if unasked := process.has_output():
            raise self._wrong("wrote more lines than it was asked for", process, unasked.split(b"\n")[:1])
        process.send(asked % (size, int(rng.integers(2**53))))  # exact in a language whose numbers are doubles

    def _answer(self, process: Process, size: int) -> bytes:
        deadline = None if self.limit is None else time.monotonic() + self.limit
        answer, ends = process.receive_lines(size, deadline, wait=True)
        if ends > size or not answer.endswith(b"\n"):
            lines = answer.split(b"\n")[: size + 1]
            raise self._wrong(f"wrote more than {how_many(size, 'line')} for a request of that size", process, lines)
        return answer

    def _wrong(self, what: str, process: Process, lines: Sequence[bytes]) -> MechanismError:
        """Return an error with the first line that is not a JSON value, such as a line of a log, or else the last."""
        errors = process.standard_error()
        no_value = next(
            (line for line in lines if isinstance(result_or_error(value_of, line, 1), MechanismError)), None
        )
        shown = _shown(lines[-1] if lines else b"") if no_value is None else f"{_shown(no_value)} is not a JSON value"
        return MechanismError(
            f'command "{self.command.name}" {what}: {shown}; a request is one line, {REQUEST}, and is answered '
            "with `size` lines, one JSON value each" + (f" (standard error ends: {errors})" if errors else "")
        )


def _shown(line: bytes) -> str:
    text = line.decode("utf-8", "backslashreplace")
    return repr(text if len(text) <= 200 else text[:200] + " …")


# --- From lines to outputs ---


def from_answer(answer: bytes, size: int) -> Outputs:
    """Canonicalise an answer of ``size`` lines. This is faster if all are numbers, or all are vectors of numbers.

    1 and 1.0 are different outputs, as for Python mechanisms, since a reader of the output can tell them apart. Raises
    MechanismError that names the line that is not JSON.
    """
    if not size:
        return from_list([])
    # Lines are parsed together if the first is a number, or if each line is one vector in brackets.
    vectors = answer.startswith(b"[") and answer.endswith(b"]\n") and answer.count(b"]\n[") == size - 1
    if vectors or answer[0] in b"-0123456789":
        try:
            # This gives the same numbers as json.loads in a sixth of the time.
            values = from_json(b"[%s]" % answer[:-1].replace(b"\n", b","))
        except ValueError:
            values = []
        flat = values if not vectors else [*itertools.chain.from_iterable(values)]
        if len(values) == size and set(map(type, flat)) <= {int, float}:
            return from_list(_as_written(answer, values))
    lines = answer[:-1].split(b"\n")
    places, values = dict[bytes, int](), list[Any]()  # outputs that are not numbers often have few distinct values
    for number, line in enumerate(lines, start=1):
        if line not in places:
            places[line] = len(values)
            values.append(value_of(line, number))
    return from_list(values)[np.array([*map(places.__getitem__, lines)], np.intp)]


def _as_written(answer: bytes, values: list[Any]) -> list[Any]:
    """Return numbers or vectors. A number that is not written as Python writes it becomes a JsonNumber, its text."""
    between = (b"],[", b"]\n[") if answer.startswith(b"[") else (b",", b"\n")
    written, again = answer[:-1].replace(b" ", b""), to_json(values)[1:-1].replace(*between)
    if written == again:
        return values
    lines = zip(written.split(b"\n"), again.split(b"\n"), values, strict=True)
    return [value if line == own else value_of(line, at) for at, (line, own, value) in enumerate(lines, start=1)]


class MechanismFailure(Exception):  # noqa: N818 - an output, and no error of the auditor
    """A failure that a program reports as its output: ``{"error": "..."}``."""


def value_of(line: bytes, number: int) -> Any:
    """Return the value of a line. Raises MechanismError that names the line if it is not JSON."""
    try:
        require_shallow(line)
        value = json.loads(line, parse_float=json_number, parse_int=json_integer, object_pairs_hook=with_unique_keys)
    except (ValueError, RecursionError) as error:
        raise MechanismError(
            f"line {number} of the program's answer is not JSON: {_shown(line)} ({error}); each output is one JSON value "
            "on a line of its own"
        ) from None
    if isinstance(value, dict) and value.keys() == {"error"}:
        return MechanismFailure(value["error"])
    return words_as_floats(value)
