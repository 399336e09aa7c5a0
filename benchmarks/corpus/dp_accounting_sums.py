"""A clipped sum with Gaussian noise; the claim is that of an accountant of dp-accounting under substitution."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "configs" / "libraries"))

import dp_accounting
import numpy as np
from dp_accounting.pld import PLDAccountant
from dp_accounting.rdp import RdpAccountant
from protocol import Made, serve

ACCOUNTANTS = {"rdp": RdpAccountant, "pld": PLDAccountant}
GENERATOR = np.random.default_rng()


def clipped_sum(multiplier: float, accountant: str, delta: float) -> Made:
    replaced = dp_accounting.NeighboringRelation.REPLACE_ONE
    accounted = ACCOUNTANTS[accountant](neighboring_relation=replaced)
    accounted.compose(dp_accounting.GaussianDpEvent(multiplier))
    claim = {"epsilon": accounted.get_epsilon(delta), "delta": delta}
    return claim, lambda records: float(np.clip(records, -1, 1).sum() + GENERATOR.normal(0, multiplier))


serve(clipped_sum)
