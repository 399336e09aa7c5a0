"""Lazy discrete values: coins, dice, and what is computed from them before anything depends on an outcome.

A mechanism that flips twenty coins and returns them has a million outcomes, but no decision depends on them. So a value computed
from coins stays a function of its sources, and independent outputs are enumerated separately. A value that is used (by ``if``, as
an index, in a sum with noise) is settled: the run forks over the outcomes of its sources.

Outcomes are real Python and NumPy constants, and the real functions are applied to them.
"""

import itertools
import math
import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextvars import ContextVar
from fractions import Fraction
from typing import Any, Protocol

from dp_prover.errors import NotProvedError
from dp_prover.numbers.form import exact

MOST_STATES = 4096  # joint outcomes of one value's sources
State = tuple[Any, Fraction]  # an outcome of a source, and its probability
Cuts = Mapping[str, frozenset[Fraction]]


def unmodelled(error: BaseException) -> NotProvedError:
    """Return the NotProvedError for a call that raises: its message would be part of the output, and is not modelled."""
    words = f"this raises {type(error).__name__} ({error}), whose text is not modelled; test for it with if"
    return NotProvedError(words)


class Forking(Protocol):
    """The interface of the run that a lazy value belongs to."""

    def states(self, name: str, cuts: Iterable[Fraction]) -> list[State]:
        """Return a source's remaining outcomes, with their probabilities; those of a uniform source between ``cuts``."""

    def settle(self, sources: frozenset[str], cuts: Cuts) -> dict[str, Any]:
        """Fork over the outcomes of sources, and return this run's."""


CURRENT: ContextVar[Forking] = ContextVar("the run that is traced")


class Lazy:
    """A function of independent sources. ``cuts`` maps each uniform source to the numbers it is compared with."""

    __slots__ = ("_values", "cuts", "function", "sources")
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, sources: frozenset[str], cuts: Cuts, function: Callable[[Mapping[str, Any]], Any]) -> None:
        self.sources = sources
        self.cuts = cuts
        self.function = function
        self._values: list[Any] | None = None

    @classmethod
    def source(cls, name: str) -> "Lazy":
        """Return a source itself."""
        return cls(frozenset([name]), {}, lambda outcomes: outcomes[name])

    def __bool__(self) -> bool:
        raise AssertionError("a lazy value has no truth before it is settled")

    def settled(self) -> Any:
        """Fork over the sources, and return the value."""
        return self.function(CURRENT.get().settle(self.sources, self.cuts))

    def values(self) -> list[Any]:
        """Return all possible values."""
        if self._values is None:
            self._values = [self.function(outcomes) for outcomes, _ in states(self.sources, self.cuts)]
        return self._values


class Numbered(Lazy):
    """A uniform integer with too many outcomes to list, ⌊low + count·U⌋ for a uniform U. It can only be compared."""

    __slots__ = ("count", "low", "name")

    def __init__(self, name: str, low: int, count: int) -> None:
        super().__init__(frozenset([name]), {}, self._listed)
        self.name, self.low, self.count = name, low, count

    def _listed(self, outcomes: Mapping[str, Any]) -> Any:
        raise NotProvedError(f"a draw has {self.count:,} outcomes; these can only be compared with numbers")

    def compared(self, compare: Callable[[Any, Any], Any], number: Fraction) -> Lazy:
        """Compare the integer with a number, as a comparison of U with a threshold."""
        below = compare in (operator.lt, operator.le)
        up = compare in (operator.lt, operator.ge)
        least = math.ceil(number) if up else math.floor(number) + 1
        return compared_lazily(self.name, operator.lt if below else operator.ge, Fraction(least - self.low, self.count))


def applied(operation: Callable[..., Any], *arguments: Any) -> Lazy:
    """Apply an operation lazily to values, some of them lazy."""
    lazy = [argument for argument in arguments if isinstance(argument, Lazy)]
    sources = frozenset[str]().union(*(value.sources for value in lazy))

    def function(outcomes: Mapping[str, Any]) -> Any:
        return operation(*(a.function(outcomes) if isinstance(a, Lazy) else a for a in arguments))

    return Lazy(sources, joined_cuts(value.cuts for value in lazy), function)


def joined_cuts(cuts: Iterable[Cuts]) -> Cuts:
    """Merge the cuts of several values."""
    merged: dict[str, frozenset[Fraction]] = {}
    for each in cuts:
        for name, numbers in each.items():
            merged[name] = merged.get(name, frozenset()) | numbers
    return merged


def compared_lazily(name: str, compare: Callable[[Any, Any], Any], threshold: Fraction | Lazy) -> Lazy:
    """Compare a uniform source with a threshold, which may be lazy itself."""
    if not isinstance(threshold, Lazy):
        cuts = {name: frozenset([threshold])}
        return Lazy(frozenset([name]), cuts, lambda outcomes: compare(outcomes[name], threshold))
    possible = frozenset(_number(value) for value in threshold.values())
    return Lazy(
        threshold.sources | {name},
        joined_cuts([threshold.cuts, {name: possible}]),
        lambda outcomes: compare(outcomes[name], _number(threshold.function(outcomes))),
    )


def _number(value: Any) -> Fraction:
    number = exact(value)
    if number is None:
        raise NotProvedError(f"a uniform number is compared with {value!r}")
    return number


def states(sources: Iterable[str], cuts: Cuts) -> list[tuple[dict[str, Any], Fraction]]:
    """Return the joint outcomes of independent sources, with their probabilities."""
    names = sorted(sources)
    run = CURRENT.get()
    each: list[Sequence[State]] = [run.states(name, cuts.get(name, frozenset())) for name in names]
    size = math.prod(len(some) for some in each)
    if size > MOST_STATES:
        raise NotProvedError(f"a value depends on {len(names)} random choices with {size:,} outcomes together")
    joint = []
    for outcome in itertools.product(*each):
        mass = Fraction(1)
        for _, share in outcome:
            mass *= share
        joint.append((dict(zip(names, (value for value, _ in outcome), strict=True)), mass))
    return joint
