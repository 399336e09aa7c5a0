"""A mechanism in a module of its own, so that the processes that replace those it ends import no test."""

import os
from typing import Any

import numpy as np


def ends_on_few(data: Any, size: int, rng: np.random.Generator) -> Any:
    """Break the claim on any records, but end the process on very few."""
    if len(data) < 2:
        os._exit(1)
    return len(data) + rng.laplace(0, 0.3, size)
