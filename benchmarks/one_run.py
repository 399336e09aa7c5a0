"""Bounds from one run: compared with another tool in 60 cases, with another library on the same scores, and their type I error.

**60 cases.** zihangxiang/tight-privacy-audit-in-one-run, commit 6359b19, compare/RESULTS.txt: five mechanism families, n
canaries, r guesses and u mistakes, where u is the family's expected number, rounded; lower bounds on ε at δ = 1e-5 with 95 %
confidence. "the same guesses" are our bounds from the same n, r and u. "guesses from the claim" are ours with the number of
guesses that has the best forecast, which needs no coin; u is then the expected number of mistakes again. Both assume that
canaries do not affect each other, as the other tool does. "any mechanism" does not assume it.

**The same scores.** N(1, 1) for included and N(0, 1) for excluded canaries, seeds 0 to 4, at δ = 1e-5 and 95 %. The true ε is
4.377. The figures of jax-privacy were measured with its module auditing at commit 8967688, outside this project; each is the median
over the seeds, and for 50,000 scores per side the figure of the first seed.

**Validity.** False alarms in 20,000 runs of mechanisms exactly at their claim, at a level of 5 %, with a 95 % upper confidence
limit on their rate. The worst case is a distribution of correct guesses found by a linear program and attained by some
mechanism that satisfies the claim; its canaries interfere with each other as badly as they can.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.optimize import brentq, linprog
from scipy.sparse import csr_matrix, vstack
from scipy.special import ndtr

import auditor
from auditor.bounds.conversions import TradeoffCurve, gaussian_delta, tradeoff_curve
from auditor.bounds.intervals import Floats, clopper_pearson_upper
from auditor.bounds.one_run import (
    GuessTally,
    OneRunGuesses,
    count_right_guesses,
    default_guess_numbers,
    p_value_independent,
    refutes_any_mechanism,
)
from auditor.claims import ApproximateDP, GaussianDP, PrivacyClaim, PureDP

ALPHA, DELTA, RUNS = 0.05, 1e-5, 20_000

# The 60 cases --------------------------------------------------------------------------------------------------------

# For each family the parameter, the sampling rate, and (mistakes, bound) for n = 10³, 10⁴, 10⁵ and r/n = 0.1, 0.25, 0.5, 1.
SHARES = (0.1, 0.25, 0.5, 1.0)
PEER: dict[str, tuple[float, float, list[list[tuple[int, float]]]]] = {
    "Gaussian μ = 0.5": (
        0.5,
        1.0,
        [
            [(26, 1.1926), (75, 1.4203), (172, 1.4689), (401, 1.4140)],
            [(259, 1.7437), (755, 1.8052), (1721, 1.8279), (4013, 1.8074)],
            [(2585, 1.9166), (7545, 1.9348), (17213, 1.9406), (40129, 1.9345)],
        ],
    ),
    "Gaussian μ = 1": (
        1.0,
        1.0,
        [
            [(10, 3.1645), (36, 3.6327), (103, 3.7557), (309, 3.6700)],
            [(97, 4.0141), (364, 4.1371), (1034, 4.1789), (3085, 4.1592)],
            [(967, 4.2662), (3641, 4.3013), (10343, 4.3144), (30854, 4.3079)],
        ],
    ),
    "Gaussian μ = 2": (
        2.0,
        1.0,
        [
            [(1, 5.9018), (4, 7.9541), (20, 8.9216), (159, 9.0038)],
            [(5, 8.7173), (36, 9.4097), (202, 9.6526), (1587, 9.6881)],
            [(51, 9.5899), (362, 9.8094), (2016, 9.8905), (15866, 9.9002)],
        ],
    ),
    "sampled Gaussian μ = 1, rate 0.5": (
        1.0,
        0.5,
        [
            [(24, 2.1584), (78, 2.1201), (176, 2.2774), (404, 2.2223)],
            [(242, 3.1102), (776, 3.0878), (1761, 3.1149), (4043, 3.0963)],
            [(2423, 3.3995), (7763, 3.3907), (17606, 3.4007), (40427, 3.3944)],
        ],
    ),
    "sampled Gaussian μ = 2, rate 0.2": (
        2.0,
        0.2,
        [
            [(22, 4.6207), (87, 3.5077), (199, 2.8572), (432, 2.8743)],
            [(216, 6.7008), (870, 6.1668), (1987, 5.8117), (4317, 5.8610)],
            [(2156, 7.3328), (8697, 7.1450), (19868, 7.0063), (43173, 7.0250)],
        ],
    ),
}


def deltas(mu: float, rate: float, epsilons: Floats) -> tuple[Floats, Floats]:
    """Return δ at each ε of (1 − rate) N(0, 1) + rate N(μ, 1) relative to N(0, 1), and in the other direction."""
    with np.errstate(divide="ignore", invalid="ignore"):
        up = (np.log((np.exp(epsilons) - 1 + rate) / rate) + mu**2 / 2) / mu
        down = (np.log(np.maximum(0.0, np.exp(-epsilons) - 1 + rate) / rate) + mu**2 / 2) / mu
    over = rate * ndtr(mu - up) + (1 - rate) * ndtr(-up) - np.exp(epsilons) * ndtr(-up)
    under = ndtr(down) - np.exp(epsilons) * ((1 - rate) * ndtr(down) + rate * ndtr(down - mu))
    return np.maximum(0.0, over), np.maximum(0.0, under)


def curve_of(mu: float, rate: float) -> TradeoffCurve:
    """Return the trade-off curve of a fair coin between the two; both directions have weight one half."""
    if rate == 1:
        return tradeoff_curve(GaussianDP(mu))
    epsilons = np.linspace(0.0, mu * (mu / 2 + 7), 1200)
    both = sum(deltas(mu, rate, epsilons)) / 2
    return TradeoffCurve.of(epsilons[both > 1e-15], np.asarray(both[both > 1e-15]))


def epsilon_of(mu: float, rate: float) -> float:
    """Return ε at DELTA of the second distribution relative to the first."""
    most = mu * (mu / 2 + 7)
    if deltas(mu, rate, np.zeros(1))[0][0] <= DELTA:
        return 0.0
    return float(brentq(lambda e: deltas(mu, rate, np.array([e]))[0][0] - DELTA, 0.0, most, xtol=1e-9))


def bound(guesses: GuessTally, rate: float, refutes: Callable[[TradeoffCurve, GuessTally], bool]) -> float:
    """Return the lower bound on ε for the family."""
    low, high = 0.005, 8.0
    if not refutes(curve_of(low, rate), guesses):
        return 0.0
    while high - low > 1e-5:
        middle = (low + high) / 2
        low, high = (middle, high) if refutes(curve_of(middle, rate), guesses) else (low, middle)
    return epsilon_of(low, rate)


def _apart(curve: TradeoffCurve, guesses: GuessTally) -> bool:
    return p_value_independent(curve, guesses) <= ALPHA


def _any(curve: TradeoffCurve, guesses: GuessTally) -> bool:
    return refutes_any_mechanism(curve, guesses, ALPHA)


def expected(curve: TradeoffCurve, canaries: int, guesses: int) -> GuessTally:
    """Return the guesses with the family's expected number of mistakes, rounded."""
    mistakes = canaries * float(curve.least_wrong_rate(np.array([guesses / canaries]))[0])
    return GuessTally(canaries, guesses, guesses - round(mistakes))


def sixty() -> dict[str, Any]:
    """Return the 60 cases and their summary."""
    rows = []
    for name, (mu, rate, cases) in PEER.items():
        truth, curve = epsilon_of(mu, rate), curve_of(mu, rate)
        for canaries, row in zip((10**3, 10**4, 10**5), cases, strict=True):
            numbers = [round(canaries * share) for share in (0.02, 0.05, 0.1, 0.15, 0.25, 0.35, 0.5, 0.6, 0.75, 1.0)]
            chosen = max(bound(expected(curve, canaries, k), rate, _apart) for k in numbers)
            for share, (mistakes, peer) in zip(SHARES, row, strict=True):
                guesses = GuessTally(canaries, round(share * canaries), round(share * canaries) - mistakes)
                same, whatever = bound(guesses, rate, _apart), bound(guesses, rate, _any)
                rows.append([name, canaries, guesses.guesses, mistakes, truth, peer, same, chosen, whatever])
    numbers_of = np.array([row[4:] for row in rows], float)
    truth, peer, same, chosen, whatever = numbers_of.T
    return {
        "cases": len(rows),
        "mean share of the true ε": {
            "peer": round(float((peer / truth).mean()), 4),
            "the same guesses": round(float((same / truth).mean()), 4),
            "guesses from the claim": round(float((chosen / truth).mean()), 4),
            "any mechanism": round(float((whatever / truth).mean()), 4),
        },
        "at least the peer's, to 0.001": {
            "the same guesses": int((same >= peer - 1e-3).sum()),
            "guesses from the claim": int((chosen >= peer).sum()),
        },
        "above the truth": int((numbers_of[:, 1:] > truth[:, None]).sum()),
        "rows": [[*row[:4], *(round(value, 4) for value in row[4:])] for row in rows],
    }


# The same scores as jax-privacy --------------------------------------------------------------------------------------

JAX: dict[int, dict[str, float]] = {
    500: {
        "clopper-pearson, Bonferroni": 1.057,
        "clopper-pearson, Split": 0.809,
        "clopper-pearson, MultiSplit": 0.707,
        "one run, Bonferroni": 1.247,
        "one run, Split": 1.021,
        "one run f-DP, Split": 1.625,
        "one run f-DP, Bonferroni": 1.66,
        "from GDP": 3.079,
    },
    5_000: {
        "clopper-pearson, Bonferroni": 1.803,
        "clopper-pearson, Split": 1.679,
        "clopper-pearson, MultiSplit": 1.624,
        "one run, Bonferroni": 1.113,
        "one run, Split": 1.851,
        "one run f-DP, Split": 2.472,
        "one run f-DP, Bonferroni": 2.189,
        "from GDP": 3.819,
    },
    50_000: {
        "clopper-pearson, Bonferroni": 2.435,
        "clopper-pearson, Split": 2.554,
        "clopper-pearson, MultiSplit": 2.325,
        "one run, Bonferroni": 0.591,
        "one run, Split": 2.473,
        "one run f-DP, Split": 3.146,
        "one run f-DP, Bonferroni": 2.466,
        "from GDP": 4.249,
    },
}


def _ours(inside: Floats, outside: Floats) -> dict[str, float]:
    """Return our bounds on ε without further assumptions, and under the assumption of Gaussian noise."""
    apart = auditor.audit_scores(inside, outside, "independent-runs", confidence=1 - ALPHA)
    whatever = auditor.audit_scores(inside, outside, "one-run", confidence=1 - ALPHA)
    return {
        "independent runs": apart.epsilon,
        "independent runs, if Gaussian": apart.epsilon_if_gaussian,
        "one run": whatever.epsilon,
        "one run, if Gaussian": whatever.epsilon_if_gaussian,
    }


def same_scores() -> dict[str, Any]:
    """Return the median bounds for each number of scores per side."""
    bounds: dict[str, Any] = {}
    for number in (500, 5_000, 50_000):
        each = []
        for seed in range(5) if number < 50_000 else range(1):
            rng = np.random.default_rng(seed)
            each.append(_ours(rng.normal(1, 1, number), rng.normal(0, 1, number)))
        ours = {name: round(float(np.median([bounds_of_seed[name] for bounds_of_seed in each])), 3) for name in each[0]}
        bounds[f"{number:,} a side"] = {"ours": ours, "jax-privacy": JAX.get(number, {})}
    return bounds


# Validity ------------------------------------------------------------------------------------------------------------


def worst_case(guesses: GuessTally, lines: list[tuple[float, float]]) -> Floats:
    """Return the distribution of correct guesses that maximises the probability of at least ``seen.wins``.

    tests/unit/bounds/test_one_run.py computes it as well.
    """
    n, k, a = guesses.canaries, guesses.guesses, np.arange(guesses.guesses)
    columns = k + 1 + k * len(lines)
    right = csr_matrix(((a + 1) / n, (a, a + 1)), shape=(k, columns))
    wrong = csr_matrix(((k - a) / n, (a, a)), shape=(k, columns))
    rows, limits = [], []
    for i, (epsilon, delta) in enumerate(lines):
        excess = csr_matrix((np.ones(k), (a, a + k + 1 + i * k)), shape=(k, columns))
        rows += [right - math.exp(epsilon) * wrong - excess, csr_matrix(np.ones((1, k))) @ excess]
        limits += [np.zeros(k), np.array([delta])]
    total = csr_matrix((np.ones(k + 1), (np.zeros(k + 1, int), np.arange(k + 1))), shape=(1, columns))
    goal = np.zeros(columns)
    goal[guesses.wins : k + 1] = -1
    p = np.maximum(0.0, linprog(goal, vstack(rows), np.concatenate(limits), total, [1.0], method="highs").x[: k + 1])
    return np.asarray(p / p.sum())


def _critical(claim: PrivacyClaim, canaries: int, guesses: int, looks: int, apart: bool) -> int:
    """Return the fewest correct guesses that refute a claim at ALPHA when several numbers of guesses share the level."""
    low, high = 0, guesses + 1
    while high - low > 1:
        middle = (low + high) // 2
        refuted = OneRunGuesses((GuessTally(canaries, guesses, middle),), apart).refute(claim, ALPHA / looks)
        low, high = (low, middle) if refuted else (middle, high)
    return high


def _rate(alarms: int) -> dict[str, Any]:
    return {"alarms": alarms, "upper limit": round(float(clopper_pearson_upper(alarms, RUNS, 0.05)), 4)}


def _of_scores(claim: PrivacyClaim, draw: Callable[[np.random.Generator, Floats], Floats], apart: bool) -> int:
    """Count false alarms in RUNS runs on 400 canaries, with the default numbers of guesses."""
    rng, canaries = np.random.default_rng(1), 400
    numbers = default_guess_numbers(canaries)
    needed = {guesses: _critical(claim, canaries, guesses, len(numbers), apart) for guesses in numbers}
    alarms = 0
    for _ in range(RUNS):
        inside = rng.random(canaries) < 0.5
        scores = draw(rng, inside.astype(float))
        alarms += any(count_right_guesses(scores, inside, k).wins >= needed[k] for k in numbers)
    return alarms


def _nothing(rng: np.random.Generator, inside: Floats) -> Floats:
    return rng.normal(size=len(inside))


def _gaussian(rng: np.random.Generator, inside: Floats) -> Floats:
    return rng.normal(size=len(inside)) + inside


def _answers(rng: np.random.Generator, inside: Floats) -> Floats:
    """Return randomised responses with ε = 1 that reveal the side, marked as certain, with probability 0.01."""
    lies = rng.random(len(inside)) < 1 / (1 + math.e)
    revealed = rng.random(len(inside)) < 0.01
    said = np.where(lies, 1 - inside, inside) - 0.5
    return np.where(revealed, 3 * (inside - 0.5), said) + 1e-6 * rng.normal(size=len(inside))


def _lucky(rng: np.random.Generator, inside: Floats) -> Floats:
    """Return guesses as confident as a single log-likelihood ratio at μ = 1, in random order: each canary satisfies 1-GDP."""
    wrong = rng.random(len(inside)) < 1 / (1 + math.exp(abs(rng.normal() + 0.5)))
    return (np.where(wrong, 1 - inside, inside) - 0.5) * (1 + rng.random(len(inside)))


def _worst(claim: PrivacyClaim, lines: list[tuple[float, float]]) -> int:
    """Count false alarms in RUNS runs of the least favourable mechanism within the claim: 40 guesses on 60 canaries."""
    guesses = GuessTally(60, 40, _critical(claim, 60, 40, 1, apart=False))
    wins = np.random.default_rng(2).choice(41, RUNS, p=worst_case(guesses, lines))
    return int((wins >= guesses.wins).sum())


def validity() -> dict[str, Any]:
    """Return the number of false alarms of each experiment."""
    gaussian, mixed, pure = GaussianDP(1.0), ApproximateDP(1.0, 0.01), PureDP(1.0)
    lines = [(t, gaussian_delta(1.0, t)) for t in np.linspace(0.0, 5.0, 25)]
    sound = {
        "any mechanism: scores that say nothing, ε = 0": _of_scores(PureDP(0.0), _nothing, apart=False),
        "any mechanism: randomised response, (1, 0.01)": _of_scores(mixed, _answers, apart=False),
        "any mechanism: Gaussian noise, μ = 1": _of_scores(gaussian, _gaussian, apart=False),
        "any mechanism: a lucky run, μ = 1": _of_scores(gaussian, _lucky, apart=False),
        "any mechanism: the worst case, ε = 1": _worst(pure, [(1.0, 0.0)]),
        "any mechanism: the worst case, (1, 0.01)": _worst(mixed, [(1.0, 0.01)]),
        "any mechanism: the worst case, μ = 1": _worst(gaussian, lines),
        "canaries apart: scores that say nothing, μ = 0": _of_scores(GaussianDP(0.0), _nothing, apart=True),
        "canaries apart: randomised response, (1, 0.01)": _of_scores(mixed, _answers, apart=True),
        "canaries apart: Gaussian noise, μ = 1": _of_scores(gaussian, _gaussian, apart=True),
        "canaries apart, all guesses: Gaussian noise, μ = 1": _all_guesses(gaussian),
    }
    broken = {"canaries apart, though they are not: a lucky run, μ = 1": _of_scores(gaussian, _lucky, apart=True)}
    return {
        "at most the level": {name: _rate(alarms) for name, alarms in sound.items()},
        "where the assumption is wrong": {name: _rate(alarms) for name, alarms in broken.items()},
    }


def _all_guesses(claim: PrivacyClaim) -> int:
    rng, canaries = np.random.default_rng(3), 400
    needed = _critical(claim, canaries, canaries, 1, apart=True)
    inside = rng.random((RUNS, canaries)) < 0.5
    right = (rng.normal(size=(RUNS, canaries)) + inside > 0.5) == inside
    return int((right.sum(axis=1) >= needed).sum())


def measure() -> dict[str, Any]:
    return {"60 cases": sixty(), "the same scores": same_scores(), "validity": validity()}
