"""The power that reports state, against the exact distribution of the counts."""

import math

import numpy as np
import pytest
from scipy.stats import binom, norm

from auditor.bounds.evidence import Counts, GuessCounts
from auditor.bounds.guesses import guess_epsilon
from auditor.bounds.intervals import two_intervals_epsilon
from auditor.bounds.power import (
    detectable_by_guesses,
    detectable_by_two_intervals,
)
from auditor.claims import ApproximateDP, GaussianDP, PrivacyClaim, PrivacyProfile, PureDP, RenyiDP, ZeroConcentratedDP


@pytest.mark.parametrize("chance", [0.8, 0.95])
@pytest.mark.parametrize("claimed", [0.5, 2.0])
def test_the_detectable_epsilon_is_refuted_with_the_stated_chance(chance: float, claimed: float) -> None:
    guesses, trials, alpha = 700, 2000, 0.01

    def counts(wins: int) -> GuessCounts:
        return GuessCounts(
            Counts(wins, trials // 2, guesses - wins, trials // 2), Counts(0, trials // 2, 0, trials // 2), True
        )

    epsilon = detectable_by_guesses(counts(350), claimed, 0.0, alpha, chance)
    refutes = np.array([guess_epsilon(counts(w), 0.0, alpha) > claimed for w in range(guesses + 1)])
    power = binom.pmf(np.arange(guesses + 1), guesses, 1 / (1 + math.exp(-epsilon)))[refutes].sum()
    assert power == pytest.approx(chance, abs=1e-9)


def test_nothing_is_detectable_without_guesses() -> None:
    empty = Counts(0, 50, 0, 50)
    assert detectable_by_guesses(GuessCounts(empty, empty), 1.0, 0.0, 0.05, 0.8) == math.inf


def test_nothing_refutes_a_claim_that_no_counts_exceed() -> None:
    counts = Counts(50, 50, 0, 50)
    assert detectable_by_guesses(GuessCounts(counts, Counts(0, 50, 0, 50)), 1e9, 0.0, 0.05, 0.8) == math.inf
    assert detectable_by_two_intervals(counts, 1e9, 0.0, 0.05, 0.8) == math.inf


def test_two_intervals_detect_with_the_stated_chance() -> None:
    n, alpha, claimed = 80, 0.05, 0.5
    right = 8 / n
    refutes = np.array(
        [[two_intervals_epsilon(Counts(x, n, y, n), 0.0, alpha) > claimed for y in range(n + 1)] for x in range(n + 1)]
    )
    at = np.arange(n + 1)
    for chance in (0.8, 0.95):
        epsilon = detectable_by_two_intervals(Counts(24, n, 8, n), claimed, 0.0, alpha, chance)
        joint = np.outer(binom.pmf(at, n, right * math.exp(epsilon)), binom.pmf(at, n, right))
        assert joint[refutes].sum() == pytest.approx(chance, abs=1e-6)


@pytest.mark.parametrize("epsilon", [0.0, 0.1, 1.0, 5.0])
@pytest.mark.parametrize("delta", [0.0, 1e-3, 0.5])
def test_the_total_variation_that_a_claim_allows_is_reached_by_the_worst_mechanism(
    epsilon: float, delta: float
) -> None:
    """Kairouz, Oh & Viswanath 2015: reveal the data set with probability δ, and otherwise answer by randomised response."""
    truthful = math.exp(epsilon) / (1 + math.exp(epsilon))
    left = np.array([delta, 0, (1 - delta) * truthful, (1 - delta) * (1 - truthful)])
    right = left[[1, 0, 3, 2]]
    claim = ApproximateDP(epsilon, delta)
    assert claim.total_variation() == pytest.approx(np.maximum(left - right, 0).sum(), abs=1e-12)
    assert PrivacyProfile([(epsilon, delta), (9.0, 0.9)]).total_variation() == pytest.approx(claim.total_variation())


@pytest.mark.parametrize("mu", [0.1, 1.0, 3.0])
def test_of_gaussians_it_is_their_own_and_no_divergence_allows_less(mu: float) -> None:
    own = 1 - 2 * norm.cdf(-mu / 2)
    assert GaussianDP(mu).total_variation() == pytest.approx(own)
    assert ZeroConcentratedDP(mu**2 / 2).total_variation() >= own
    assert RenyiDP(4.0, 2 * mu**2).total_variation() >= own


@pytest.mark.parametrize("claim", [PureDP(3.0), GaussianDP(0.2), ZeroConcentratedDP(1e-4), ApproximateDP(0.0, 0.0)])
def test_a_claim_is_at_most_large(claim: PrivacyClaim) -> None:
    assert 0 <= claim.relative_size <= 1
    assert PureDP(1.0).relative_size == 1
