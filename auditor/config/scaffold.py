"""A first configuration for a mechanism, from its signature and from what it answers.

The signature gives the parameters and their defaults. It also gives the claim, if a parameter has the name of one, and whether
one call returns many outputs. Data sets are tried, one kind after another. The text marks each guess.
"""

import inspect
import json
import math
import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from auditor.auditing.check import CHECK_SECONDS, draw_once
from auditor.blackbox.command import LONGER
from auditor.blackbox.mechanism import PythonSource, signature_of
from auditor.blackbox.process import ProcessFailure, TimedOut
from auditor.config.frame_scaffold import FrameGuess, frame_guess
from auditor.config.load import load_configuration, search_path
from auditor.errors import AuditorError, InvalidInputError, MechanismError, NoAnswerError

GUESS = "  # a guess: set it"
# Values for parameters without a default, by name, then by annotation. Numbers that no claim has are not 1: a mechanism that
# forgets to multiply or divide by such a number would else go unnoticed.
_BY_NAME = {"epsilon": 1.0, "eps": 1.0, "delta": 1e-5, "rho": 0.5, "mu": 1.0, "sensitivity": 1.0, "order": 2.0}
# The ends of the records that are tried.
_BY_NAME |= dict.fromkeys(("lower", "low", "lower_bound", "lb", "minimum"), 0.0)
_BY_NAME |= dict.fromkeys(("upper", "high", "upper_bound", "ub", "maximum"), 10.0)
_OTHER = 3.0
_BY_KIND: dict[str, Any] = {"bool": True, "int": 3, "float": _OTHER, "str": "text"}
# First parameters of these names or annotations are one value rather than many records.
_ONE_VALUE = {"value", "x", "bit", "answer", "number", "true_value", "secret"}

_RECORDS = (
    "numbers, one a person; a person is added or removed",
    "{domain: records, record: {low: 0, high: 10}, size: {low: 1, high: 5}, relation: add_remove}",
)
_RECORDS_IN_A_LIST = (
    "numbers in a list, one a person; a person is added or removed",
    f"{_RECORDS[1][:-1]}, container: list}}",
)
_VALUE = ("one value; any other is its neighbour", "{domain: value, values: [0, 1]}")
_LISTS = ("two lists; one person more, or less", "{pairs: [{left: [1, 2, 3], right: [1, 2]}], relation: add_remove}")
_TOTALS = (
    "two sums over people; what one person adds to them",
    "{domain: totals, contributions: [[1, 0], [0, 1]], people: {low: 0, high: 100}}",
)


@dataclass(frozen=True, slots=True)
class Scaffold:
    """The text of a configuration, and why it does not pass `auditor check`; an empty reason if it passes."""

    text: str
    problem: str = ""


def scaffold(words: Sequence[str], file: Path) -> Scaffold:
    """Return a configuration, to be put in ``file``, for "file.py:function", "module:function", or a command of several words.

    The mechanism is called a few times to see which data sets it takes. Raises InvalidInputError for a folder that does not
    exist or cannot be written to, and MechanismError if the mechanism cannot be imported.
    """
    if not file.parent.is_dir():
        raise InvalidInputError(f"the folder {file.parent} for {file.name} does not exist; make it first")
    if len(words) == 1 and words[0].endswith(".py") and not os.access(words[0], os.X_OK):
        raise InvalidInputError(f"{words[0]} is a file; say which function of it is the mechanism: {words[0]}:function")
    found = _python(words[0], file) if len(words) == 1 and ":" in words[0] else _program(words)
    problems: list[str] = []
    frame = found.frame
    while frame is not None:
        text = _text(found, frame.neighbours())
        problem = _check(text, file)
        if not problem:
            return Scaffold(text)
        problems.append(problem)
        frame = frame.after(problem)
    for neighbours in found.neighbours:
        text = _text(found, neighbours)
        try:
            problem = _check(text, file)
        except NoAnswerError as error:  # each wait costs time, and another data set is unlikely to help
            problems.append(str(error))
            break
        if not problem:
            return Scaffold(text)
        problems.append(problem)
    return Scaffold(_text(found, found.neighbours[0]), problems[0])


@dataclass(frozen=True, slots=True)
class _Found:
    """What is known of a mechanism."""

    name: str
    mechanism: str
    kind: str  # in words
    samples: str
    parameters: Mapping[str, tuple[Any, bool]]  # value, and whether it is a guess
    claim: Mapping[str, Any]  # empty if it can only be guessed
    neighbours: Sequence[tuple[str, str]]  # to try, in this order: in words, and in YAML
    frame: FrameGuess | None = None  # to try before these


def _program(words: Sequence[str]) -> _Found:
    return _Found(
        name=Path(words[-1]).name,
        mechanism=f"{{command: {json.dumps(list(words), ensure_ascii=False)}}}",
        kind="a program: reads requests and answers with outputs, JSON lines both",
        samples="100_000",
        parameters={"epsilon": (1.0, True)},
        claim={},
        neighbours=(_LISTS, _VALUE, _TOTALS),
    )


def _python(name: str, file: Path) -> _Found:
    place, _, attribute = name.rpartition(":")
    if place.endswith(".py"):
        name = f"{os.path.relpath(place, file.parent)}:{attribute}"
    function = PythonSource(name, search_path=search_path(file)).load()
    if inspect.isclass(function):
        raise MechanismError(
            f'"{name}" is a class; make an instance in its module, such as mechanism = {attribute}(...), and give its name'
        )
    taken = dict(signature_of(function, name).parameters)
    if not taken:
        raise MechanismError(f'mechanism "{name}" takes no arguments; it must take a data set: f(dataset, rng)')
    dataset = taken.pop(next(iter(taken)))
    batched, takes_rng = (taken.pop(key, None) is not None for key in ("size", "rng"))
    parameters = dict(_parameters(taken.values()))
    kind = (
        "many outputs a call" if batched else "one output a call; a parameter `size`, for many at once, would be faster"
    )
    if not takes_rng:
        kind += "; no `rng` parameter: runs are not reproducible"
    others = (_RECORDS, _RECORDS_IN_A_LIST, _LISTS)
    one_value = dataset.name in _ONE_VALUE or _kind_of(dataset) in ("bool", "int", "float")
    return _Found(
        name=attribute,
        mechanism=json.dumps(name, ensure_ascii=False),
        kind=kind,
        samples="1_000_000" if batched else "100_000",
        parameters=parameters,
        claim=_claim(parameters, is_query=not batched and not takes_rng),
        neighbours=(_VALUE, *others, _TOTALS) if one_value else (*others, _VALUE, _TOTALS),
        frame=frame_guess(function, dataset),
    )


def _kind_of(parameter: inspect.Parameter) -> str:
    return str(getattr(parameter.annotation, "__name__", parameter.annotation))


def _parameters(taken: Iterable[inspect.Parameter]) -> Iterator[tuple[str, tuple[Any, bool]]]:
    """Yield the name of each parameter, with its default or a guess, and whether it is a guess."""
    for parameter in taken:
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            continue
        if parameter.default is not parameter.empty:
            # A default that YAML cannot hold is not written: the mechanism sets it.
            if _is_plain(parameter.default):
                yield parameter.name, (parameter.default, False)
            continue
        guess = _BY_NAME.get(parameter.name, _BY_KIND.get(_kind_of(parameter), _OTHER))
        yield parameter.name, (guess, True)


def _is_plain(value: Any) -> bool:
    if isinstance(value, float):
        return math.isfinite(value)
    return isinstance(value, bool | int | str) or (isinstance(value, list | tuple) and all(map(_is_plain, value)))


def _claim(parameters: Mapping[str, tuple[Any, bool]], *, is_query: bool) -> dict[str, Any]:
    """Return the claim that the names of parameters give; empty if they give none."""
    numbers = {
        {"eps": "epsilon"}.get(name, name): value
        for name, (value, _) in parameters.items()
        if isinstance(value, int | float) and not isinstance(value, bool)
    }
    forms = [("order", "epsilon"), ("epsilon", "delta"), ("epsilon",), ("rho",), ("mu",)]
    for form in [*forms, ("sensitivity",)] if is_query else forms:
        # With a delta of 0 the claim is pure privacy.
        if all(numbers.get(key, 0) > 0 for key in form):
            return {key: numbers[key] for key in form}
    return {}


def _text(found: _Found, neighbours: tuple[str, str]) -> str:
    import jinja2

    template = files("auditor.config").joinpath("audit.yaml.jinja").read_text(encoding="utf-8")
    reader = jinja2.Environment(trim_blocks=True, keep_trailing_newline=True, undefined=jinja2.StrictUndefined)
    about, spelled = neighbours
    claim = ", ".join(f"{key}: {_yaml(value)}" for key, value in (found.claim or {"epsilon": 1.0}).items())
    known = {"found": found, "claim": f"{{{claim}}}", "about": about, "spelled": spelled}
    return reader.from_string(template).render(known, yaml=_yaml, guess=GUESS)


def _yaml(value: Any) -> str:
    """Return a value in YAML: as JSON, which is YAML, but words without quotes."""
    if isinstance(value, str) and value.isidentifier() and value.lower() not in ("true", "false", "null"):
        return value
    return json.dumps(value, ensure_ascii=False)


def _check(text: str, file: Path) -> str:
    """Return why a configuration fails `auditor check`, or why its outputs suggest other data sets; else an empty text."""
    try:
        handle, name = tempfile.mkstemp(dir=file.parent, prefix=".first-", suffix=".yaml")
    except OSError as error:
        raise InvalidInputError(f"{file} cannot be written: {error.strerror}") from None
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as written:
            written.write(text)
        [plan] = load_configuration(Path(name)).plans
        pair, *outputs = draw_once(plan)
    except NoAnswerError:
        raise
    except AuditorError as error:
        return str(error).replace(name, str(file))
    finally:
        Path(name).unlink()
    for output in outputs:
        if isinstance(output, TimedOut):
            raise NoAnswerError(f"on a first data set the mechanism gave no answer in {CHECK_SECONDS:g} s{LONGER}")
        if isinstance(output, BaseException):
            message = output.message() if isinstance(output, ProcessFailure) else output
            raised = f"{type(output).__name__}: {message}"
            return (
                f"on a first data set the mechanism raises {raised}; write data sets that it takes under `neighbours`"
            )
    sizes = [(_length(output), _length(data)) for output, data in zip(outputs, (pair.left, pair.right), strict=True)]
    if all(answer == records is not None for answer, records in sizes) and len(set(sizes)) > 1:
        return "it returns one number for each record of the data set, which reveals their number"
    return ""


def _length(data: Any) -> int | None:
    return len(data) if hasattr(data, "__len__") and not isinstance(data, str) else None
