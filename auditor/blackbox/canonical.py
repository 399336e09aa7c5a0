"""Outputs of any kind in one canonical form: a table of columns. Nothing is dropped.

The row of an output depends on that output alone. If it depended on other outputs of the batch, an honest mechanism
could appear to violate its claim.

``flatten`` says what an output of each kind holds. This module flattens outputs of the same type and form together,
place by place, which is several times as fast as one output after the other.
"""

import itertools
import math
from collections.abc import Callable, Hashable, Mapping, Sequence, Set
from typing import Any

import numpy as np
from numpy.typing import NDArray

from auditor.blackbox.containers import LARGEST, array_places, is_number_array, require_unmasked
from auditor.blackbox.flatten import (
    READING,
    OutputKind,
    Row,
    items_in_turn,
    output_kind,
    require_few,
    unnamed_attributes,
)
from auditor.blackbox.known_types import TEXTS, has_only_named_parts, module_leaves, type_name
from auditor.blackbox.library_values import is_array_like
from auditor.blackbox.number_text import EXACT, MINUS_ZERO, JsonNumber, Leaf, Leaves, plain_number
from auditor.blackbox.objects import LEVELS, as_plain
from auditor.blackbox.outputs import (
    ABSENT,
    NUMBER,
    OutputColumn,
    Outputs,
    concatenate,
    constant_column,
    require_alike,
)
from auditor.blackbox.scalars import is_word
from auditor.blackbox.spelling import spell
from auditor.errors import MechanismError, how_many

Columns = list[OutputColumn]
_Values = Sequence[Any]

# The most levels of nesting. Each level adds a bracket or a point to the place.
DEEPEST = 500
# NUMBERS are types whose values an array of NumPy holds exactly. OF_NUMPY are its scalars without a Python equivalent.
NUMBERS = frozenset((int, float, bool, *(np.dtype(code).type for code in "?bBhHiIlLqQefd")))
OF_NUMPY = np.longdouble | np.clongdouble | np.datetime64 | np.timedelta64

# Equal values of these types have equal leaves, unlike 0.0 and −0.0, or 1 and True. Among FEW_LISTS lists, none are taken together.
ALIKE_IF_EQUAL, FEW_LISTS = frozenset((str, bytes, int, type(None))), 16


def from_batch(batch: Any, size: int) -> Outputs:
    """Canonicalise a batch: ``size`` outputs along its first axis. Raises MechanismError for any other length."""
    with READING:
        try:
            length = len(batch)
            if isinstance(batch, str | bytes | Mapping | Set):
                raise TypeError  # these have a length, but no first axis
        except TypeError:
            raise MechanismError(
                f"the mechanism returned {type(batch).__name__!r} for a batch of {size}; it must return "
                f"{how_many(size, 'output')}, an array or list whose first axis is size"
            ) from None
        if length != size:
            raise MechanismError(
                f"the mechanism returned {how_many(length, 'output')} for a batch of {size}; the first axis of the result must be "
                "size"
            )
        require_unmasked(batch)
        if is_number_array(batch) and size:
            return _of_array(batch, np.array(_by_place(batch), order="C"))
        if hasattr(batch, "columns") and not isinstance(batch, np.ndarray):
            raise MechanismError(
                f"the mechanism returned {type(batch).__name__!r} for a batch of {size}, whose items are columns; return a list "
                "with a row for each output, or an array"
            )
        # NumPy makes all texts of an array as wide as the longest, so the width is no property of one output.
        is_text = isinstance(batch, np.ndarray) and batch.dtype.kind in "US"
        outputs = list(batch) if not is_text else batch.tolist() if batch.ndim == 1 else list(batch.astype(object))
        if len(outputs) != size:
            raise MechanismError(
                f"the mechanism returned {type(batch).__name__!r} of length {length}, which holds "
                f"{how_many(len(outputs), 'output')}; return an array or list of {how_many(size, 'output')}"
            )
    return from_list(outputs)


class BatchOutputs:
    """The outputs of one side of a batch, ``size`` in all, from several calls.

    Numbers are copied as soon as a call returns them, since the mechanism may use its array again. Arrays of one dtype and shape
    are made canonical together.
    """

    def __init__(self, size: int) -> None:
        self._left, self._parts = size, list[Outputs]()
        self._first, self._copies, self._filled = np.empty(0), np.empty((1, 0)), 0

    def add(self, batch: Any, size: int) -> None:
        """Add what a call returned for ``size`` outputs. Raises MechanismError as ``from_batch``."""
        if type(batch) is not np.ndarray or not is_number_array(batch) or batch.shape[:1] != (size,) or not size:
            self._close()
            self._left -= size
            self._parts.append(from_batch(batch, size))
            return
        places, first = _by_place(batch), self._first
        if not self._filled or first.dtype != batch.dtype or first.shape[1:] != batch.shape[1:]:
            self._close()
            self._first, self._copies = batch[:1].copy(), np.empty((len(places), self._left), batch.dtype)
        self._copies[:, self._filled : self._filled + size] = places
        self._filled += size

    def outputs(self) -> Outputs:
        """Return all outputs that were added."""
        self._close()
        return concatenate(self._parts or [from_list([])])

    def _close(self) -> None:
        if self._filled:
            self._parts.append(_of_array(self._first, self._copies[:, : self._filled]))
            self._left, self._filled = self._left - self._filled, 0


def from_list(outputs: Sequence[Any]) -> Outputs:
    """Canonicalise outputs of any kinds. Raises MechanismError if the text of an object does not show its content."""
    with READING:
        return _table(len(outputs), _columns("output", outputs)) if outputs else Outputs(0, ())


def row_of(output: Any) -> Row:
    """Return the leaves of an output by place. Raises MechanismError as ``from_list``."""
    with READING:
        cells = [(c, NUMBER if c.codes is None else c.codes[0]) for c in _columns("output", [output])]
    leaves = {c.name: float(c.numbers[0]) if code == NUMBER else c.atoms[code] for c, code in cells}
    return Row({"type of output": "float", **leaves})


def _table(size: int, columns: Columns) -> Outputs:
    """Return the table of outputs. The last column is the type of the outputs."""
    columns.sort(key=_first_row)
    kinds = next((column for column in columns if column.name == "type of output"), None)
    if kinds is None:
        return Outputs(size, (*columns, constant_column("type", "float", size)))
    atoms = tuple("float" if atom == ABSENT else atom for atom in kinds.atoms)
    columns.remove(kinds)
    return Outputs(size, (*columns, OutputColumn("type", kinds.numbers, kinds.codes, atoms)))


def _columns(place: str, values: _Values) -> Columns:
    """Return the columns of the values at a place. Values of the same type are flattened together."""
    kinds = set(map(type, values))
    if len(kinds) == 1:
        return _of_one_type(place, values, kinds.pop())
    return _by_group(values, list(map(type, values)), lambda kind, group: _of_one_type(place, group, kind))


def _by_group(values: _Values, keys: Sequence[Hashable], columns_of: Callable[[Any, _Values], Columns]) -> Columns:
    """Return the columns of values. Values with the same key are flattened together, by ``columns_of``."""
    if keys.count(keys[0]) == len(keys):
        return columns_of(keys[0], values)
    groups: dict[Hashable, list[int]] = {}
    for at, key in enumerate(keys):
        groups.setdefault(key, []).append(at)
    parts = [(np.array(rows), columns_of(key, [values[at] for at in rows])) for key, rows in groups.items()]
    return _scattered(len(values), parts)


def _scattered(size: int, parts: Sequence[tuple[NDArray[np.intp], Columns]]) -> Columns:
    """Return columns of ``size`` rows. Each part has the numbers of some rows, and the columns of these rows."""
    cells: dict[str, tuple[NDArray[np.float64], NDArray[np.int32], dict[str, int]]] = {}
    for rows, columns in parts:
        for column in columns:
            if column.name not in cells:
                cells[column.name] = np.zeros(size), np.zeros(size, np.int32), {ABSENT: 0}
            numbers, codes, atoms = cells[column.name]
            numbers[rows] = column.numbers
            new = [atoms.setdefault(atom, len(atoms)) for atom in column.atoms]
            codes[rows] = NUMBER if column.codes is None else np.array([*new, NUMBER], np.int32)[column.codes]
    return [
        _in_order_of_rows(OutputColumn(name, numbers, codes, tuple(atoms)))
        for name, (numbers, codes, atoms) in cells.items()
    ]


def _in_order_of_rows(column: OutputColumn) -> OutputColumn:
    """Number the atoms in the order in which outputs show them, and drop atoms that no output has."""
    assert column.codes is not None
    first = np.full(len(column.atoms) + 1, len(column.codes))
    first[column.codes[::-1]] = np.arange(len(column.codes) - 1, -1, -1)  # the last assignment to an atom stays
    order = [code for code in np.argsort(first[:-1], kind="stable").tolist() if first[code] < len(column.codes)]
    if not order:
        return OutputColumn(column.name, column.numbers)
    new = np.full(len(first), NUMBER, np.int32)
    new[order] = np.arange(len(order))
    return OutputColumn(column.name, column.numbers, new[column.codes], tuple(column.atoms[code] for code in order))


def _first_row(column: OutputColumn) -> int:
    """Return the first row that is not ABSENT, by which columns are sorted."""
    if column.codes is None or ABSENT not in column.atoms:
        return 0
    return int(np.argmax(column.codes != column.atoms.index(ABSENT)))


def _of_one_type(place: str, values: _Values, kind: type) -> Columns:
    if kind in NUMBERS:
        return _of_numbers(place, values, kind)
    if kind in (str, bytes, type(None), JsonNumber):  # equal values have equal leaves
        return _of_distinct(place, values, kind)
    if kind is np.ndarray:
        forms = output_kind(values[0]).forms(values)
        return _by_group(values, forms, lambda form, group: _of_arrays(place, group))
    if kind is list or kind is tuple:
        return _of_lists(place, values, kind)
    if issubclass(kind, np.generic) and not issubclass(kind, OF_NUMPY):
        inside = _columns(place, [value.item() for value in values])
        inside = [column for column in inside if column.name != f"type of {place}"]
        return [*_type_columns(place, values), *inside, *_attribute_columns(place, values)]
    return _of_parts(place, values)


def _of_lists(place: str, values: _Values, kind: type) -> Columns:
    """Return the columns of lists or tuples. Equal ones are flattened once, if what they hold has equal leaves if equal."""
    if len(values) > FEW_LISTS and ALIKE_IF_EQUAL.issuperset(map(type, itertools.chain.from_iterable(values))):
        keys = values if kind is tuple else [*map(tuple, values)]
        distinct = {key: at for at, key in enumerate(dict.fromkeys(keys))}
        if 2 * len(distinct) <= len(values):
            rows = np.fromiter(map(distinct.__getitem__, keys), np.intp, len(values))
            columns = _of_parts(place, [*map(kind, distinct)])
            return [*Outputs(len(distinct), tuple(columns))[rows].columns]
    return _of_parts(place, values)


def _type_columns(place: str, values: _Values) -> Columns:
    """Return the column of types, or none if all are float."""
    names = list(map(type_name, values))
    return [*from_rows([{} if name == "float" else {f"type of {place}": name} for name in names]).columns]


def _of_parts(place: str, values: _Values) -> Columns:
    """Return the columns of values of one type: of their own leaves, computed once a form, and of their parts."""
    kind = output_kind(values[0])
    forms = kind.forms(values)
    examples = dict(zip(forms, values, strict=True))
    own = from_rows([_own(place, value, kind) for value in examples.values()])
    places = [[*kind.places(place, value)] for value in examples.values()]
    if any(places) and place.count("[") + place.count(".") > DEEPEST:
        raise RecursionError  # the user may have raised Python's own limit
    if len(examples) == 1:
        own = own if len(values) == 1 else own[np.zeros(len(values), np.intp)]
        parts = _in_turn(places[0], items_in_turn(kind, values, len(places[0])))
    else:
        number = {form: at for at, form in enumerate(examples)}
        which = np.fromiter(map(number.__getitem__, forms), np.intp, len(values))
        own, parts = own[which], _of_forms(places, which, values, kind) if any(places) else []
    # An object that is read as an array has its own type, and not that of the array.
    parts = [column for column in parts if column.name != f"type of {place}"]
    return [*own.columns, *parts, *_attribute_columns(place, values)]


def _attribute_columns(place: str, values: _Values) -> Columns:
    """Return the columns of what values of one type hold besides what a rule names."""
    if has_only_named_parts(type(values[0])):
        return []
    attributes = [*map(unnamed_attributes, values)]
    return _columns(f"attributes of {place}", attributes) if any(attributes) else []


def _own(place: str, value: Any, kind: OutputKind) -> Leaves:
    """Return the leaves of a value without its parts. The type is one of the leaves, unless it is float."""
    name = type_name(value)
    kinds = {} if name == "float" else {f"type of {place}": name, **module_leaves(place, value)}
    return {**kinds, **kind.own(place, value)}


def _of_forms(places: Sequence[Sequence[str]], which: NDArray[np.intp], values: _Values, kind: OutputKind) -> Columns:
    """Return the columns of the parts of values. ``which`` is each value's form, ``places`` the places of each form's parts."""
    by_place: dict[str, list[tuple[NDArray[np.intp], _Values]]] = {}
    by_form = np.split(np.argsort(which, kind="stable"), np.cumsum(np.bincount(which))[:-1])
    for rows, names in zip(by_form, places, strict=True):
        parts = items_in_turn(kind, [values[row] for row in rows.tolist()], len(names))
        for at, inside in enumerate(names):
            by_place.setdefault(inside, []).append((rows, parts[at :: len(names)]))
    require_alike(by_place, max(map(len, places)))
    columns = Columns()
    for inside, pieces in by_place.items():
        rows, parts = np.concatenate([rows for rows, _ in pieces]), [part for _, parts in pieces for part in parts]
        order = np.argsort(rows, kind="stable")
        of_some = _columns(inside, [*map(parts.__getitem__, order.tolist())])
        columns += of_some if len(rows) == len(values) else _scattered(len(values), [(rows[order], of_some)])
        require_few(columns)
    return columns


def _in_turn(places: Sequence[str], items: _Values) -> Columns:
    """Return the columns of places. ``items`` has all items of the first output, then all of the second, and so on."""
    if set(map(type, items)) == {float}:
        numbers = np.fromiter(items, np.float64, len(items)).reshape(-1, len(places))
        return _row_columns(places, np.array(numbers.T, order="C"))
    # A slice with a step is much faster than zip, which makes an iterator for each output.
    columns = Columns()
    for at, place in enumerate(places):
        columns += _columns(place, items[at :: len(places)])
        require_few(columns)
    return columns


def _of_numbers(place: str, values: _Values, kind: type) -> Columns:
    try:
        numbers = np.array(values, np.dtype(kind))
    except OverflowError:  # beyond 64 bits
        return _of_parts(place, values)
    name = type_name(values[0])
    types = [] if name == "float" else [constant_column(f"type of {place}", name, len(values))]
    return [*types, *number_columns(place, numbers)]


def _of_distinct(place: str, values: _Values, kind: type) -> Columns:
    distinct = {value: at for at, value in enumerate(dict.fromkeys(values))}
    columns = (_of_texts if kind is str else _of_parts)(place, [*distinct])
    if len(distinct) == len(values):
        return columns
    rows = np.fromiter(map(distinct.__getitem__, values), np.intp, len(values))
    return [*Outputs(len(distinct), tuple(columns))[rows].columns]


def _of_texts(place: str, texts: Sequence[str]) -> Columns:
    """Return the columns of distinct texts. Plain numbers are flattened together, and so are words."""
    plain = dict(zip(texts, map(plain_number, texts), strict=True))

    def columns_of(form: str, group: Sequence[str]) -> Columns:
        if form == "field":
            return _of_parts(place, group)
        types = constant_column(f"type of {place}", "str", len(group))
        length = OutputColumn(f"length of {place}", np.fromiter(map(len, group), np.float64, len(group)))
        if form == "word":
            codes = np.arange(len(group), dtype=np.int32)
            return [types, OutputColumn(place, np.zeros(len(group)), codes, tuple(map(spell, group))), length]
        numbers, decimals = zip(*(number for text in group if (number := plain[text])), strict=True)
        value, *sign = number_columns(place, np.array(numbers))
        return [types, value, OutputColumn(f"decimals of {place}", np.array(decimals, np.float64)), *sign, length]

    kinds = ["number" if plain[text] is not None else "word" if is_word(text) else "field" for text in texts]
    return _by_group(texts, kinds, columns_of)


def _of_arrays(place: str, arrays: _Values) -> Columns:
    """Return the columns of arrays of one form."""
    if not is_number_array(arrays[0]):
        return _of_parts(place, arrays)
    about = from_rows([_own(place, arrays[0], output_kind(arrays[0]))])[np.zeros(len(arrays), np.intp)]
    together = np.asarray(arrays)
    return [*about.columns, *_row_columns(array_places(place, arrays[0]), np.array(_by_place(together), order="C"))]


def _of_array(batch: NDArray[Any], rows: NDArray[Any]) -> Outputs:
    """Return the outputs of a batch of numbers. ``rows`` has a row for each place, and nobody else holds it; of ``batch`` only the
    form of an output is read.

    Whether numbers are integers or floats is no leaf, since NumPy decides it for all outputs of a batch together.
    """
    size = rows.shape[1]
    if batch.ndim == 1:
        return Outputs(size, (*_row_columns(["output"], rows), constant_column("type", "number", size)))
    leaves = {"type of output": "array of numbers", "shape of output": str(batch.shape[1:])}
    about = [constant_column(name, text, size) for name, text in leaves.items()]
    return _table(size, [*about, *_row_columns(array_places("output", batch[0]), rows)])


def _by_place(arrays: NDArray[Any]) -> NDArray[Any]:
    """Return arrays as a matrix with a row for each place."""
    return arrays.reshape(len(arrays), math.prod(arrays.shape[1:])).T


def batch_form(batch: Any) -> str:
    """Return the form of a batch in words. A single output can change the form of the whole batch.

    Whether numbers are integers or floats is left out, and so is the width of texts, since NumPy chooses both by the values.
    """
    if type(batch) in (list, tuple):
        return f"a {type(batch).__name__}"
    attributes = unnamed_attributes(batch)
    beside = f" that holds {as_plain(attributes, LEVELS)}" if attributes else ""
    if not isinstance(batch, np.ndarray):
        named = getattr(batch, "name", None)
        kind = getattr(batch, "dtype", None)
        words = "".join(f", {key} {value}" for key, value in (("name", named), ("of", kind)) if value is not None)
        return f"a {type_name(batch)}{words if is_array_like(batch) else ''}{beside}"
    is_number = batch.dtype.kind in "biuf"
    kind = "numbers" if is_number else TEXTS.get(batch.dtype.kind, "objects")
    width = f" of {batch.dtype.itemsize} bytes" if batch.dtype.kind == "f" and batch.dtype.itemsize != LARGEST else ""
    name = "an array" if type(batch) is np.ndarray else f"a {type(batch).__name__}"
    return f"{name} of {kind}{width} with {batch.ndim} axes{beside}"


def _row_columns(names: Sequence[str], rows: NDArray[Any]) -> Columns:
    """Return the columns of places. ``rows`` has a row for each, which is contiguous: this makes all later steps faster."""
    if rows.dtype == np.float64 and not _has_minus_zero(rows) and not np.isnan(rows.min(initial=0.0)):
        return [OutputColumn(name, row) for name, row in zip(names, rows, strict=True)]
    return [column for name, row in zip(names, rows, strict=True) for column in number_columns(name, row)]


def number_columns(name: str, values: NDArray[Any]) -> list[OutputColumn]:
    """Return the column of numbers. Further columns hold the sign of −0.0 and the rounding errors of large integers."""
    # A copy, since the mechanism may reuse its array. Adding 0.0 turns −0.0 into 0.0.
    numbers = np.add(values, 0.0, dtype=np.float64)
    columns = [OutputColumn(name, numbers)]
    if values.dtype.kind == "f":
        if np.isnan(numbers.min(initial=0.0)):  # the fastest way to see a NaN
            missing = np.isnan(numbers)
            numbers[missing] = 0.0
            columns = [OutputColumn(name, numbers, np.where(missing, 0, NUMBER).astype(np.int32), ("NaN",))]
        if _has_minus_zero(values):
            minus = (np.signbit(values) & (values == 0)).astype(np.int32)
            columns.append(
                _in_order_of_rows(OutputColumn(f"sign of {name}", np.zeros(len(numbers)), minus, (ABSENT, MINUS_ZERO)))
            )
    # Floats hold all integers of NumPy's smaller types exactly.
    elif values.dtype.itemsize == LARGEST and (large := np.flatnonzero(np.abs(numbers) > EXACT)).size:
        left_over, codes = np.zeros(len(numbers)), np.zeros(len(numbers), np.int32)
        left_over[large] = [n - int(float(n)) for n in values[large].tolist()]
        codes[large] = NUMBER
        columns.append(_in_order_of_rows(OutputColumn(f"rounded off {name}", left_over, codes, (ABSENT,))))
    return columns


def _has_minus_zero(values: NDArray[Any]) -> bool:
    if values.dtype == np.float64:
        # Only −0.0 has the bits of the smallest 64-bit integer.
        return bool(values.view(np.int64).min(initial=0) == -(2**63))
    return bool((np.signbit(values) & (values == 0)).any())


def from_rows(rows: Sequence[Mapping[str, Leaf]]) -> Outputs:
    """Canonicalise outputs that are given as rows, as ``row_of`` returns them."""
    size = len(rows)
    columns = []
    names = dict.fromkeys(itertools.chain.from_iterable(rows))
    require_alike(names, max(map(len, rows), default=0))
    for name in names:
        leaves = [row.get(name, ABSENT) for row in rows]
        kinds = set(map(type, leaves))
        if kinds == {str} and len(set(leaves)) == 1:
            columns.append(constant_column(name, str(leaves[0]), size))
            continue
        if kinds == {float}:
            columns.append(OutputColumn(name, np.array(leaves, np.float64)))
            continue
        numbers, codes, atoms = np.zeros(size), np.full(size, NUMBER, np.int32), dict[str, int]()
        for i, leaf in enumerate(leaves):
            if isinstance(leaf, str):
                codes[i] = atoms.setdefault(leaf, len(atoms))
            else:
                numbers[i] = leaf
        columns.append(OutputColumn(name, numbers, codes, tuple(atoms)))
    return Outputs(size, tuple(columns))
