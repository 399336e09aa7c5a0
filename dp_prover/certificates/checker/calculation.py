"""Checks a refutation by calculation: a pair of neighbours, the law of the output on each, and an event that tells them apart.

The checker computes a lower bound on the event's probability on the first data set, and an upper bound on the second. It cuts noise
into pieces, and evaluates conditions and outputs on each piece in interval arithmetic. A piece counts on the first side if it is
certainly in the event, and on the second if it may be.
"""

from fractions import Fraction
from typing import Any

from dp_prover.certificates.checker.enclosures import (
    NEVER,
    Interval,
    enclosed,
    exactly,
    logarithm,
    normal_below,
    over,
    plus,
    power_of_e,
    times,
)
from dp_prover.certificates.checker.exact_numbers import Q, need
from dp_prover.certificates.checker.laws import Law
from dp_prover.certificates.checker.membership import require_neighbours
from dp_prover.certificates.checker.shape import CLAIMS, keys

# A claim is refuted if its number is exceeded by this factor, so that the rounding of parameters refutes nothing.
BEYOND = 1 + Fraction(1, 10**6)
LIKELIEST = Fraction(1, 2**90)  # a less likely event refutes nothing: the paths of such noise were not looked at
MOST_ORDER = 1000
KEYS = {
    *("format", "digest", "rule", "mechanism", "parameters", "functions"),
    *("claim", "bound", "domain", "data", "noise", "traces", "event"),
}
INFINITE = "infinite"


def require_refuted(proof: Any, clock: Any) -> None:
    """Raise ValueError if a certificate of the rule ``calculation`` does not refute its claim."""
    keys(proof, [KEYS], "the certificate")
    claim, event = proof["claim"], proof["event"]
    keys(claim, CLAIMS, "the claim")
    need(min(map(Q, claim.values())) >= 0, "numbers of at least 0")
    of_event = {"threshold"} if not {"rho", "order"} & {*claim} else {"order"}
    keys(event, [{"cases", "cuts"} | of_event | ({"quantile"} if "mu" in claim else set())], "the event")
    need(type(proof["traces"]) is list and len(proof["traces"]) == 2, "two laws")
    require_neighbours(proof["domain"], proof["data"])
    left, right = (Law(trace, proof["noise"], event, clock) for trace in proof["traces"])
    bound = proof["bound"]
    claimed = next(Q(claim[name]) for name in ("rho", "mu", "epsilon") if name in claim)
    if bound != INFINITE:
        beyond = Q(bound) >= claimed * BEYOND and (Q(bound) > 0 or Q(claim.get("delta", 0)) > 0)
        need(beyond, "a bound beyond the claim")
    if "threshold" not in event:
        order = Q(event["order"])
        need(1 < order <= MOST_ORDER and ("order" not in claim or order == Q(claim["order"])), "an order")
        wanted = None if bound == INFINITE else Q(bound) * (order if "rho" in claim else 1)
        need(_diverges(left, right, order, wanted), "the divergence")
        return
    need(type(event["threshold"]) is int, "a threshold")
    likely, other = left.at_least(event["threshold"]), right.at_most(event["threshold"])
    need(likely >= enclosed(LIKELIEST, LIKELIEST)[1], "an event that is likely enough")
    delta = exactly(str(Q(claim.get("delta", 0)) * BEYOND))
    if bound == INFINITE:
        need(not other and likely > delta[1], "an event that is impossible on the other data set")
    elif "mu" in claim:
        quantile = Q(event["quantile"])
        farther = exactly(str(quantile - Q(bound)))
        need(normal_below(exactly(str(quantile))[1])[1] <= likely, "the quantile of the event")
        need(normal_below(farther[0])[0] >= other, "the quantile of the event on the other data set")
    else:
        allowed = plus(times(power_of_e(exactly(bound)), (other, other)), delta)
        need(likely > allowed[1], "an event beyond the claim")


def _diverges(left: Law, right: Law, order: Fraction, wanted: Fraction | None) -> bool:
    """Whether the Rényi divergence of the discretised outputs is at least ``wanted``, or infinite if this is None.

    Of independent parts, the divergences add up. Cells that are left out only add to a divergence.
    """
    need(wanted is not None or len(left.cells) == 1, "one part")
    need(all(len(parts) == len(left.cells) == 1 for parts in left.cases.values()) or len(left.cases) == 1, "one part")
    parts = left.independent_parts() if len(left.cells) > 1 else None
    need(parts is None or right.independent_parts() == parts, "independent parts")
    total: Interval = NEVER
    for part in range(len(left.cells)):
        ours, theirs = left.masses(part, lower=True), right.masses(part, lower=False)
        some: Interval = NEVER
        for cell, likely in ours.items():
            if likely < enclosed(LIKELIEST, LIKELIEST)[0]:
                continue
            other = theirs.get(cell, right.least)
            if not other:
                return True
            terms = times(exactly(str(order)), logarithm((likely, likely)))
            terms = plus(terms, times(exactly(str(1 - order)), logarithm((other, other))))
            some = plus(some, power_of_e(terms))
        need(some[0] > 0, "a cell that is likely enough")
        total = plus(total, over(logarithm((some[0], some[0])), exactly(str(order - 1))))
    return wanted is not None and total[0] >= exactly(str(wanted))[1]
