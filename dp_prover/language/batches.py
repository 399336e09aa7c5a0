"""A batch of outputs: what a mechanism may do with ``size``, so that a proof for one output is one for each of a batch.

The evaluator walks a batch of one. The size is no number there, but a mark that only a shape or a range can have. An array with a
first axis of that length is marked as well: its rows are the outputs. What keeps rows apart is listed here, and marks its result:
operators and functions item by item, reductions along other axes, and slices that keep all rows. Everything else ends the attempt,
since a marked array shows its items to nothing else (see ``values.Array``).

A loop over the rows is walked once, for one row. It may fill an array at the place of the row, or append one item to a list.
Nothing else may last from one row to the next: neither a name, nor an object that was there before. Such a list is made by a
statement like ``out = []`` and not read before the loop, so that nothing else holds it and sees how long it gets.

What one row does to all others ends the attempt: an exception, and an array of rows whose type or shape some row could change.
"""

import ast
import functools
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from dp_prover.errors import NotProvedError
from dp_prover.language.objects import Bases, MadeObject, MethodOfMade
from dp_prover.language.outside import BoundMethod, Foreign
from dp_prover.language.scope import CallScope, Closure
from dp_prover.models import generator
from dp_prover.models.arrays import as_array, copied, put, taken
from dp_prover.models.attributes import UncalledMethod
from dp_prover.models.lazy import Lazy
from dp_prover.models.listed import Iterated, Listed, View
from dp_prover.models.listed_numpy import REDUCTIONS, UFUNCS, applied_ufunc
from dp_prover.models.run import TracedRun
from dp_prover.models.values import ROWS_SHOWN, Array, Mark, RaisesError, Term, is_constant


class Rows(Mark):
    """A list with one item for each row, of which the first is walked."""

    words = "the list of the outputs of a batch"

    def __init__(self, first: Any) -> None:
        self.first = first


class SizeOfBatch(Mark):
    """The number of rows."""

    words = "the size of the batch"


class RangeOfBatch(Mark):
    """The numbers of the rows, as ``range(size)``."""

    words = "the range of the batch's size"


class PlacesOfBatch(Mark):
    """The numbers of the rows as an array, ``np.arange(size)``."""

    words = "the places of the batch's rows"


class RowsBeside(Mark):
    """What ``enumerate`` and ``zip`` give for rows: a tuple for each."""

    words = "the outputs of a batch, counted or beside each other"

    def __init__(self, parts: Sequence[Any]) -> None:
        self.parts = tuple(parts)


class Place(Mark):
    """The number of a row in a loop over the rows."""

    words = "the place of an output in its batch"


SIZE, RANGE, PLACES, PLACE = SizeOfBatch(), RangeOfBatch(), PlacesOfBatch(), Place()
REASON = (
    "a batch is proved by one of its outputs, so that its size may only be the shape of draws and arrays, whose rows stay apart, "
    "and the range of a loop over independent outputs"
)
EACH_ITEM = {f"np.{name}" for name in UFUNCS} | {"np.divide", "np.where", "np.clip", "np.round", "abs"}
ALONG = {f"np.{name}" for name in REDUCTIONS} | {"np.cumsum", "np.sort", "np.argsort"}
SHAPED = {"np.zeros", "np.ones", "np.full", "np.broadcast_to", "np.tile"}
JOINED = {"np.stack", "np.column_stack", "np.concatenate"}
OF_SIZE = {"range": RANGE, "np.arange": PLACES}
Model = Callable[[Sequence[Any], Mapping[str, Any]], Any]  # calls a function or a method as if nothing were of a batch
# These hand on what a list holds, and look at nothing in it.
HANDED_ON = {"len", "list", "tuple", "enumerate", "zip", "reversed"}
METHODS_OF_LISTS = {"append", "insert", "pop", "copy", "get", "setdefault", "update", "keys", "values", "items"}
OTHER_PARAMETERS = {"dtype", "out", "endpoint", "replace", "axis", "shuffle", "method"}
DRAWS = frozenset(generator.METHODS) - {"permutation", "shuffle"}


def refused(what: Any) -> NotProvedError:
    """Return the end of an attempt for a use of a batch that is not modelled."""
    return NotProvedError(f"{what}: {REASON}")


def is_batched(value: Any) -> bool:
    """Whether a value is of the batch: its size, an array or a list of its rows, or a list or dict that holds such."""
    if isinstance(value, Array):
        return value.batched
    if isinstance(value, list | tuple):
        return any(map(is_batched, value))
    if isinstance(value, dict):
        return any(map(is_batched, value.values()))
    return isinstance(value, Mark)


def _is_marked(value: Any) -> bool:
    return isinstance(value, Mark) or (isinstance(value, Array) and value.batched)


@contextmanager
def shown() -> Iterator[None]:
    """Let the model of an operation that keeps rows apart see the items of marked arrays."""
    token = ROWS_SHOWN.set(True)
    try:
        yield
    finally:
        ROWS_SHOWN.reset(token)


def require_one_kind(run: TracedRun, array: Array) -> Array:
    """Return an array that is made of a list of rows. Raises NotProvedError unless it has one type and one shape on every path."""
    with shown():
        shape = array.shape
    if array.dtype.kind not in "biuf":
        raise refused(
            "an array of texts is made of rows, and the longest text of all rows decides its width; return a list"
        )
    at = run.next_array_of_rows()
    if run.names.arrays_of_rows.setdefault(at, (array.dtype, shape)) != (array.dtype, shape):
        raise refused(
            "an array is made of rows whose types or shapes differ, and all rows decide its own; use one type"
        )
    return array


def marked(value: Any) -> Any:
    """Return an array of rows, marked as that."""
    if not isinstance(value, Array) or not value.shape or value.shape[0] != 1:
        raise refused("rows of a batch are put together")
    return Array(value.store, value.index, value.dtype, batched=True)


def _axes(run: TracedRun, value: Any) -> tuple[int, ...]:
    """Return the shape of an operand that is not marked."""
    if isinstance(value, Array):
        return value.shape
    if isinstance(value, list | tuple):
        return as_array(run, value).shape
    if not (isinstance(value, Term | Lazy) or is_constant(value)):
        raise refused("an operation has rows of a batch and something other than numbers and arrays")
    return ()


def _require_aligned(run: TracedRun, operands: Sequence[Any], axes: int | None = None) -> None:
    """Raise NotProvedError unless NumPy broadcasts operands so that the axis of rows stays the first of the result.

    ``axes`` is the number of axes of the result if it is known.
    """
    if any(isinstance(one, Mark) for one in operands):
        raise refused(f"{next(one.words for one in operands if isinstance(one, Mark))} is computed with")
    with shown():
        of_rows = {one.index.ndim for one in operands if _is_marked(one)} | ({axes} if axes is not None else set())
    if len(of_rows) != 1:
        raise refused("arrays with different numbers of axes meet, which makes other rows")
    [most] = of_rows
    for one in operands:
        if not _is_marked(one):
            shape = _axes(run, one)
            if len(shape) > most or (len(shape) == most and shape[:1] != (1,)):
                raise refused(
                    "an array that has as many axes as the rows of a batch meets them, which depends on its size"
                )


def item_by_item(run: TracedRun, model: Callable[..., Any], *operands: Any) -> Any:
    """Return what a function of single items gives for marked operands."""
    _require_aligned(run, operands)
    with shown():
        return marked(model(*operands))


def multiplied(run: TracedRun, model: Callable[..., Any], a: Any, b: Any) -> Any:
    """Return ``a @ b``, for rows times a matrix."""
    if not _is_marked(a) or isinstance(a, Mark) or _is_marked(b):
        raise refused("@ has rows of a batch on its right")
    with shown():
        if a.index.ndim != 2:
            raise refused("@ has an array of rows that are no vectors")
        return marked(model(a, b))


# Shapes and places -----------------------------------------------------------------------------------------------------------


def _one_row(shape: Any) -> tuple[int, ...]:
    """Return a shape that begins with the size, for one row."""
    rest = shape[1:] if isinstance(shape, list | tuple) and shape else () if shape is SIZE else None
    if rest is None or (shape is not SIZE and shape[0] is not SIZE) or any(map(is_batched, rest)):
        raise refused("the size of the batch is somewhere in a shape, and not its first length")
    return (1, *rest)


def _all_rows(array: Array, key: Any) -> bool:
    """Whether an index keeps all rows: it begins with a full slice.

    Numbers, slices and new axes come after it, or one list of places among slices. Several lists, a list and a number, and Booleans
    may move the rows to another axis.
    """
    parts = key if isinstance(key, tuple) else (key,)
    if not parts or any(map(is_batched, parts)):
        return False
    with shown():
        axes = array.index.ndim
    first, *rest = parts
    if isinstance(first, slice):
        simple = all(_is_place(part) or isinstance(part, slice) or part is None or part is ... for part in rest)
        listed = sum(map(_is_list_of_places, rest)) == 1
        sliced = sum(isinstance(part, slice) for part in rest) == len(rest) - 1
        return first == slice(None) and (simple or (listed and sliced))
    return first is ... and all(_is_place(part) or isinstance(part, slice) for part in rest) and len(parts) <= axes


def _is_place(part: Any) -> bool:
    return isinstance(part, int | np.integer) and not isinstance(part, bool)


def _is_list_of_places(part: Any) -> bool:
    if isinstance(part, Array):
        return len(part.shape) == 1 and part.dtype.kind in "iu"
    return isinstance(part, list) and bool(part) and all(map(_is_place, part))


def _of_one_row(key: Any) -> Any:
    """Return an index by the place of a row, in an array of one row; None for any other index."""
    if key is PLACE:
        return 0
    if isinstance(key, tuple) and key and key[0] is PLACE and not any(map(is_batched, key[1:])):
        return (0, *key[1:])
    return None


def item(owner: Any, key: Any, inside: bool) -> Any:
    """Return ``owner[key]``, where one of both is of the batch. ``inside`` says that a loop over the rows goes on."""
    if not (isinstance(owner, Array) and owner.batched):
        if inside or not (isinstance(key, Array) and isinstance(owner, Array)):
            raise refused("a place or a size of a batch is an index")
        if key.dtype.kind not in "iu":
            raise refused("rows of a batch that are no integers are an index")
        with shown():
            return marked(taken(owner, key))
    if (row := _of_one_row(key)) is not None:
        with shown():
            return taken(owner, row)
    if inside:
        raise refused("a loop over the batch looks at other rows")
    if isinstance(key, tuple) and len(key) == 2 and key[0] is PLACES:
        with shown():
            chosen = key[1]
            one_for_each = (
                isinstance(chosen, Array) and chosen.batched and chosen.index.ndim == 1 and chosen.dtype.kind in "iu"
            )
            if not (one_for_each or _is_place(chosen)):
                raise refused(
                    "rows of a batch are indexed by other than one place for each, which gives a table of all rows"
                )
            return marked(taken(owner, (as_array_of_zero(), chosen)))
    if not _all_rows(owner, key):
        raise refused("some rows of a batch are chosen")
    with shown():
        return marked(taken(owner, key))


def as_array_of_zero() -> Array:
    """Return the places of a batch of one."""
    return Array.of_numpy(np.zeros(1, np.int64))


def set_item(run: TracedRun, owner: Array, key: Any, value: Any, inside: bool) -> None:
    """Carry out ``owner[key] = value`` for an array of rows."""
    if (row := _of_one_row(key)) is not None:
        if is_batched(value):
            raise refused("one row is set to rows of a batch")
        with shown():
            put(run, owner, row, value)
        return
    if inside:
        raise refused("a loop over the batch writes to other rows")
    if isinstance(key, Array) and key.batched and key.dtype == np.bool_:
        if isinstance(value, Array | list | tuple | Mark):
            raise refused("rows that are chosen are set to an array")
        with shown():
            put(run, owner, key, value)
        return
    if not _all_rows(owner, key):
        raise refused("some rows of a batch are written")
    with shown():
        target = taken(owner, key)
    _require_aligned(run, [value], axes=target.index.ndim)
    with shown():
        put(run, owner, key, value)


def attribute(array: Array, name: str) -> Any:
    """Return an attribute of an array of rows."""
    with shown():
        shape, dtype, axes = array.shape, array.dtype, array.index.ndim
    if name == "shape":
        return (SIZE, *shape[1:])
    if name == "ndim":
        return axes
    if name == "dtype" and dtype.kind not in "US":
        return dtype
    if name in ("size", "T"):
        raise refused(f"the attribute {name} of rows of a batch is read")
    return UncalledMethod(array, name)


# Functions and methods -------------------------------------------------------------------------------------------------------


def called(entry: Listed, run: TracedRun, model: Model, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
    """Call a function of the list with something of a batch; ``model`` calls it."""
    if entry.name in HANDED_ON and not any(map(_is_marked, (*arguments, *keywords.values()))):
        with shown():
            return model(arguments, keywords)
    keeps_apart = FUNCTIONS.get(entry.name)
    if keeps_apart is None:
        raise refused(f"{entry.name} has something of a batch")
    return keeps_apart(Call(entry.name, run, model, arguments, keywords))


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a function that is listed, with something of a batch among its arguments."""

    name: str
    run: TracedRun
    model: Model
    arguments: Sequence[Any]
    keywords: Mapping[str, Any]

    @property
    def only(self) -> Any:
        """The argument, if there is one alone."""
        if len(self.arguments) != 1 or self.keywords:
            raise self.refused()
        return self.arguments[0]

    @property
    def first(self) -> Any:
        """The first argument."""
        if not self.arguments:
            raise self.refused()
        return self.arguments[0]

    @property
    def rest(self) -> list[Any]:
        """All arguments but the first."""
        return [*self.arguments[1:], *self.keywords.values()]

    def refused(self) -> NotProvedError:
        """Return the end of the attempt for arguments that are not modelled."""
        return refused(f"{self.name} has something of a batch")

    def marked(self) -> Any:
        """Return what the function gives, marked as rows."""
        with shown():
            return marked(self.model(self.arguments, self.keywords))


def _of_size(call: Call) -> Any:
    """Return the mark that a function makes of the size, or of rows."""
    value = call.only
    if call.name == "len" and isinstance(value, Array | Rows):
        return SIZE
    if call.name == "list" and isinstance(value, Array):
        return Rows(first_row(value))
    if call.name == "enumerate" and is_rows(value):
        return RowsBeside((RANGE, value))
    if call.name in OF_SIZE and value is SIZE:
        return OF_SIZE[call.name]
    raise call.refused()


def _zipped(call: Call) -> Any:
    if call.keywords.keys() - {"strict"} or not all(map(is_rows, call.arguments)):
        raise call.refused()
    return RowsBeside(call.arguments)


def _of_type(call: Call) -> Any:
    if not isinstance(call.first, Array):
        raise call.refused()
    with shown():
        return call.model(call.arguments, call.keywords)


def _items(call: Call) -> Any:
    if call.keywords.keys() - {"decimals", "a_min", "a_max"} or (call.name == "np.where" and len(call.arguments) != 3):
        raise call.refused()
    _require_aligned(call.run, [one for one in (*call.arguments, *call.keywords.values()) if one is not None])
    return call.marked()


def _array(call: Call) -> Any:
    if any(map(is_batched, call.rest)) or not isinstance(call.first, Array | Rows):
        raise call.refused()
    if isinstance(call.first, Rows):
        made = call.model([[call.first.first], *call.arguments[1:]], call.keywords)
        return require_one_kind(call.run, marked(made))
    return require_one_kind(call.run, call.marked())


def _searched(call: Call) -> Any:
    if len(call.arguments) != 2 or call.keywords or is_batched(call.first):
        raise call.refused()
    return call.marked()


def _reshaped(call: Call) -> Any:
    array = call.first
    if len(call.arguments) != 2 or call.keywords or not (isinstance(array, Array) and array.batched):
        raise call.refused()
    with shown():
        return marked(call.model([array, _one_row(call.arguments[1])], {}))


def _added(call: Call) -> Any:
    if not isinstance(call.only, list | tuple):
        raise call.refused()
    return functools.reduce(functools.partial(item_by_item, call.run, _plus(call.run)), call.only)


def _plus(run: TracedRun) -> Callable[..., Any]:
    return functools.partial(applied_ufunc, run, "+")


def _reduced(call: Call) -> Any:
    return _along(call.name, call.model, call.arguments, call.keywords)


def _along(name: str, model: Model, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
    """Call a function along an axis of an array of rows, which must be another axis than that of the rows."""
    array = arguments[0] if arguments else None
    axis = (
        arguments[1] if len(arguments) > 1 else keywords.get("axis", -1 if name in ("np.sort", "np.argsort") else None)
    )
    if not isinstance(array, Array) or any(map(is_batched, [*arguments[1:], *keywords.values()])):
        raise refused(f"{name} has something of a batch other than an array of its rows first")
    with shown():
        axes = array.index.ndim
        if type(axis) is not int or not -axes <= axis < axes or axis % axes == 0:
            raise refused(f"{name} goes along the rows of a batch; give the axis of one output")
        return marked(model(arguments, keywords))


def _shaped(call: Call) -> Any:
    """Call a function that makes an array with a row for each output."""
    name, run, model, arguments, keywords = call.name, call.run, call.model, call.arguments, call.keywords
    where, key = (
        (1, "reps" if name == "np.tile" else "shape") if name in ("np.broadcast_to", "np.tile") else (0, "shape")
    )
    places, named = list(arguments), dict(keywords)
    shape = _one_row(places[where] if len(places) > where else named.get(key))
    if len(places) > where:
        places[where] = shape
    else:
        named[key] = shape
    rest = [one for at, one in enumerate(places) if at != where] + [one for at, one in named.items() if at != key]
    if any(map(is_batched, rest)):
        raise refused(f"{name} has something of a batch besides its shape")
    axes = _axes(run, places[0]) if where else ()
    if len(axes) > len(shape) or (len(axes) == len(shape) and axes[0] != 1):
        raise refused(f"{name} repeats an array along the rows of a batch")
    return marked(model(places, named))


def _joined(call: Call) -> Any:
    """Put arrays of rows beside each other."""
    name, model, arguments, keywords, parts = call.name, call.model, call.arguments, call.keywords, call.first
    axis = arguments[1] if len(arguments) > 1 else keywords.get("axis", 1 if name == "np.column_stack" else 0)
    every = isinstance(parts, list | tuple) and all(isinstance(part, Array) and part.batched for part in parts)
    with shown():
        if not every or type(axis) is not int:
            raise refused(f"{name} has rows of a batch beside other arrays")
        axes = {part.index.ndim for part in parts} if isinstance(parts, list | tuple) else set()
        after = max(axes) + (name == "np.stack")
        if len(axes) != 1 or (axis % after == 0 and name != "np.column_stack"):
            raise refused(f"{name} puts rows of a batch one after the other; give the axis 1")
        return marked(model(arguments, keywords))


FUNCTIONS: dict[str, Callable[[Call], Any]] = {
    **dict.fromkeys(EACH_ITEM, _items),
    **dict.fromkeys(ALONG, _reduced),
    **dict.fromkeys(SHAPED, _shaped),
    **dict.fromkeys(JOINED, _joined),
    **dict.fromkeys(("len", "list", "enumerate", *OF_SIZE), _of_size),
    **{"zip": _zipped, "isinstance": _of_type, "np.searchsorted": _searched, "np.reshape": _reshaped, "sum": _added},
    **{"np.array": _array, "np.asarray": _array},
}


def require_independent(found: UncalledMethod) -> None:
    """Raise NotProvedError for a draw that the outputs of a batch would share."""
    if isinstance(found.owner, generator.Generator):
        raise refused("a draw is not of the batch's size, so that all outputs share it")


def method(
    found: UncalledMethod,
    run: TracedRun,
    model: Model,
    arguments: Sequence[Any],
    keywords: Mapping[str, Any],
) -> Any:
    """Call a method where the owner or an argument is of a batch."""
    owner, name = found.owner, found.name
    given = [*arguments, *keywords.values()]
    if isinstance(owner, generator.Generator):
        return _drawn(name, run, model, arguments, keywords)
    if not isinstance(owner, Array):
        if type(owner) in (list, dict, tuple) and name in METHODS_OF_LISTS:
            return model(arguments, keywords)
        raise refused(f"the method {name} has something of a batch")
    if not owner.batched:
        raise refused(f"the method {name} of an array has something of a batch")
    if f"np.{name}" in ALONG:
        if name == "sort":
            raise refused("sort() puts rows of a batch in order; use np.sort with an axis")
        return _along(f"np.{name}", lambda places, named: model(places[1:], named), [owner, *arguments], keywords)
    if name in ("astype", "round", "copy", "clip"):
        if name == "clip":
            _require_aligned(run, [owner, *(one for one in given if one is not None)])
        elif any(map(is_batched, given)):
            raise refused(f"the method {name} has something of a batch")
        with shown():
            return marked(copied(owner) if name == "copy" and not given else model(arguments, keywords))
    if name == "reshape" and not keywords:
        shape = arguments[0] if len(arguments) == 1 else tuple(arguments)
        with shown():
            return marked(model([_one_row(shape)], {}))
    if name == "tolist" and not given:
        with shown():
            return Rows(model(arguments, keywords)[0])
    raise refused(f"the method {name} of rows of a batch")


def _drawn(name: str, run: TracedRun, model: Model, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
    """Draw independent numbers, some for each row."""
    if name not in DRAWS:
        raise refused(f"rng.{name} has something of a batch")
    known = generator.parameters_of(name)
    named = dict(zip(known, arguments, strict=False)) | dict(keywords)
    if len(arguments) > len(known) or len(named) < len(arguments) + len(keywords):
        raise refused(f"rng.{name} has more arguments than parameters")
    size = named.pop("size", None)
    if any(is_batched(value) for key, value in named.items() if key in OTHER_PARAMETERS):
        raise refused(f"rng.{name} has something of a batch other than locations, scales and chances")
    numbers = [value for key, value in named.items() if key not in OTHER_PARAMETERS]
    if name == "choice" and (any(map(is_batched, named.values())) or named.get("replace", True) is not True):
        raise refused("rng.choice has rows of a batch, or draws without replacement")
    if size is not None and not is_batched(size):
        raise refused(f"rng.{name} has rows of a batch and another size")
    if size is None:
        _require_aligned(run, numbers)
        with shown():
            return marked(model([], named))
    shape = _one_row(size)
    if name != "choice":
        _require_aligned(run, numbers, axes=len(shape))
    with shown():
        return marked(model([], named | {"size": shape}))


# Loops over the rows -----------------------------------------------------------------------------------------------------------


def is_rows(value: Any) -> bool:
    """Whether a loop over a value is one over the rows of a batch."""
    return value is RANGE or isinstance(value, RowsBeside) or (isinstance(value, Array) and value.batched)


def first_row(value: Any) -> Any:
    """Return what a loop over the rows has first."""
    if value is RANGE:
        return PLACE
    if isinstance(value, RowsBeside):
        return tuple(map(first_row, value.parts))
    with shown():
        return taken(value, 0)


def _appended(body: Sequence[ast.stmt]) -> list[str]:
    """Return the names of lists that statements append to, one name for each statement."""
    every = [node.value for statement in body for node in ast.walk(statement) if isinstance(node, ast.Expr)]
    owners = [
        call.func.value
        for call in every
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "append"
    ]
    return [owner.id for owner in owners if isinstance(owner, ast.Name)]


def filled_lists(body: Sequence[ast.stmt]) -> set[str]:
    """Return the names of lists that a loop appends to."""
    return set(_appended(body))


def appends(body: Sequence[ast.stmt], name: str) -> int:
    """Return how many statements of a loop append to a list."""
    return _appended(body).count(name)


def mentions(body: Sequence[ast.AST], name: str) -> int:
    """Return how often a name stands in code."""
    return sum(isinstance(node, ast.Name) and node.id == name for one in body for node in ast.walk(one))


def require_names(target: ast.expr) -> None:
    """Raise NotProvedError if a loop over the rows writes them into something other than names of its own."""
    if isinstance(target, ast.Tuple | ast.List):
        for one in target.elts:
            require_names(one)
    elif not isinstance(target, ast.Name):
        raise refused("a loop over the batch assigns each row to something other than a name")


def bound_in(nodes: Sequence[ast.AST]) -> set[str]:
    """Return the names that code gives a value, or takes it from."""
    found: set[str] = set()
    for node in (inner for one in nodes for inner in ast.walk(one)):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            found.add(node.id)
        elif isinstance(node, ast.FunctionDef):
            found.add(node.name)
        elif isinstance(node, ast.alias):
            found.add(node.asname or node.name)
    return found


class State:
    """All that a loop over the rows could change: names, and what lists, dicts, arrays and objects hold.

    ``lists`` are those that the loop fills. Raises NotProvedError for values whose state is not known, such as iterators.
    """

    def __init__(self, frame: CallScope, lists: Mapping[str, list[Any]]) -> None:
        self._lists = lists
        self._met: dict[int, Any] = {}  # what was met, which stays alive so that no other object gets its id
        self._held: dict[int, list[Any]] = {}
        self._reached = dict.fromkeys(lists, 0)
        self._frames(frame)
        if any(times > 1 for times in self._reached.values()):
            raise refused("a list that a loop over the batch fills has two names")

    def require_same(self, other: "State") -> None:
        """Raise NotProvedError if something has changed."""
        same = self._held.keys() == other._held.keys() and all(
            len(items) == len(other._held[key]) and all(a is b for a, b in zip(items, other._held[key], strict=True))
            for key, items in self._held.items()
        )
        if not same:
            raise refused("a loop over the batch changes something that lasts to the next output")

    def _frames(self, frame: CallScope | None) -> None:
        while frame is not None:
            self._note(frame, [one for pair in frame.values.items() for one in pair], list(frame.values.values()))
            frame = frame.outer

    def _note(self, owner: Any, held: list[Any], inner: Sequence[Any]) -> None:
        if id(owner) in self._met:
            return
        self._met[id(owner)] = owner
        self._held[id(owner)] = held
        for value in inner:
            self._walk(value)

    def _walk(self, value: Any) -> None:
        for name, filled in self._lists.items():
            if value is filled:
                self._reached[name] += 1
                return
        if isinstance(value, list | tuple | set):
            self._note(value, list(value), list(value))
        elif isinstance(value, dict):
            self._note(value, [one for pair in value.items() for one in pair], list(value.values()))
        elif isinstance(value, Array):
            if not value.batched:  # rows are written by their place alone
                self._note(value.store, list(value.store.items), [])
        elif isinstance(value, Closure):
            if any(mentions([value.node], name) for name in self._lists):
                raise refused("a function sees a list that a loop over the batch fills")
            self._note(value, [], list(value.defaults.values()))
            self._frames(value.frame)
        elif isinstance(value, MadeObject):
            self._note(value, [one for pair in value.values.items() for one in pair], list(value.values.values()))
        elif isinstance(value, MethodOfMade | UncalledMethod | Bases):
            self._walk(value.owner)
        elif isinstance(value, View):
            self._walk(value.found)
        elif isinstance(value, Iterated) or not _is_still(value):
            raise refused("a loop over the batch sees an iterator, or something else that may change")


def _is_still(value: Any) -> bool:
    """Whether a value never changes."""
    still = Term | Lazy | Mark | Foreign | BoundMethod | generator.Generator | types.ModuleType
    return isinstance(value, still) or is_constant(value) or callable(value)


def output_of_batch(output: Any) -> Any:
    """Return the output of a batch of one, as an array or a list. Raises NotProvedError for what is not one output for each row."""
    if isinstance(output, RaisesError):
        raise refused(f"one output raises {type(output.error).__name__}, and all others with it; leave `size` out")
    if isinstance(output, Rows):
        return [output.first]
    if not isinstance(output, Array) or not output.batched:
        raise refused("what is returned for a batch is neither an array of its rows nor a list of them")
    return Array(output.store, output._places, output.dtype)
