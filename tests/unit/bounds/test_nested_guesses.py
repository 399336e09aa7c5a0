"""Several numbers of guesses together: against the worst case by linear programs, by enumeration, and in leaky runs."""

import itertools
import math
from collections.abc import Callable

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.optimize import linprog
from scipy.stats import binom

from auditor.bounds.conversions import tradeoff_curve
from auditor.bounds.intervals import Ints
from auditor.bounds.nested_guesses import bound_of_nested_guesses, probability_of_walk
from auditor.bounds.one_run import (
    GuessTally,
    OneRunGuesses,
    count_right_guesses,
    default_guess_numbers,
    guess_numbers_between,
    p_value_independent,
    p_value_of_line,
    terms_of_line,
)
from auditor.claims import ApproximateDP

Floats = NDArray[np.float64]


def outcomes(guesses: int) -> NDArray[np.bool_]:
    return np.array(list(itertools.product([False, True], repeat=guesses)))


def holds(right: NDArray[np.bool_], numbers: Ints, limits: Ints) -> NDArray[np.bool_]:
    """Return for each outcome, of shape (outcomes, guesses) from the surest on, whether some losses are within their limit."""
    lost = np.cumsum(~right, axis=1)[:, numbers - 1]
    return np.asarray((lost <= limits).any(axis=1))


@pytest.mark.parametrize("rate", [0.01, 0.3, 0.5])
def test_the_walk_has_the_probability_that_all_outcomes_add_up_to(rate: float) -> None:
    right = outcomes(9)
    chances = np.where(right, 1 - rate, rate).prod(axis=1)
    rng = np.random.default_rng(0)
    for _ in range(30):
        numbers = np.sort(rng.integers(1, 10, 4))
        limits = rng.integers(-1, 6, 4)
        exact = chances[holds(right, numbers, limits)].sum()
        assert probability_of_walk(numbers, limits, rate) == pytest.approx(exact, abs=1e-12)
    assert probability_of_walk(np.array([100_000]), np.array([30_100]), 0.3) == pytest.approx(
        float(binom.cdf(30_100, 100_000, 0.3)), rel=1e-9
    )


def worst_probability(guesses: int, event: NDArray[np.bool_], epsilon: float, budget: float) -> float:
    """Return the largest probability of an event over outcomes: the excesses of (ε, δ) over all guesses add up to the budget."""
    right = outcomes(guesses)
    place = {tuple(row): at for at, row in enumerate(right.tolist())}
    flips = [
        (at, place[tuple(np.where(np.arange(guesses) == i, ~row, row).tolist())])
        for at, row in enumerate(right)
        for i in range(guesses)
        if row[i]
    ]
    size, at = len(right), np.arange(len(flips))
    above, below = np.array(flips).T
    ones = np.ones(len(flips))
    lines = (
        sp.csr_matrix((ones, (at, above)), shape=(len(flips), size + len(flips)))
        - sp.csr_matrix((math.exp(epsilon) * ones, (at, below)), shape=(len(flips), size + len(flips)))
        - sp.csr_matrix((ones, (at, size + at)), shape=(len(flips), size + len(flips)))
    )
    total = sp.csr_matrix(np.r_[np.zeros(size), ones])
    solution = linprog(
        -np.r_[event.astype(float), np.zeros(len(flips))],
        sp.vstack([lines, total]),
        np.r_[np.zeros(len(flips)), budget],
        sp.csr_matrix(np.r_[np.ones(size), np.zeros(len(flips))]),
        [1.0],
        method="highs",
    )
    assert solution.success
    return -float(solution.fun)


@pytest.mark.parametrize("delta", [0.0, 1e-3, 0.02])
@pytest.mark.parametrize("epsilon", [0.0, 0.7, 2.0])
def test_no_mechanism_reaches_the_limits_more_often_than_the_theorem_says(epsilon: float, delta: float) -> None:
    """The linear program has every mechanism: any order of the canaries, any effect of one on another, all of δ on one guess."""
    guesses, rate = 6, 1 / (1 + math.exp(epsilon))
    rng = np.random.default_rng(0)
    for _ in range(12):
        numbers = np.sort(rng.choice(np.arange(1, guesses + 1), 3, replace=False))
        limits = np.minimum(rng.integers(-1, 3, 3), numbers - 1)
        event = holds(outcomes(guesses), numbers, limits)
        some = limits >= 0
        _, paid = terms_of_line(guesses, numbers[some], (numbers - limits)[some], 1 - rate, delta)
        stated = probability_of_walk(numbers, limits, rate) + float(paid.sum())
        exact = worst_probability(guesses, event, epsilon, guesses * delta)
        assert exact <= stated + 1e-9
        assert delta > 0 or exact == pytest.approx(stated, abs=1e-9)


def bound(wins: dict[int, int], canaries: int, delta: float, alpha: float, apart: bool) -> float:
    tallies = [GuessTally(canaries, guesses, right) for guesses, right in wins.items()]
    return bound_of_nested_guesses(tallies, delta, alpha, apart=apart)


@pytest.mark.parametrize("delta", [0.0, 1e-3, 0.02])
@pytest.mark.parametrize("epsilon", [0.3, 1.0])
def test_the_bound_of_every_outcome_errs_as_seldom_as_it_says(epsilon: float, delta: float) -> None:
    """Of all outcomes of six guesses, those whose bound exceeds the truth have at most probability alpha under any mechanism."""
    right, alpha, numbers = outcomes(6), 0.3, np.array([2, 4, 6])
    wins = np.cumsum(right, axis=1)[:, numbers - 1]
    bounds = {}
    for row in {tuple(row) for row in wins.tolist()}:
        bounds[row] = bound(dict(zip(numbers.tolist(), row, strict=True)), 6, delta, alpha, apart=False)
    exceeds = np.array([bounds[tuple(row)] > epsilon for row in wins.tolist()])
    assert worst_probability(6, exceeds, epsilon, 6 * delta) <= alpha + 1e-9
    assert delta > 0.01 or exceeds.any()


@pytest.mark.parametrize("delta", [0.0, 1e-3, 0.05])
def test_one_number_of_guesses_is_bounded_as_it_is_alone(delta: float) -> None:
    for wins in (30, 45, 60):
        tally = GuessTally(100, 60, wins)
        proved = bound({60: wins}, 100, delta, 0.05, apart=False)
        if proved:
            assert p_value_of_line(tally, 1 / (1 + math.exp(-proved)), delta) == pytest.approx(0.05, rel=1e-4)
        proved = bound({60: wins}, 100, delta, 0.05, apart=True)
        if proved:
            exact = p_value_independent(tradeoff_curve(ApproximateDP(proved, delta)), tally)
            assert exact == pytest.approx(0.05, rel=0.03)
    # However large δ is, the most guesses that are given count.
    assert bound({100: 100}, 1000, 1e-3, 0.05, apart=False) > 1
    assert bound({60: 60}, 100, delta, 0.05, apart=True) > bound({60: 50}, 100, delta, 0.05, apart=True) > 0


Scores = Callable[[np.random.Generator, NDArray[np.bool_]], Floats]


def gaussian(rng: np.random.Generator, inside: NDArray[np.bool_]) -> Floats:
    return np.asarray(rng.normal(size=len(inside)) + inside)


def test_together_they_prove_more_than_with_a_share_of_the_level_each() -> None:
    """1,000 canaries of μ = 1 at δ = 1e-5 and 95 %: the median of 20 seeds, by the same coins."""
    together, shared = list[float](), list[float]()
    for seed in range(20):
        rng = np.random.default_rng(seed)
        inside = rng.random(1000) < 0.5
        scores = gaussian(rng, inside)
        usual = [count_right_guesses(scores, inside, guesses) for guesses in default_guess_numbers(1000)]
        between = [count_right_guesses(scores, inside, guesses) for guesses in guess_numbers_between(1000)]
        together.append(bound_of_nested_guesses(usual + between, 1e-5, 0.05, apart=False))
        shared.append(OneRunGuesses(tuple(usual)).bound(ApproximateDP(0, 1e-5), 0.05))
    assert np.median(together) > np.median(shared) + 0.05
    assert sum(more < less - 0.02 for more, less in zip(together, shared, strict=True)) <= 2


def responses(epsilon: float, delta: float) -> Scores:
    """Return randomised response that gives coins away with probability δ, and is surest of these."""

    def score(rng: np.random.Generator, inside: NDArray[np.bool_]) -> Floats:
        right = rng.random(len(inside)) < 1 / (1 + math.exp(-epsilon))
        away = rng.random(len(inside)) < delta
        said = np.where(right | away, inside, ~inside) - 0.5
        return np.asarray(said * (1 + rng.random(len(inside)) + 9 * away))

    return score


def all_at_once(epsilon: float, delta: float) -> Scores:
    """Return randomised response that gives away all coins of a run together, with probability δ."""
    alone = responses(epsilon, 0.0)

    def score(rng: np.random.Generator, inside: NDArray[np.bool_]) -> Floats:
        return inside - 0.5 if rng.random() < delta else alone(rng, inside)

    return score


@pytest.mark.parametrize(
    ("epsilon", "delta", "draw", "apart"),
    [
        (1.0, 1e-5, responses(1.0, 1e-5), False),
        (1.0, 1e-5, responses(1.0, 1e-5), True),
        (1.0, 0.02, responses(1.0, 0.02), True),
        (1.0, 1e-3, responses(1.0, 1e-3), False),
        (0.5, 0.01, all_at_once(0.5, 0.01), False),
    ],
)
def test_bounds_of_mechanisms_at_their_claim_seldom_exceed_it(
    epsilon: float, delta: float, draw: Scores, apart: bool
) -> None:
    """Of 120 runs at a level of 10 %, more than 30 errors have probability below 1e-6."""
    rng, errors, numbers = np.random.default_rng(1), 0, default_guess_numbers(100) + guess_numbers_between(100)
    for _ in range(120):
        inside = rng.random(100) < 0.5
        scores = draw(rng, inside)
        tallies = [count_right_guesses(scores, inside, guesses) for guesses in numbers]
        errors += bound_of_nested_guesses(tallies, delta, 0.1, apart=apart) > epsilon
    assert errors <= 30


def test_bounds_fall_with_delta_and_rise_with_the_level_and_with_right_guesses() -> None:
    wins = {400: 300, 100: 90, 50: 48}
    for apart in (False, True):
        proved = [bound(wins, 400, delta, 0.05, apart) for delta in (0.0, 1e-6, 1e-4, 1e-3)]
        # Another order of the outcomes may gain a little.
        assert all(less < more + 0.002 for more, less in itertools.pairwise(proved))
        assert proved[-1] < proved[0]
        assert bound(wins, 400, 1e-5, 0.01, apart) < bound(wins, 400, 1e-5, 0.1, apart)
        assert bound({**wins, 50: 50}, 400, 1e-5, 0.05, apart) > bound(wins, 400, 1e-5, 0.05, apart)
    assert bound({400: 400, 100: 100}, 400, 0.9, 0.05, apart=False) == 0
    assert bound({4: 0}, 4, 1e-5, 0.05, apart=True) == bound({4: 0}, 4, 1e-5, 0.05, apart=False) == 0


def test_many_canaries_take_no_time() -> None:
    """A million canaries: the walk is kept where its probability is."""
    n = 1_000_000
    wins = {n >> i: int((n >> i) * (0.69 + 0.03 * i)) for i in range(8)}
    assert 0.5 < bound(wins, n, 1e-8, 0.05, apart=False) < 3
