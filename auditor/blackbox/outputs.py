"""Outputs of any kind in one canonical form: a table of columns. Nothing is dropped.

The row of an output depends on that output alone, never on the others drawn with it. Otherwise the other outputs of a batch would
show in it, and an honest mechanism could appear to violate its claim.
"""

import math
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from auditor.blackbox.flatten import ARRAY_OF_NUMBERS, KIND, row_of
from auditor.blackbox.number_text import EXACT, MINUS_ZERO, Leaf
from auditor.errors import MechanismError

NUMBER = -1  # the code of a cell that holds a number
ABSENT = "absent"  # the atom of a cell whose output has nothing at this place


@dataclass(frozen=True, slots=True, eq=False)
class Column:
    """One place in every output: a number, or an atom (a category, such as None or a string).

    ``codes`` index into ``atoms``, with NUMBER where the cell is a number; None where all cells are. Numbers are
    finite or infinite, never NaN (which is an atom) and never −0.0.
    """

    name: str
    numbers: NDArray[np.float64]
    codes: NDArray[np.int32] | None = None
    atoms: tuple[str, ...] = ()

    def __reduce__(self) -> tuple[Any, ...]:
        """Travel to another process as one cell, if all cells are one in memory."""
        if (atom := self.only_atom) is not None:
            return _constant, (self.name, atom, len(self.numbers))
        return Column, (self.name, self.numbers, self.codes, self.atoms)

    @property
    def only_atom(self) -> str | None:
        """The atom of all cells, if they are one cell in memory."""
        if self.codes is None or not self.codes.size or any((*self.codes.strides, *self.numbers.strides)):
            return None
        return str(self.atoms[self.codes[0]])


@dataclass(frozen=True, slots=True, eq=False)
class Outputs:
    """``size`` outputs as columns of that length."""

    size: int
    columns: tuple[Column, ...]

    def column(self, name: str) -> Column:
        """Return the column of that name. It is all ABSENT if no output here has such a place."""
        for column in self.columns:
            if column.name == name:
                return column
        return Column(name, np.zeros(self.size), np.zeros(self.size, np.int32), (ABSENT,))

    def failure(self) -> str | None:
        """Return the text of the first output if every output is an exception, and else None."""
        share, message = self.raised()
        return message if share == 1 else None

    def raised(self) -> tuple[float, str]:
        """Return the share of the outputs that are exceptions, and the text of the first; (0, "") if none is."""
        kinds = self.column("type")
        if self.size == 0 or kinds.codes is None or "exception" not in kinds.atoms:
            return 0.0, ""
        raised = np.flatnonzero(kinds.codes == kinds.atoms.index("exception"))
        if not raised.size:
            return 0.0, ""
        said = [self.column(place) for place in ("output", "message of output")]
        message = ": ".join(column.atoms[column.codes[raised[0]]] for column in said if column.codes is not None)
        return raised.size / self.size, message

    def __getitem__(self, rows: slice | NDArray[np.bool_] | NDArray[np.intp]) -> "Outputs":
        columns = tuple(
            Column(c.name, c.numbers[rows], None if c.codes is None else c.codes[rows], c.atoms) for c in self.columns
        )
        return Outputs(len(np.empty(self.size, np.bool_)[rows]), columns)


def concatenate(parts: Sequence[Outputs]) -> Outputs:
    """Return all outputs of the parts, in order."""
    parts = [part for part in parts if part.size > 0] or list(parts[:1])
    if len(parts) == 1:
        return parts[0]
    names = dict.fromkeys(column.name for part in parts for column in part.columns)
    columns = tuple(_join(name, [part.column(name) for part in parts]) for name in names)
    return Outputs(sum(part.size for part in parts), columns)


def _join(name: str, parts: list[Column]) -> Column:
    kinds = {part.only_atom for part in parts}
    if len(kinds) == 1 and (atom := kinds.pop()) is not None:
        return _constant(name, atom, sum(len(part.numbers) for part in parts))
    numbers = np.concatenate([part.numbers for part in parts])
    if all(part.codes is None for part in parts):
        return Column(name, numbers)
    atoms = {atom: i for i, atom in enumerate(dict.fromkeys(atom for part in parts for atom in part.atoms))}
    codes = []
    for part in parts:
        # The last entry is for NUMBER = -1.
        new = np.array([*(atoms[atom] for atom in part.atoms), NUMBER], dtype=np.int32)
        codes.append(np.full(len(part.numbers), NUMBER, np.int32) if part.codes is None else new[part.codes])
    return Column(name, numbers, np.concatenate(codes), tuple(atoms))


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
            f"the mechanism returned {length} outputs for a batch of {size}; the first axis of what it returns must be size"
        )
    if isinstance(batch, np.ma.MaskedArray):
        raise MechanismError(
            "the mechanism returned a masked array; return an array, with NaN or None for what is missing"
        )
    if isinstance(batch, np.ndarray) and batch.dtype.kind in "biuf":
        # Whether an array holds integers or floats depends on all of its outputs, so it is no property of one output.
        return _from_array(batch, "number")
    outputs = list(batch)
    if len(outputs) != size:
        raise MechanismError(
            f"the mechanism returned {type(batch).__name__!r} of length {length}, which holds {len(outputs)} outputs; "
            f"return an array or list of the {size} outputs"
        )
    return from_list(outputs)


def from_list(outputs: Sequence[Any]) -> Outputs:
    """Canonicalise outputs given one by one, of any kinds."""
    kind = type(outputs[0]) if outputs else None
    if kind in (int, float, bool, np.float64, np.int64, np.bool_) and all(type(o) is kind for o in outputs):
        array = np.array(outputs)
        if array.dtype.kind in "biuf" and (kind is not int or array.dtype.kind == "i"):
            return _from_array(array, type(array[0].item()).__name__)
    return from_rows([row_of(output) for output in outputs])


def from_numbers(values: Sequence[Any]) -> Outputs | None:
    """Return the table of from_list, faster, for numbers or for lists of numbers of one length. Return None for other outputs."""
    if type(values[0]) is not list:
        flat: Sequence[Any] = values
    elif all(type(value) is list for value in values) and len({len(value) for value in values}) == 1:
        flat = [number for value in values for number in value]
    else:
        return None
    kinds = {*map(type, flat)}
    if not flat or not kinds <= {int, float}:
        return None
    try:
        numbers = np.array(values, np.float64)
    except OverflowError:  # an integer beyond every float
        return None
    one_kind = np.full(numbers.shape, int in kinds)
    is_int = one_kind if len(kinds) == 1 else np.array([type(n) is int for n in flat]).reshape(numbers.shape)
    if int in kinds and np.any(is_int & (np.abs(numbers) > EXACT)):
        return None
    size, columns = len(numbers), list[Column]()
    if numbers.ndim == 1:
        return Outputs(size, (*_number_columns("output", numbers), _types("type", is_int, "float")))
    for i in range(numbers.shape[1]):
        columns += _number_columns(f"output[{i}]", numbers[:, i])
        if is_int[:, i].any():
            columns.append(_types(f"type of output[{i}]", is_int[:, i], ABSENT))
    length = Column("length of output", np.full(size, float(numbers.shape[1])))
    return Outputs(size, (length, *columns, _constant("type", "list", size)))


def _types(name: str, is_int: NDArray[np.bool_], otherwise: str) -> Column:
    if is_int.all() or not is_int.any():
        return _constant(name, "int" if is_int[0] else otherwise, len(is_int))
    # Atoms are numbered in the order of their first outputs, as everywhere.
    atoms = ("int", otherwise) if is_int[0] else (otherwise, "int")
    return Column(name, np.zeros(len(is_int)), (is_int != is_int[0]).astype(np.int32), atoms)


def form_of(batch: Any) -> str:
    """Return what holds the outputs of a batch, in words. An output that changed this would show in the whole batch."""
    if not isinstance(batch, np.ndarray):
        return "a list"
    kind = "numbers" if batch.dtype.kind in "biuf" else KIND.get(batch.dtype.kind, "objects")
    return f"an array of {kind} with {batch.ndim} axes"


def _from_array(array: NDArray[Any], kind: str) -> Outputs:
    size = array.shape[0]
    flat = array.reshape(size, math.prod(array.shape[1:]))
    if array.ndim == 1:
        names = ["output"]
    else:
        names = [f"output[{','.join(map(str, index))}]" for index in np.ndindex(array.shape[1:])]
        kind = ARRAY_OF_NUMBERS
    columns = [column for i, name in enumerate(names) for column in _number_columns(name, flat[:, i])]
    columns.append(_constant("type", kind, size))
    if array.ndim > 1:
        columns.append(_constant("shape of output", str(array.shape[1:]), size))
    return Outputs(size, tuple(columns))


def _constant(name: str, atom: str, size: int) -> Column:
    # The same as by numpy.broadcast_to, but faster.
    numbers, codes = np.ndarray(size, np.float64, _ZERO, 0, (0,)), np.ndarray(size, np.int32, _ZERO, 0, (0,))
    return Column(name, numbers, codes, (atom,))


_ZERO = bytes(8)


def _number_columns(name: str, values: NDArray[Any]) -> list[Column]:
    """Return the column of the numbers; another where a zero has a minus, or where integers are too large for floats."""
    # A copy, since outputs must not change when the mechanism reuses its array; and −0.0 becomes 0.0.
    numbers = np.add(values, 0.0, dtype=np.float64)
    if values.dtype.kind == "f":
        columns = [Column(name, numbers)]
        if np.isnan(numbers.min(initial=0.0)):  # the fastest way to see a NaN
            missing = np.isnan(numbers)
            numbers[missing] = 0.0
            columns = [Column(name, numbers, np.where(missing, 0, NUMBER).astype(np.int32), ("NaN",))]
        if _has_minus_zero(values):
            minus = np.signbit(values) & (values == 0)
            # Atoms are numbered in the order of their first outputs, as everywhere.
            atoms = (MINUS_ZERO, ABSENT) if minus[0] else (ABSENT, MINUS_ZERO)
            columns.append(
                Column(f"sign of {name}", np.zeros(len(numbers)), (minus != minus[0]).astype(np.int32), atoms)
            )
        return columns
    if (large := np.flatnonzero(np.abs(numbers) > EXACT)).size:
        left_over, codes = np.zeros(len(numbers)), np.zeros(len(numbers), np.int32)
        left_over[large] = [n - int(float(n)) for n in values[large].tolist()]
        codes[large] = NUMBER
        return [Column(name, numbers), Column(f"rounded off {name}", left_over, codes, (ABSENT,))]
    return [Column(name, numbers)]


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
        columns.append(Column(name, numbers, codes if atoms else None, tuple(atoms)))
    return Outputs(size, tuple(columns))
