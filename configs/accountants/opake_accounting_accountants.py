"""opake-accounting 0.16.1. Source: opake/api/accounting/core/opake_accounting. Its Python part does not load in 3.11.7."""

from protocol import Process, Statement, gaussian, load_submodules_only, poisson, serve

load_submodules_only("opake", "opake.api", "opake.api.accounting", "opake.api.accounting.core")
from opake.api.accounting.core import opake_accounting as native  # noqa: E402


def _loss(sigma: float, rate: float, steps: int) -> native.Pld:
    # "noise_multiplier: Ratio of noise std to sensitivity"; "rate: Poisson sampling probability, in (0, 1)"
    loss = native.gaussian_pld(sigma, native.DiscretizationConfig())
    return (native.poisson_pld(loss, rate) if rate < 1 else loss).self_compose(steps)


def _sampled(sigma: float, rate: float, steps: int) -> Process:
    return gaussian(sigma, steps=steps, **poisson(rate))


def epsilon(sigma: float, rate: float, steps: int, delta: float) -> Statement:
    return _loss(sigma, rate, steps).epsilon_at(delta), _sampled(sigma, rate, steps)


def delta(sigma: float, rate: float, steps: int, epsilon: float) -> Statement:
    return _loss(sigma, rate, steps).delta_at(epsilon), _sampled(sigma, rate, steps)


# "Type-II error (β) at a given Type-I error (α)" (Pld.beta_at)
def beta(sigma: float, rate: float, steps: int, alpha: float) -> Statement:
    return _loss(sigma, rate, steps).beta_at(alpha), _sampled(sigma, rate, steps)


serve(epsilon, delta, beta)
