"""How often the whole pipeline refutes a mechanism that is exactly at its claim: event learned, bound proved.

The pair is given, or found in a domain out of one budget of outputs.

At confidence 95 %, on the edge of the null, where alarms are likeliest. Rates come with their own 95 % Clopper-Pearson
interval. The intervals and bounds themselves are enumerated exactly in tests/bounds.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from joblib import Parallel, delayed

import auditor
from auditor.bounds.intervals import clopper_pearson_lower, clopper_pearson_upper
from benchmarks._mechanisms import discrete_laplace, gaussian, laplace, randomised_response, revealing

ALPHA = 0.05
PURE, MIXED = auditor.PureDP(1.0), auditor.ApproximateDP(1.0, 0.05)
PROFILE = auditor.PrivacyProfile([(0.5, 0.25), (1.0, 0.05), (2.0, 0.05)])
AT_EPSILON, AT_DELTA = {"epsilon": 1.0}, {"epsilon": 1.0, "delta": 0.05}
AT_SIGMA = {"sigma": 1.0}
ONE = auditor.Totals(cells=1, values=(0, 3), contribution={"l1": 1})


@dataclass(frozen=True)
class Case:
    """A mechanism that is audited again and again, at its claim."""

    mechanism: Callable[..., Any]
    parameters: dict[str, float]
    claim: Any
    outputs: int  # of the bound; of a whole audit from a domain
    method: str = "fixed"
    runs: int = 20_000
    domain: Any = None

    def is_refuted(self, seed: int) -> bool:
        given = {"samples": self.outputs} if self.domain is None else {"outputs": self.outputs}
        result = auditor.audit(
            self.mechanism,
            self.claim,
            self.domain or [(0, 1)],
            parameters=self.parameters,
            confidence=1 - ALPHA,
            method=self.method,
            seed=seed,
            workers=1,
            isolate=False,
            shrink=False,
            **given,
        )
        return result.verdict == "violation"


CASES = {
    "ε, randomised response": Case(randomised_response, AT_EPSILON, PURE, 500),
    "ε, Laplace": Case(laplace, AT_EPSILON, PURE, 500),
    "ε, one budget, Laplace": Case(laplace, AT_EPSILON, PURE, 2_000, domain=ONE),
    "ε, one budget, discrete Laplace": Case(discrete_laplace, AT_EPSILON, PURE, 2_000, domain=ONE),
    "(ε, δ), revealing": Case(revealing, AT_DELTA, MIXED, 500),
    "profile, revealing": Case(revealing, AT_DELTA, PROFILE, 500),
    "μ, Gaussian": Case(gaussian, AT_SIGMA, auditor.GaussianDP(1.0), 500),
    "ρ, Gaussian": Case(gaussian, AT_SIGMA, auditor.ZeroConcentratedDP(0.5), 2_000),
    "Rényi of order 2, Gaussian": Case(gaussian, AT_SIGMA, auditor.RenyiDP(2.0, 1.0), 2_000),
    "ε, two intervals, randomised response": Case(randomised_response, AT_EPSILON, PURE, 500, "two-intervals"),
    "ε, sequential, randomised response": Case(randomised_response, AT_EPSILON, PURE, 1_000, "sequential"),
    "ε, sequential, Laplace": Case(laplace, AT_EPSILON, PURE, 1_000, "sequential"),
    "(ε, δ), sequential, revealing": Case(revealing, AT_DELTA, MIXED, 1_000, "sequential"),
    "μ, sequential, Gaussian": Case(gaussian, AT_SIGMA, auditor.GaussianDP(1.0), 1_000, "sequential"),
    "ρ, sequential, Gaussian": Case(gaussian, AT_SIGMA, auditor.ZeroConcentratedDP(0.5), 1_000, "sequential"),
    "ε, sequential to 10⁵ outputs, randomised response": Case(
        randomised_response, AT_EPSILON, PURE, 100_000, "sequential", 500
    ),
    "ε, sequential to 10⁵ outputs, Laplace": Case(laplace, AT_EPSILON, PURE, 100_000, "sequential", 100),
}
CHUNK = 50


def _alarms(name: str, seeds: range) -> int:
    return sum(map(CASES[name].is_refuted, seeds))


def measure(only: str = "") -> dict[str, Any]:
    rows = {}
    for name, case in CASES.items():
        if only not in name:
            continue
        chunks = (range(first, min(first + CHUNK, case.runs)) for first in range(0, case.runs, CHUNK))
        alarms = sum(Parallel(n_jobs=-1)(delayed(_alarms)(name, seeds) for seeds in chunks))
        limits = (float(limit(alarms, case.runs, 0.025)) for limit in (clopper_pearson_lower, clopper_pearson_upper))
        rows[name] = {
            "outputs": case.outputs,
            "runs": case.runs,
            "alarms": alarms,
            "rate": alarms / case.runs,
            "interval": list(limits),
        }
        print(name, rows[name], flush=True)
    return {"nominal rate": ALPHA, "rows": rows}
