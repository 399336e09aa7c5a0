"""An audit of few outputs finds a bump much narrower than the noise around it."""

import itertools
from typing import Any

import numpy as np

import auditor
from auditor.claims import PureDP

RATES = {0: 0.0, 1: 0.09, 2: 0.08, 3: 0.04}


def bump_in_noise(value: int, size: int, rng: np.random.Generator) -> Any:
    noise, in_bump = rng.laplace(0, 6, size), rng.random(size) < RATES[value]
    return np.where(in_bump, rng.uniform(-0.003, 0.003, size), noise)


def test_a_bump_is_found_by_an_audit_of_few_outputs() -> None:
    """Nothing else tells the data apart. With blocks alone, 7 of these 30 audits found it."""
    domain = auditor.Pairs(list(itertools.combinations(range(4), 2)))
    options: dict[str, Any] = {"search": 2_000, "planted": 0, "workers": 1, "isolate": False, "shrink": False}
    verdicts = [
        auditor.audit(bump_in_noise, PureDP(1.0), domain, samples=4_000, seed=seed, **options).verdict
        for seed in range(20, 50)
    ]
    assert verdicts.count(auditor.Verdict.VIOLATION) >= 13
