"""Evidence of many places, each of which may show little: what places have in common says what each of them shows.

A weak place is not known well by itself. But the places of one output are often alike: along the ranks of their values the
log-likelihood ratio has few shapes, and few sizes. Both are learned from all weak places together (empirical Bayes). Each
place is shrunk towards them. A place that shows enough keeps what it shows.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from auditor.bounds.intervals import Floats, Ints
from auditor.events.blocks import log_ratios, merge_cells, sum_runs
from auditor.events.cells import Cells
from auditor.events.coarse import FIT_LEFT, FIT_RIGHT, CoarseBlocks
from auditor.events.features import Feature

# Atoms of a place that is pooled with others, at most. They stand on the line after the numbers, in the order of their names.
MOST_ATOMS = 16
# Sizes (standard errors) on which the common distribution of sizes is looked for, and the steps that find it. More change little.
SIZES, STEPS = 81, 50
# Evidence is rounded to this share of the largest of its place. Then neighbouring cells that agree are joined.
ROUNDED_TO = 0.1
# ln of the odds against one column standing alone by luck, where all are noise.
LUCK = 3.0
TINY = 1e-12
# The places that tell least, and all together no more than this share of the whole, are left out.
LEFT_OUT = 0.02


def pooled_evidence(features: Sequence[Feature], blocks: CoarseBlocks) -> tuple[tuple[Feature, Cells], ...]:
    """Return the places that separate the sides, with the estimated ln P[left]/P[right] (nats) of their values, by the fit half."""
    left, right = (blocks.padded(part, blocks.edges.shape[1] + 1 + MOST_ATOMS) for part in (FIT_LEFT, FIT_RIGHT))
    seen, total = blocks.counts[[FIT_LEFT, FIT_RIGHT]], left + right
    share = seen[0].sum() / max(1, seen.sum())
    own = _stands_alone(seen[0], seen[1], share, blocks)
    weak = ~own & (np.array([*map(len, blocks.atoms)]) <= MOST_ATOMS)
    found = np.zeros(total.shape)
    found[weak] = _alike(left[weak] - share * total[weak], total[weak] * share * (1 - share))
    # All places but those that tell least.
    shown = (total * found**2).sum(axis=1)
    order, tells = np.argsort(shown), shown > 0
    tells[order] &= np.cumsum(shown[order]) > LEFT_OUT * shown.sum()
    kept = own | tells
    return tuple(
        (features[row], _alone(blocks, row) if own[row] else _table(blocks, row, found[row], total[row]))
        for row in np.flatnonzero(kept).tolist()
    )


def _stands_alone(left: Ints, right: Ints, share: float, blocks: CoarseBlocks) -> NDArray[np.bool_]:
    """Return which columns show more than chance would in the luckiest of them, each by itself."""
    columns, total = len(blocks.begin), left + right
    with np.errstate(divide="ignore", invalid="ignore"):
        gains = np.nan_to_num(left * np.log(left / (share * total))) + np.nan_to_num(
            right * np.log(right / ((1 - share) * total))
        )
    gain = np.add.reduceat(gains, blocks.begin)
    free = np.add.reduceat(total > 0, blocks.begin, dtype=np.int64) - 1
    # Twice the gain is a χ² with so many degrees of freedom; the limit is that of Laurent and Massart (2000, Lemma 1).
    luck = np.log(columns) + LUCK
    return np.asarray(2 * gain > free + 2 * np.sqrt(free * luck) + 2 * luck)


def _alike(score: Floats, weight: Floats) -> Floats:
    """Return the log-ratio of each cell, of shape (places, cells), shrunk towards what the places have in common.

    ``score`` is how many more outputs came from the left than expected, ``weight`` the variance of that.
    """
    if not len(score):
        return score
    shapes = _shapes(weight)
    root = np.sqrt(np.maximum(weight, TINY))
    # Each with unit variance: what the places show of each shape. Then, turned to where they show most together.
    seen = np.einsum("pcs,pc->ps", shapes, np.where(weight > 0, score / root, 0.0))
    turn = np.linalg.eigh(seen.T @ seen)[1]
    shrunk = _shrunk(seen @ turn) @ turn.T
    return np.where(weight > 0, np.einsum("pcs,ps->pc", shapes, shrunk) / root, 0.0)


def _shapes(weight: Floats) -> Floats:
    """Return for each place orthonormal shapes along the ranks: step, line, parabola and cubic; of shape (places, cells, 4)."""
    up_to = np.cumsum(weight, axis=1)
    rank = (up_to - weight / 2) / np.maximum(up_to[:, -1:], TINY) * 2 - 1
    powers = np.stack([np.ones(rank.shape), np.sign(np.round(rank, 9)), rank, rank**2, rank**3], axis=2)
    basis, size = np.linalg.qr(np.sqrt(weight)[:, :, None] * powers)
    lengths = np.diagonal(size, axis1=1, axis2=2)
    # A place of few values has fewer shapes. The others are rounding errors.
    there = np.abs(lengths) > 1e-6 * np.abs(lengths[:, :1])
    return np.asarray((basis * np.where(there, np.sign(lengths), 0.0)[:, None, :])[:, :, 1:])


def _shrunk(seen: Floats) -> Floats:
    """Return posterior means of sizes seen with errors of unit variance; shape (places, shapes), each shape by itself.

    The prior of each shape is the likeliest distribution (Kiefer and Wolfowitz 1956; Jiang and Zhang 2009), by steps of EM. A shape
    that shows no more than chance is left out.
    """
    places = len(seen)
    telling = (seen**2).sum(axis=0) > places + np.sqrt(2 * places)
    found = np.zeros(seen.shape)
    for shape in np.flatnonzero(telling):
        x = seen[:, shape]
        sizes = np.linspace(min(0.0, x.min()), max(0.0, x.max()), SIZES)
        likelihood = np.exp(-((x[:, None] - sizes) ** 2) / 2)
        prior = np.full(SIZES, 1 / SIZES)
        for _ in range(STEPS):
            prior = prior * (likelihood / (likelihood @ prior)[:, None]).mean(axis=0)
        posterior = likelihood * prior
        found[:, shape] = posterior @ sizes / posterior.sum(axis=1)
    return found


def _alone(blocks: CoarseBlocks, row: int) -> Cells:
    """Return the evidence of a column by itself."""
    left, right = (blocks.of_column(part, row) for part in (FIT_LEFT, FIT_RIGHT))
    cells = blocks.edges.shape[1] + 1
    ends = merge_cells(left[:cells], right[:cells])
    ratios = log_ratios(sum_runs(left[:cells], ends), sum_runs(right[:cells], ends))
    atoms = log_ratios(left[cells:], right[cells:])
    edges = tuple(blocks.edges[row, ends[:-1]].tolist())
    return Cells(edges, tuple(ratios.tolist()), dict(zip(blocks.atoms[row], atoms.tolist(), strict=True)))


def _table(blocks: CoarseBlocks, row: int, found: Floats, total: Ints) -> Cells:
    """Return the evidence of a column as few cells as differ."""
    step = ROUNDED_TO * float(np.abs(found).max())
    values = (np.round(found / step) * step).tolist()
    cells = blocks.edges.shape[1] + 1
    some = np.flatnonzero(total[:cells]).tolist() or [0]
    atoms = dict(zip(blocks.atoms[row], values[cells:], strict=False))
    return Cells.joined(blocks.edges[row, some[:-1]].tolist(), [values[k] for k in some], atoms)
