"""The band on the trade-off curve: does it cover the exact curve, how wide is it, and how sharp beside a single point?

**Coverage.** Four mechanisms, 2,000 runs each, at 95 %: with 20,000 outputs every threshold of every run is looked at, and
with 10⁶ outputs a thousand thresholds, evenly on the scale of log-odds. A run is covered if all limits of all these thresholds
hold. Then the upper curve lies above the exact one, and the lower below it. Half of the outputs are on either side.

**Widths.** The band's width over that of two Clopper-Pearson limits, at 10⁶ outputs and 95 %: the largest ratio over all numbers of
hits. "the same level" are limits for a single threshold that hold together on both sides, as the band does, so each of the four
errs with 1.25 %. "all of it for each side" are those of one side alone, each of which errs with 2.5 %. Beside it the limits of
Dvoretzky, Kiefer & Wolfowitz with the constant of Massart (1990), which are as wide in the tails as in the middle.

**Beside Askin et al. 2025** (USENIX Security 34; hadimalik12/fdp-estimation, commit eaadda4). Their auditor estimates where a
claim is most likely broken, and then puts one square around the errors of a test there, of half-width √(ln(4/γ)/(2n)) for n
outputs on either side. The mechanisms and γ = 5 % are theirs: Gaussian noise of μ = 1, Laplace noise of scale 1, 5 of 10 records
with noise of σ = 1, and ten steps of a noisy descent. Their test is given the exact likelihood ratio, and the point at which it
proves most, so it is at its best. "shortfall" is by how much (nats) ε of the exact curve's lines must be lowered for the curve to
be refuted, in the median of 100 runs. "outputs" is the least power of two, on either side, at which a claim is refuted in 95 % of
100 runs: μ = 0.2 for Gaussian noise of μ = 1, and the descent of five steps for that of ten, as in their notebooks; and a leak in
the tails.
"""

import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import ndtr, ndtri
from scipy.stats import laplace

from auditor.bounds.curves import (
    SLACK,
    CurveBand,
    choose_thresholds,
    count_cells,
    largest_excess,
    log_ratio_of_hits,
    lower_limits,
    upper_limits,
)
from auditor.bounds.intervals import Floats, clopper_pearson_lower, clopper_pearson_upper
from auditor.claims import Tradeoff

ALPHA, RUNS, FEWER, SEED = 0.05, 2_000, 100, 72
MANY, SOME = 500_000, 10_000  # outputs on either side
THRESHOLDS = 1_000

Draw = Callable[[np.random.Generator, int], Floats]
Tail = Callable[[Floats], Floats]


@dataclass(frozen=True)
class Sides:
    """A mechanism on two neighbours, of which the left has the larger outputs: the likelihood ratio never falls with an output.

    ``above`` are the probabilities of outputs above a threshold, on the left and on the right.
    """

    draw: tuple[Draw, Draw]
    above: tuple[Tail, Tail]
    curve: Callable[[float], float]  # the exact trade-off curve, of the right side against the left


def _mixture(means: Floats, weights: Floats) -> Sides:
    """Return noise of σ = 1 around means that are drawn on the left, and around 0 on the right."""

    def draw(rng: np.random.Generator, size: int) -> Floats:
        return np.asarray(rng.choice(means, size, p=weights) + rng.normal(size=size))

    def above(x: Floats) -> Floats:
        return np.asarray(ndtr(np.subtract.outer(means, np.asarray(x))).T @ weights)

    return Sides(
        (draw, lambda rng, size: rng.normal(size=size)),
        (above, lambda x: ndtr(-np.asarray(x))),
        lambda alpha: float(weights @ ndtr(-ndtri(alpha) - means)) if 0 < alpha < 1 else 1.0 - alpha,
    )


def _laplace_curve(alpha: float, epsilon: float = 1.0) -> float:
    shrunk = math.exp(-epsilon)
    if alpha < shrunk / 2:
        return 1 - alpha / shrunk
    return shrunk / (4 * alpha) if alpha < 0.5 else shrunk * (1 - alpha)


def _laplace() -> Sides:
    return Sides(
        (lambda rng, size: 1 + rng.laplace(size=size), lambda rng, size: rng.laplace(size=size)),
        (lambda x: laplace.sf(x, loc=1), laplace.sf),
        _laplace_curve,
    )


def _response() -> Sides:
    """Return randomised response over five answers with ε = 2: the left has its own answer, 4, more often, and the right 0."""
    own = math.e**2 / (4 + math.e**2)
    rest = (1 - own) / 4
    left, right = np.array([rest] * 4 + [own]), np.array([own] + [rest] * 4)

    def above(chances: Floats) -> Tail:
        tails = np.r_[1.0, 1 - np.cumsum(chances)[:-1], 0.0]
        return lambda x: tails[np.clip(np.floor(np.asarray(x)).astype(int) + 1, 0, 5)]

    corners = [(0.0, 1.0), (rest, 1 - own), (1 - own, rest), (1.0, 0.0)]
    return Sides(
        (lambda rng, size: rng.choice(5, size, p=left) * 1.0, lambda rng, size: rng.choice(5, size, p=right) * 1.0),
        (above(left), above(right)),
        Tradeoff(corners).at,
    )


def _descent(steps: int) -> Sides:
    """Return ``steps`` steps of their noisy descent: rate .2, noise of .2, and 5 of 10 records in each, of which one differs."""
    rate, noise, batch = 0.2, 0.2, 5
    kept = [(1 - rate) ** (steps - step) for step in range(1, steps + 1)]
    spread = rate * noise * math.sqrt(sum(each**2 for each in kept))
    means = [rate / batch * sum(itertools.compress(kept, drawn)) for drawn in itertools.product((0, 1), repeat=steps)]
    values, counts = np.unique(np.round(np.array(means) / spread, 12), return_counts=True)
    return _mixture(values, counts / counts.sum())


def _gaussian(mu: float) -> Sides:
    return _mixture(np.array([mu]), np.ones(1))


def _revealing(mu: float, share: float) -> Sides:
    """Return Gaussian noise that reveals the side in a small share of outputs: a leak in the tails only."""
    noisy = _gaussian(mu)

    def of(side: int, far: float) -> tuple[Draw, Tail]:
        def draw(rng: np.random.Generator, size: int) -> Floats:
            return np.where(rng.random(size) < share, far, noisy.draw[side](rng, size))

        return draw, lambda x: (1 - share) * noisy.above[side](x) + share * (np.asarray(x) < far)

    (left, above_left), (right, above_right) = of(0, 50.0), of(1, -50.0)
    return Sides(
        (left, right), (above_left, above_right), lambda alpha: max(0.0, (1 - share) * noisy.curve(alpha / (1 - share)))
    )


def _subsampled() -> Sides:
    return _mixture(np.array([0.0, 1.0]), np.array([0.5, 0.5]))


COVERED: dict[str, Callable[[], Sides]] = {
    "Gaussian, μ = 1": lambda: _gaussian(1.0),
    "Laplace, ε = 1": _laplace,
    "randomised response, 5 answers, ε = 2": _response,
    "subsampled Gaussian, half of the records": _subsampled,
}

# Coverage -------------------------------------------------------------------------------------------------------------


def coverage_of_all(sides: Sides, outputs: int) -> int:
    """Count the runs in which all limits of all thresholds hold."""
    rng = np.random.default_rng(SEED)
    hits = np.arange(outputs + 1)
    low, high = lower_limits(hits, outputs, ALPHA / 4), upper_limits(hits, outputs, ALPHA / 4)

    def holds(draw: Draw, above: Tail) -> bool:
        # Just below an output, it and all larger ones are hits; just above, only the larger ones are. Nothing else is a threshold.
        values, counts = np.unique(draw(rng, outputs), return_counts=True)
        with_it = np.cumsum(counts[::-1])[::-1]
        at_least, beyond = above(np.nextafter(values, -np.inf)), above(values)
        # P of a threshold between two outputs is at least that just above the lower, and at most that just below the upper one.
        return bool(np.all(low[with_it] <= at_least) and np.all(beyond <= high[with_it - counts]))

    return sum(all([*map(holds, sides.draw, sides.above)]) for _ in range(RUNS))


def coverage_at_thresholds(sides: Sides, outputs: int) -> int:
    """Count the runs in which all limits hold at THRESHOLDS thresholds of each side; hits are drawn from their joint law."""
    rng = np.random.default_rng(SEED)
    drawn = [np.sort(draw(np.random.default_rng(0), outputs)) for draw in sides.draw]
    thresholds = choose_thresholds(drawn, THRESHOLDS // 2)
    needed = math.log((1 + SLACK) * 4 / ALPHA)
    covered = 0
    chances = [np.r_[0.0, above(thresholds[::-1]), 1.0] for above in sides.above]
    for _ in range(RUNS):
        held = True
        for p in chances:
            hits = np.cumsum(rng.multinomial(outputs, np.diff(p)))[:-1].astype(float)
            inner = p[1:-1]
            some = (inner > 0) & (inner < 1)
            above = log_ratio_of_hits(hits[some], outputs, inner[some])
            below = log_ratio_of_hits(outputs - hits[some], outputs, 1 - inner[some])
            held = held and bool(max(above.max(), below.max()) < needed)
        covered += held
    return covered


def coverage() -> dict[str, Any]:
    """Return the share of covered runs of each mechanism."""
    found = dict[str, Any]()
    for name, make in COVERED.items():
        sides = make()
        few, many = coverage_of_all(sides, SOME), coverage_at_thresholds(sides, MANY)
        found[name] = {"all thresholds, 20,000 outputs": few / RUNS, "1,000 thresholds, 1,000,000 outputs": many / RUNS}
    return found


# Widths ---------------------------------------------------------------------------------------------------------------


def widths(alpha: float) -> dict[str, float]:
    """Return the largest ratios of the band's width to others, for MANY outputs on either side."""
    few = np.unique(np.r_[0:200, np.geomspace(200, MANY / 2, 200).astype(int)])
    hits = np.unique(np.r_[few, MANY - few])
    band = upper_limits(hits, MANY, alpha / 4) - lower_limits(hits, MANY, alpha / 4)
    found = dict[str, float]()
    for name, part in (("the same level", 4), ("all of it for each side", 2)):
        pointwise = clopper_pearson_upper(hits, MANY, alpha / part) - clopper_pearson_lower(hits, MANY, alpha / part)
        found[f"over Clopper-Pearson, {name}: largest"] = round(float((band / pointwise).max()), 3)
        found[f"over Clopper-Pearson, {name}: at no hit"] = round(float((band / pointwise)[0]), 3)
        found[f"over Clopper-Pearson, {name}: at one half"] = round(float((band / pointwise)[len(hits) // 2]), 3)
    dkw = 2 * math.sqrt(math.log(4 / alpha) / (2 * MANY))
    found["over Dvoretzky-Kiefer-Wolfowitz: at one half"] = round(float(band[len(hits) // 2] / dkw), 3)
    found["over Dvoretzky-Kiefer-Wolfowitz: at a rate of 1e-4"] = round(
        float(np.interp(MANY / 1e4, hits, band) / dkw), 3
    )
    return found


# Beside Askin et al. --------------------------------------------------------------------------------------------------

THEIRS: dict[str, Callable[[], Sides]] = {
    "Gaussian, μ = 1": lambda: _gaussian(1.0),
    "Laplace, ε = 1": _laplace,
    "5 of 10 records, σ = 1": _subsampled,
    "noisy descent, 10 steps": lambda: _descent(10),
}


def _by_band(claim: Tradeoff, left: Floats, right: Floats) -> float:
    edges = choose_thresholds([left, right], 64)
    return CurveBand.of_cells(count_cells(left, edges), count_cells(right, edges), ALPHA).excess(claim)


def _by_square(claim: Tradeoff, left: Floats, right: Floats, threshold: float) -> float:
    half = math.sqrt(math.log(4 / ALPHA) / (2 * len(left)))
    hit, wrong = float((left > threshold).mean()) - half, float((right > threshold).mean()) + half
    return largest_excess(claim, np.array([max(hit, 0.0), 1.0]), np.array([min(wrong, 1.0), 1.0]))


def _best_point(claim: Tradeoff, sides: Sides, outputs: int) -> float:
    """Return the threshold at which a square of this many outputs is expected to prove most."""
    thresholds = np.linspace(-4, 6, 201)
    half = math.sqrt(math.log(4 / ALPHA) / (2 * outputs))
    p, q = (np.asarray(above(thresholds)) for above in sides.above)
    each = [
        largest_excess(claim, np.array([max(hit - half, 0.0), 1.0]), np.array([min(wrong + half, 1.0), 1.0]))
        for hit, wrong in zip(p, q, strict=True)
    ]
    return float(thresholds[int(np.argmax(each))])


def _runs(claim: Tradeoff, sides: Sides, outputs: int) -> tuple[list[float], list[float]]:
    """Return the excess of each run by the band, and by a single square at its best point."""
    rng, threshold = np.random.default_rng(SEED), _best_point(claim, sides, outputs)
    bands, squares = list[float](), list[float]()
    for _ in range(FEWER):
        left, right = (draw(rng, outputs) for draw in sides.draw)
        bands.append(_by_band(claim, left, right))
        squares.append(_by_square(claim, left, right, threshold))
    return bands, squares


def shortfalls() -> dict[str, Any]:
    found = dict[str, Any]()
    for name, make in THEIRS.items():
        sides = make()
        claim = Tradeoff.from_function(sides.curve, symmetric=False)
        for outputs in (10_000, 100_000):
            bands, squares = _runs(claim, sides, outputs)
            found[f"{name}, {outputs:,} a side"] = {
                "band": round(-float(np.median(bands)), 4),
                "square at its best point": round(-float(np.median(squares)), 4),
            }
    return found


def outputs_needed() -> dict[str, Any]:
    """Return the least power of two at which a false claim of theirs is refuted in 95 % of runs."""
    cases = {
        "Gaussian, μ = 1, claimed 0.2": (_gaussian(1.0), _gaussian(0.2)),
        "Gaussian, μ = 1, claimed 0.9": (_gaussian(1.0), _gaussian(0.9)),
        "noisy descent, 10 steps, claimed 5": (_descent(10), _descent(5)),
        "one output in 200 tells all, claimed μ = 0.1": (_revealing(0.1, 0.005), _gaussian(0.1)),
    }
    found = dict[str, Any]()
    for name, (sides, claimed) in cases.items():
        claim = Tradeoff.from_function(claimed.curve, symmetric=False)
        needed = dict[str, int]()
        for outputs in (1 << power for power in range(5, 19)):
            for way, excesses in zip(("band", "square at its best point"), _runs(claim, sides, outputs), strict=True):
                if np.mean(np.array(excesses) > 0) >= 0.95:
                    needed.setdefault(way, outputs)
            if len(needed) == 2:
                break
        found[name] = needed
    return found


def measure() -> Iterator[dict[str, Any]]:
    """Yield what is measured so far."""
    figures: dict[str, Any] = {"widths, 95 %": widths(ALPHA), "widths, 99.9 %": widths(0.001)}
    yield figures
    for name, part in (("coverage", coverage), ("shortfall", shortfalls), ("outputs", outputs_needed)):
        figures = {**figures, name: part()}
        yield figures
