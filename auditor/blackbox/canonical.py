"""Outputs of any kind in one canonical form: a table of columns. Nothing is dropped.

The row of an output depends on that output alone, never on the others drawn with it. Otherwise the other outputs of a batch would
show in it, and an honest mechanism could appear to violate its claim.

``flatten`` says what the row of an output is. Outputs of one type and shape are taken apart together, place by place, to the same
table in a fraction of the time.
"""

import itertools
import operator
from collections.abc import Callable, Hashable, Mapping, Sequence, Set
from dataclasses import is_dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from auditor.blackbox.flatten import (
    ARRAY_OF_NUMBERS,
    KIND,
    Leaves,
    flatten,
    parts_of,
    positions,
    type_name,
)
from auditor.blackbox.number_text import EXACT, MINUS_ZERO, JsonNumber, Leaf, plain_number
from auditor.blackbox.outputs import ABSENT, NUMBER, OutputColumn, Outputs, constant_column
from auditor.errors import MechanismError

Columns = list[OutputColumn]
_Values = Sequence[Any]

# Types whose equal values have equal leaves. Each distinct value is taken apart once.
DISTINCT = (str, bytes, type(None), JsonNumber)
# Numbers that NumPy holds as they are, in up to this number of bytes.
LARGEST = 8
NUMBERS = frozenset((int, float, bool, *(np.dtype(code).type for code in "?bBhHiIlLqQefd")))


def from_batch(batch: Any, size: int) -> Outputs:
    """Canonicalise what a batch mechanism returned: ``size`` outputs along the first axis.

    Raises MechanismError if the batch has another length, or no length.
    """
    try:
        length = len(batch)
        if isinstance(batch, str | bytes | Mapping | Set):
            raise TypeError  # these have a length, but no first axis
    except TypeError:
        raise MechanismError(
            f"the mechanism returned {type(batch).__name__!r} for a batch of {size}; it must return {size} outputs, "
            "an array or list whose first axis is size"
        ) from None
    if length != size:
        raise MechanismError(
            f"the mechanism returned {length} outputs for a batch of {size}; the first axis of the result must be size"
        )
    if isinstance(batch, np.ma.MaskedArray):
        raise MechanismError(
            "the mechanism returned a masked array; return an array, with NaN or None for missing values"
        )
    if isinstance(batch, np.ndarray) and batch.dtype.kind in "biuf":
        return _from_array(batch)
    is_text = isinstance(batch, np.ndarray) and batch.dtype.kind in "US" and batch.ndim == 1
    outputs = batch.tolist() if is_text else list(batch)
    if len(outputs) != size:
        raise MechanismError(
            f"the mechanism returned {type(batch).__name__!r} of length {length}, which holds {len(outputs)} outputs; "
            f"return an array or list of the {size} outputs"
        )
    return from_list(outputs)


def from_list(outputs: Sequence[Any]) -> Outputs:
    """Canonicalise outputs given one by one, of any kinds.

    Raises MechanismError if an object in them does not say what it holds.
    """
    size = len(outputs)
    if not size:
        return Outputs(0, ())
    columns = sorted(_columns("output", outputs), key=_first_row)
    kinds = next((column for column in columns if column.name == "type of output"), None)
    if kinds is None:
        return Outputs(size, (*columns, constant_column("type", "float", size)))
    atoms = tuple("float" if atom == ABSENT else atom for atom in kinds.atoms)
    columns.remove(kinds)
    return Outputs(size, (*columns, OutputColumn("type", kinds.numbers, kinds.codes, atoms)))


def _columns(place: str, values: _Values) -> Columns:
    """Return the columns of the values at a place, those of each type by themselves."""
    kinds = set(map(type, values))
    if len(kinds) == 1:
        return _of_one_type(place, values, kinds.pop())
    return _by_group(values, list(map(type, values)), lambda kind, group: _of_one_type(place, group, kind))


def _by_group(values: _Values, keys: Sequence[Hashable], columns_of: Callable[[Any, _Values], Columns]) -> Columns:
    """Return the columns of values that are taken apart in groups of one key."""
    if keys.count(keys[0]) == len(keys):
        return columns_of(keys[0], values)
    groups: dict[Hashable, list[int]] = {}
    for at, key in enumerate(keys):
        groups.setdefault(key, []).append(at)
    parts = [(np.array(rows), columns_of(key, [values[at] for at in rows])) for key, rows in groups.items()]
    return _scattered(len(values), parts)


def _scattered(size: int, parts: Sequence[tuple[NDArray[np.intp], Columns]]) -> Columns:
    """Return the columns of all rows, from those of some rows each."""
    found: dict[str, tuple[NDArray[np.float64], NDArray[np.int32], dict[str, int]]] = {}
    for rows, columns in parts:
        for column in columns:
            if column.name not in found:
                found[column.name] = np.zeros(size), np.zeros(size, np.int32), {ABSENT: 0}
            numbers, codes, atoms = found[column.name]
            numbers[rows] = column.numbers
            new = [atoms.setdefault(atom, len(atoms)) for atom in column.atoms]
            codes[rows] = NUMBER if column.codes is None else np.array([*new, NUMBER], np.int32)[column.codes]
    return [
        _as_seen(OutputColumn(name, numbers, codes, tuple(atoms))) for name, (numbers, codes, atoms) in found.items()
    ]


def _as_seen(column: OutputColumn) -> OutputColumn:
    """Number atoms in the order of their first outputs, and leave out those of none."""
    assert column.codes is not None
    first = np.full(len(column.atoms) + 1, len(column.codes))
    first[column.codes[::-1]] = np.arange(len(column.codes) - 1, -1, -1)  # of several the last counts
    order = [code for code in np.argsort(first[:-1], kind="stable").tolist() if first[code] < len(column.codes)]
    if not order:
        return OutputColumn(column.name, column.numbers)
    new = np.full(len(first), NUMBER, np.int32)
    new[order] = np.arange(len(order))
    return OutputColumn(column.name, column.numbers, new[column.codes], tuple(column.atoms[code] for code in order))


def _first_row(column: OutputColumn) -> int:
    """Return the first row that has something at the place. Columns stand in this order, and then in that of the row."""
    if column.codes is None or ABSENT not in column.atoms:
        return 0
    return int(np.argmax(column.codes != column.atoms.index(ABSENT)))


def _of_one_type(place: str, values: _Values, kind: type) -> Columns:
    if kind in NUMBERS:
        return _of_numbers(place, values, kind)
    if kind in DISTINCT:
        return _of_distinct(place, values, kind)
    if kind is list or kind is tuple:
        return _of_lists(place, values)
    if kind is dict:
        return _of_dicts(place, values)
    if kind is np.ndarray:
        return _by_group(
            values, [(v.dtype, v.shape) for v in values], lambda form, group: _of_arrays(place, group, *form)
        )
    return _of_objects(place, values, kind)


def _type_of(place: str, values: _Values) -> OutputColumn:
    return constant_column(f"type of {place}", type_name(values[0]), len(values))


def _length_of(place: str, values: _Values) -> OutputColumn:
    return OutputColumn(f"length of {place}", np.fromiter(map(len, values), np.float64, len(values)))


def _by_row(place: str, values: _Values) -> Columns:
    rows: list[Leaves] = [{} for _ in values]
    for value, leaves in zip(values, rows, strict=True):
        flatten(place, value, leaves)
    return [*from_rows(rows).columns]


def _of_numbers(place: str, values: _Values, kind: type) -> Columns:
    try:
        numbers = np.array(values, np.dtype(kind))
    except OverflowError:  # beyond 64 bits
        return _by_row(place, values)
    name = type(numbers[0].item()).__name__
    types = [] if name == "float" else [constant_column(f"type of {place}", name, len(values))]
    return [*types, *number_columns(place, numbers)]


def _of_distinct(place: str, values: _Values, kind: type) -> Columns:
    distinct = {value: at for at, value in enumerate(dict.fromkeys(values))}
    columns = _of_texts(place, [*distinct]) if kind is str else _by_row(place, [*distinct])
    if len(distinct) == len(values):
        return columns
    rows = np.fromiter(map(distinct.__getitem__, values), np.intp, len(values))
    return [*Outputs(len(distinct), tuple(columns))[rows].columns]


def _of_texts(place: str, texts: Sequence[str]) -> Columns:
    """Return the columns of texts; those that spell numbers as Python does are read at once."""
    plain = dict(zip(texts, map(plain_number, texts), strict=True))

    def columns_of(is_plain: bool, group: Sequence[str]) -> Columns:
        if not is_plain:
            return _by_row(place, group)
        numbers, decimals = zip(*(number for text in group if (number := plain[text])), strict=True)
        value, *sign = number_columns(place, np.array(numbers))
        written = [(f"decimals of {place}", decimals), (f"length of {place}", [*map(len, group)])]
        of_text = [OutputColumn(name, np.array(counts, np.float64)) for name, counts in written]
        return [_type_of(place, group), value, of_text[0], *sign, of_text[1]]

    return _by_group(texts, [plain[text] is not None for text in texts], columns_of)


def _of_lists(place: str, values: _Values) -> Columns:
    length = _length_of(place, values)
    columns = [_type_of(place, values), length]
    if not np.ptp(length.numbers):
        # To take every k-th item of one list is much faster than zip, which makes an iterator for each output.
        items = [*itertools.chain.from_iterable(values)]
        return [*columns, *_in_turn([f"{place}[{at}]" for at in range(len(values[0]))], items)]
    lengths, rows = [*map(len, values)], [*range(len(values))]
    for at in range(max(lengths)):
        rows = [row for row in rows if lengths[row] > at]
        columns += _in_some(len(values), rows, f"{place}[{at}]", [values[row][at] for row in rows])
    return columns


def _of_dicts(place: str, values: _Values) -> Columns:
    if not set(map(type, itertools.chain.from_iterable(values))) <= {str}:
        return _by_row(place, values)  # equal keys, such as 1 and True, may look different
    orders = [*map(tuple, values)]
    distinct = {order: at for at, order in enumerate(dict.fromkeys(orders))}
    columns = [_type_of(place, values), _length_of(place, values)]
    where = [{word: float(at) for at, word in positions(dict.fromkeys(order))} for order in distinct]
    if any(where):
        rows = np.fromiter(map(distinct.__getitem__, orders), np.intp, len(values))
        leaves = [{f"position of {place}[{word}]": at for word, at in order.items()} for order in where]
        columns += Outputs(len(distinct), from_rows(leaves).columns)[rows].columns
    if len(distinct) == 1:
        items = [*itertools.chain.from_iterable(map(dict.values, values))]
        return [*columns, *_in_turn([f"{place}[{key!r}]" for key in orders[0]], items)]
    for key in dict.fromkeys(itertools.chain.from_iterable(distinct)):
        having = [row for row, value in enumerate(values) if key in value]
        columns += _in_some(len(values), having, f"{place}[{key!r}]", [values[row][key] for row in having])
    return columns


def _in_some(size: int, rows: Sequence[int], place: str, values: _Values) -> Columns:
    """Return the columns of a place that some rows have."""
    columns = _columns(place, values)
    return columns if len(rows) == size else _scattered(size, [(np.array(rows), columns)])


def _in_turn(places: Sequence[str], items: _Values) -> Columns:
    """Return the columns of some places, whose values stand in turn in a list."""
    if set(map(type, items)) == {float}:
        return _matrix_columns(places, np.fromiter(items, np.float64, len(items)).reshape(-1, len(places)))
    columns = [_columns(place, items[at :: len(places)]) for at, place in enumerate(places)]
    return [*itertools.chain.from_iterable(columns)]


def _of_objects(place: str, values: _Values, kind: type) -> Columns:
    names = parts_of(values[0]) if all(map(is_dataclass, kind.__mro__[:-1])) else ()
    if not names:
        return _by_row(place, values)
    columns = [_columns(f"{place}.{name}", [*map(operator.attrgetter(name), values)]) for name in names]
    return [_type_of(place, values), *itertools.chain.from_iterable(columns)]


def _of_arrays(place: str, values: _Values, dtype: "np.dtype[Any]", shape: tuple[int, ...]) -> Columns:
    if dtype.kind not in "biuf" or dtype.itemsize > LARGEST:
        return _by_row(place, values)
    return [
        _type_of(place, values),
        constant_column(f"shape of {place}", str(shape), len(values)),
        *_array_columns(place, np.array(values)),
    ]


def batch_form(batch: Any) -> str:
    """Return what holds the outputs of a batch, in words. An output that changed this would show in the whole batch."""
    if not isinstance(batch, np.ndarray):
        return "a list"
    kind = "numbers" if batch.dtype.kind in "biuf" else KIND.get(batch.dtype.kind, "objects")
    return f"an array of {kind} with {batch.ndim} axes"


def _from_array(array: NDArray[Any]) -> Outputs:
    # Whether an array holds integers or floats depends on all of its outputs, so it is not a property of one output.
    size = len(array)
    if array.ndim == 1:
        return Outputs(size, (*number_columns("output", array), constant_column("type", "number", size)))
    types = (
        constant_column("type", ARRAY_OF_NUMBERS, size),
        constant_column("shape of output", str(array.shape[1:]), size),
    )
    return Outputs(size, (*_array_columns("output", array), *types))


def _array_columns(place: str, array: NDArray[Any]) -> Columns:
    """Return the columns of an array of numbers, whose first axis is that of the outputs."""
    names = [f"{place}[{','.join(map(str, index))}]" for index in np.ndindex(array.shape[1:])]
    return _matrix_columns(names, array.reshape(len(array), len(names)))


def _matrix_columns(names: Sequence[str], matrix: NDArray[Any]) -> Columns:
    """Return the columns of a matrix with a row for each output."""
    # A copy, in which each column lies in one piece: all that looks at it is faster for that.
    rows = np.array(matrix.T, order="C")
    if rows.dtype == np.float64 and not _has_minus_zero(rows) and not np.isnan(rows.min(initial=0.0)):
        return [OutputColumn(name, row) for name, row in zip(names, rows, strict=True)]
    return [column for name, row in zip(names, rows, strict=True) for column in number_columns(name, row)]


def number_columns(name: str, values: NDArray[Any]) -> list[OutputColumn]:
    """Return the column of the numbers; another where a zero has a minus, or where integers are too large for floats."""
    # A copy, since outputs must not change when the mechanism reuses its array; and −0.0 becomes 0.0.
    numbers = np.add(values, 0.0, dtype=np.float64)
    if values.dtype.kind == "f":
        columns = [OutputColumn(name, numbers)]
        if np.isnan(numbers.min(initial=0.0)):  # the fastest way to see a NaN
            missing = np.isnan(numbers)
            numbers[missing] = 0.0
            columns = [OutputColumn(name, numbers, np.where(missing, 0, NUMBER).astype(np.int32), ("NaN",))]
        if _has_minus_zero(values):
            minus = (np.signbit(values) & (values == 0)).astype(np.int32)
            columns.append(
                _as_seen(OutputColumn(f"sign of {name}", np.zeros(len(numbers)), minus, (ABSENT, MINUS_ZERO)))
            )
        return columns
    # Smaller integers than those of 64 bits are floats.
    if values.dtype.itemsize == LARGEST and (large := np.flatnonzero(np.abs(numbers) > EXACT)).size:
        left_over, codes = np.zeros(len(numbers)), np.zeros(len(numbers), np.int32)
        left_over[large] = [n - int(float(n)) for n in values[large].tolist()]
        codes[large] = NUMBER
        return [OutputColumn(name, numbers), _as_seen(OutputColumn(f"rounded off {name}", left_over, codes, (ABSENT,)))]
    return [OutputColumn(name, numbers)]


def _has_minus_zero(values: NDArray[Any]) -> bool:
    if values.dtype == np.float64:
        # Of all doubles −0.0 alone has the smallest 64-bit integer.
        return bool(values.view(np.int64).min(initial=0) == np.iinfo(np.int64).min)
    return bool((np.signbit(values) & (values == 0)).any())


def from_rows(rows: Sequence[Mapping[str, Leaf]]) -> Outputs:
    """Canonicalise outputs given as rows; see row_of."""
    size = len(rows)
    names = dict.fromkeys(name for row in rows for name in row)
    columns = []
    for name in names:
        numbers, codes, atoms = np.zeros(size), np.full(size, NUMBER, np.int32), dict[str, int]()
        for i, row in enumerate(rows):
            leaf = row.get(name, ABSENT)
            if isinstance(leaf, str):
                codes[i] = atoms.setdefault(leaf, len(atoms))
            else:
                numbers[i] = leaf
        columns.append(OutputColumn(name, numbers, codes if atoms else None, tuple(atoms)))
    return Outputs(size, tuple(columns))
