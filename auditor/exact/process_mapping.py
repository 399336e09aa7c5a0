"""Processes as flat mappings: the options of a command, or the items of a list in YAML."""

from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields
from typing import Any

from auditor.errors import InvalidInputError, did_you_mean, require_known
from auditor.exact.process import (
    Allocation,
    DiscreteGaussian,
    DiscreteLaplace,
    ExponentialMechanism,
    FixedSize,
    Gaussian,
    Laplace,
    Poisson,
    Process,
    RandomizedResponse,
    Table,
)

NOISES: dict[str, Callable[..., Any]] = {
    "gaussian": Gaussian,
    "laplace": Laplace,
    "discrete-gaussian": DiscreteGaussian,
    "discrete-laplace": DiscreteLaplace,
    "randomized-response": RandomizedResponse,
    "exponential": ExponentialMechanism,
    "table": Table,
}
SAMPLINGS: dict[str, Callable[..., Any]] = {"poisson": Poisson, "fixed-size": FixedSize, "allocation": Allocation}
_COMMON_KEYS = ("sensitivity", "relation", "steps")


def _keys_of(kind: Callable[..., Any]) -> tuple[list[str], list[str]]:
    """Return all keys of a kind of noise or sampling, and the keys that it needs."""
    parameters = fields(kind)  # type: ignore[arg-type]
    return [field.name for field in parameters], [field.name for field in parameters if field.default is MISSING]


PROCESS_KEYS = [
    *("noise", "sampling", *_COMMON_KEYS),
    *dict.fromkeys(key for kind in (*NOISES.values(), *SAMPLINGS.values()) for key in _keys_of(kind)[0]),
]


def process_from_dict(given: Mapping[str, Any]) -> Process:
    """Return the process that a flat mapping describes, such as {"noise": "gaussian", "scale": 1.0, "steps": 10}.

    Raises InvalidInputError for an unknown key or value, a missing one, and one that the noise or the sampling does not have.

    >>> process_from_dict({"noise": "laplace", "scale": 2})
    Process(noise=Laplace(scale=2), sensitivity=1.0, relation='add_remove', sampling=None, steps=1)
    """
    require_known("a process has an unknown key", given, PROCESS_KEYS)
    parts: dict[str, Any] = {}
    used = {"noise", "sampling", *_COMMON_KEYS}
    for name, kinds in (("noise", NOISES), ("sampling", SAMPLINGS)):
        value = given.get(name)
        if value is None and name == "sampling":
            continue
        if not isinstance(value, str) or value not in kinds:
            raise InvalidInputError(f"{name} is {value!r}; {did_you_mean(str(value), kinds)}")
        keys, needed = _keys_of(kinds[value])
        if missing := [key for key in needed if key not in given]:
            raise InvalidInputError(f"{name} {value} needs {missing[0]}; add it")
        used |= set(keys)
        parts[name] = kinds[value](**{key: given[key] for key in keys if key in given})
    for key in given:
        if key not in used:
            which = " and ".join(str(given[name]) for name in ("noise", "sampling") if given.get(name))
            raise InvalidInputError(f"{key} is {given[key]!r}; {which} has no such number. Leave it out")
    return Process(**parts, **{key: given[key] for key in _COMMON_KEYS if key in given})
