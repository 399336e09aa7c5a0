"""prv-accountant 0.2.0. Source: prv_accountant/dpsgd and accountant.

"Return lower bound for ε, estimate for ε and upper bound for ε" (compute_epsilon): the upper bound is what it states. "delta_error:
… typically around 10⁻³ × δ".
"""

from protocol import Statement, gaussian, laplace, poisson, serve
from prv_accountant import LaplaceMechanism, PRVAccountant
from prv_accountant.dpsgd import DPSGDAccountant, find_noise_multiplier


# "sampling_probability: The sampling probability"; "Probability of a record being in batch for Poisson sampling"
def dpsgd(sigma: float, rate: float, steps: int, delta: float) -> Statement:
    accountant = DPSGDAccountant(sigma, rate, steps, eps_error=0.1, delta_error=delta / 1000)
    return accountant.compute_epsilon(delta, steps)[2], gaussian(sigma, steps=steps, **poisson(rate))


def dpsgd_lower(sigma: float, rate: float, steps: int, delta: float) -> Statement:
    accountant = DPSGDAccountant(sigma, rate, steps, eps_error=0.1, delta_error=delta / 1000)
    return accountant.compute_epsilon(delta, steps)[0], gaussian(sigma, steps=steps, **poisson(rate))


# LaplaceMechanism(mu), whose loss is at most mu (privacy_random_variables/laplace_mechanism, cdf)
def laplace_steps(mu: float, steps: int, delta: float) -> Statement:
    accountant = PRVAccountant(
        LaplaceMechanism(mu), eps_error=0.1, delta_error=delta / 1000, max_self_compositions=steps
    )
    return accountant.compute_epsilon(delta, [steps])[2], laplace(1 / mu, steps=steps)


# "Find a noise multiplier that satisfies a given target epsilon … eps_error: Error allowed for final epsilon", here taken off it
def noise_multiplier(rate: float, steps: int, epsilon: float, delta: float) -> Statement:
    sigma = find_noise_multiplier(rate, steps, epsilon - 0.01, delta, eps_error=0.01)
    return sigma, gaussian(sigma, steps=steps, **poisson(rate))


serve(dpsgd, dpsgd_lower, laplace_steps, noise_multiplier)
