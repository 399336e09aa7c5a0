"""Drift: whether outputs drawn early and outputs drawn late have one distribution."""

from collections.abc import Sequence

import numpy as np

from auditor.bounds.intervals import Floats
from auditor.errors import InvalidInputError

# The chance that a mechanism without drift is said to drift.
FALSE_WARNING = 1e-9


def drifts(early: Sequence[Sequence[int]], late: Sequence[Sequence[int]]) -> bool:
    """Whether counts of early and late outputs, a table for each side, come from different distributions.

    For a mechanism whose outputs are independent and of one distribution, the answer is yes with probability at most FALSE_WARNING.
    """
    p_values = [drift_p_value(before, after) for before, after in zip(early, late, strict=True)]
    return len(p_values) * min(p_values) < FALSE_WARNING


def drift_p_value(early: Sequence[int], late: Sequence[int]) -> float:
    """Return a p-value against the hypothesis that two rows of counts, by cell, are of outputs with one distribution.

    Under it, given its total over both rows, each cell's early count is hypergeometric (as in Fisher's exact test): each is tested
    on both sides, and the smallest p-value counts once for each cell and side (Bonferroni), so that the result is below p with
    probability at most p, for any numbers of outputs. Raises InvalidInputError if the rows differ in length.

    >>> drift_p_value([500, 500], [510, 490]) == 1.0, drift_p_value([500, 500], [900, 100]) < 1e-9
    (True, True)
    """
    if len(early) != len(late):
        raise InvalidInputError(
            f"early and late counts are {len(early)} and {len(late)} cells; they must be the same number"
        )
    sides = np.array(early, np.float64), np.array(late, np.float64)
    tails = [at_least(hits, other) for hits, other in (sides, sides[::-1])]
    return min(1.0, 2 * len(early) * float(np.min(tails)))


def at_least(hits: Floats, other: Floats) -> Floats:
    """For each cell, return a bound on the probability of at least the seen number of the first row's outputs; at most 1.

    Beyond the mode, each probability of a hypergeometric distribution is smaller than the one before, by a factor that falls too.
    So a tail is at most a geometric series: its first probability over 1 − the first factor. The exact tail is little smaller, and
    ``scipy.stats``, which has it, takes half a second to import.
    """
    drawn, others, both = hits.sum(), other.sum(), hits + other
    misses, other_misses = drawn - hits, others - other
    factor = other * misses / ((hits + 1) * (other_misses + 1))
    first = np.exp(
        _log_choose(both, hits) + _log_choose(drawn + others - both, misses) - _log_choose(drawn + others, drawn)
    )
    return np.where(factor < 1, np.minimum(1.0, first / np.maximum(1 - factor, 1e-300)), 1.0)


def _log_choose(all_of_them: Floats, some: Floats) -> Floats:
    from scipy.special import gammaln

    return np.asarray(gammaln(all_of_them + 1) - gammaln(some + 1) - gammaln(all_of_them - some + 1))
