"""Bounds from the scores of 1,000 canaries beside those of other libraries: type I error, sharpness, seconds, and what is possible.

    python -m benchmarks scores                # ours
    python -m benchmarks scores PYTHON         # beside those of an interpreter's libraries

The interpreter has jax-privacy 2.0.0, opake-auditing 0.16.1 and auditml 0.1.0. The last attacks models, and bounds no ε: its
results are areas and rates, so it is listed without figures. docs/how-to/scores.md shows the table.

**The same scores.** RUNS runs at each truth, at δ = 1e-5 and 95 %. Scores that say nothing have ε = 0; randomised response has
ε = 1, with random marks in place of confidence; Laplace noise of scale 1/2 has ε = 2; Gaussian noise of μ = 1 has ε = 4.377. Each
canary has noise of its own, so what any way assumes of canaries is true. Ways that assume Gaussian noise have "Gaussian" in their
name. An error is a bound above the truth; its rate has a 95 % upper confidence limit.

**What is possible.** Let a mechanism within ε have the log-ratios of Gaussian noise, cut at ±ε. By Neyman and Pearson, no test
of ε has a larger power against Gaussian noise than the likelihood ratio of the two, and a bound's median exceeds ε only if that
power exceeds one half. This ε is a limit for every valid bound, if canaries are apart or not. It is found by simulation.

**Seconds** are the processor's, of one call for ε alone, in the median of the runs at μ = 1.
"""

import json
import math
import operator
import subprocess
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

import auditor
from auditor.bounds.bisection import narrow_bracket
from auditor.bounds.intervals import Floats, clopper_pearson_upper
from auditor.scores import _Origin

CANARIES, DELTA, ALPHA, RUNS = 1_000, 1e-5, 0.05, 2_000
SEEDS, SLOW_RUNS = 100, 20  # of which "the median of 100 seeds" is taken; of bounds that assume Gaussian noise
SUFFIX = ", if Gaussian"
PEERS = Path(__file__).parent / "_peers_of_scores.py"

Coins = NDArray[np.bool_]


def say_nothing(rng: np.random.Generator, inside: Coins) -> Floats:
    return rng.normal(size=inside.shape)


def answer(rng: np.random.Generator, inside: Coins) -> Floats:
    right = rng.random(inside.shape) < 1 / (1 + math.exp(-1.0))
    return 0.5 + np.where(right == inside, 1, -1) * (1 + rng.random(inside.shape))


def laplace(rng: np.random.Generator, inside: Coins) -> Floats:
    return np.asarray(inside + rng.laplace(0, 0.5, inside.shape))


def gaussian(rng: np.random.Generator, inside: Coins) -> Floats:
    return np.asarray(inside + rng.normal(size=inside.shape))


TRUTHS: dict[str, tuple[float, Callable[[np.random.Generator, Coins], Floats]]] = {
    "scores that say nothing": (0.0, say_nothing),
    "randomised response": (1.0, answer),
    "Laplace noise": (2.0, laplace),
    "Gaussian noise": (4.3772, gaussian),
}


def _bounds_of_ours(scores: Floats, inside: Coins) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for ours, runs, bound in (
        ("auditor: {}", None, operator.attrgetter("epsilon")),
        ("auditor: {}" + SUFFIX, SLOW_RUNS, operator.attrgetter("epsilon_if_gaussian")),
    ):
        for origin in get_args(_Origin):
            bounds, seconds = [], []
            for row, coins in list(zip(scores, inside, strict=True))[:runs]:
                started = time.process_time()
                proved = auditor.audit_scores(row[coins], row[~coins], origin, delta=DELTA, confidence=1 - ALPHA)
                bounds.append(bound(proved))
                seconds.append(time.process_time() - started)
            found[ours.format(origin)] = {"bounds": bounds, "seconds": float(np.median(seconds))}
    return found


def _bounds_of_peers(python: str, scores: Floats, inside: Coins) -> tuple[dict[str, str], dict[str, dict[str, Any]]]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "scores.npz"
        np.savez(path, scores=scores, inside=inside, delta=DELTA, alpha=ALPHA)
        done = subprocess.run([python, str(PEERS), str(path)], check=True, capture_output=True, text=True)
    answered = json.loads(done.stdout)
    return answered["versions"], answered["found"]


def _summary(truth: float, found: dict[str, Any]) -> dict[str, Any]:
    bounds = np.array(found["bounds"])
    errors = int((bounds > truth + 1e-6).sum())
    return {
        "runs": len(bounds),
        "errors": errors,
        "upper limit of their rate": round(float(clopper_pearson_upper(errors, len(bounds), 0.05)), 4),
        "median bound": round(float(np.median(bounds)), 3),
        "median of 100 seeds": round(float(np.median(bounds[:SEEDS])), 3),
    }


def largest_possible_median(canaries: int, alpha: float, runs: int = 4_000) -> float:
    """Return the ε above which no valid bound of Gaussian noise of μ = 1 has its median, to about 0.01, by simulation."""

    def is_too_hard(epsilon: float) -> bool:
        rng, rate = np.random.default_rng(0), 1 / (1 + math.exp(-epsilon))
        ratios: dict[str, list[Floats]] = {"gaussian": [], "cut": []}
        for _ in range(runs // 1_000):
            shown = rng.normal(0.5, 1.0, (1_000, canaries))  # of the right side, so its sign says who is right
            beyond = np.abs(shown) > epsilon
            sure = 1 / (1 + np.exp(-np.abs(shown)))
            gain, loss = (
                np.where(beyond, np.log(sure / rate), 0.0),
                np.where(beyond, np.log((1 - sure) / (1 - rate)), 0.0),
            )
            cut = rng.random(shown.shape) < rate
            ratios["gaussian"].append(np.where(shown > 0, gain, loss).sum(axis=1))
            ratios["cut"].append(np.where(cut, gain, loss).sum(axis=1))
        limit = np.quantile(np.concatenate(ratios["cut"]), 1 - alpha)
        return bool(np.mean(np.concatenate(ratios["gaussian"]) >= limit) <= 0.5)

    return round(narrow_bracket(is_too_hard, 0.0, 4.0, lambda low, high: high - low < 0.005)[1], 2)


def bounds_at(name: str, *pythons: str) -> tuple[dict[str, str], dict[str, Any], dict[str, float]]:
    """Return the versions of the interpreters' libraries, and for each way a summary of its bounds at a truth, and its seconds."""
    truth, draw = TRUTHS[name]
    rng = np.random.default_rng(0)
    inside = rng.random((RUNS, CANARIES)) < 0.5
    scores = draw(rng, inside)
    found, versions = _bounds_of_ours(scores, inside), dict[str, str]()
    for python in pythons:
        versions, of_peers = _bounds_of_peers(python, scores, inside)
        found |= of_peers
    seconds = {way: round(each["seconds"], 5) for way, each in found.items()}
    return versions, {way: _summary(truth, each) for way, each in found.items()}, seconds


def limits() -> dict[str, float]:
    """Return the largest possible median at two confidences."""
    return {f"{100 * (1 - alpha):g} %": largest_possible_median(CANARIES, alpha) for alpha in (ALPHA, 0.001)}


def measure(*pythons: str) -> dict[str, Any]:
    """Return the figures, of which each truth has a process of its own."""
    with ProcessPoolExecutor() as pool:
        possible = pool.submit(limits)
        of_truths = {name: pool.submit(bounds_at, name, *pythons) for name in TRUTHS}
        summaries = {f"{name}: ε = {TRUTHS[name][0]:g}": each.result()[1] for name, each in of_truths.items()}
        versions, _, seconds = of_truths["Gaussian noise"].result()
        return {
            "largest possible median": possible.result(),
            "versions": versions,
            "the same scores": summaries,
            "seconds": seconds,
        }


def table(figures: dict[str, Any], *, gaussian: bool) -> str:
    """Return a table of docs/how-to/scores.md: of ways that assume Gaussian noise, or of the others."""
    every = figures["the same scores"]
    lines = ["| bound | runs | " + " | ".join(every) + " | ms |", "|---" * (len(every) + 3) + "|"]
    for way, seconds in figures["seconds"].items():
        if way.endswith(SUFFIX) == gaussian:
            cells = []
            for at in every.values():
                rate = at[way]["errors"] / at[way]["runs"]
                cells.append(f"{at[way]['median bound']:.2f}" + (f", {100 * rate:.1f} % err" if rate else ""))
            of_way = [way.removesuffix(SUFFIX), f"{at[way]['runs']:,}", *cells, f"{1e3 * seconds:.1f}"]
            lines.append(f"| {' | '.join(of_way)} |")
    return "\n".join(lines) + "\n"


def with_tables(page: str, figures: dict[str, Any]) -> str:
    """Return docs/how-to/scores.md with the tables of these figures."""
    for name, gaussian in (("any mechanism", False), ("Gaussian noise", True)):
        start, end = f"<!-- table: {name} -->\n", "<!-- end of table -->"
        before, _, rest = page.partition(start)
        page = before + start + "\n" + table(figures, gaussian=gaussian) + "\n" + end + rest.partition(end)[2]
    return page
