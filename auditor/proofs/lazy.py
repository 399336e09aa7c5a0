"""Values with a finite law that are not looked at yet: coins, dice, and what is computed of them.

A mechanism that flips twenty coins and returns them has a million outcomes, but no decision depends on one. So what is made of
coins
stays a function of its sources, and independent outputs are enumerated apart. A value that is looked at (``if``, an index, a
sum with
noise) is settled: the run forks over the outcomes of its sources.
"""

import itertools
import math
import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from auditor.proofs.form import CURRENT, Form, exact

MOST_STATES = 4096  # of the sources of one value
State = tuple[Any, Fraction]  # an outcome of a source, and its mass
Cuts = Mapping[str, frozenset[Fraction]]


class Lazy:
    """A function of independent sources. ``cuts`` has, for each uniform source, the numbers it is compared with."""

    __slots__ = ("cuts", "function", "sources")
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, sources: frozenset[str], cuts: Cuts, function: Callable[[Mapping[str, Any]], Any]) -> None:
        self.sources = sources
        self.cuts = cuts
        self.function = function

    @classmethod
    def source(cls, name: str) -> "Lazy":
        """Return the outcome of a source itself."""
        return cls(frozenset([name]), {}, lambda outcomes: outcomes[name])

    def settled(self) -> Any:
        """Return the value, after the run has forked over its sources."""
        outcomes = CURRENT.get().settle(self.sources, self.cuts)
        return self.function(outcomes)

    def __bool__(self) -> bool:
        return bool(self.settled())

    def __index__(self) -> int:
        return operator.index(int(self.settled()))

    def __int__(self) -> int:
        return int(self.settled())

    def __float__(self) -> float:
        return float(self.settled())

    def __round__(self, digits: int | None = None) -> Any:
        return round(self.settled(), digits)

    def __invert__(self) -> "Lazy":
        return applied(_inverted, self)


def _inverted(value: Any) -> Any:
    return not value if isinstance(value, bool | np.bool_) else ~value


def applied(operation: Callable[..., Any], *arguments: Any) -> Lazy:
    """Return an operation on values, some of them lazy, as one that is lazy."""
    lazy = [argument for argument in arguments if isinstance(argument, Lazy)]
    sources = frozenset[str]().union(*(value.sources for value in lazy))

    def function(outcomes: Mapping[str, Any]) -> Any:
        return operation(*(a.function(outcomes) if isinstance(a, Lazy) else a for a in arguments))

    return Lazy(sources, joined(value.cuts for value in lazy), function)


def joined(cuts: Iterable[Cuts]) -> Cuts:
    """Return all cuts of several values."""
    found: dict[str, frozenset[Fraction]] = {}
    for some in cuts:
        for name, numbers in some.items():
            found[name] = found.get(name, frozenset()) | numbers
    return found


def compared(name: str, compare: Callable[[Any, Any], bool], threshold: Any) -> Lazy:
    """Return how a uniform number compares with a threshold, which may be lazy itself."""
    if not isinstance(threshold, Lazy):
        return Lazy(
            frozenset([name]), {name: frozenset([threshold])}, lambda outcomes: compare(outcomes[name], threshold)
        )
    possible = frozenset(_number(value) for value in values(threshold))
    return Lazy(
        threshold.sources | {name},
        joined([threshold.cuts, {name: possible}]),
        lambda outcomes: compare(outcomes[name], _number(threshold.function(outcomes))),
    )


def _number(value: Any) -> Fraction:
    number = exact(value)
    if number is None:
        raise CURRENT.get().fail(f"a uniform number is compared with {value!r}")
    return number


def values(lazy: Lazy) -> list[Any]:
    """Return every value that is possible."""
    return [lazy.function(outcomes) for outcomes, _ in states(lazy.sources, lazy.cuts)]


def states(sources: Iterable[str], cuts: Cuts) -> list[tuple[dict[str, Any], Fraction]]:
    """Return the joint outcomes of independent sources, each with its mass."""
    names = sorted(sources)
    run = CURRENT.get()
    each: list[Sequence[State]] = [run.states(name, cuts.get(name, frozenset())) for name in names]
    size = int(np.prod([len(some) for some in each], dtype=object))
    if size > MOST_STATES:
        raise run.fail(f"a value depends on {len(names)} random choices with {size:,} outcomes together")
    found = []
    for outcome in itertools.product(*each):
        mass = Fraction(1)
        for _, share in outcome:
            mass *= share
        found.append((dict(zip(names, (value for value, _ in outcome), strict=True)), mass))
    return found


def _operator(operation: Callable[..., Any], reflected: bool = False) -> Callable[[Lazy, Any], Any]:
    def method(self: Lazy, other: Any) -> Any:
        if isinstance(other, np.ndarray):
            return NotImplemented
        if isinstance(other, Form):
            if operation in COMPARISONS and (uniform := CURRENT.get().uniform_of(other)) is not None:
                name, slope, constant = uniform
                # self ? slope·U + constant, for a slope above or below 0.
                turned = COMPARISONS[operation] if slope > 0 else operation
                return compared(name, turned, applied(lambda value: (_number(value) - constant) / slope, self))
            value = self.settled()
            return operation(other, value) if reflected else operation(value, other)
        return applied(operation, other, self) if reflected else applied(operation, self, other)

    return method


# Each comparison, and the same with its sides exchanged.
COMPARISONS: dict[Callable[..., Any], Callable[..., Any]] = {
    operator.lt: operator.gt,
    operator.le: operator.ge,
    operator.gt: operator.lt,
    operator.ge: operator.le,
}
for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "xor", "and_", "or_"):
    _function = getattr(operator, _name)
    setattr(Lazy, f"__{_name.strip('_')}__", _operator(_function))
    setattr(Lazy, f"__r{_name.strip('_')}__", _operator(_function, reflected=True))
for _name in ("lt", "le", "gt", "ge", "eq", "ne"):
    setattr(Lazy, f"__{_name}__", _operator(getattr(operator, _name)))


def _single(operation: Callable[..., Any]) -> Callable[[Lazy], Lazy]:
    return lambda self: applied(operation, self)


for _name in ("neg", "pos", "abs"):
    setattr(Lazy, f"__{_name}__", _single(getattr(operator, _name)))


class Numbered(Lazy):
    """One of too many integers to list, each as likely: ⌊low + count·U⌋ of a uniform number U. It can be compared."""

    __slots__ = ("count", "low", "name")

    def __init__(self, name: str, low: int, count: int) -> None:
        super().__init__(frozenset([name]), {}, self._listed)
        self.name, self.low, self.count = name, low, count

    def _listed(self, outcomes: Mapping[str, Any]) -> Any:
        raise CURRENT.get().fail(f"a draw has {self.count:,} outcomes, which can be compared with numbers and no more")

    def _compared(self, compare: Callable[[Any, Any], bool], other: Any, least: Callable[[Fraction], int]) -> Any:
        number = exact(other)
        if number is None:
            return NotImplemented
        return compared(self.name, compare, Fraction(least(number) - self.low, self.count))

    def __gt__(self, other: Any) -> Any:
        return self._compared(operator.ge, other, lambda number: math.floor(number) + 1)

    def __ge__(self, other: Any) -> Any:
        return self._compared(operator.ge, other, math.ceil)

    def __lt__(self, other: Any) -> Any:
        return self._compared(operator.lt, other, math.ceil)

    def __le__(self, other: Any) -> Any:
        return self._compared(operator.lt, other, lambda number: math.floor(number) + 1)
