"""tensorflow-privacy 0.9.0. Source: tensorflow_privacy/privacy/analysis, which loads without TensorFlow."""

import re

from protocol import Process, Statement, gaussian, load_submodules_only, poisson, serve

load_submodules_only("tensorflow_privacy", "tensorflow_privacy.privacy", "tensorflow_privacy.privacy.analysis")
from tensorflow_privacy.privacy.analysis import compute_dp_sgd_privacy_lib as lib  # noqa: E402
from tensorflow_privacy.privacy.analysis import gdp_accountant  # noqa: E402

EXAMPLES = 60_000


def _statement(
    accountant: str, batch: int, sigma: float, epochs: float, delta: float, microbatches: bool
) -> list[float]:
    text = lib.compute_dp_sgd_privacy_statement(
        EXAMPLES, batch, epochs, sigma, delta, microbatches, accountant_type=lib.AccountantType(accountant)
    )
    # Once per epoch; by Poisson sampling. What is printed with three decimals may be .0005 more.
    return [float(number) + 0.0005 for number in re.findall(r"(?:epoch|\(\*\)): +(\S+)", text)]


def _sampled(batch: int, sigma: float, epochs: float, **more: float) -> Process:
    steps = -(-int(epochs * EXAMPLES) // batch)
    return gaussian(sigma, steps=steps, **poisson(batch / EXAMPLES), **more)


# "Example-level DP with add-or-remove-one adjacency … Epsilon assuming Poisson sampling" (compute_dp_sgd_privacy_statement)
def statement(accountant: str, batch: int, sigma: float, epochs: int, delta: float) -> Statement:
    return _statement(accountant, batch, sigma, epochs, delta, False)[1], _sampled(batch, sigma, epochs)


# "Microbatching inflates sensitivity by a factor of two in add-or-remove-one adjacency DP" (used_microbatching)
def statement_with_microbatches(accountant: str, batch: int, sigma: float, epochs: int, delta: float) -> Statement:
    process = _sampled(batch, sigma, epochs, sensitivity=2.0)
    return _statement(accountant, batch, sigma, epochs, delta, True)[1], process


# "Epsilon with each example occurring once per epoch" (the same)
def statement_once_per_epoch(accountant: str, sigma: float, epochs: int, delta: float) -> Statement:
    return _statement(accountant, 256, sigma, epochs, delta, False)[0], gaussian(sigma, steps=epochs)


# "batch_size: Batch size used in training. noise_multiplier: Noise multiplier used in training" (compute_dp_sgd_privacy), of the
# package's own optimizers, whose num_microbatches may be below the batch size (optimizers/dp_optimizer_keras)
def microbatches(batch: int, sigma: float, epochs: int, delta: float, per_microbatch: int) -> Statement:
    stated, _ = lib.compute_dp_sgd_privacy(EXAMPLES, batch, sigma, epochs, delta)
    return stated, _sampled(batch, sigma, epochs, sensitivity=2.0 if per_microbatch > 1 else 1.0)


# "Compute epsilon given hyperparameters" of Poisson subsampling (gdp_accountant, compute_eps_poisson)
def gdp(batch: int, sigma: float, epochs: int, delta: float) -> Statement:
    stated = gdp_accountant.compute_eps_poisson(epochs, sigma, EXAMPLES, batch, delta)
    return stated, _sampled(batch, sigma, epochs)


serve(statement, statement_with_microbatches, statement_once_per_epoch, microbatches, gdp)
