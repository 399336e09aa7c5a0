"""Exponentials of any size: a claim may allow more than a double holds."""

import numpy as np
from numpy.typing import ArrayLike

from auditor.bounds.intervals import Floats

MOST_EXPONENT = 700.0


def finite_exp(exponent: ArrayLike) -> Floats:
    """Return e to each exponent, but at most e^700, which a double still holds.

    >>> float(finite_exp(0.0)), bool(np.isfinite(finite_exp(1e9)))
    (1.0, True)
    """
    return np.asarray(np.exp(np.minimum(exponent, MOST_EXPONENT)))
