"""Lower bounds on 20 mechanisms of the literature at ε = 0.1 and 90 % confidence, where the search has to find the pair in the
domain.

"published" are figures of DP-Sniper (Bichsel et al. 2021), most of them from 6·10⁸ outputs, or what a bound on the same
mechanism should reach. Ours use at most 2·10⁷ outputs in all, with the same settings in every row. A row counts as reached at
the published figure or at 97 % of the exact value on the pair found, whichever is less. ``CLAIMS`` are the two claims given to
the audits: the mechanism's parameter, and a claim that reveals nothing about where to search.
"""

import statistics
import time
from typing import Any

import auditor
from mechanisms import additive, classics, noisy_max, rappor, sparse_vector

CONFIDENCE, SAMPLES, SEEDS, CLAIMS = 0.9, 10_000_000, 5, (0.1, 50.0)
OF_THE_TRUTH = 0.97
ONE = auditor.Totals(cells=1, values=(-10, 10), contribution={"l1": 1}, integer=False)
WORD = auditor.Totals(cells=1, values=(0, 5), contribution={"l1": 1})
HISTOGRAM = auditor.Totals(cells=5, values=(0, 10), contribution={"l1": 1})
FIVE = auditor.Totals(cells=5, values=(-10, 10), contribution={"linf": 1})
TEN = auditor.Totals(cells=10, values=(-10, 10), contribution={"linf": 1})
VALUE = auditor.Value(range=(-10, 10))
E: dict[str, Any] = {"epsilon": 0.1}
BITS: dict[str, Any] = {"bits": 20, "hashes": 4}
# name: mechanism, parameters, domain, published
CASES: dict[str, tuple[Any, dict[str, Any], Any, float]] = {
    "Laplace": (additive.laplace, {"sensitivity": 1, **E}, ONE, 0.0976),
    "noisy histogram": (classics.noisy_histogram, E, HISTOGRAM, 0.0976),
    "noisy histogram, scale ε": (classics.noisy_histogram_of_scale_epsilon, E, HISTOGRAM, 9.0),
    "Laplace in parallel": (classics.laplace_parallel, {**E, "times": 20}, ONE, 0.035),
    "prefix sums": (classics.prefix_sums, E, TEN, 0.6),
    "truncated geometric": (classics.truncated_geometric_natural_logarithm, {**E, "n": 5}, WORD, 0.1156),
    "noisy max, index, Laplace": (noisy_max.index_with_laplace, E, FIVE, 0.0925),
    "noisy max, index, exponential": (noisy_max.index_with_exponential, E, FIVE, 0.0975),
    "noisy max, value, Laplace": (noisy_max.value_with_laplace, E, FIVE, 0.24),
    "noisy max, value, exponential": (noisy_max.value_with_exponential, E, FIVE, 1.0),
    "one-time RAPPOR": (rappor.one_time_rappor, {**BITS, "f": 0.95}, VALUE, 0.6),
    "RAPPOR": (rappor.rappor, {**BITS, "f": 0.75, "p": 0.45, "q": 0.55}, VALUE, 0.301),
    "sparse vector 1": (sparse_vector.svt_1, {**E, "threshold": 0.5, "cutoff": 1}, TEN, 0.085),
    "sparse vector 2": (sparse_vector.svt_2, {**E, "threshold": 1, "cutoff": 1}, TEN, 0.085),
    "sparse vector 3": (sparse_vector.svt_3, {**E, "threshold": 1, "cutoff": 1}, TEN, 0.18),
    "sparse vector 4": (sparse_vector.svt_4, {**E, "threshold": 1, "cutoff": 1}, TEN, 0.165),
    "sparse vector 5": (sparse_vector.svt_5, {**E, "threshold": 1}, TEN, 1.761),
    "sparse vector 6": (sparse_vector.svt_6, {**E, "threshold": 1}, TEN, 0.27),
    "numerical sparse vector": (sparse_vector.numerical_svt, {**E, "threshold": 1, "cutoff": 2}, TEN, 0.034),
    "sparse vector 3 and 4": (sparse_vector.svt_3_and_4, {**E, "threshold": 1, "cutoff": 2}, TEN, 0.26),
}


def measure(only: str = "") -> dict[str, Any]:
    rows = {}
    for name in CASES:
        if only not in name:
            continue
        for claim in CLAIMS:
            runs = [_one(name, claim, seed) for seed in range(1, SEEDS + 1)]
            rows[f"{name}, claim {claim:g}"] = {
                "bound, median": statistics.median(run["bound"] for run in runs),
                "published": CASES[name][3],
                "seeds that reach it": sum(run["reached"] for run in runs),
                "seconds, median": statistics.median(run["seconds"] for run in runs),
                "runs": runs,
            }
            print(name, claim, [(run["bound"], run["reached"]) for run in runs], flush=True)
    return {"confidence": CONFIDENCE, "samples": SAMPLES, "rows": rows}


def _one(name: str, claim: float, seed: int) -> dict[str, Any]:
    mechanism, parameters, domain, published = CASES[name]
    started = time.perf_counter()
    result = auditor.audit(
        mechanism,
        auditor.PureDP(claim),
        domain,
        parameters=parameters,
        confidence=CONFIDENCE,
        samples=SAMPLES,
        shrink=False,
        seed=seed,
    )
    assert result.bound is not None and result.pair is not None and result.event is not None
    truth = None if result.exact is None else result.exact.value
    return {
        "bound": result.bound.value,
        "reached": result.bound.value >= min(published, OF_THE_TRUTH * (truth or published)),
        "truth on the pair": truth,
        "pair": result.pair.to_dict(),
        "event": result.event["description"],
        "seconds": time.perf_counter() - started,
    }
