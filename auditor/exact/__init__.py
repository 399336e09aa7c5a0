"""Exact numbers for known processes: intervals that contain δ(ε), ε(δ), Rényi divergences and μ, without drawing an
output.

>>> from auditor.exact import Gaussian, Poisson, Process, epsilon_interval
>>> interval = epsilon_interval(Process(Gaussian(1.0), sampling=Poisson(0.01), steps=100), 1e-5)
>>> interval.low < 0.716 < interval.high, interval.relative_width < 0.01
(True, True)
"""

from auditor.exact.intervals import delta_interval, epsilon_interval, mu_interval, renyi_interval
from auditor.exact.process import (
    Allocation,
    Composition,
    DiscreteGaussian,
    DiscreteLaplace,
    ExponentialMechanism,
    FixedSize,
    Gaussian,
    Interval,
    Laplace,
    Poisson,
    Process,
    RandomizedResponse,
    Table,
)

__all__ = [
    "Allocation",
    "Composition",
    "DiscreteGaussian",
    "DiscreteLaplace",
    "ExponentialMechanism",
    "FixedSize",
    "Gaussian",
    "Interval",
    "Laplace",
    "Poisson",
    "Process",
    "RandomizedResponse",
    "Table",
    "delta_interval",
    "epsilon_interval",
    "mu_interval",
    "renyi_interval",
]
