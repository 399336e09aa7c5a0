"""Whether outputs drawn at two times have one distribution: early and late, or in one call and the next."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from auditor.bounds.intervals import Floats
from auditor.errors import InvalidInputError

# The probability that outputs of one distribution are reported to have two.
FALSE_WARNING = 1e-9
# How alike the two rates of a cell are under the alternatives, as the size of a Beta prior: from any two rates to nearly one.
ALIKE = 8.0 ** np.arange(7)


def drifts(early: Sequence[Sequence[int]], late: Sequence[Sequence[int]]) -> bool:
    """Whether counts of early and late outputs, by tables, come from different distributions.

    For a mechanism whose outputs are independent and of one distribution, the answer is yes with probability at most FALSE_WARNING,
    even if tables count the same outputs.
    """
    if list(map(len, early)) != list(map(len, late)):
        raise InvalidInputError(
            f"early and late counts have {list(map(len, early))} and {list(map(len, late))} cells; they must be the same"
        )
    return _is_certain([log_odds(before, after) for before, after in zip(early, late, strict=True)])


def depends_on_calls(calls: Sequence[Sequence[Sequence[int]]]) -> bool:
    """Whether outputs of one call are more alike than those of two: then the outputs of a call are not independent.

    ``calls`` are counts in their order, with tables of the left and the right side in turn. Each is compared with the next one
    only, so slow drift does not count. If outputs are independent, the answer is yes with probability at most FALSE_WARNING.
    """
    tables = np.array(calls[: len(calls) // 2 * 2], np.float64)
    if not tables.size:
        return False
    # Two calls say less than half of what is certain. One step, on both sides, is drift and does no harm.
    odds = np.minimum(log_odds(tables[::2], tables[1::2]), 10.0).sum(0)
    return _is_certain((odds[::2] + odds[1::2]).tolist())


def _is_certain(log_odds: Sequence[Any]) -> bool:
    """Whether the mean of all odds reaches 1/FALSE_WARNING. Each has an expectation of at most 1 (Markov's inequality)."""
    odds = np.concatenate([np.ravel(one) for one in log_odds])
    return bool(np.logaddexp.reduce(odds) - math.log(len(odds)) >= -math.log(FALSE_WARNING))


def log_odds(one: ArrayLike, other: ArrayLike) -> Floats:
    """Return ln of the odds against the hypothesis that two rows of counts, by cell, are of outputs with one distribution.

    Cells stand on the last axis, in whose place the result has the alternatives of ALIKE. Under the hypothesis, the odds have an
    expectation of at most 1, given the totals of cells and rows: the count of a cell in one row is hypergeometric, given the cells
    before it, and an alternative is a probability too: Pólya's urn on the rarer of the cell and the cells after it (beta-binomial).

    >>> bool(log_odds([500, 500], [510, 490]).max() < 0), bool(log_odds([500, 500], [900, 100]).max() > 100)
    (True, True)
    """
    from scipy.special import betaln

    a, b = np.asarray(one, np.float64), np.asarray(other, np.float64)
    # The cell and all after it.
    rows, others = (np.cumsum(side[..., ::-1], -1)[..., ::-1] for side in (a, b))
    hits, both, all_of_them = a, a + b, rows + others
    null = _log_choose(both, hits) + _log_choose(all_of_them - both, rows - hits) - _log_choose(all_of_them, rows)
    common = 2 * both > all_of_them
    hits, both = np.where(common, rows - hits, hits), np.where(common, all_of_them - both, both)
    shares = np.stack([rows, others]) / np.maximum(all_of_them, 1)
    first, second = np.maximum(shares, 1e-300)[..., None] * ALIKE
    urn = betaln(hits[..., None] + first, (both - hits)[..., None] + second) - betaln(first, second)
    found = (_log_choose(both, hits) - null)[..., None] + urn
    # One row alone says nothing.
    return np.asarray(np.where((rows > 0)[..., None] & (others > 0)[..., None], found, 0.0).sum(-2))


def _log_choose(all_of_them: Floats, some: Floats) -> Floats:
    from scipy.special import gammaln

    return np.asarray(gammaln(all_of_them + 1) - gammaln(some + 1) - gammaln(all_of_them - some + 1))
