"""An audit whose claim is refuted by calculation: a violation without a sampling error."""

from dataclasses import replace

from auditor.auditing.outcome import Audit
from auditor.bounds.evidence import Bound
from auditor.claims import Claim
from auditor.errors import InvalidInputError
from auditor.interfaces import Domain
from auditor.neighbours.pair import Pair
from auditor.results.result import Judgement, ProofFound, Refutation
from auditor.verdict import Verdict

METHOD = "calculation"
REFUTED = "the claim is refuted by calculation"


def calculated(claim: Claim, refutation: Refutation) -> Judgement:
    """Return the judgement of a refuted claim. It has no level: nothing is random. Raises InvalidInputError if the claim holds."""
    if not claim.is_stated or claim.excess(refutation.bound) <= 0:
        raise InvalidInputError(f"{claim.symbol} ≥ {refutation.bound:g} does not refute {claim}")
    bound = Bound(claim.quantity, refutation.bound, 1.0, METHOD)
    return Judgement(Verdict.VIOLATION, REFUTED, bound, refutation.event)


def with_proof(audit: Audit, proof: ProofFound | None) -> Audit:
    """Return an audit with how the attempt at a proof ended.

    If the claim is refuted by calculation, and not by outputs, the calculation is the answer. The audit then needs no level:
    its outputs take no part in the verdict, and in Holm's step-down it has no p-value but counts as an audit. So no level
    of another audit becomes larger by a calculation.
    """
    if proof is None or proof.refutation is None or audit.refuted:
        return replace(audit, proof=proof)
    found = proof.refutation
    answer = calculated(audit.plan.claim, found)
    pair = _own(audit.plan.domain, found.pair)
    return replace(audit, proof=proof, answer=answer, pair=pair, smallest=None, exact=None, sample=None, planted=None)


def _own(domain: Domain, pair: Pair) -> Pair:
    """Return a pair of plain data as the domain has it, if it finds it, so that a call can repeat the audit on it."""
    own = domain.own(pair.left, pair.right)
    return own if own is not None and own.to_dict() == pair.to_dict() else pair
