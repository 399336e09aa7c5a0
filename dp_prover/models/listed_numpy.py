"""The modelled functions of NumPy."""

import functools
import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from dp_prover.errors import NotProvedError
from dp_prover.models import functions as scalar
from dp_prover.models.arithmetic import (
    BINARY,
    COMPARISONS,
    absolute,
    binary,
    compare_scalars,
    is_true,
    lazily,
    may_be_nan,
    native,
    unary,
)
from dp_prover.models.arrays import (
    Scalars,
    as_array,
    cast,
    cast_item,
    elementwise,
    filled,
    matrix_product,
    put,
    real,
    rearranged,
    reduced,
    total,
)
from dp_prover.models.lazy import Lazy, applied, unmodelled
from dp_prover.models.listed import Caller, Listed
from dp_prover.models.ranks import argsort
from dp_prover.models.run import TracedRun
from dp_prover.models.values import BOOL, FLOAT64, Array, Term, array_of, kind_of
from dp_prover.numbers.form import exact


def item_by_item(function: Scalars, sample: Callable[..., Any], count: int) -> Callable[..., Any]:
    """Return the model of a ufunc with ``count`` arguments."""

    def model(caller: Caller, *operands: Any) -> Any:
        if len(operands) != count:
            raise NotProvedError(f"np.{sample.__name__} has {len(operands)} arguments; out= is not modelled")
        result = elementwise(caller.run, function, sample, *operands)
        return result if isinstance(result, Array) else _of_numpy(caller.run, result, sample, operands)

    return model


def _of_numpy(run: TracedRun, value: Any, sample: Callable[..., Any], operands: Sequence[Any]) -> Any:
    """Return a scalar with a ufunc's result type, which is NumPy's even for Python numbers."""
    if isinstance(value, Array):
        return value
    kinds = [None if isinstance(operand, Array | list | tuple) else kind_of(operand) for operand in operands]
    ones = [np.ones((), FLOAT64 if kind is None else kind) for kind in kinds]
    has_dtype = any(isinstance(kind, np.dtype) for kind in kinds)
    own = kind_of(value) if has_dtype else None
    kind = own if isinstance(own, np.dtype) else np.asarray(native(sample, *ones)).dtype
    return next(array_of([cast(run, value, kind)], (), kind).typed())


def _binary(name: str) -> Scalars:
    return lambda run, a, b: binary(run, name, a, b)


def _compare(name: str) -> Scalars:
    return lambda run, a, b: compare_scalars(run, name, a, b)


def _larger(run: TracedRun, a: Any, b: Any) -> Any:
    return scalar.extreme(run, a, b, largest=True)


def _smaller(run: TracedRun, a: Any, b: Any) -> Any:
    return scalar.extreme(run, a, b, largest=False)


def _logical(function: Callable[..., Any]) -> Scalars:
    def model(run: TracedRun, *values: Any) -> Any:
        given = [np.bool_(is_true(run, value)) if isinstance(value, Term) else value for value in values]
        if any(isinstance(value, Lazy) for value in given):
            return lazily(function, *given)
        return native(function, *given)

    return model


def _true_divide(run: TracedRun, a: Any, b: Any) -> Any:
    kinds = [kind_of(value) for value in (a, b)]
    ones = [np.ones(1, kind) if isinstance(kind, np.dtype) else kind(1) for kind in kinds]
    if np.true_divide(*ones).dtype != FLOAT64:
        raise NotProvedError("np.divide has a number of less than 64 bits; use np.float64")
    # NumPy does not raise for a divisor of 0.
    return binary(run, "/", *(cast_item(run, value, FLOAT64) for value in (a, b)))


UFUNCS: dict[str, tuple[Scalars, int]] = {
    "subtract": (_binary("-"), 2),
    "less": (_compare("<"), 2),
    "less_equal": (_compare("<="), 2),
    "maximum": (_larger, 2),
    "minimum": (_smaller, 2),
    "absolute": (absolute, 1),
    **{name: (functools.partial(scalar._of_numpy, name), 1) for name in scalar.OF_NUMPY},
    **{name: (functools.partial(scalar.floored, name, False), 1) for name in ("floor", "ceil", "rint")},
}


# Choices -------------------------------------------------------------------------------------------------------------------


def chosen(run: TracedRun, decides: Any, yes: Any, no: Any) -> Any:
    """Choose between two scalars. A lazy choice between constants stays lazy."""
    if isinstance(decides, Lazy) and not isinstance(yes, Term) and not isinstance(no, Term):
        return applied(lambda holds, a, b: a if holds else b, decides, yes, no)
    return yes if is_true(run, decides) else no


def _where_of(condition: Any, x: Any, y: Any) -> Any:
    return np.where(np.asarray(condition, np.bool_), x, y)


def _where(caller: Caller, condition: Any, *sides: Any) -> Any:
    if not sides:
        return true_places(caller, condition)
    if len(sides) != 2:
        raise NotProvedError("np.where takes a condition, alone or with both alternatives")
    x, y = sides
    chosen_items = elementwise(caller.run, chosen, _where_of, condition, x, y)
    if isinstance(chosen_items, Array):
        return chosen_items
    kinds = [kind_of(side) for side in (x, y)]
    dtype = np.result_type(*(kind if isinstance(kind, np.dtype) else kind(1) for kind in kinds))
    return array_of([cast(caller.run, chosen_items, dtype)], (), dtype)


def true_places(caller: Caller, condition: Any) -> Any:
    """Return the indices at which a condition holds. This decides the condition."""
    array = as_array(caller.run, condition)
    flags = np.array([is_true(caller.run, item) for item in array.typed()], np.bool_).reshape(array.shape)
    return tuple(array_of(places.tolist(), places.shape, places.dtype) for places in np.nonzero(flags))


def _flatnonzero(caller: Caller, a: Any) -> Any:
    array = as_array(caller.run, a)
    return true_places(caller, array_of(array.flat(), (array.index.size,), array.dtype))[0]


def _count_nonzero(caller: Caller, a: Any) -> Any:
    array = as_array(caller.run, a)
    items = [item if array.dtype == BOOL else is_true(caller.run, item) for item in array.typed()]
    return total(caller.run, [np.int64(item) if isinstance(item, bool) else item for item in items] or [np.int64(0)])


def _clip(caller: Caller, a: Any, a_min: Any = None, a_max: Any = None) -> Any:
    if isinstance(a, Array | list | tuple) or isinstance(a_min, Array | list) or isinstance(a_max, Array | list):
        clipped = a
        for end, larger in ((a_min, True), (a_max, False)):
            if end is not None:
                function, sample = (_larger, np.maximum) if larger else (_smaller, np.minimum)
                clipped = elementwise(caller.run, function, sample, clipped, end)
        if clipped is a:
            raise NotProvedError("np.clip has no limits; use copy()")
        return clipped
    clipped = scalar.clipped(caller.run, a, a_min, a_max)
    kind = kind_of(clipped)
    dtype = kind if isinstance(kind, np.dtype) else np.dtype(kind)
    return next(array_of([cast(caller.run, clipped, dtype)], (), dtype).typed())


def _searchsorted(caller: Caller, a: Any, v: Any, side: Any = "left") -> Any:
    table = real(as_array(caller.run, a)).tolist()
    if real(side) not in ("left", "right"):
        raise NotProvedError("np.searchsorted has a side that is neither left nor right")
    operation = ">" if real(side) == "left" else ">="
    if table != sorted(table) or any(exact(number) is None for number in table):
        raise NotProvedError("np.searchsorted has a table that is not sorted")

    def place(run: TracedRun, value: Any) -> Any:
        if may_be_nan(value):
            raise NotProvedError("np.searchsorted has NaN")
        below = [compare_scalars(run, operation, value, number) for number in table]
        if any(isinstance(answer, Lazy) for answer in below):
            return lazily(lambda *each: np.int64(sum(map(bool, each))), *below)
        return np.int64(sum(map(bool, below)))

    return elementwise(caller.run, place, lambda value: np.searchsorted(table, value), v)


# Along an axis -------------------------------------------------------------------------------------------------------------


def along(function: Scalars, sample: Callable[..., Any]) -> Callable[..., Any]:
    """Return the model of a function of a list of numbers, applied along an axis."""

    def model(caller: Caller, a: Any, axis: Any = None, *, keepdims: Any = False) -> Any:
        return reduced(caller.run, function, sample, a, axis, bool(real(keepdims)))

    return model


def _sum(run: TracedRun, items: list[Any]) -> Any:
    return total(run, items)


def _mean(run: TracedRun, items: list[Any]) -> Any:
    if not items:
        raise NotProvedError("the mean of no numbers is NaN")
    return binary(run, "/", total(run, items), len(items))


def _max(run: TracedRun, items: list[Any]) -> Any:
    return _folded(run, items, largest=True)


def _min(run: TracedRun, items: list[Any]) -> Any:
    return _folded(run, items, largest=False)


def _folded(run: TracedRun, items: list[Any], largest: bool) -> Any:
    if not items:
        raise unmodelled(ValueError("zero-size array to reduction operation which has no identity"))
    return functools.reduce(lambda a, b: scalar.extreme(run, a, b, largest), items)


def _any(run: TracedRun, items: list[Any]) -> Any:
    return _joined(run, items, np.logical_or, False)


def _all(run: TracedRun, items: list[Any]) -> Any:
    return _joined(run, items, np.logical_and, True)


def _joined(run: TracedRun, items: list[Any], function: Callable[..., Any], start: bool) -> Any:
    return functools.reduce(lambda a, b: _logical(function)(run, a, b), items, np.bool_(start))


def _cumsum(run: TracedRun, items: list[Any]) -> list[Any]:
    sums: list[Any] = []
    for item in items:
        sums.append(total(run, [sums[-1], item]) if sums else total(run, [item]))
    return sums


def _sort(run: TracedRun, items: list[Any]) -> list[Any]:
    return scalar.sorted_items(run, items)


def _argmax(run: TracedRun, items: list[Any]) -> Any:
    return scalar.place_of_extreme(run, items, largest=True)


def _argmin(run: TracedRun, items: list[Any]) -> Any:
    return scalar.place_of_extreme(run, items, largest=False)


def _opaque(name: str, function: Callable[..., Any], *, between: bool = False) -> Scalars:
    def model(run: TracedRun, items: list[Any]) -> Any:
        return scalar.all_opaque(name, function, run, items, between=between)

    return model


def _sorted_along(caller: Caller, a: Any, axis: Any = -1) -> Any:
    return reduced(caller.run, _sort, np.sort, a, axis)


def _norm(caller: Caller, x: Any, ord: Any = None) -> Any:
    order = real(ord)
    if order not in (None, 1, 2, np.inf):
        raise NotProvedError("np.linalg.norm is only modelled for the orders 1, 2 and infinity")
    function = functools.partial(_norm_of, order)
    array = as_array(caller.run, x)
    if len(array.shape) != 1:
        raise NotProvedError("the norm of a matrix is not modelled")
    return scalar.all_opaque(f"norm {order!r}", function, caller.run, list(array.typed()))


def _norm_of(order: Any, items: Any) -> Any:
    return np.linalg.norm(items, order)


REDUCTIONS: dict[str, Scalars] = {
    "sum": _sum,
    "mean": _mean,
    "max": _max,
    "min": _min,
    "any": _any,
    "all": _all,
    "argmax": _argmax,
    "argmin": _argmin,
    "median": _opaque("median", np.median, between=True),
    "std": _opaque("std", np.std),
    "var": _opaque("var", np.var),
}


# Arrays --------------------------------------------------------------------------------------------------------------------


def _array(caller: Caller, object: Any, dtype: Any = None) -> Any:
    return as_array(caller.run, object, real(dtype))


def _asarray(caller: Caller, a: Any, dtype: Any = None) -> Any:
    wanted = real(dtype)
    if isinstance(a, Array) and (wanted is None or np.dtype(wanted) == a.dtype):
        return a
    return as_array(caller.run, a, wanted)


def _full(caller: Caller, shape: Any, fill_value: Any, dtype: Any = None) -> Any:
    wanted = real(dtype)
    kind = np.dtype(wanted) if wanted is not None else as_array(caller.run, fill_value).dtype
    array = filled(shape, 0, kind)
    put(caller.run, array, ..., fill_value)
    return array


def _append(caller: Caller, arr: Any, values: Any, axis: Any = None) -> Any:
    run = caller.run
    return rearranged(run, np.append, as_array(run, arr), as_array(run, values), axis=real(axis))


def _moved(name: str) -> Callable[..., Any]:
    """Return the model of a function that only moves items: NumPy's own, on their indices."""
    function = getattr(np, name)

    def model(caller: Caller, *arguments: Any, **keywords: Any) -> Any:
        most = 2 if name in JOINING else 3
        places = [real(value) for value in arguments[1:]]
        named = {key: real(value) for key, value in keywords.items()}
        words = [value for value in (*places, *named.values()) if isinstance(value, str)]
        if len(arguments) not in range(1, most + 1) or keywords.keys() - PLACING or words:
            raise NotProvedError(
                f"np.{name} is only modelled with an array, axes and indices; leave out other arguments"
            )
        whole = arguments[0]
        if not isinstance(whole, Array | list | tuple):
            raise NotProvedError(f"np.{name} is only modelled for arrays and lists")
        parts = isinstance(whole, list | tuple) and (name in JOINING or any(isinstance(item, Array) for item in whole))
        given = whole
        if not isinstance(whole, Array):
            given = [as_array(caller.run, item) for item in whole] if parts else as_array(caller.run, whole)
        return rearranged(caller.run, function, given, *places, **named)

    return model


JOINING = ("concatenate", "stack", "hstack", "column_stack")  # these take a list of arrays
PLACING = {"axis", "k", "shape", "reps", "obj"}
MOVED = (*JOINING, "reshape", "tile", "delete", "tril", "broadcast_to")
# (np.empty is not listed: its items are whatever was in memory.)
ONLY_CONSTANTS: tuple[Any, ...] = (
    *(np.arange, np.linspace, np.eye, np.zeros, np.ones, np.unique, np.bincount, np.histogram, np.linalg.pinv),
)


def _converted(dtype: np.dtype[Any]) -> Callable[..., Any]:
    """Return the model of calling a dtype with a number."""

    def model(caller: Caller, x: Any, /) -> Any:
        if isinstance(x, Array | list | tuple):
            raise NotProvedError(f"np.{dtype.name} is called with an array; use astype")
        return next(array_of([cast(caller.run, x, dtype)], (), dtype).typed())

    return model


NUMPY: tuple[Listed, ...] = (
    *(
        Listed(f"np.{name}", getattr(np, name), item_by_item(function, getattr(np, name), count))
        for name, (function, count) in UFUNCS.items()
    ),
    Listed("np.divide", np.divide, item_by_item(_true_divide, np.divide, 2)),
    *(
        Listed(f"np.{name}", getattr(np, name), along(function, getattr(np, name)))
        for name, function in REDUCTIONS.items()
    ),
    Listed("np.cumsum", np.cumsum, along(_cumsum, np.cumsum)),
    Listed("np.sort", np.sort, _sorted_along),
    Listed("np.argsort", np.argsort, argsort, pure=False),
    Listed("np.linalg.norm", np.linalg.norm, _norm),
    Listed("np.where", np.where, _where),
    Listed("np.flatnonzero", np.flatnonzero, _flatnonzero),
    Listed("np.count_nonzero", np.count_nonzero, _count_nonzero),
    Listed("np.clip", np.clip, _clip),
    Listed("np.round", np.round, lambda caller, a, decimals=0: _rounded(caller, a, decimals)),
    Listed("np.searchsorted", np.searchsorted, _searchsorted),
    Listed("np.array", np.array, _array, pure=False),
    Listed("np.asarray", np.asarray, _asarray, pure=False),
    Listed("np.full", np.full, _full),
    Listed("np.append", np.append, _append),
    *(Listed(f"np.{name}", getattr(np, name), _moved(name), pure=False) for name in MOVED),
    *(Listed(f"np.{kind.__name__}", kind, _converted(np.dtype(kind))) for kind in (np.float64, np.int64)),
    Listed("np.uint64", np.uint64, None),
    *(Listed(f"np.{function.__name__}", function, None) for function in ONLY_CONSTANTS),
)


def _rounded(caller: Caller, a: Any, decimals: Any) -> Any:
    digits = real(decimals)
    sample = functools.partial(np.round, decimals=digits)
    result = elementwise(caller.run, lambda run, x: scalar.rounded(run, x, digits, of_numpy_module=True), sample, a)
    return result if isinstance(result, Array) else _of_numpy(caller.run, result, sample, [a])


def applied_ufunc(run: TracedRun, name: str, a: Any, b: Any) -> Any:
    """Apply a Python operator to arrays."""
    if name == "@":
        return matrix_product(run, a, b)
    if name == "**" and any(isinstance(value, Array) and value.dtype == BOOL for value in (a, b)):
        raise NotProvedError("a power of an array of Booleans is not modelled; use astype(int)")
    if name in COMPARISONS:
        return elementwise(run, _compare(name), COMPARISONS[name], a, b)
    return elementwise(run, _binary(name), BINARY[name], a, b)


def applied_unary(run: TracedRun, name: str, a: Any) -> Any:
    """Apply a unary Python operator to an array."""
    function: Any = {"-": operator.neg, "+": operator.pos, "~": operator.invert}[name]
    return elementwise(run, lambda run, item: unary(run, name, item), function, a)
