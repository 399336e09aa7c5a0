"""fourier-accountant 0.12.11. Source: fourier_accountant/compute_eps and compute_delta, of each function."""

import fourier_accountant
from protocol import Process, Statement, gaussian, poisson, serve


def _sampled(relation: str, sigma: float, rate: float, steps: int) -> Process:
    return gaussian(sigma, relation=relation, steps=steps, **poisson(rate))


# "Computes the DP epsilon for the remove/add neighbouring relation of datasets" (get_epsilon_R)
def epsilon_add_remove(sigma: float, rate: float, steps: int, delta: float) -> Statement:
    stated = fourier_accountant.get_epsilon_R(target_delta=delta, sigma=sigma, q=rate, ncomp=steps)
    return stated, _sampled("add_remove", sigma, rate, steps)


# "Computes the DP epsilon for the substitute neighbouring relation of datasets" (get_epsilon_S)
def epsilon_substitute(sigma: float, rate: float, steps: int, delta: float) -> Statement:
    stated = fourier_accountant.get_epsilon_S(target_delta=delta, sigma=sigma, q=rate, ncomp=steps)
    return stated, _sampled("substitute", sigma, rate, steps)


# "Computes the DP delta for the remove/add neighbouring relation of datasets" (get_delta_R)
def delta_add_remove(sigma: float, rate: float, steps: int, epsilon: float) -> Statement:
    stated = fourier_accountant.get_delta_R(target_eps=epsilon, sigma=sigma, q=rate, ncomp=steps)
    return stated, _sampled("add_remove", sigma, rate, steps)


serve(epsilon_add_remove, epsilon_substitute, delta_add_remove)
