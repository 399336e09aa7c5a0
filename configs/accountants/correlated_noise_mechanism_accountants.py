"""correlated-noise-mechanism 0.4.0. Source: correlated_noise_mechanism/utils, get_noise_multiplier, which loads without PyTorch.

A step's noise is correlated with that of earlier steps by a Toeplitz matrix C: the released C⁻¹ noise on gradients is Gaussian
noise on C × gradients, whose sensitivity is the L2 norm of what C makes of one record's contributions.
"""

import numpy as np
from protocol import Process, Statement, gaussian, load_submodules_only, poisson, serve, stand_in_for

stand_in_for("torch")
load_submodules_only("correlated_noise_mechanism")
from correlated_noise_mechanism.utils import get_noise_multiplier  # noqa: E402


class _Numbers(np.ndarray):
    """What PyTorch's tensors have and the function asks for: ``cpu`` and ``numpy``."""

    def cpu(self) -> "_Numbers":
        return self

    def numpy(self) -> np.ndarray:
        return np.asarray(self)


def _one_number(value: float) -> _Numbers:
    return np.array([value]).view(_Numbers)


def _column(weight: float, decay: float, steps: int) -> np.ndarray:
    return np.concatenate([[1.0], weight * decay ** np.arange(steps - 1)])


# "Computes the noise level sigma to reach a total budget of (target_epsilon, target_delta) at the end of epochs, with a given
# sample_rate for a correlated noise mechanism" (get_noise_multiplier); a record takes part once per epoch, here of one
def blt(mode: str, weight: float, decay: float, steps: int, epsilon: float, delta: float) -> Statement:
    sigma = get_noise_multiplier(
        target_epsilon=epsilon,
        target_delta=delta,
        sample_rate=1 / steps,
        mode=mode,
        participation="streaming",
        a=_one_number(weight),
        lamda=_one_number(decay),
    )
    column = _column(weight, decay, round(1 / (1 / steps)))
    return sigma, gaussian(sigma, sensitivity=float(np.linalg.norm(column)))


# The same of DP-SGD: modes DP-SGD-BASE (every step) and DP-SGD-AMPLIFIED (Poisson sampling)
def dpsgd(mode: str, steps_per_epoch: int, epochs: int, epsilon: float, delta: float) -> Statement:
    rate = 1 / steps_per_epoch
    steps = int(1 / rate) * epochs
    sigma = get_noise_multiplier(target_epsilon=epsilon, target_delta=delta, sample_rate=rate, mode=mode, epochs=epochs)
    process: Process = gaussian(sigma, steps=steps, **(poisson(rate) if mode == "DP-SGD-AMPLIFIED" else {}))
    return sigma, process


serve(blt, dpsgd)
