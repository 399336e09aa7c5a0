"""Document 001, "Local Sensitivity": a mean of records in [0, u] by propose-test-release (Definition 18).

A refusal (the document's None) is written NaN; the mean of no records is 0.
"""

import math

import numpy as np
from numpy.typing import NDArray

from mechanisms.exact.distributions import Density, MassFunction
from mechanisms.exact.known_continuous import laplace
from mechanisms.exact.pair import each, truth
from mechanisms.mean import mean
from mechanisms.specimens import specimen
from mechanisms.truths.continuous import test_then_release

Reals = NDArray[np.float64]


def steps_as_printed(n: int, u: float, b: float) -> int:
    """Return the first k with u/(n − k + 1) ≥ b, where the loop of ``dist_to_high_ls`` ends.

    At k = n + 1 the loop would divide by zero; that counts as infinite, so that it ends there at the latest.

    >>> steps_as_printed(150, 1.0, 0.01), steps_as_printed(5, 1.0, 0.01), steps_as_printed(5, 1.0, 2.0)
    (51, 0, 6)
    """
    return min(n + 1, max(0, math.ceil(n + 1 - u / b - 1e-9)))


def steps_corrected(n: int, u: float, b: float) -> int:
    """Return D, the first k with u/max(n − k, 1) > b, or n + 1 where there is none.

    u/max(m, 1) bounds how far adding or removing one record can move the mean of m records. So D ≥ 1 means that the
    local sensitivity is at most b. For a fixed m, D is either max(0, n − m) or n + 1, so its sensitivity is 1.

    >>> steps_corrected(150, 1.0, 0.01), steps_corrected(100, 1.0, 0.01), steps_corrected(99, 1.0, 0.01)
    (51, 1, 0)
    """
    k = np.arange(n + 1)
    too_high = u / np.maximum(n - k, 1) > b * (1 + 1e-12)
    return int(np.argmax(np.append(too_high, True)))


def _exact(
    records: Reals, u: float, distance: float, noise: float, threshold: float, scale: float
) -> Density | MassFunction:
    margin = (threshold - distance) / noise
    passed = math.exp(-margin) / 2 if margin > 0 else 1 - math.exp(margin) / 2
    return test_then_release(passed, laplace(mean(np.minimum(records, u)), scale))


def _exact_as_printed(records: Reals, u: float, b: float, epsilon: float, delta: float) -> Density | MassFunction:
    distance = steps_as_printed(len(records), u, b)
    return _exact(records, u, distance, 1 / epsilon, math.log(2 / delta) / (2 * epsilon), b / epsilon)


def _exact_corrected(records: Reals, u: float, b: float, epsilon: float, delta: float) -> Density | MassFunction:
    distance = steps_corrected(len(records), u, b)
    return _exact(records, u, distance, 2 / epsilon, 2 / epsilon * math.log(1 / (2 * delta)), 2 * b / epsilon)


@truth(each(_exact_as_printed))
@specimen(11, "001", "(ε, δ)", "records in [0, u]; add/remove", holds=False)
def ptr_as_printed(
    records: Reals, size: int, rng: np.random.Generator, *, u: float, b: float, epsilon: float, delta: float
) -> Reals:
    """``ptr_avg``: release f(x) + Lap(b/ε) if k + Lap(1/ε) ≥ ln(2/δ)/(2ε).

    Two faults: at k = 0 the test passes by accident with probability ½√(δ/2), far above δ; and ε is spent twice, on the test
    and on the release.
    """
    k = steps_as_printed(len(records), u, b)
    passed = rng.laplace(k, 1 / epsilon, size) >= math.log(2 / delta) / (2 * epsilon)
    return np.where(passed, rng.laplace(mean(np.minimum(records, u)), b / epsilon, size), np.nan)


@truth(each(_exact_corrected))
@specimen(12, "001", "(ε, δ)", "records in [0, u]; add/remove", holds=True)
def ptr_corrected(
    records: Reals, size: int, rng: np.random.Generator, *, u: float, b: float, epsilon: float, delta: float
) -> Reals:
    """Release f(x) + Lap(2b/ε) if D + Lap(2/ε) ≥ (2/ε) ln(1/(2δ)), δ ≤ 1/2 (after Dwork & Lei 2009; Barthe et al.).

    If D ≥ 1 for one of two neighbours, their means differ by at most b: the test and the release are ε/2-private each. If
    D = 0 for both, their outputs are alike except if the test is passed, with probability e^(−ln(1/(2δ)))/2 = δ.
    """
    distance = steps_corrected(len(records), u, b)
    passed = rng.laplace(distance, 2 / epsilon, size) >= 2 / epsilon * math.log(1 / (2 * delta))
    return np.where(passed, rng.laplace(mean(np.minimum(records, u)), 2 * b / epsilon, size), np.nan)
