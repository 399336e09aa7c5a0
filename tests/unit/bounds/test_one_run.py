"""Bounds for one run: against the exact worst case over all mechanisms, by linear programs, and by exact sums."""

import itertools
import math

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.optimize import linprog
from scipy.stats import binom

from auditor.bounds.conversions import TradeoffCurve, tradeoff_curve
from auditor.bounds.one_run import (
    STEP,
    GuessTally,
    OneRunGuesses,
    count_right_guesses,
    default_guess_numbers,
    p_value_independent,
    p_value_of_line,
    refutes_any_mechanism,
    refutes_independent,
)
from auditor.claims import ApproximateDP, Claim, GaussianDP, PrivacyClaim, PrivacyProfile, PureDP, ZeroConcentratedDP
from auditor.errors import InvalidInputError

Floats = NDArray[np.float64]


def worst_case(canaries: int, guesses: int, wins: int, lines: list[tuple[float, float]]) -> tuple[float, Floats]:
    """Return the largest P[V ≥ wins] of any mechanism within the lines (ε, δ), and its distribution of V, by a linear program.

    Permuting the canaries, or flipping coins and guesses together, changes neither V nor the claim. So the output may be the
    guesses, where all outputs with the same number of correct guesses are equally likely. Flipping the coin of a random canary
    turns the outcome "right, a others right" into "wrong, a others right". By the claim, the excesses of P[right, a] over
    e^ε P[wrong, a] sum to at most δ, and so they do with right and wrong exchanged; the maximum is the same without the latter.
    """
    n, k = canaries, guesses
    a, columns = np.arange(k), k + 1 + k * len(lines)
    right = sp.csr_matrix(((a + 1) / n, (a, a + 1)), shape=(k, columns))
    wrong = sp.csr_matrix(((k - a) / n, (a, a)), shape=(k, columns))
    rows, limits = [], []
    for i, (epsilon, delta) in enumerate(lines):
        excess = sp.csr_matrix((np.ones(k), (a, a + k + 1 + i * k)), shape=(k, columns))
        rows += [right - math.exp(epsilon) * wrong - excess, sp.csr_matrix(np.ones((1, k))) @ excess]
        limits += [np.zeros(k), np.array([delta])]
    total = sp.csr_matrix((np.ones(k + 1), (np.zeros(k + 1, int), np.arange(k + 1))), shape=(1, columns))
    goal = np.zeros(columns)
    goal[wins : k + 1] = -1
    solution = linprog(goal, sp.vstack(rows), np.concatenate(limits), total, [1.0], method="highs")
    assert solution.success
    return -float(solution.fun), np.asarray(solution.x[: k + 1])


def gaussian_lines(mu: float, number: int = 12) -> list[tuple[float, float]]:
    from auditor.bounds.conversions import gaussian_delta

    return [(mu * t, gaussian_delta(mu, mu * t)) for t in np.linspace(0, mu / 2 + 5, number)]


CASES: dict[str, list[tuple[float, float]]] = {
    "ε = 1": [(1.0, 0.0)],
    "ε = 0.3, δ = 0.01": [(0.3, 0.01)],
    "ε = 2, δ = 1e-4": [(2.0, 1e-4)],
    "δ = 0.02": [(0.0, 0.02)],
    "two points": [(0.2, 0.1), (1.5, 1e-3)],
    "μ = 0.5": gaussian_lines(0.5),
    "μ = 2": gaussian_lines(2.0),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize(("canaries", "guesses"), [(1, 1), (6, 6), (30, 30), (30, 12), (60, 40)])
def test_no_mechanism_within_the_claim_is_refuted_more_often_than_its_level(
    name: str, canaries: int, guesses: int
) -> None:
    lines = CASES[name]
    curve = TradeoffCurve.of(*np.array(lines).T)
    for wins in sorted({1, guesses // 2, 3 * guesses // 4, guesses - 1, guesses}):
        worst, p = worst_case(canaries, guesses, wins, lines)
        assert sum(p) == pytest.approx(1)
        counts = GuessTally(canaries, guesses, wins)
        # Under any mechanism, an outcome that is refuted at a level has a probability of at most that level.
        assert not refutes_any_mechanism(curve, counts, 0.999 * worst)
        # The same holds for other numbers of correct guesses under this mechanism, whose canaries affect each other as
        # badly as possible.
        for alpha in (0.05, 0.3):
            refuted = [
                w for w in range(guesses + 1) if refutes_any_mechanism(curve, GuessTally(canaries, guesses, w), alpha)
            ]
            assert p[refuted].sum() <= alpha + 1e-9


@pytest.mark.parametrize("line", [(1.0, 0.0), (0.3, 0.01), (2.0, 1e-4), (0.0, 0.02), (1.0, 1e-6)])
@pytest.mark.parametrize(("canaries", "guesses"), [(6, 6), (30, 30), (60, 40)])
def test_for_epsilon_at_delta_the_limit_is_the_exact_worst_case(
    canaries: int, guesses: int, line: tuple[float, float]
) -> None:
    rate, delta = 1 / (1 + math.exp(-line[0])), line[1]
    for wins in range(guesses // 2, guesses + 1):
        exact = worst_case(canaries, guesses, wins, [line])[0]
        limit = p_value_of_line(GuessTally(canaries, guesses, wins), rate, delta)
        assert exact <= limit * (1 + 1e-6) + 1e-9
        assert limit <= exact * (1 + 1e-6) + 1e-7 or exact > 0.99


@pytest.mark.parametrize(("epsilon", "delta"), [(1.0, 0.0), (0.5, 0.1), (2.0, 0.01)])
@pytest.mark.parametrize("guesses", [12, 7, 1])
def test_canaries_apart_by_exact_sums(epsilon: float, delta: float, guesses: int) -> None:
    """Of 12 canaries, B give their side away; guesses on the others are right with probability σ(ε)."""
    curve, n = tradeoff_curve(ApproximateDP(epsilon, delta)), 12
    sure, rate = np.arange(n + 1), 1 / (1 + math.exp(-epsilon))
    for wins in range(guesses + 1):
        free = np.minimum(sure, guesses)
        exact = binom.pmf(sure, n, delta) @ binom.sf(wins - free - 1, guesses - free, rate)
        p_value = p_value_independent(curve, GuessTally(n, guesses, wins))
        assert exact * (1 - 1e-9) <= p_value <= exact * 1.02 + 1e-12


def test_canaries_apart_under_gaussian_noise() -> None:
    """40,000 runs; a probability is off by 5 standard errors with probability below 1e-6."""
    rng, runs, n, k = np.random.default_rng(0), 40_000, 50, 20
    inside = rng.random((runs, n)) < 0.5
    ratio = rng.normal(size=(runs, n)) + inside - 0.5
    order = np.argsort(-np.abs(ratio), axis=1)[:, :k]
    wins = (np.take_along_axis(ratio > 0, order, 1) == np.take_along_axis(inside, order, 1)).sum(1)
    for observed in (15, 17, 19):
        rate = float((wins >= observed).mean())
        p_value = p_value_independent(tradeoff_curve(GaussianDP(1.0)), GuessTally(n, k, observed))
        assert rate - 5 * math.sqrt(rate / runs) <= p_value <= 1.03 * rate + 5 * math.sqrt(rate / runs)


def lucky_run(rng: np.random.Generator, canaries: int, mu: float) -> int:
    """Return correct guesses on all canaries of a mechanism that draws one log-ratio for all of them: each canary satisfies μ."""
    ratio = mu * (rng.normal() + mu / 2)
    return int(rng.binomial(canaries, 1 / (1 + math.exp(-abs(ratio)))))


def test_a_lucky_run_alarms_only_those_who_assume_that_canaries_do_not_affect_each_other() -> None:
    """2,000 runs of 1,000 canaries at level 5 %; at that rate, more than 155 alarms have probability below 1e-7."""
    rng, claim, alarms = np.random.default_rng(1), GaussianDP(1.0), {True: 0, False: 0}
    least = {
        apart: min(
            w for w in range(500, 1001) if OneRunGuesses((GuessTally(1000, 1000, w),), apart).refute(claim, 0.05)
        )
        for apart in alarms
    }
    for _ in range(2_000):
        wins = lucky_run(rng, 1000, 1.0)
        for apart, needed in least.items():
            alarms[apart] += wins >= needed
    assert alarms[False] <= 155
    assert alarms[True] > 600  # the assumption is needed


CLAIMS = [PureDP(0.2), ApproximateDP(0.2, 1e-5), GaussianDP(0.2), PrivacyProfile([(0.2, 1e-3)])]


def test_the_p_value_of_canaries_apart_is_the_smallest_level_that_refutes() -> None:
    looks = OneRunGuesses((GuessTally(400, 400, 250), GuessTally(400, 100, 72)), apart=True)
    for claim in CLAIMS:
        p = looks.p_value_independent(claim)
        assert looks.refute(claim, 1.001 * p) or p == 1
        assert not looks.refute(claim, 0.999 * p)


@pytest.mark.parametrize("claim", [*CLAIMS, ZeroConcentratedDP(0.02)])
@pytest.mark.parametrize("apart", [False, True])
def test_a_bound_is_the_largest_value_that_is_refuted(claim: PrivacyClaim, apart: bool) -> None:
    looks = OneRunGuesses((GuessTally(400, 400, 300), GuessTally(400, 100, 90)), apart)
    bound = looks.bound(claim, 0.05)
    assert bound > claim.value
    assert looks.refute(claim.with_value(bound - 1e-4), 0.05)
    assert not looks.refute(claim.with_value(bound + 1e-4), 0.05)
    # Fewer correct guesses prove no more, and neither does a smaller level.
    assert OneRunGuesses((GuessTally(400, 400, 290), GuessTally(400, 100, 89)), apart).bound(claim, 0.05) <= bound
    assert looks.bound(claim, 0.001) <= bound


@pytest.mark.parametrize("apart", [False, True])
@pytest.mark.parametrize("claim", [*CLAIMS, ApproximateDP(0.0, 0.02)])
def test_a_bound_is_the_last_step_that_any_number_of_guesses_refutes(claim: PrivacyClaim, apart: bool) -> None:
    """The search skips numbers of guesses that prove no more than those before; this is the definition, with all of them."""
    rng = np.random.default_rng(0)
    for canaries in (1, 12, 90, 700):
        for rate in (0.5, 0.7, 0.9, 1.0):
            numbers = rng.permutation(default_guess_numbers(canaries)).tolist()
            looks = OneRunGuesses(tuple(GuessTally(canaries, k, rng.binomial(k, rate)) for k in numbers), apart)
            bound = looks.bound(claim, 0.1)
            assert ((bound - claim.least_value) / STEP).is_integer()
            assert bound == claim.least_value or looks.refute(claim.with_value(bound), 0.1)
            assert not looks.refute(claim.with_value(bound + STEP), 0.1)


def test_few_cells_decide_as_all_of_them_do() -> None:
    rng = np.random.default_rng(0)
    for claim in (*CLAIMS, GaussianDP(2.0), ApproximateDP(1.0, 0.05), ApproximateDP(0.5, 0.9)):
        curve = tradeoff_curve(claim)
        for canaries in (2, 40, 1000):
            tally = GuessTally(canaries, k := int(rng.integers(1, canaries + 1)), int(rng.binomial(k, 0.7)))
            p = p_value_independent(curve, tally)
            for alpha in (p * (1 - 1e-9), p * (1 + 1e-9), p * 0.99, p * 1.01, p / 30, 30 * p, 0.05):
                assert refutes_independent(curve, tally, alpha) == (p <= alpha)


def test_to_assume_less_proves_no_more() -> None:
    for wins, claim in itertools.product((60, 75, 90, 100), CLAIMS):
        counts = (GuessTally(200, 100, wins),)
        assert OneRunGuesses(counts).bound(claim, 0.05) <= OneRunGuesses(counts, apart=True).bound(claim, 0.05) + 1e-4


def test_points_of_a_profile_are_bounds_on_delta() -> None:
    looks = OneRunGuesses((GuessTally(400, 400, 300), GuessTally(400, 100, 95)))
    epsilons = [0.0, 0.5, 1.0, 6.0]
    deltas = [looks.delta(epsilon, 0.05) for epsilon in epsilons]
    assert deltas == sorted(deltas, reverse=True)
    assert deltas[0] > 0 == deltas[-1]
    for epsilon, delta in zip(epsilons[:3], deltas[:3], strict=True):
        assert looks.refute(ApproximateDP(epsilon, delta), 0.05)
        assert not looks.refute(ApproximateDP(epsilon, min(1.0, 1.1 * delta)), 0.05)


@pytest.mark.parametrize("claim", CLAIMS)
def test_power_is_the_chance_that_the_value_is_refuted(claim: Claim) -> None:
    assert isinstance(claim, PrivacyClaim)
    looks = OneRunGuesses((GuessTally(500, 250, 0),), apart=True)
    caught = looks.detectable(claim, 0.01, 0.8)
    assert claim.value < caught < looks.detectable(claim, 0.01, 0.95)
    critical = min(w for w in range(251) if OneRunGuesses((GuessTally(500, 250, w),), apart=True).refute(claim, 0.01))
    assert p_value_independent(
        tradeoff_curve(claim.with_value(caught)), GuessTally(500, 250, critical)
    ) == pytest.approx(0.8, abs=0.01)
    assert OneRunGuesses((GuessTally(3, 3, 0),)).detectable(claim, 0.001, 0.8) == math.inf


def test_impossible_counts_are_an_error() -> None:
    with pytest.raises(InvalidInputError, match="5 of 4 guesses on 10 canaries"):
        GuessTally(10, 4, 5)


def test_for_pure_privacy_the_limit_is_a_binomial_tail() -> None:
    rate = 1 / (1 + math.exp(-1.0))
    for wins in (1, 20, 40, 300):
        exact = float(binom.sf(wins - 1, 400, rate))
        assert p_value_of_line(GuessTally(500, 400, wins), rate, 0.0) == pytest.approx(exact, rel=1e-9)
        # A δ that is too small to matter changes nothing, however rare the guesses are.
        assert p_value_of_line(GuessTally(500, 400, wins), rate, 1e-300) == pytest.approx(exact, rel=1e-9)


@pytest.mark.parametrize(("name", "most"), [("two points", 1.5), ("μ = 0.5", 1.5), ("μ = 2", 1.5)])
def test_the_limit_is_near_the_exact_worst_case(name: str, most: float) -> None:
    """The worst case has a probability near 5 %; the factor is the loss from looking at thresholds only."""
    lines = CASES[name]
    curve = TradeoffCurve.of(*np.array(lines).T)
    worst = {wins: worst_case(60, 40, wins, lines)[0] for wins in range(20, 41)}
    wins = min(worst, key=lambda w: abs(worst[w] - 0.05))
    assert refutes_any_mechanism(curve, GuessTally(60, 40, wins), most * worst[wins])


def test_guesses_are_on_the_extreme_scores() -> None:
    scores, inside = np.array([0.1, 5.0, -3.0, 0.2, 4.0]), np.array([True, True, False, False, False])
    assert count_right_guesses(scores, inside, 3) == GuessTally(5, 3, 2)  # 5 and 4 are guessed in, −3 out
    assert count_right_guesses(scores, inside, 1) == GuessTally(5, 1, 1)
    assert count_right_guesses(scores, inside, 5) == GuessTally(5, 5, 2)


def test_the_usual_numbers_of_guesses() -> None:
    assert default_guess_numbers(10_000) == (10_000, 5_000, 2_500, 1_250, 625, 312, 156, 78)
    assert default_guess_numbers(3) == (3,)
