"""Canaries in a mechanism that runs once, and its audit."""

from typing import Any

import numpy as np

import auditor

NUMBER = 400


def released(dataset: Any, rng: np.random.Generator, sigma: float = 1.0) -> Any:
    """Release for each canary whether it is included, with independent noise: μ = 1/σ."""
    return np.isin(np.arange(NUMBER), dataset) + rng.normal(0, sigma, NUMBER)


def own_place(output: Any, canary: int) -> float:
    return float(output[canary])


def one_run(claim: auditor.GaussianDP | auditor.ApproximateDP, mechanism: Any = released, **options: Any) -> Any:
    settings = {key: options.pop(key) for key in ("parameters", "sharpen") if key in options} | {
        "seed": options.pop("seed", 7)
    }
    settings |= {"name": "once", "workers": 1, "isolate": options.pop("isolate", False)}
    domain = auditor.Canaries(list(range(NUMBER)), options.pop("score", own_place), **options)
    return auditor.audit(mechanism, claim, domain, method="one-run", confidence=0.99, **settings)
