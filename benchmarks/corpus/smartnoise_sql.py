"""Functions of smartnoise-sql; the claim is the ε that each is given."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "configs" / "libraries"))

from protocol import Made, serve
from snsql.sql._mechanisms.approx_bounds import approx_bounds


def bounds(epsilon: float) -> Made:
    return {"epsilon": epsilon}, lambda dataset: approx_bounds(dataset, epsilon)


serve(bounds)
