"""Write a first configuration for mechanisms, from their signatures and from trial calls.

A trial calls the mechanism as `auditor check` does, on one kind of data set after another.
"""

import contextlib
import inspect
import json
import math
import os
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.resources import files
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

import jinja2
import numpy as np

from auditor.adapters import Adapted, adapt_object
from auditor.auditing.check import CHECK_SECONDS, draw_once, raised_words
from auditor.blackbox.command import LONGER
from auditor.blackbox.mechanism import find, load, signature_of
from auditor.blackbox.process import TimedOut
from auditor.config.load import load_configuration, search_path
from auditor.errors import AuditorError, InvalidInputError, MechanismError, NoAnswerError, visible
from auditor.foreign_code import result_or_error

# At most MOST_KINDS kinds of data sets are tried for a mechanism.
MOST_KINDS = 60
# Values for parameters without a default, by name, or else by annotation. Numbers that belong to no claim are not 1, since
# with 1 a mechanism that forgets to multiply or divide would go unnoticed.
_GUESSES: dict[str, Any] = {"bool": True, "int": 3, "str": "text", "epsilon": 1.0, "eps": 1.0, "delta": 1e-5}
_GUESSES |= {"rho": 0.5, "mu": 1.0, "sensitivity": 1.0, "order": 2.0}
# The forms of a frame (the key ``as``). If patterns fit the annotation or name of the argument, only these forms are tried.
_CONTAINERS = {
    "rows": r"\[(dict|Mapping)\b",
    "pandas": r"^(?!pl\b|polars\b).*\bDataFrame\b",
    "polars": r"^(?!pd\b|pandas\b).*\bDataFrame\b",
    "lazy": r"\bLazyFrame\b|^lf$|^lazyframe$",
}
# Types of a column, in the order in which they are tried.
_TYPES = (
    "{type: categorical, choices: [a, b, c], null: true}",
    "{type: number, low: 0, high: 10}",
    "{type: integer, low: 0, high: 10}",
    "{type: datetime}",
    "{type: date}",
    "{type: boolean}",
)
# The names of columns that identify the owner of a row.
_PERSON = re.compile(r"(^|_)(id|uid|uuid|user|person|patient|customer|client|member|household|voter|student)s?$", re.I)
# Finds the name of a missing column in an error. In pandas, a column may be read as an attribute.
_MISSING = re.compile(
    r"(?:(?:KeyError|ColumnNotFoundError): .*?|'(?:DataFrame\w*|Series)' object has no attribute )['\"]([^'\"\[\]]*\w)['\"]",
    re.DOTALL,
)
_VALUE = "{domain: value, values: [0, 1]}"
_LISTS = "{pairs: [{left: [1, 2, 3], right: [1, 2]}], relation: add_remove}"
_TOTALS = "{domain: totals, contributions: [[1, 0], [0, 1]], people: {low: 0, high: 100}}"


@dataclass(frozen=True, slots=True)
class Frame:
    """A kind of frame to try. ``form`` is the key ``as``. ``columns`` are the known columns, each with the index of its type
    in _TYPES. ``owner`` is the name of the column that identifies the owner of a row, or empty.
    """

    form: str
    columns: tuple[tuple[str, int], ...] = ()
    owner: str = ""

    def __str__(self) -> str:
        columns = ", ".join(f"{in_yaml(name)}: {_TYPES[i]}" for name, i in self.columns)
        columns = columns or ("" if self.owner else f"value: {_TYPES[1]}")
        owner = f"id: {in_yaml(self.owner)}, rows_per_person: {{low: 1, high: 3}}, " if self.owner else ""
        return f"{{domain: frame, columns: {{{columns}}}, {owner}size: {{low: 0, high: 20}}, as: {self.form}}}"

    def order(self) -> tuple[Any, ...]:
        """Return the key for sorting: frames with more known columns come first, then those with earlier types."""
        places = [i for _, i in self.columns]
        return -len(places) - bool(self.owner), sum(places), places

    def after(self, problem: str) -> "Iterator[Frame]":
        """Yield the frame with the column that the problem says is missing. Without a new one, try the next type of each."""
        missing = _MISSING.search(problem)
        if missing is None or missing[1] in {self.owner, *dict(self.columns)}:
            for k, (name, i) in enumerate(self.columns):
                if i + 1 < len(_TYPES):
                    yield replace(self, columns=(*self.columns[:k], (name, i + 1), *self.columns[k + 1 :]))
        elif _PERSON.search(missing[1]) and not self.owner:
            yield replace(self, owner=missing[1])
        else:
            yield replace(self, columns=(*self.columns, (missing[1], 0)))


def in_yaml(value: Any) -> str:
    """Return a value as YAML: words without quotes, all else as JSON, which is YAML."""
    is_word = isinstance(value, str) and value.isidentifier() and value.lower() not in ("true", "false", "null")
    return str(value) if is_word else json.dumps(value, ensure_ascii=False)


@dataclass(frozen=True, slots=True)
class FirstAudit:
    """An audit of a first configuration. ``data`` are the kinds of data sets to try, in this order. ``guessed`` are the keys
    with guessed values. ``notes`` describe the outputs on ``neighbours``, ``problem`` why these fail `auditor check`.
    """

    name: str
    mechanism: str
    kind: str
    data: Sequence[str | Frame]
    guessed: Sequence[str]
    samples: str = "100_000"
    parameters: Mapping[str, Any] = field(default_factory=dict)
    claim: Mapping[str, Any] = field(default_factory=lambda: {"epsilon": 1.0})
    adapted: Adapted | None = None
    is_session: bool = False
    neighbours: str | Frame = ""
    notes: tuple[str, ...] = ()
    problem: str = ""


def of_program(words: Sequence[str]) -> FirstAudit:
    """Return what is known of a program and its arguments."""
    name = Path(next((word for word in reversed(words) if not word.startswith("-")), words[0])).name
    mechanism = f"{{command: {json.dumps(list(words), ensure_ascii=False)}}}"
    kind, data = "a program: reads requests and answers with outputs, JSON lines both", (_LISTS, _VALUE, _TOTALS)
    return FirstAudit(name, mechanism, kind, data, ["epsilon", "claim", "neighbours"], parameters={"epsilon": 1.0})


def of_python(name: str, file: Path) -> FirstAudit:
    """Return what is known of a function or an object, for a configuration to be put in ``file``.

    Raises MechanismError if it cannot be imported, if it is a class that makes no sessions, or if it takes no data set.
    """
    place, _, attribute = name.rpartition(":")
    name = f"{os.path.relpath(place, file.parent)}:{attribute}" if place.endswith(".py") else name
    thing = find(name, search_path(file))
    if said := adapt_object(thing, {}):
        mechanism, kind = f"{{object: {json.dumps(name)}}}", "an object, which says itself what the file leaves out"
        data, missing = _data(0, 10), [key for key in ("claim", "neighbours") if getattr(said, key) is None]
        return FirstAudit(attribute, mechanism, kind, data, missing, adapted=said)
    taken = dict(signature_of(load(name, search_path(file)), name).parameters)
    if (is_class := inspect.isclass(thing)) and "rng" not in [*taken][1:]:
        raise MechanismError(
            f'"{name}" is a class; make an instance in its module, such as mechanism = {attribute}(...). If it can be called, '
            "name it. Otherwise write a function of data and rng that calls the instance, or returns a session for `ask`"
        )
    if not taken:
        raise MechanismError(f'mechanism "{name}" takes no arguments; it must take a data set: f(dataset, rng)')
    dataset = taken.pop(next(iter(taken)))
    batched, takes_rng = (taken.pop(key, None) is not None for key in ("size", "rng"))
    parameters = dict(_parameters(taken))
    numbers = {key: v for key, v in parameters.items() if isinstance(v, int | float) and not isinstance(v, bool)}
    claim = _claim(numbers, is_query=not batched and not takes_rng)
    kind = "many outputs a call" if batched else "one output a call; a parameter `size`, for many, would be faster"
    kind = "a session: what it answers to a script of questions is the output" if is_class else kind
    guessed = [key for key in parameters if taken[key].default is dataset.empty]
    return FirstAudit(
        name=attribute,
        mechanism=json.dumps(name, ensure_ascii=False),
        kind=kind if takes_rng else f"{kind}; no `rng` parameter: runs are not reproducible",
        data=_data_for(dataset, numbers),
        guessed=[*guessed, *["claim"] * (not claim), "neighbours"],
        samples="1_000_000" if batched else "100_000",
        parameters=parameters,
        claim=claim or {"epsilon": 1.0},
        is_session=is_class,
    )


def _data_for(dataset: inspect.Parameter, numbers: Mapping[str, float]) -> list[str | Frame]:
    """Return the kinds of data sets to try, by annotation and name of the parameter. ``numbers`` may have bounds of records."""
    annotation = dataset.annotation
    words = dataset.name if annotation is dataset.empty else inspect.formatannotation(annotation).strip("'\"")
    if named := [Frame(form) for form, mark in _CONTAINERS.items() if re.search(mark, words)]:
        return [*named]
    data, frames = _data(numbers.get("lower", 0), numbers.get("upper", 10)), [*map(Frame, _CONTAINERS)]
    if dataset.name.lower() in ("df", "frame", "table", "data_frame", "dataframe"):
        return [*frames[1:], frames[0], *data]
    if dataset.name in ("X", "matrix"):
        data = [data[2], *data[:2], *data[3:]]
    one_value = {"value", "x", "bit", "answer", "number", "true_value", "secret", "bool", "int", "float"}
    return [*[_VALUE] * bool({dataset.name, words} & one_value), *data, *frames[:3]]


def _data(low: float, high: float) -> list[str]:
    records = f"{{domain: records, record: {{low: {low:g}, high: {high:g}}}, size: "
    added = records + "{low: 1, high: 5}, relation: add_remove"
    # A mechanism may return a number for each record. Then all data sets need the same number of records.
    replaced = records + "{low: 5, high: 5}, relation: substitute}"
    matrix = added + ", columns: 2}"  # before frames, which a function of arrays may take by chance
    return [added + "}", added + ", container: list}", matrix, _LISTS, _VALUE, replaced, _TOTALS]


def _parameters(taken: Mapping[str, inspect.Parameter]) -> Iterator[tuple[str, Any]]:
    """Yield the name of each parameter, with its default or a guess. Leave out a parameter whose default YAML cannot hold."""
    for name, parameter in taken.items():
        kind = str(getattr(parameter.annotation, "__name__", parameter.annotation))
        guess = _GUESSES.get(name, _GUESSES.get(kind, 3.0))
        value = guess if parameter.default is parameter.empty else parameter.default
        is_one = parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
        if is_one and result_or_error(is_plain, value) is True:
            yield name, value


def is_plain(value: Any) -> bool:
    """Return whether YAML holds a value as it is: numbers, texts, and lists of them."""
    if isinstance(value, list | tuple):
        return all(map(is_plain, value))
    if isinstance(value, str):
        value.encode()  # raises for a lone surrogate; a value for which this function raises is not plain
        return True
    return isinstance(value, int | float) and math.isfinite(value)


def _claim(numbers: Mapping[str, float], *, is_query: bool) -> dict[str, float]:
    """Return the claim that parameters state by their names. Return an empty dict if they state none."""
    numbers = {{"eps": "epsilon"}.get(name, name): value for name, value in numbers.items()}
    forms = [("order", "epsilon"), ("epsilon", "delta"), ("epsilon",), ("rho",), ("mu",), ("sensitivity",) * is_query]
    # With a delta of 0 the claim is pure privacy.
    return next(({key: numbers[key] for key in form} for form in forms if all(numbers.get(k, 0) > 0 for k in form)), {})


def scaffold(words: Sequence[str], file: Path) -> tuple[str, list[FirstAudit]]:
    """Return the text of a configuration, to be put in ``file``, and its audits.

    ``words`` are names "file.py:function" or "module:object", or one command. Raises InvalidInputError if the folder does
    not exist or cannot be written to, and for names mixed with a command. Raises MechanismError as ``of_python``.
    """
    if not file.parent.is_dir():
        raise InvalidInputError(f"the folder {file.parent} for {file.name} does not exist; make it first")
    if words[0].endswith(".py") and not os.access(words[0], os.X_OK):
        raise InvalidInputError(f"{words[0]} is a file; say which function of it is the mechanism: {words[0]}:function")
    if wrong := [word for word in words if ":" not in word or word.startswith("-")] if ":" in words[0] else []:
        advice = "after a function, name others only: file.py:function, or module:function"
        raise InvalidInputError(f'"{wrong[0]}" is no function; {advice}')
    first_audits = [of_python(word, file) for word in dict.fromkeys(words)] if ":" in words[0] else [of_program(words)]
    with trial_beside(file) as trial:
        audits = [_tried(audit, trial, file) for audit in first_audits]
    return _text(audits), audits


@contextlib.contextmanager
def trial_beside(file: Path) -> Iterator[Path]:
    """Give a temporary file in the folder of ``file``, for trials. Raises InvalidInputError if none can be made."""
    try:
        trial = NamedTemporaryFile(dir=file.parent, prefix=".first-", suffix=".yaml")  # noqa: SIM115 - closed below
    except OSError as error:
        raise InvalidInputError(f"{file} cannot be written: {error.strerror}") from None
    with trial:
        yield Path(trial.name)


def _tried(audit: FirstAudit, trial: Path, file: Path) -> FirstAudit:
    """Return the audit with the first data sets that pass `auditor check`. If none pass, choose those with most columns."""
    queue, queued, failed = [*enumerate(audit.data)], {*audit.data}, list[FirstAudit]()
    end = time.monotonic() + 60.0  # after that, no other kind is tried
    while queue and len(failed) < MOST_KINDS and time.monotonic() < end:
        queue.sort(key=lambda each: (each[0], each[1].order() if isinstance(each[1], Frame) else ()))
        kind, data = queue.pop(0)
        tried = replace(audit, neighbours=data)
        try:
            before = (f"with other data sets: {failed[0].problem}",) if kind else ()
            return replace(tried, notes=(*_looked_at(tried, trial), *before))
        except NoAnswerError as error:  # each wait costs time, and other data sets are unlikely to help
            return replace(tried, problem=str(error))
        except AuditorError as error:
            problem = str(error).replace(str(trial), str(file))
        failed.append(replace(tried, problem=problem))
        if isinstance(data, Frame):
            queue += [(kind, other) for other in {*data.after(problem)} - queued]
            queued |= {other for _, other in queue}
    best = max(failed, key=lambda each: len(getattr(each.neighbours, "columns", ())))
    advice = f"write data sets that it takes under `neighbours` (kinds tried: {len(failed)})"
    return replace(best, problem=f"{best.problem}; {advice}")


def _looked_at(audit: FirstAudit, trial: Path) -> Iterator[str]:
    """Yield words for the first outputs, and any doubt about them. Raises AuditorError if other data sets should be tried."""
    trial.write_text(_text([audit]), encoding="utf-8")
    [plan] = load_configuration(trial).plans
    first = draw_once(plan)
    for failure in first.failures:
        if isinstance(failure, TimedOut):
            raise NoAnswerError(f"on a first data set the mechanism gave no answer in {CHECK_SECONDS:g} s{LONGER}")
        raise MechanismError(f"on a first data set the mechanism raises {raised_words(failure)}")
    left, right, *records = (
        len(data) if isinstance(data, list | tuple) or (isinstance(data, np.ndarray) and data.ndim) else None
        for data in (first.left, first.right, first.pair.left, first.pair.right)
    )
    if None not in records and [left, right] == records and left != right:
        raise MechanismError("it returns one number for each record of the data set, which reveals their number")
    yield str(first)
    if doubt := first.doubt():
        yield f"look at this: {doubt}"


def _text(audits: Sequence[FirstAudit]) -> str:
    return rendered("audit.yaml.jinja", audits)


def rendered(template: str, audits: Sequence[Any]) -> str:
    """Return the text of a template of this package for some audits."""
    text = files("auditor.config").joinpath(template).read_text(encoding="utf-8")
    reader = jinja2.Environment(trim_blocks=True, keep_trailing_newline=True, undefined=jinja2.StrictUndefined)
    return reader.from_string(text).render(audits=audits, yaml=in_yaml, said=visible)
