"""Audits of mechanisms that run once: further runs, their differences, and what is foreseen."""

from typing import Any

import numpy as np

import auditor

NUMBER = 400


def released(dataset: Any, rng: np.random.Generator, sigma: float = 1.0) -> Any:
    """Release for each place whether it is in the data, with noise of its own: μ = 1/σ."""
    return np.isin(np.arange(NUMBER), dataset) + rng.normal(0, sigma, NUMBER)


def own_place(output: Any, canary: int) -> float:
    return float(output[canary])


def one_run(claim: auditor.GaussianDP | auditor.ApproximateDP, mechanism: Any = released, **options: Any) -> Any:
    settings = {key: options.pop(key) for key in ("parameters", "sharpen") if key in options} | {
        "seed": options.pop("seed", 7)
    }
    domain = auditor.Canaries(list(range(NUMBER)), options.pop("score", own_place), **options)
    return auditor.audit(mechanism, claim, domain, method="one-run", confidence=0.99, name="once", **settings)


def lucky(dataset: Any, rng: np.random.Generator) -> Any:
    """Give away all canaries in a run, or none: each by itself is known with probability 1/2."""
    return np.isin(np.arange(NUMBER), dataset) * float(rng.random() < 0.5) + rng.normal(0, 0.01, NUMBER)


def test_runs_that_differ_too_much_are_warned_of_where_canaries_are_said_to_be_apart() -> None:
    """All of 8 runs are alike with probability 1/128, under another seed."""
    words = "the number of right guesses differs between the runs"
    assert one_run(auditor.GaussianDP(1.0), apart=True, runs=8).warnings == ()
    [warning] = one_run(auditor.GaussianDP(1.0), lucky, apart=True, runs=8, sharpen=True).warnings
    assert words in warning
    [weak] = one_run(auditor.GaussianDP(1.0), lucky, runs=8, sharpen=True).warnings
    assert words not in weak and "use more canaries, or more runs" in weak
