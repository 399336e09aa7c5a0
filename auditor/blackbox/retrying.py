"""Samplers that retry, such as rejection samplers: one attempt is a function. So a proof can compute their outputs."""

import functools
from collections.abc import Callable
from enum import Enum
from typing import Any, Final, TypeVar

F = TypeVar("F", bound=Callable[..., Any])


class _Retry(Enum):
    """What an attempt returns that failed."""

    RETRY = "retry"

    def __repr__(self) -> str:
        return "auditor.RETRY"


RETRY: Final = _Retry.RETRY
"""What an attempt returns that failed."""


def retrying(attempt: F) -> F:
    """Repeat a function ``attempt(rng, ...)`` until it returns something other than ``auditor.RETRY``.

    A proof computes the distribution of such a sampler once for each arguments, and from it the exact distribution after all
    retries. So it has to be a function of its arguments, which are plain numbers or text, and of finite draws from ``rng``.

    >>> import auditor, numpy
    >>> @auditor.retrying
    ... def die(rng, sides):
    ...     drawn = int(rng.integers(8))
    ...     return drawn if drawn < sides else auditor.RETRY
    >>> die(numpy.random.default_rng(1), 6) in range(6)
    True
    """

    @functools.wraps(attempt)
    def sampler(rng: Any, *arguments: Any, **keywords: Any) -> Any:
        traced = getattr(rng, "sampled", None)  # of the generator of a proof
        if traced is not None:
            return traced(attempt, *arguments, **keywords)
        while True:
            value = attempt(rng, *arguments, **keywords)
            if value is not RETRY:
                return value

    return sampler  # type: ignore[return-value]
