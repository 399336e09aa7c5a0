"""A first guess at a mechanism's audit: its parameters, its claim, and the data sets to try, from its signature and its code.

The signature gives the parameters and their defaults. It also gives the claim, if a parameter has the name of one, and whether
one call returns many outputs. An object of a library says its claim and neighbours itself.
"""

import inspect
import json
import math
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from auditor.adapters import Adapted, adapt
from auditor.blackbox.mechanism import find, load, signature_of
from auditor.config.frame_scaffold import FrameGuess, frame_guess, rows_without_names
from auditor.config.load import search_path
from auditor.config.source_clues import Clues, clues_of, texts_compared
from auditor.errors import MechanismError

# Values for parameters without a default, by name, then by annotation. Numbers that no claim has are not 1: a mechanism that
# forgets to multiply or divide by such a number would else go unnoticed.
_BY_NAME = {"epsilon": 1.0, "eps": 1.0, "delta": 1e-5, "rho": 0.5, "mu": 1.0, "sensitivity": 1.0, "order": 2.0}
# The ends of the records that are tried.
_LOWER = ("lower", "low", "lower_bound", "lb", "minimum")
_UPPER = ("upper", "high", "upper_bound", "ub", "maximum")
_CAPS = ("cap", "clip", "bound", "limit", "clamp", "max_value")
_BY_NAME |= dict.fromkeys(_LOWER, 0.0) | dict.fromkeys(_UPPER, 10.0)
_OTHER = 3.0
_BY_KIND: dict[str, Any] = {"bool": True, "int": 3, "float": _OTHER, "str": "text"}
# First parameters of these names or annotations are one value rather than many records.
_ONE_VALUE = {"value", "x", "bit", "answer", "number", "true_value", "secret"}

_VALUE = ("one value; any other is its neighbour", "{domain: value, values: [0, 1]}")
_LISTS = ("two lists; one person more, or less", "{pairs: [{left: [1, 2, 3], right: [1, 2]}], relation: add_remove}")
_TOTALS = (
    "two sums over people; what one person adds to them",
    "{domain: totals, contributions: [[1, 0], [0, 1]], people: {low: 0, high: 100}}",
)


@dataclass(frozen=True, slots=True)
class MechanismGuess:
    """What is known of a mechanism."""

    name: str
    mechanism: str
    kind: str  # in words
    samples: str
    parameters: Mapping[str, tuple[Any, bool]]  # value, and whether it is a guess
    claim: Mapping[str, Any]  # empty if it can only be guessed
    neighbours: Sequence[tuple[str, str]]  # to try, in this order: in words, and in YAML
    frame: FrameGuess | None = None  # to try before these
    adapted: Adapted | None = None  # what an object says itself
    ask: Sequence[str] = ()  # of a session: what it may be asked


def guess_of_program(words: Sequence[str]) -> MechanismGuess:
    """Return a guess at a program and its arguments."""
    return MechanismGuess(
        name=Path(next((word for word in reversed(words) if not word.startswith("-")), words[0])).name,
        mechanism=f"{{command: {json.dumps(list(words), ensure_ascii=False)}}}",
        kind="a program: reads requests and answers with outputs, JSON lines both",
        samples="100_000",
        parameters={"epsilon": (1.0, True)},
        claim={},
        neighbours=(_LISTS, _VALUE, _TOTALS),
    )


def guess_of_python(name: str, file: Path) -> MechanismGuess:
    """Return a guess at a function or an object, for a configuration to be put in ``file``.

    Raises MechanismError if it cannot be imported, if it is a class, and if it takes no data set.
    """
    place, _, attribute = name.rpartition(":")
    if place.endswith(".py"):
        name = f"{os.path.relpath(place, file.parent)}:{attribute}"
    thing = find(name, search_path(file))
    is_session = inspect.isclass(thing) and _answers_questions(thing)
    if inspect.isclass(thing) and not is_session:
        raise MechanismError(
            f'"{name}" is a class; make an instance in its module, such as mechanism = {attribute}(...), and give its name if it '
            "can be called; else give a function of data and rng that calls it. If the mechanism answers questions, the function "
            "returns the session, and the key `ask` says what may be asked"
        )
    if (adapted := adapt(thing, {})) is not None:
        return _of_object(adapted, name, attribute)
    function = load(name, search_path(file))
    taken = dict(signature_of(function, name).parameters)
    if not taken:
        raise MechanismError(f'mechanism "{name}" takes no arguments; it must take a data set: f(dataset, rng)')
    dataset = taken.pop(next(iter(taken)))
    batched, takes_rng = (taken.pop(key, None) is not None for key in ("size", "rng"))
    parameters = dict(_parameters(taken.values()))
    kind = (
        "many outputs a call" if batched else "one output a call; a parameter `size`, for many at once, would be faster"
    )
    if is_session:
        kind = "a session: what it answers to a script of questions is the output"
    if not takes_rng:
        kind += "; no `rng` parameter: runs are not reproducible"
    clues = clues_of(function, dataset.name)
    ends = _ends(clues, parameters)
    return MechanismGuess(
        name=attribute,
        mechanism=json.dumps(name, ensure_ascii=False),
        kind=kind,
        samples="1_000_000" if batched else "100_000",
        parameters=parameters,
        claim=_claim(parameters, is_query=not batched and not takes_rng),
        neighbours=[*_neighbours(dataset, clues, ends)],
        frame=frame_guess(function, dataset, clues, ends),
        ask=texts_compared(function) or ["count"] if is_session else (),
    )


def _answers_questions(kind: type) -> bool:
    """Whether instances of a class are sessions on a data set: they are called with one question, and without a generator."""
    put = next((vars(base)[name] for name in ("__call__", "ask") for base in kind.__mro__ if name in vars(base)), None)
    try:
        asked = [*inspect.signature(put).parameters] if put is not None else []
        made = [*inspect.signature(kind).parameters]
    except (TypeError, ValueError):
        return False
    return len(asked) == 2 and "rng" in made and made[0] != "rng"


def _of_object(adapted: Adapted, name: str, attribute: str) -> MechanismGuess:
    return MechanismGuess(
        name=attribute,
        mechanism=f"{{object: {json.dumps(name, ensure_ascii=False)}}}",
        kind="an object, which says itself what the file leaves out",
        samples="100_000",
        parameters={},
        claim={},
        neighbours=(_records((0, 10)), _VALUE, _TOTALS),
        adapted=adapted,
    )


def _neighbours(dataset: inspect.Parameter, clues: Clues, ends: tuple[float, float]) -> Iterator[tuple[str, str]]:
    """Yield the data sets to try, with numbers between ``ends``."""
    if clues.takes_tuples:
        yield rows_without_names(clues, ends)
    records = (_records(ends), _records(ends, ", container: list"), _LISTS)
    one_value = dataset.name in _ONE_VALUE or _kind_of(dataset) in ("bool", "int", "float")
    others = (_replaced(ends), _TOTALS)
    yield from (_VALUE, *records, *others) if one_value else (*records, _VALUE, *others)


def _ends(clues: Clues, parameters: Mapping[str, tuple[Any, bool]]) -> tuple[float, float]:
    """Return the ends of the numbers to try. They lie beyond those to which the code clamps numbers."""
    given = {name: value for name, (value, _) in parameters.items() if isinstance(value, int | float)}
    low = next((given[name] for name in _LOWER if name in given), 0.0)
    high = next((given[name] for name in (*_UPPER, *_CAPS) if name in given), 10.0)
    low, high = clues.clamped or (low, high)
    beyond = (high - low) / 2 if clues.clamps else 0
    return (low - beyond, high + beyond) if low < high else (0, 10)


def _replaced(ends: tuple[float, float]) -> tuple[str, str]:
    """Return data sets of one size, for a mechanism that answers each record."""
    low, high = (f"{end:g}" for end in ends)
    return (
        "five numbers, one a person; a person is replaced",
        f"{{domain: records, record: {{low: {low}, high: {high}}}, size: {{low: 5, high: 5}}, relation: substitute}}",
    )


def _records(ends: tuple[float, float], container: str = "") -> tuple[str, str]:
    low, high = (f"{end:g}" for end in ends)
    return (
        f"numbers{' in a list' if container else ''}, one a person; a person is added or removed",
        f"{{domain: records, record: {{low: {low}, high: {high}}}, size: {{low: 1, high: 5}}, relation: add_remove{container}}}",
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
