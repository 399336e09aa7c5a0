"""dpcrpy 1.0.0. Source: dpcrpy/framework/noiMech, "Satisfying (ε, δ) - DP"; ``sens`` is the L2 or the L1 sensitivity."""

from dpcrpy.framework.noiMech import GaussNoiMech, LapNoiMech
from protocol import Statement, gaussian, laplace, serve


def gaussian_noise(epsilon: float, delta: float, sensitivity: float) -> Statement:
    mechanism = GaussNoiMech(epsilon, delta, sensitivity)
    return mechanism.sigma, gaussian(mechanism.sigma, sensitivity=sensitivity)


# "def __init__(self, epsilon=None, delta=0, …)": δ left out
def gaussian_noise_default(epsilon: float, delta: float, sensitivity: float) -> Statement:
    mechanism = GaussNoiMech(epsilon, sens=sensitivity)
    return mechanism.sigma, gaussian(mechanism.sigma, sensitivity=sensitivity)


def laplace_noise(epsilon: float, delta: float, sensitivity: float) -> Statement:
    mechanism = LapNoiMech(epsilon, delta, sensitivity)
    return mechanism.b, laplace(mechanism.b, sensitivity=sensitivity)


serve(gaussian_noise, gaussian_noise_default, laplace_noise)
