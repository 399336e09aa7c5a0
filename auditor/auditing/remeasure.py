"""Count the event of an earlier report in new outputs, such as those of the next release."""

from dataclasses import replace

from auditor.auditing.earlier import digest
from auditor.auditing.flow import run
from auditor.auditing.plan import Plan
from auditor.blackbox.audit_store import AuditStore
from auditor.claims import PrivacyClaim
from auditor.defaults import FEWEST
from auditor.errors import InvalidInputError
from auditor.neighbours.domains import Pairs
from auditor.neighbours.pair import Relation
from auditor.results.reader import fitting, frozen_test
from auditor.results.result import AuditResult


def remeasured(plan: Plan, earlier: AuditResult, outputs: int) -> AuditResult:
    """Return what the rule of an earlier result counts on its pair, in this many outputs of the plan's mechanism.

    The address of the streams includes a digest of the earlier pair and counts. So even with the earlier run's seed,
    the rule was not learned or chosen from any of these outputs.

    The result is inconclusive if the mechanism gives no answer there. Raises InvalidInputError if the earlier result has no pair or
    no rule that can be counted again, or if its rule does not fit the outputs: anybody may have written the report.
    """
    pair = earlier.pair
    if pair is None or earlier.event is None:
        raise InvalidInputError("the earlier report holds no event")
    test = frozen_test(earlier.event)
    if test is None and isinstance(plan.claim, PrivacyClaim):
        raise InvalidInputError("the earlier report holds no rule that can be counted again")
    domain = Pairs.only(pair.left, pair.left if pair.relation is Relation.ALONE else pair.right, plan.domain)
    # These settings only count the rule on its pair.
    settings = replace(
        plan.settings,
        samples=max(FEWEST, outputs),
        seconds=None,
        search=None,
        method="two-intervals" if plan.settings.method == "two-intervals" else "fixed",
        shrink=False,
        prove=False,
        planted=0,
    )
    name = f"{plan.name} after {digest(pair, earlier.to_dict()['event'])}"
    measuring = replace(
        plan, name=name, settings=settings, neighbours=domain, store=AuditStore(), test=test, earlier=None, least=0
    )
    with fitting("the earlier rule does not fit the outputs of today"):
        return replace(run(measuring, refuse=True), name=plan.name)
