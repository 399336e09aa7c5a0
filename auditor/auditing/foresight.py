"""Before any sampling: what violation a number of outputs would catch, and how many outputs a violation needs.

Before sampling, it is not known on which share of the outputs the best event guesses. So the figures are given for
three shares: all (as for randomised response), a tenth, a hundredth. For an event of that share the figures are exact,
by the power of the test. For divergences they are those of a Gaussian mechanism whose log-ratio is known, by the normal
approximation. A score that has to be learned needs more outputs.
"""

import math
from dataclasses import dataclass

from auditor.auditing.plan import CHANCES, Plan
from auditor.auditing.sizes import OF_LAST
from auditor.blackbox.batches import Trial
from auditor.bounds.bisection import bracket_threshold
from auditor.bounds.digits import round_significant
from auditor.bounds.one_run import GuessTally, OneRunGuesses, default_guess_numbers
from auditor.claims import PrivacyClaim
from auditor.defaults import FEWEST, MOST
from auditor.neighbours.canaries import Canaries
from auditor.verdict import refuting_side

SHARES = (1.0, 0.1, 0.01)
SHARE_SHOWN = SHARES[1]
# `auditor check` and `auditor plan` say what an audit of so many minutes shows.
MINUTES = 5
# The number of outputs needed is given for this violation: noise too small by a tenth, so ε or μ too large by a ninth.
EXCESS = 1 / 9


@dataclass(frozen=True, slots=True)
class Foresight:
    """For one share of outputs and one probability: the smallest violation detected, and the outputs needed for EXCESS.

    For canaries, ``needed`` is a number of canaries, of all runs together. ``rarest`` is the smallest rate of an outcome that
    only one of the two data sets has, of all outputs whatever the share; ∞ if none is detected, or for canaries.
    """

    share: float
    chance: float
    caught: float
    needed: float
    rarest: float = math.inf


def foresee(plan: Plan) -> list[Foresight]:
    """Return the violations that a plan is expected to detect; empty for deterministic queries and without a claim."""
    if plan.kind == "query" or not plan.claim.is_stated:
        return []
    if isinstance(canaries := plan.neighbours, Canaries):
        rows, most, needed = list[Foresight](), plan.claim.broken_by(EXCESS), 0.0
        for _, chance in sorted(CHANCES, key=lambda each: each[1]):  # a larger chance needs as many canaries or more
            needed = canaries_needed(plan, canaries, chance, most, apart=canaries.apart, least=needed)
            rows.append(Foresight(1.0, chance, _canaries_caught(plan, canaries, chance), needed))
        return rows
    shares = SHARES if plan.method(plan.settings.samples).may_abstain else SHARES[:1]
    return [
        Foresight(
            share,
            chance,
            smallest_caught(plan, share, chance),
            _outputs_needed(plan, share, chance),
            rarest(plan, chance),
        )
        for share in shares
        for _, chance in CHANCES
    ]


@dataclass(frozen=True, slots=True)
class Afforded:
    """What an audit of some ``seconds`` is expected to show: its ``samples``, the noise ratio that they detect if a SHARE_SHOWN
    of the outputs shows it, and the rarest outcome of one side only; both with 95 % probability, and ∞ for none.
    """

    seconds: float
    samples: int
    scale: float
    rate: float


def afforded(plan: Plan, trial: Trial, seconds: float) -> Afforded | None:
    """Return what an audit of so many seconds shows at the pace of a trial; None unless it is a privacy claim on pairs, or if
    not even FEWEST outputs fit.
    """
    claim = plan.claim
    if plan.kind != "pairwise" or not claim.is_stated or not isinstance(claim, PrivacyClaim):
        return None
    timed = plan.with_settings(seconds=None)

    def takes_longer(samples: int) -> bool:
        return timed.with_settings(samples=samples).may_take(trial) > seconds

    if takes_longer(FEWEST):
        return None
    most = bracket_threshold(takes_longer, FEWEST, 2 * FEWEST, lambda low, high: high - low <= low // 100, MOST)[0]
    samples = MOST if math.isinf(most) else int(round_significant(most, 2)) if most > 1000 else int(most)
    of_samples = plan.with_settings(samples=samples)
    chance = CHANCES[-1][1]
    scale = claim.noise_ratio(smallest_caught(of_samples, SHARE_SHOWN, chance))
    return Afforded(seconds, samples, scale, rarest(of_samples, chance))


def rarest(plan: Plan, chance: float) -> float:
    """Return the smallest rate of an outcome of one data set only that the plan's outputs refute with this chance."""
    return plan.method(plan.settings.samples, share=OF_LAST).rarest(chance)


def _looks(plan: Plan, canaries: Canaries, number: int, *, apart: bool) -> tuple[OneRunGuesses, float]:
    """Return the numbers of guesses on ``number`` canaries, and the level. The guesses are the plan's share of them."""
    planned = canaries.runs * len(canaries.canaries)
    scaled = {max(1, guesses * number // planned) for guesses in canaries.guesses}
    usual = canaries.guesses == default_guess_numbers(planned)
    seen = tuple(GuessTally(number, guesses, 0) for guesses in (default_guess_numbers(number) if usual else scaled))
    share = OF_LAST if canaries.runs > 1 and not plan.settings.sharpen else 1.0
    return OneRunGuesses(seen, apart), share * plan.alpha


def _canaries_caught(plan: Plan, canaries: Canaries, chance: float) -> float:
    """Return the smallest loss on each canary that is detected with this probability, if no canary affects another."""
    assert isinstance(plan.claim, PrivacyClaim)
    looks, alpha = _looks(plan, canaries, canaries.runs * len(canaries.canaries), apart=canaries.apart)
    return looks.detectable(plan.claim, alpha, chance)


def canaries_needed(
    plan: Plan, canaries: Canaries, chance: float, most: float = math.inf, *, apart: bool, least: float = 0
) -> float:
    """Return the number of canaries, of all runs together, that detects a loss of ``most`` or less; by default, any loss at all.

    The number is right to 1 %, and infinite if it would exceed 10⁷. The caller knows that it is at least ``least``.
    """
    claim = plan.claim
    assert isinstance(claim, PrivacyClaim)

    def catches(number: int) -> bool:
        looks, alpha = _looks(plan, canaries, number, apart=apart)
        return looks.detects(claim, alpha, chance, most)

    if math.isinf(least):
        return math.inf
    low = int(least)
    return bracket_threshold(catches, low, max(1, 2 * low), lambda low, high: high - low <= low // 100 + 1, 10**7)[1]


def smallest_caught(plan: Plan, share: float, chance: float) -> float:
    """Return the smallest value of the claim's quantity that the plan's outputs refute with this chance."""
    return plan.method(plan.settings.samples, share=OF_LAST).foreseen(share, chance)


def _outputs_needed(plan: Plan, share: float, chance: float) -> float:
    """Return the number of outputs that detect a violation by EXCESS with this chance. Return infinity beyond 10¹³."""
    wanted, is_promised_large = plan.claim.broken_by(EXCESS), refuting_side(plan.claim) == "upper"

    def catches(outputs: int) -> bool:
        caught = smallest_caught(plan.with_settings(samples=outputs), share, chance)
        return caught >= wanted if is_promised_large else caught <= wanted

    return bracket_threshold(catches, 100, 200, lambda low, high: high - low <= low // 100 + 1, 10**13)[1]
