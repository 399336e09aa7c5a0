"""sdsa 1.2.1: its noise on a column; its server is not loaded."""

import polars
from stand_ins import load_submodules_only

load_submodules_only("sdsa", "sdsa.dp")
from sdsa.dp.laplace import LaplaceParams, apply_laplace  # noqa: E402


def column(data, epsilon):
    return apply_laplace(polars.Series("x", data, dtype=polars.Float64), LaplaceParams(epsilon, 0.0, 10.0)).to_list()
