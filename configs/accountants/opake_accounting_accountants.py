"""opake-accounting 0.16.1. Source: opake/api/accounting/core/opake_accounting.pyi and _base.py."""

from opake.api.accounting.core import opake_accounting as native
from protocol import Process, Statement, gaussian, poisson, serve


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


# "k-out-of-t random allocation each record is used in k steps … a valid upper bound" (random_allocation_gaussian_pld)
def allocation(sigma: float, batches: int, delta: float) -> Statement:
    loss = native.random_allocation_gaussian_pld(sigma, batches, 1, native.DiscretizationConfig())
    return loss.epsilon_at(delta), gaussian(sigma, sampling="allocation", batches=batches)


serve(epsilon, delta, beta, allocation)
