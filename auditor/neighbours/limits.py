"""The limits of a domain, as reports keep them, and whether one domain contains all the data sets of another.

Limits are plain data. Each key of a mapping is one limit: ``low`` and ``high`` are ends, and any other key names a part
of the data sets. A list holds all possible values. A text or a number must be equal.
"""

from collections.abc import Iterable
from typing import Any

from auditor.bounds.digits import round_floats
from auditor.errors import short
from auditor.neighbours.numbers import Range
from auditor.neighbours.pair import plain

# A list in limits has at most MOST_LISTED entries; a digest replaces the others.
MOST_LISTED = 10_000


def has_all(wide: Any, narrow: Any) -> bool:
    """Whether the limits ``wide`` allow all that ``narrow`` allows; False if they cannot be compared.

    >>> has_all({"size": {"low": 0, "high": 9}}, {"size": {"low": 1, "high": 9}, "valid": "some_function"})
    True
    >>> has_all(["a", "b"], ["a", "b", "c"])
    False
    """
    match wide, narrow:
        case dict(), dict():
            return all(key in narrow and _allows(key, limit, narrow[key]) for key, limit in wide.items())
        case list(), list():
            words = {item for item in wide if isinstance(item, str)}
            return all(
                item in words if isinstance(item, str) else any(has_all(other, item) for other in wide)
                for item in narrow
            )
        case _:
            return type(wide) is type(narrow) and bool(wide == narrow)


def _allows(key: str, limit: Any, other: Any) -> bool:
    if key not in ("low", "high"):
        return has_all(limit, other)
    both_numbers = all(isinstance(end, int | float) for end in (limit, other))
    if not both_numbers and not (isinstance(limit, str) and isinstance(other, str)):
        return False
    return bool(limit <= other if key == "low" else limit >= other)


def ends(of: Range) -> dict[str, Any]:
    """Return a range as limits."""
    return {"numbers": "integers" if of.integer else "all", **counts(of)}


def counts(of: Range) -> dict[str, Any]:
    """Return the range of a number of records or people, as limits."""
    return {"low": plain(of.low), "high": plain(of.high)}


def any_of(values: Iterable[Any]) -> list[str]:
    """Return the sorted texts of the different values. A long text is replaced by a digest."""
    texts = sorted({short(repr(round_floats(plain(value)))) for value in values})
    return texts if len(texts) <= MOST_LISTED else [*texts[:MOST_LISTED], short(repr(texts[MOST_LISTED:]))]
