"""Batches of outputs: what a mechanism may do with ``size``, such that a proof for one output holds for every output of a batch.

The evaluator interprets a batch of one output. Its size is not a number but a mark, which only shapes and ranges accept. An
array whose first axis has that length is marked too: its rows are the outputs. The operations listed here keep rows apart,
and mark their result: item-wise operators and functions, reductions along other axes, and slices that keep all rows.
Everything else ends the attempt, since a marked array shows its items to no other operation (see ``values.Array``).

A loop over the rows is interpreted once, for one row. It may fill an array at the row's index, or append one item to a list. No
other state may pass from one row to the next, neither in a name nor in an object created before. The list must be created by a
statement like ``out = []`` and not be read before the loop, so that nothing else refers to it and observes its length.

No row may affect the others, so an exception ends the attempt, and so does an array whose type or shape a row could change.
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
    """A list with one item for each row, of which only the first was evaluated."""

    words = "the list of the outputs of a batch"

    def __init__(self, first: Any) -> None:
        self.first = first


class SizeOfBatch(Mark):
    """The number of rows."""

    words = "the size of the batch"


class RangeOfBatch(Mark):
    """The row indices as ``range(size)``."""

    words = "the range of the batch's size"


class PlacesOfBatch(Mark):
    """The row indices as an array, ``np.arange(size)``."""

    words = "the places of the batch's rows"


class RowsBeside(Mark):
    """The result of ``enumerate`` or ``zip`` over rows: a tuple for each."""

    words = "the outputs of a batch, counted or beside each other"

    def __init__(self, parts: Sequence[Any]) -> None:
        self.parts = tuple(parts)


class Place(Mark):
    """The index of a row in a loop over the rows."""

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
Model = Callable[[Sequence[Any], Mapping[str, Any]], Any]  # calls a function or method as outside a batch
# These pass on a list's items without inspecting them.
HANDED_ON = {"len", "list", "tuple", "enumerate", "zip", "reversed"}
METHODS_OF_LISTS = {"append", "insert", "pop", "copy", "get", "setdefault", "update", "keys", "values", "items"}
OTHER_PARAMETERS = {"dtype", "out", "endpoint", "replace", "axis", "shuffle", "method"}
DRAWS = frozenset(generator.METHODS) - {"permutation", "shuffle"}


def refusal(what: Any) -> NotProvedError:
    """Return the NotProvedError for a use of a batch that is not modelled."""
    return NotProvedError(f"{what}: {REASON}")


def is_batched(value: Any) -> bool:
    """Whether a value belongs to the batch: its size, its rows as an array or list, or a container of these."""
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
def showing_rows() -> Iterator[None]:
    """Show the items of marked arrays to the model of an operation that keeps rows apart."""
    token = ROWS_SHOWN.set(True)
    try:
        yield
    finally:
        ROWS_SHOWN.reset(token)


def require_one_kind(run: TracedRun, array: Array) -> Array:
    """Return an array made of a list of rows. Raises NotProvedError unless its type and shape are the same on every path."""
    with showing_rows():
        shape = array.shape
    if array.dtype.kind not in "biuf":
        raise refusal(
            "an array of texts is made of rows, and the longest text among all rows determines its width; return a list"
        )
    at = run.next_array_of_rows()
    if run.names.arrays_of_rows.setdefault(at, (array.dtype, shape)) != (array.dtype, shape):
        raise refusal(
            "an array is made of rows of different types or shapes, so that all rows determine its own; use one type"
        )
    return array


def mark_rows(value: Any) -> Any:
    """Mark an array of rows."""
    if not isinstance(value, Array) or not value.shape or value.shape[0] != 1:
        raise refusal("rows of a batch are combined")
    return Array(value.store, value.index, value.dtype, batched=True)


def _axes(run: TracedRun, value: Any) -> tuple[int, ...]:
    """Return the shape of an unmarked operand."""
    if isinstance(value, Array):
        return value.shape
    if isinstance(value, list | tuple):
        return as_array(run, value).shape
    if not (isinstance(value, Term | Lazy) or is_constant(value)):
        raise refusal("an operation combines rows of a batch with something other than numbers and arrays")
    return ()


def _require_aligned(run: TracedRun, operands: Sequence[Any], axes: int | None = None) -> None:
    """Raise NotProvedError unless broadcasting keeps the rows on the first axis of the result.

    ``axes`` is the result's number of axes, if known.
    """
    marks = [operand.words for operand in operands if isinstance(operand, Mark)]
    if marks:
        raise refusal(f"{marks[0]} is computed with")
    with showing_rows():
        of_rows = {operand.index.ndim for operand in operands if _is_marked(operand)}
        of_rows |= {axes} if axes is not None else set()
    if len(of_rows) != 1:
        raise refusal("arrays with different numbers of axes are combined, which changes the rows")
    [most] = of_rows
    for operand in operands:
        if not _is_marked(operand):
            shape = _axes(run, operand)
            if len(shape) > most or (len(shape) == most and shape[:1] != (1,)):
                raise refusal(
                    "an array with as many axes as the rows of a batch is combined with them, which depends on the batch's size"
                )


def item_by_item(run: TracedRun, model: Callable[..., Any], *operands: Any) -> Any:
    """Apply an item-wise function to marked operands."""
    _require_aligned(run, operands)
    with showing_rows():
        return mark_rows(model(*operands))


def multiplied(run: TracedRun, model: Callable[..., Any], a: Any, b: Any) -> Any:
    """Return ``a @ b`` for rows times a matrix."""
    if not _is_marked(a) or isinstance(a, Mark) or _is_marked(b):
        raise refusal("@ has rows of a batch on its right side")
    with showing_rows():
        if a.index.ndim != 2:
            raise refusal("@ has an array of rows that are not vectors")
        return mark_rows(model(a, b))


# Shapes and indices ---------------------------------------------------------------------------------------------------------


def _one_row(shape: Any) -> tuple[int, ...]:
    """Turn a shape that begins with the batch size into the shape of a batch of one output."""
    rest = shape[1:] if isinstance(shape, list | tuple) and shape else () if shape is SIZE else None
    if rest is None or (shape is not SIZE and shape[0] is not SIZE) or any(map(is_batched, rest)):
        raise refusal("the size of the batch is in a shape, but not as its first length")
    return (1, *rest)


def _all_rows(array: Array, key: Any) -> bool:
    """Whether an index keeps all rows on the first axis: it begins with a full slice.

    Numbers, slices and new axes may follow, or one list of indices among slices. Several lists, a list with a number, and
    Booleans may move the rows to another axis.
    """
    parts = key if isinstance(key, tuple) else (key,)
    if not parts or any(map(is_batched, parts)):
        return False
    with showing_rows():
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
    """Turn an index by the current row into one for an array of one row; None for other indices."""
    if key is PLACE:
        return 0
    if isinstance(key, tuple) and key and key[0] is PLACE and not any(map(is_batched, key[1:])):
        return (0, *key[1:])
    return None


def item(owner: Any, key: Any, inside: bool) -> Any:
    """Return ``owner[key]``, where either belongs to the batch. ``inside`` says that a loop over the rows is running."""
    if not (isinstance(owner, Array) and owner.batched):
        if inside or not (isinstance(key, Array) and isinstance(owner, Array)):
            raise refusal("an index is the size of a batch or the index of a row")
        if key.dtype.kind not in "iu":
            raise refusal("an index is made of rows of a batch that are not integers")
        with showing_rows():
            return mark_rows(taken(owner, key))
    if (row := _of_one_row(key)) is not None:
        with showing_rows():
            return taken(owner, row)
    if inside:
        raise refusal("a loop over the batch looks at other rows")
    if isinstance(key, tuple) and len(key) == 2 and key[0] is PLACES:
        with showing_rows():
            chosen = key[1]
            one_for_each = (
                isinstance(chosen, Array) and chosen.batched and chosen.index.ndim == 1 and chosen.dtype.kind in "iu"
            )
            if not (one_for_each or _is_place(chosen)):
                raise refusal("rows of a batch are not indexed by one index each, which gives a table of all rows")
            return mark_rows(taken(owner, (as_array_of_zero(), chosen)))
    if not _all_rows(owner, key):
        raise refusal("some rows of a batch are selected")
    with showing_rows():
        return mark_rows(taken(owner, key))


def as_array_of_zero() -> Array:
    """Return the row indices of a batch of one."""
    return Array.of_numpy(np.zeros(1, np.int64))


def set_item(run: TracedRun, owner: Array, key: Any, value: Any, inside: bool) -> None:
    """Execute ``owner[key] = value`` for an array of rows."""
    if (row := _of_one_row(key)) is not None:
        if is_batched(value):
            raise refusal("rows of a batch are assigned to one row")
        with showing_rows():
            put(run, owner, row, value)
        return
    if inside:
        raise refusal("a loop over the batch writes to other rows")
    if isinstance(key, Array) and key.batched and key.dtype == np.bool_:
        if isinstance(value, Array | list | tuple | Mark):
            raise refusal("an array is assigned to selected rows")
        with showing_rows():
            put(run, owner, key, value)
        return
    if not _all_rows(owner, key):
        raise refusal("some rows of a batch are written")
    with showing_rows():
        target = taken(owner, key)
    _require_aligned(run, [value], axes=target.index.ndim)
    with showing_rows():
        put(run, owner, key, value)


def attribute(array: Array, name: str) -> Any:
    """Return an attribute of an array of rows."""
    with showing_rows():
        shape, dtype, axes = array.shape, array.dtype, array.index.ndim
    if name == "shape":
        return (SIZE, *shape[1:])
    if name == "ndim":
        return axes
    if name == "dtype" and dtype.kind not in "US":
        return dtype
    if name in ("size", "T"):
        raise refusal(f"the attribute {name} of rows of a batch is read")
    return UncalledMethod(array, name)


# Functions and methods -------------------------------------------------------------------------------------------------------


def called(entry: Listed, run: TracedRun, model: Model, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
    """Call a listed function with an argument of the batch, through ``model``."""
    if entry.name in HANDED_ON and not any(map(_is_marked, (*arguments, *keywords.values()))):
        with showing_rows():
            return model(arguments, keywords)
    keeps_apart = FUNCTIONS.get(entry.name)
    if keeps_apart is None:
        raise refusal(f"{entry.name} has something of a batch")
    return keeps_apart(Call(entry.name, run, model, arguments, keywords))


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a listed function with an argument of the batch."""

    name: str
    run: TracedRun
    model: Model
    arguments: Sequence[Any]
    keywords: Mapping[str, Any]

    @property
    def only(self) -> Any:
        """The only argument."""
        if len(self.arguments) != 1 or self.keywords:
            raise self.refusal()
        return self.arguments[0]

    @property
    def first(self) -> Any:
        """The first argument."""
        if not self.arguments:
            raise self.refusal()
        return self.arguments[0]

    @property
    def rest(self) -> list[Any]:
        """All arguments but the first."""
        return [*self.arguments[1:], *self.keywords.values()]

    def refusal(self) -> NotProvedError:
        """Return the NotProvedError for arguments that are not modelled."""
        return refusal(f"{self.name} has something of a batch")

    def marked(self) -> Any:
        """Return the function's result, marked as rows."""
        with showing_rows():
            return mark_rows(self.model(self.arguments, self.keywords))


def _of_size(call: Call) -> Any:
    """Return the mark that stands for the result of a function of the size or of rows."""
    value = call.only
    if call.name == "len" and isinstance(value, Array | Rows):
        return SIZE
    if call.name == "list" and isinstance(value, Array):
        return Rows(first_row(value))
    if call.name == "enumerate" and is_rows(value):
        return RowsBeside((RANGE, value))
    if call.name in OF_SIZE and value is SIZE:
        return OF_SIZE[call.name]
    raise call.refusal()


def _zipped(call: Call) -> Any:
    if call.keywords.keys() - {"strict"} or not all(map(is_rows, call.arguments)):
        raise call.refusal()
    return RowsBeside(call.arguments)


def _of_type(call: Call) -> Any:
    if not isinstance(call.first, Array):
        raise call.refusal()
    with showing_rows():
        return call.model(call.arguments, call.keywords)


def _items(call: Call) -> Any:
    if call.keywords.keys() - {"decimals", "a_min", "a_max"} or (call.name == "np.where" and len(call.arguments) != 3):
        raise call.refusal()
    _require_aligned(
        call.run, [argument for argument in (*call.arguments, *call.keywords.values()) if argument is not None]
    )
    return call.marked()


def _array(call: Call) -> Any:
    if any(map(is_batched, call.rest)) or not isinstance(call.first, Array | Rows):
        raise call.refusal()
    if isinstance(call.first, Rows):
        made = call.model([[call.first.first], *call.arguments[1:]], call.keywords)
        return require_one_kind(call.run, mark_rows(made))
    return require_one_kind(call.run, call.marked())


def _searched(call: Call) -> Any:
    if len(call.arguments) != 2 or call.keywords or is_batched(call.first):
        raise call.refusal()
    return call.marked()


def _reshaped(call: Call) -> Any:
    array = call.first
    if len(call.arguments) != 2 or call.keywords or not (isinstance(array, Array) and array.batched):
        raise call.refusal()
    with showing_rows():
        return mark_rows(call.model([array, _one_row(call.arguments[1])], {}))


def _added(call: Call) -> Any:
    if not isinstance(call.only, list | tuple):
        raise call.refusal()
    add = functools.partial(applied_ufunc, call.run, "+")
    return functools.reduce(functools.partial(item_by_item, call.run, add), call.only)


def _reduced(call: Call) -> Any:
    return _along(call.name, call.model, call.arguments, call.keywords)


def _along(name: str, model: Model, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
    """Call a function along an axis of an array of rows, other than the axis of the rows."""
    array = arguments[0] if arguments else None
    axis = (
        arguments[1] if len(arguments) > 1 else keywords.get("axis", -1 if name in ("np.sort", "np.argsort") else None)
    )
    if not isinstance(array, Array) or any(map(is_batched, [*arguments[1:], *keywords.values()])):
        raise refusal(f"{name} has something of a batch other than an array of rows as its first argument")
    with showing_rows():
        axes = array.index.ndim
        if type(axis) is not int or not -axes <= axis < axes or axis % axes == 0:
            raise refusal(f"{name} runs along the rows of a batch; give an axis within one output")
        return mark_rows(model(arguments, keywords))


def _shaped(call: Call) -> Any:
    """Call a function that creates an array with a row for each output."""
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
    rest = [value for at, value in enumerate(places) if at != where]
    rest += [value for name_of, value in named.items() if name_of != key]
    if any(map(is_batched, rest)):
        raise refusal(f"{name} has something of a batch besides its shape")
    axes = _axes(run, places[0]) if where else ()
    if len(axes) > len(shape) or (len(axes) == len(shape) and axes[0] != 1):
        raise refusal(f"{name} repeats an array along the rows of a batch")
    return mark_rows(model(places, named))


def _joined(call: Call) -> Any:
    """Join arrays of rows along another axis."""
    name, model, arguments, keywords, parts = call.name, call.model, call.arguments, call.keywords, call.first
    axis = arguments[1] if len(arguments) > 1 else keywords.get("axis", 1 if name == "np.column_stack" else 0)
    every = isinstance(parts, list | tuple) and all(isinstance(part, Array) and part.batched for part in parts)
    with showing_rows():
        if not every or type(axis) is not int:
            raise refusal(f"{name} has rows of a batch beside other arrays")
        axes = {part.index.ndim for part in parts} if isinstance(parts, list | tuple) else set()
        after = max(axes) + (name == "np.stack")
        if len(axes) != 1 or (axis % after == 0 and name != "np.column_stack"):
            raise refusal(f"{name} concatenates rows of a batch; use axis=1")
        return mark_rows(model(arguments, keywords))


FUNCTIONS: dict[str, Callable[[Call], Any]] = {
    **dict.fromkeys(EACH_ITEM, _items),
    **dict.fromkeys(ALONG, _reduced),
    **dict.fromkeys(SHAPED, _shaped),
    **dict.fromkeys(JOINED, _joined),
    **dict.fromkeys(("len", "list", "enumerate", *OF_SIZE), _of_size),
    **{"zip": _zipped, "isinstance": _of_type, "np.searchsorted": _searched, "np.reshape": _reshaped, "sum": _added},
    **{"np.array": _array, "np.asarray": _array},
}


def require_independent(method: UncalledMethod) -> None:
    """Raise NotProvedError for a draw that all outputs of a batch would share."""
    if isinstance(method.owner, generator.Generator):
        raise refusal("a draw does not have the batch's size, so all outputs share it")


def method(
    called_method: UncalledMethod,
    run: TracedRun,
    model: Model,
    arguments: Sequence[Any],
    keywords: Mapping[str, Any],
) -> Any:
    """Call a method whose owner or argument belongs to the batch."""
    owner, name = called_method.owner, called_method.name
    given = [*arguments, *keywords.values()]
    if isinstance(owner, generator.Generator):
        return _drawn(name, run, model, arguments, keywords)
    if not isinstance(owner, Array):
        if type(owner) in (list, dict, tuple) and name in METHODS_OF_LISTS:
            return model(arguments, keywords)
        raise refusal(f"the method {name} has something of a batch")
    if not owner.batched:
        raise refusal(f"the method {name} of an array has something of a batch")
    if f"np.{name}" in ALONG:
        if name == "sort":
            raise refusal("sort() sorts the rows of a batch; use np.sort with an axis")
        return _along(f"np.{name}", lambda places, named: model(places[1:], named), [owner, *arguments], keywords)
    if name in ("astype", "round", "copy", "clip"):
        if name == "clip":
            _require_aligned(run, [owner, *(value for value in given if value is not None)])
        elif any(map(is_batched, given)):
            raise refusal(f"the method {name} has something of a batch")
        with showing_rows():
            return mark_rows(copied(owner) if name == "copy" and not given else model(arguments, keywords))
    if name == "reshape" and not keywords:
        shape = arguments[0] if len(arguments) == 1 else tuple(arguments)
        with showing_rows():
            return mark_rows(model([_one_row(shape)], {}))
    if name == "tolist" and not given:
        with showing_rows():
            return Rows(model(arguments, keywords)[0])
    raise refusal(f"the method {name} of rows of a batch")


def _drawn(name: str, run: TracedRun, model: Model, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
    """Draw independent numbers for each row."""
    if name not in DRAWS:
        raise refusal(f"rng.{name} has something of a batch")
    parameters = generator.parameters_of(name)
    named = dict(zip(parameters, arguments, strict=False)) | dict(keywords)
    if len(arguments) > len(parameters) or len(named) < len(arguments) + len(keywords):
        raise refusal(f"rng.{name} has more arguments than parameters")
    size = named.pop("size", None)
    if any(is_batched(value) for key, value in named.items() if key in OTHER_PARAMETERS):
        raise refusal(f"rng.{name} has something of a batch other than locations, scales and probabilities")
    numbers = [value for key, value in named.items() if key not in OTHER_PARAMETERS]
    if name == "choice" and (any(map(is_batched, named.values())) or named.get("replace", True) is not True):
        raise refusal("rng.choice has rows of a batch, or draws without replacement")
    if size is not None and not is_batched(size):
        raise refusal(f"rng.{name} has rows of a batch and another size")
    if size is None:
        _require_aligned(run, numbers)
        with showing_rows():
            return mark_rows(model([], named))
    shape = _one_row(size)
    if name != "choice":
        _require_aligned(run, numbers, axes=len(shape))
    with showing_rows():
        return mark_rows(model([], named | {"size": shape}))


# Loops over the rows -----------------------------------------------------------------------------------------------------------


def is_rows(value: Any) -> bool:
    """Whether iterating over a value iterates over the rows of a batch."""
    return value is RANGE or isinstance(value, RowsBeside) or (isinstance(value, Array) and value.batched)


def first_row(value: Any) -> Any:
    """Return the first item of a loop over the rows."""
    if value is RANGE:
        return PLACE
    if isinstance(value, RowsBeside):
        return tuple(map(first_row, value.parts))
    with showing_rows():
        return taken(value, 0)


def _appended(body: Sequence[ast.stmt]) -> list[str]:
    """Return the names of the lists that statements append to, one for each statement."""
    calls = [node.value for statement in body for node in ast.walk(statement) if isinstance(node, ast.Expr)]
    owners = [
        call.func.value
        for call in calls
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "append"
    ]
    return [owner.id for owner in owners if isinstance(owner, ast.Name)]


def filled_lists(body: Sequence[ast.stmt]) -> set[str]:
    """Return the names of lists that a loop appends to."""
    return set(_appended(body))


def appends(body: Sequence[ast.stmt], name: str) -> int:
    """Count the statements of a loop that append to a list."""
    return _appended(body).count(name)


def mentions(body: Sequence[ast.AST], name: str) -> int:
    """Count the occurrences of a name in code."""
    return sum(isinstance(node, ast.Name) and node.id == name for part in body for node in ast.walk(part))


def require_names(target: ast.expr) -> None:
    """Raise NotProvedError if a loop over the rows assigns them to anything but names."""
    if isinstance(target, ast.Tuple | ast.List):
        for element in target.elts:
            require_names(element)
    elif not isinstance(target, ast.Name):
        raise refusal("a loop over the batch assigns rows to something other than a name")


def bound_in(nodes: Sequence[ast.AST]) -> set[str]:
    """Return the names that code binds or deletes."""
    names: set[str] = set()
    for node in (inner for part in nodes for inner in ast.walk(part)):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            names.add(node.id)
        elif isinstance(node, ast.FunctionDef):
            names.add(node.name)
        elif isinstance(node, ast.alias):
            names.add(node.asname or node.name)
    return names


class State:
    """Everything that a loop over the rows could change: names, and the content of lists, dicts, arrays and objects.

    ``lists`` are those that the loop fills. Raises NotProvedError for values with hidden state, such as iterators.
    """

    def __init__(self, frame: CallScope, lists: Mapping[str, list[Any]]) -> None:
        self._lists = lists
        self._visited: dict[int, Any] = {}  # visited objects, kept alive so that no other object gets their id
        self._content: dict[int, list[Any]] = {}
        self._reached = dict.fromkeys(lists, 0)
        self._frames(frame)
        if any(times > 1 for times in self._reached.values()):
            raise refusal("a list that a loop over the batch fills has two names")

    def require_same(self, other: "State") -> None:
        """Raise NotProvedError if anything has changed."""
        same = self._content.keys() == other._content.keys() and all(
            len(items) == len(other._content[key])
            and all(a is b for a, b in zip(items, other._content[key], strict=True))
            for key, items in self._content.items()
        )
        if not same:
            raise refusal("a loop over the batch changes something that the next output can see")

    def _frames(self, frame: CallScope | None) -> None:
        while frame is not None:
            self._note(frame, [part for pair in frame.values.items() for part in pair], list(frame.values.values()))
            frame = frame.outer

    def _note(self, owner: Any, content: list[Any], inner: Sequence[Any]) -> None:
        if id(owner) in self._visited:
            return
        self._visited[id(owner)] = owner
        self._content[id(owner)] = content
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
            self._note(value, [part for pair in value.items() for part in pair], list(value.values()))
        elif isinstance(value, Array):
            if not value.batched:  # rows are only written at their own index
                self._note(value.store, list(value.store.items), [])
        elif isinstance(value, Closure):
            if any(mentions([value.node], name) for name in self._lists):
                raise refusal("a function refers to a list that a loop over the batch fills")
            self._note(value, [], list(value.defaults.values()))
            self._frames(value.frame)
        elif isinstance(value, MadeObject):
            self._note(value, [part for pair in value.values.items() for part in pair], list(value.values.values()))
        elif isinstance(value, MethodOfMade | UncalledMethod | Bases):
            self._walk(value.owner)
        elif isinstance(value, View):
            self._walk(value.mapping)
        elif isinstance(value, Iterated) or not _is_immutable(value):
            raise refusal("a loop over the batch can reach an iterator, or something else with hidden state")


def _is_immutable(value: Any) -> bool:
    """Whether a value is immutable."""
    immutable = Term | Lazy | Mark | Foreign | BoundMethod | generator.Generator | types.ModuleType
    return isinstance(value, immutable) or is_constant(value) or callable(value)


def output_of_batch(output: Any) -> Any:
    """Return the output of a batch of one, as an array or a list. Raises NotProvedError unless there is one output for each row."""
    if isinstance(output, RaisesError):
        raise refusal(f"one output raises {type(output.error).__name__}, and all others with it; leave `size` out")
    if isinstance(output, Rows):
        return [output.first]
    if not isinstance(output, Array) or not output.batched:
        raise refusal("the mechanism returns neither an array nor a list of the batch's rows")
    return Array(output.store, output._places, output.dtype)
