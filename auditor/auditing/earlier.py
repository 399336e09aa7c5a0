"""The event of an earlier report, counted in outputs of today's mechanism."""

from dataclasses import replace

from auditor.auditing.flow import run
from auditor.auditing.plan import Plan
from auditor.blackbox.store import AuditStore
from auditor.claims import PrivacyClaim
from auditor.defaults import FEWEST
from auditor.errors import InvalidInputError
from auditor.events.observed import ObservedReport, QueryAnswers
from auditor.neighbours.domains import Pairs
from auditor.neighbours.pair import Relation
from auditor.results.recount import fitting, frozen_test
from auditor.results.result import AuditResult


def remeasured(plan: Plan, earlier: AuditResult, outputs: int) -> AuditResult:
    """Return what the rule of an earlier result counts on its pair, in this many outputs of the plan's mechanism.

    The result is inconclusive if the mechanism gives no answer there. Raises InvalidInputError if the earlier result has no pair or
    no rule that can be counted again, or if its rule does not fit the outputs: somebody else may have written it.
    """
    measuring = _measuring(plan, earlier, outputs)
    with fitting("the earlier rule does not fit the outputs of today"):
        return run(measuring, refuse=True)


def _measuring(plan: Plan, earlier: AuditResult, outputs: int) -> Plan:
    """Return the plan that counts the rule of an earlier result on its pair. Nothing else is done.

    No search, no smaller pair, no proof, no planted faults.
    """
    pair = earlier.pair
    if pair is None or earlier.event is None:
        raise InvalidInputError("the earlier report holds no event")
    test = None if isinstance(earlier.event, QueryAnswers | ObservedReport) else frozen_test(earlier.event)
    if test is None and isinstance(plan.claim, PrivacyClaim):
        raise InvalidInputError("the earlier report holds no rule that can be counted again")
    domain = Pairs.only(pair.left, pair.left if pair.relation is Relation.ALONE else pair.right, plan.domain)
    settings = replace(
        plan.settings,
        samples=max(FEWEST, outputs),
        outputs=None,
        seconds=None,
        search=None,
        method="two-intervals" if plan.settings.method == "two-intervals" else "fixed",
        shrink=False,
        prove=False,
        planted=0,
    )
    return replace(plan, settings=settings, neighbours=domain, store=AuditStore(), test=test)
