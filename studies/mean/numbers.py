"""Errors on synthetic ages, the smoothed sensitivity, and privacy profiles δ(ε), exact and estimated from outputs."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray

from auditor.bounds.intervals import clopper_pearson_lower, clopper_pearson_upper
from auditor.neighbours.pair import Pair, pair_words
from mechanisms.exact.divergences import exact_delta
from mechanisms.mean import laplace_at_local_sensitivity, noisy_sum_over_noisy_count
from mechanisms.propose_test_release import ptr_as_printed, ptr_corrected
from mechanisms.sample_and_aggregate import saa_as_printed, saa_corrected
from mechanisms.smooth_sensitivity import smooth_as_printed, smooth_corrected, smoothed_as_printed, smoothed_corrected
from studies.study import truth_of

Reals = NDArray[np.float64]

# The document's numbers; the Adult data are not available here.
ROWS, U, B, EPSILON = 32_561, 100.0, 0.005, 1.0
TRIALS = 10_000
CHUNKS = (10, 1000, 6000)
# Profiles are evaluated on small data sets in [0, 1], which have the worst neighbours.
GRID = np.round(np.linspace(0, 6, 31), 2)
SAMPLED_AT, SAMPLED, CONFIDENCE = (0.25, 0.5, 1.0, 1.5, 3.0), 1_000_000, 0.999
DELTA = 1e-3


def ages() -> Reals:
    """Return 32,561 ages with about the mean and spread of the Adult data, all distinct in their last digits.

    A record's chunk is determined by its value, so people of the same age must not all share a chunk.
    """
    rng = np.random.default_rng(32_561)
    whole = np.clip(np.floor(17 + rng.gamma(2.3, 9.5, ROWS)), 17, 90)
    return np.asarray(whole + 1e-6 * rng.random(ROWS))


def measure() -> dict[str, Any]:
    data = ages()
    return {
        "rows": ROWS,
        "mean": data.mean(),
        "deviation": data.std(),
        "delta": 1 / ROWS**2,
        "errors": errors(data),
        "smooth": smooth(),
        "propose_test_release": propose_test_release(),
        "profiles": Parallel(n_jobs=-1)(delayed(profile)(case) for case in CASES),
    }


def errors(data: Reals) -> dict[str, Any]:
    """Return percent errors of the mean at ε = 1: histograms, means and the rate of refusals."""
    delta = 1 / ROWS**2
    common: dict[str, Any] = {"u": U, "epsilon": EPSILON}
    mechanisms: dict[str, Callable[..., Reals]] = {
        "global sensitivity": partial(noisy_sum_over_noisy_count, **common),
        "propose-test-release, printed": partial(ptr_as_printed, b=B, delta=delta, **common),
        "propose-test-release, corrected": partial(ptr_corrected, b=B, delta=delta, **common),
        "smooth sensitivity, printed": partial(smooth_as_printed, delta=delta, **common),
        "smooth sensitivity, corrected": partial(smooth_corrected, delta=delta, **common),
    }
    for k in CHUNKS:
        aggregate: dict[str, Any] = {"k": k, "low": 20.0, "high": 80.0, "epsilon": EPSILON}
        mechanisms[f"sample and aggregate, k = {k}, printed"] = partial(saa_as_printed, **aggregate)
        mechanisms[f"sample and aggregate, k = {k}, corrected"] = partial(saa_corrected, **aggregate)
    percent = {
        name: 100 * np.abs(mechanism(data, TRIALS, np.random.default_rng([1, place])) / data.mean() - 1)
        for place, (name, mechanism) in enumerate(mechanisms.items())
    }
    kept = {name: values[np.isfinite(values)] for name, values in percent.items()}
    groups = ["propose-test-release", "smooth sensitivity", *(f"sample and aggregate, k = {k}" for k in CHUNKS)]
    return {
        "summaries": {
            name: {
                "mean": values.mean(),
                "standard_error": values.std() / math.sqrt(len(values)),
                "refused": 1 - len(values) / TRIALS,
            }
            for name, values in kept.items()
        },
        "histograms": {group: histogram(group, kept) for group in groups},
    }


def histogram(group: str, percent: dict[str, Reals]) -> dict[str, Any]:
    """Return the counts of a group of mechanisms, and of global sensitivity, over common bins."""
    names = [name for name in percent if name.startswith(f"{group}, ")]
    edges = np.linspace(0, max(float(np.quantile(percent[name], 0.99)) for name in names), 41)
    counts = {name: np.histogram(percent[name], edges)[0] for name in ("global sensitivity", *names)}
    return {"edges": edges, "counts": counts}


def smooth() -> dict[str, Any]:
    """Return e^(−βk) A(k) over k for the document's data, the final 2S of both versions, and where the printed S drops by half."""
    beta = EPSILON / (2 * math.log(2 * ROWS**2))
    k = np.arange(0, 200)
    small = 0.1 / (2 * math.log(2 / DELTA))
    around = range(190, 211)
    every = np.unique(np.concatenate([np.arange(0, ROWS, 100), np.arange(ROWS - 600, ROWS + 1)]))
    return {
        "beta": beta,
        "k": k,
        "printed": np.exp(-beta * k) * U / (ROWS - k + 1),
        "every_k": every,
        "every": np.exp(-beta * every) * U / np.maximum(1, ROWS - every),
        "final_printed": 2 * smoothed_as_printed(ROWS, U, beta),
        "final_corrected": 2 * smoothed_corrected(ROWS, U, beta),
        "cliff": {
            "epsilon": 0.1,
            "n": list(around),
            "printed": [smoothed_as_printed(n, 1.0, small) for n in around],
            "corrected": [smoothed_corrected(n, 1.0, small) for n in around],
        },
    }


def propose_test_release() -> dict[str, Any]:
    """Return how far the probability of passing the test at distance 0 exceeds δ: in closed form, exactly, and sampled."""
    sides = [np.array([]), np.array([1.0])]
    rows = []
    for delta in (1e-3, 1e-4):
        parameters = {"u": 1.0, "b": 0.01, "epsilon": 1.0, "delta": delta}
        exact = exact_delta(*truth_of(ptr_as_printed, *sides, **parameters), 1.0)
        repaired = exact_delta(*truth_of(ptr_corrected, *sides, **parameters), 1.0)
        outputs = [
            ptr_as_printed(side, SAMPLED, np.random.default_rng([2, at]), **parameters) for at, side in enumerate(sides)
        ]
        # A release near 1 reveals that the record is present.
        hits = [int(np.sum(output > 0.5)) for output in outputs]
        rows.append(
            {
                "delta": delta,
                "closed_form": math.sqrt(delta / 2) / 2,
                "exact": exact.value,
                "error": exact.error,
                "corrected": repaired.value,
                "sampled": _lower(hits[1], hits[0], SAMPLED, 1.0, 1 - CONFIDENCE),
            }
        )
    return {
        "points": rows,
        "document": {"delta": 1 / ROWS**2, "factor": ROWS / (2 * math.sqrt(2)), "at_most_records": U / B - 1},
    }


def _lower(hits: int, others: int, trials: int, epsilon: float, alpha: float) -> float:
    """Return a lower bound on P[S] − e^ε P′[S] that holds with probability 1 − α."""
    low = float(clopper_pearson_lower(hits, trials, alpha / 2))
    high = float(clopper_pearson_upper(others, trials, alpha / 2))
    return low - math.exp(epsilon) * high


@dataclass(frozen=True, slots=True)
class Case:
    """A mechanism as printed and as corrected (None if there is only one), its claim, and the neighbours to evaluate."""

    name: str
    printed: Any
    corrected: Any
    parameters: dict[str, Any]
    delta: float
    pairs: Sequence[tuple[list[float], list[float]]]


def _added(sizes: Sequence[int], value: float = 1.0) -> list[tuple[list[float], list[float]]]:
    """Return pairs of n equal records with and without one more, at either end of [0, 1]."""
    return [([v] * n, [*[v] * n, value - v]) for n in sizes for v in (0.0, value)]


CASES = (
    Case(
        "Laplace at the local sensitivity",
        laplace_at_local_sensitivity,
        None,
        {"u": 1.0, "epsilon": 1.0},
        0.0,
        _added([0, 1, 2, 10, 100]),
    ),
    Case(
        "propose-test-release",
        ptr_as_printed,
        ptr_corrected,
        {"u": 1.0, "b": 0.01, "epsilon": 1.0, "delta": DELTA},
        DELTA,
        [*_added([0, 1, 50, 98, 99, 100, 101, 105, 120]), *(([1.0] * n, [1.0] * (n + 1)) for n in (98, 99, 100))],
    ),
    Case(
        "smooth sensitivity, small data",
        smooth_as_printed,
        smooth_corrected,
        {"u": 1.0, "epsilon": 1.0, "delta": DELTA},
        DELTA,
        _added([0, 1, 2, 5, 10, 20, 40]),
    ),
    Case(
        "smooth sensitivity, ε = 0.1",
        smooth_as_printed,
        smooth_corrected,
        {"u": 1.0, "epsilon": 0.1, "delta": DELTA},
        DELTA,
        _added([100, 150, 197, 198, 199, 200, 201, 205]),
    ),
    Case(
        "sample and aggregate, k = 10",
        saa_as_printed,
        saa_corrected,
        {"k": 10, "low": 20.0, "high": 80.0, "epsilon": 1.0},
        0.0,
        [([100.0], [100.0, 0.0]), ([0.0], [0.0, 100.0]), *_added([9, 10, 11, 20, 30], 100.0)],
    ),
    Case(
        "noisy sum over noisy count",
        noisy_sum_over_noisy_count,
        None,
        {"u": 1.0, "epsilon": 1.0},
        0.0,
        _added([0, 1, 10, 100]),
    ),
)


def profile(case: Case) -> dict[str, Any]:
    """Return δ(ε), the maximum over the pairs, and sampled lower bounds on the pair that is worst at the claimed ε."""
    entry: dict[str, Any] = {
        "name": case.name,
        "claimed_epsilon": case.parameters["epsilon"],
        "claimed_delta": case.delta,
        "epsilon": GRID * case.parameters["epsilon"],
    }
    for kind, mechanism in (("printed", case.printed), ("corrected", case.corrected)):
        if mechanism is None:
            continue
        sides = [truth_of(mechanism, *(np.array(side) for side in pair), **case.parameters) for pair in case.pairs]
        at_claim = [exact_delta(left, right, case.parameters["epsilon"]).value for left, right in sides]
        worst = int(np.argmax(at_claim))
        # The pairs that are worst at the claimed ε and at three times as much decide the curve.
        beyond = [exact_delta(left, right, 3 * case.parameters["epsilon"]).value for left, right in sides]
        near = {i for at in (at_claim, beyond) for i in np.argsort(at)[-2:].tolist()}
        curves = [[exact_delta(sides[i][0], sides[i][1], float(at)) for at in entry["epsilon"]] for i in near]
        best = [max(column, key=lambda delta: delta.value) for column in zip(*curves, strict=True)]
        entry[kind] = {
            "delta": [delta.value for delta in best],
            "error": max(delta.error for delta in best),
            "at_claim": at_claim[worst],
            "pair": pair_words(Pair(*case.pairs[worst])),
            "sampled": sampled(mechanism, case, case.pairs[worst]),
        }
    return entry


def sampled(mechanism: Any, case: Case, pair: tuple[list[float], list[float]]) -> list[dict[str, float]]:
    """Return lower bounds on δ at a few ε, jointly at 99.9 % confidence: half of the outputs select events, half count them."""
    outputs = [
        mechanism(np.array(side), SAMPLED, np.random.default_rng([3, at]), **case.parameters)
        for at, side in enumerate(pair)
    ]
    half = SAMPLED // 2
    choosing, counting = ([output[part] for output in outputs] for part in (slice(half), slice(half, None)))
    released = np.concatenate(choosing)
    released = released[np.isfinite(released)]
    cuts = np.quantile(released, np.linspace(0.0005, 0.9995, 200))
    events: list[Callable[[Reals], NDArray[np.bool_]]] = [np.isnan, np.isfinite]
    for low, high in (*((-math.inf, cut) for cut in cuts), *((cut, math.inf) for cut in cuts)):
        events.append(partial(_between, low=low, high=high))
    center = np.median(released)
    for width in np.quantile(np.abs(released - center), np.linspace(0.01, 0.999, 50)):
        events.append(partial(_between, low=center - width, high=center + width))
    rates = np.array([[event(side).mean() for side in choosing] for event in events])
    bounds = []
    for epsilon in SAMPLED_AT:
        loss = math.exp(epsilon * case.parameters["epsilon"])
        excess = np.stack([rates[:, 0] - loss * rates[:, 1], rates[:, 1] - loss * rates[:, 0]])
        side, chosen = np.unravel_index(int(excess.argmax()), excess.shape)
        hits = [int(events[chosen](output).sum()) for output in counting]
        bound = _lower(
            hits[side],
            hits[1 - side],
            half,
            epsilon * case.parameters["epsilon"],
            (1 - CONFIDENCE) / len(SAMPLED_AT),
        )
        bounds.append({"epsilon": epsilon * case.parameters["epsilon"], "delta": max(0.0, bound)})
    return bounds


def _between(outputs: Reals, low: float, high: float) -> NDArray[np.bool_]:
    return np.asarray((outputs > low) & (outputs <= high))
