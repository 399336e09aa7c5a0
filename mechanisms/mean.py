"""Document 001, "Local Sensitivity": a mean of records in [0, u], by local sensitivity and by noisy sum over noisy count.

Slip in the document: its local sensitivity u/(n + 1) counts added records only; removing one of n can move the mean by u/n.
"""

import numpy as np
from numpy.typing import NDArray

from mechanisms.exact.known_continuous import laplace
from mechanisms.exact.pair import each, truth
from mechanisms.specimens import specimen
from mechanisms.truths.laplace_ratio import laplace_ratio

Reals = NDArray[np.float64]


def mean(records: Reals) -> float:
    """Return the mean; that of no records is 0.

    >>> mean(np.array([])), mean(np.array([1.0, 3.0]))
    (0.0, 2.0)
    """
    return float(np.mean(records)) if len(records) else 0.0


@truth(each(lambda records, u, epsilon: laplace(mean(records), u / (len(records) + 1) / epsilon)))
@specimen(10, "001", "ε", "records in [0, u]; add/remove", holds=False)
def laplace_at_local_sensitivity(
    records: Reals, size: int, rng: np.random.Generator, *, u: float, epsilon: float
) -> Reals:
    """Return f(x) + Lap(LS(f, x)/ε) with LS = u/(n + 1) (001, Equation 10), the chapter's example of what fails.

    With no records the mean is 0 and LS is u.
    """
    return rng.laplace(mean(records), u / (len(records) + 1) / epsilon, size)


@truth(
    each(
        lambda records, u, epsilon: laplace_ratio(
            float(np.minimum(records, u).sum()), float(len(records)), 2 * u / epsilon, 2 / epsilon
        )
    )
)
@specimen(16, "001", "ε", "records in [0, u]; add/remove", holds=True)
@specimen(16, "001", "ε", "records that may be below −u; add/remove", holds=False)
def noisy_sum_over_noisy_count(
    records: Reals, size: int, rng: np.random.Generator, *, u: float, epsilon: float
) -> Reals:
    """Return (Σ min(x, u) + Lap(2u/ε)) / (n + Lap(2/ε)), the document's ``gs_avg``; with no records Σ = n = 0.

    Clipping above only, it trusts that no record is below −u.
    """
    noisy_sum = rng.laplace(np.minimum(records, u).sum(), 2 * u / epsilon, size)
    noisy_count = rng.laplace(len(records), 2 / epsilon, size)
    return np.divide(noisy_sum, noisy_count)
