"""Frozen rules as plain data, and back: features with all that was learned of them, cells with their edges in full."""

import re
import typing
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

from auditor.errors import InvalidInputError
from auditor.events import cells, features, logistic, vectors

WrittenRule = dict[str, Any]

KIND = "kind"


def _kind_of(record: type) -> str:
    """Return what a class is called in a report: its name in words."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", record.__name__.lstrip("_")).lower()


# What rules are made of, by kind.
RECORDS: dict[str, type] = {
    _kind_of(record): record
    for module in (cells, features, vectors, logistic)
    for record in vars(module).values()
    if isinstance(record, type) and is_dataclass(record) and record.__module__ == module.__name__
}


def written(**parts: Any) -> WrittenRule | None:
    """Return the parts of a rule as plain data; None if a part is of a kind that this module does not know."""
    try:
        return {name: _plain(part) for name, part in parts.items()}
    except KeyError:
        return None


def _plain(value: Any) -> Any:
    if is_dataclass(value):
        kind = _kind_of(type(value))
        if RECORDS[kind] is not type(value):
            raise KeyError(kind)
        return {KIND: kind, **{field.name: _plain(getattr(value, field.name)) for field in fields(value)}}
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    return dict(value) if isinstance(value, Mapping) else value


def read_rule(rule: Mapping[str, Any], *names: str) -> list[Any]:
    """Return the named parts of a rule that was written. Raises InvalidInputError that names what is spoilt.

    >>> read_rule(written(feature=features.Place("output[0]")), "feature")
    [Place(name='output[0]')]
    """
    missing = [name for name in names if name not in rule]
    if missing:
        raise InvalidInputError(f'the rule lacks "{missing[0]}"')
    return [_value(rule[name], name) for name in names]


def _value(data: Any, name: str) -> Any:
    if isinstance(data, list):
        return tuple(_value(item, name) for item in data)
    if not isinstance(data, dict) or KIND not in data:
        return data
    kind = data[KIND]
    record = RECORDS.get(kind) if isinstance(kind, str) else None
    if record is None:
        raise InvalidInputError(f'"{name}" of the rule is of kind {kind!r}; this auditor knows {", ".join(RECORDS)}')
    hints = typing.get_type_hints(record)
    try:
        return record(**{key: _typed(_value(value, key), hints.get(key)) for key, value in data.items() if key != KIND})
    except (TypeError, ValueError, OverflowError) as error:
        raise InvalidInputError(f'"{name}" of the rule, of kind {kind!r}, is spoilt: {error}') from None


def _typed(value: Any, hint: Any) -> Any:
    """Return numbers as such. In JSON infinities are words, which elsewhere in a rule may be names."""
    if hint is float:
        return float(value)
    return tuple(map(float, value)) if hint == tuple[float, ...] else value
