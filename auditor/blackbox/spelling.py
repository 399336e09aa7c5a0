"""Texts of objects: the repr without addresses in memory, which differ from process to process."""

import hashlib
import inspect
import re
from collections.abc import Callable
from typing import Any

from auditor.errors import MechanismError
from auditor.foreign_code import result_or_error

# How many letters of an exception's text are read; a digest stands for the others.
LETTERS = 1_000
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]{4,}")
_LAST_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]{4,}>")


def spell(value: Any, text: Callable[[Any], str] = repr) -> str:
    """Return the text of an object, by default its repr. If this raises, return the names of type and exception.

    Raises MechanismError if the repr is an address in memory, since the audit could not see the content of the object.
    """
    spelling = result_or_error(text, value)
    if not isinstance(spelling, str):  # an object that cannot be spelled is an output too
        return f"{type(value).__name__} that raises {type(spelling).__name__}"
    if text is str:
        spelling = hide_addresses(spelling)
        digest = hashlib.sha256(spelling.encode("utf-8", "surrogatepass")).hexdigest()[:16]
        cut = f"{spelling[:LETTERS]}… ({len(spelling):,} letters, digest {digest})"
        return repr(spelling if len(spelling) <= LETTERS else cut)
    # The default repr of an object shows its memory address.
    if not isinstance(value, str | bytes) and _LAST_ADDRESS.search(spelling):
        raise MechanismError(f"an output is {spelling}, which does not show what it holds; {_suggest_output(value)}")
    return spelling


def hide_addresses(text: str) -> str:
    """Return the text of an exception with a mark in place of each address.

    >>> hide_addresses("no room in <memory at 0x7f799a9e8a00>")
    'no room in <memory at 0x…>'
    """
    return _ADDRESS.sub(" at 0x…", text)


def _suggest_output(value: Any) -> str:
    """Return what a mechanism should return in place of an object whose repr is an address."""
    if inspect.isawaitable(value):
        if inspect.iscoroutine(value):
            value.close()  # otherwise Python warns that it was never awaited
        return "the mechanism is asynchronous: wrap it in a function that returns asyncio.run(...)"
    if inspect.isroutine(value):
        return (
            "name the function that draws outputs, not a function that makes that function; if it is a session that is asked "
            "questions, say which with `ask`"
        )
    # A file in memory, which is an iterator too; a LazyFrame of polars; any iterator; a row of a database.
    instead = {
        "getvalue": "return what its method `.getvalue()` returns",
        "collect_schema": "return what its method `.collect()` returns",
        "__next__": "return a list of the values that it yields",
        "keys": "return dict(...) of it",
    }
    if said := next((words for name, words in instead.items() if hasattr(value, name)), ""):
        return said
    advice = "return numbers, text, lists or dicts, or give its class a __repr__ that shows all it holds"
    return (
        f"if it is a session that is asked questions, say which with `ask`; else {advice}"
        if callable(value)
        else advice
    )


def without_address(value: Any) -> str:
    """Return the repr of an object. Return the name of its type if the repr shows an address in memory."""
    if inspect.isroutine(value) or isinstance(value, type):
        return f"{getattr(value, '__module__', '')}.{getattr(value, '__qualname__', type(value).__name__)}"
    text = result_or_error(repr, value)
    return type(value).__name__ if not isinstance(text, str) or " at 0x" in text else text
