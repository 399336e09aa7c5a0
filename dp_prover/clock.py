"""The deadline of an attempt, which every long loop checks. It counts processor time, so that other load costs no proof."""

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from dp_prover.errors import NotProvedError

_DEADLINE: ContextVar[float] = ContextVar("the end of the attempt (time.thread_time)", default=math.inf)


@contextmanager
def within_seconds(seconds: float) -> Iterator[None]:
    """Give the body a budget in this thread's processor seconds; ``check_time`` raises NotProvedError once it is spent."""
    token = _DEADLINE.set(time.thread_time() + seconds)
    try:
        yield
    finally:
        _DEADLINE.reset(token)


def seconds_left() -> float:
    """Return the seconds left."""
    return _DEADLINE.get() - time.thread_time()


def check_time() -> None:
    """Raise NotProvedError after the deadline."""
    if seconds_left() < 0:
        raise NotProvedError("the time for a proof is up")
