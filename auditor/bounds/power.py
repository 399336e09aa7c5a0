"""The smallest violation that a test detects, which tells how much "no violation found" means."""

import math
from collections.abc import Callable, Sequence

import numpy as np

from auditor.bounds.bisection import narrow_bracket
from auditor.bounds.divergences import Wager
from auditor.bounds.evidence import Counts, GuessCounts
from auditor.bounds.guesses import SHARE_FOR_GUESS_RATE, epsilon_from_rate, free_win_rate, mu_from_rate
from auditor.bounds.intervals import Floats, clopper_pearson_lower, clopper_pearson_upper, finite_exp
from auditor.claims import Probability


def detectable_by_guesses(counts: GuessCounts, epsilon: float, delta: float, alpha: float, chance: float) -> float:
    """Return the smallest true ε (nats) at which the guess bound refutes a claimed ``epsilon`` with this probability.

    A distinguisher that wins as often as this ε allows reaches the critical number of wins with probability ``chance``. The
    value is exact for the observed number of guesses. It is infinite if all guesses won would not refute the claim.
    """
    gamma = SHARE_FOR_GUESS_RATE * alpha if delta > 0 else 0.0
    free = free_win_rate(counts, delta, gamma)

    def refutes(wins: int) -> bool:
        rate = float(clopper_pearson_lower(wins, counts.guesses, alpha - gamma))
        return epsilon_from_rate(rate, free) > epsilon

    rate = rate_that_refutes(refutes, counts.guesses, chance)
    return math.inf if rate is None else epsilon_from_rate(rate, free)


def detectable_mu(counts: GuessCounts, mu: float, alpha: float, chance: float) -> float:
    """Return the smallest true μ at which guessing without abstention refutes a claimed ``mu`` with this probability."""
    rate = rate_that_refutes(
        lambda wins: mu_from_rate(float(clopper_pearson_lower(wins, counts.trials, alpha))) > mu, counts.trials, chance
    )
    return math.inf if rate is None else mu_from_rate(rate)


def rate_that_refutes(refutes: Callable[[int], bool], guesses: int, chance: float) -> float | None:
    """Return the rate at which the critical number of wins has probability ``chance``; None if no wins refute."""
    if guesses == 0 or not refutes(guesses):
        return None
    _, critical = narrow_bracket(refutes, 0, guesses, lambda low, high: high - low <= 1)
    # P[Bin(K, r) ≥ critical] = chance means P[Bin(K, r) ≤ critical − 1] = 1 − chance. An upper limit solves this for r.
    return float(clopper_pearson_upper(critical - 1, guesses, 1 - chance))


def detectable_by_two_intervals(counts: Counts, epsilon: float, delta: float, alpha: float, chance: float) -> float:
    """Return the smallest true ε (nats) at which two intervals refute a claimed ``epsilon`` with this probability.

    The event's probability on the right is taken to be the observed rate. The power is then exact, as a sum over the
    joint distribution of both counts. The value is infinite if no probability on the left is large enough.
    """
    from scipy.optimize import brentq
    from scipy.stats import binom

    n_left, n_right = counts.trials_left, counts.trials_right
    rate_right = max(counts.hits_right, 1) / max(n_right, 1)
    hits_right = np.arange(binom.ppf(1e-9, n_right, rate_right), binom.isf(1e-9, n_right, rate_right) + 1)
    weights = binom.pmf(hits_right, n_right, rate_right)
    # For X hits on the left and Y on the right, the bound exceeds ε if the lower limit at X exceeds the threshold,
    # e^ε times the upper limit at Y, plus δ. This is so if P[Bin(n_left, threshold) ≥ X] < alpha/2.
    thresholds = finite_exp(epsilon) * clopper_pearson_upper(hits_right, n_right, alpha / 2) + delta
    critical = np.where(thresholds < 1, binom.isf(alpha / 2, n_left, np.minimum(thresholds, 1)) + 1, n_left + 1)

    def power(rate_left: float) -> float:
        return float(np.sum(weights * binom.sf(critical - 1, n_left, rate_left)))

    if not power(1.0) > chance:
        return math.inf
    rate_left = brentq(lambda rate: power(rate) - chance, 0.0, 1.0)
    return max(0.0, math.log((rate_left - delta) / rate_right)) if rate_left > delta else 0.0


def wealth_reached(wager: Wager, sides: Sequence[Floats], divergence: float, trials: int, chance: float) -> float:
    """Return ln of the wealth that a wager against ``divergence`` (nats) reaches with probability ``chance``.

    It is −∞ if the wealth could fall to 0. Its logarithm is taken to be normal. ``sides`` holds the probabilities of the
    cells under P and under Q.
    """
    from scipy.special import ndtri

    factors = wager.factors(divergence)
    if not np.all(factors > 0):
        return -math.inf
    logs, both = np.log(factors), np.stack(sides) / 2
    each = float((both * logs).sum())
    variance = max(0.0, float((both * logs**2).sum()) - each**2)
    return trials * each - float(ndtri(chance)) * math.sqrt(trials * variance)


def detectable_probability(claim: Probability, trials: int, alpha: float, chance: float) -> float:
    """Return the probability nearest to the claim at which a Clopper-Pearson limit refutes the claim with this chance.

    Return ±∞ if there is none. The value is exact, since the hits are binomial.
    """
    p = claim.probability
    if claim.at_most:
        rate = rate_that_refutes(lambda hits: bool(clopper_pearson_lower(hits, trials, alpha) > p), trials, chance)
        return math.inf if rate is None else rate
    rate = rate_that_refutes(
        lambda misses: bool(clopper_pearson_upper(trials - misses, trials, alpha) < p), trials, chance
    )
    return -math.inf if rate is None else 1 - rate
