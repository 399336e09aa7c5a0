"""How Python and notebooks show results: by functions of a room above, which the package names (``auditor.SHOWN_BY``)."""

from pkgutil import resolve_name
from typing import Any

from auditor import SHOWN_BY


def as_text(result: Any) -> str:
    """Return a result in a few sentences."""
    return str(resolve_name(SHOWN_BY["text"])(result))


def as_cards(results: Any) -> str:
    """Return results as HTML."""
    return str(resolve_name(SHOWN_BY["cards"])(results))
