"""As much of diffprivlib as the page on libraries calls, since the tests do without it."""

import numpy as np


class Laplace:
    """Laplace noise from entropy of its own."""

    def __init__(self, *, epsilon: float, sensitivity: float) -> None:
        self.scale = sensitivity / epsilon

    def randomise(self, value: float) -> float:
        """Return the value with noise."""
        return float(np.random.default_rng().laplace(value, self.scale))
