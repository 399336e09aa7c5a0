"""Statements about a specimen: its document, what that claims, and whether the claim holds."""

import importlib
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import mechanisms

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class Statement:
    """A document's claim about a mechanism, and whether it holds.

    ``row`` numbers the claims of all documents; ``claim`` names the parameters, such as "(ε, δ)"; ``where`` gives the domain
    and relation in a few words.
    """

    row: int
    document: str
    claim: str
    where: str
    holds: bool


def specimen(row: int, document: str, claim: str, where: str, *, holds: bool) -> Callable[[F], F]:
    """Attach a statement to a mechanism. May be used several times, for claims under several relations."""

    def attach(function: F) -> F:
        statement = Statement(row, document, claim, where, holds)
        function.__specimen__ = (statement, *statements(function))  # type: ignore[attr-defined]
        return function

    return attach


def statements(function: Any) -> tuple[Statement, ...]:
    """Return the statements of a mechanism, in the order of the source."""
    attached: tuple[Statement, ...] = getattr(function, "__specimen__", ())
    return attached


def truth(make: Callable[..., Any]) -> Callable[[F], F]:
    """Attach the exact privacy loss of a mechanism: ``make(left, right, **parameters)`` returns it for a pair.

    It has the methods of :class:`auditor.interfaces.Truth`. Reports then show the exact value next to the sampled bound.
    """

    def attach(function: F) -> F:
        function.__truth__ = make  # type: ignore[attr-defined]
        return function

    return attach


def list_specimens() -> list[tuple[str, Statement]]:
    """Import every module of this package and return (mechanism, statement), by row."""
    modules = [importlib.import_module(f"mechanisms.{m.name}") for m in pkgutil.iter_modules(mechanisms.__path__)]
    listed = [
        (f"{module.__name__}:{name}", statement)
        for module in modules
        for name, function in vars(module).items()
        if getattr(function, "__module__", None) == module.__name__
        for statement in statements(function)
    ]
    return sorted(listed, key=lambda entry: entry[1].row)
