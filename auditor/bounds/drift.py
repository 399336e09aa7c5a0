"""Tests of whether outputs have the same distribution early and late, or in one call and in the next."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from auditor.bounds.intervals import Floats
from auditor.errors import InvalidInputError

# The largest probability of a warning if all outputs have the same distribution.
FALSE_WARNING = 1e-9
# The alternatives have Beta priors of these sizes; a larger size makes the two rates of a cell more alike.
PRIOR_SIZES = 8.0 ** np.arange(7)


def drifts(early: Sequence[Sequence[int]], late: Sequence[Sequence[int]]) -> bool:
    """Whether the counts of early and late outputs, in one or more tables, come from different distributions.

    If outputs are independent and of one distribution, the answer is True with probability at most FALSE_WARNING, even
    if several tables count the same outputs.
    """
    if list(map(len, early)) != list(map(len, late)):
        raise InvalidInputError(
            f"early and late counts have {list(map(len, early))} and {list(map(len, late))} cells; they must be the same"
        )
    return _is_certain([log_odds(before, after) for before, after in zip(early, late, strict=True)])


def depends_on_calls(calls: Sequence[Sequence[Sequence[int]]]) -> bool:
    """Whether outputs of one call are more alike than outputs of two calls, so that outputs of a call are dependent.

    ``calls`` holds counts in the order of calls, with tables of the left and the right side in turn. Only successive
    calls are compared, so slow drift does not count. Independent outputs give True with probability ≤ FALSE_WARNING.
    """
    tables = np.array(calls[: len(calls) // 2 * 2], np.float64)
    if not tables.size:
        return False
    # Log-odds are capped at 10 for each side, since one step on both sides is drift, and certainty needs more than 20.
    odds = np.minimum(log_odds(tables[::2], tables[1::2]), 10.0).sum(0)
    return _is_certain((odds[::2] + odds[1::2]).tolist())


def _is_certain(log_odds: Sequence[Any]) -> bool:
    """Whether the mean of all odds reaches 1/FALSE_WARNING; each has expectation at most 1 (Markov's inequality)."""
    odds = np.concatenate(list(map(np.ravel, log_odds)))
    return bool(np.logaddexp.reduce(odds) - math.log(len(odds)) >= -math.log(FALSE_WARNING))


def log_odds(first: ArrayLike, second: ArrayLike) -> Floats:
    """Return ln of the odds against the hypothesis that two rows of counts, by cell, are of outputs with one distribution.

    The result's last axis has the alternatives of PRIOR_SIZES instead of cells. Given the cells before, a cell's count is
    hypergeometric under the hypothesis. Under an alternative, the rarer of the cell and the cells after it has a
    beta-binomial count (Pólya's urn). So under the hypothesis the odds have expectation at most 1, given the totals.

    >>> bool(log_odds([500, 500], [510, 490]).max() < 0), bool(log_odds([500, 500], [900, 100]).max() > 100)
    (True, True)
    """
    from scipy.special import betaln

    a, b = np.asarray(first, np.float64), np.asarray(second, np.float64)
    # The totals of each row over a cell and all cells after it.
    rows, others = (np.cumsum(side[..., ::-1], -1)[..., ::-1] for side in (a, b))
    hits, both, all_of_them = a, a + b, rows + others
    null = _log_choose(both, hits) + _log_choose(all_of_them - both, rows - hits) - _log_choose(all_of_them, rows)
    common = 2 * both > all_of_them
    hits, both = np.where(common, rows - hits, hits), np.where(common, all_of_them - both, both)
    shares = np.stack([rows, others]) / np.maximum(all_of_them, 1)
    prior_first, prior_second = np.maximum(shares, 1e-300)[..., None] * PRIOR_SIZES
    urn = betaln(hits[..., None] + prior_first, (both - hits)[..., None] + prior_second)
    urn -= betaln(prior_first, prior_second)
    odds = (_log_choose(both, hits) - null)[..., None] + urn
    # A cell is left out if one of the rows has no outputs in it or after it.
    return np.asarray(np.where((rows > 0)[..., None] & (others > 0)[..., None], odds, 0.0).sum(-2))


def _log_choose(all_of_them: Floats, some: Floats) -> Floats:
    from scipy.special import gammaln

    return np.asarray(gammaln(all_of_them + 1) - gammaln(some + 1) - gammaln(all_of_them - some + 1))
