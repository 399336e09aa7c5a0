"""Audits that must end in time, with a bound that holds.

How many outputs fit into the time is measured before any that the audit uses is drawn, on outputs of their own: the numbers of
outputs for search, selection and bound are then fixed, and follow from the clock and those outputs alone. So the bound is one
on a number of trials fixed in advance, whatever else the time that an output takes may tell.

Where the mechanism becomes so much slower that the time is over before, the bound ends with the batches that were counted by
then, in their order. That is a rule which looks at the clock and at no output: given how long batches take, the number of
trials is fixed, and each trial is what it was. It holds for mechanisms whose time does not depend on what they put out; and the
report says how many outputs were drawn of how many.
"""

import math
from dataclasses import replace

from auditor.auditing.plan import FEWEST, Ledger, Plan

# The share of the time that all outputs are planned to take (the rest is for starting workers, for learning, and for a pace
# that was measured too fast), and how many these are for each output of the bound, search and selection included.
SHARE, ALL_PHASES = 0.6, 1.25


def fitted(ledger: Ledger) -> Plan:
    """Return the plan with as many outputs as fit into its time, at most as many as planned. Raises what sampling raises."""
    plan = ledger.plan
    if plan.seconds is None:
        return plan
    return replace(plan, samples=max(FEWEST, min(plan.samples, ledger.kept("outputs that fit", lambda: _fit(ledger)))))


def _fit(ledger: Ledger) -> int:
    plan = ledger.plan
    assert plan.seconds is not None
    left = max(0.0, SHARE * (plan.seconds - ledger.elapsed()))
    each = ledger.sampler().seconds_each(plan.domain.corners()[0], left / 10)
    return math.floor(left * ledger.pace.workers / ALL_PHASES / each)
