"""privjail 0.1.2. Source: privjail/mechanism: "The Algorithmic Foundations of Differential Privacy … Theorem 3.22"."""

from protocol import Process, Statement, gaussian, load_submodules_only, poisson, serve, stand_in_for

stand_in_for("jax")
load_submodules_only("privjail")
from privjail import mechanism  # noqa: E402


# resolve_gaussian_params_approx, which any ε > 0 passes (assert_eps)
def gaussian_scale(sensitivity: float, epsilon: float, delta: float) -> Statement:
    _, scale = mechanism.resolve_gaussian_params_approx(sensitivity, eps=epsilon, delta=delta)
    return scale, gaussian(scale, sensitivity=sensitivity)


def gaussian_epsilon(sensitivity: float, sigma: float, delta: float) -> Statement:
    stated, _ = mechanism.resolve_gaussian_params_approx(sensitivity, scale=sigma, delta=delta)
    return stated, gaussian(sigma, sensitivity=sensitivity)


# subsampled_rdp_eps_from_sigma: "Theorem 9" of Mironov, Talwar & Zhang
def renyi(sensitivity: float, sigma: float, rate: float, order: int) -> Statement:
    budget, _ = mechanism.resolve_gaussian_params_rdp(sensitivity, [order], scale=sigma, sampling_rate=rate)
    process: Process = gaussian(sigma, sensitivity=sensitivity, **poisson(rate))
    return budget[order], process


serve(gaussian_scale, gaussian_epsilon, renyi)
