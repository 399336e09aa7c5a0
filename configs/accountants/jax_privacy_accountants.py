"""jax-privacy 2.0.0. Source: jax_privacy/accounting/analysis (SamplingMethod, DpParams) and calibrate."""

from typing import Any

from jax_privacy import accounting
from protocol import Process, Statement, fixed_size, gaussian, poisson, serve

SAMPLES = 100_000
CONFIGS = {"pld": accounting.PldAccountantConfig, "rdp": accounting.RdpAccountantConfig}


def _accountant(kind: str) -> accounting.DpsgdTrainingAccountant:
    return accounting.DpsgdTrainingAccountant(CONFIGS[kind]())


def _parameters(sigma: float, batch: int, delta: float, **more: Any) -> accounting.DpParams:
    return accounting.DpParams(noise_multipliers=sigma, num_samples=SAMPLES, delta=delta, batch_size=batch, **more)


def _sampled(sigma: float, batch: int, steps: int) -> Process:
    return gaussian(sigma, steps=steps, **poisson(batch / SAMPLES))


# "Compatible with add-or-remove and zero-out adjacencies" (SamplingMethod.POISSON)
def dpsgd(kind: str, sigma: float, batch: int, steps: int, delta: float) -> Statement:
    return _accountant(kind).compute_epsilon(steps, _parameters(sigma, batch, delta)), _sampled(sigma, batch, steps)


# "a random subset of size batch_size. Compatible with replace adjacency" (SamplingMethod.FIXED_BATCH_SIZE)
def dpsgd_fixed_size(kind: str, sigma: float, batch: int, steps: int, delta: float) -> Statement:
    parameters = _parameters(sigma, batch, delta, sampling_method=accounting.SamplingMethod.FIXED_BATCH_SIZE)
    process = gaussian(sigma, relation="substitute", steps=steps, **fixed_size(batch / SAMPLES))
    return _accountant(kind).compute_epsilon(steps, parameters), process


# "The value returned should always be an over-approximation of the true epsilon" (CachedExperimentAccountant.compute_epsilon)
def cached(kind: str, sigma_before: float, sigma: float, batch: int, steps: int, delta: float) -> Statement:
    accountant = accounting.CachedExperimentAccountant(_accountant(kind), steps, num_cached_points=2)
    accountant.compute_epsilon(steps, _parameters(sigma_before, batch, delta), allow_approximate_cache=True)
    stated = accountant.compute_epsilon(steps, _parameters(sigma, batch, delta), allow_approximate_cache=True)
    return stated, _sampled(sigma, batch, steps)


# "schedule for scaling the batch-size" (DpParams), which is optax's: its factors multiply, each "such that b_i < s" for step s
def scaled_batches(
    kind: str, sigma: float, batch: int, boundary: int, factor: float, steps: int, delta: float
) -> Statement:
    parameters = _parameters(sigma, batch, delta, batch_size_scale_schedule={boundary: factor})
    stated = _accountant(kind).compute_epsilon(steps, parameters)
    before, after = min(steps, boundary + 1), max(0, steps - boundary - 1)
    parts = [_sampled(sigma, size, count) for size, count in ((batch, before), (batch * factor, after)) if count]
    return stated, parts


# --- Noise for a target ---


def noise_multiplier(kind: str, batch: int, steps: int, epsilon: float, delta: float) -> Statement:
    sigma = _calibrated(kind, batch, steps, epsilon, delta)
    return sigma, _sampled(sigma, batch, steps)


# "num_updates: Total number of iterations"; no argument names the sampling (calibrate, calibrate_noise_multiplier), which
# DpParams.sampling_method does for the accountant
def noise_multiplier_fixed_size(kind: str, batch: int, steps: int, epsilon: float, delta: float) -> Statement:
    sigma = _calibrated(kind, batch, steps, epsilon, delta)
    return sigma, gaussian(sigma, relation="substitute", steps=steps, **fixed_size(batch / SAMPLES))


def _calibrated(kind: str, batch: int, steps: int, epsilon: float, delta: float) -> float:
    return accounting.calibrate_noise_multiplier(
        target_epsilon=epsilon,
        accountant=_accountant(kind),
        batch_sizes=batch,
        num_updates=steps,
        num_samples=SAMPLES,
        target_delta=delta,
    )


serve(dpsgd, dpsgd_fixed_size, cached, scaled_batches, noise_multiplier, noise_multiplier_fixed_size)
