"""Write a first configuration for accountants and calibrations, from their signatures and from one call of each."""

import inspect
import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from auditor.accountants.target import ARGUMENTS
from auditor.blackbox.mechanism import load, signature_of
from auditor.config.load import load_configuration, search_path
from auditor.config.scaffold import in_yaml, is_plain, rendered, trial_beside
from auditor.errors import AuditorError, InvalidInputError
from auditor.foreign_code import result_or_error

TEMPLATE = "accountant.yaml.jinja"
# What parameters mean, by their names: how a process names it, and the range over which it is varied.
_MEANINGS: tuple[tuple[str, str, str], ...] = (
    ("scale", r"sigma|noise(_multiplier|_scale|_std)?|scale|std(dev)?|z", "{low: 0.3, high: 30}"),
    (
        "steps",
        r"(num_|n_)?(steps|iterations|rounds|queries|compositions)|count|t",
        "{low: 1, high: 1000, integer: true}",
    ),
    ("rate", r"q|p|rate|(sampling_|sample_)(rate|prob(ability)?)", "{low: 1.0e-4, high: 1}"),
    ("sensitivity", r"(l[12]_)?sensitivity", "1.0"),
    ("delta", r"delta", "{low: 1.0e-9, high: 1.0e-3}"),
    ("epsilon", r"epsilon", "{low: 0.1, high: 10}"),
    ("order", r"order", "{low: 1.1, high: 64}"),
    ("alpha", r"alpha", "{low: 1.0e-6, high: 0.5}"),
    ("mu", r"mu", "{low: 0.1, high: 10}"),
    ("rho", r"rho", "{low: 0.01, high: 10}"),
)


@dataclass(frozen=True, slots=True)
class FirstAccountant:
    """An audit of a first configuration. ``guessed`` are the keys with guessed values. ``notes`` say what a call stated, and
    ``problem`` why the file does not pass `auditor check`.
    """

    name: str
    stated: str
    states: str
    process: str
    parameters: Mapping[str, str]
    guessed: Sequence[str]
    notes: tuple[str, ...] = ()
    problem: str = ""


def of_accountant(name: str, file: Path) -> FirstAccountant:
    """Return what is known of a function, for a configuration to be put in ``file``.

    Raises MechanismError if it cannot be imported, and InvalidInputError for a word that names no function.
    """
    if ":" not in name or name.startswith("-"):
        raise InvalidInputError(f'"{name}" is no function; name it as file.py:function, or module:function')
    place, _, attribute = name.rpartition(":")
    name = f"{os.path.relpath(place, file.parent)}:{attribute}" if place.endswith(".py") else name
    taken = signature_of(load(name, search_path(file)), name).parameters
    meanings = {parameter: found for parameter in taken if (found := _meaning(parameter)) is not None}
    by_meaning = {meaning: parameter for parameter, (meaning, _) in meanings.items()}
    states = _states(attribute, set(by_meaning))
    parameters, guessed = dict[str, str](), ["states", "process"]
    for parameter, about in taken.items():
        if about.kind in (about.VAR_POSITIONAL, about.VAR_KEYWORD):
            continue
        if parameter in meanings:
            parameters[parameter] = meanings[parameter][1]
        elif about.default is inspect.Parameter.empty:
            parameters[parameter] = "1.0"
            guessed.append(parameter)
        elif result_or_error(is_plain, about.default) is True:
            parameters[parameter] = in_yaml(about.default)
    argument = ARGUMENTS.get(states)
    if argument is not None and argument not in parameters:  # a function may know it by another name, or not at all
        parameters[argument] = next(space for meaning, _, space in _MEANINGS if meaning == argument)
        guessed.append(argument)
    return FirstAccountant(
        attribute,
        json.dumps(name, ensure_ascii=False),
        states,
        _process(attribute, states, by_meaning),
        parameters,
        guessed,
    )


def _meaning(parameter: str) -> tuple[str, str] | None:
    """Return what a parameter means, and its range; None if its name does not tell."""
    found = ((meaning, space) for meaning, names, space in _MEANINGS if re.fullmatch(names, parameter, re.IGNORECASE))
    return next(found, None)


def _states(name: str, meanings: set[str]) -> str:
    """Return what a function states, by its name and by what its parameters mean."""
    if "scale" not in meanings and meanings & {"epsilon", "mu", "rho"}:
        return "noise"
    words = {"rdp": "renyi", "beta": "tradeoff"}
    named = re.findall(r"epsilon|delta|renyi|rdp|tradeoff|beta|(?<![a-z])(?:mu|rho)(?![a-z])", name.lower())
    if named:
        return str(words.get(named[0], named[0]))
    return next((states for states, argument in ARGUMENTS.items() if argument in meanings), "epsilon")


def _process(name: str, states: str, by_meaning: Mapping[str, str]) -> str:
    scale = "scale" if states == "noise" else by_meaning.get("scale", "1.0")
    keys = {"noise": "laplace" if "laplace" in name.lower() else "gaussian", "scale": scale}
    keys |= {key: by_meaning[key] for key in ("sensitivity", "steps") if key in by_meaning}
    if "rate" in by_meaning:
        keys |= {"sampling": "poisson", "rate": by_meaning["rate"]}
    return f"{{{', '.join(f'{key}: {value}' for key, value in keys.items())}}}"


def scaffold_accountants(words: Sequence[str], file: Path) -> tuple[str, list[FirstAccountant]]:
    """Return the text of a configuration, to be put in ``file``, and its audits.

    ``words`` are names "file.py:function" or "module:function". Raises as ``scaffold``.
    """
    if not file.parent.is_dir():
        raise InvalidInputError(f"the folder {file.parent} for {file.name} does not exist; make it first")
    first = [of_accountant(word, file) for word in dict.fromkeys(words)]
    with trial_beside(file) as trial:
        audits = [_tried(audit, trial, file) for audit in first]
    return rendered(TEMPLATE, audits), audits


def _tried(audit: FirstAccountant, trial: Path, file: Path) -> FirstAccountant:
    """Return the audit with what a call stated, or with why there is no number."""
    trial.write_text(rendered(TEMPLATE, [audit]), encoding="utf-8")
    try:
        return replace(audit, notes=tuple(_looked_at(trial)))
    except AuditorError as error:
        return replace(audit, problem=str(error).replace(str(trial), str(file)))


def _looked_at(trial: Path) -> Iterator[str]:
    [plan] = load_configuration(trial).accountants
    plan.require_callables()
    yield plan.try_once()
