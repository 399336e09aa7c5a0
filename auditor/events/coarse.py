"""A quick screening of many columns at once: a few cells of each, the forecasts of rules on them, and their evidence.

The cost is linear in outputs times columns; NumPy carries out the loops over outputs. A column with a low forecast here
is dropped. Forecasts are of the bound that a rule would prove.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from auditor.blackbox.outputs import OutputColumn
from auditor.bounds.intervals import Floats, Ints
from auditor.events.blocks import LEAST_IN_CELL, RuleCounts, RuleForecast, log_ratios, merge_cells
from auditor.events.bumps import LEAST_BEYOND_LUCK, longest_by_luck
from auditor.events.cells import Cells, stacked
from auditor.events.rare import LEAST_BEYOND
from auditor.interfaces import Feature


@dataclass(frozen=True, slots=True, eq=False)
class CoarseBlocks:
    """Blocks (intervals and atoms) of many columns. Each row of ``edges`` is a column.

    ``counts`` has shape (4, blocks): how many outputs of each of four parts lie in each block. A column's blocks are
    consecutive: intervals in rising order, then atoms by name. ``begin`` is the first block of each column, ``owner``
    the column of each block. ``one_sided`` counts, for each column, outputs that may be rare events of one side.
    """

    edges: Floats
    owner: NDArray[np.intp]
    begin: NDArray[np.intp]
    counts: Ints
    is_atom: NDArray[np.bool_]
    atoms: tuple[tuple[str, ...], ...]
    one_sided: Ints

    @classmethod
    def of(cls, columns: Sequence[OutputColumn], sizes: Sequence[int], look_for_rare: bool) -> "CoarseBlocks":
        """Count columns of the same outputs. ``sizes`` are of the fit half (left, right) and of the judging half."""
        numbers = stacked(columns)
        ordered = np.sort(numbers, axis=1)  # NaN stands for an atom, and is sorted to the end
        edges = _edges(ordered)
        atoms = tuple(() if column.codes is None else tuple(sorted(column.atoms)) for column in columns)
        blocks = edges.shape[1] + 1 + np.array([*map(len, atoms)], np.int64)
        begin = np.cumsum(blocks) - blocks
        total, ends = int(blocks.sum()), np.cumsum(sizes)
        parts = np.split(numbers, ends[:-1], axis=1)
        counts = np.zeros((len(parts), total), np.int64)
        rows = begin[:, None] + np.arange(edges.shape[1] + 1)
        for part, (in_part, of_part) in enumerate(zip(parts, counts, strict=True)):
            of_part[rows] = _in_intervals(np.sort(in_part, axis=1), edges)
            for row, column in enumerate(columns):
                if column.codes is not None:
                    codes = column.codes[ends[part] - sizes[part] : ends[part]]
                    times = np.bincount(codes[codes >= 0], minlength=len(column.atoms))
                    place = {atom: i for i, atom in enumerate(atoms[row], int(rows[row, -1]) + 1)}
                    of_part[[place[atom] for atom in column.atoms]] = times
        owner = np.repeat(np.arange(len(columns)), blocks)
        is_atom = np.arange(total) - begin[owner] > edges.shape[1]
        one_sided = np.zeros(len(columns), np.int64)
        if look_for_rare:
            one_sided += _beyond(parts) + _repeated(ordered) + _runs(numbers, sizes)
            one_sided += _rare_atoms(counts, owner, is_atom, len(columns))
        return cls(edges, owner, begin, counts, is_atom, atoms, one_sided)

    def best_forecasts(self, forecast: RuleForecast, are_learned: bool) -> Floats:
        """Return for each column the best forecast of a few rules on its blocks.

        Columns that ``are_learned`` from the fit half are judged on the judging half alone.
        """
        fit, judge = self.counts[:2], self.counts[2:]
        ratio = log_ratios(*fit)
        learned = self._best(np.lexsort((-ratio, self.owner)), judge, forecast)
        both = judge if are_learned else judge + fit
        place = np.arange(len(self.owner))
        # Intervals are ordered along the number line. Atoms go to the end where their more frequent side is guessed.
        rising = np.where(self.is_atom, np.where(ratio > 0, -1.0, np.inf), place)
        falling = np.where(self.is_atom, np.where(ratio > 0, -np.inf, 1.0), -place)
        in_order = [self._best(np.lexsort((ranks, self.owner)), both, forecast) for ranks in (rising, falling)]
        return np.asarray(np.max([learned, *in_order], axis=0))

    def _best(self, order: NDArray[np.intp], counts: Ints, forecast: RuleForecast) -> Floats:
        """Return each column's best forecast. Rules guess left on the first blocks, right on the last blocks, or both."""
        in_order = counts[:, order].astype(np.float64)
        trials = int(counts.sum() / len(self.begin))
        last = np.append(self.begin[1:], len(order)) - 1
        up_to = np.cumsum(in_order, axis=1)
        first = up_to - (up_to - in_order)[:, self.begin][:, self.owner]
        rest = first[:, last][:, self.owner] - first
        # ``mirrored`` counts as many blocks from the end as ``first`` counts from the start.
        rank = np.arange(len(order)) - self.begin[self.owner]
        mirrored = (rest + in_order)[:, last[self.owner] - rank]
        overlap = 2 * (rank + 1) > (last - self.begin + 1)[self.owner]
        none = np.zeros(len(order))
        rules = [
            (first[0], first[1], none, none),
            (none, none, rest[1], rest[0]),
            (first[0], first[1], rest[1], rest[0]),
            (first[0], first[1], np.where(overlap, 0, mirrored[1]), np.where(overlap, 0, mirrored[0])),
        ]
        values = np.max([forecast(RuleCounts(*rule, trials)) for rule in rules], axis=0)
        return np.asarray(np.maximum.reduceat(values, self.begin))


def _edges(ordered: Floats) -> Floats:
    """Return edges of shape (columns, edges). Cells hold about equally many outputs, but fewer towards the ends."""
    there = np.count_nonzero(~np.isnan(ordered), axis=1)
    most = ordered.shape[1]
    cells = int(min(16, max(2, most // (4 * LEAST_IN_CELL))))
    at_end = 4 ** np.arange(1, 9)
    at_end = at_end[at_end < most / cells / 2]
    places = np.concatenate([np.arange(1, cells) / cells, at_end / most, 1 - at_end / most])
    places.sort()
    at = np.maximum(np.ceil(places * there[:, None]).astype(np.intp) - 1, 0)
    return np.take_along_axis(ordered, at, axis=1)


def _in_intervals(ordered: Floats, edges: Floats) -> Ints:
    """Return how many of the sorted numbers lie up to the first edge, between two edges, ..., beyond the last, by column."""
    there = np.count_nonzero(~np.isnan(ordered), axis=1)[:, None]
    # A column without numbers has NaN as its edges, and NaN comes last.
    reached = [row.searchsorted(of_row, side="right") for row, of_row in zip(ordered, edges, strict=True)]
    up_to = np.minimum(np.array(reached, np.int64).reshape(edges.shape), there)
    return np.asarray(np.diff(up_to, axis=1, prepend=0, append=there), np.int64)


def _beyond(parts: Sequence[Floats]) -> Ints:
    """Return for each column how many numbers lie beyond all of the other side; 0 if fewer than LEAST_BEYOND."""
    beyond = np.zeros(len(parts[0]), np.int64)
    sides = [[part for part in parts[side::2] if part.shape[1]] for side in (0, 1)]
    if not all(sides):
        return beyond
    for side, other in (sides, sides[::-1]):
        low = np.fmin.reduce([np.fmin.reduce(part, axis=1) for part in other])
        high = np.fmax.reduce([np.fmax.reduce(part, axis=1) for part in other])
        for part in side:
            beyond += np.count_nonzero(part < low[:, None], axis=1) + np.count_nonzero(part > high[:, None], axis=1)
    return np.where(beyond >= LEAST_BEYOND, beyond, 0)


def _repeated(ordered: Floats) -> Ints:
    """Return for each column how many of the sorted numbers equal the number before; 0 if most do."""
    again = np.count_nonzero(ordered[:, 1:] == ordered[:, :-1], axis=1)
    return np.where(2 * again <= ordered.shape[1], again, 0)


def _runs(numbers: Floats, sizes: Sequence[int]) -> Ints:
    """Return for each column the length of the longest run of distinct numbers of one side; 0 if luck explains it."""
    is_left = np.repeat(np.arange(len(sizes)) % 2 == 0, sizes)
    order = np.argsort(numbers, axis=1)
    ordered, of_left = np.take_along_axis(numbers, order, axis=1), is_left[order]
    ends = np.ones(numbers.shape, np.bool_)  # NaN stands for an atom, equals no number, and ends a run
    ends[:, 1:] = (of_left[:, 1:] != of_left[:, :-1]) | ~(ordered[:, 1:] > ordered[:, :-1])
    begins = np.flatnonzero(ends)
    lengths = np.diff(begins, append=numbers.size)
    longest = np.maximum.reduceat(lengths, np.searchsorted(begins, np.arange(len(numbers)) * numbers.shape[1]))
    return np.where(longest >= longest_by_luck(numbers.shape[1]) + LEAST_BEYOND_LUCK, longest, 0)


def _rare_atoms(counts: Ints, owner: NDArray[np.intp], is_atom: NDArray[Any], columns: int) -> Ints:
    """Return for each column how many outputs hold an atom that occurs at least twice, on one side only."""
    left, right = counts[0] + counts[2], counts[1] + counts[3]
    alone = is_atom & (np.minimum(left, right) == 0) & (left + right >= 2)
    return np.bincount(owner, weights=np.where(alone, left + right, 0), minlength=columns).astype(np.int64)


# --- Evidence from many places, each of which may show little: places are pooled ---

# One place may show too little to estimate its log-likelihood ratio. But the places of an output are often alike: as a
# function of the value's rank, the log-ratio has few shapes and few sizes. Both are learned from all weak places
# together (empirical Bayes), and each weak place is shrunk towards them. A strong place keeps its own estimate.

# MOST_POOLED_ATOMS is the largest number of atoms of a pooled place. They are ranked after its numbers, by name.
MOST_POOLED_ATOMS = 16
# SIZE_GRID_POINTS is the number of grid points of the prior of sizes, STEPS that of its EM steps. More would change little.
SIZE_GRID_POINTS, STEPS = 81, 50
LEAST_WEIGHT = 1e-12


def pooled_evidence(features: Sequence[Feature], blocks: CoarseBlocks) -> tuple[tuple[Feature, Cells], ...]:
    """Return the places that separate the sides, each with estimates of ln P[left]/P[right] (nats) by the fit half."""
    fit, end = blocks.counts[:2], np.append(blocks.begin[1:], len(blocks.owner))
    # Each column is padded with empty blocks to the same number of blocks.
    at = blocks.begin[:, None] + np.arange(blocks.edges.shape[1] + 1 + MOST_POOLED_ATOMS)
    left, right = np.where(at < end[:, None], fit[:, np.minimum(at, len(blocks.owner) - 1)], 0)
    total = left + right
    share = fit[0].sum() / max(1, fit.sum())
    own = _stands_alone(fit[0], fit[1], share, blocks)
    weak = ~own & (np.array([*map(len, blocks.atoms)]) <= MOST_POOLED_ATOMS)
    ratios = np.zeros(total.shape)
    ratios[weak] = _shrink_to_shared_shapes(left[weak] - share * total[weak], total[weak] * share * (1 - share))
    # The weakest places, which together hold at most 2 % of the evidence, are left out.
    shown = (total * ratios**2).sum(axis=1)
    order, tells = np.argsort(shown), shown > 0
    tells[order] &= np.cumsum(shown[order]) > 0.02 * shown.sum()
    kept = own | tells
    return tuple(
        (features[row], _alone(blocks, row) if own[row] else _table(blocks, row, ratios[row], total[row]))
        for row in np.flatnonzero(kept).tolist()
    )


def _stands_alone(left: Ints, right: Ints, share: float, blocks: CoarseBlocks) -> NDArray[np.bool_]:
    """Return which columns show more by themselves than the luckiest column would if all were noise."""
    columns, total = len(blocks.begin), left + right
    with np.errstate(divide="ignore", invalid="ignore"):
        gains = np.nan_to_num(left * np.log(left / (share * total))) + np.nan_to_num(
            right * np.log(right / ((1 - share) * total))
        )
    gain = np.add.reduceat(gains, blocks.begin)
    free = np.add.reduceat(total > 0, blocks.begin, dtype=np.int64) - 1
    # For noise, twice the gain is χ² with ``free`` degrees of freedom (limit: Laurent and Massart 2000, Lemma 1).
    luck = np.log(columns) + 3.0  # some column of pure noise passes with probability at most e^−3
    return np.asarray(2 * gain > free + 2 * np.sqrt(free * luck) + 2 * luck)


def _shrink_to_shared_shapes(score: Floats, weight: Floats) -> Floats:
    """Return the log-ratio of each cell, of shape (places, cells), shrunk towards the shapes that the places share.

    ``score`` is how many more outputs came from the left than expected, ``weight`` the variance of this number.
    """
    if not len(score):
        return score
    shapes = _shapes(weight)
    root = np.sqrt(np.maximum(weight, LEAST_WEIGHT))
    # ``coefficients`` are those of each shape at each place, with unit variance; ``turn`` holds its principal axes.
    coefficients = np.einsum("pcs,pc->ps", shapes, np.where(weight > 0, score / root, 0.0))
    turn = np.linalg.eigh(coefficients.T @ coefficients)[1]
    shrunk = _shrink(coefficients @ turn) @ turn.T
    return np.where(weight > 0, np.einsum("pcs,ps->pc", shapes, shrunk) / root, 0.0)


def _shapes(weight: Floats) -> Floats:
    """Return orthonormal shapes along each place's ranks, of shape (places, cells, 4): step, line, parabola, cubic."""
    up_to = np.cumsum(weight, axis=1)
    rank = (up_to - weight / 2) / np.maximum(up_to[:, -1:], LEAST_WEIGHT) * 2 - 1
    powers = np.stack([np.ones(rank.shape), np.sign(np.round(rank, 9)), rank, rank**2, rank**3], axis=2)
    basis, size = np.linalg.qr(np.sqrt(weight)[:, :, None] * powers)
    lengths = np.diagonal(size, axis1=1, axis2=2)
    # A place with few values has fewer independent shapes; the others are rounding errors, and set to 0.
    there = np.abs(lengths) > 1e-6 * np.abs(lengths[:, :1])
    return np.asarray((basis * np.where(there, np.sign(lengths), 0.0)[:, None, :])[:, :, 1:])


def _shrink(sizes_seen: Floats) -> Floats:
    """Return the posterior means of sizes that are observed with unit variance, of shape (places, shapes).

    Each shape's prior is the maximum-likelihood distribution (Kiefer and Wolfowitz 1956; Jiang and Zhang 2009), by EM.
    The sizes of a shape that shows no more than chance are 0.
    """
    places = len(sizes_seen)
    # The factor 1 + 1e-9 keeps a tie from being decided by the last digits, which depend on the processor.
    telling = (sizes_seen**2).sum(axis=0) > (1 + 1e-9) * (places + np.sqrt(2 * places))
    means = np.zeros(sizes_seen.shape)
    for shape in np.flatnonzero(telling):
        x = sizes_seen[:, shape]
        sizes = np.linspace(min(0.0, x.min()), max(0.0, x.max()), SIZE_GRID_POINTS)
        likelihood = np.exp(-((x[:, None] - sizes) ** 2) / 2)
        prior = np.full(SIZE_GRID_POINTS, 1 / SIZE_GRID_POINTS)
        for _ in range(STEPS):
            # ``mean`` would take as long as all the rest for the few places of most looks.
            prior = prior * (np.add.reduce(likelihood / (likelihood @ prior)[:, None], axis=0) / places)
        posterior = likelihood * prior
        means[:, shape] = posterior @ sizes / posterior.sum(axis=1)
    return means


def _alone(blocks: CoarseBlocks, row: int) -> Cells:
    """Return the log-ratios of a column, estimated from this column alone."""
    begin, end = blocks.owner.searchsorted([row, row + 1])
    (left, right), cells = blocks.counts[:2, begin:end], blocks.edges.shape[1] + 1
    ends, ratios = merge_cells(left[:cells], right[:cells])
    atoms = log_ratios(left[cells:], right[cells:])
    edges = tuple(blocks.edges[row, ends[:-1]].tolist())
    return Cells(edges, tuple(ratios.tolist()), dict(zip(blocks.atoms[row], atoms.tolist(), strict=True)))


def _table(blocks: CoarseBlocks, row: int, ratios: Floats, total: Ints) -> Cells:
    """Return the log-ratios of a column, rounded to a tenth of the largest, with equal neighbouring cells joined."""
    step = 0.1 * float(np.abs(ratios).max())
    values = (np.round(ratios / step) * step).tolist()
    cells = blocks.edges.shape[1] + 1
    some = np.flatnonzero(total[:cells]).tolist() or [0]
    atoms = dict(zip(blocks.atoms[row], values[cells:], strict=False))
    return Cells.joined(blocks.edges[row, some[:-1]].tolist(), [values[k] for k in some], atoms)
