"""The modelled builtins and functions of ``math``."""

import builtins
import functools
import math
import operator
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from dp_prover.errors import NotProvedError
from dp_prover.models import functions as scalar
from dp_prover.models.arithmetic import absolute, binary, lazily, may_be_nan, native, raised, require_sure
from dp_prover.models.arrays import Scalars, elementwise, is_known, real
from dp_prover.models.lazy import Lazy, unmodelled
from dp_prover.models.listed import MOST_STEPS, Caller, Iterated, Listed, View, is_type, iterate, listed
from dp_prover.models.run import TracedRun
from dp_prover.models.values import Array, Mark, RaisesError, Term, is_constant, kind_of, typed


def one_number(name: str, function: Scalars) -> Callable[..., Any]:
    """Return the model of a function of one number, which also accepts an array without axes."""

    def model(caller: Caller, x: Any, /) -> Any:
        if isinstance(x, Array):
            if x.index.size != 1 or x.shape:
                raise NotProvedError(f"{name} is called with an array; use NumPy's function")
            x = next(x.typed())
        if not isinstance(x, Term | Lazy | bool | int | float | np.generic):
            raise NotProvedError(f"{name} is called with a {type(x).__name__}")
        return function(caller.run, x)

    return model


def _abs(caller: Caller, x: Any, /) -> Any:
    return elementwise(caller.run, absolute, np.abs, x) if isinstance(x, Array) else absolute(caller.run, x)


def _round(caller: Caller, number: Any, ndigits: Any = None) -> Any:
    if isinstance(number, Array):
        raise NotProvedError("round() is called with an array; use np.round")
    return scalar.rounded(caller.run, number, real(ndigits), of_numpy_module=False)


def _bool(caller: Caller, x: Any = False, /) -> Any:
    if isinstance(x, Lazy):
        return lazily(bool, x)
    return caller.truth(x)


def _int(caller: Caller, x: Any = 0, /) -> Any:
    return one_number("int()", scalar.to_int)(caller, x)


def _float(caller: Caller, x: Any = 0.0, /) -> Any:
    return one_number("float()", scalar.to_float)(caller, x)


def _str(caller: Caller, x: Any = "", /) -> Any:
    if isinstance(x, Lazy):
        return native(str, x.settled())
    raise NotProvedError("formatting a number from data or noise as text is not modelled; return the number")


def _extreme(largest: bool) -> Callable[..., Any]:
    def model(caller: Caller, *values: Any, key: Any = None, **default: Any) -> Any:
        if default.keys() - {"default"}:
            raise NotProvedError("max() and min() only take key= and default=")
        if not values or (default and len(values) > 1):
            raise NotProvedError("max() and min() take an iterable, with or without a default, or several numbers")
        if len(values) == 1 and key is not None and type(values[0]) not in (list, tuple, range, dict, Array):
            raise NotProvedError(
                "max() and min() with a key iterate over a computed iterable; make it a list before the call"
            )
        items = listed(values[0]) if len(values) == 1 else list(values)
        if not items:
            if default:
                return default["default"]
            raise raised(max if largest else min, ([],))
        if any(isinstance(item, Array | list | tuple | dict) for item in items) and key is None:
            raise NotProvedError("max() and min() compare lists or arrays; use np.max or a key")
        before = list(values[0]) if len(values) == 1 and isinstance(values[0], list | dict) else []

        def judge(item: Any) -> Any:
            key_of_item = caller.call(key, [item], {})
            if before and not (len(before) == len(values[0]) and all(map(operator.is_, before, values[0]))):
                raise NotProvedError("a list is changed while max() or min() iterates over it")
            return key_of_item

        return scalar.python_extreme(caller.run, items, largest, None if key is None else judge)

    return model


def _sum(caller: Caller, values: Any, /, start: Any = 0) -> Any:
    if isinstance(start, str | bytes):
        raise NotProvedError("sum() starts with a text, which raises TypeError; use join")
    return functools.reduce(lambda a, b: _plus(caller.run, a, b), iterate(values), start)


def _plus(run: TracedRun, a: Any, b: Any) -> Any:
    if isinstance(a, Array) or isinstance(b, Array):
        return elementwise(run, lambda r, x, y: binary(r, "+", x, y), np.add, a, b)
    if type(a) is type(b) and isinstance(a, list | tuple):
        return a + b
    return binary(run, "+", a, b)


def _len(caller: Caller, value: Any, /) -> Any:
    if isinstance(value, Array):
        if not value.shape:
            raise raised(len, (np.zeros(()),))
        return value.shape[0]
    if type(value) in (list, tuple, dict, str, bytes, range, set) or isinstance(value, View):
        return len(value)
    raise NotProvedError(f"len() of a {type(value).__name__} is not modelled")


def _range(caller: Caller, *ends: Any) -> Any:
    numbers = native(range, *map(real, ends))
    if len(numbers) > MOST_STEPS:
        raise NotProvedError(f"a range of {len(numbers):,} numbers is too long to follow")
    return numbers


def _enumerate(caller: Caller, values: Any, start: Any = 0) -> Any:
    first = native(operator.index, real(start))
    return Iterated((first + at, value) for at, value in enumerate(iterate(values)))


def _zip(caller: Caller, *values: Any, strict: Any = False) -> Any:
    iterators, must_fit = [iterate(value) for value in values], bool(real(strict))

    def rows() -> Iterator[Any]:
        while iterators:
            row: list[Any] = []
            for iterator in iterators:
                try:
                    row.append(next(iterator))
                except StopIteration:
                    if must_fit and (row or any(True for other in iterators[1:] for _ in other)):
                        raise unmodelled(ValueError("zip() argument is shorter or longer")) from None
                    return
            yield tuple(row)

    return Iterated(rows())


def _reversed(caller: Caller, values: Any, /) -> Any:
    if type(values) not in (list, tuple, range, str) and not isinstance(values, Array):
        raise NotProvedError("reversed() has something other than a list, a tuple or an array")
    if isinstance(values, Array) and len(values.shape) == 1:
        return Iterated(typed(values.store[at], values.dtype) for at in reversed(values.index.tolist()))
    if isinstance(values, list):
        return Iterated(_backwards(values, len(values) - 1))
    return Iterated(iter(listed(values)[::-1]))


def _backwards(items: list[Any], at: int) -> Iterator[Any]:
    """Iterate backwards from a place of a list, until that place no longer exists, as Python does."""
    while 0 <= at < len(items):
        yield items[at]
        at -= 1


def _sorted(caller: Caller, values: Any, /, *, key: Any = None, reverse: Any = False) -> Any:
    if type(values) is set and key is None:
        return native(sorted, values, reverse=bool(real(reverse)))
    items = listed(values)
    if any(isinstance(item, list | dict | tuple | Array) and not is_known(item) for item in items) and key is None:
        raise NotProvedError("lists of numbers from data or noise are sorted; give a key")
    back = bool(real(reverse))
    if key is None and not back and not any(isinstance(item, str | tuple) for item in items):
        return scalar.sorted_items(caller.run, items)
    keys = items if key is None else [caller.call(key, [item], {}) for item in items]
    # Python's reverse sort is stable too: equal items keep their order.
    order = scalar.in_order(caller.run, keys[::-1] if back else keys)
    chosen = [(items[::-1] if back else items)[at] for at in order]
    return chosen[::-1] if back else chosen


def _map(caller: Caller, function: Any, *values: Any) -> Any:
    if not values:
        raise NotProvedError("map() has nothing to iterate over")
    return Iterated(caller.call(function, row, {}) for row in zip(*map(iterate, values), strict=False))


def _filter(caller: Caller, function: Any, values: Any, /) -> Any:
    keep = caller.truth if function is None else (lambda value: caller.truth(caller.call(function, [value], {})))
    return Iterated(value for value in iterate(values) if keep(value))


def _any(caller: Caller, values: Any, /) -> Any:
    return any(caller.truth(value) for value in iterate(values))


def _all(caller: Caller, values: Any, /) -> Any:
    return all(caller.truth(value) for value in iterate(values))


def _list(caller: Caller, values: Any = (), /) -> Any:
    return listed(values)


def _tuple(caller: Caller, values: Any = (), /) -> Any:
    return tuple(listed(values))


def _dict(caller: Caller, values: Any = (), /, **named: Any) -> Any:
    items: dict[Any, Any] = dict(values) if type(values) is dict else {}
    if type(values) is not dict:
        for row in iterate(values):
            key, value = listed(row)
            items[key_of(key)] = value
    return items | named


def _set(caller: Caller, values: Any = (), /) -> Any:
    return {key_of(value) for value in iterate(values)}


def key_of(value: Any) -> Any:
    """Return the constant that a value is as a dict key or set item. Raises NotProvedError for other values."""
    if isinstance(value, Lazy):
        value = value.settled()
    if isinstance(value, Mark):
        raise NotProvedError(f"{value.words} is a key, or an item of a set")
    if not is_known(value) or isinstance(value, Array | list | dict | set):
        raise NotProvedError("a number from data or noise is a key, or an item of a set")
    if may_be_nan(value):
        raise NotProvedError("NaN is a key, and Python only finds NaN by identity")
    return value


def _isinstance(caller: Caller, value: Any, kinds: Any, /) -> Any:
    each = kinds if isinstance(kinds, tuple) else (kinds,)
    if not all(is_type(kind) or kind is np.ndarray for kind in each):
        raise NotProvedError("isinstance() tests for a class that is not on the list")
    modelled = isinstance(value, Term | Lazy | Array | Iterated | View) or type(value) in (list, tuple, dict, set)
    if not modelled and not is_constant(value):
        raise NotProvedError("isinstance() tests an object from outside the call")
    if isinstance(value, Term | Lazy):
        kind = kind_of(value)
        own = kind.type if isinstance(kind, np.dtype) else kind
    else:
        own = np.ndarray if isinstance(value, Array) else type(value)
    return issubclass(own, each)


def _pow(caller: Caller, base: Any, exp: Any) -> Any:
    return binary(caller.run, "**", base, exp)


def _divmod(caller: Caller, a: Any, b: Any, /) -> Any:
    try:
        return binary(caller.run, "//", a, b), binary(caller.run, "%", a, b)
    except RaisesError as error:  # divmod has its own message
        raise unmodelled(error.error) from None


def _fsum(caller: Caller, values: Any, /) -> Any:
    return scalar.to_float(caller.run, _sum(caller, values, 0.0))


def _prod(caller: Caller, values: Any, /, *, start: Any = 1) -> Any:
    return functools.reduce(lambda a, b: binary(caller.run, "*", a, b), iterate(values), start)


def _math_pow(caller: Caller, x: Any, y: Any, /) -> Any:
    run = caller.run
    base, power = scalar.to_float(run, x), scalar.to_float(run, y)
    if isinstance(power, Term | Lazy) or not math.isfinite(power):
        raise NotProvedError("math.pow has an exponent that depends on the data or on noise, or is not finite")
    if isinstance(base, Term):
        require_sure(run, base.form, base)
    if isinstance(base, Term) and power < 0 and run.is_zero(base.form):
        raise unmodelled(ValueError("math domain error"))
    if isinstance(base, Lazy):
        return lazily(math.pow, base, power)
    return scalar.to_float(run, binary(run, "**", base, power))


def _fabs(run: TracedRun, value: Any) -> Any:
    return scalar.to_float(run, absolute(run, value))


def _asked(function: Scalars) -> Scalars:
    """Return a test of ``math``, which returns a Python Boolean."""

    def answer(run: TracedRun, value: Any) -> Any:
        holds = function(run, value)
        return lazily(bool, holds) if isinstance(holds, Lazy) else bool(holds)

    return answer


BUILTINS: tuple[Listed, ...] = (
    Listed("abs", builtins.abs, _abs),
    Listed("all", builtins.all, _all),
    Listed("any", builtins.any, _any),
    Listed("bool", builtins.bool, _bool, pure=False),
    Listed("dict", builtins.dict, _dict, pure=False),
    Listed("divmod", builtins.divmod, _divmod),
    Listed("enumerate", builtins.enumerate, _enumerate, pure=False),
    Listed("filter", builtins.filter, _filter, pure=False),
    Listed("float", builtins.float, _float),
    Listed("int", builtins.int, _int),
    Listed("isinstance", builtins.isinstance, _isinstance, pure=False),
    Listed("len", builtins.len, _len, pure=False),
    Listed("list", builtins.list, _list, pure=False),
    Listed("map", builtins.map, _map, pure=False),
    Listed("max", builtins.max, _extreme(largest=True), pure=False),
    Listed("min", builtins.min, _extreme(largest=False), pure=False),
    Listed("pow", builtins.pow, _pow, pure=False),
    Listed("range", builtins.range, _range, pure=False),
    Listed("reversed", builtins.reversed, _reversed, pure=False),
    Listed("round", builtins.round, _round),
    Listed("set", builtins.set, _set, pure=False),
    Listed("sorted", builtins.sorted, _sorted, pure=False),
    Listed("str", builtins.str, _str),
    Listed("sum", builtins.sum, _sum, pure=False),
    Listed("tuple", builtins.tuple, _tuple, pure=False),
    Listed("zip", builtins.zip, _zip, pure=False),
)
MATH: tuple[Listed, ...] = (
    *(
        Listed(
            f"math.{function.__name__}",
            function,
            one_number(f"math.{function.__name__}", functools.partial(scalar.of_math, name)),
        )
        for name, function in scalar.OF_MATH.items()
    ),
    *(
        Listed(
            f"math.{name}",
            getattr(math, name),
            one_number(f"math.{name}", functools.partial(scalar.floored, name, True)),
        )
        for name in ("floor", "ceil", "trunc")
    ),
    Listed("math.fabs", math.fabs, one_number("math.fabs", _fabs)),
    Listed("math.isnan", math.isnan, one_number("math.isnan", _asked(scalar.is_nan))),
    Listed("math.isinf", math.isinf, one_number("math.isinf", _asked(scalar.is_infinite))),
    Listed("math.isfinite", math.isfinite, one_number("math.isfinite", _asked(scalar.is_finite))),
    Listed("math.fsum", math.fsum, _fsum),
    Listed("math.prod", math.prod, _prod),
    Listed("math.pow", math.pow, _math_pow),
    *(
        Listed(f"math.{name}", getattr(math, name), None)
        for name in (
            *("comb", "perm", "factorial", "gcd", "lcm", "gamma", "lgamma", "hypot", "isqrt", "isclose", "atan2"),
            *("asin", "acos", "tan", "atanh", "acosh", "copysign", "fmod", "ldexp", "degrees", "radians", "dist"),
        )
    ),
)
