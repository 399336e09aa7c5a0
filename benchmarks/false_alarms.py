"""How often the whole pipeline refutes a mechanism that is exactly at its claim: pair given, event learned, bound proved.

At confidence 95 %, on the edge of the null, where alarms are likeliest. Rates come with their own 95 % Clopper-Pearson
interval. The intervals and bounds themselves are enumerated exactly in tests/bounds.
"""

from collections.abc import Callable
from typing import Any

from joblib import Parallel, delayed

import auditor
from auditor.bounds.intervals import clopper_pearson_lower, clopper_pearson_upper
from benchmarks._mechanisms import gaussian, laplace, randomised_response, revealing

ALPHA = 0.05
PURE, MIXED = auditor.PureDP(1.0), auditor.ApproximateDP(1.0, 0.05)
PROFILE = auditor.PrivacyProfile([(0.5, 0.25), (1.0, 0.05), (2.0, 0.05)])
AT_EPSILON, AT_DELTA = {"epsilon": 1.0}, {"epsilon": 1.0, "delta": 0.05}
AT_SIGMA = {"sigma": 1.0}
# name, mechanism, parameters, claim, method, outputs of the bound, runs
CASES: list[tuple[str, Callable[..., Any], dict[str, float], Any, str, int, int]] = [
    ("ε, randomised response", randomised_response, AT_EPSILON, PURE, "fixed", 500, 20_000),
    ("ε, Laplace", laplace, AT_EPSILON, PURE, "fixed", 500, 20_000),
    ("(ε, δ), revealing", revealing, AT_DELTA, MIXED, "fixed", 500, 20_000),
    ("profile, revealing", revealing, AT_DELTA, PROFILE, "fixed", 500, 20_000),
    ("μ, Gaussian", gaussian, AT_SIGMA, auditor.GaussianDP(1.0), "fixed", 500, 20_000),
    ("ρ, Gaussian", gaussian, AT_SIGMA, auditor.ZeroConcentratedDP(0.5), "fixed", 2_000, 20_000),
    ("Rényi of order 2, Gaussian", gaussian, AT_SIGMA, auditor.RenyiDP(2.0, 1.0), "fixed", 2_000, 20_000),
    ("ε, two intervals, randomised response", randomised_response, AT_EPSILON, PURE, "two-intervals", 500, 20_000),
    ("ε, sequential, randomised response", randomised_response, AT_EPSILON, PURE, "sequential", 1_000, 20_000),
    ("ε, sequential, Laplace", laplace, AT_EPSILON, PURE, "sequential", 1_000, 20_000),
    ("(ε, δ), sequential, revealing", revealing, AT_DELTA, MIXED, "sequential", 1_000, 20_000),
    ("μ, sequential, Gaussian", gaussian, AT_SIGMA, auditor.GaussianDP(1.0), "sequential", 1_000, 20_000),
    ("ρ, sequential, Gaussian", gaussian, AT_SIGMA, auditor.ZeroConcentratedDP(0.5), "sequential", 1_000, 20_000),
    (
        "ε, sequential to 10⁵ outputs, randomised response",
        randomised_response,
        AT_EPSILON,
        PURE,
        "sequential",
        100_000,
        500,
    ),
    ("ε, sequential to 10⁵ outputs, Laplace", laplace, AT_EPSILON, PURE, "sequential", 100_000, 100),
]
CHUNK = 50


def _alarms(case: int, first: int, runs: int) -> int:
    _, mechanism, parameters, claim, method, samples, _ = CASES[case]
    return sum(
        auditor.audit(
            mechanism,
            claim,
            [(0, 1)],
            parameters=parameters,
            confidence=1 - ALPHA,
            samples=samples,
            method=method,
            seed=seed,
            workers=1,
            isolate=False,
        ).verdict
        == "violation"
        for seed in range(first, first + runs)
    )


def measure() -> dict[str, Any]:
    rows = {}
    for i, (name, *_, samples, runs) in enumerate(CASES):
        chunks = (delayed(_alarms)(i, first, min(CHUNK, runs - first)) for first in range(0, runs, CHUNK))
        alarms = sum(Parallel(n_jobs=-1)(chunks))
        limits = (float(limit(alarms, runs, 0.025)) for limit in (clopper_pearson_lower, clopper_pearson_upper))
        rows[name] = {
            "outputs": samples,
            "runs": runs,
            "alarms": alarms,
            "rate": alarms / runs,
            "interval": list(limits),
        }
        print(name, rows[name], flush=True)
    return {"nominal rate": ALPHA, "rows": rows}
