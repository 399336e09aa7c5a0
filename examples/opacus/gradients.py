"""Neighbours for adaptive clipping."""

from collections.abc import Iterator


def one_more() -> Iterator[tuple[list[float], list[float]]]:
    """Yield 1,000 gradients of 0, and the same with one large gradient added."""
    yield [0.0] * 1000, [0.0] * 1000 + [10.0]
