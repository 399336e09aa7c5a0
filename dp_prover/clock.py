"""The deadline of an attempt, which every long loop looks at."""

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from dp_prover.lazy import NotProvedError

_DEADLINE: ContextVar[float] = ContextVar("the end of the attempt (time.monotonic)", default=math.inf)


@contextmanager
def until(deadline: float) -> Iterator[None]:
    """Let what runs inside end with NotProvedError after a deadline (time.monotonic)."""
    token = _DEADLINE.set(deadline)
    try:
        yield
    finally:
        _DEADLINE.reset(token)


def seconds_left() -> float:
    """Return the time that is left."""
    return _DEADLINE.get() - time.monotonic()


def check_time() -> None:
    """Raise NotProvedError after the deadline."""
    if seconds_left() < 0:
        raise NotProvedError("the time for a proof is up")
