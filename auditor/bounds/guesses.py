"""The bound from guessing: how often can a rule name the side that an output came from?

A fair coin picks the side of every trial. A rule fixed beforehand guesses "left" on one event, "right" on a
disjoint one, and abstains elsewhere. Under (ε, δ)-differential privacy

    P(win) ≤ e^ε P(loss) + m δ / 2,          m = the number of sides ever guessed,

which is the definition applied to each event, and averaged over the coin. So wins split into free ones, of
probability c = mδ/2 at most, and others that win at most σ(ε) = e^ε/(1 + e^ε) of the time: given K guesses of
N trials, with κ the chance of a guess, wins are stochastically at most Bin(K, r) with

    r = c/κ + (1 − c/κ) σ(ε).

For δ = 0 the unknown κ drops out and one Clopper-Pearson limit on r is exact (Fact 1; the tool's statistics
follow Kairouz, Oh & Viswanath 2015 for the free wins). For δ > 0, κ is replaced by a lower limit that errs
with probability γ, paid for out of alpha (Berger & Boos 1994).
"""

import math
from collections.abc import Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike

from auditor.bounds.evidence import GuessCounts
from auditor.bounds.intervals import Floats, clopper_pearson_lower, finite_exp
from auditor.errors import InvalidInputError

# The share of alpha that is spent on κ where δ > 0. The bound on r moves by z(0.95 α)/z(α), under 1 % for the
# alphas in use, and κ_L then lies within 4 standard errors of K/N.
SHARE_FOR_GUESS_RATE = 0.05


def free_win_rate(counts: GuessCounts, delta: float, gamma: float) -> float:
    """Return an upper limit on c/κ, the share of guesses that may be won for free.

    It is too low with probability at most ``gamma``. It is 0 for δ = 0, and 1 if no guess was made.
    """
    if delta == 0:
        return 0.0
    guess_rate = float(clopper_pearson_lower(counts.guesses, counts.trials, gamma))
    return min(1.0, counts.directions * delta / 2 / guess_rate) if guess_rate > 0 else 1.0


def epsilon_from_rate(rate: float, free: float) -> float:
    """Return the ε (nats, at least 0) at which guesses are won at ``rate`` when a share ``free`` of them is free.

    >>> round(epsilon_from_rate(0.75, 0.0), 6) == round(math.log(3), 6)
    True
    """
    if rate <= max(0.5, free):
        # Below one half no ε ≥ 0 is needed to explain the wins.
        return 0.0
    return max(0.0, math.log((rate - free) / (1 - rate))) if rate < 1 else math.inf


Rates = TypeVar("Rates", float, Floats)


def rate_of_epsilon(epsilon: float, free: Rates) -> Rates:
    """Return the rate of right guesses that ε (nats) allows if a share ``free`` of the guesses is free.

    It is the inverse of :func:`epsilon_from_rate` for ε > 0.

    >>> round(rate_of_epsilon(1.0, 0.0), 4), round(epsilon_from_rate(rate_of_epsilon(2.0, 0.25), 0.25), 6)
    (0.7311, 2.0)
    """
    return (1 + free * math.exp(-epsilon)) / (1 + math.exp(-epsilon))


def guess_epsilon(counts: GuessCounts, delta: float, alpha: float) -> float:
    """Return a lower bound on ε (nats) at ``delta``; it exceeds the truth with probability at most ``alpha``.

    The rule must be fixed before the counted outputs are drawn, and the side of every trial picked by a fair
    coin. Exact for δ = 0: some mechanism of that ε errs with probability close to alpha.

    Raises InvalidInputError for an alpha outside (0, 1) or impossible counts.
    """
    if counts.guesses == 0:
        return 0.0
    gamma = SHARE_FOR_GUESS_RATE * alpha if delta > 0 else 0.0
    rate = float(clopper_pearson_lower(counts.wins, counts.guesses, alpha - gamma))
    return epsilon_from_rate(rate, free_win_rate(counts, delta, gamma))


def mu_from_rate(rate: float) -> float:
    """Return the μ at which the best guess that never abstains wins at ``rate``: 2 Φ⁻¹(rate), at least 0.

    Under μ-Gaussian privacy any guess wins with probability at most Φ(μ/2), the most for N(0, 1) against N(μ, 1).
    """
    from scipy.special import ndtri

    return max(0.0, 2 * float(ndtri(rate)))


def rate_of_mu(mu: float) -> float:
    """Return Φ(μ/2), the largest rate of right guesses that μ allows if no guess is withheld: the inverse of mu_from_rate.

    >>> round(rate_of_mu(1.0), 4), round(mu_from_rate(rate_of_mu(2.0)), 6)
    (0.6915, 2.0)
    """
    from scipy.special import ndtr

    return float(ndtr(mu / 2))


def guess_mu(counts: GuessCounts, alpha: float) -> float:
    """Return a lower bound on μ; it exceeds the truth with probability at most ``alpha``.

    The rule must never abstain, so that the guesses are as many as the trials. Raises InvalidInputError if it did.
    """
    if counts.guesses != counts.trials:
        raise InvalidInputError(
            f"the rule guessed {counts.guesses} of {counts.trials} trials; for μ it must never abstain"
        )
    return mu_from_rate(float(clopper_pearson_lower(counts.wins, counts.trials, alpha)))


def guess_delta(counts: GuessCounts, epsilon: ArrayLike, alpha: float) -> Floats:
    """Return lower bounds on δ at each ``epsilon`` (nats), of that shape; with probability 1 − ``alpha`` none exceeds the truth.

    Each is the smallest δ that :func:`guess_epsilon` does not refute at ``epsilon``. All such bounds from one set of counts, over ε
    and over δ, rest on the same two limits. So they hold together.

    >>> from auditor.bounds.evidence import Counts
    >>> counts = GuessCounts(Counts(50, 1000, 0, 1000), Counts(0, 1000, 0, 1000), one_tailed=True)
    >>> 0.02 < float(guess_delta(counts, 1.0, 0.05)) < 0.05
    True
    """
    if counts.guesses == 0:
        return np.zeros(np.shape(epsilon))
    gamma = SHARE_FOR_GUESS_RATE * alpha
    rate = float(clopper_pearson_lower(counts.wins, counts.guesses, alpha - gamma))
    # ε is refuted while (r − c/κ)/(1 − r) > e^ε, which c = mδ/2 turns into this.
    excess = rate - (1 - rate) * finite_exp(epsilon)
    guess_rate = float(clopper_pearson_lower(counts.guesses, counts.trials, gamma))
    return np.asarray(np.clip(2 * guess_rate / counts.directions * excess, 0.0, 1.0))


def privacy_profile(events: Sequence[GuessCounts], epsilons: Floats, alpha: float) -> Floats:
    """Return lower bounds on δ(ε) for each ε (nats), of that shape.

    With probability at least 1 − alpha none exceeds the truth: each of the m events, fixed beforehand, has alpha/m of its own,
    and the bounds from one event hold for all ε together (``guess_delta``).
    """
    share = alpha / len(events)
    return np.asarray(np.max([guess_delta(counts, epsilons, share) for counts in events], axis=0))
