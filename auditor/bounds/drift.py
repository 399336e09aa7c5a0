"""Drift: whether outputs drawn early and outputs drawn late have one distribution."""

from collections.abc import Sequence

import numpy as np

from auditor.errors import InvalidInputError

# The chance that a mechanism without drift is said to drift.
FALSE_WARNING = 1e-9


Table = Sequence[int]


def drifts(early: Sequence[Table], late: Sequence[Table]) -> bool:
    """Whether counts of early and late outputs, a table for each side, are not of one distribution.

    For a mechanism whose outputs are independent and of one distribution, the answer is yes with probability at most FALSE_WARNING.
    """
    p_values = [drift_p_value(before, after) for before, after in zip(early, late, strict=True)]
    return len(p_values) * min(p_values) < FALSE_WARNING


def drift_p_value(early: Table, late: Table) -> float:
    """Return a p-value against the hypothesis that two rows of counts, by cell, are of outputs with one distribution.

    Under it, given its total over both rows, each cell's early count is hypergeometric (Fisher's exact test): each is tested
    on both sides, and the smallest p-value counts once for each cell and side (Bonferroni), so that the result is below p with
    probability at most p, for any numbers of outputs. Raises InvalidInputError where the rows differ in length.

    >>> drift_p_value([500, 500], [510, 490]) == 1.0, drift_p_value([500, 500], [900, 100]) < 1e-9
    (True, True)
    """
    from scipy.stats import hypergeom

    if len(early) != len(late):
        raise InvalidInputError(
            f"early and late counts are {len(early)} and {len(late)} cells; they must be the same number"
        )
    before, total = np.array(early), sum(early) + sum(late)
    both = before + np.array(late)
    tested = (both > 0) & (both < total)
    if not tested.any():
        return 1.0
    before, both = before[tested], both[tested]
    of_early = total, both, sum(early)
    smallest = min(hypergeom.cdf(before, *of_early).min(), hypergeom.sf(before - 1, *of_early).min())
    return min(1.0, 2 * len(early) * float(smallest))
