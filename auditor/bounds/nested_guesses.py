"""A bound on ε at δ from several numbers of guesses together: the surest K₁ are among the surest K₂, and so on.

Bonferroni's inequality lets the numbers of guesses share the level, as if each of them erred where the others do not. But the
losses L₁ ≤ L₂ ≤ … are one walk, and what it does is known. Take any limits u_j, and let R be the event that L_j ≤ u_j for some
j. Under any mechanism within (ε, δ), for n canaries whose scores are all from one run,

    P[R] ≤ J + Σ_j λ_j,    J = P[B_j ≤ u_j for some j],    λ_j = δ n β_j (1 − β_j)/(v_j b_j).

B_j are the losses among the first K_j of independent guesses, each lost with probability 1 − σ(ε); v_j = K_j − u_j is how many
guesses are right at the limit, b_j the probability of exactly v_j, and β_j that of at least v_j, as in
:func:`auditor.bounds.one_run.p_value_of_line`. If no canary affects another one's score, P[R] ≤ Σ_g P[G = g] J_g instead, where
G ~ Bin(n, δ), and J_g is J with the surest g guesses always right.

**Proof, any mechanism.** Let x ∈ {0, 1}^K say which guesses are right, from the surest on, and x^i be x with guess i flipped.
Which canary is guessed, and how, follows from the output alone, and coins are fair. So (ε, δ) for each canary, summed over
outputs and coins, says for the probabilities p of x that

    Σ_i Σ_{x: x_i = 1} z_i(x) ≤ n δ,    where z_i(x) = max(0, p(x) − e^ε p(x^i)).                                         (1)

Reveal independent guesses that are right with probability q = σ(ε), in random order. R is an up-set: with another right guess it
still holds. Let D_i(x) ≥ 0 be by how much x_i = 1 instead of 0 raises the probability of R, given the guesses of x that come before
i, in the mean over all orders. The probability of R is a martingale, so 1_R(x) − J = Σ_i (x_i − q) D_i(x). With
y_i = (1 − q) D_i and q = e^ε (1 − q), this is Σ_{i: x_i = 1} y_i(x) − e^ε Σ_{i: x_i = 0} y_i(x). Its mean under p is

    P[R] − J = Σ_i Σ_{x: x_i = 1} y_i(x) (p(x) − e^ε p(x^i)) ≤ Σ_i Σ_{x: x_i = 1} y_i(x) z_i(x) ≤ n δ max y,

since y_i(x) does not depend on x_i. (This is duality for the linear program that tests solve.) If guess i decides whether R
holds, it decides whether L_j ≤ u_j for some j. So y is at most the sum over j of the y of these events alone. Each of them
depends on the number w of right guesses only, as w y_w − e^ε (K_j − w) y_{w+1} = 1[w ≥ v_j] − β_j, and is largest at v_j, where it
is β_j (1 − β_j)/(v_j b_j).

**Proof, canaries apart.** Given its coin, a canary's score is a processed randomised response, which is right with probability
σ(ε), and with probability δ gives the coin away (Kairouz, Oh & Viswanath 2015, Theorem 3.4). So G canaries give theirs away, the
guesses on the others are independent and right with probability at most q, and R is an up-set. R is most likely if the guesses on
the G canaries are the surest.

**The bound.** A statistic orders the outcomes: T, the largest ε at which one number of guesses alone has a p-value below a level.
The level is any fixed number, since J pays for how many numbers of guesses there are. Then {T ≥ t} is R with limits u_j(t), and the
bound for T = t is the largest ε at which the limit of P[T ≥ t] is at most α. If that exceeds the true ε for some t, let t be
the least such. Then P[T ≥ t] ≤ α, since a mechanism within (ε, δ) is within (ε', δ) for all larger ε'.
"""

import functools
import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from auditor.bounds.bisection import bracket_threshold
from auditor.bounds.intervals import Floats, Ints
from auditor.bounds.one_run import STEP, GuessTally, terms_of_line

# In the statistic that orders outcomes, each number of guesses is given alpha over their number and times this.
ALIKE = 3
# The statistic is looked for from here on: an order of outcomes needs no sense as an ε.
LEAST_T = -4.0
# Fewer guesses than this multiple of δ n/α lose more by δ than they add.
LEAST_GUESSES = 16.0
# J_g is computed for at most so many numbers of leaks, the last of which G exceeds with probability SPARED α at most.
MOST_LEAKS, SPARED = 20, 0.01
# Bounds are this near to the largest ε that is refuted.
NEAR = 1e-5
# A step of the walk is kept within so many standard deviations, and so many losses more. The rest counts as a crossing.
WIDE, MORE = 8.0, 30.0
# From this product of lengths on, convolutions are by Fourier transforms, whose rounding counts as a crossing too.
LONG, ROUNDING = 1e6, 1e-12


def bound_of_nested_guesses(tallies: Sequence[GuessTally], delta: float, alpha: float, *, apart: bool) -> float:
    """Return a lower bound on ε at ``delta`` (nats); it exceeds the truth with probability at most ``alpha``.

    ``tallies`` are of guesses on the same canaries, of which fewer are always among more. ``apart`` says that canaries do not
    affect each other's scores.
    """
    from scipy.optimize import brentq
    from scipy.special import bdtr

    canaries = tallies[0].canaries
    largest = max(tally.guesses for tally in tallies)
    enough = 0.0 if apart else min(largest, LEAST_GUESSES * delta * canaries / alpha)
    used = sorted((tally.guesses, tally.guesses - tally.wins) for tally in tallies if tally.guesses >= enough)
    numbers, lost = np.array(used).T
    level = alpha / math.ceil(len(used) / ALIKE)
    leaks, chances = _leaks(canaries, delta, alpha) if apart else (np.zeros(1, np.int64), np.ones(1))
    typical = np.maximum(numbers - leaks[np.searchsorted(np.cumsum(chances), 0.5)], 0)

    def p_values(losses: Ints, epsilon: float) -> Floats:
        """Return the p-value of so many losses for each number of guesses alone: with a typical number of leaks, if apart."""
        rate = 1 / (1 + math.exp(epsilon))
        if apart:
            return np.asarray(np.where(losses < typical, bdtr(np.minimum(losses, typical), typical, rate), 1.0))
        return np.add(*terms_of_line(canaries, numbers, numbers - losses, 1 - rate, delta))

    def is_not_reached(steps: int) -> bool:
        return float(p_values(lost, LEAST_T + steps * STEP).min()) > level

    if is_not_reached(0):
        return 0.0
    reached = LEAST_T + STEP * bracket_threshold(is_not_reached, 0, round(4 / STEP), lambda low, high: False)[0]
    limits = _largest(lambda losses: p_values(losses, reached) <= level, numbers)

    def excess(epsilon: float) -> float:
        """Return the logarithm of the limit of P[T ≥ t] over alpha."""
        rate = 1 / (1 + math.exp(epsilon))
        if apart:
            free = [np.maximum(numbers - some, 0) for some in leaks.tolist()]
            walks = [probability_of_walk(each, limits, rate) for each in free]
            most = float(chances @ walks) + 1 - float(chances.sum())
        else:
            some = limits >= 0
            _, paid = terms_of_line(canaries, numbers[some], (numbers - limits)[some], 1 - rate, delta)
            most = probability_of_walk(numbers, limits, rate) + float(paid.sum())
        return math.log(max(most, 1e-300) / alpha)

    low, high = (reached, reached + 1) if reached > 0 and excess(reached) <= 0 else (0.0, max(reached, 1.0))
    if low == 0 and excess(0.0) > 0:
        return 0.0
    while excess(high) <= 0:
        low, high = high, high + 1
    return max(0.0, float(brentq(excess, low, high, xtol=NEAR / 2)) - NEAR)


def _largest(holds: Callable[[Ints], NDArray[np.bool_]], numbers: Ints) -> Ints:
    """Return for each number of guesses the most losses, below it, at which the condition holds; −1 if it never does."""
    low, high = np.full(len(numbers), -1), numbers.copy()
    while np.any(high - low > 1):
        middle = (low + high) // 2
        held = holds(np.maximum(middle, 0)) & (middle >= 0)
        low, high = np.where(held, middle, low), np.where(held, high, np.maximum(middle, low + 1))
    return low


def _leaks(canaries: int, delta: float, alpha: float) -> tuple[Ints, Floats]:
    """Return rising numbers of leaks, and the probability of each and of those between it and the one before."""
    from scipy.stats import binom

    most = int(binom.isf(SPARED * alpha, canaries, delta))
    exceeded = np.r_[0.9, 0.7, np.geomspace(0.5, SPARED * alpha, MOST_LEAKS - 2)]
    leaks = (
        np.arange(most + 1) if most < MOST_LEAKS else np.unique(binom.isf(exceeded, canaries, delta).astype(np.int64))
    )
    return leaks, np.diff(binom.cdf(leaks, canaries, delta), prepend=0.0)


def probability_of_walk(numbers: Ints, limits: Ints, rate: float) -> float:
    """Return the probability that the losses among the first K_j guesses are at most u_j for some j.

    The guesses are independent, and each is lost with probability ``rate``. ``numbers`` K and ``limits`` u are rising and
    of shape (numbers of guesses,); a negative limit is never reached. Rounding aside, the result is an upper limit.

    >>> round(probability_of_walk(np.array([1, 2]), np.array([0, -1]), 0.25), 6)
    0.75
    """
    crossed, first, live, most = 0.0, 0, np.ones(1), int(limits.max())
    reachable = limits >= 0
    steps = np.diff(numbers[reachable], prepend=0).tolist()
    for added, limit in zip(steps, limits[reachable].tolist(), strict=True):
        if added:
            least, step, rest = _losses(added, rate)
            crossed, first = crossed + rest, first + least
            if len(live) * len(step) < LONG:
                live = np.convolve(live, step)
            else:
                from scipy.signal import fftconvolve  # slow to import, and seldom needed

                live, crossed = np.maximum(0.0, fftconvolve(live, step)), crossed + ROUNDING
            # Beyond the largest limit, no walk comes back.
            live = live[: max(0, most - first + 1)]
        reached = max(0, limit - first + 1)
        crossed, first, live = crossed + float(live[:reached].sum()), first + reached, live[reached:]
        if not len(live):
            break
    return min(1.0, crossed)


def _losses(trials: int, rate: float) -> tuple[int, Floats, float]:
    """Return the first of the likely numbers of losses, the probabilities from it on, and the probability of all others."""
    from scipy.special import bdtr, bdtrc

    near = WIDE * math.sqrt(trials * rate * (1 - rate)) + MORE
    least, most = max(0, math.floor(trials * rate - near)), min(trials, math.ceil(trials * rate + near))
    lost, ways = _ways(trials)
    logs = ways[least : most + 1] + lost[least : most + 1] * (math.log(rate) - math.log1p(-rate))
    below = float(bdtr(least - 1, trials, rate)) if least else 0.0
    above = float(bdtrc(most, trials, rate)) if most < trials else 0.0
    return least, np.exp(logs + trials * math.log1p(-rate)), below + above


@functools.lru_cache(maxsize=64)
def _ways(trials: int) -> tuple[Floats, Floats]:
    """Return all numbers of losses, and the logarithm of the number of ways to have as many."""
    from scipy.special import gammaln

    lost: Floats = np.arange(trials + 1.0)
    return lost, np.asarray(gammaln(trials + 1) - gammaln(lost + 1) - gammaln(trials - lost + 1))
