"""What other libraries bound from the scores of a file. It is run by an interpreter that has them, and imports nothing of ours.

    python _peers_of_scores.py SCORES.npz

The file has ``scores`` and ``inside``, both of shape (runs, canaries), ``delta``, and ``alpha``. It prints JSON: for each way
its bounds, and the processor's seconds of one call in the median; for a library that bounds nothing, what it has instead.
"""

import json
import sys
import time
from collections.abc import Callable
from importlib.metadata import version
from typing import Any

import numpy as np

# A slow way has fewer runs. The default of opake, ``gdp``, takes ten seconds and is left out.
MOST_RUNS = {"jax-privacy: epsilon_one_run_fdp, if Gaussian": 40}


def jax_privacy_ways(delta: float, alpha: float) -> dict[str, Callable[[Any, Any], float]]:
    from jax_privacy.auditing import CanaryScoreAuditor  # type: ignore[import-not-found]

    def way(name: str, *given: float) -> Callable[[Any, Any], float]:
        return lambda scores, inside: float(getattr(CanaryScoreAuditor(scores[inside], scores[~inside]), name)(*given))

    return {
        "jax-privacy: epsilon_one_run": way("epsilon_one_run", alpha, delta),
        "jax-privacy: epsilon_one_run_fdp, if Gaussian": way("epsilon_one_run_fdp", alpha, delta),
        "jax-privacy: epsilon_clopper_pearson": way("epsilon_clopper_pearson", alpha, delta),
        "jax-privacy: epsilon_from_gdp, if Gaussian": way("epsilon_from_gdp", alpha, delta),
    }


def opake_ways(delta: float, alpha: float) -> dict[str, Callable[[Any, Any], float]]:
    from opake.auditing import canary_scores, one_run  # type: ignore[import-not-found]
    from opake.auditing.types import CoinFlip  # type: ignore[import-not-found]

    def way(**options: float) -> Callable[[Any, Any], float]:
        def bound(scores: Any, inside: Any) -> float:
            every = np.arange(len(scores))
            coins = CoinFlip(len(scores), every, inside, every[inside], every[~inside])
            estimate = one_run(canary_scores(scores, canary_indices=every), coin_flip=coins)
            return float(estimate.eps_delta().epsilon_at(delta=delta, significance=alpha, **options))

        return bound

    return {
        "opake: eps_delta": way(),
        "opake: eps_delta, threshold fixed beforehand": way(threshold=0.5),
    }


def main(path: str) -> None:
    given = np.load(path)
    scores, inside, delta, alpha = given["scores"], given["inside"], float(given["delta"]), float(given["alpha"])
    ways = jax_privacy_ways(delta, alpha) | opake_ways(delta, alpha)
    found = {}
    for name, bound in ways.items():
        bounds, seconds = [], []
        for row, coins in list(zip(scores, inside, strict=True))[: MOST_RUNS.get(name)]:
            started = time.process_time()
            bounds.append(bound(row, coins))
            seconds.append(time.process_time() - started)
        found[name] = {"bounds": bounds, "seconds": float(np.median(seconds))}
    versions = {name: version(name) for name in ("jax-privacy", "opake-auditing", "auditml")}
    print(json.dumps({"versions": versions, "found": found}))


if __name__ == "__main__":
    main(sys.argv[1])
