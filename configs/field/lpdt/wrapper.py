"""LPDT 0.0.2: what a leaf of the tree learns of one person, whose data are a value, and whether the person is in the leaf."""

import numpy as np
from stand_ins import load_submodules_only

load_submodules_only("LPDT")
from LPDT import _estimator  # noqa: E402


def leaf(data, name, epsilon):
    value, inside = data
    estimator = getattr(_estimator, name)(None, epsilon, 1.0, 0.5, 0.5, -1e9)
    estimator.fit()
    estimator.get_data(np.array([float(value)]), np.array([int(inside)]))
    return float(estimator.y_hat)
