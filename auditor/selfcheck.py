"""Measure this installation: false alarms on mechanisms exactly at their claim, power on mechanisms just over it."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from auditor.auditing import audit
from auditor.bounds.intervals import clopper_pearson_lower, clopper_pearson_upper
from auditor.claims import ApproximateDP, GaussianDP, PrivacyClaim, PureDP, ZeroConcentratedDP
from auditor.verdict import Verdict

CONFIDENCE = 0.9
RUNS = 40
OUTPUTS = 3_000
# The chance that a sound installation is reported as unsound, over all rows.
FALSE_FAILURE = 1e-6


def randomised_response(bit: int, size: int, rng: np.random.Generator, *, epsilon: float) -> NDArray[Any]:
    """Return the bit, or its opposite with probability 1/(1 + e^ε): exactly ε."""
    return bit ^ (rng.random(size) < 1 / (1 + math.exp(epsilon)))


def laplace(value: float, size: int, rng: np.random.Generator, *, epsilon: float) -> NDArray[Any]:
    """Return the value plus Laplace noise of scale 1/ε: exactly ε for values 1 apart."""
    return rng.laplace(value, 1 / epsilon, size)


def revealing(bit: int, size: int, rng: np.random.Generator, *, epsilon: float, delta: float) -> NDArray[Any]:
    """Return the bit marked as certain with probability δ, else as randomised response: exactly (ε, δ)."""
    return np.where(rng.random(size) < delta, bit + 2, randomised_response(bit, size, rng, epsilon=epsilon))


def gaussian(value: float, size: int, rng: np.random.Generator, *, mu: float) -> NDArray[Any]:
    """Return the value plus Gaussian noise of deviation 1/μ: exactly μ, and μ²/2-zCDP, for values 1 apart."""
    return rng.normal(value, 1 / mu, size)


@dataclass(frozen=True, slots=True)
class _Row:
    """How often audits of one mechanism ended in a violation. ``allowed`` is the largest rate if the claim holds, else None."""

    mechanism: str
    claim: str
    method: str
    truth: str
    violations: int
    runs: int
    allowed: float | None

    @property
    def interval(self) -> tuple[float, float]:
        """The Clopper-Pearson interval of the rate, 95 % in all."""
        return (
            float(clopper_pearson_lower(self.violations, self.runs, 0.025)),
            float(clopper_pearson_upper(self.violations, self.runs, 0.025)),
        )

    @property
    def sound(self) -> bool:
        """Whether the rate is consistent with the allowed one."""
        if self.allowed is None:
            return True
        return float(clopper_pearson_lower(self.violations, self.runs, FALSE_FAILURE / 10)) <= self.allowed


Case = tuple[Callable[..., Any], dict[str, float], dict[str, float], PrivacyClaim]
CASES: list[Case] = [
    (randomised_response, {"epsilon": 1.0}, {"epsilon": 1.25}, PureDP(1.0)),
    (laplace, {"epsilon": 1.0}, {"epsilon": 1.25}, PureDP(1.0)),
    (revealing, {"epsilon": 1.0, "delta": 0.05}, {"epsilon": 1.3, "delta": 0.05}, ApproximateDP(1.0, 0.05)),
    (gaussian, {"mu": 1.0}, {"mu": 1.2}, GaussianDP(1.0)),
    (gaussian, {"mu": 1.0}, {"mu": 1.6}, ZeroConcentratedDP(0.5)),
]


def self_check(runs: int = RUNS) -> Iterator[_Row]:
    """Yield a row for each mechanism, method and truth, once it is measured."""
    for mechanism, at_claim, over, claim in CASES:
        for method in ("fixed", "sequential"):
            for parameters, allowed in ((at_claim, 1 - CONFIDENCE), (over, None)):
                violations = sum(
                    audit(
                        mechanism,
                        claim,
                        [(0, 1)],
                        parameters=parameters,
                        confidence=CONFIDENCE,
                        samples=OUTPUTS,
                        method=method,
                        seed=seed,
                        workers=1,
                        shrink=False,
                    ).verdict
                    is Verdict.VIOLATION
                    for seed in range(runs)
                )
                truth = ", ".join(f"{name} {value:g}" for name, value in parameters.items())
                yield _Row(mechanism.__name__, str(claim), method, truth, violations, runs, allowed)
