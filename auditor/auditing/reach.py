"""What the outputs of a pass could show on the right pair at all, and what the next step takes.

This says how much a number of outputs can show, whatever the search found. It never makes a pass weak.
"""

import math
from dataclasses import dataclass

from auditor.auditing.plan import CHANCES
from auditor.bounds.digits import round_error_up
from auditor.claims import PrivacyClaim
from auditor.defaults import MOST
from auditor.events.observed import ObservedProfile, ObservedRule, ObservedScore
from auditor.methods import method_for
from auditor.methods.guessing import TwoIntervals
from auditor.results.result import AuditResult
from auditor.verdict import Verdict

# The next step is the first of STEPS that needs MORE times the outputs or more.
STEPS, MORE = (3.0, 2.0, 1.5, 1.2, 1.1, 1.05, 1.02, 1.01), 1.5
NAME, CHANCE = CHANCES[-1]


@dataclass(frozen=True, slots=True)
class Step:
    """A smaller ``scale``, the outputs that detect it, and the seconds that they take; None if the pace is not known."""

    scale: float
    outputs: int
    seconds: float | None


@dataclass(frozen=True, slots=True)
class Reach:
    """What ``outputs`` on the right pair detect with 95 % probability.

    They detect noise that is ``scale`` times too small or more, on an event such as that of the audit, and an outcome
    that only one of the two data sets has, at the ``rate`` or above. Each is ∞ if there is none. ``step`` is None if the
    scale is ∞, or if nothing is left to detect.
    """

    outputs: int
    scale: float
    rate: float
    step: Step | None


def reach_of(audit: AuditResult) -> Reach | None:
    """Return what the outputs of a pass could show; None unless a privacy claim passed by an event on pairs."""
    claim, event, power = audit.claim, audit.event, audit.power
    if not isinstance(claim, PrivacyClaim) or audit.verdict is not Verdict.NO_VIOLATION_FOUND or power is None:
        return None
    if not isinstance(event, ObservedRule | ObservedProfile | ObservedScore) or audit.alpha is None:
        return None
    outputs = sum(map(sum, event.counted().tables()[:2]))
    is_textbook = audit.bound is not None and audit.bound.method == TwoIntervals.name
    name = "two-intervals" if is_textbook else "fixed"
    rate = method_for(claim, name, audit.judgement.share * audit.alpha, outputs).rarest(CHANCE)
    scale = claim.noise_ratio(power[NAME])
    return Reach(outputs, scale, rate, _next_step(outputs, scale, audit))


def _next_step(outputs: int, scale: float, audit: AuditResult) -> Step | None:
    """Return the next step. The excess of what is detected over the claim is proportional to 1/√outputs."""
    for step in STEPS if scale < math.inf else ():
        needed = outputs * ((scale - 1) / (step - 1)) ** 2
        if MORE * outputs <= needed <= MOST:
            seconds = None if audit.seconds is None else audit.seconds * needed / outputs
            return Step(step, math.ceil(round_error_up(needed)), seconds)
    return None
