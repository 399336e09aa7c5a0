"""Make domains of what a configuration says of neighbours."""

from collections.abc import Iterable
from typing import Any

from auditor.blackbox.mechanism import load
from auditor.config import schema
from auditor.errors import InvalidInputError, did_you_mean
from auditor.neighbours.domains import Domain, Pairs, Value
from auditor.neighbours.pair import Relation
from auditor.neighbours.records import Records
from auditor.neighbours.totals import Totals

# Which keys each kind of neighbours may have, beside "domain".
KEYS: dict[str, set[str]] = {
    "value": {"values", "range"},
    "records": {"record", "size", "columns", "relation", "distance", "container"},
    "totals": {"contributions", "people", "relation", "cells", "values", "contribution", "integer"},
    "pairs": {"pairs", "relation"},
    "generator": {"generator", "relation"},
}


def make_domain(neighbours: schema.Neighbours, search_path: tuple[str, ...] = ()) -> Domain:
    """Make the domain, or raise InvalidInputError saying which keys do not go together."""
    given = {key: value for key, value in neighbours if value is not None and key != "domain"}
    if neighbours.domain is None and neighbours.pairs is None and neighbours.generator is None:
        raise InvalidInputError(
            "neighbours needs a domain (value, records, totals), pairs: [{left: ..., right: ...}, ...], or generator: module:name"
        )
    kind = neighbours.domain or ("pairs" if neighbours.pairs is not None else "generator")
    for key in given:
        if key not in KEYS[kind]:
            raise InvalidInputError(f'"{key}" does not go with {kind}; {did_you_mean(key, KEYS[kind])}')
    for key, value in given.items():
        if isinstance(value, schema.LowHigh):
            given[key] = (value.low, value.high)
    if kind == "value":
        return Value(**given)
    if kind == "records":
        return _records(**given)
    if kind == "totals":
        return Totals(**given)
    if kind == "generator":
        pairs = _generated(given["generator"], search_path)
    else:
        pairs = [(pair.left, pair.right) for pair in given["pairs"]]
    return Pairs(pairs, given.get("relation", Relation.AS_GIVEN))


def _generated(name: str, search_path: tuple[str, ...]) -> list[tuple[Any, Any]]:
    """Return all pairs (left, right) that a function yields."""
    made = load(name, search_path)()
    if not isinstance(made, Iterable):
        raise InvalidInputError(f'generator "{name}" returned {type(made).__name__}; it must yield pairs (left, right)')
    pairs = list(made)
    for pair in pairs:
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            raise InvalidInputError(f'generator "{name}" yielded {pair!r}; it must yield pairs (left, right)')
    return [(left, right) for left, right in pairs]


def _records(record: schema.Record | None = None, size: Any = None, **others: Any) -> Domain:
    if record is None or size is None:
        raise InvalidInputError("a records domain needs record: {low, high} or {choices}, and size: {low, high}")
    if record.choices is not None and (record.low, record.high, record.integer) != (None, None, None):
        raise InvalidInputError("record has choices; then low, high and integer mean nothing")
    if record.choices is None and (record.low is None or record.high is None):
        raise InvalidInputError("record needs low and high, or choices")
    ends = None if record.choices is not None else (record.low, record.high)
    return Records(ends, record.choices, size=size, integer=bool(record.integer), **others)  # type: ignore[arg-type]
