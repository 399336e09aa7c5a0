"""Neighbours for adaptive clipping."""

from collections.abc import Iterator


def one_more() -> Iterator[tuple[list[float], list[float]]]:
    """Yield 1,000 gradients of 0, and those with one large gradient more."""
    yield [0.0] * 1000, [0.0] * 1000 + [10.0]
