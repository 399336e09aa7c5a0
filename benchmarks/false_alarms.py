"""How often the whole pipeline refutes a mechanism that is exactly at its claim, for every kind of claim, method and data.

At confidence 95 %, on the edge of the null, where alarms are likeliest. Rates come with their own 95 % Clopper-Pearson
interval. A twin that breaks its claim is refuted far more often: otherwise a case would show nothing. The intervals and bounds
themselves are enumerated exactly in tests/bounds.
"""

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from joblib import Parallel, delayed

import auditor
from auditor.bounds.conversions import gaussian_delta
from auditor.bounds.intervals import clopper_pearson_lower, clopper_pearson_upper
from auditor.neighbours.canaries import Canaries
from auditor.report.compare import compare
from auditor.results.result import RunResult
from benchmarks._mechanisms import discrete_laplace, gaussian, laplace, randomised_response, revealing

ALPHA, RUNS, TWINS = 0.05, 2_000, 200
PURE, MIXED = auditor.PureDP(1.0), auditor.ApproximateDP(1.0, 0.05)
PROFILE = auditor.PrivacyProfile([(0.5, 0.25), (1.0, 0.05), (2.0, 0.05)])
AT_EPSILON, AT_DELTA, AT_SIGMA = {"epsilon": 1.0}, {"epsilon": 1.0, "delta": 0.05}, {"sigma": 1.0}
ONE = auditor.Totals(cells=1, values=(0, 3), contribution={"l1": 1})
RECORDS = auditor.Records((0, 1), size=(0, 3), relation="add_remove")
FRAME = auditor.Frame(
    {"value": {"type": "number", "low": 0, "high": 1}, "group": {"type": "categorical", "choices": ["a", "b"]}},
    size=(0, 3),
)
CANARIES, SCORES = 100, 2_000


def sum_of_records(records: Any, size: int, rng: np.random.Generator, *, epsilon: float) -> Any:
    return laplace(float(np.sum(np.clip(records, 0, 1))), size, rng, epsilon=epsilon)


def count_of_frame(frame: Any, size: int, rng: np.random.Generator, *, epsilon: float) -> Any:
    return laplace(float(len(frame)), size, rng, epsilon=epsilon)


def coin(_: Any, size: int, rng: np.random.Generator, *, probability: float) -> Any:
    return rng.random(size) < probability


def response_of_each(included: Any, rng: np.random.Generator, *, epsilon: float) -> Any:
    """Answer for each canary, truthfully with the probability that ε allows."""
    truth = np.isin(np.arange(CANARIES), included)
    return truth ^ (rng.random(CANARIES) < 1 / (1 + np.exp(epsilon)))


def noise_on_each(included: Any, rng: np.random.Generator, *, sigma: float) -> Any:
    return np.isin(np.arange(CANARIES), included) + rng.normal(0, sigma, CANARIES)


def own_place(output: Any, canary: int) -> float:
    return float(output[canary])


def canaries(*, apart: bool = False) -> Canaries:
    return Canaries(list(range(CANARIES)), own_place, apart=apart)


def audited(
    seed: int, mechanism: Any, parameters: Mapping[str, float], claim: Any, **given: Any
) -> auditor.AuditResult:
    options: dict[str, Any] = {"domain": [(0, 1)], "shrink": False, **given}
    return auditor.audit(
        mechanism,
        claim,
        options.pop("domain"),
        parameters=dict(parameters),
        confidence=1 - ALPHA,
        seed=seed,
        workers=1,
        isolate=False,
        prove=False,
        **options,
    )


def is_refuted(seed: int, *what: Any, **given: Any) -> bool:
    return audited(seed, *what, **given).verdict == "violation"


def exceeds(seed: int, parameters: Mapping[str, float], truth: float, *, origin: Any) -> bool:
    """Whether a bound from scores, μ or ε at δ = 0.05, passes the truth of Gaussian noise."""
    rng = np.random.default_rng(seed)
    inside = rng.random(SCORES) < 0.5
    scores = rng.normal(0, parameters["sigma"], SCORES) + inside
    proved = auditor.audit_scores(
        scores[inside], scores[~inside], origin, delta=gaussian_delta(1.0, truth), confidence=1 - ALPHA
    )
    return proved.mu > truth or proved.epsilon > 1.0


def got_worse(seed: int, parameters: Mapping[str, float], _: Any) -> bool:
    """Whether a comparison of two seeds says that something got worse; the second has the parameters."""
    sides = [(2 * seed, AT_EPSILON), (2 * seed + 1, parameters)]
    results = [audited(at, laplace, given, auditor.PureDP(2.0), samples=20_000) for at, given in sides]
    old, new = (RunResult("run", 1 - ALPHA, [result], 1.0) for result in results)
    return any(change.kind == "worse" for change in compare(old, new))


@dataclass(frozen=True)
class Case:
    """A mechanism that is looked at again and again, at its claim, and the parameters of a twin that breaks it."""

    what: Callable[..., bool]
    sound: Mapping[str, float]
    broken: Mapping[str, float]
    claim: Any
    given: Mapping[str, Any] = field(default_factory=dict)
    runs: int = RUNS
    nominal: float = ALPHA

    def alarms(self, seeds: range, parameters: Mapping[str, float]) -> int:
        return sum(self.what(seed, parameters, self.claim, **self.given) for seed in seeds)


def of(mechanism: Any, sound: Mapping[str, float], claim: Any, *, runs: int = RUNS, **given: Any) -> Case:
    """Return a case of a mechanism, with a twin whose loss is 1.6 times what it may be."""
    broken = {
        name: value / 1.6 if name == "sigma" else min(1.6 * value, 0.9) if name == "probability" else 1.6 * value
        for name, value in sound.items()
    }
    return Case(functools.partial(_on, mechanism), sound, broken, claim, given, runs)


def _on(mechanism: Any, seed: int, parameters: Mapping[str, float], claim: Any, **given: Any) -> bool:
    return is_refuted(seed, mechanism, parameters, claim, **given)


def _of_claim(
    name: str, mechanism: Any, parameters: Mapping[str, float], claim: Any, **outputs: int
) -> dict[str, Case]:
    """Return the cases of one claim, by each method that takes it: its name, and how many outputs it has."""
    return {
        f"{name}, {method.replace('_', '-')}": of(
            mechanism, parameters, claim, method=method.replace("_", "-"), samples=size
        )
        for method, size in outputs.items()
    }


CASES = {
    **_of_claim(
        "ε, randomised response", randomised_response, AT_EPSILON, PURE, fixed=500, sequential=1_000, two_intervals=500
    ),
    **_of_claim("ε, Laplace", laplace, AT_EPSILON, PURE, fixed=500, sequential=1_000, two_intervals=500),
    **_of_claim("(ε, δ), revealing", revealing, AT_DELTA, MIXED, fixed=500, sequential=1_000, two_intervals=500),
    **_of_claim("profile, revealing", revealing, AT_DELTA, PROFILE, fixed=500),
    **_of_claim("μ, Gaussian", gaussian, AT_SIGMA, auditor.GaussianDP(1.0), fixed=500, sequential=1_000),
    **_of_claim("ρ, Gaussian", gaussian, AT_SIGMA, auditor.ZeroConcentratedDP(0.5), fixed=5_000, sequential=2_000),
    **_of_claim(
        "Rényi of order 2, Gaussian", gaussian, AT_SIGMA, auditor.RenyiDP(2.0, 1.0), fixed=10_000, sequential=5_000
    ),
    "probability, coin": of(coin, {"probability": 0.5}, auditor.Probability(0.5, at_most=True), samples=500),
    "ε, one budget, Laplace": of(laplace, AT_EPSILON, PURE, domain=ONE, outputs=2_000),
    "ε, one budget, discrete Laplace": of(discrete_laplace, AT_EPSILON, PURE, domain=ONE, outputs=2_000),
    "ε, records": of(sum_of_records, AT_EPSILON, PURE, domain=RECORDS, outputs=2_000),
    "ε, frame": of(count_of_frame, AT_EPSILON, PURE, domain=FRAME, outputs=2_000),
    "ε, smallest pair": of(discrete_laplace, AT_EPSILON, PURE, domain=ONE, outputs=2_000, shrink=True),
    "ε, a tenth of a second": of(randomised_response, AT_EPSILON, PURE, seconds=0.1),
    "ε, canaries": of(response_of_each, AT_EPSILON, PURE, domain=canaries(), method="one-run"),
    "ε, canaries apart": of(response_of_each, AT_EPSILON, PURE, domain=canaries(apart=True), method="one-run"),
    "μ, canaries": of(noise_on_each, AT_SIGMA, auditor.GaussianDP(1.0), domain=canaries(), method="one-run"),
    "μ, canaries apart": of(
        noise_on_each, AT_SIGMA, auditor.GaussianDP(1.0), domain=canaries(apart=True), method="one-run"
    ),
    **{
        f"scores, {origin}": Case(exceeds, AT_SIGMA, {"sigma": 0.5}, 1.0, {"origin": origin})
        for origin in ("independent-runs", "one-run", "one-run-apart")
    },
    "compare, two seeds": Case(got_worse, AT_EPSILON, {"epsilon": 1.9}, None, runs=1_000, nominal=0.001),
    "ε, randomised response, sequential to 10⁵ outputs": of(
        randomised_response, AT_EPSILON, PURE, method="sequential", samples=100_000, runs=200
    ),
}
CHUNK = 50


def _alarms(name: str, seeds: range, is_broken: bool) -> int:
    return CASES[name].alarms(seeds, CASES[name].broken if is_broken else CASES[name].sound)


def _rate(name: str, runs: int, is_broken: bool) -> float:
    chunks = (range(first, min(first + CHUNK, runs)) for first in range(0, runs, CHUNK))
    return float(sum(Parallel(n_jobs=-1)(delayed(_alarms)(name, seeds, is_broken) for seeds in chunks)))


def measure(only: str = "") -> dict[str, Any]:
    rows = {}
    for name, case in CASES.items():
        if only not in name:
            continue
        alarms = int(_rate(name, case.runs, is_broken=False))
        limits = (float(limit(alarms, case.runs, 0.025)) for limit in (clopper_pearson_lower, clopper_pearson_upper))
        rows[name] = {
            "runs": case.runs,
            "alarms": alarms,
            "nominal": case.nominal,
            "rate": alarms / case.runs,
            "interval": list(limits),
            "twin is found": _rate(name, TWINS, is_broken=True) / TWINS,
        }
        print(name, rows[name], flush=True)
    return rows
