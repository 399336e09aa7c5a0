"""pld-accounting 2.0. Source: PLD_accounting/random_allocation_api, "Compute epsilon bounds for Gaussian random-allocation"."""

from PLD_accounting import gaussian_allocation_epsilon_range
from protocol import Process, Statement, gaussian, serve


def _allocated(sigma: float, batches: int) -> Process:
    return gaussian(sigma, sampling="allocation", batches=batches)


# "A tuple (upper_bound, lower_bound)" (gaussian_allocation_epsilon_range)
def upper_bound(sigma: float, batches: int, delta: float) -> Statement:
    upper, _ = gaussian_allocation_epsilon_range(delta=delta, sigma=sigma, num_steps=batches)
    return upper, _allocated(sigma, batches)


def lower_bound(sigma: float, batches: int, delta: float) -> Statement:
    _, lower = gaussian_allocation_epsilon_range(delta=delta, sigma=sigma, num_steps=batches)
    return lower, _allocated(sigma, batches)


serve(upper_bound, lower_bound)
