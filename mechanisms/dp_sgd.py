"""DP-SGD for logistic regression, with the faults of shipped libraries: a mechanism that is run once.

A record is a row of features followed by its label: 1 or −1. A label of 0 marks a gradient canary, whose gradient is the
feature vector whatever the weights are. Each gradient is clipped to norm ``clip``, the gradients of a batch are summed, noise
of standard deviation ``noise`` times ``clip`` is added to the sum, and the weights take a step of ``pace`` divided by the
expected batch size (Abadi et al. 2016, Algorithm 1). Each record is in a batch independently with probability ``rate``. So a
run composes ``steps`` Poisson-subsampled Gaussian mechanisms, and :func:`accounted` takes its privacy profile from
dp-accounting.

Gradient canaries along separate axes do not interfere: a step adds to each axis the clipped gradient of its canary, if that is
in the batch, and independent noise.
"""

from collections.abc import Callable, Sequence
from typing import Any, TypedDict

import numpy as np
from numpy.typing import NDArray

Reals = NDArray[np.float64]
# The update of a step, from the weights and the step number.
Rule = Callable[[Reals, int], Reals]


class Training(TypedDict):
    """What a run reveals if every iterate is published: the sums of each step, the final weights, and public settings."""

    sums: Reals  # (steps, features)
    weights: Reals  # (features,)
    rate: float
    spread: float  # of the noise, in units of the clipping length


def train(
    records: Reals, rng: np.random.Generator, *, steps: int, rate: float, noise: float, clip: float = 1.0
) -> Training:
    """Train without a fault."""

    def rule(weights: Reals, step: int) -> Reals:
        batch = records[rng.random(len(records)) < rate]
        return _summed(weights, batch, clip) + _noise(records, rng, noise * clip)

    return _descend(rule, records, steps, rate, noise)


def train_clipping_the_average(
    records: Reals, rng: np.random.Generator, *, steps: int, rate: float, noise: float, clip: float = 1.0
) -> Training:
    """Clip the average of a batch instead of each gradient, so one record can move a step by 2·clip, not clip/size."""

    def rule(weights: Reals, step: int) -> Reals:
        batch = records[rng.random(len(records)) < rate]
        size = max(1.0, rate * len(records))
        average = np.asarray(_gradients(weights, batch).sum(axis=0, keepdims=True) / size)
        return np.asarray(size * _clipped(average, clip)[0]) + _noise(records, rng, noise * clip)

    return _descend(rule, records, steps, rate, noise)


def train_with_unscaled_noise(
    records: Reals, rng: np.random.Generator, *, steps: int, rate: float, noise: float, clip: float = 1.0
) -> Training:
    """Do not scale the noise by the clipping norm."""

    def rule(weights: Reals, step: int) -> Reals:
        batch = records[rng.random(len(records)) < rate]
        return _summed(weights, batch, clip) + _noise(records, rng, noise)

    return _descend(rule, records, steps, rate, noise)


def train_on_shuffled_batches(
    records: Reals, rng: np.random.Generator, *, steps: int, rate: float, noise: float, clip: float = 1.0
) -> Training:
    """Shuffle the records and batch them in order, once per epoch, but account for them as Poisson subsamples."""
    parts = round(1 / rate)
    place = np.empty(len(records), int)

    def rule(weights: Reals, step: int) -> Reals:
        if step % parts == 0:
            place[:] = rng.permutation(len(records)) % parts
        batch = records[place == step % parts]
        return _summed(weights, batch, clip) + _noise(records, rng, noise * clip)

    return _descend(rule, records, steps, rate, noise)


def train_dividing_by_the_true_size(
    records: Reals, rng: np.random.Generator, *, steps: int, rate: float, noise: float, clip: float = 1.0
) -> Training:
    """Divide sum and noise by the actual batch size, not the expected one: the noise variance then reveals the size."""

    def rule(weights: Reals, step: int) -> Reals:
        batch = records[rng.random(len(records)) < rate]
        total = _summed(weights, batch, clip) + _noise(records, rng, noise * clip)
        return total / max(1, len(batch))

    return _descend(rule, records, steps, rate, noise)


def train_with_noise_every_other_step(
    records: Reals, rng: np.random.Generator, *, steps: int, rate: float, noise: float, clip: float = 1.0
) -> Training:
    """Add noise only every other step, as when gradients are accumulated over two batches."""

    def rule(weights: Reals, step: int) -> Reals:
        batch = records[rng.random(len(records)) < rate]
        return _summed(weights, batch, clip) + _noise(records, rng, noise * clip * (step % 2))

    return _descend(rule, records, steps, rate, noise)


def train_on_few(
    records: NDArray[Any], rng: np.random.Generator, *, steps: int, noise: float, faulty: bool = False
) -> Reals:
    """Return the sums of all full-batch steps on a few records, each a one-dimensional gradient, for audits that run it often."""
    rows = np.hstack([np.reshape(records, (len(records), 1)), np.zeros((len(records), 1))]).astype(float)
    function = train_dividing_by_the_true_size if faulty else train
    return np.asarray(function(rows, rng, steps=steps, rate=1.0, noise=noise)["sums"][:, 0])


PACE = 1.0


def _descend(rule: Rule, records: Reals, steps: int, rate: float, noise: float) -> Training:
    weights, sums = np.zeros(records.shape[1] - 1), list[Reals]()
    for step in range(steps):
        sums.append(rule(weights, step))
        weights = weights - PACE / 100 * sums[-1]
    return Training(sums=np.array(sums), weights=weights, rate=rate, spread=noise)


def _gradients(weights: Reals, records: Reals) -> Reals:
    """Return the gradient of each record's logistic loss, of shape (records, features); for a gradient canary, its features."""
    features, labels = records[:, :-1], records[:, -1]
    slopes = -labels / (1 + np.exp(np.clip(labels * (features @ weights), -500, 500)))
    return np.asarray(np.where(labels == 0, 1.0, slopes)[:, None] * features)


def _summed(weights: Reals, batch: Reals, clip: float) -> Reals:
    return np.asarray(_clipped(_gradients(weights, batch), clip).sum(axis=0))


def _clipped(gradients: Reals, clip: float) -> Reals:
    lengths = np.linalg.norm(gradients, axis=1, keepdims=True)
    return np.asarray(gradients * np.minimum(1.0, clip / np.maximum(lengths, 1e-300)))


def _noise(records: Reals, rng: np.random.Generator, spread: float) -> Reals:
    return np.asarray(rng.normal(0.0, 1.0, records.shape[1] - 1) * spread)


# Canaries and their scores -------------------------------------------------------------------------------------------

FEATURES, AXES = 10, 1000  # of the data, and of canaries


def people() -> Reals:
    """Return 200 records of ordinary data, with labels that depend on the features."""
    rng = np.random.default_rng(1)
    features = rng.normal(size=(200, FEATURES))
    labels = np.where(features.sum(axis=1) + rng.normal(size=200) > 0, 1.0, -1.0)
    return np.hstack([features, np.zeros((200, AXES)), labels[:, None]])


def gradient_canaries() -> Reals:
    """Return AXES gradients along separate axes, far beyond the clipping norm."""
    return np.hstack([np.zeros((AXES, FEATURES)), 100 * np.eye(AXES), np.zeros((AXES, 1))])


def data_canaries() -> Reals:
    """Return AXES records, each with a feature that no other record has."""
    return np.hstack([np.zeros((AXES, FEATURES)), 10 * np.eye(AXES), np.ones((AXES, 1))])


def seen_in_iterates(training: Training, canary: Reals) -> float:
    """Return the log-likelihood ratio of a gradient canary along its axis, for a Poisson subsample in each step.

    The clipping norm is assumed to be 1, and the noise to be as stated.
    """
    axis = int(np.argmax(canary[:-1]))
    sums, spread, rate = training["sums"][:, axis], training["spread"], training["rate"]
    bare = (sums == 0) | (sums == 1)  # sums without any gradient
    noisy = np.log1p(rate * np.expm1(np.clip((sums - 0.5) / spread**2, -700, 700)))
    return float(np.where(bare, np.where(sums == 1, 1e3, np.log1p(-rate)), noisy).sum())


def seen_in_an_epoch(training: Training, canary: Reals) -> float:
    """Return the log-likelihood ratio of a gradient canary that takes part in one step of each epoch."""
    sums, parts = training["sums"][:, int(np.argmax(canary[:-1]))], round(1 / training["rate"])
    steps = np.exp(np.clip((sums - 0.5) / training["spread"] ** 2, -700, 700)).reshape(-1, parts)
    return float(np.log(steps.mean(axis=1)).sum())


def seen_in_the_model(training: Training, canary: Reals) -> float:
    """Return the margin of a data canary under the final model; for a gradient canary, how far the weights moved against it."""
    margin = float(training["weights"] @ canary[:-1])
    return -margin if canary[-1] == 0 else margin * float(canary[-1])


# The claim -----------------------------------------------------------------------------------------------------------


def accounted(steps: int, rate: float, noise: float, epsilons: Sequence[float]) -> list[float]:
    """Return δ at each ε (nats) of a run under add/remove, by dp-accounting's privacy loss distributions."""
    import importlib

    losses = importlib.import_module("dp_accounting.pld.privacy_loss_distribution")

    options: dict[str, Any] = {"sampling_prob": rate, "value_discretization_interval": 1e-4}
    whole = losses.from_gaussian_mechanism(noise, **options).self_compose(steps)
    return [float(whole.get_delta_for_epsilon(epsilon)) for epsilon in epsilons]
