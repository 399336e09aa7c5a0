"""The bound from guesses, by exact enumeration over all possible counts."""

import math

import numpy as np
import pytest
from guessed import counted, joint, sigma
from scipy.stats import binom

from auditor.bounds.guesses import guess_delta, guess_epsilon


@pytest.mark.parametrize("epsilon", [0.0, 0.1, 1.0, 3.0])
@pytest.mark.parametrize("guesses", [1, 5, 40, 333])
@pytest.mark.parametrize("alpha", [0.05, 0.001])
def test_pure_bound_exceeds_the_truth_at_most_at_its_level(epsilon: float, guesses: int, alpha: float) -> None:
    """Exactly: over W ~ Bin(K, σ(ε)), the probability that the bound exceeds ε comes close to alpha from below."""
    wins = np.arange(guesses + 1)
    bounds = np.array([guess_epsilon(counted(w, guesses - w, 2 * guesses), 0.0, alpha) for w in wins])
    error = binom.pmf(wins, guesses, sigma(epsilon))[bounds > epsilon + 1e-9].sum()
    assert error <= alpha * (1 + 1e-9)
    if guesses == 333 and epsilon <= 1:
        assert error > alpha / 3  # exact, not merely valid


@pytest.mark.parametrize(
    ("epsilon", "delta"),
    [(0.5, 0.05), (1.0, 0.2), (1.0, 0.1), (1.0, 0.02), (1.0, 0.0), (0.0, 0.1), (0.0, 0.2), (2.0, 0.3), (3.0, 0.01)],
)
@pytest.mark.parametrize("guess_rate", [0.1, 0.3, 0.5, 0.6, 1.0])
@pytest.mark.parametrize("one_tailed", [True, False])
def test_approximate_bound_exceeds_the_truth_at_most_at_its_level(
    epsilon: float, delta: float, guess_rate: float, one_tailed: bool
) -> None:
    """Exactly: the sum over the trinomial (wins, losses, abstentions) on the edge P(win) = e^ε P(loss) + mδ/2."""
    n, alpha = 40, 0.1
    free = (1 if one_tailed else 2) * delta / 2
    win = min(guess_rate, (math.exp(epsilon) * guess_rate + free) / (1 + math.exp(epsilon)))
    outcomes, chances = joint(n, win, guess_rate - win)
    counts = [counted(w, x, n, one_tailed=one_tailed) for w, x in outcomes.tolist()]
    for bound_of, given, truth in ((guess_epsilon, delta, epsilon), (guess_delta, epsilon, delta)):
        bounds = np.array([bound_of(guesses, given, alpha) for guesses in counts])
        assert chances[bounds > truth + 1e-9].sum() <= alpha


def test_free_wins_are_not_counted_as_evidence() -> None:
    """If δ were ignored, the very counts that δ explains would refute the claim."""
    counts = counted(300, 100, 1000, one_tailed=True)
    assert guess_epsilon(counts, 0.0, 0.05) > 0.9
    assert guess_epsilon(counts, 0.3, 0.05) < 0.75


def test_no_guesses_and_no_wins_prove_nothing() -> None:
    assert guess_epsilon(counted(0, 0, 100), 0.0, 0.05) == 0
    assert guess_epsilon(counted(0, 50, 100), 0.0, 0.05) == 0


def test_when_every_guess_wins_the_bound_is_the_logarithm_of_their_number() -> None:
    """P[Bin(K, r) ≥ K] = r^K = α, so that r_L/(1 − r_L) is about K/ln(1/α)."""
    bound = guess_epsilon(counted(500_000, 0, 1_000_000), 0.0, 0.05)
    assert bound == pytest.approx(math.log(500_000 / math.log(20)), abs=1e-5)
