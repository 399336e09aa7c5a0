"""Arrays: NumPy moves the indices of items, never items, and functions are applied item by item."""

import functools
import itertools
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from dp_prover.errors import NotProvedError
from dp_prover.models.arithmetic import binary, is_true, lazily, made, native, opaque, require_any_order
from dp_prover.models.lazy import Lazy, unmodelled
from dp_prover.models.run import TracedRun
from dp_prover.models.values import (
    BOOL,
    FLOAT64,
    INT64,
    Array,
    Kind,
    Mark,
    RaisesError,
    Term,
    Typed,
    array_of,
    constant,
    from_numpy,
    is_constant,
    is_float,
    kind_of,
    to_numpy,
)

MOST_ITEMS = 100_000
Scalars = Callable[..., Any]  # a function of scalars


def is_known(value: Any) -> bool:
    """Whether a value, or everything in an array, list or dict, is constant."""
    if isinstance(value, Array):
        return not any(isinstance(item, Term | Lazy) for item in value.flat())
    if isinstance(value, list | tuple):
        return all(map(is_known, value))
    if isinstance(value, dict):
        return all(map(is_known, value.values()))
    return is_constant(value) or isinstance(value, type)


def real(value: Any) -> Any:
    """Return a constant value as real functions take it, with NumPy arrays. Lazy values are settled."""
    if isinstance(value, Array):
        return to_numpy(value)
    if type(value) in (list, tuple):
        return type(value)(map(real, value))
    if isinstance(value, dict):
        return {key: real(item) for key, item in value.items()}
    if isinstance(value, Term | Lazy):
        return constant(value)
    if is_constant(value) or isinstance(value, type):
        return value
    shown = value.words if isinstance(value, Mark) else f"a {type(value).__name__}"
    raise NotProvedError(f"{shown} is used where a number, a text or an array is needed")


def ours(value: Any) -> Any:
    """Return a real function's result, with arrays of the evaluator."""
    if isinstance(value, np.ndarray):
        require_few(value.size)
        return from_numpy(value)
    if type(value) in (list, tuple):
        return type(value)(map(ours, value))
    if is_constant(value) or type(value) in (dict, set):
        return value
    raise NotProvedError(f"a function returned a {type(value).__name__}, which is not modelled")


def require_few(count: int) -> None:
    """Raise NotProvedError for an array that is too large to follow."""
    if count > MOST_ITEMS:
        raise NotProvedError(f"an array of {count:,} numbers is too large to follow; at most {MOST_ITEMS:,} are")


# Making ----------------------------------------------------------------------------------------------------------------


def as_array(run: TracedRun, value: Any, dtype: Any = None) -> Array:
    """Return a number, a list or an array as a new array, as ``np.array`` does."""
    items, shape = _nested(value)
    require_few(len(items))
    kind = np.dtype(dtype) if dtype is not None else value.dtype if isinstance(value, Array) else _common(items)
    return array_of([cast(run, item, kind) for item in items], shape, kind)


def _nested(value: Any) -> tuple[list[Any], tuple[int, ...]]:
    """Return the scalars of nested lists, and their shape."""
    if isinstance(value, Array):
        return list(value.typed()), value.shape
    if not isinstance(value, list | tuple):
        return [value], ()
    parts = [_nested(item) for item in value]
    if len({shape for _, shape in parts}) > 1:
        raise unmodelled(ValueError("setting an array element with a sequence: the shape is inhomogeneous"))
    return [item for items, _ in parts for item in items], (len(parts), *(parts[0][1] if parts else ()))


def _common(items: Sequence[Any]) -> np.dtype[Any]:
    """Return the dtype of an array of scalars."""
    if not items:
        return FLOAT64
    ones = []
    for item in items:
        kind = kind_of(item)
        ones.append(item if is_constant(item) else kind.type(1) if isinstance(kind, np.dtype) else kind(1))
    dtype: np.dtype[Any] = native(np.array, ones).dtype
    if dtype.kind not in "biufUS":
        raise NotProvedError(f"an array of {dtype} is not modelled; use numbers or a list")
    return dtype


def cast(run: TracedRun, value: Any, dtype: np.dtype[Any]) -> Any:
    """Return a scalar as an array item of a dtype, as item assignment does."""
    if isinstance(value, Lazy):
        inner = value.item if isinstance(value, Typed) else value
        return lazily(functools.partial(_cast_constant, dtype), inner)
    if not isinstance(value, Term):
        return _cast_constant(dtype, value)
    if isinstance(value.kind, np.dtype) and dtype == value.kind:  # (a dtype equals the Python type)
        return value
    if dtype == BOOL:
        return is_true(run, value)
    if is_float(value.kind) and dtype == FLOAT64:
        return Term(value.form, FLOAT64, value.plus_zero)
    if not is_float(value.kind) and dtype in (FLOAT64, INT64):
        return made(run, value.form, dtype, plus_zero=True)
    if dtype == INT64:
        return truncated(run, value, INT64)
    raise NotProvedError(f"a number from data or noise becomes {dtype}, which is not modelled; use int64 or float64")


def truncated(run: TracedRun, value: Term, kind: Kind) -> Any:
    """Truncate a float to an integer."""
    if run.names.may_be_nonfinite(value.form):
        raise NotProvedError("a number that may be NaN or infinite becomes an integer")
    reach = run.names.reach(value.form)
    ends = None if reach is None else (Fraction(int(reach[0])), Fraction(int(reach[1])))
    term = opaque(run, "trunc", np.trunc, (value,), kind, ends, finite=True)
    return made(run, term.form, kind, plus_zero=True)


def _cast_constant(dtype: np.dtype[Any], value: Any) -> Any:
    if not is_constant(value):
        raise NotProvedError(f"a {type(value).__name__} becomes an item of an array; use numbers or text")
    place = np.zeros(1, dtype)
    try:
        native(place.__setitem__, 0, value)
    except RaisesError as error:
        # Whether NumPy raises depends on where the number comes from: a list, a scalar or an array.
        raise NotProvedError(f"{value!r} becomes an item of an array of {dtype}: {error}") from None
    return place[0].item()


def astype(run: TracedRun, array: Array, dtype: Any) -> Array:
    """Return a copy of another dtype."""
    kind = native(np.dtype, dtype)
    if is_known(array):
        converted = from_numpy(native(to_numpy(array).astype, kind))
        assert isinstance(converted, Array)
        return converted
    return array_of([cast(run, item, kind) for item in array.typed()], array.shape, kind)


# Item by item ------------------------------------------------------------------------------------------------------------


def elementwise(run: TracedRun, function: Scalars, sample: Callable[..., Any], *operands: Any) -> Any:
    """Apply a function of scalars to broadcast operands, as a ufunc does.

    ``sample`` is the real function, which determines the result's dtype.
    """
    given = [as_array(run, value) if isinstance(value, list | tuple) else value for value in operands]
    ids = [value.index if isinstance(value, Array) else np.zeros((), np.intp) for value in given]
    try:
        spread = native(np.broadcast_arrays, *ids)
    except RaisesError as error:  # each function has its own message
        raise unmodelled(error.error) from None
    shape = spread[0].shape
    require_few(spread[0].size)
    if not shape:
        return function(run, *(next(value.typed()) if isinstance(value, Array) else value for value in given))
    dtype = _result_type(sample, tuple(value.dtype if isinstance(value, Array) else kind_of(value) for value in given))
    columns = []
    for value, places in zip(given, spread, strict=True):
        if isinstance(value, Array):
            items = dict(zip(value.index.ravel().tolist(), value.typed(), strict=True))
            columns.append([items[at] for at in places.ravel().tolist()])
        else:
            columns.append([value] * places.size)
    made_items = []
    for row in zip(*columns, strict=True):
        run.check_time()
        made_items.append(cast(run, function(run, *row), dtype))
    return array_of(made_items, shape, dtype)


@functools.lru_cache(maxsize=4096)
def _result_type(sample: Callable[..., Any], kinds: tuple[Kind, ...]) -> np.dtype[Any]:
    ones = [np.ones(1, kind) if isinstance(kind, np.dtype) else kind(1) for kind in kinds]
    if not any(isinstance(kind, np.dtype) for kind in kinds):
        ones[0] = np.array([ones[0]])
    with np.errstate(all="ignore"):
        return np.asarray(sample(*ones)).dtype


# Indices -----------------------------------------------------------------------------------------------------------------


def _key(key: Any) -> Any:
    """Return an index as NumPy takes it. Raises NotProvedError unless it is constant."""
    if isinstance(key, tuple):
        return tuple(map(_key, key))
    if isinstance(key, Array) and key.dtype.kind not in "bi":
        raise NotProvedError("an array is indexed by numbers that are neither integers nor Booleans")
    try:
        constant = real(key)
    except NotProvedError:
        raise NotProvedError(
            "an index depends on a number from data or noise; compare with each index in turn instead"
        ) from None
    if not isinstance(key, list):
        return constant
    places = np.array(constant)
    return places if places.size else places.astype(np.intp)


def is_advanced(key: Any) -> bool:
    """Whether an index makes NumPy copy. Raises NotProvedError for unusual indices."""
    parts = key if isinstance(key, tuple) else (key,)
    if not all(isinstance(part, np.ndarray | int | np.integer | np.bool_ | slice | None | type(...)) for part in parts):
        raise NotProvedError("an array is indexed by something other than integers, slices, lists and arrays")
    return any(isinstance(part, np.ndarray | bool | np.bool_) for part in parts)


def taken(array: Array, key: Any) -> Any:
    """Return ``array[key]``: a view for slices, a copy for lists of places, or an item."""
    key = _key(key)
    chosen = native(array.index.__getitem__, key)
    if not isinstance(chosen, np.ndarray):
        return next(Array(array.store, np.asarray(chosen), array.dtype).typed())
    view = Array(array.store, chosen, array.dtype)
    return array_of(view.flat(), chosen.shape, array.dtype) if is_advanced(key) else view


def put(run: TracedRun, array: Array, key: Any, value: Any) -> None:
    """Execute ``array[key] = value``."""
    if array.store.unsure:
        raise NotProvedError(
            "an array is written into, and may share its numbers with another array; write into a copy()"
        )
    if array.dtype.kind in "US":
        raise NotProvedError("an array truncates texts that are written into it, which is not modelled; use a list")
    source = as_array(run, value, None if isinstance(value, Array) else array.dtype)
    items = [cast(run, item, array.dtype) for item in source.typed()]
    # NumPy assigns the items' indices, and so decides which item goes where, even if a place is written twice.
    numbers, places = np.full(array.shape, -1), _key(key)
    if source.shape and not isinstance(native(numbers.__getitem__, places), np.ndarray):
        raise NotProvedError("a list or an array is assigned to one item of an array; use a number")
    native(numbers.__setitem__, places, np.arange(len(items)).reshape(source.shape))
    for at, number in zip(array.index.ravel().tolist(), numbers.ravel().tolist(), strict=True):
        if number >= 0:
            array.store[at] = items[number]


def rearranged(run: TracedRun, function: Callable[..., Any], *arguments: Any, **keywords: Any) -> Any:
    """Call a NumPy function that only moves items, on the items' indices. Index 0 stands for a zero, which NumPy may fill in.

    A result that may share memory with an argument becomes a view of it, after which neither may be written.
    """
    pool: list[Any] = [0]
    origins: list[tuple[Array, np.ndarray[Any, Any]]] = []

    def numbered(value: Any) -> Any:
        if isinstance(value, Array):
            ids = np.arange(len(pool), len(pool) + value.index.size).reshape(value.shape)
            pool.extend(value.typed())
            origins.append((value, ids))
            return ids
        if isinstance(value, list | tuple):
            return type(value)(map(numbered, value))
        if isinstance(value, Term | Lazy):
            raise NotProvedError("a number from data or noise is used as a length, an index or an axis")
        return value

    def sampled(value: Any) -> Any:
        if isinstance(value, Array):
            return np.zeros(value.shape, value.dtype)
        return type(value)(map(sampled, value)) if isinstance(value, list | tuple) else value

    given = [numbered(argument) for argument in arguments]
    named = {name: numbered(value) for name, value in keywords.items()}
    result = native(function, *given, **named)
    kind = native(
        function, *map(sampled, arguments), **{name: sampled(value) for name, value in keywords.items()}
    ).dtype
    require_few(result.size)
    for origin, ids in origins:
        if np.may_share_memory(result, ids):
            # The view gets NumPy's strides, on which later views depend.
            start = result.ctypes.data - ids.ctypes.data
            index = np.ndarray(result.shape, np.intp, np.array(origin.index, order="C"), start, result.strides)
            line = origin.index.ndim == 1 and origin.index.flags.c_contiguous
            sure = line and origin.index.size == len(origin.store) and result.flags.writeable
            if not sure:
                origin.store.may_be_copied()
            return Array(origin.store, index, origin.dtype)
    return array_of([cast(run, pool[at], kind) for at in result.ravel().tolist()], result.shape, kind)


def transposed(array: Array) -> Array:
    """Return a view with the axes reversed."""
    return Array(array.store, array.index.T, array.dtype)


# Along an axis -----------------------------------------------------------------------------------------------------------


def reduced(
    run: TracedRun, function: Scalars, sample: Callable[..., Any], value: Any, axis: Any = None, keepdims: bool = False
) -> Any:
    """Apply a function of a list of scalars along an axis, or to all items. It returns a scalar, or a list of the same length."""
    array = as_array(run, value) if not isinstance(value, Array) else value
    axis = real(axis)
    if isinstance(axis, tuple):
        raise NotProvedError("a tuple of axes is not modelled; use one axis at a time")
    shown = native(sample, np.ones(array.shape, array.dtype), axis=axis)
    dtype = np.asarray(shown).dtype
    typed_items = dict(zip(array.index.ravel().tolist(), array.typed(), strict=True))
    rows = array.index.reshape(1, -1) if axis is None else np.moveaxis(array.index, axis, -1)
    results = []
    for row in rows.reshape(-1, rows.shape[-1]).tolist():
        run.check_time()
        results.append(function(run, [typed_items[at] for at in row]))
    if results and isinstance(results[0], list):
        items = [cast(run, item, dtype) for item in itertools.chain(*results)]
        if axis is None:
            return array_of(items, (len(items),), dtype)
        made_array = array_of(items, (*rows.shape[:-1], len(results[0])), dtype)
        back = np.moveaxis(made_array.index, -1, axis)
        return array_of([made_array.store[at] for at in back.ravel().tolist()], back.shape, dtype)
    items = [cast(run, item, dtype) for item in results]
    if axis is None:
        shape = (1,) * len(array.shape) if keepdims else ()
    else:
        shape = rows.shape[:-1]
        if keepdims:
            shape = tuple(1 if at == axis % len(array.shape) else n for at, n in enumerate(array.shape))
    result = array_of(items, shape, dtype)
    return next(result.typed()) if not shape else result


def total(run: TracedRun, items: Sequence[Any]) -> Any:
    """Return the sum of scalars, as NumPy computes it: Booleans are counted."""
    if not items:
        return 0.0
    wide = widened(run, items)
    if any(isinstance(item, Term) for item in wide):
        wide = [item.settled() if isinstance(item, Lazy) else item for item in wide]
    whole = functools.reduce(lambda a, b: binary(run, "+", a, b), wide)
    require_any_order(run, wide, whole)
    return whole


def widened(run: TracedRun, items: Sequence[Any]) -> list[Any]:
    """Return scalars of the type in which NumPy accumulates: small integers and Booleans become 64-bit."""
    return [_wide(run, item) for item in items]


def _wide(run: TracedRun, item: Any) -> Any:
    kind = kind_of(item)
    if not isinstance(kind, np.dtype) or kind in (INT64, FLOAT64):
        return item
    if kind.kind not in "biu":
        raise NotProvedError(f"an array of {kind} is summed, which is not modelled; use float64")
    return cast_item(run, item, np.dtype(np.uint64) if kind.kind == "u" else INT64)


def cast_item(run: TracedRun, item: Any, dtype: np.dtype[Any]) -> Any:
    """Return a scalar as a NumPy scalar of another dtype."""
    return next(array_of([cast(run, item, dtype)], (), dtype).typed())


def matrix_product(run: TracedRun, a: Any, b: Any) -> Any:
    """Return ``a @ b`` of vectors and matrices."""
    left, right = as_array(run, a), as_array(run, b)
    if not 1 <= len(left.shape) <= 2 or not 1 <= len(right.shape) <= 2:
        raise NotProvedError("@ of arrays with more than two axes is not modelled")
    if is_known(left) and is_known(right):
        return ours(native(np.matmul, to_numpy(left), to_numpy(right)))
    shown = native(np.matmul, np.ones(left.shape, left.dtype), np.ones(right.shape, right.dtype))
    rows = left.index.reshape(-1, left.shape[-1])
    columns = right.index.reshape(right.shape[0], -1).T
    ours_left = dict(zip(left.index.ravel().tolist(), left.typed(), strict=True))
    ours_right = dict(zip(right.index.ravel().tolist(), right.typed(), strict=True))
    items = []
    for row, column in itertools.product(rows.tolist(), columns.tolist()):
        run.check_time()
        products = [binary(run, "*", ours_left[i], ours_right[j]) for i, j in zip(row, column, strict=True)]
        items.append(total(run, products))
    dtype = np.asarray(shown).dtype
    product = array_of([cast(run, item, dtype) for item in items], np.asarray(shown).shape, dtype)
    return product if product.shape else next(product.typed())


def copied(array: Array) -> Array:
    """Return a copy."""
    return array_of(array.flat(), array.shape, array.dtype)


def filled(shape: Any, value: Any, dtype: np.dtype[Any]) -> Array:
    """Return an array filled with one item."""
    lengths = native(np.empty, real(shape), np.bool_).shape if _few(shape) else ()
    count = int(np.prod(lengths)) if lengths else 1
    return array_of([value] * count, lengths, dtype)


def _few(shape: Any) -> bool:
    lengths = real(shape)
    require_few(int(np.prod(np.asarray(lengths, dtype=object))))
    return True
