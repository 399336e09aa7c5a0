# mypy: ignore-errors
"""Mechanisms that are not private at their claims, as collected from a module of deceptions."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Deception:
    """A mechanism that is not private at its claim. ``pair`` holds lists for totals, single values for a value."""

    name: str
    kind: str
    mechanism: Callable[..., Any]
    domain: Any
    claim: Any
    pair: tuple[Any, Any]
    why: str


def deceives(found, kind, domain, claim, pair, why):
    """Return a decorator that adds a function to the collected ones. A deception without a name is named after its fault."""

    def add(mechanism):
        name = why if mechanism.__name__ == "<lambda>" else mechanism.__name__
        found.append(Deception(name, kind, mechanism, domain, claim, pair, why))
        return mechanism

    return add
