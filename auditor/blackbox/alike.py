"""How far apart the outputs on two data sets are that were drawn with the same noise. This ranks pairs, and proves nothing."""

import numpy as np
from numpy.typing import NDArray

from auditor.blackbox.outputs import OutputColumn, Outputs

# What a difference counts at most, in units of the noise; so does one without noise, or of a number and anything else.
MOST = 8.0
# What two atoms count that differ.
ATOMS = 1.0


def apart(one: Outputs, other: Outputs) -> float:
    """Return the mean distance of outputs in the same place of either side, summed over their columns.

    Numbers count by how far apart they are, divided by how far apart two outputs of one side are. Noise that is only added, drawn
    from the same stream on both sides, leaves the distance of what it is added to.
    """
    size = min(one.size, other.size)
    if not size:
        return 0.0
    names = dict.fromkeys(column.name for side in (one, other) for column in side.columns)
    columns = [[side.column(name) for name in names] for side in (one, other)]
    left, right = (np.array([column.numbers[:size] for column in side]) for side in columns)
    with np.errstate(invalid="ignore", over="ignore"):
        noise = (_spread(left) + _spread(right)) / 2
        gap = np.where(left == right, 0.0, np.abs(left - right))
        parts = np.where(gap > 0, MOST, 0.0)
        np.divide(gap, noise, out=parts, where=(noise > 0) & np.isfinite(noise))
    parts = np.minimum(np.nan_to_num(parts, nan=MOST), MOST)
    for place, (a, b) in enumerate(zip(*columns, strict=True)):
        if a.codes is not None or b.codes is not None:
            _of_atoms(parts[place], a, b)
    return float(parts.sum() / size)


def _spread(numbers: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return how far apart consecutive outputs are in the mean, for each column."""
    if numbers.shape[1] < 2:
        return np.zeros((len(numbers), 1))
    return np.asarray(np.abs(np.diff(numbers, axis=1)).mean(axis=1, keepdims=True))


def _of_atoms(parts: NDArray[np.float64], one: OutputColumn, other: OutputColumn) -> None:
    for i in range(len(parts)):
        a, b = (None if c.codes is None or c.codes[i] < 0 else c.atoms[c.codes[i]] for c in (one, other))
        if a is not None or b is not None:
            parts[i] = 0.0 if a == b else MOST if None in (a, b) else ATOMS
