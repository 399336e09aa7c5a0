"""How efficiently a bound uses its outputs: our method and that of other tools, against the Neyman-Pearson limit.

The pair is given and the event is not; all outputs count, including those used for selection. The limit is the median bound of
the optimal two-sided rule, known in advance, on the same number of outputs. "share" is the fraction of the outputs with which
that rule reaches the median bound measured. Other tools compute two Clopper-Pearson intervals after one half of the outputs has
selected the event.
"""

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from scipy.optimize import brentq

import auditor
from auditor.blackbox.mechanism import Mechanism
from auditor.bounds.intervals import clopper_pearson_lower
from auditor.claims import PureDP
from auditor.methods.guessing import TwoIntervals
from auditor.neighbours.pair import Pair
from benchmarks._mechanisms import laplace, randomised_response

ALPHA = 0.05
EPSILONS = (0.1, 1.0, 3.0, 5.0)
RUNS = {10**4: 300, 10**5: 200, 10**6: 60}
WANTED = {10**4: 0.45, 10**5: 0.60, 10**6: 0.75}
MECHANISMS: dict[str, Callable[..., Any]] = {"Laplace": laplace, "randomised response": randomised_response}


def limit(name: str, epsilon: float, outputs: float) -> float:
    """Return the median bound of the optimal two-sided rule on this many outputs."""
    if name == "randomised response":
        return _bound(1 / (1 + math.exp(-epsilon)), 1.0, outputs)
    # Guess left below t and right above 1 − t, for the best t.
    rules = []
    for t in np.linspace(-2 / epsilon, 0.5, 400):
        win, loss = _laplace_cdf(t, epsilon), _laplace_cdf(t - 1, epsilon)
        rules.append(_bound(win / (win + loss), win + loss, outputs))
    return max(rules)


def _laplace_cdf(x: float, epsilon: float) -> float:
    return 0.5 * math.exp(epsilon * x) if x < 0 else 1 - 0.5 * math.exp(-epsilon * x)


def _bound(rate: float, guess_rate: float, outputs: float) -> float:
    guesses = guess_rate * outputs
    low = float(clopper_pearson_lower(rate * guesses, guesses, ALPHA))
    return max(0.0, math.log(low / (1 - low)))


def _share(name: str, epsilon: float, outputs: int, reached: float) -> float:
    if reached <= 0:
        return 0.0
    if reached >= limit(name, epsilon, outputs):
        return 1.0
    return float(brentq(lambda share: limit(name, epsilon, share * outputs) - reached, 1e-4, 1.0, xtol=1e-3))


def _ours(name: str, epsilon: float, outputs: int, seed: int) -> float:
    result = auditor.audit(
        MECHANISMS[name],
        auditor.PureDP(epsilon),
        [(0, 1)],
        parameters={"epsilon": epsilon},
        samples=3 * outputs // 4,  # earlier rounds have the rest
        confidence=1 - ALPHA,
        seed=seed,
        workers=1,
    )
    assert result.bound is not None
    return result.bound.value


def _peers(name: str, epsilon: float, outputs: int, seed: int) -> float:
    rng = np.random.default_rng(seed)
    mechanism = Mechanism.from_callable(MECHANISMS[name], {"epsilon": epsilon}, name)
    selection, fresh = (mechanism.draw(Pair(0, 1), rng.random(outputs // 2) < 0.5, rng) for _ in range(2))
    method = TwoIntervals(PureDP(epsilon), ALPHA, outputs // 2)
    event = method.learn(selection).test
    return method.bound(event, event.count(fresh))


def measure() -> dict[str, Any]:
    rows = []
    for name in MECHANISMS:
        for epsilon in EPSILONS:
            for outputs, runs in RUNS.items():
                row: dict[str, Any] = {"mechanism": name, "epsilon": epsilon, "outputs": outputs, "runs": runs}
                row["limit"] = limit(name, epsilon, outputs)
                for way, bound in (("ours", _ours), ("peers", _peers)):
                    # For two intervals with a half split a fifth of the runs is precise enough.
                    some = runs if way == "ours" else runs // 5
                    bounds = Parallel(n_jobs=-1)(delayed(bound)(name, epsilon, outputs, seed) for seed in range(some))
                    median = float(np.median(bounds))
                    row[way] = {"median": median, "share": _share(name, epsilon, outputs, median)}
                row["wanted share"] = WANTED[outputs]
                rows.append(row)
                print(row, flush=True)
    _plot(rows)
    return {"alpha": ALPHA, "rows": rows}


def _plot(rows: list[dict[str, Any]]) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(1, 2, figsize=(10, 3.8), sharey=True, layout="constrained")
    for axis, name in zip(axes, MECHANISMS, strict=True):
        for epsilon, colour in zip(EPSILONS, ("#1b6ca8", "#2a9d8f", "#e9a03b", "#c8553d"), strict=True):
            mine = [row for row in rows if (row["mechanism"], row["epsilon"]) == (name, epsilon)]
            outputs = [row["outputs"] for row in mine]
            axis.semilogx(outputs, [row["ours"]["share"] for row in mine], "o-", color=colour, label=f"ε = {epsilon:g}")
            axis.semilogx(outputs, [row["peers"]["share"] for row in mine], "x:", color=colour)
        axis.plot(list(WANTED), list(WANTED.values()), "k_", markersize=18, label="wanted")
        axis.set(title=name, xlabel="outputs, selection included", ylim=(0, 1))
        axis.grid(alpha=0.3)
    axes[0].set_ylabel("share of outputs made use of")
    axes[0].legend(title="solid: ours, dotted: two intervals", fontsize=8)
    figure.savefig(Path(__file__).parent / "results" / "efficiency.svg", metadata={"Date": None})
