"""Mechanisms that misbehave, in processes, in ways that once fooled the auditor: no false alarm, and no silent pass."""

from typing import Any

import numpy as np
import pytest

import auditor
from auditor.errors import MechanismError

PURE = auditor.PureDP(1.0)


def test_a_generator_of_its_own_is_not_copied_to_the_workers() -> None:
    """Honest Laplace noise, α = 0.001: copies of one stream would be refuted in half of the runs."""
    own = np.random.default_rng(5)

    def honest(value: float, size: int) -> Any:
        return own.laplace(value, 1.0, size)

    results = [auditor.audit(honest, PURE, [(0, 1)], samples=4000, seed=s, workers=2, batch=200) for s in range(8)]
    assert [result.verdict for result in results] == ["no_violation_found"] * 8
    assert not any(result.reproducible for result in results)


# --- Outputs that are not independent ---


def seeds_itself(value: float, size: int, rng: np.random.Generator) -> Any:
    return np.random.default_rng(0).laplace(value, 1.0, size)


def one_noise_for_all(value: float, size: int, rng: np.random.Generator) -> Any:
    return np.full(size, value + rng.laplace())


@pytest.mark.parametrize(("mechanism", "why"), [(seeds_itself, "repeats itself"), (one_noise_for_all, "one call")])
@pytest.mark.parametrize("workers", [1, 2])
def test_outputs_that_repeat_one_another_are_refused(mechanism: Any, why: str, workers: int) -> None:
    with pytest.raises(MechanismError, match=why):
        auditor.audit(mechanism, auditor.PureDP(3.0), [(0, 1)], samples=20_000, batch=1_000, seed=1, workers=workers)


shared = np.random.default_rng(5)


def ignores_its_rng(value: float, size: int, rng: np.random.Generator) -> Any:
    return shared.laplace(value, 1.0, size)


def test_a_mechanism_that_ignores_its_rng_is_run_by_one_worker() -> None:
    """Otherwise each worker would have a copy of its generator; see the test of a mechanism with its own generator, above."""
    result = auditor.audit(ignores_its_rng, PURE, [(0, 1)], samples=4000, seed=1, workers=2, batch=200)
    assert (result.verdict, result.reproducible) == ("no_violation_found", False)
