"""Bounds from one run with many canaries: how many of the K surest guesses can be right if the claim holds?

Each of n canaries is in the data or out of it, by a fair coin of its own. Each canary gets a score from the output. The
coins of the K canaries with the most extreme scores are guessed, where K is fixed beforehand; V guesses are right. Two
theorems limit V. They use the curve of a claim (bounds/conversions.py): the largest R for each W.

**Any mechanism.** Canaries may depend on each other in any way that the claim allows. Let p_w be the probability of
exactly w right guesses. Pick one canary at random. Given the coins of all others, the claim holds for this canary's
coin: R ≤ e^ε W + δ. Here R is the probability that its guess is right and at least c are right in all. If its coin is
flipped, its guess is wrong and at least c − 1 are right, which has probability W. With

    R_c = Σ_{w≥c} (w/n) p_w,        W_c = Σ_{w≥c} ((K − w)/n) p_w,

the claim demands that (W_{c−1}, R_c) lies on or below the curve for every c, since the average of points below a
concave curve is below the curve. This is the f-DP bound of Mahloujifar, Melis & Chaudhuri 2024 (2410.22235). For a
single (ε, δ) more is true: the amounts by which single numbers of right guesses break R ≤ e^ε W add up to at most δ.
The exact maximum of P[V ≥ v] follows (:func:`p_value_of_line`). For δ = 0 it is that of Steinke, Nasr & Jagielski 2023
(2305.08846). The p of all mechanisms that keep a claim form a linear program, which the tests solve for few canaries:
the limit for a line is its maximum, and the limit for a curve is above its maximum.

**Canaries that do not affect each other.** Suppose that the pairs of score and coin are independent. This is so for
independent runs, or if each canary has its own coordinate with its own noise. Then each score is a processed output of
the pair of distributions that the curve describes (Blackwell; Dong, Roth & Su 2022, Theorem 2). No rule has fewer wrong
guesses than the rule that guesses on the K largest of n independent log-ratios: a smaller log-ratio instead of one of
these makes the number of wrong guesses stochastically larger. Given the share T of log-ratios above the cut, the K
guesses are independent, and each is wrong with probability W(T)/T, where T ~ Beta(K + 1, n − K). So at best

    P[wrong ≤ u] = E[ P[Bin(K, W(T)/T) ≤ u] ],

the formula of Xiang et al. 2025 (2509.08704). It is **not** valid if canaries affect each other: a mechanism that draws
one log-ratio for all canaries, instead of one for each, keeps its claim, but has far more right guesses in a lucky run.
"""

import bisect
import functools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from auditor.bounds.bisection import bracket_threshold, narrow_bracket
from auditor.bounds.conversions import TradeoffCurve, tradeoff_curve
from auditor.bounds.intervals import Floats, Ints
from auditor.claims import GaussianDP, PrivacyClaim
from auditor.errors import InvalidInputError

# Bounds are multiples of this number above the least value of their quantity.
STEP = 2.0**-17


@dataclass(frozen=True, slots=True)
class GuessTally:
    """How many guesses were right: ``wins`` of ``guesses`` guesses on ``canaries`` canaries."""

    canaries: int
    guesses: int
    wins: int

    def __post_init__(self) -> None:
        if not 0 <= self.wins <= self.guesses <= self.canaries:
            raise InvalidInputError(
                f"{self.wins} of {self.guesses} guesses on {self.canaries} canaries are right; each must be at most the next"
            )


def refutes_any_mechanism(curve: TradeoffCurve, tally: GuessTally, alpha: float) -> bool:
    """Whether this many right guesses have probability at most ``alpha`` under every mechanism whose curve lies below this one."""
    if len(curve.wrong) > 2:
        return _refutes_curve(curve, tally, alpha)
    delta = float(curve.right[0])
    return p_value_of_line(tally, float(curve.right[1] - delta) / (1 - delta) if delta < 1 else 1.0, delta) <= alpha


def p_value_of_line(tally: GuessTally, rate: float, delta: float) -> float:
    """Return max P[V ≥ v] under (ε, δ), for ``rate`` σ(ε) = e^ε/(1 + e^ε): β + δ n β (1 − β)/(v b_v), at most 1.

    Here B ~ Bin(K, σ(ε)) has probabilities b_w, and β = P[B ≥ v]. Proof: let z_w ≥ 0 be by how much the event "w
    guesses are right, and so is that on the random canary" breaks the line: w p_w ≤ e^ε (K − w + 1) p_{w−1} + n z_w.
    These events are disjoint, so Σ z_w ≤ δ. For ρ_w = p_w/b_w this means ρ_w ≤ ρ_{w−1} + n z_w/(w b_w). So p is a
    mixture of b and of its tails from each c on, truncated above; tail c has mass at most n z_c P[B ≥ c]/(c b_c).
    Truncation does not help. If c ≤ v, tail c adds n z_c β P[B < c]/(c b_c), which rises with c, as P[B < c]/(c b_c)
    does. If c > v, it adds n z_c P[B ≥ c](1 − β)/(c b_c), which falls, as P[B ≥ c]/b_c does. So c = v is best for δ.
    """
    beta, paid = terms_of_line(tally.canaries, np.array([tally.guesses]), np.array([tally.wins]), rate, delta)
    return float(min(1.0, beta[0] + paid[0]))


def terms_of_line(canaries: int, guesses: Ints, wins: Ints, rate: float, delta: float) -> tuple[Floats, Floats]:
    """Return β and δ n β (1 − β)/(v b_v) of :func:`p_value_of_line`, of the shape of ``guesses`` and ``wins``."""
    from scipy.special import bdtrc, gammaln, xlog1py, xlogy

    k, v = guesses, np.maximum(wins, 1)
    beta = np.where(wins > 0, bdtrc(v - 1, k, rate), 1.0)
    if delta == 0:
        return beta, np.zeros(len(beta))
    log_b = gammaln(k + 1) - gammaln(v + 1) - gammaln(k - v + 1) + xlogy(v, rate) + xlog1py(k - v, -rate)
    # Where β and b_v are too small for a double: b falls at least as fast as a geometric series.
    fall = rate / (1 - rate) * (k - v) / (v + 1) if rate < 1 else np.full(len(k), np.inf)
    with np.errstate(divide="ignore"):
        series = np.where(fall < 1, np.minimum(k, 1 / np.maximum(1 - fall, 1e-300)), k)
    ratio = np.where(log_b > -700, beta / np.exp(np.maximum(log_b, -700)), series)
    return beta, delta * canaries * (1 - beta) * ratio / v


def _refutes_curve(curve: TradeoffCurve, tally: GuessTally, alpha: float) -> bool:
    """Whether no p with P[V ≥ v] ≥ alpha meets the conditions on R and W.

    The p with the least total is built from the top. All of alpha at w = v makes W_v largest and R_v smallest. Then
    W_{c−1} is the least that R_c allows, for c = v, v − 1, …. Since R_c = Σ λ_w (W_w − W_{w+1}) and λ_w = w/(K − w)
    rises with w, a larger W needs a larger R. No p exists if the least total exceeds 1, which means R + W > K/n.
    """
    n, k, v = tally.canaries, tally.guesses, tally.wins
    if v == 0:
        return False
    wrong_at, right_at = curve.wrong.tolist(), curve.right.tolist()
    right, wrong, limit = alpha * v / n, alpha * (k - v) / n, k / n
    for w in range(v - 1, -1, -1):
        if right > right_at[-1]:
            return True
        i = bisect.bisect_left(right_at, right)
        if i == 0:
            break
        step = (right - right_at[i - 1]) / (right_at[i] - right_at[i - 1])
        needed = wrong_at[i - 1] + step * (wrong_at[i] - wrong_at[i - 1])
        if needed <= wrong:
            break
        right += w / (k - w) * (needed - wrong)
        wrong = needed
        if right + wrong > limit:
            return True
    return False


def p_value_independent(curve: TradeoffCurve, tally: GuessTally) -> float:
    """Return an upper limit on the probability of as many right guesses, if canaries do not affect each other.

    The integral over T is cut into cells. The integrand is largest at a cell's lower end, since W(T)/T rises with T.
    """
    return _limits_of_independent(curve, tally, 1)[1]


def refutes_independent(curve: TradeoffCurve, tally: GuessTally, alpha: float) -> bool:
    """Whether :func:`p_value_independent` is at most ``alpha``; a sixteenth of the cells decides it in most cases."""
    least, most = _limits_of_independent(curve, tally, 16)
    return most <= alpha or (least <= alpha and p_value_independent(curve, tally) <= alpha)


def _limits_of_independent(curve: TradeoffCurve, tally: GuessTally, joined: int) -> tuple[float, float]:
    """Return limits of what the cells of T add up to, with so many cells ``joined``: the integrand falls with T."""
    from scipy.special import bdtr

    n, k, u = tally.canaries, tally.guesses, tally.guesses - tally.wins
    if tally.wins == 0:
        return 1.0, 1.0
    if k == n:
        exact = float(bdtr(u, k, curve.least_wrong_rate(np.ones(1)))[0])
        return exact, exact
    least, below = _cells_of_share(n, k)
    ends, chances = least[::joined], np.diff(below[::joined], append=1.0)
    rates = np.where(ends > 0, curve.least_wrong_rate(ends) / np.maximum(ends, 1e-300), 0.0)
    values = bdtr(u, k, rates)
    return float(chances[:-1] @ values[1:]), float(min(1.0, chances @ values))


@functools.lru_cache(maxsize=32)  # a search tries many numbers of wins with the same cells
def _cells_of_share(n: int, k: int) -> tuple[Floats, Floats]:
    """Return the lower ends of cells of T ~ Beta(K + 1, n − K), and the probabilities that T lies below these."""
    from scipy.special import betainc

    mean = (k + 1) / (n + 1)
    spread = 9.0 * math.sqrt(mean * (1 - mean) / (n + 2))  # nine standard deviations of T
    ends = np.r_[0.0, np.linspace(max(0.0, mean - spread), min(1.0, mean + spread), 2_000), 1.0]
    return ends[:-1], betainc(k + 1, n - k, ends[:-1])


def default_guess_numbers(canaries: int) -> tuple[int, ...]:
    """Return the default numbers of guesses: all canaries, a half, a quarter, and so on, down to ten.

    >>> default_guess_numbers(100)
    (100, 50, 25, 12)
    """
    halves = (canaries >> i for i in range(8))
    return tuple(guesses for guesses in halves if guesses >= min(10, canaries))


def guess_numbers_between(canaries: int) -> tuple[int, ...]:
    """Return two numbers of guesses between each two of the default ones, and below the last: three for each factor of two.

    >>> guess_numbers_between(100)
    (79, 62, 39, 31, 19, 15)
    """
    thirds = (int(canaries * 2.0 ** (-i / 3)) for i in range(24) if i % 3)
    return tuple(guesses for guesses in thirds if guesses >= min(10, canaries))


def read_guess_numbers(given: int | Sequence[int] | None, canaries: int) -> tuple[int, ...]:
    """Return the given or the usual numbers of guesses. Raises InvalidInputError if one is not in 1 to ``canaries``."""
    if given is None:
        return default_guess_numbers(canaries)
    numbers = (given,) if isinstance(given, int) else tuple(given)
    if not numbers or any(isinstance(k, bool) or not isinstance(k, int) or not 0 < k <= canaries for k in numbers):
        raise InvalidInputError(f"guesses is {given!r}; it must be one or several integers from 1 to {canaries:,}")
    return numbers


def count_right_guesses(scores: Floats, inside: NDArray[np.bool_], guesses: int) -> GuessTally:
    """Count right guesses. The highest scores are guessed "in". As many of the lowest, or one fewer, are guessed "out".

    Arrays are of shape (canaries,). Ties are ranked by position in the array, which must not depend on the coins.
    """
    order = np.argsort(scores, kind="stable")
    low = guesses // 2
    outs, ins = order[:low], order[len(order) - (guesses - low) :]
    return GuessTally(len(scores), guesses, int(np.count_nonzero(inside[ins]) + np.count_nonzero(~inside[outs])))


@dataclass(frozen=True, slots=True)
class OneRunGuesses:
    """The right guesses for several numbers of guesses on the same canaries. Each number has an equal share of alpha.

    ``apart`` says that canaries do not affect each other. Numbers of guesses must be fixed before the coins are seen.
    """

    tallies: tuple[GuessTally, ...]
    apart: bool = False

    def refute(self, claim: PrivacyClaim, alpha: float) -> bool:
        """Whether the right guesses refute a claim. If the claim holds, this has a probability of at most ``alpha``."""
        curve = tradeoff_curve(claim)
        return any(self._refutes(curve, tally, alpha / len(self.tallies)) for tally in self.tallies)

    def _refutes(self, curve: TradeoffCurve, tally: GuessTally, share: float) -> bool:
        """Whether one number of guesses refutes the curve at its share of alpha."""
        return (refutes_independent if self.apart else refutes_any_mechanism)(curve, tally, share)

    def p_value_independent(self, claim: PrivacyClaim) -> float:
        """Return the smallest level at which these guesses refute a claim, if canaries do not affect each other."""
        curve = tradeoff_curve(claim)
        return min(1.0, len(self.tallies) * min(p_value_independent(curve, tally) for tally in self.tallies))

    def bound(self, claim: PrivacyClaim, alpha: float) -> float:
        """Return a lower bound on the claim's quantity; it exceeds the truth with probability at most ``alpha``.

        A claim with a larger value allows more, so the refuted values are an interval. Bounds on several quantities,
        and those of :meth:`delta`, hold together: if one is wrong, the truth makes a number of right guesses unlikely.
        """
        share, best = alpha / len(self.tallies), claim.least_value
        for tally in self.tallies:

            def refutes(value: float, tally: GuessTally = tally) -> bool:
                return self._refutes(tradeoff_curve(claim.with_value(value)), tally, share)

            best = largest_refuted(refutes, best)
        return best

    def best(self, claim: PrivacyClaim, alpha: float) -> GuessTally:
        """Return the entry of ``tallies`` that proves the largest bound."""
        share = alpha / len(self.tallies)
        return max(self.tallies, key=lambda tally: OneRunGuesses((tally,), self.apart).bound(claim, share))

    def delta(self, epsilon: float, alpha: float) -> float:
        """Return a lower bound on δ at ε (nats), to within a factor 1.05. The bounds at all ε hold together."""
        share, best = alpha / len(self.tallies), 0.0
        for tally in self.tallies:

            def is_not_refuted(delta: float, tally: GuessTally = tally) -> bool:
                return not self._refutes(TradeoffCurve.of(np.array([epsilon]), np.array([delta])), tally, share)

            # Only a larger δ than that of earlier entries is searched for.
            if not is_not_refuted(least := max(best, 1e-9)):
                best = narrow_bracket(is_not_refuted, least, 1.0, lambda low, high: high <= 1.05 * low)[0]
        return best

    def detectable(self, claim: PrivacyClaim, alpha: float, chance: float) -> float:
        """Return the smallest true value at which the claim is refuted with probability ``chance``; ∞ if there is none.

        The value is for a mechanism that reveals as much about each canary as the value allows, for canaries that do
        not affect each other, and for the best entry of ``tallies``.
        """

        def caught(critical: GuessTally) -> float:
            def is_rarer(value: float) -> bool:
                return p_value_independent(tradeoff_curve(claim.with_value(value)), critical) < chance

            return largest_refuted(is_rarer, claim.value)

        return min(map(caught, self._critical(claim, alpha)), default=math.inf)

    def detects(self, claim: PrivacyClaim, alpha: float, chance: float, value: float) -> bool:
        """Whether ``detectable`` is at most ``value``, in a fraction of its time: no value is searched for.

        With an infinite ``value``, whether the claim can be refuted at all.
        """
        critical = self._critical(claim, alpha)
        if math.isinf(value):
            return any(True for _ in critical)
        curve = tradeoff_curve(claim.with_value(value))
        return any(p_value_independent(curve, tally) >= chance for tally in critical)

    def _critical(self, claim: PrivacyClaim, alpha: float) -> Iterator[GuessTally]:
        """Yield each entry of ``tallies`` with the fewest wins that refute the claim, if any number of wins does."""
        curve, share = tradeoff_curve(claim), alpha / len(self.tallies)
        for tally in self.tallies:

            def refutes(wins: int, tally: GuessTally = tally) -> bool:
                return self._refutes(curve, replace(tally, wins=wins), share)

            if refutes(tally.guesses):
                yield replace(tally, wins=narrow_bracket(refutes, 0, tally.guesses, lambda low, high: False)[1])


def median_bound(canaries: int, mu: float, alpha: float, *, apart: bool) -> float:
    """Return the bound on μ that half of all audits reach, of a mechanism that reveals μ about each canary and mixes none of them.

    ``canaries`` is their number in all runs together. The guesses are the usual ones, and ``apart`` says what the bound assumes.
    """
    revealed, numbers = tradeoff_curve(GaussianDP(mu)), default_guess_numbers(canaries)

    def median(guesses: int) -> GuessTally:
        def is_rare(wins: int) -> bool:
            return p_value_independent(revealed, GuessTally(canaries, guesses, wins)) < 0.5

        wins = narrow_bracket(is_rare, 0, guesses, lambda low, high: False)[0] if is_rare(guesses) else guesses
        return GuessTally(canaries, guesses, wins)

    tallies = (OneRunGuesses((median(guesses),), apart) for guesses in numbers)
    return max(tally.bound(GaussianDP(1.0), alpha / len(numbers)) for tally in tallies)


def largest_refuted(refutes: Callable[[float], bool], least: float = 0.0) -> float:
    """Return ``least`` plus the largest multiple of STEP that is refuted; ``least`` if none is, ∞ if all up to 1e4 are."""

    def is_not_refuted(steps: int) -> bool:
        return not refutes(least + steps * STEP)

    # The first step decides most searches: few of several numbers of guesses prove more than those before.
    if math.isinf(least) or is_not_refuted(1):
        return least
    return least + STEP * bracket_threshold(is_not_refuted, 1, round(1 / STEP), lambda low, high: False, 1e4 / STEP)[0]
