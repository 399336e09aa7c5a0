"""A mechanism by itself: each process that it ends is replaced by one that imports this module, and no test's."""

import os
from typing import Any

import numpy as np


def ends_on_few(data: Any, size: int, rng: np.random.Generator) -> Any:
    """Break the claim on any records, but end the process where there are hardly any."""
    if len(data) < 2:
        os._exit(1)
    return len(data) + rng.laplace(0, 0.3, size)
