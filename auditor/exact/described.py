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
_OWN = ("sensitivity", "relation", "steps")


def _keys(kind: Callable[..., Any]) -> tuple[list[str], list[str]]:
    """Return the keys of a kind of noise or sampling, and those of them that it needs."""
    own = fields(kind)  # type: ignore[arg-type]
    return [field.name for field in own], [field.name for field in own if field.default is MISSING]


KEYS = [
    *("noise", "sampling", *_OWN),
    *dict.fromkeys(key for kind in (*NOISES.values(), *SAMPLINGS.values()) for key in _keys(kind)[0]),
]


def process_from_dict(given: Mapping[str, Any]) -> Process:
    """Return the process that a flat mapping describes, such as {"noise": "gaussian", "scale": 1.0, "steps": 10}.

    Raises InvalidInputError for an unknown key or value, one that is missing, and one that the noise or the sampling has not.

    >>> process_from_dict({"noise": "laplace", "scale": 2})
    Process(noise=Laplace(scale=2), sensitivity=1.0, relation='add_remove', sampling=None, steps=1)
    """
    require_known("a process has an unknown key", given, KEYS)
    parts: dict[str, Any] = {}
    used = {"noise", "sampling", *_OWN}
    for name, kinds in (("noise", NOISES), ("sampling", SAMPLINGS)):
        value = given.get(name)
        if value is None and name == "sampling":
            continue
        if not isinstance(value, str) or value not in kinds:
            raise InvalidInputError(f"{name} is {value!r}; {did_you_mean(str(value), kinds)}")
        known, needed = _keys(kinds[value])
        if missing := [key for key in needed if key not in given]:
            raise InvalidInputError(f"{name} {value} needs {missing[0]}; add it")
        used |= set(known)
        parts[name] = kinds[value](**{key: given[key] for key in known if key in given})
    for key in given:
        if key not in used:
            which = " and ".join(str(given[name]) for name in ("noise", "sampling") if given.get(name))
            raise InvalidInputError(f"{key} is {given[key]!r}; {which} has no such number. Leave it out")
    return Process(**parts, **{key: given[key] for key in _OWN if key in given})
