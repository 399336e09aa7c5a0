"""Attributes and methods of the values that the evaluator computes with; all others end an attempt."""

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dp_prover.errors import NotProvedError
from dp_prover.models import generator
from dp_prover.models import listed_numpy as of_numpy
from dp_prover.models.arithmetic import equal_items, lazily, placed
from dp_prover.models.arrays import astype, copied, is_known, ours, real, require_few, taken, transposed
from dp_prover.models.functions import in_order, sorted_items
from dp_prover.models.lazy import Lazy, unmodelled
from dp_prover.models.listed import Caller, View, iterate, listed, modelled, of_constants, require_accepted
from dp_prover.models.listed_python import key_of
from dp_prover.models.values import Array, RaisesError, Term, is_constant, is_float, typed


@dataclass(frozen=True, slots=True, eq=False)
class UncalledMethod:
    """A method of a value, before it is called."""

    owner: Any
    name: str


def attribute(value: Any, name: str) -> Any:
    """Return an attribute of a value. Raises NotProvedError for those that are not modelled."""
    if isinstance(value, Array):
        return _of_array(value, name)
    if isinstance(value, generator.Generator):
        if name not in generator.METHODS:
            raise NotProvedError(f"rng.{name} is not among the draws that are modelled; see 'What can be proved'")
        return UncalledMethod(value, name)
    if isinstance(value, Term | Lazy):
        if name in ("astype", "item", "round", "copy") and _is_numpy(value):
            return UncalledMethod(value, name)
        raise NotProvedError(f"the attribute {name} is read from a number from data or noise")
    if isinstance(value, np.dtype) and name in ("kind", "name", "itemsize", "type", "char"):
        return getattr(value, name)
    if isinstance(value, np.generic) and name in ("dtype", "shape", "ndim", "size", "real", "T"):
        return ours(getattr(value, name))
    methods = METHODS.get(type(value)) or (METHODS[np.generic] if isinstance(value, np.generic) else {})
    if name in methods:
        return UncalledMethod(value, name)
    raise NotProvedError(f"the attribute {name} of a {type(value).__name__} is not modelled")


def _is_numpy(value: Any) -> bool:
    from dp_prover.models.values import is_numpy, kind_of

    return is_numpy(kind_of(value))


def _of_array(array: Array, name: str) -> Any:
    known: dict[str, Callable[[], Any]] = {
        "shape": lambda: array.shape,
        "size": lambda: array.index.size,
        "ndim": lambda: array.index.ndim,
        "dtype": lambda: _type_of(array),
        "T": lambda: transposed(array),
    }
    if name in known:
        return known[name]()
    if name in ARRAY_METHODS:
        return UncalledMethod(array, name)
    raise NotProvedError(f"the attribute {name} of an array is not modelled")


def _type_of(array: Array) -> np.dtype[Any]:
    """Return the type of an array; that of texts holds the width of the longest, which depends on how data arrive."""
    if array.dtype.kind in "US":
        raise NotProvedError("the type of an array of texts holds its width, which is not modelled; leave .dtype out")
    return array.dtype


def call_method(caller: Caller, method: UncalledMethod, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
    """Call a method."""
    owner, name = method.owner, method.name
    if isinstance(owner, generator.Generator):
        return modelled(f"rng.{name}", generator.METHODS[name], (caller.run, *arguments), keywords)
    if isinstance(owner, Array | Term):
        require_accepted(functools.partial(_method_of_example, name), (owner, *arguments), keywords)
    if isinstance(owner, Array):
        return modelled(f"the method {name}", ARRAY_METHODS[name], (caller, owner, *arguments), keywords)
    if isinstance(owner, Term | Lazy):
        return modelled(f"the method {name}", SCALAR_METHODS[name], (caller, owner, *arguments), keywords)
    methods = METHODS.get(type(owner)) or METHODS[np.generic]
    model = methods[name]
    if model is not None:
        return modelled(f"the method {name}", model, (caller, owner, *arguments), keywords)
    if not all(map(is_known, arguments)) or not all(map(is_known, keywords.values())):
        raise NotProvedError(f"the method {name} has a number from data or noise")
    return of_constants(f"the method {name}", getattr(owner, name), arguments, keywords)


def _method_of_example(name: str, owner: Any, *arguments: Any, **keywords: Any) -> Any:
    return getattr(owner, name)(*arguments, **keywords)


# Arrays --------------------------------------------------------------------------------------------------------------------

_LISTED = {entry.name.removeprefix("np."): entry for entry in of_numpy.NUMPY}


def _as_function(name: str) -> Callable[..., Any]:
    """Return a method that is the function of that name."""
    from dp_prover.models.listed import called

    def method(caller: Caller, array: Array, *arguments: Any, **keywords: Any) -> Any:
        return called(_LISTED[name], caller, (array, *arguments), keywords)

    return method


def _reshape(caller: Caller, array: Array, *shape: Any) -> Any:
    wanted = shape[0] if len(shape) == 1 else shape
    return _as_function("reshape")(caller, array, wanted)


def _copy(caller: Caller, array: Array) -> Any:
    return copied(array)


def _astype(caller: Caller, value: Any, dtype: Any) -> Any:
    if isinstance(value, Array):
        return astype(caller.run, value, real(dtype))
    from dp_prover.models.arrays import cast_item

    return cast_item(caller.run, value, np.dtype(real(dtype)))


def _tolist(caller: Caller, array: Array) -> Any:
    if not array.shape:
        return _item(caller, array)
    if len(array.shape) == 1:
        return [_as_python(item) for item in array.flat()]
    return [_tolist(caller, row) for row in iterate(array)]


def _as_python(item: Any) -> Any:
    """Return an item as a number of Python."""
    if isinstance(item, Term):
        return Term(item.form, float if is_float(item.kind) else int, item.plus_zero)
    if isinstance(item, Lazy):
        return lazily(_as_python, item)
    return item.item() if isinstance(item, np.generic) else item


def _item(caller: Caller, value: Any, *place: Any) -> Any:
    if isinstance(value, Array):
        if place:
            flat = Array(value.store, value.index.ravel(), value.dtype) if len(place) == 1 else value
            return _item(caller, taken(flat, real(place[0] if len(place) == 1 else tuple(place))))
        if value.index.size != 1:
            raise unmodelled(ValueError("can only convert an array of size 1 to a Python scalar"))
        return _as_python(value.flat()[0])
    return _as_python(value)


def _sort(caller: Caller, array: Array, axis: Any = -1) -> None:
    from dp_prover.models.arrays import put

    put(caller.run, array, ..., _as_function("sort")(caller, array, axis))


def _round(caller: Caller, value: Any, decimals: Any = 0) -> Any:
    from dp_prover.models.listed import called

    return called(_LISTED["round"], caller, (value, decimals), {})


def _clip(caller: Caller, array: Array, min: Any = None, max: Any = None) -> Any:
    return _as_function("clip")(caller, array, min, max)


ARRAY_METHODS: dict[str, Callable[..., Any]] = {
    **{name: _as_function(name) for name in of_numpy.REDUCTIONS if hasattr(np.ndarray, name)},
    "cumsum": _as_function("cumsum"),
    "argsort": _as_function("argsort"),
    "reshape": _reshape,
    "copy": _copy,
    "astype": _astype,
    "tolist": _tolist,
    "item": _item,
    "sort": _sort,
    "round": _round,
    "clip": _clip,
}
SCALAR_METHODS: dict[str, Callable[..., Any]] = {
    "astype": _astype,
    "item": _item,
    "round": _round,
    "copy": lambda caller, value: value,
}


# Lists and dicts -------------------------------------------------------------------------------------------------------------


def _append(caller: Caller, items: list[Any], item: Any, /) -> None:
    require_few(len(items))
    items.append(item)


def _extend(caller: Caller, items: list[Any], more: Any, /) -> None:
    # One after the other, as Python does: what comes may look at the list.
    for item in listed(more) if isinstance(more, list | tuple) else iterate(more):
        items.append(item)
        require_few(len(items))


def _insert(caller: Caller, items: list[Any], place: Any, item: Any, /) -> None:
    require_few(len(items))
    placed(items.insert, real(place), item)


def _pop(caller: Caller, items: list[Any], place: Any = -1, /) -> Any:
    return placed(items.pop, real(place))


def _index(caller: Caller, items: Any, wanted: Any, /) -> Any:
    for at, item in enumerate(items):
        if caller.truth(equal_items(caller.run, item, wanted)):
            return at
    raise unmodelled(ValueError("the item is not in the list"))


def _count(caller: Caller, items: Any, wanted: Any, /) -> Any:
    return sum(caller.truth(equal_items(caller.run, item, wanted)) for item in items)


def _sort_list(caller: Caller, items: list[Any], /, *, key: Any = None) -> None:
    if key is None:
        items[:] = sorted_items(caller.run, items)
        return
    held, items[:] = list(items), []  # a list is empty while it is sorted
    try:
        judged = [caller.call(key, [item], {}) for item in held]
    except RaisesError as error:  # a session goes on with the list in an order of its own
        raise unmodelled(error.error) from None
    if items:
        raise NotProvedError("a list is changed while it is sorted")
    items[:] = [held[at] for at in in_order(caller.run, judged)]


def _get(caller: Caller, found: dict[Any, Any], key: Any, default: Any = None, /) -> Any:
    return found.get(key_of(key), default)


def _setdefault(caller: Caller, found: dict[Any, Any], key: Any, default: Any = None, /) -> Any:
    return found.setdefault(key_of(key), default)


def _pop_key(caller: Caller, found: dict[Any, Any], key: Any, /, *default: Any) -> Any:
    return placed(found.pop, key_of(key), *default)


def _update(caller: Caller, found: dict[Any, Any], more: Any = None, /, **named: Any) -> None:
    if more is not None and type(more) is not dict:
        raise NotProvedError("update() has something other than a dict")
    found.update(more or {}, **named)


METHODS: dict[type, dict[str, Callable[..., Any] | None]] = {
    list: {
        "append": _append,
        "extend": _extend,
        "insert": _insert,
        "pop": _pop,
        "index": _index,
        "count": _count,
        "sort": _sort_list,
        "reverse": lambda caller, items: items.reverse(),
        "copy": lambda caller, items: list(items),
        "clear": lambda caller, items: items.clear(),
    },
    tuple: {"index": _index, "count": _count},
    dict: {
        "get": _get,
        "setdefault": _setdefault,
        "pop": _pop_key,
        "update": _update,
        "keys": lambda caller, found: View(found, "keys"),
        "values": lambda caller, found: View(found, "values"),
        "items": lambda caller, found: View(found, "items"),
        "copy": lambda caller, found: dict(found),
    },
    str: dict.fromkeys(("encode", "upper", "lower", "strip", "split", "startswith", "endswith", "replace")),
    bytes: {},
    int: dict.fromkeys(("bit_length", "bit_count", "to_bytes")),
    float: {"is_integer": None},
    bool: {},
    set: {"add": lambda caller, found, item: found.add(key_of(item))},
    np.ufunc: {"outer": None},
    np.generic: dict.fromkeys(("item", "astype", "round", "copy", "sum", "max", "min", "any", "all", "tolist")),
}
TYPE_METHODS: dict[tuple[type, str], Callable[..., Any]] = {
    (int, "from_bytes"): int.from_bytes,
    (dict, "fromkeys"): dict.fromkeys,
}


def method_of_type(kind: type, name: str) -> Callable[..., Any]:
    """Return a function of a type such as ``int.from_bytes``, for constants."""
    if (kind, name) not in TYPE_METHODS:
        raise NotProvedError(f"{kind.__name__}.{name} is not modelled")
    return TYPE_METHODS[kind, name]


__all__ = ["UncalledMethod", "attribute", "call_method", "is_constant", "method_of_type", "typed"]
