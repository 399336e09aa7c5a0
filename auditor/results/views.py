"""How Python and notebooks show results: by functions of a room above, which ``show_by`` names, so that none is known here."""

from pkgutil import resolve_name
from typing import Any

_FUNCTIONS: dict[str, str] = {}


def show_by(*, text: str, cards: str) -> None:
    """Name the functions that show results, as "module:function".

    Args:
        text: of the function that returns a result in a few sentences.
        cards: of the function that returns a list of results as HTML.

    A module is loaded when a result is first shown.
    """
    _FUNCTIONS.update(text=text, cards=cards)


def as_text(result: Any) -> str:
    """Return a result in a few sentences."""
    return str(resolve_name(_FUNCTIONS["text"])(result))


def as_cards(results: Any) -> str:
    """Return results as HTML."""
    return str(resolve_name(_FUNCTIONS["cards"])(results))
