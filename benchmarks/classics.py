"""The bound on the classics of the literature, built for ε = 0.1, at confidence 90 %: the pair found from the domain, not given.

"wanted" are the figures that DP-Sniper (Bichsel et al. 2021) publishes, in most rows from 6·10⁸ outputs; ours spend at most
2·10⁷ in all. Where the truth is infinite, the bound should pass 5. "truth" is the exact ε of the pair that was found.
"""

import time
from typing import Any

import auditor
from mechanisms import additive, classics, noisy_max, rappor, sparse_vector

CONFIDENCE = 0.9
MOST_OUTPUTS = 20_000_000
ONE = auditor.Totals(cells=1, values=(-10, 10), contribution={"l1": 1}, integer=False)
FIVE = auditor.Totals(cells=5, values=(-10, 10), contribution={"linf": 1})
TEN = auditor.Totals(cells=10, values=(-10, 10), contribution={"linf": 1})
WORD = auditor.Totals(cells=1, values=(0, 5), contribution={"l1": 1})
TOLD = auditor.Value(range=(-10, 10))
BITS = {"bits": 20, "hashes": 4}
# name, mechanism, parameters, domain, wanted, outputs of search and bound
CASES: list[tuple[str, Any, dict[str, Any], Any, float, int, int]] = [
    ("Laplace", additive.laplace, {"sensitivity": 1, "epsilon": 0.1}, ONE, 0.0976, 500_000, 4_000_000),
    (
        "truncated geometric",
        classics.truncated_geometric_natural_logarithm,
        {"epsilon": 0.1, "n": 5},
        WORD,
        0.1156,
        1_000_000,
        15_000_000,
    ),
    ("noisy max, index", noisy_max.index_with_laplace, {"epsilon": 0.1}, FIVE, 0.0925, 4_000_000, 10_000_000),
    ("noisy max, value", noisy_max.value_with_laplace, {"epsilon": 0.1}, FIVE, 0.24, 4_000_000, 10_000_000),
    (
        "sparse vector 1",
        sparse_vector.svt_1,
        {"epsilon": 0.1, "threshold": 0.5, "cutoff": 1},
        TEN,
        0.0858,
        6_000_000,
        12_900_000,
    ),
    (
        "sparse vector 4",
        sparse_vector.svt_4,
        {"epsilon": 0.1, "threshold": 1, "cutoff": 1},
        TEN,
        0.1696,
        6_000_000,
        12_900_000,
    ),
    ("sparse vector 5", sparse_vector.svt_5, {"epsilon": 0.1, "threshold": 1}, TEN, 1.761, 4_000_000, 10_000_000),
    ("prefix sums", classics.prefix_sums, {"epsilon": 0.1}, TEN, 0.577, 1_000_000, 10_000_000),
    (
        "RAPPOR",
        rappor.rappor,
        {**BITS, "f": 0.75, "p": 0.45, "q": 0.55},
        TOLD,
        0.301,
        3_600_000,
        8_000_000,
    ),
    ("sparse vector 5, ε = 1", sparse_vector.svt_5, {"epsilon": 1.0, "threshold": 1}, TEN, 5.0, 4_000_000, 10_000_000),
    (
        "sparse vector 3, ε = 1",
        sparse_vector.svt_3,
        {"epsilon": 1.0, "threshold": 1, "cutoff": 1},
        TEN,
        5.0,
        4_000_000,
        10_000_000,
    ),
    (
        "noisy max, value with exponential noise, ε = 1",
        noisy_max.value_with_exponential,
        {"epsilon": 1.0},
        FIVE,
        5.0,
        4_000_000,
        10_000_000,
    ),
]


def measure(only: str = "") -> dict[str, Any]:
    rows = {}
    for name, mechanism, parameters, domain, wanted, search, samples in CASES:
        if only not in name:
            continue
        started = time.perf_counter()
        result = auditor.audit(
            mechanism,
            auditor.PureDP(parameters.get("epsilon", 0.1)),
            domain,
            parameters=parameters,
            confidence=CONFIDENCE,
            samples=samples,
            search=search,
            shrink=False,
            seed=1,
        )
        assert result.bound is not None and result.pair is not None and result.event is not None
        spent = result.outputs
        rows[name] = {
            "bound": result.bound.value,
            "wanted": wanted,
            "truth on the pair": None if result.exact is None else result.exact.value,
            "pair": result.pair.to_dict(),
            "event": result.event["description"],
            "outputs": spent.search + spent.selection + spent.bound,
            "seconds": time.perf_counter() - started,
        }
        print(name, rows[name], flush=True)
    return {"confidence": CONFIDENCE, "rows": rows}
