"""Before any sampling: what violation a number of outputs would catch, and how many outputs a violation needs.

What is not known before is on how many outputs the best event has something to say. The figures are given for a share of
them: all (as for randomised response), a tenth, a hundredth. For the event of a share they are exact, by the power of the
test; for divergences they are of a Gaussian mechanism whose log-ratio is known, by the normal approximation, and a score that
has to be learned needs more.
"""

import math
from dataclasses import dataclass, replace

import numpy as np

from auditor.auditing.plan import CHANCES, Plan
from auditor.bounds.bisection import doubled, halved, smallest_number
from auditor.bounds.divergences import tuned
from auditor.bounds.evidence import Counts, GuessCounts
from auditor.bounds.power import (
    Round,
    capital_reached,
    detectable_by_guesses,
    detectable_by_two_intervals,
    detectable_mu,
    detectable_probability,
)
from auditor.claims import (
    ApproximateDP,
    GaussianDP,
    PrivacyClaim,
    PrivacyProfile,
    Probability,
    PureDP,
    RenyiDP,
    ZeroConcentratedDP,
)
from auditor.methods.sequential import caught_by_bets, quick_bettors

SHARES = (1.0, 0.1, 0.01)
# A violation worth naming when asking for outputs: noise too small by a tenth, which is ε or μ too large by a ninth.
EXCESS = 1 / 9
MOST_OUTPUTS = 10**13
# Where the score of a Gaussian mechanism is cut (nats): else one output could cost the whole capital.
CUT = 3.0


@dataclass(frozen=True, slots=True)
class Foresight:
    """For one share of outputs and one chance: the smallest violation caught, and the outputs needed for EXCESS."""

    share: float
    chance: float
    caught: float
    needed: float


def foresee(plan: Plan) -> list[Foresight]:
    """Return what a plan can be expected to catch; empty for claims in which nothing is random."""
    if not isinstance(plan.claim, PrivacyClaim | Probability):
        return []
    return [
        Foresight(share, chance, smallest_caught(plan, share, chance), _outputs_needed(plan, share, chance))
        for share in (SHARES if isinstance(plan.claim, PureDP | ApproximateDP | PrivacyProfile) else SHARES[:1])
        for _, chance in CHANCES
    ]


def smallest_caught(plan: Plan, share: float, chance: float) -> float:
    """Return the smallest value of the claim's quantity that the plan's outputs refute with this chance."""
    claim, n, alpha = plan.claim, plan.settings.samples, plan.alpha
    if isinstance(claim, PrivacyProfile):
        points = [replace(plan, claim=point, alpha=alpha / len(claim.profile)) for point in claim.profile]
        caught = zip((smallest_caught(point, share, chance) for point in points), claim.profile, strict=True)
        return min(epsilon - point.epsilon for epsilon, point in caught)
    if isinstance(claim, PureDP | ApproximateDP | GaussianDP):
        return _caught_by_guesses(plan, claim, share, chance)
    if isinstance(claim, Probability):
        return detectable_probability(claim, n, alpha, chance)
    assert isinstance(claim, RenyiDP | ZeroConcentratedDP)
    return _divergence_caught(claim, n, alpha, chance)


def _caught_by_guesses(plan: Plan, claim: PureDP | ApproximateDP | GaussianDP, share: float, chance: float) -> float:
    n, alpha = plan.settings.samples, plan.alpha
    if plan.settings.method == "sequential":
        return caught_by_bets(claim, int(share * n), n, quick_bettors(claim), alpha, chance)
    if isinstance(claim, GaussianDP):
        return detectable_mu(_imagined(0.5, 1.0, n), claim.mu, alpha, chance)
    counts = _imagined(1 / (1 + math.exp(-claim.epsilon)), share, n)
    if plan.settings.method == "two-intervals":
        return detectable_by_two_intervals(counts.left, claim.epsilon, claim.delta, alpha, chance)
    return detectable_by_guesses(counts, claim.epsilon, claim.delta, alpha, chance)


def _imagined(rate: float, share: float, outputs: int) -> GuessCounts:
    """Return counts of a two-tailed rule that guesses on a share of the outputs and wins at a rate."""
    half = outputs // 2
    guesses = int(share * half)
    wins = round(rate * guesses)
    return GuessCounts(Counts(wins, half, guesses - wins, half), Counts(guesses - wins, half, wins, half))


def _divergence_caught(claim: RenyiDP | ZeroConcentratedDP, outputs: int, alpha: float, chance: float) -> float:
    """Return what is caught of N(−μ/2, 1) against N(μ/2, 1) by a wager of order 1 on their own log-ratio, cut as methods cut it."""
    claimed = claim.rho if isinstance(claim, ZeroConcentratedDP) else claim.epsilon / claim.order
    at_claim = math.sqrt(2 * claimed)
    x = np.linspace(-8 - 2 * at_claim, 8 + 2 * at_claim, 2001)

    def refutes(mu: float) -> bool:
        densities = [np.exp(-((x - mean) ** 2) / 2) for mean in (-mu / 2, mu / 2)]
        p, q = (density / density.sum() for density in densities)
        values = np.clip(-mu * x, -CUT, CUT)
        wager, _ = tuned(1.0, values, (p, q), claimed, alpha, outputs)
        return capital_reached([Round(wager, p, q, outputs, claimed)], chance) >= -math.log(alpha)

    mu = smallest_number(lambda mu: mu > at_claim and refutes(mu), 8 * at_claim)
    return mu**2 / 2 if isinstance(claim, ZeroConcentratedDP) else mu**2 / 2 * claim.order


def _outputs_needed(plan: Plan, share: float, chance: float) -> float:
    """Return the outputs at which a violation by EXCESS is caught; infinite beyond MOST_OUTPUTS."""
    claim = plan.claim
    if isinstance(claim, Probability):
        towards = 1.0 if claim.at_most else 0.0
        wanted = claim.probability + EXCESS * (towards - claim.probability)
    else:
        wanted = claim.value * (1 + EXCESS) ** (2 if isinstance(claim, ZeroConcentratedDP | RenyiDP) else 1)
        wanted = wanted if wanted > 0 else EXCESS

    def catches(outputs: int) -> bool:
        caught = smallest_caught(plan.with_settings(samples=outputs), share, chance)
        return caught >= wanted if isinstance(claim, Probability) and claim.at_least else caught <= wanted

    ends = doubled(catches, 100, 200, MOST_OUTPUTS)
    return math.inf if ends is None else halved(catches, *ends, lambda low, high: high - low <= low // 100 + 1)[1]
