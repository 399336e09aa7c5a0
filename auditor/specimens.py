"""What a specimen says of itself: its document, what it claims, and whether that holds."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class Statement:
    """One claim that a document makes of a mechanism, and what is true of it.

    ``row`` numbers the claims of all documents; ``claim`` names the parameters, such as "(ε, δ)"; ``where`` tells the domain
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
    """Return what was attached to a mechanism, in the order it stands in the source."""
    found: tuple[Statement, ...] = getattr(function, "__specimen__", ())
    return found
