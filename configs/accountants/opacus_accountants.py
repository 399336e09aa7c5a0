"""opacus 1.6.0. Source: opacus/accountants, of each accountant; IAccountant.step for the noise multiplier and the sample rate.

The accountants load without PyTorch, which only the optimizers need.
"""

from protocol import Process, Statement, fixed_size, gaussian, load_submodules_only, poisson, serve, stand_in_for

stand_in_for("torch", "opacus.optimizers")
load_submodules_only("opacus")
from opacus.accountants import create_accountant  # noqa: E402
from opacus.accountants.utils import get_noise_multiplier  # noqa: E402


def _sampled(sigma: float, rate: float, steps: int) -> Process:
    return gaussian(sigma, steps=steps, **poisson(rate))


def _epsilon(kind: str, sigma: float, rate: float, steps: int, delta: float, **more: object) -> float:
    accountant = create_accountant(kind)
    accountant.history = [(sigma, rate, steps)]
    return accountant.get_epsilon(delta, **more)


def gdp(sigma: float, rate: float, steps: int, delta: float) -> Statement:
    return _epsilon("gdp", sigma, rate, steps, delta), _sampled(sigma, rate, steps)


# "poisson: … False otherwise" (gdp, get_epsilon); "by either uniform or Poisson subsampling" (analysis/gdp)
def gdp_uniform(sigma: float, rate: float, steps: int, delta: float) -> Statement:
    process = gaussian(sigma, relation="substitute", steps=steps, **fixed_size(rate))
    return _epsilon("gdp", sigma, rate, steps, delta, poisson=False), process


def rdp(sigma: float, rate: float, steps: int, delta: float) -> Statement:
    return _epsilon("rdp", sigma, rate, steps, delta), _sampled(sigma, rate, steps)


# "return upper bound as we want guarantee, not just estimate" (prv, get_epsilon)
def prv(sigma: float, rate: float, steps: int, delta: float) -> Statement:
    return _epsilon("prv", sigma, rate, steps, delta), _sampled(sigma, rate, steps)


# "Computes the noise level sigma to reach a total budget of (target_epsilon, target_delta)" (utils)
def noise_multiplier(kind: str, rate: float, steps: int, epsilon: float, delta: float) -> Statement:
    sigma = get_noise_multiplier(
        target_epsilon=epsilon, target_delta=delta, sample_rate=rate, steps=steps, accountant=kind
    )
    return sigma, _sampled(sigma, rate, steps)


serve(gdp, gdp_uniform, rdp, prv, noise_multiplier)
