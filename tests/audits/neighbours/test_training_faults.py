"""Steps, rounds and epochs as frameworks have them, each sound one beside faulty twins: worst cases of the domains find the faults.

Seeds are fixed. A sound twin raises a false alarm with probability below 1e-9, as the audits are confident. Whether a faulty one is
found on these outputs, its seed decides once and for all.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import auditor
from auditor import Epoch, GaussianDP, PrivacyProfile, Vectors
from auditor.exact import Gaussian, Poisson, Process, epsilon_interval

QUICK: dict[str, Any] = {
    "samples": 6_000,
    "search": 3_000,
    "workers": 1,
    "isolate": False,
    "seed": 1,
    "planted": 0,
    "shrink": False,
    "confidence": 1 - 1e-9,
}
NORM, CELLS, CLIENTS = 0.5, 3, 4


def clipped(vectors: np.ndarray, order: float = 2, norm: float = NORM) -> np.ndarray:
    lengths = np.linalg.norm(vectors, ord=order, axis=1, keepdims=True)
    return vectors / np.maximum(1.0, lengths / norm)


def noise(rng: np.random.Generator, scale: float) -> np.ndarray:
    return rng.normal(0, scale, CELLS)


# --- A step of DP-SGD: a sum with noise, neighbours by a record that comes or goes. Sound: μ = 1. ---


def step(gradients, rng):
    return clipped(gradients).sum(axis=0) + noise(rng, NORM)


def step_clipped_in_another_norm(gradients, rng):
    return clipped(gradients, order=np.inf).sum(axis=0) + noise(rng, NORM)


def step_clipped_to_one(gradients, rng):
    return clipped(gradients, norm=1.0).sum(axis=0) + noise(rng, NORM)


def step_of_the_clipped_mean(gradients, rng):
    return clipped(gradients.mean(axis=0, keepdims=True))[0] * len(gradients) + noise(rng, NORM)


def step_divided_by_the_real_number(gradients, rng):
    return (clipped(gradients).sum(axis=0) + noise(rng, NORM)) / max(1, len(gradients))


def step_with_noise_by_the_real_number(gradients, rng):
    return clipped(gradients).sum(axis=0) / CLIENTS + noise(rng, NORM) / max(1, len(gradients))


def step_that_skips_an_empty_batch(gradients, rng):
    return step(gradients, rng) if len(gradients) else np.zeros(CELLS)


def step_with_a_norm_for_each_coordinate(gradients, rng):
    return np.clip(gradients, -NORM, NORM).sum(axis=0) + noise(rng, NORM)


STEPS = [
    step_clipped_in_another_norm,
    step_clipped_to_one,
    step_of_the_clipped_mean,
    step_divided_by_the_real_number,
    step_with_noise_by_the_real_number,
    step_that_skips_an_empty_batch,
    step_with_a_norm_for_each_coordinate,
]


@pytest.mark.parametrize("faulty", STEPS)
def test_a_faulty_step_is_found(faulty: Callable[..., Any]) -> None:
    result = auditor.audit(faulty, GaussianDP(1.0), Vectors(CELLS, NORM, size=(0, 6)), **QUICK)
    assert result.verdict == "violation"


def test_a_sound_step_passes_near_its_claim() -> None:
    result = auditor.audit(step, GaussianDP(1.0), Vectors(CELLS, NORM, size=(0, 6)), **QUICK)
    assert result.verdict == "no_violation_found"
    assert result.bound.value > 0.55  # at this confidence, 6,000 outputs show no more than .75


# --- A round of a mean of replies, whose neighbours have another reply of one client. Sound: μ = 2. ---


def mean(replies, rng, weighted=False, number=CLIENTS):
    weights = replies[:, -1] if weighted else np.ones(len(replies))
    shares = weights / weights.sum()
    return (clipped(replies[:, :-1]) * shares[:, None]).sum(axis=0) + noise(rng, NORM / number)


def mean_by_weight(replies, rng):
    return mean(replies, rng, weighted=True)


def mean_that_an_unchanged_client_ends(replies, rng):
    if (np.linalg.norm(replies[:, :-1], axis=1) == 0).any():
        raise ZeroDivisionError("float division by zero")
    return mean(replies, rng)


def mean_with_noise_by_the_next_norm(replies, rng):
    share = np.mean(np.linalg.norm(replies[:, :-1], axis=1) > NORM)
    return mean(replies, rng, number=CLIENTS * np.exp(0.4 * (share - 0.5)))


@pytest.mark.parametrize(
    "faulty", [mean_by_weight, mean_that_an_unchanged_client_ends, mean_with_noise_by_the_next_norm]
)
def test_a_faulty_round_is_found(faulty: Callable[..., Any]) -> None:
    domain = Vectors(CELLS, NORM, size=(CLIENTS, CLIENTS), weights=(1, 100), relation="substitute")
    assert auditor.audit(faulty, GaussianDP(2.0), domain, **QUICK).verdict == "violation"


def test_a_sound_round_passes() -> None:
    domain = Vectors(CELLS, NORM, size=(CLIENTS, CLIENTS), weights=(1, 100), relation="substitute")
    result = auditor.audit(mean, GaussianDP(2.0), domain, **QUICK)
    assert result.verdict == "no_violation_found"
    assert result.bound.value > 1.3


def test_one_reply_fewer_than_configured_is_found() -> None:
    domain = Vectors(CELLS, NORM, size=(CLIENTS - 1, CLIENTS), weights=(1, 1), relation="substitute")
    assert auditor.audit(mean, GaussianDP(2.0), domain, **QUICK).verdict == "violation"


# --- An epoch, against what Poisson sampling promises: σ = 1, eight batches ---


def epoch(batches, rng):
    return [float(clipped(batch, norm=1.0).sum() + rng.normal()) if len(batch) else rng.normal() for batch in batches]


def poisson_claim() -> PrivacyProfile:
    process = Process(Gaussian(1.0), sampling=Poisson(1 / 8), steps=8)
    return PrivacyProfile([(epsilon_interval(process, delta).high, delta) for delta in (0.1, 0.01, 1e-3)])


RECORDS = Vectors(1, 1.0, size=(31, 32))


@pytest.mark.parametrize(
    "domain",
    [
        Epoch(RECORDS, "shuffled", batch_size=4),
        Epoch(RECORDS, "ordered", batch_size=4),
        Epoch(RECORDS, "shuffled", batch_size=4, drop_last=True),
        Epoch(Vectors(1, 1.0, size=(32, 32), relation="substitute"), "shuffled", batch_size=4),
    ],
    ids=["shuffled", "ordered", "the last batch dropped", "substituted"],
)
def test_a_loader_that_does_not_draw_poisson_batches_is_found(domain: Epoch) -> None:
    assert auditor.audit(epoch, poisson_claim(), domain, **QUICK).verdict == "violation"


def test_poisson_batches_pass() -> None:
    result = auditor.audit(epoch, poisson_claim(), Epoch(RECORDS, "poisson", batches=8), **QUICK)
    assert result.verdict == "no_violation_found"
