"""The type I error of the whole pipeline on mechanisms exactly at their claim, for every kind of claim, method and data.

Audits run at 95 % confidence on the boundary of the null hypothesis, where false alarms are most likely. Each rate comes with
its 95 % Clopper-Pearson interval. A twin that breaks its claim must be refuted far more often, otherwise the case would show
nothing. The intervals and bounds themselves are enumerated exactly in tests/unit/bounds.

Each kind of claim is audited by each method on a given pair, on a pair found by the search, and under a limit of seconds.
Further cases cover other data and other ways to end an audit, canaries, scores, several audits in one file, and comparisons.
``LOKY_MAX_CPU_COUNT`` limits the number of processes.
"""

import functools
import json
import math
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
from joblib import Parallel, delayed
from scipy.special import ndtr, ndtri

import auditor
from auditor import auditing
from auditor.auditing.flow import carry_out
from auditor.auditing.outcome import settle
from auditor.auditing.remeasure import remeasured
from auditor.bounds.conversions import gaussian_delta
from auditor.bounds.intervals import clopper_pearson_lower, clopper_pearson_upper
from auditor.claims import Unclaimed
from auditor.neighbours.canaries import Canaries
from auditor.report.compare import FALSE_RISE, compare
from auditor.results.result import RunResult
from benchmarks._mechanisms import discrete_laplace, gaussian, laplace, randomised_response, revealing

ALPHA, RUNS, TWINS = 0.05, 2_000, 100
# The loss of a twin is this many times its claim.
BROKEN = 5
# A limit that ends an audit before its outputs are drawn.
SECONDS = 0.01
AT_EPSILON, AT_DELTA, AT_SIGMA = {"epsilon": 1.0}, {"epsilon": 1.0, "delta": 0.05}, {"sigma": 1.0}
PURE, MIXED, GAUSSIAN = auditor.PureDP(1.0), auditor.ApproximateDP(1.0, 0.05), auditor.GaussianDP(1.0)
TRUTHFUL = 1 / (1 + math.exp(-1.0))  # the probability of a true response at ε = 1
# The exact privacy profile of `revealing`.
PROFILE = auditor.PrivacyProfile(
    [(0.5, 0.05 + 0.95 * (TRUTHFUL - math.exp(0.5) * (1 - TRUTHFUL))), (1.0, 0.05), (2.0, 0.05)]
)
# The exact trade-off curves of `revealing`, and of Gaussian noise at μ = 1.
CURVE = auditor.Tradeoff([(0, 0.95), (0.95 * (1 - TRUTHFUL), 0.95 * (1 - TRUTHFUL)), (0.95, 0), (1, 0)])
GAUSSIAN_CURVE = auditor.Tradeoff.from_function(lambda alpha: float(ndtr(-ndtri(alpha) - 1)))
BITS = auditor.Value(values=[0, 1])
ONE = auditor.Totals(cells=1, values=(0, 3), contribution={"l1": 1})
RECORDS = auditor.Records((0, 3), size=(0, 3), relation="add_remove")
MANY = auditor.Records((0, 1), size=(0, 30), relation="add_remove")
FRAME = auditor.Frame(
    {"value": {"type": "number", "low": 0, "high": 1}, "group": {"type": "categorical", "choices": ["a", "b"]}},
    size=(0, 3),
)
CANARIES, SCORES = 32, 100


# --- Mechanisms whose privacy loss equals their claim ---


def number_of_rows(rows: Any, size: int, rng: np.random.Generator, *, epsilon: float) -> Any:
    return laplace(float(len(rows)), size, rng, epsilon=epsilon)


def rows_or_all(frame: Any, size: int, rng: np.random.Generator, *, epsilon: float, delta: float) -> Any:
    """Release the exact number of rows, as text, with probability δ, otherwise a noisy one."""
    noisy = number_of_rows(frame, size, rng, epsilon=epsilon)
    return [str(len(frame)) if shown else answer for shown, answer in zip(rng.random(size) < delta, noisy, strict=True)]


def three_numbers(value: float, size: int, rng: np.random.Generator, *, epsilon: float) -> Any:
    """Release three numbers, of which only the last depends on the data."""
    return np.column_stack([rng.normal(size=(size, 2)), laplace(value, size, rng, epsilon=epsilon)])


def sometimes_raises(bit: int, size: int, rng: np.random.Generator, *, epsilon: float) -> Any:
    """Raise with a probability that differs by a factor of e^ε between the bits; one failing output makes its whole batch raise."""
    if (rng.random(size) < 0.01 * (math.exp(epsilon) if bit else 1.0)).any():
        raise ValueError("no answer")
    return np.zeros(size)


def coin(_: Any, size: int, rng: np.random.Generator, *, probability: float) -> Any:
    return rng.random(size) < probability


def clipped_sum(records: Any, *, most: float) -> float:
    return float(np.sum(np.clip(records, 0, most)))


def count_that_falls(records: Any, *, by: float) -> float:
    return len(records) - by * (len(records) == 3)


def response_of_each(included: Any, rng: np.random.Generator, *, epsilon: float, delta: float = 0.0) -> Any:
    """Answer for each canary as `revealing` answers for a bit."""
    truth = np.isin(np.arange(CANARIES), included)
    response = truth ^ (rng.random(CANARIES) < 1 / (1 + np.exp(epsilon)))
    return np.where(rng.random(CANARIES) < delta, 3 * truth - 1, response)


def noise_on_each(included: Any, rng: np.random.Generator, *, sigma: float) -> Any:
    return np.isin(np.arange(CANARIES), included) + rng.normal(0, sigma, CANARIES)


def own_place(output: Any, canary: int) -> float:
    return float(output[canary])


def canaries(*, apart: bool, runs: int = 1) -> Canaries:
    return Canaries(list(range(CANARIES)), own_place, apart=apart, runs=runs)


# --- Experiments: whether one ends in a false alarm ---

Parameters = Mapping[str, float]


def _plan(seed: int, parameters: Parameters, *, mechanism: Any, claim: Any, **given: Any) -> auditing.Plan:
    options: dict[str, Any] = {"domain": [(0, 1)], "shrink": False, **given}
    return auditing.planned(
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


def is_refuted(seed: int, parameters: Parameters, **given: Any) -> bool:
    return auditing.run(_plan(seed, parameters, **given)).verdict == "violation"


def is_refuted_in_time(seed: int, parameters: Parameters, **given: Any) -> bool:
    """Measure the limit in processor seconds, since other load on the machine would use up such a short limit."""
    with mock.patch.object(time, "monotonic", time.process_time):
        return is_refuted(seed, parameters, **given)


def is_measured_beyond(seed: int, parameters: Parameters, **given: Any) -> bool:
    """Whether the bound of an audit without a claim exceeds the true loss of 1."""
    bound = auditing.run(replace(_plan(seed, parameters, **given), claim=Unclaimed())).bound
    return bound is not None and bound.value > 1.0


def any_is_refuted(seed: int, parameters: Parameters) -> bool:
    """Whether any of three audits in a file is refuted; only the first depends on the parameters."""
    ended = [
        carry_out(_plan(seed, given, mechanism=mechanism, claim=claim, samples=500, name=mechanism.__name__))
        for mechanism, given, claim in (
            (randomised_response, parameters, PURE),
            (discrete_laplace, AT_EPSILON, PURE),
            (gaussian, AT_SIGMA, GAUSSIAN),
        )
    ]
    return any(result.verdict == "violation" for result in settle(ended, ALPHA, len(ended)))


def exceeds(seed: int, parameters: Parameters, *, origin: Any) -> bool:
    """Whether a bound from scores exceeds the exact value for Gaussian noise: μ = 1, the ε of that at its δ, or a δ of its
    profile.
    """
    rng = np.random.default_rng(seed)
    inside = rng.random(SCORES) < 0.5
    scores = rng.normal(0, parameters["sigma"], SCORES) + inside
    delta = gaussian_delta(1.0, 1.0)
    proved = auditor.audit_scores(scores[inside], scores[~inside], origin, delta=delta, confidence=1 - ALPHA)
    return (
        proved.mu > 1.0
        or proved.epsilon > 1.0
        or any(delta > gaussian_delta(1.0, epsilon) for epsilon, delta in proved.profile)
    )


def got_worse(seed: int, parameters: Parameters, *, before: Parameters, **given: Any) -> bool:
    """Whether a comparison between two seeds reports that something got worse; the second run has the given parameters."""
    earlier, plan = _plan(2 * seed, before, **given), _plan(2 * seed + 1, parameters, **given)
    old, new = (RunResult("run", 1 - ALPHA, [auditing.run(audit)], 1.0) for audit in (earlier, plan))
    return any(change.kind == "worse" for change in compare(old, new, functools.partial(remeasured, plan)))


# --- The cases ---


@dataclass(frozen=True)
class Case:
    """An experiment repeated over seeds, with the parameters of a mechanism at its claim and of a twin that breaks it."""

    is_alarm: Callable[[int, Parameters], bool]
    sound: Parameters
    broken: Parameters
    runs: int = RUNS
    nominal: float = ALPHA

    def alarms(self, seeds: range, parameters: Parameters) -> int:
        return sum(self.is_alarm(seed, parameters) for seed in seeds)


def case(
    look: Callable[..., bool], sound: Parameters, *, runs: int = RUNS, nominal: float = ALPHA, **given: Any
) -> Case:
    broken = {
        name: value / BROKEN
        if name == "sigma"
        else min(BROKEN * value, 0.9)
        if name == "probability"
        else BROKEN * value
        for name, value in sound.items()
    }
    return Case(functools.partial(look, **given), sound, broken, runs, nominal)


ALL = {"fixed": 500, "two-intervals": 500}
# By claim and mechanism: parameters, the claim, a domain with a pair at the claim, and the number of outputs of each method.
PAIRWISE: dict[str, tuple[Any, Parameters, Any, Any, dict[str, int]]] = {
    "ε, randomised response": (randomised_response, AT_EPSILON, PURE, BITS, ALL),
    "ε, Laplace": (laplace, AT_EPSILON, PURE, ONE, ALL),
    "ε, discrete Laplace": (discrete_laplace, AT_EPSILON, PURE, ONE, {"fixed": 500}),
    "(ε, δ), revealing": (revealing, AT_DELTA, MIXED, BITS, ALL),
    "profile, revealing": (revealing, AT_DELTA, PROFILE, BITS, {"fixed": 500}),
    "μ, Gaussian": (gaussian, AT_SIGMA, GAUSSIAN, ONE, {"fixed": 500}),
    "ρ, Gaussian": (gaussian, AT_SIGMA, auditor.ZeroConcentratedDP(0.5), ONE, {"fixed": 500}),
    "Rényi of order 2, Gaussian": (gaussian, AT_SIGMA, auditor.RenyiDP(2.0, 1.0), ONE, {"fixed": 500}),
}  # fmt: skip


def _pairwise() -> dict[str, Case]:
    cases = {}
    for name, (mechanism, sound, claim, domain, methods) in PAIRWISE.items():
        for method, outputs in methods.items():
            ways: dict[str, dict[str, Any]] = {
                "": {"samples": outputs},
                ", pair found": {"domain": domain, "samples": outputs},
                ", seconds": {"seconds": SECONDS},
            }
            for way, given in ways.items():
                look = is_refuted_in_time if "seconds" in given else is_refuted
                cases[f"{name}, {method}{way}"] = case(
                    look, sound, mechanism=mechanism, claim=claim, method=method, **given
                )
    return cases


def _of(mechanism: Any, sound: Parameters, claim: Any, look: Callable[..., bool] = is_refuted, **given: Any) -> Case:
    return case(look, sound, mechanism=mechanism, claim=claim, **given)


def _canaries() -> dict[str, Case]:
    apart, once = canaries(apart=True), canaries(apart=False)
    return {
        "ε, canaries": _of(response_of_each, AT_EPSILON, PURE, domain=once, method="one-run"),
        "ε, canaries apart": _of(response_of_each, AT_EPSILON, PURE, domain=apart, method="one-run"),
        "ε, canaries apart, two runs": _of(
            response_of_each, AT_EPSILON, PURE, domain=canaries(apart=True, runs=2), method="one-run"
        ),
        "(ε, δ), canaries apart": _of(response_of_each, AT_DELTA, MIXED, domain=apart, method="one-run"),
        "profile, canaries apart": _of(response_of_each, AT_DELTA, PROFILE, domain=apart, method="one-run"),
        "μ, canaries, four runs": _of(
            noise_on_each, AT_SIGMA, GAUSSIAN, domain=canaries(apart=False, runs=4), method="one-run"
        ),
        "μ, canaries apart": _of(noise_on_each, AT_SIGMA, GAUSSIAN, domain=apart, method="one-run"),
        "ρ, canaries apart": _of(noise_on_each, AT_SIGMA, auditor.ZeroConcentratedDP(0.5), domain=apart, method="one-run"),
        "Rényi of order 2, canaries apart": _of(noise_on_each, AT_SIGMA, auditor.RenyiDP(2.0, 1.0), domain=apart, method="one-run"),
    }  # fmt: skip


def _compared(mechanism: Any, sound: Parameters, **given: Any) -> Case:
    return _of(mechanism, sound, runs=1_000, nominal=FALSE_RISE, look=got_worse, before=sound, **given)


CASES = {
    **_pairwise(),
    "trade-off curve, revealing": _of(revealing, AT_DELTA, CURVE, samples=500),
    "trade-off curve, revealing, pair found": _of(revealing, AT_DELTA, CURVE, domain=BITS, samples=500),
    "trade-off curve, Gaussian": _of(gaussian, AT_SIGMA, GAUSSIAN_CURVE, samples=500),
    "probability, coin": _of(coin, {"probability": 0.5}, auditor.Probability(0.5, at_most=True), samples=500),
    "sensitivity, clipped sum": _of(clipped_sum, {"most": 1.0}, auditor.Sensitivity(1.0), domain=RECORDS, nominal=0.0),
    "monotone, count": _of(count_that_falls, {"by": 1.0}, auditor.Monotone(), domain=RECORDS, nominal=0.0),
    "ε, records": _of(number_of_rows, AT_EPSILON, PURE, domain=RECORDS, samples=1_000),
    "ε, records, at a distance": _of(number_of_rows, {"epsilon": 0.1}, auditor.PureDP(0.1), domain=MANY, samples=2_000),
    "ε, frame": _of(number_of_rows, AT_EPSILON, PURE, domain=FRAME, samples=1_000),
    "(ε, δ), frame, numbers and text": _of(rows_or_all, AT_DELTA, MIXED, domain=FRAME, samples=1_000),
    "ε, three numbers": _of(three_numbers, AT_EPSILON, PURE, samples=1_000),
    "ε, outputs that raise": _of(sometimes_raises, AT_EPSILON, PURE, samples=1_000, batch=40),
    "ε, smallest pair": _of(discrete_laplace, AT_EPSILON, PURE, domain=ONE, samples=1_000, shrink=True),
    "ε, measured": _of(discrete_laplace, AT_EPSILON, PURE, is_measured_beyond, domain=ONE, samples=1_000),
    "any of three audits in a file": case(any_is_refuted, AT_EPSILON),
    "ε, randomised response, three rounds": _of(randomised_response, AT_EPSILON, PURE, samples=5_000),
    **_canaries(),
    **{
        f"scores, {origin}": case(exceeds, AT_SIGMA, origin=origin)
        for origin in ("independent-runs", "one-run", "one-run-apart")
    },
    "compare, Laplace": _compared(laplace, AT_EPSILON, claim=auditor.PureDP(2.0), samples=5_000),
    "compare, Laplace, pair found": _compared(laplace, AT_EPSILON, claim=auditor.PureDP(2.0), domain=ONE, samples=5_000),
    "compare, revealing": _compared(revealing, AT_DELTA, claim=auditor.ApproximateDP(2.0, 0.05), samples=5_000),
    "compare, ρ, Gaussian": _compared(gaussian, AT_SIGMA, claim=auditor.ZeroConcentratedDP(2.0), samples=5_000),
    "compare, Gaussian": _compared(gaussian, AT_SIGMA, claim=auditor.GaussianDP(2.0), samples=5_000),
}  # fmt: skip
CHUNK = 50


def _alarms(name: str, seeds: range, is_broken: bool) -> int:
    return CASES[name].alarms(seeds, CASES[name].broken if is_broken else CASES[name].sound)


def _counted(name: str, runs: int, is_broken: bool) -> int:
    chunks = (range(first, min(first + CHUNK, runs)) for first in range(0, runs, CHUNK))
    return sum(Parallel(n_jobs=-1)(delayed(_alarms)(name, seeds, is_broken) for seeds in chunks))


RESULTS = Path(__file__).parent / "results" / "false_alarms.json"


def measure() -> Iterator[dict[str, Any]]:
    """Yield all rows after each case. Existing rows are kept; to measure a case again, delete its row."""
    kept = json.loads(RESULTS.read_text(encoding="utf-8"))["figures"] if RESULTS.exists() else {}
    rows = {name: kept[name] for name in CASES if name in kept}
    yield rows
    for name, case in CASES.items():
        if name not in kept:
            alarms = _counted(name, case.runs, is_broken=False)
            limits = (
                float(limit(alarms, case.runs, 0.025)) for limit in (clopper_pearson_lower, clopper_pearson_upper)
            )
            rows[name] = {
                "runs": case.runs,
                "alarms": alarms,
                "nominal": case.nominal,
                "rate": alarms / case.runs,
                "interval": list(limits),
                "twins found": _counted(name, TWINS, is_broken=True) / TWINS,
            }
            yield {name: rows[name] for name in CASES if name in rows}
