"""pfl 0.6.0. Source: pfl/privacy/privacy_accountant.

"For the Gaussian mechanism, the noise parameter is the standard deviation of the noise. For the Laplace mechanism, the noise
parameter is the scale of the noise" (PrivacyAccountant). Its neighbours: "add or remove one" (RDPPrivacyAccountant).
"""

from protocol import Statement, gaussian, laplace, load_submodules_only, poisson, serve

load_submodules_only("pfl", "pfl.privacy")
from pfl.privacy import privacy_accountant  # noqa: E402

ACCOUNTANTS = {
    "pld": privacy_accountant.PLDPrivacyAccountant,
    "prv": privacy_accountant.PRVPrivacyAccountant,
    "rdp": privacy_accountant.RDPPrivacyAccountant,
}


def _epsilon(kind: str, mechanism: str, noise: float, rate: float, steps: int, delta: float) -> float:
    return ACCOUNTANTS[kind](steps, rate, mechanism, delta=delta, noise_parameter=noise).epsilon


def gaussian_steps(kind: str, sigma: float, rate: float, steps: int, delta: float) -> Statement:
    return _epsilon(kind, "gaussian", sigma, rate, steps, delta), gaussian(sigma, steps=steps, **poisson(rate))


def laplace_steps(kind: str, scale: float, steps: int, delta: float) -> Statement:
    return _epsilon(kind, "laplace", scale, 1.0, steps, delta), laplace(scale, steps=steps)


# "If two are defined, the remaining variable can be computed" (PrivacyAccountant)
def noise_parameter(kind: str, mechanism: str, epsilon: float, delta: float, steps: int) -> Statement:
    noise = ACCOUNTANTS[kind](steps, 1.0, mechanism, epsilon=epsilon, delta=delta).noise_parameter
    return noise, {"noise": mechanism, "scale": noise, "steps": steps}


serve(gaussian_steps, laplace_steps, noise_parameter)
