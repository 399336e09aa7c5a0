"""Outputs as a table: a column for each place, with a number or an atom for each output. ``canonical`` makes tables."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from auditor.errors import MechanismError, visible

NUMBER = -1  # the code of a cell that holds a number
ABSENT = "absent"  # the atom of a cell whose output has nothing at this place


@dataclass(frozen=True, slots=True, eq=False)
class OutputColumn:
    """One place in every output. Its cells are numbers or atoms (categories, such as None or a string).

    ``codes`` index into ``atoms``, and NUMBER is the code of a number. ``codes`` is None if all cells are numbers.
    Numbers are finite or infinite, never −0.0, and never NaN, which is an atom.
    """

    name: str
    numbers: NDArray[np.float64]
    codes: NDArray[np.int32] | None = None
    atoms: tuple[str, ...] = ()

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the column as one cell if it is stored as one cell."""
        if (atom := self.only_atom) is not None:
            return constant_column, (self.name, atom, len(self.numbers))
        return OutputColumn, (self.name, self.numbers, self.codes, self.atoms)

    @property
    def is_finite(self) -> NDArray[np.bool_]:
        """Whether each cell is a finite number."""
        finite = np.isfinite(self.numbers)
        return finite if self.codes is None else finite & (self.codes < 0)

    @property
    def only_atom(self) -> str | None:
        """The atom of all cells, if the column is stored as one cell."""
        if self.codes is None or not self.codes.size or any((*self.codes.strides, *self.numbers.strides)):
            return None
        return str(self.atoms[self.codes[0]])


@dataclass(frozen=True, slots=True, eq=False)
class Outputs:
    """``size`` outputs as columns of that length."""

    size: int
    columns: tuple[OutputColumn, ...]
    by_name: dict[str, OutputColumn] = field(default_factory=dict, init=False, repr=False)

    def column(self, name: str) -> OutputColumn:
        """Return the column of that name. It is all ABSENT if no output here has such a place."""
        if not self.by_name:  # made at the first call only, since outputs may have thousands of places
            self.by_name.update((column.name, column) for column in reversed(self.columns))
        if name in self.by_name:
            return self.by_name[name]
        return OutputColumn(name, np.zeros(self.size), np.zeros(self.size, np.int32), (ABSENT,))

    def __reduce__(self) -> tuple[Any, ...]:
        return Outputs, (self.size, self.columns)

    def failure(self) -> str | None:
        """Return the text of the first output if every output is an exception. Otherwise return None."""
        share, message = self.raised()
        return message if share == 1 else None

    def raised(self) -> tuple[float, str]:
        """Return the share of outputs that are exceptions, and the text of the first exception ("" without any)."""
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
        size = len(np.empty(self.size, np.bool_)[rows])
        columns = tuple(
            OutputColumn(c.name, c.numbers[rows], None if c.codes is None else c.codes[rows], c.atoms)
            if (atom := c.only_atom) is None
            else constant_column(c.name, atom, size)
            for c in self.columns
        )
        return Outputs(size, columns)


def concatenate(parts: Sequence[Outputs]) -> Outputs:
    """Return all outputs of the parts, in order."""
    parts = [part for part in parts if part.size > 0] or list(parts[:1])
    if len(parts) == 1:
        return parts[0]
    names = dict.fromkeys(column.name for part in parts for column in part.columns)
    if "type" in names:  # the types come last, so that the order of columns does not depend on the parts
        names["type"] = names.pop("type")
    require_alike(names, max((len(part.columns) for part in parts), default=0))
    columns = tuple(_join(name, [part.column(name) for part in parts]) for name in names)
    return Outputs(sum(part.size for part in parts), columns)


def require_alike(places: Collection[str], of_one: int) -> None:
    """Raise MechanismError if there are over 4,096 places, and more than ``of_one``, the most places of any output."""
    if len(places) > max(4_096, of_one):  # the table has a cell for each output at each place
        example = visible(list(places)[len(places) // 2], 80)
        raise MechanismError(
            f"outputs have more than 4,096 different places, such as {example}, and outputs differ in their places; return dicts "
            "with the same keys, or lists of keys and of values"
        )


def _join(name: str, parts: list[OutputColumn]) -> OutputColumn:
    kinds = {part.only_atom for part in parts}
    if len(kinds) == 1 and (atom := kinds.pop()) is not None:
        return constant_column(name, atom, sum(len(part.numbers) for part in parts))
    numbers = np.concatenate([part.numbers for part in parts])
    if all(part.codes is None for part in parts):
        return OutputColumn(name, numbers)
    atoms = {atom: i for i, atom in enumerate(dict.fromkeys(atom for part in parts for atom in part.atoms))}
    codes = []
    for part in parts:
        # The code NUMBER, which is -1, finds the last entry.
        new = np.array([*(atoms[atom] for atom in part.atoms), NUMBER], dtype=np.int32)
        codes.append(np.full(len(part.numbers), NUMBER, np.int32) if part.codes is None else new[part.codes])
    return OutputColumn(name, numbers, np.concatenate(codes), tuple(atoms))


def constant_column(name: str, atom: str, size: int) -> OutputColumn:
    """Return a column of one atom, stored as one cell."""
    # This does the same as numpy.broadcast_to, but faster.
    zero = bytes(8)
    numbers, codes = np.ndarray(size, np.float64, zero, 0, (0,)), np.ndarray(size, np.int32, zero, 0, (0,))
    return OutputColumn(name, numbers, codes, (atom,))
