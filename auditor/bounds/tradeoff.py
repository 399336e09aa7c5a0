"""How well a claim lets one side be guessed: the curve of right against wrong guesses, by its tangents.

Take one person, and all others as they are. A fair coin decides whether the person is in. Any rule that guesses the coin from the
output, or abstains, is right with probability R and wrong with probability W. Under (ε, δ) for one ε,

    R ≤ e^ε W + δ,

which is the definition, applied to the event of each guess and averaged over the coin. A claim states this for some ε or for all.
A finite number of them allows more than all of them do. So a bound that holds for every mechanism within these
lines holds for every mechanism within the claim. Where a claim is (ε, δ) or a list of such points, nothing is lost.
"""

import functools
from dataclasses import dataclass, replace

import numpy as np

from auditor.bounds.conversions import implied_delta
from auditor.bounds.intervals import Floats, finite_exp
from auditor.claims import ApproximateDP, GaussianDP, PrivacyClaim, PrivacyProfile, PureDP

LINES = 1_500
# Of a Gaussian mechanism: standard deviations of the log-ratio above its mean, up to which lines are drawn. δ is below 1e-18 there.
REACH = 9.0


@dataclass(frozen=True, slots=True)
class Tradeoff:
    """The largest share of right guesses for each share of wrong ones: vertices of a concave polygon, from the surest guesses on.

    ``wrong`` and ``right`` are arrays of shape (vertices,), neither falls, and the last two add up to 1. If the first ``right``
    is above 0, that share of outputs gives the side away. A step from vertex to vertex is a set of outputs with one log-ratio.
    """

    wrong: Floats
    right: Floats

    @classmethod
    def of(cls, epsilons: Floats, deltas: Floats) -> "Tradeoff":
        """Return the curve of all lines R ≤ e^ε W + δ, for arrays of ε ≥ 0 (nats) and δ of one shape, in any order.

        A line does not count if other lines lie below it everywhere. Two neighbouring lines meet at W = (δ₀ − δ₁)/(e^ε₁ − e^ε₀).

        >>> Tradeoff.of(np.log([3.0]), np.array([0.0])).right.tolist()
        [0.0, 0.75]
        """
        order = np.lexsort((deltas, epsilons))
        eps, delta = np.asarray(epsilons, float)[order], np.asarray(deltas, float)[order]
        while True:
            below = np.r_[True, delta[1:] < np.minimum.accumulate(delta)[:-1]]
            eps, delta = eps[below], delta[below]
            # Multiplied by e^ε₀, so that nothing overflows where ε is large.
            rise = -np.diff(delta) / np.expm1(np.diff(eps))
            wrong, right = rise * np.exp(-eps[:-1]), delta[:-1] + rise
            keep = np.ones(len(eps), bool)
            keep[1:-1] = wrong[:-1] > wrong[1:]
            # The flattest line counts only where it is reached before all outputs are.
            keep[0] = len(eps) == 1 or wrong[0] + right[0] < 1
            if keep.all():
                break
            eps, delta = eps[keep], delta[keep]
        last = (1 - delta[0]) / (1 + finite_exp(eps[0]))
        ends_wrong, ends_right = np.r_[last, wrong, 0.0][::-1], np.r_[1 - last, right, delta[-1]][::-1]
        return cls(ends_wrong, ends_right)

    def mistakes(self, share: Floats) -> Floats:
        """Return the least probability of a wrong guess, where a ``share`` of the outputs is guessed on, the surest first."""
        return np.interp(share, self.wrong + self.right, self.wrong)


@functools.lru_cache(maxsize=64)
def tradeoff(claim: PrivacyClaim) -> Tradeoff:
    """Return the curve that a claim allows, or a curve that allows more.

    For μ and for divergences it has up to LINES lines. For divergences δ(ε) is an upper limit
    (:func:`~auditor.bounds.conversions.implied_delta`), which makes bounds valid and not tight.
    """
    if isinstance(claim, PureDP | ApproximateDP):
        return Tradeoff.of(np.array([claim.epsilon]), np.array([claim.delta]))
    if isinstance(claim, PrivacyProfile):
        return Tradeoff.of(*np.array([(point.epsilon, point.delta) for point in claim.profile]).T)
    if isinstance(claim, GaussianDP):
        return _gaussian(claim.mu)
    reach = 2.0
    while implied_delta(claim, reach) > 1e-12 and reach < 500:
        reach *= 1.5
    epsilons = np.linspace(0.0, reach, LINES // 5)
    return Tradeoff.of(epsilons, np.array([implied_delta(claim, float(epsilon)) for epsilon in epsilons]))


def _gaussian(mu: float) -> Tradeoff:
    from scipy.special import log_ndtr

    if mu == 0:
        return Tradeoff.of(np.zeros(1), np.zeros(1))
    t = np.linspace(0.0, mu / 2 + REACH, LINES)  # ε = μt
    above, below = log_ndtr(mu / 2 - t), log_ndtr(-mu / 2 - t)
    deltas = -np.exp(above) * np.expm1(np.minimum(0.0, mu * t + below - above))
    return Tradeoff.of(mu * t, deltas)


def at_value(claim: PrivacyClaim, value: float) -> PrivacyClaim:
    """Return the claim of the same kind whose quantity has this value. For a profile, add the value to every ε.

    >>> at_value(ApproximateDP(1.0, 1e-5), 2.0)
    ApproximateDP(epsilon=2.0, delta=1e-05)
    """
    if isinstance(claim, PrivacyProfile):
        return PrivacyProfile([(max(0.0, point.epsilon + value), point.delta) for point in claim.profile])
    return replace(claim, **{claim.quantity: value})
