"""Audits of mechanisms that run once: further runs, differences between them, and forecasts."""

from typing import Any

import numpy as np
from canaries_once import NUMBER, one_run

import auditor


def lucky(dataset: Any, rng: np.random.Generator) -> Any:
    """Reveal all canaries of a run with probability 1/2, else none: each canary by itself is revealed with probability 1/2."""
    return np.isin(np.arange(NUMBER), dataset) * float(rng.random() < 0.5) + rng.normal(0, 0.01, NUMBER)


def test_runs_that_differ_too_much_are_warned_of_where_canaries_are_said_to_be_apart() -> None:
    """With probability 1/128 all of 8 runs are alike, and with this seed they are not."""
    words = "the number of right guesses differs between the runs"
    assert one_run(auditor.GaussianDP(1.0), apart=True, runs=8).warnings == ()
    [warning] = one_run(auditor.GaussianDP(1.0), lucky, apart=True, runs=8, sharpen=True).warnings
    assert words in warning
    [weak] = one_run(auditor.GaussianDP(1.0), lucky, runs=8, sharpen=True).warnings
    assert words not in weak and "use more canaries, or more runs" in weak
