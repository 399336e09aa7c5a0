"""The number of outputs that refute ε = 1, and figures for μ, ρ and a Gaussian at (1, 10⁻⁵)."""

import time
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from scipy.optimize import brentq

import auditor
from auditor.bounds.evidence import Counts, GuessCounts
from auditor.bounds.guesses import guess_epsilon
from benchmarks._mechanisms import gaussian, laplace
from mechanisms.exact.known_continuous import gaussian_delta

ALPHA = 0.05


def _audit(mechanism: Any, parameters: dict[str, float], claim: Any, outputs: int, seed: int) -> Any:
    result = auditor.audit(
        mechanism,
        claim,
        [(0, 1)],
        parameters=parameters,
        samples=3 * outputs // 4,  # earlier rounds have the rest
        confidence=1 - ALPHA,
        seed=seed,
        workers=1,
        shrink=False,
    )
    assert result.bound is not None
    return result.outputs.bound, result.bound.value, result.verdict == "violation"


def _many(runs: int, *arguments: Any) -> list[Any]:
    return list(Parallel(n_jobs=-1)(delayed(_audit)(*arguments, seed) for seed in range(runs)))


def measure() -> dict[str, Any]:
    figures: dict[str, Any] = {}
    for truth in (1.5, 2.0, 3.0):
        runs = _many(1000, laplace, {"epsilon": truth}, auditor.PureDP(1.0), 20_000)
        outputs = np.array([spent for spent, _, _ in runs])
        figures[f"outputs to refute ε = 1 when the truth is {truth:g}"] = {
            "mean": float(outputs.mean()),
            "standard error": float(outputs.std() / np.sqrt(len(outputs))),
            "median": float(np.median(outputs)),
            "refuted": float(np.mean([refuted for _, _, refuted in runs])),
        }
    for outputs in (10**4, 10**5):
        runs = _many(400, gaussian, {"sigma": 1.0}, auditor.GaussianDP(1.0), outputs)
        figures[f"median μ_L of μ = 1 at {outputs:,}"] = float(np.median([bound for _, bound, _ in runs]))
    for outputs in (10**5, 10**6):
        runs = _many(100, gaussian, {"sigma": 1.0}, auditor.ZeroConcentratedDP(0.5), outputs)
        figures[f"median ρ_L of ρ = 0.5 at {outputs:,}"] = float(np.median([bound for _, bound, _ in runs]))
    sigma = 1 / brentq(lambda mu: gaussian_delta(mu, 1.0) - 1e-5, 0.1, 1.0)
    claim = auditor.ApproximateDP(1.0, 1e-5)
    runs = _many(200, gaussian, {"sigma": sigma / 2}, claim, 20_000)
    name = "share of runs that refute (1, 1e-5), noise too small by 2, at 20,000"
    figures[name] = float(np.mean([refuted for _, _, refuted in runs]))
    half = 5_000_000
    counts = GuessCounts(Counts(2_400_000, half, 900_000, half), Counts(900_000, half, 2_400_000, half))
    started = time.perf_counter()
    guess_epsilon(counts, 1e-5, ALPHA)
    figures["bound on 10⁷ counted outputs (s)"] = time.perf_counter() - started
    return figures
