"""A report made again: what differs from it, and counts by its own rules on the outputs that were recorded."""

import contextlib
import json
import operator
from collections.abc import Iterable, Iterator
from functools import reduce
from typing import Any

from auditor.blackbox.sample import Sample
from auditor.errors import AuditorError, InvalidInputError
from auditor.events.event import Event
from auditor.events.observed import Observed, ObservedProfile, ObservedRule, ObservedScore
from auditor.methods.divergence import ScoreTest
from auditor.methods.guessing import ProfileTest
from auditor.methods.method import Test
from auditor.results.files import to_json

# A value in a line about a difference is cut after so many characters.
SHOWN = 60


def not_as_reported(reported: Any, remade: Any, place: str = "") -> Iterator[str]:
    """Yield a line for each value of a report that differs from the value made again: its place, and both values.

    Both arguments hold report.json as JSON reads it. NaN is written as text there, so equal values are the same.

    >>> list(not_as_reported({"bound": {"value": 1.2}, "seed": 1}, {"bound": {"value": 1.1}, "seed": 1}))
    ['bound.value: reported 1.2, made again 1.1']
    """
    if isinstance(reported, dict) and isinstance(remade, dict):
        for key in dict.fromkeys([*remade, *reported]):
            inner = f"{place}.{key}" if place else str(key)
            if key not in reported:
                yield f"{inner}: not in the report, made again {_short(remade[key])}"
            elif key not in remade:
                yield f"{inner}: reported {_short(reported[key])}, not in the report made again"
            else:
                yield from not_as_reported(reported[key], remade[key], inner)
    elif isinstance(reported, list) and isinstance(remade, list) and len(reported) == len(remade):
        for number, (one, again) in enumerate(zip(reported, remade, strict=True), start=1):
            yield from not_as_reported(one, again, f"{place}[{number}]")
    elif type(reported) is not type(remade) or reported != remade:
        yield f"{place}: reported {_short(reported)}, made again {_short(remade)}"


def as_read(data: Any) -> Any:
    """Return plain data as report.json holds it, read back."""
    return json.loads(to_json(data))


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}…"


def frozen_test(event: Observed) -> Test[Any] | None:
    """Return the test of a report, which can count in any outputs. None if its event is not a learned rule.

    Raises InvalidInputError if the report lacks the rule.
    """
    match event:
        case ObservedRule():
            return Event.of(event)
        case ObservedProfile():
            return ProfileTest(tuple(map(Event.of, event.points)))
        case ObservedScore():
            return ScoreTest.of(event)
        case _:
            return None


@contextlib.contextmanager
def fitting(what: str) -> Iterator[None]:
    """Blame the rule of a report for any error: it may be whatever somebody wrote. Raises InvalidInputError then."""
    try:
        yield
    except (AuditorError, OSError, MemoryError):
        raise
    except Exception as error:
        raise InvalidInputError(f"{what} ({type(error).__name__}: {error})") from error


def counted(test: Test[Any], samples: Iterable[Sample]) -> Any:
    """Return the counts of a test in all of these outputs.

    Raises InvalidInputError if there are none.
    """
    counts = [test.count(sample) for sample in samples]
    if not counts:
        raise InvalidInputError("there are no outputs to count")
    return reduce(operator.add, counts)
