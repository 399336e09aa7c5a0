"""synthpriv 0.2.1: its private marginal, loaded without the synthesizers."""

import numpy as np
from stand_ins import load_submodules_only, stand_in_for

stand_in_for("synthpriv.utils")
load_submodules_only("synthpriv", "synthpriv.privacy")
import synthpriv.utils  # noqa: E402


class _Silent:
    def __getattr__(self, name):
        return lambda *arguments, **named: None


synthpriv.utils.get_logger = lambda name: _Silent()
from synthpriv.privacy.dpecdf import DPEcdf  # noqa: E402

SHARES = np.linspace(0.05, 0.95, 7)


def ecdf(data, epsilon):
    return DPEcdf(epsilon, bins=3, bounds=(0.0, 3.0)).fit(data).quantile(SHARES)


def ecdf_rng(data, epsilon, bounded=True):
    bounds = (0.0, 3.0) if bounded else None
    return DPEcdf(epsilon, bins=3, bounds=bounds).fit(data, rng=np.random.default_rng()).quantile(SHARES)
