"""How foreign accountants are called: in a process of their own, which may crash or hang without ending the audit."""

import io
import json
import pickle
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np

from auditor.accountants.exact_numbers import exact_number
from auditor.accountants.exact_process import exact_within
from auditor.accountants.target import RESERVED, Accountant, Parameters, States, accepted
from auditor.blackbox.command import Command
from auditor.blackbox.host import IMPORT_SECONDS, Hosted, hosted
from auditor.blackbox.mechanism import PythonSource, load
from auditor.blackbox.process import ProcessFailure, borrow_process, close_idle
from auditor.errors import InvalidInputError, MechanismError
from auditor.exact import Composition, Interval, Process
from auditor.exact.process_mapping import process_from_dict
from auditor.foreign_code import describe_error, result_or_error
from auditor.neighbours.pair import Pair
from auditor.untrusted_files import floats_as_words, require_shallow, words_as_floats

MOST_POINTS_OF_CURVE = 10_000


def build_process(template: Any, parameters: Parameters) -> Process | Composition:
    """Return the process that mappings describe, with the values of parameters in place of their names.

    Raises InvalidInputError as ``process_from_dict``.
    """
    if isinstance(template, Mapping):
        return process_from_dict({key: _filled(value, parameters) for key, value in template.items()})
    return Composition(tuple(_only_process(build_process(part, parameters)) for part in template))


def _only_process(made: Process | Composition) -> Process:
    assert isinstance(made, Process)
    return made


def _filled(value: Any, parameters: Parameters) -> Any:
    if isinstance(value, list | tuple):
        return tuple(_filled(item, parameters) for item in value)
    return parameters[value] if isinstance(value, str) and value in parameters else value


# --- Inside the process of the accountant ---


@dataclass
class Callee:
    """Both callables of an accountant, loaded when first asked. It is a mechanism of questions, as the host calls one."""

    stated: Callable[..., Any] | str
    process: Any
    search_path: tuple[str, ...]
    loaded: dict[str, tuple[Callable[..., Any], set[str] | None]] = field(default_factory=dict)

    def __call__(self, dataset: Any) -> bytes:
        """Answer ("load",), or ("stated" or "process", keywords)."""
        what, *rest = dataset
        if what == "load":
            return pickle.dumps({name: self._load(name)[1] for name in self._names()})
        return pickle.dumps(self._called(what, *rest))

    def _names(self) -> list[str]:
        return ["stated"] if self.process is None else ["stated", "process"]

    def _load(self, what: str) -> tuple[Callable[..., Any], set[str] | None]:
        if what not in self.loaded:
            named = getattr(self, what)
            function = load(named, self.search_path) if isinstance(named, str) else named
            self.loaded[what] = function, accepted(function)
        return self.loaded[what]

    def _called(self, what: str, keywords: dict[str, Any]) -> tuple[str, Any]:
        function, taken = self._load(what)
        given = {key: value for key, value in keywords.items() if taken is None or key in taken}
        found = result_or_error(function, **given)
        if issubclass(type(found), BaseException):
            return "raises", describe_error(found)[:500]
        if what == "process":
            if not isinstance(found, Process | Composition):
                return "raises", f"process returned {type(found).__name__}; it must return a Process or a Composition"
            return "process", found
        numbers = result_or_error(_numbers, found)
        if isinstance(numbers, BaseException):
            return "no number", f"it returned {type(found).__name__}, which is neither a number nor a curve"
        return "numbers", numbers


def _numbers(found: Any) -> tuple[tuple[float | None, float], ...]:
    """Return a stated number alone, or the points of a curve. Raises TypeError or ValueError for anything else."""
    if isinstance(found, Mapping):
        return _points(found.items())
    if getattr(found, "size", None) == 1 and callable(getattr(found, "item", None)):  # of NumPy, JAX, PyTorch
        found = found.item()
    try:
        return ((None, float(found)),)
    except (TypeError, ValueError):
        return _points(found)


def _points(pairs: Iterable[Any]) -> tuple[tuple[float | None, float], ...]:
    points = tuple((float(at), float(value)) for at, value in pairs)
    if not points or len(points) > MOST_POINTS_OF_CURVE:
        raise ValueError(f"a curve has 1 to {MOST_POINTS_OF_CURVE:,} points")
    return points


# --- In the auditor's process ---


class _Answers(pickle.Unpickler):
    """Reads processes and Python's plain values only."""

    def find_class(self, module: str, name: str) -> Any:
        if module != "auditor.exact.process":
            raise pickle.UnpicklingError(f"an object of {module}")
        return super().find_class(module, name)


# A stated number with None, or the points of a curve: its arguments with the numbers.
Numbers: TypeAlias = tuple[tuple[float | None, float], ...]


@dataclass(frozen=True, slots=True)
class Failure:
    """A call without a number. ``kind`` is "raises", "crashes or hangs" or "no number"."""

    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class Caller:
    """Asks an accountant. ``taken`` are the keywords that "stated" and "process" accept, None for all of them.

    ``limit`` is the most seconds of a call, and of an exact number; None if they run in this process, which nothing can stop.
    """

    accountant: Accountant
    ask: Callable[[Any], Any]
    taken: Mapping[str, set[str] | None]
    limit: float | None = None

    def stated(self, parameters: Parameters) -> "Numbers | Failure":
        """Return what the accountant states at parameters, or what went wrong."""
        kind, found = self._heard(("stated", dict(parameters)))
        return found if kind == "numbers" else Failure(kind, found)

    def process(self, parameters: Parameters, scale: float | None = None) -> Process | Composition | str | Failure:
        """Return the process at parameters, why there is none, or what went wrong."""
        known = dict(parameters) if scale is None else {**parameters, "scale": scale}
        template = self.accountant.process
        if isinstance(template, Mapping | list | tuple):
            try:
                return build_process(template, known)
            except InvalidInputError as error:
                return str(error)
        kind, found = self._heard(("process", known))
        return found if kind == "process" else str(found)

    def exact(self, process: Process | Composition, states: States, argument: Any, precision: float) -> Interval:
        """Return the interval that holds the exact number. Raises InvalidInputError as ``exact_number``."""
        if self.limit is None:
            return exact_number(process, states, argument, precision)
        return exact_within(self.limit, process, states, argument, precision)

    def uses(self, what: str, name: str) -> bool:
        """Whether "stated" or "process" receives a parameter."""
        if what == "process" and what not in self.taken:
            return name in self.accountant.template_names()
        taken = self.taken[what]
        return taken is None or name in taken

    def renew(self) -> None:
        """End the accountant's process, so that the next call meets no state of earlier ones."""
        close_idle("host")

    def close(self) -> None:
        """End what no other audit can use."""

    def _heard(self, question: Any) -> tuple[str, Any]:
        answer = self.ask(question)
        if isinstance(answer, ProcessFailure):
            return "crashes or hangs", answer.message()[:500]
        if isinstance(answer, BaseException):
            raise answer if isinstance(answer, MechanismError) else MechanismError(describe_error(answer))
        kind, found = _Answers(io.BytesIO(answer)).load()
        return str(kind), found


@dataclass(frozen=True, slots=True)
class ProgramCaller(Caller):
    """Asks an accountant that is a program. One answer has the number and, unless ``process`` is given, the process."""

    command: Command = field(kw_only=True)
    waiting: dict[str, tuple[str, "dict[str, Any] | Failure"]] = field(default_factory=dict)
    """The last answer, until both its parts were asked for."""

    def stated(self, parameters: Parameters) -> "Numbers | Failure":
        answer = self._answer("stated", parameters)
        if isinstance(answer, Failure):
            return answer
        stated = answer.get("stated")
        curve = [(answer["at"], stated)] if "at" in answer else stated
        try:
            return _points(curve) if isinstance(curve, list) else _numbers(curve)
        except (TypeError, ValueError):
            return Failure("no number", f"it answered {str(answer)[:200]}, which states neither a number nor a curve")

    def process(self, parameters: Parameters, scale: float | None = None) -> Process | Composition | str | Failure:
        if not self.accountant.answers_with_process:
            return super(ProgramCaller, self).process(parameters, scale)
        answer = self._answer("process", parameters)
        if isinstance(answer, Failure):
            return answer
        template = answer.get("process")
        if not isinstance(template, dict | list):
            raise MechanismError(
                f'{self.accountant.name}: the command "{self.command.name}" answered {str(answer)[:200]}; an answer needs '
                '"process", the keys of a process, or a list of such mappings'
            )
        try:
            return build_process(template, {})
        except InvalidInputError as error:
            return str(error)

    def renew(self) -> None:
        close_idle(self.command)

    def close(self) -> None:
        self.renew()

    def _answer(self, part: str, parameters: Parameters) -> "dict[str, Any] | Failure":
        key = repr(parameters)
        other, answer = self.waiting.pop(key, (part, None))
        if answer is None or other == part:
            answer = self._asked(parameters)
            self.waiting.clear()
            if self.accountant.answers_with_process:
                self.waiting[key] = part, answer
        return answer

    def _asked(self, parameters: Parameters) -> "dict[str, Any] | Failure":
        request = json.dumps({"parameters": floats_as_words(dict(parameters))}, allow_nan=False) + "\n"
        try:
            with borrow_process(self.command, self.command.start) as process:
                # The first answer may take longer, since an import may.
                assert self.limit is not None
                limit = self.limit if process.loaded[0] else max(self.limit, IMPORT_SECONDS)
                process.send(request.encode())
                line, _ = process.receive_lines(1, time.monotonic() + limit, wait=True)
                process.loaded = b"accountant", (False, False)
        except ProcessFailure as failure:
            return Failure("crashes or hangs", failure.message()[:500])
        try:
            require_shallow(line)
            answer = words_as_floats(json.loads(line))
        except (ValueError, RecursionError):
            answer = None
        if not isinstance(answer, dict):
            raise MechanismError(
                f'{self.accountant.name}: the command "{self.command.name}" answered {line[:200]!r}; it must answer each line of '
                'its input with one line, {"stated": …, "process": …} or {"error": "…"}'
            )
        return Failure("raises", str(answer["error"])[:500]) if "error" in answer else answer


def caller_of(accountant: Accountant, *, isolate: bool, limit: float, ends: float | None = None) -> Caller:
    """Return what asks an accountant, in a process of its own with ``isolate``; a call may take ``limit`` seconds.

    Raises MechanismError if a callable cannot be imported, or cannot be sent to another process, or if a program is not found;
    and InvalidInputError for a parameter that no callable accepts.
    """
    if isinstance(accountant.stated, Command):
        accountant.stated.find()
        close_idle(accountant.stated)  # what an earlier audit asked must not matter
        parts = ("stated", "process") if accountant.answers_with_process else ("stated",)
        return ProgramCaller(accountant, _no_callable, dict.fromkeys(parts), limit, command=accountant.stated)
    named = callable(accountant.process) or isinstance(accountant.process, str)
    callee = Callee(accountant.stated, accountant.process if named else None, accountant.search_path)
    if isolate:
        # The first question has no limit, since an import may take long.
        host: Hosted = hosted(PythonSource(accountant.name, function=callee), None, ends)
        taken = _known(accountant, _asked(host, ("load",)))
        limited = replace(host, limit=limit)
        made = Caller(accountant, lambda question: _asked(limited, question), taken, limit)
    else:
        made = Caller(accountant, callee, _known(accountant, callee(("load",))))
    for name in accountant.parameters:
        if name not in RESERVED and not (made.uses("stated", name) or made.uses("process", name)):
            raise InvalidInputError(
                f"{accountant.name}: neither stated nor process accepts the parameter {name}; remove it, or correct its name"
            )
    return made


def _no_callable(question: Any) -> Any:
    raise AssertionError(f"a program has no callables, and was asked {question!r}")


def _asked(host: Hosted, question: Any) -> Any:
    return host.call_once(Pair(question, question), "left", np.random.default_rng(0))


def _known(accountant: Accountant, answer: Any) -> Mapping[str, set[str] | None]:
    """Return the keywords that each callable takes. Raises MechanismError if they could not be loaded."""
    if isinstance(answer, BaseException):
        text = answer.message() if isinstance(answer, ProcessFailure) else str(answer)
        raise MechanismError(f"{accountant.name}: {text}")
    taken: Mapping[str, set[str] | None] = _Answers(io.BytesIO(answer)).load()
    return taken
