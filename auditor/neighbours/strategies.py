"""Pairs that a strategy of Hypothesis draws: nested lists, text, JSON documents, whatever it can make."""

import importlib.util
from collections.abc import Callable
from typing import Any

from auditor.errors import InvalidInputError

# As many as a domain has corners.
MOST_EXAMPLES = 400


def drawn_pairs(strategy: Any, seed: int = 0) -> list[tuple[Any, Any]]:
    """Return different pairs (left, right) that a strategy draws, the same for the same seed.

    Raises InvalidInputError if Hypothesis is not installed, or if it draws something that is not a pair.
    """
    if importlib.util.find_spec("hypothesis") is None:
        raise InvalidInputError("a strategy needs hypothesis, which is not installed: pip install hypothesis")
    import hypothesis

    if not isinstance(strategy, hypothesis.strategies.SearchStrategy):
        raise InvalidInputError(
            f"a strategy of Hypothesis is needed, such as hypothesis.strategies.tuples(...); got {strategy!r}"
        )
    found: dict[str, tuple[Any, Any]] = {}

    def keep(drawn: Any) -> None:
        if not isinstance(drawn, tuple | list) or len(drawn) != 2:
            raise InvalidInputError(f"the strategy drew {drawn!r}; it must draw pairs (left, right)")
        if repr(drawn[0]) != repr(drawn[1]):
            found.setdefault(repr(drawn), (drawn[0], drawn[1]))

    settings = hypothesis.settings(
        max_examples=MOST_EXAMPLES,
        database=None,
        deadline=None,
        phases=[hypothesis.Phase.generate],
        suppress_health_check=list(hypothesis.HealthCheck),
    )
    collect: Callable[[], None] = hypothesis.seed(seed)(settings(hypothesis.given(strategy)(keep)))
    collect()
    if not found:
        raise InvalidInputError("the strategy drew no pair of different data sets")
    return list(found.values())
