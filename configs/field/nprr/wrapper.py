"""nprr 0.1.4: one person's value; the package's plots are not loaded."""

import functools

import numpy as np
from stand_ins import load_submodules_only

load_submodules_only("nprr")
from nprr import mechanisms  # noqa: E402


def laplace(data, epsilon):
    return mechanisms.laplace(np.array([data]), epsilon)


def nprr(data, bins, epsilon):
    return mechanisms.nprr(np.array([data], float), mechanisms.r_from_G_eps(bins, epsilon), bins)


_optimum = functools.cache(mechanisms.r_G_opt_entropy)


def best(data, epsilon):
    r, bins = _optimum(epsilon)
    return mechanisms.nprr(np.array([data], float), r, bins)
