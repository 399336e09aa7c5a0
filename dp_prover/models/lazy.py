"""Values with a finite law that are not looked at yet: coins, dice, and what is computed from them.

A mechanism that flips twenty coins and returns them has a million outcomes, but no decision depends on one. So what is made of
coins stays a function of its sources, and independent outputs are enumerated apart. A value that is looked at (``if``, an index, a
sum with noise) is settled: the run forks over the outcomes of its sources.

Outcomes are real constants of Python and NumPy, and functions of them are the real ones.
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

MOST_STATES = 4096  # of the sources of one value
State = tuple[Any, Fraction]  # an outcome of a source, and its mass
Cuts = Mapping[str, frozenset[Fraction]]


def unmodelled(error: BaseException) -> NotProvedError:
    """Return the end of an attempt for a call that raises. The text of an exception is part of an output, and is not modelled."""
    words = f"this raises {type(error).__name__} ({error}), whose text is not modelled; test for it with if"
    return NotProvedError(words)


class Forking(Protocol):
    """The interface of the run that a lazy value belongs to."""

    def states(self, name: str, cuts: Iterable[Fraction]) -> list[State]:
        """Return the outcomes of a finite or uniform source that are left, with their masses."""

    def settle(self, sources: frozenset[str], cuts: Cuts) -> dict[str, Any]:
        """Fork over the outcomes of sources, and return the outcomes of this run."""


CURRENT: ContextVar[Forking] = ContextVar("the run that is traced")


class Lazy:
    """A function of independent sources. ``cuts`` has, for each uniform source, the numbers it is compared with."""

    __slots__ = ("_values", "cuts", "function", "sources")
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, sources: frozenset[str], cuts: Cuts, function: Callable[[Mapping[str, Any]], Any]) -> None:
        self.sources = sources
        self.cuts = cuts
        self.function = function
        self._values: list[Any] | None = None

    @classmethod
    def source(cls, name: str) -> "Lazy":
        """Return the outcome of a source itself."""
        return cls(frozenset([name]), {}, lambda outcomes: outcomes[name])

    def __bool__(self) -> bool:
        raise AssertionError("a lazy value has no truth before it is settled")

    def settled(self) -> Any:
        """Return the value, after the run has forked over its sources."""
        return self.function(CURRENT.get().settle(self.sources, self.cuts))

    def values(self) -> list[Any]:
        """Return every value that is possible."""
        if self._values is None:
            self._values = [self.function(outcomes) for outcomes, _ in states(self.sources, self.cuts)]
        return self._values


class Numbered(Lazy):
    """One of too many integers to list, all equally likely: ⌊low + count·U⌋ of a uniform number U. It can be compared."""

    __slots__ = ("count", "low", "name")

    def __init__(self, name: str, low: int, count: int) -> None:
        super().__init__(frozenset([name]), {}, self._listed)
        self.name, self.low, self.count = name, low, count

    def _listed(self, outcomes: Mapping[str, Any]) -> Any:
        raise NotProvedError(f"a draw has {self.count:,} outcomes; these can only be compared with numbers")

    def compared(self, compare: Callable[[Any, Any], Any], number: Fraction) -> Lazy:
        """Return how the integer compares with a number: its index is below a whole number, or not."""
        below = compare in (operator.lt, operator.le)
        up = compare in (operator.lt, operator.ge)
        least = math.ceil(number) if up else math.floor(number) + 1
        return compared_lazily(self.name, operator.lt if below else operator.ge, Fraction(least - self.low, self.count))


def applied(operation: Callable[..., Any], *arguments: Any) -> Lazy:
    """Return the lazy result of an operation on values, some of them lazy."""
    lazy = [argument for argument in arguments if isinstance(argument, Lazy)]
    sources = frozenset[str]().union(*(value.sources for value in lazy))

    def function(outcomes: Mapping[str, Any]) -> Any:
        return operation(*(a.function(outcomes) if isinstance(a, Lazy) else a for a in arguments))

    return Lazy(sources, joined_cuts(value.cuts for value in lazy), function)


def joined_cuts(cuts: Iterable[Cuts]) -> Cuts:
    """Return all cuts of several values."""
    found: dict[str, frozenset[Fraction]] = {}
    for some in cuts:
        for name, numbers in some.items():
            found[name] = found.get(name, frozenset()) | numbers
    return found


def compared_lazily(name: str, compare: Callable[[Any, Any], Any], threshold: Fraction | Lazy) -> Lazy:
    """Return how a uniform number compares with a threshold, which may be lazy itself."""
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
    """Return the joint outcomes of independent sources, each with its mass."""
    names = sorted(sources)
    run = CURRENT.get()
    each: list[Sequence[State]] = [run.states(name, cuts.get(name, frozenset())) for name in names]
    size = math.prod(len(some) for some in each)
    if size > MOST_STATES:
        raise NotProvedError(f"a value depends on {len(names)} random choices with {size:,} outcomes together")
    found = []
    for outcome in itertools.product(*each):
        mass = Fraction(1)
        for _, share in outcome:
            mass *= share
        found.append((dict(zip(names, (value for value, _ in outcome), strict=True)), mass))
    return found
