# mypy: ignore-errors
"""Mechanisms that are not private at their claims, and twins that are, collected by a module of them."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Twin:
    """A mechanism that is private at its claim, in the style of the deceptions of its kind."""

    name: str
    kind: str
    mechanism: Callable[..., Any]
    domain: Any
    claim: Any


@dataclass(frozen=True)
class Deception(Twin):
    """A mechanism that is not private at its claim. ``pair`` holds lists for totals, single values for a value."""

    pair: tuple[Any, Any]
    why: str


@dataclass(frozen=True)
class Collected:
    """The deceptions and the twins of one module."""

    deceptions: list[Deception] = field(default_factory=list)
    twins: list[Twin] = field(default_factory=list)

    def deceives(self, kind, domain, claim, pair, why):
        """Add a function to the deceptions as it is. One without a name is called by what is wrong with it."""

        def add(mechanism):
            name = why if mechanism.__name__ == "<lambda>" else mechanism.__name__
            self.deceptions.append(Deception(name, kind, mechanism, domain, claim, pair, why))
            return mechanism

        return add

    def sound(self, kind, domain, claim, name=None):
        """Add a function to the twins as it is. One without a name of its own is given one."""

        def add(mechanism):
            self.twins.append(Twin(name or mechanism.__name__, kind, mechanism, domain, claim))
            return mechanism

        return add
