"""A privacy loss in words without ε: how often a guess at which data set gave an output is right, and how often it may be."""

import math

from auditor.bounds.guesses import SHARE_FOR_GUESS_RATE, free_win_rate, guess_epsilon, rate_of_epsilon, rate_of_mu
from auditor.claims import ApproximateDP, GaussianDP, PrivacyProfile, PureDP, Unclaimed
from auditor.events.observed import ObservedProfile, ObservedRule
from auditor.methods.guessing import TwoIntervals
from auditor.results.result import AuditResult
from auditor.verdict import Verdict


def guess_words(audit: AuditResult) -> str:
    """Say how often a guess at which data set gave an output is right, and how often the claim allows it to be.

    After a violation, or without a claim, the rate is the one that the audit's bound proves, at the same confidence.
    After a pass, the observed rate comes first. The share of outputs on which the event fires is observed and not
    proved. Return "" if no guesses were counted, if there is no answer, or if the rates are too near to 100 %.
    """
    claim, event, bound = audit.claim, audit.event, audit.bound
    if bound is None or audit.alpha is None or audit.verdict is Verdict.INCONCLUSIVE:
        return ""
    proved, alpha = bound.value, audit.alpha * audit.judgement.share
    if isinstance(claim, PrivacyProfile) and isinstance(event, ObservedProfile):
        alpha /= len(event.points)
        points = zip(claim.profile, event.points, strict=True)
        # The bound of the audit is the largest excess over the points of the profile.
        claim, event = max(points, key=lambda at: guess_epsilon(at[1].counted(), at[0].delta, alpha) - at[0].epsilon)
        proved += claim.epsilon
    if not isinstance(event, ObservedRule) or not event.counted().guesses:
        return ""
    counts = event.counted()
    match claim:
        case GaussianDP():
            rates = rate_of_mu(proved), rate_of_mu(claim.mu)
        case PureDP() | ApproximateDP() if claim.delta == 0 or bound.method != TwoIntervals.name:
            free = free_win_rate(counts, claim.delta, SHARE_FOR_GUESS_RATE * alpha)
            epsilon = 0.0 if isinstance(claim, Unclaimed) else claim.epsilon
            rates = rate_of_epsilon(proved, free), rate_of_epsilon(epsilon, free)
        case _:
            return ""
    shown = percentages(*rates)
    if shown is None:
        return ""
    at_least, most = shown
    fires = f"The event fires on {share_words(counts.guesses, counts.trials)}"
    allowed = f"without any loss: {most} %" if isinstance(claim, Unclaimed) else f"{claim} allows {most} %"
    if audit.verdict is not Verdict.NO_VIOLATION_FOUND:
        return f"{fires}; a guess from it is right at least {at_least} % of the time ({allowed})."
    percentage = f"{100 * counts.wins / counts.guesses:.{len(at_least.partition('.')[2])}f}"
    proves = f"at least {at_least} %" if proved > 0 else "no loss"
    return f"{fires}; guesses from it were right {percentage} % of the time, which proves {proves} ({allowed})."


def percentages(proved: float, allowed: float) -> tuple[str, str] | None:
    """Write a proved rate, rounded down, and the allowed rate, with the fewest digits that keep their order.

    Return None if that takes more than six decimals, or if a rate is too near to 100 %.

    >>> percentages(0.97349, 0.7310586), percentages(0.73127, 0.7310586), percentages(0.70, 0.9999999999)
    (('97.3', '73.1'), ('73.12', '73.11'), None)
    """
    # Rates that need more than six decimals to differ from each other, or from 100 %, tell a reader nothing.
    for digits in range(1, 7):
        scale = 100 * 10**digits
        # A double just below a decimal stands for that decimal.
        low, high = math.floor(round(proved * scale, 6)), round(allowed * scale)
        if (low > high) == (proved > allowed) and max(low, high) < scale:
            return f"{low / 10**digits:.{digits}f}", f"{high / 10**digits:.{digits}f}"
    return None


def share_words(some: int, of: int) -> str:
    """Write which share of the outputs ``some`` are.

    >>> share_words(20, 20), share_words(199, 200), share_words(332, 1000), share_words(37, 1000)
    ('every output', '99 % of outputs', '33 % of outputs', '1 output in 27')
    """
    if some == of:
        return "every output"
    # From 1 in 5 on, a rounded number of outputs is wrong by at most a tenth.
    return f"1 output in {of / some:,.0f}" if some < 0.2 * of else f"{100 * some // of} % of outputs"
