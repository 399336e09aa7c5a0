"""The modelled attributes and methods of the evaluator's values; all others end the attempt."""

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dp_prover.errors import NotProvedError
from dp_prover.models import generator
from dp_prover.models import listed_numpy as of_numpy
from dp_prover.models.arithmetic import equal_items, lazily, placed
from dp_prover.models.arrays import astype, cast_item, copied, is_known, ours, put, real, require_few, taken, transposed
from dp_prover.models.functions import in_order, sorted_items
from dp_prover.models.lazy import Lazy, unmodelled
from dp_prover.models.listed import Caller, View, called, iterate, listed, modelled, of_constants, require_accepted
from dp_prover.models.listed_python import key_of
from dp_prover.models.values import Array, RaisesError, Term, is_float, is_numpy, kind_of


@dataclass(frozen=True, slots=True, eq=False)
class UncalledMethod:
    """A bound method that was not called yet."""

    owner: Any
    name: str


def attribute(value: Any, name: str) -> Any:
    """Return an attribute of a value. Raises NotProvedError if it is not modelled."""
    if isinstance(value, Array):
        return _of_array(value, name)
    if isinstance(value, generator.Generator):
        if name not in generator.METHODS:
            raise NotProvedError(f"rng.{name} is not among the draws that are modelled; see 'What can be proved'")
        return UncalledMethod(value, name)
    if isinstance(value, Term | Lazy):
        if name in ("astype", "item", "round", "copy") and is_numpy(kind_of(value)):
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


def _of_array(array: Array, name: str) -> Any:
    attributes: dict[str, Callable[[], Any]] = {
        "shape": lambda: array.shape,
        "size": lambda: array.index.size,
        "ndim": lambda: array.index.ndim,
        "dtype": lambda: _type_of(array),
        "T": lambda: transposed(array),
    }
    if name in attributes:
        return attributes[name]()
    if name in ARRAY_METHODS:
        return UncalledMethod(array, name)
    raise NotProvedError(f"the attribute {name} of an array is not modelled")


def _type_of(array: Array) -> np.dtype[Any]:
    """Return an array's dtype. That of texts contains the longest width, which depends on how the data arrive."""
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
    """Return the method that equals the NumPy function of this name."""

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
    return cast_item(caller.run, value, np.dtype(real(dtype)))


def _tolist(caller: Caller, array: Array) -> Any:
    if not array.shape:
        return _item(caller, array)
    if len(array.shape) == 1:
        return [_as_python(item) for item in array.flat()]
    return [_tolist(caller, row) for row in iterate(array)]


def _as_python(item: Any) -> Any:
    """Return an item as a Python number."""
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
    put(caller.run, array, ..., _as_function("sort")(caller, array, axis))


def _round(caller: Caller, value: Any, decimals: Any = 0) -> Any:
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
    # One by one, as Python does: computing an item may read the list.
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
    before, items[:] = list(items), []  # Python empties a list while it sorts
    try:
        keys = [caller.call(key, [item], {}) for item in before]
    except RaisesError as error:  # a session would go on with a list in unspecified order
        raise unmodelled(error.error) from None
    if items:
        raise NotProvedError("a list is changed while it is sorted")
    items[:] = [before[at] for at in in_order(caller.run, keys)]


def _get(caller: Caller, mapping: dict[Any, Any], key: Any, default: Any = None, /) -> Any:
    return mapping.get(key_of(key), default)


def _setdefault(caller: Caller, mapping: dict[Any, Any], key: Any, default: Any = None, /) -> Any:
    return mapping.setdefault(key_of(key), default)


def _pop_key(caller: Caller, mapping: dict[Any, Any], key: Any, /, *default: Any) -> Any:
    return placed(mapping.pop, key_of(key), *default)


def _update(caller: Caller, mapping: dict[Any, Any], more: Any = None, /, **named: Any) -> None:
    if more is not None and type(more) is not dict:
        raise NotProvedError("update() has something other than a dict")
    mapping.update(more or {}, **named)


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
        "keys": lambda caller, mapping: View(mapping, "keys"),
        "values": lambda caller, mapping: View(mapping, "values"),
        "items": lambda caller, mapping: View(mapping, "items"),
        "copy": lambda caller, mapping: dict(mapping),
    },
    str: dict.fromkeys(("encode", "upper", "lower", "strip", "split", "startswith", "endswith", "replace")),
    bytes: {},
    int: dict.fromkeys(("bit_length", "bit_count", "to_bytes")),
    float: {"is_integer": None},
    bool: {},
    set: {"add": lambda caller, members, item: members.add(key_of(item))},
    np.ufunc: {"outer": None},
    np.generic: dict.fromkeys(("item", "astype", "round", "copy", "sum", "max", "min", "any", "all", "tolist")),
}
TYPE_METHODS: dict[tuple[type, str], Callable[..., Any]] = {
    (int, "from_bytes"): int.from_bytes,
    (dict, "fromkeys"): dict.fromkeys,
}


def method_of_type(kind: type, name: str) -> Callable[..., Any]:
    """Return a type's function, such as ``int.from_bytes``, for constants."""
    if (kind, name) not in TYPE_METHODS:
        raise NotProvedError(f"{kind.__name__}.{name} is not modelled")
    return TYPE_METHODS[kind, name]
