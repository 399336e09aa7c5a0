"""Read report.json into results, and compare it with a report made again. auditing/consistent.py checks its numbers."""

import contextlib
import functools
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError
from pydantic_core import SchemaValidator

from auditor.errors import AuditorError, InvalidInputError, did_you_mean
from auditor.events.event import Event
from auditor.events.observed import Observed, ObservedCurve, ObservedProfile, ObservedRule, ObservedScore
from auditor.interfaces import Test
from auditor.methods.curve import CurveTest
from auditor.methods.divergence import ScoreTest
from auditor.methods.guessing import ProfileTest
from auditor.results.fields import KIND_OF_EVENT
from auditor.results.files import to_json
from auditor.results.result import FORMAT, ProofFound, RunResult
from auditor.untrusted_files import read_json

# The value that must stand there, in words, by the first word of pydantic's kind of error.
_WANTED = {
    "int": "a whole number",
    "greater": "at least 0",
    "less": "below 2^63",
    "float": 'a number, "Infinity", "-Infinity" or "NaN"',
    "string": "text",
    "bool": "true or false",
    "dataclass": "an object",
    "dict": "an object",
    "mapping": "an object",
    "union": "an object that describes an event",
}


def parsed_report(file: str | Path) -> tuple[RunResult, Any]:
    """Return the run that a report.json holds, and the file's data. The run, written again, gives the same file.

    Whether the report agrees with itself is not checked; see auditor.auditing.consistent. Raises InvalidInputError if
    the file cannot be read, is not a report, or has another version. The message names the file and the place in it.
    """
    what = "a report of this program"
    data = read_json(Path(file), 1 << 26, what)
    try:
        return _run(data), data
    except InvalidInputError as error:
        raise InvalidInputError(f"{file} is not {what}: {error}") from None


def run_from_text(text: str) -> RunResult:
    """Return the run that a text in the form of report.json holds. Raises InvalidInputError if it holds none."""
    return _run(json.loads(text))


def _run(data: Any) -> RunResult:
    # Compared as text, since in Python 1 equals True and 1.0.
    if isinstance(data, dict) and "audits" in data and repr(data.get("version")) != repr(FORMAT):
        raise InvalidInputError(f"it has version {data.get('version')}; this auditor reads version {FORMAT}")
    try:
        run: RunResult = _validator().validate_python(data)
        return run
    except ValidationError as errors:
        # A missing list of audits is reported first, since such a file is not a report.
        first = min(errors.errors(), key=lambda error: error["loc"][:1] != ("audits",))
        raise InvalidInputError(_sentence(dict(first))) from None
    except UnicodeEncodeError as error:  # pydantic cannot quote half of a surrogate pair in an error
        raise InvalidInputError(error.object.encode("utf-8", "backslashreplace").decode("utf-8")) from None


def read_proof(data: Any) -> ProofFound:
    """Return how an attempt at a proof ended, from the plain data that were kept of it."""
    found: ProofFound = TypeAdapter(ProofFound).validate_python(data)
    return found


@functools.cache
def _validator() -> SchemaValidator:
    """Return the validator of a report. It stops at the first error in a list: a large file might have millions."""
    return SchemaValidator(_fast_to_fail(TypeAdapter(RunResult).core_schema))


def _fast_to_fail(schema: Any) -> Any:
    if isinstance(schema, list | tuple):
        return type(schema)(map(_fast_to_fail, schema))
    if not isinstance(schema, dict):
        return schema
    inner = {key: _fast_to_fail(value) for key, value in schema.items()}
    return {**inner, "fail_fast": True} if schema.get("type") in ("list", "tuple") else inner


def _sentence(error: dict[str, Any]) -> str:
    """Put an error of pydantic into words: the place in the file, what stands there, and what must stand there."""
    kind, steps = str(error["type"]), _steps(error["loc"])
    if kind == "missing":
        return f"{_place(steps[:-1])} lacks {steps[-1]}"
    if kind == "value_error":
        return f"{_place(steps)}: {error['ctx']['error']}"
    if kind in ("enum", "literal_error"):
        allowed = str(error["ctx"]["expected"]).replace(" or ", ", ").split(", ")
        wanted = did_you_mean(str(error["input"]), [name.strip("'") for name in allowed])
    else:
        wanted = f"it must be {_WANTED.get(kind.split('_', maxsplit=1)[0], 'a list')}"
    return f"{_place(steps)} is {_short(error['input'], 40, ensure_ascii=True)}; {wanted}"


def _steps(location: Sequence[str | int]) -> list[str]:
    """Write the path to a value in the file: keys in quotes, and entries of lists by number."""
    # The file does not have these steps of pydantic: the parts of a result, and kinds of events.
    unseen = {"judgement", "provenance", *KIND_OF_EVENT} - {"values", "points", "opposite"}
    visible_steps = [step for step in location if step not in unseen]
    words = [f'"{step}"' if isinstance(step, str) else f"entry {step + 1}" for step in visible_steps]
    return (
        [f"audit {int(visible_steps[1]) + 1}", *words[2:]]
        if len(visible_steps) > 1 and visible_steps[0] == "audits"
        else words
    )


def _place(steps: Sequence[str]) -> str:
    """Say where a value stands, from the inside out.

    >>> _place(_steps(("audits", 0, "judgement", "bound", "value")))
    '"value" of "bound" of audit 1'
    """
    return " of ".join(reversed(steps)) or "the file"


def _short(value: Any, most: int = 60, *, ensure_ascii: bool = False) -> str:
    text = json.dumps(value, ensure_ascii=ensure_ascii, default=repr)
    return text if len(text) <= most else f"{text[:most]}…"


# --- A report made again ---


def not_as_reported(reported: Any, remade: Any, place: str = "") -> Iterator[str]:
    """Yield a line for each value of a report that differs from the value made again: its place, and both values.

    Both arguments hold report.json as JSON reads it. NaN is text there, so a value equals itself.

    >>> list(not_as_reported({"bound": {"value": 1.2}, "seed": 1}, {"bound": {"value": 1.1}, "seed": 1}))
    ['bound.value: reported 1.2, made again 1.1']
    """
    if isinstance(reported, dict) and isinstance(remade, dict):
        for key in dict.fromkeys([*remade, *reported]):
            inner = f"{place}.{key}" if place else str(key)
            if key not in reported:
                yield f"{inner}: not in the report; made again, it is {_short(remade[key])}"
            elif key not in remade:
                yield f"{inner}: reported {_short(reported[key])}, not in the report made again"
            else:
                yield from not_as_reported(reported[key], remade[key], inner)
    elif isinstance(reported, list) and isinstance(remade, list) and len(reported) == len(remade):
        for number, (before, again) in enumerate(zip(reported, remade, strict=True), start=1):
            yield from not_as_reported(before, again, f"{place}[{number}]")
    elif type(reported) is not type(remade) or reported != remade:
        yield f"{place}: reported {_short(reported)}, made again {_short(remade)}"


def as_read(data: Any) -> Any:
    """Return plain data as it is after report.json is written and read."""
    return json.loads(to_json(data))


def frozen_test(event: Observed) -> Test[Any] | None:
    """Return the test of a report's event, which can count any outputs; None if the event is not a learned rule.

    Raises InvalidInputError if the report lacks the rule.
    """
    match event:
        case ObservedRule():
            return Event.of(event)
        case ObservedProfile():
            return ProfileTest(tuple(map(Event.of, event.points)))
        case ObservedScore():
            return ScoreTest.of(event)
        case ObservedCurve():
            return CurveTest.of(event)
        case _:
            return None


@contextlib.contextmanager
def fitting(what: str) -> Iterator[None]:
    """Raise InvalidInputError for any error, since the rule of a report may be whatever somebody wrote."""
    try:
        yield
    except (AuditorError, OSError, MemoryError):
        raise
    except Exception as error:
        raise InvalidInputError(f"{what} ({type(error).__name__}: {error})") from error
