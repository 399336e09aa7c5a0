"""Parallel sampling: outputs do not depend on who draws them, streams are separate, and a hidden fair coin orders the sides."""

import os
from typing import Any

import numpy as np
import pytest
from sampled import draw, noisy, sampler

from auditor.errors import MechanismError


def noisy_one(dataset: float, rng: np.random.Generator) -> float:
    return float(rng.normal(dataset, 1))


# --- The same numbers whatever draws them ---


@pytest.mark.parametrize("function", [noisy, noisy_one])
@pytest.mark.parametrize(("backend", "workers"), [("loky", 2), ("threading", 2), ("threading", 4), ("loky", -1)])
def test_workers_and_backends_change_nothing(function: Any, backend: str, workers: int) -> None:
    assert draw(sampler(function, workers=workers, backend=backend)) == draw(sampler(function))


# --- What goes wrong ---


def test_what_a_mechanism_prints_does_not_flood_the_terminal(capfd: pytest.CaptureFixture[str]) -> None:
    def prints(dataset: Any, size: int, rng: Any) -> Any:
        print("a line")
        os.write(2, b"another\n")
        return np.zeros(size)

    assert len(draw(sampler(prints, workers=2, backend="loky"))) == 5
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(("backend", "workers"), [("loky", 1), ("loky", 2), ("threading", 2)])
def test_a_batch_of_the_wrong_size_is_told_from_any_worker(backend: str, workers: int) -> None:
    with pytest.raises(MechanismError, match="the first axis of the result must be size"):
        draw(sampler(lambda dataset, size, rng: np.zeros(size + 1), workers=workers, backend=backend))
