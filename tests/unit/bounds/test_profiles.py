"""Simultaneous bounds, and bounds on δ and μ: levels and powers by exact enumeration."""

import math

import numpy as np
import pytest
from guessed import counted, joint, sigma
from scipy.special import ndtr
from scipy.stats import binom

from auditor.bounds.guesses import guess_delta, guess_epsilon, guess_mu, privacy_profile
from auditor.bounds.power import detectable_mu
from auditor.errors import InvalidInputError


def true_delta(at: float, epsilon: float, delta: float) -> float:
    """Return δ(at) of the bit marked as certain with probability δ, else a randomised response of ε."""
    lie = 1 - sigma(epsilon)
    return delta + (1 - delta) * max(0.0, (1 - lie) - math.exp(at) * lie)


@pytest.mark.parametrize(("epsilon", "delta"), [(1.0, 0.1), (0.5, 0.3), (2.0, 0.02)])
def test_points_of_a_profile_hold_together(epsilon: float, delta: float) -> None:
    """Exactly: over all counts of two rules on the same trials (only certain outputs; all), the probability of a point
    above the truth."""
    n, alpha, at = 16, 0.2, np.array([0.0, epsilon / 2, epsilon, 2 * epsilon])
    truth = np.array([true_delta(e, epsilon, delta) for e in at])
    outcomes, chances = joint(n, delta, (1 - delta) * sigma(epsilon))
    error = 0.0
    for (certain, won), chance in zip(outcomes.tolist(), chances, strict=True):
        events = [counted(certain, 0, n), counted(certain + won, n - certain - won, n)]
        error += chance * bool(np.any(privacy_profile(events, at, alpha) > truth + 1e-9))
    assert error <= alpha


def test_delta_is_the_smallest_that_is_not_refuted() -> None:
    counts, alpha = counted(300, 40, 1000), 0.05
    for epsilon in (0.0, 1.0, 1.5):
        delta = guess_delta(counts, epsilon, alpha)
        assert 0 < delta < 0.3
        assert (
            guess_epsilon(counts, delta * (1 - 1e-6), alpha)
            > epsilon
            >= guess_epsilon(counts, delta * (1 + 1e-6), alpha)
        )


# --- μ ---


@pytest.mark.parametrize("mu", [0.0, 0.5, 2.0])
@pytest.mark.parametrize("trials", [1, 30, 300])
@pytest.mark.parametrize("alpha", [0.05, 0.001])
def test_mu_exceeds_the_truth_at_most_at_its_level(mu: float, trials: int, alpha: float) -> None:
    """Exactly: over W ~ Bin(N, Φ(μ/2)), the probability that the bound exceeds μ comes close to alpha from below."""
    wins = np.arange(trials + 1)
    bounds = np.array([guess_mu(counted(w, trials - w, trials), alpha) for w in wins.tolist()])
    error = binom.pmf(wins, trials, ndtr(mu / 2))[bounds > mu + 1e-9].sum()
    assert error <= alpha * (1 + 1e-9)
    if trials == 300 and mu <= 0.5:
        assert error > alpha / 3


def test_mu_is_told_that_a_rule_abstained() -> None:
    with pytest.raises(InvalidInputError, match="it must never abstain"):
        guess_mu(counted(50, 10, 100), 0.05)


@pytest.mark.parametrize("chance", [0.8, 0.95])
@pytest.mark.parametrize("claimed", [0.0, 1.0])
def test_the_detectable_mu_is_refuted_with_the_stated_chance(chance: float, claimed: float) -> None:
    trials, alpha = 500, 0.01
    mu = detectable_mu(counted(300, 200, trials), claimed, alpha, chance)
    refutes = np.array([guess_mu(counted(w, trials - w, trials), alpha) > claimed for w in range(trials + 1)])
    power = binom.pmf(np.arange(trials + 1), trials, ndtr(mu / 2))[refutes].sum()
    assert power == pytest.approx(chance, abs=1e-9)
    assert mu > claimed


def test_a_profile_is_near_the_truth_on_many_outputs_and_falls_with_epsilon() -> None:
    n, epsilon, delta, at = 10**6, 1.0, 0.1, np.array([0.0, 0.5, 1.0, 2.0])
    certain, won = round(delta * n), round((1 - delta) * sigma(epsilon) * n)
    events = [counted(certain, 0, n), counted(certain + won, n - certain - won, n)]
    profile = privacy_profile(events, at, 0.01)
    truth = np.array([true_delta(e, epsilon, delta) for e in at])
    assert np.all(profile < truth)
    assert np.all(profile > 0.95 * truth)
    assert np.all(np.diff(profile) <= 0)


@pytest.mark.parametrize("epsilon", [0.0, 1.0, 10.0])
def test_delta_of_nothing_is_nothing(epsilon: float) -> None:
    assert guess_delta(counted(0, 0, 100), epsilon, 0.05) == 0
    assert guess_delta(counted(0, 50, 100), epsilon, 0.05) == 0


def test_no_mu_is_detectable_with_too_few_outputs() -> None:
    assert detectable_mu(counted(5, 5, 10), 8.0, 0.001, 0.8) == math.inf
