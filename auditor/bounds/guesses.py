"""The bound from guessing: how often can a distinguisher name the side that an output came from?

A fair coin picks the side of every trial. A distinguisher fixed beforehand guesses "left" on one event, "right" on a
disjoint one, and abstains elsewhere. Under (ε, δ)-differential privacy

    P(win) ≤ e^ε P(loss) + m δ / 2,          m = the number of sides ever guessed,

which is the definition applied to each event, and averaged over the coin. So a trial gives a free win with probability
at most c = mδ/2, and other guesses win at a rate of at most σ(ε) = e^ε/(1 + e^ε). Let κ be the probability of a guess.
Given K guesses in N trials, the number of wins is stochastically at most Bin(K, r) with

    r = c/κ + (1 − c/κ) σ(ε).

For δ = 0 the unknown κ drops out, and one Clopper-Pearson limit on r is exact. The free wins follow Kairouz, Oh &
Viswanath 2015. For δ > 0, κ is replaced by a lower limit κ_L that errs with probability γ, which is a part of alpha
(Berger & Boos 1994).
"""

import math
from collections.abc import Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike

from auditor.bounds.evidence import GuessCounts
from auditor.bounds.intervals import Floats, clopper_pearson_lower, finite_exp
from auditor.errors import InvalidInputError

# If δ > 0, this share of alpha is γ. It moves the bound on r by z(0.95 α)/z(α), less than 1 % for the usual alphas, and
# κ_L then lies within 4 standard errors of K/N.
SHARE_FOR_GUESS_RATE = 0.05


def free_win_rate(counts: GuessCounts, delta: float, gamma: float) -> float:
    """Return an upper limit on c/κ, the share of guesses that may be won for free: 0 for δ = 0, 1 without guesses.

    The limit is too low with probability at most ``gamma``.
    """
    if delta == 0:
        return 0.0
    guess_rate = float(clopper_pearson_lower(counts.guesses, counts.trials, gamma))
    return min(1.0, counts.directions * delta / 2 / guess_rate) if guess_rate > 0 else 1.0


def epsilon_from_rate(rate: float, free: float) -> float:
    """Return the ε (nats, at least 0) that allows wins at ``rate``, if a share ``free`` of the guesses is won for free.

    >>> round(epsilon_from_rate(0.75, 0.0), 6) == round(math.log(3), 6)
    True
    """
    if rate <= max(0.5, free):
        # ε = 0 allows a rate of one half.
        return 0.0
    return max(0.0, math.log((rate - free) / (1 - rate))) if rate < 1 else math.inf


Rates = TypeVar("Rates", float, Floats)


def rate_of_epsilon(epsilon: float, free: Rates) -> Rates:
    """Return the rate of right guesses that ε (nats) allows if a share ``free`` of the guesses is won for free.

    This is the inverse of :func:`epsilon_from_rate` for ε > 0.

    >>> round(rate_of_epsilon(1.0, 0.0), 4), round(epsilon_from_rate(rate_of_epsilon(2.0, 0.25), 0.25), 6)
    (0.7311, 2.0)
    """
    return (1 + free * math.exp(-epsilon)) / (1 + math.exp(-epsilon))


def guess_epsilon(counts: GuessCounts, delta: float, alpha: float) -> float:
    """Return a lower bound on ε (nats) at ``delta``; it exceeds the truth with probability at most ``alpha``.

    The distinguisher must be fixed before the counted outputs are drawn, and a fair coin must pick the side of every trial. For
    δ = 0 the level is exact: for some mechanism, the bound errs with probability close to alpha.

    Raises InvalidInputError for an alpha outside (0, 1) or impossible counts.
    """
    if counts.guesses == 0:
        return 0.0
    gamma = SHARE_FOR_GUESS_RATE * alpha if delta > 0 else 0.0
    rate = float(clopper_pearson_lower(counts.wins, counts.guesses, alpha - gamma))
    return epsilon_from_rate(rate, free_win_rate(counts, delta, gamma))


def mu_from_rate(rate: float) -> float:
    """Return the μ at which the best distinguisher without abstention wins at ``rate``: 2 Φ⁻¹(rate), at least 0.

    Under μ-Gaussian privacy, a guess wins with probability at most Φ(μ/2), which N(0, 1) against N(μ, 1) reaches.
    """
    from scipy.special import ndtri

    return max(0.0, 2 * float(ndtri(rate)))


def rate_of_mu(mu: float) -> float:
    """Return Φ(μ/2), the largest rate of right guesses that μ allows without abstention: the inverse of mu_from_rate.

    >>> round(rate_of_mu(1.0), 4), round(mu_from_rate(rate_of_mu(2.0)), 6)
    (0.6915, 2.0)
    """
    from scipy.special import ndtr

    return float(ndtr(mu / 2))


def guess_mu(counts: GuessCounts, alpha: float) -> float:
    """Return a lower bound on μ; it exceeds the truth with probability at most ``alpha``.

    Raises InvalidInputError if the rule abstained on any trial.
    """
    if counts.guesses != counts.trials:
        raise InvalidInputError(
            f"the rule guessed {counts.guesses} of {counts.trials} trials; for μ it must never abstain"
        )
    return mu_from_rate(float(clopper_pearson_lower(counts.wins, counts.trials, alpha)))


def guess_delta(counts: GuessCounts, epsilon: ArrayLike, alpha: float) -> Floats:
    """Return lower bounds on δ at ``epsilon`` (nats), in its shape; with probability 1 − ``alpha`` none is too large.

    Each bound is the smallest δ that :func:`guess_epsilon` does not refute at this ε. All bounds on ε and on δ from one
    set of counts use the same two limits, so they hold together.

    >>> from auditor.bounds.evidence import Counts
    >>> counts = GuessCounts(Counts(50, 1000, 0, 1000), Counts(0, 1000, 0, 1000), one_tailed=True)
    >>> 0.02 < float(guess_delta(counts, 1.0, 0.05)) < 0.05
    True
    """
    if counts.guesses == 0:
        return np.zeros(np.shape(epsilon))
    gamma = SHARE_FOR_GUESS_RATE * alpha
    rate = float(clopper_pearson_lower(counts.wins, counts.guesses, alpha - gamma))
    # (ε, δ) is refuted if (r − c/κ)/(1 − r) > e^ε, where c = mδ/2. This is solved for δ.
    excess = rate - (1 - rate) * finite_exp(epsilon)
    guess_rate = float(clopper_pearson_lower(counts.guesses, counts.trials, gamma))
    return np.asarray(np.clip(2 * guess_rate / counts.directions * excess, 0.0, 1.0))


def privacy_profile(events: Sequence[GuessCounts], epsilons: Floats, alpha: float) -> Floats:
    """Return lower bounds on δ(ε), in the shape of ``epsilons`` (nats).

    With probability at least 1 − alpha, none exceeds the truth. Each of the m events, which are fixed beforehand, has a
    share alpha/m, and the bounds from one event hold for all ε together (``guess_delta``).
    """
    share = alpha / len(events)
    return np.asarray(np.max([guess_delta(counts, epsilons, share) for counts in events], axis=0))
