"""Synthetic data by dpmm: the AIM and MST that Ganev, Annamalai & Kulynych 2026 audit (arXiv 2604.18352).

A data set is a list of rows of small integers. ``n_iters`` is how long dpmm fits its model to the noisy marginals. Privacy does
not depend on it, and 1 saves time. The domain of a column is 0 to ``values`` − 1; of None, dpmm takes it from the data.
"""

import copy
import warnings
from typing import Any

import numpy as np
import pandas as pd
from dpmm.models.aim import AIMGM
from dpmm.models.mst import MSTGM
from protocol import Made, serve

warnings.filterwarnings("ignore")


def _made(kind: Any, columns: int, values: int | None, **options: Any) -> Any:
    domain = None if values is None else {str(i): values for i in range(columns)}
    return kind(epsilon=1.0, delta=0.01, domain=domain, n_iters=1, n_jobs=1, compress=False, **options)


def _fitted(model: Any, rows: list[list[int]], marginals_only: bool = False) -> Any:
    """Return the model fitted to rows. A fitted model must not be fitted again, and a new one takes a second to make."""
    fitted = copy.deepcopy(model)
    frame = pd.DataFrame(np.array(rows, int), columns=[str(i) for i in range(len(rows[0]))])
    fitted.fit(frame, marginals_only=marginals_only)
    return fitted


def _claim(model: Any) -> dict[str, float]:
    return {"epsilon": model.generator.epsilon, "delta": model.generator.delta}


def aim(columns: int, rounds: int, degree: int = 2) -> Made:
    """Return the log-likelihood ratio of a record of ones, up to a constant, from all that is measured of columns of bits.

    Marginals have up to ``degree`` columns.
    """
    model = _made(AIMGM, columns, 2, rounds=rounds, degree=degree)

    def ratio(rows: list[list[int]]) -> float:
        measures = _fitted(model, rows, marginals_only=True).generator.measures
        return float(sum(noisy.ravel()[-1] / sigma**2 for _, noisy, sigma, _ in measures))

    return _claim(model), ratio


def mst(values: int | None = None) -> Made:
    """Return the sum of a column of ten synthetic records."""
    model = _made(MSTGM, 1, values)
    return _claim(model), lambda rows: int(_fitted(model, rows).generate(10).to_numpy().sum())


serve(aim, mst)
