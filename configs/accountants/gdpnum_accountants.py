"""gdpnum 0.1.2. Source: gdpnum/converter and dpsgd."""

from dp_accounting.pld import common, privacy_loss_distribution
from gdpnum import CTDAccountant, PLDConverter
from protocol import Process, Statement, gaussian, poisson, serve


def _accountant(sigma: float, rate: float, steps: int) -> CTDAccountant:
    accountant = CTDAccountant()
    accountant.history = [(sigma, rate, steps)]
    return accountant


def _sampled(sigma: float, rate: float, steps: int) -> Process:
    return gaussian(sigma, steps=steps, **poisson(rate))


# "Extracting a pessimistic value for μ (i.e. so that f_μ <= T(P,Q))" (PLDConverter)
def mu(sigma: float, rate: float, steps: int) -> Statement:
    return _accountant(sigma, rate, steps).get_mu_and_regret()[0], _sampled(sigma, rate, steps)


# The same of a mechanism that reveals a record with probability δ
def mu_of_budget(epsilon: float, reveals: float) -> Statement:
    parameters = common.DifferentialPrivacyParameters(epsilon, reveals)
    converter = PLDConverter(privacy_loss_distribution.from_privacy_parameters(parameters))
    low = (1 - reveals) / (1 + 2.718281828459045**epsilon)
    high = 1 - reveals - low
    table = {"noise": "table", "present": [reveals, high, low, 0.0], "absent": [0.0, low, high, reveals]}
    return converter.get_mu(), table


# "Evaluate the symmetrized tradeoff function at given points" (get_beta)
def beta(sigma: float, rate: float, steps: int, alpha: float) -> Statement:
    return _accountant(sigma, rate, steps).get_beta(alpha), _sampled(sigma, rate, steps)


def epsilon(sigma: float, rate: float, steps: int, delta: float) -> Statement:
    return _accountant(sigma, rate, steps).get_epsilon(delta=delta), _sampled(sigma, rate, steps)


serve(mu, mu_of_budget, beta, epsilon)
