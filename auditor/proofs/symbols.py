"""Arrays of symbols, and the generator that draws symbols in place of numbers."""

import operator
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, Protocol

import numpy as np

from auditor.proofs.form import CURRENT, FUNCTIONS, Form, Law, exact
from auditor.proofs.lazy import Lazy, Numbered, State, applied
from auditor.proofs.renewal import outcomes_of
from auditor.proofs.run import Names

COMPARISONS = {np.less, np.less_equal, np.greater, np.greater_equal, np.equal, np.not_equal}


class Symbols(np.ndarray[Any, np.dtype[Any]]):
    """An array of symbols. It differs from other arrays of objects in that comparisons of coins stay lazy."""

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, out: Any = None, **keywords: Any) -> Any:
        plain = [value.view(np.ndarray) if isinstance(value, Symbols) else value for value in inputs]
        if out is not None:
            keywords["out"] = tuple(value.view(np.ndarray) if isinstance(value, Symbols) else value for value in out)
        elif ufunc.__name__ in FUNCTIONS and method == "__call__" and len(plain) == 1:
            return symbols(_each(lambda value: ufunc(value if exact(value) is None else float(value)), plain[0]))
        elif ufunc in COMPARISONS and method == "__call__":
            keywords["dtype"] = object
        result = getattr(ufunc, method)(*plain, **keywords)
        return out[0] if out is not None else symbols(result)

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        if func is np.where and len(args) == 3 and not kwargs:
            return where(*args)
        if func is np.searchsorted and len(args) == 2 and not kwargs:
            return symbols(_each(lambda value: _place_in(args[0], value), args[1]))
        return super().__array_function__(func, types, args, kwargs)

    def astype(self, dtype: Any, *args: Any, **kwargs: Any) -> Any:
        """Convert numbers. Forms are real numbers, and what is finite keeps its value; all else is refused by the elements."""
        kind = np.dtype(dtype).kind
        if any(isinstance(value, Lazy) for value in self.flat) and kind in "biuf":
            convert = {"b": bool, "f": float}.get(kind, int)
            return symbols(_each(lambda value: applied(convert, value) if isinstance(value, Lazy) else value, self))
        if kind == "f":
            return self.copy()
        return np.ndarray.astype(self.view(np.ndarray), dtype, *args, **kwargs)


def _each(function: Callable[..., Any], *arrays: Any) -> np.ndarray[Any, np.dtype[Any]]:
    spread = np.broadcast_arrays(*(_objects(array) for array in arrays))
    made = np.empty(spread[0].shape, object)
    for place in np.ndindex(made.shape):
        made[place] = function(*(array[place] for array in spread))
    return made


def _objects(value: Any) -> np.ndarray[Any, np.dtype[Any]]:
    if isinstance(value, Form | Lazy):
        held = np.empty((), object)
        held[()] = value
        return held
    return np.asarray(value).view(np.ndarray)


def where(condition: Any, yes: Any, no: Any) -> Any:
    """Choose element by element, as ``np.where``; where a coin decides, the choice stays lazy."""

    def choose(decides: Any, one: Any, other: Any) -> Any:
        if isinstance(decides, Lazy) and not isinstance(one, Form) and not isinstance(other, Form):
            return applied(lambda chosen, a, b: a if chosen else b, decides, one, other)
        return one if decides else other

    return symbols(_each(choose, condition, yes, no))


def _place_in(table: Any, value: Any) -> Any:
    """Return how many numbers of a sorted table are below a value, as ``np.searchsorted``."""
    below = [value > number for number in np.asarray(table).tolist()]
    return applied(lambda *each: sum(map(int, each)), *below) if any(isinstance(b, Lazy) for b in below) else sum(below)


def symbols(result: Any) -> Any:
    """Return an array of objects as one of symbols, or as what it is where it holds Booleans only."""
    if not isinstance(result, np.ndarray) or result.dtype != object:
        return result
    if all(isinstance(value, bool | np.bool_) for value in result.flat):
        return result.astype(np.bool_)
    return result.view(Symbols)


def finite(outcomes: Sequence[State]) -> Law:
    """Return the law of a finite draw."""
    return ("finite", *((repr(value), mass) for value, mass in outcomes))


class Draws(Protocol):
    """What the generator asks of the run it serves. ``outcomes`` are those of finite draws, with their masses."""

    outcomes: dict[str, list[State]]
    names: Names

    def draw(self, law: Law) -> str:
        """Return the name of a fresh random number of a distribution."""


class SymbolicGenerator:
    """Stands in for ``numpy.random.Generator``. A method that is not here cannot be traced, and the error says which."""

    def __init__(self, run: Draws) -> None:
        self._run = run

    def __getattr__(self, name: str) -> Any:
        raise CURRENT.get().fail(f"rng.{name} is not among the draws that can be traced")

    # Laws that can be shifted ----------------------------------------------------------------------------------------

    def laplace(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        """Return loc + Laplace noise of the scale."""
        return self._scaled("laplace", loc, scale, size)

    def logistic(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        """Return loc + logistic noise of the scale."""
        return self._scaled("logistic", loc, scale, size)

    def normal(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        """Return loc + Gaussian noise; the scale is its standard deviation."""
        return self._scaled("normal", loc, scale, size)

    def exponential(self, scale: Any = 1.0, size: Any = None) -> Any:
        """Return exponential noise of the scale."""
        return self._scaled("exponential", 0.0, scale, size)

    def standard_normal(self, size: Any = None) -> Any:
        """Return Gaussian noise of standard deviation 1."""
        return self._scaled("normal", 0.0, 1.0, size)

    def standard_exponential(self, size: Any = None) -> Any:
        """Return exponential noise of scale 1."""
        return self._scaled("exponential", 0.0, 1.0, size)

    def _scaled(self, law: str, loc: Any, scale: Any, size: Any) -> Any:
        def one(place: Any, width: Any) -> Any:
            number = exact(width)
            if number is None and not isinstance(width, Form):
                raise CURRENT.get().fail(f"the scale of {law} noise is {width!r}")
            if number is None and not width.terms:
                number = width.constant
            if number is None:
                # A scale that depends on the data or on noise: noise of scale 1, times what must then stay as it is.
                if width < 0:
                    raise CURRENT.get().fail(f"the scale of {law} noise may be below 0")
                return place + width * self._symbol((law, Fraction(1)))
            if number < 0:
                raise ValueError("scale < 0")
            return place + self._symbol((law, number)) if number else place

        return self._drawn(one, size, loc, scale)

    def geometric(self, p: Any, size: Any = None) -> Any:
        """Return the number of trials up to a success of probability p, from 1 up."""

        def one(chance: Any) -> Any:
            number = exact(chance)
            if number is None or not 0 < number <= 1:
                raise CURRENT.get().fail(f"the success probability of a geometric number is {chance!r}")
            return self._symbol(("geometric", number)) if number < 1 else 1

        return self._drawn(one, size, p)

    # Laws that can be enumerated -------------------------------------------------------------------------------------

    def random(self, size: Any = None, dtype: Any = np.float64, out: Any = None) -> Any:
        """Return numbers that are uniform from 0 to 1."""
        if out is not None:
            raise CURRENT.get().fail("rng.random is given out=")
        return self._drawn(lambda: self._symbol(("uniform",)), size)

    def uniform(self, low: Any = 0.0, high: Any = 1.0, size: Any = None) -> Any:
        """Return numbers that are uniform from low to high."""
        return self._drawn(lambda a, b: a + (b - a) * self._symbol(("uniform",)), size, low, high)

    def integers(
        self, low: Any, high: Any = None, size: Any = None, dtype: Any = np.int64, endpoint: bool = False
    ) -> Any:
        """Return integers from low up to high, which is itself possible only if it is the endpoint."""
        low, high = (0, low) if high is None else (low, high)

        def one(first: Any, last: Any) -> Any:
            a, b = operator.index(first), operator.index(last) + bool(endpoint)
            if b <= a:
                raise ValueError("low >= high")
            if b - a > MOST_OUTCOMES:
                return self._numbered(a, b - a)
            return self._finite([a + i for i in range(_few(b - a))], [Fraction(1, b - a)] * (b - a))

        return self._drawn(one, size, low, high)

    def choice(
        self, a: Any, size: Any = None, replace: bool = True, p: Any = None, axis: int = 0, shuffle: bool = True
    ) -> Any:
        """Return options, each with its probability in p."""
        options = list(range(_few(operator.index(a)))) if np.ndim(a) == 0 else list(a)
        if not replace and size is not None and np.prod(size) > 1:
            raise CURRENT.get().fail("rng.choice draws without replacement")
        weights = [Fraction(1)] * len(options) if p is None else [exact(weight) for weight in np.asarray(p).flat]
        if None in weights or any(np.ndim(option) for option in options):
            raise CURRENT.get().fail("rng.choice is given options or probabilities that depend on data or noise")
        masses = [weight for weight in weights if weight is not None]
        total = sum(masses)
        shares = [mass / total for mass in masses]
        if any(isinstance(option, Form | Lazy) for option in options):
            # Which of the data is chosen is looked at, so that the data themselves are in the output.
            return self._drawn(lambda: options[operator.index(self._finite([*range(len(options))], shares))], size)
        return self._drawn(lambda: self._finite(options, shares), size)

    def binomial(self, n: Any, p: Any, size: Any = None) -> Any:
        """Return how many of n trials succeed, with probability p each."""

        def one(trials: Any, chance: Any) -> Any:
            number, count = exact(chance), _few(operator.index(trials))
            if number is None:
                raise CURRENT.get().fail("the probability of a binomial number depends on data or noise")
            masses = [Fraction(1)]
            for _ in range(count):
                longer = [Fraction(0), *masses]
                masses = [a * number + b * (1 - number) for a, b in zip(longer, [*masses, Fraction(0)], strict=True)]
            return self._finite(list(range(count + 1)), masses)

        return self._drawn(one, size, n, p)

    def permutation(self, x: Any, axis: int = 0) -> Any:
        """Return the items, or the integers below x, in random order."""
        items = list(range(_few(operator.index(x)))) if np.ndim(x) == 0 else list(x)
        order = []
        while items:
            place = self._finite(list(range(len(items))), [Fraction(1, len(items))] * len(items))
            order.append(items.pop(operator.index(place)))
        return symbols(_stacked(order))

    def shuffle(self, x: Any, axis: int = 0) -> None:
        """Put the items into random order."""
        x[:] = self.permutation(list(x))

    # Samplers that retry --------------------------------------------------------------------------------------------

    def sampled(self, attempt: Callable[..., Any], *arguments: Any, **keywords: Any) -> Any:
        """Return what a sampler returns that repeats attempts; see :func:`auditor.retrying`."""
        possible = self._outcomes_of(attempt, arguments, keywords)
        name = self._run.draw(finite(possible))
        self._run.outcomes[name] = possible
        return Lazy.source(name)

    def _outcomes_of(self, attempt: Callable[..., Any], arguments: Any, keywords: Any) -> list[State]:
        given = [value.settled() if isinstance(value, Lazy) else value for value in arguments]
        if any(not isinstance(value, bool | int | float | str | np.generic) for value in (*given, *keywords.values())):
            raise CURRENT.get().fail("a sampler that retries is given something else than numbers and text")
        key = (attempt, repr(given), repr(keywords))
        return outcomes_of(self._run.names, key, lambda run: attempt(SymbolicGenerator(run), *given, **keywords))

    def _finite(self, outcomes: list[Any], masses: list[Fraction]) -> Any:
        possible = [(value, mass) for value, mass in zip(outcomes, masses, strict=True) if mass]
        name = self._run.draw(finite(possible))
        self._run.outcomes[name] = possible
        return Lazy.source(name) if len(possible) > 1 else possible[0][0]

    def _numbered(self, low: int, count: int) -> Any:
        """Return an integer that is one of many."""
        return Numbered(self._run.draw(("uniform",)), low, count)

    def _symbol(self, law: Law) -> Any:
        """Return a fresh random number of a law."""
        return Form.symbol(self._run.draw(law))

    def _drawn(self, one: Callable[..., Any], size: Any, *parameters: Any) -> Any:
        """Draw for each element of an array of the given size, parameters being broadcast to it."""
        given = [_objects(value) for value in parameters]
        shape = np.broadcast_shapes(*(value.shape for value in given)) if size is None else size
        shape = (shape,) if isinstance(shape, int | np.integer) else tuple(int(length) for length in shape)
        spread = [np.broadcast_to(value, shape) for value in given]
        made = np.empty(shape, object)
        for place in np.ndindex(shape):
            made[place] = one(*(value[place] for value in spread))
        return made[()] if size is None and not shape else self._array(made)

    def _array(self, made: Any) -> Any:
        return made.view(Symbols)


def _stacked(values: list[Any]) -> Any:
    made = np.empty(len(values), object)
    made[:] = values
    return made if any(isinstance(value, Form | Lazy) for value in values) else np.array(values)


MOST_OUTCOMES = 4096


def _few(count: int) -> int:
    if count > MOST_OUTCOMES:
        raise CURRENT.get().fail(f"a draw has {count:,} outcomes; at most {MOST_OUTCOMES:,} are enumerated")
    return count
