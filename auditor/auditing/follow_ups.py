"""The steps after an audit, in their order. None of them changes the evidence."""

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

from auditor.auditing.behind import hides_others, look_behind
from auditor.auditing.evidence import CountEvidence, Evidence
from auditor.auditing.outcome import Audit
from auditor.auditing.plan import Plan
from auditor.auditing.planted import plant_faults
from auditor.auditing.smallest import find_smallest
from auditor.auditing.warnings import Caveat, exceptions, few_outputs, no_loss, smaller_noise, types_of_numbers
from auditor.bounds.digits import round_error_up
from auditor.claims import PrivacyClaim
from auditor.defaults import VALUES
from auditor.methods import method_for
from auditor.neighbours.pair import Pair
from auditor.results.result import ExactValue


class FollowUp(NamedTuple):
    """A step after an audit, if it ``applies``. A time limit omits what ``takes_time``."""

    do: Callable[[Audit], Audit]
    applies: Callable[[Audit], bool]
    takes_time: bool = True


def follow_up(audit: Audit) -> Audit:
    """Carry out the steps that apply to an audit, and return it with what they found. Assumptions of its plan come first."""
    audit = replace(audit, caveats=(*map(Caveat, audit.plan.assumptions), *audit.caveats))
    for step in FOLLOW_UPS:
        if step.applies(audit) and not (step.takes_time and audit.plan.settings.seconds):
            audit = step.do(audit)
    return audit


def exact_value(plan: Plan, pair: Pair | None) -> ExactValue | None:
    """Return the exact value of the claim's quantity on the pair, if known. A replay reads it from the store."""
    kept = None if pair is None else plan.store.recall("exact", lambda: _computed(plan, pair))
    return None if kept is None else ExactValue(*kept)


def _computed(plan: Plan, pair: Pair) -> tuple[float, float] | None:
    truth = plan.source.truth(pair) if isinstance(plan.claim, PrivacyClaim) else None
    if truth is None:
        return None
    exact = method_for(plan.claim, "fixed", plan.alpha, plan.settings.samples).exact(truth)
    return None if exact is None else (exact.value, round_error_up(exact.error))


def _shows_no_loss(audit: Audit) -> bool:
    """Whether a privacy claim has passed, and its bound is that of a mechanism that loses nothing."""
    claim, answer = audit.plan.claim, audit.answer
    if not (audit.passed and isinstance(claim, PrivacyClaim) and isinstance(answer, Evidence)):
        return False
    return answer.bound(audit.plan.alpha) <= claim.without_loss


def _with_advice_on_types(audit: Audit) -> Audit:
    assert isinstance(audit.answer, CountEvidence)
    return audit.warn(*types_of_numbers(audit.answer.shown.test), applies="if violated")


FOLLOW_UPS = (
    FollowUp(
        lambda audit: audit.warn(*smaller_noise(audit.ledger, audit.pair, audit.sample)),
        lambda audit: audit.passed,
    ),
    # Shrinking takes too long if outputs crash or hang.
    FollowUp(
        find_smallest,
        lambda audit: audit.plan.settings.shrink and audit.refuted and not (audit.sample and audit.sample.failures),
    ),
    FollowUp(look_behind, hides_others),
    FollowUp(
        lambda audit: audit.warn(
            *no_loss(
                audit.ledger, audit.pair, audit.sample, [one for look in audit.looks.values() for one in look.prospects]
            )
        ),
        _shows_no_loss,
        takes_time=False,  # under a time limit it draws nothing
    ),
    FollowUp(
        plant_faults,
        lambda audit: audit.passed and audit.plan.kind == "pairwise" and audit.plan.claim.is_stated,
    ),
    # The exact loss is known over the reals, and says nothing about bits.
    FollowUp(
        lambda audit: replace(audit, exact=exact_value(audit.plan, audit.pair)),
        lambda audit: isinstance(audit.answer, Evidence) and audit.plan.settings.events == (VALUES,),
        takes_time=False,
    ),
    FollowUp(
        lambda audit: audit.warn(*exceptions(audit.plan, audit.pair, audit.sample), applies="if violated"),
        lambda audit: audit.sample is not None,
        takes_time=False,
    ),
    FollowUp(
        _with_advice_on_types,
        lambda audit: isinstance(audit.answer, CountEvidence),
        takes_time=False,
    ),
    # Canaries have runs instead of outputs.
    FollowUp(
        lambda audit: audit.warn(*few_outputs(audit.plan, audit.ledger.spent, audit.sample), applies="unless violated"),
        lambda audit: isinstance(audit.answer, Evidence) and audit.plan.kind != "canaries",
        takes_time=False,
    ),
)
