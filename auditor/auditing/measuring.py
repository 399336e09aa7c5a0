"""The largest loss that a number of outputs proves, where there is no claim to judge."""

from dataclasses import dataclass, replace

from auditor.auditing.flow import run
from auditor.auditing.plan import Plan
from auditor.bounds.evidence import Bound
from auditor.claims import Claim, PrivacyClaim
from auditor.errors import InvalidInputError
from auditor.events.observed import Observed
from auditor.neighbours.pair import Pair
from auditor.results.result import OutputsSpent

# A claim that no number of outputs refutes: bounds stay below the logarithm of that number. It says nothing about where to look.
OUT_OF_REACH = 50.0


@dataclass(frozen=True, slots=True)
class Measured:
    """A lower bound, the pair and the event that prove it, and the outputs spent.

    If there is no bound, ``reason`` says why. The bound exceeds the truth with probability at most 1 − its confidence.
    """

    bound: Bound | None
    pair: Pair | None
    event: Observed | None
    outputs: OutputsSpent
    reason: str


def can_be_measured(claim: Claim) -> bool:
    """Whether the claim has a quantity, such as a number of nats, that outputs bound from below."""
    return isinstance(claim, PrivacyClaim) and claim.group_exponent is not None


def measured(plan: Plan) -> Measured:
    """Carry out the search and the bound of a plan for its claim's quantity. The value that the claim states does not matter.

    A sequential plan gets one bound after all outputs instead. Raises InvalidInputError for claims that
    have no such quantity, and for canaries.
    """
    if not can_be_measured(plan.claim) or plan.settings.method == "one-run":
        raise InvalidInputError(f"a claim of {plan.claim} has no quantity to measure; claim ε, (ε, δ), μ, ρ or Rényi ε")
    assert isinstance(plan.claim, PrivacyClaim)
    method = "fixed" if plan.settings.method == "sequential" else plan.settings.method
    unclaimed = replace(
        plan.with_settings(shrink=False, prove=False, method=method), claim=plan.claim.with_value(OUT_OF_REACH)
    )
    result = run(unclaimed, refuse=True)
    return Measured(result.bound, result.pair, result.event, result.outputs, result.stop_reason)
