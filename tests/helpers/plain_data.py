"""Plain data as in JSON and YAML: all positions in it, and copies with another value at one of them."""

from collections.abc import Iterator
from typing import Any


def items(data: Any) -> list[tuple[Any, Any]]:
    """Return the direct children of a mapping or a list with their keys."""
    return [*data.items()] if isinstance(data, dict) else [*enumerate(data)] if isinstance(data, list) else []


def places(data: Any) -> Iterator[tuple[Any, Any]]:
    """Yield each container with each of its keys."""
    for key, value in items(data):
        yield data, key
        yield from places(value)


def leaves(data: Any, way: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """Yield every value that is no container, with its path."""
    if not items(data):
        yield way, data
    for step, value in items(data):
        yield from leaves(value, (*way, step))


def changed(data: Any, way: tuple[Any, ...], value: Any) -> Any:
    """Return plain data with another value at a path."""
    if not way:
        return value
    step, *rest = way
    copy = dict(data) if isinstance(data, dict) else list(data)
    copy[step] = changed(data[step], tuple(rest), value)
    return copy
