"""A proof beside the audit by sampling, or in its place."""

from dataclasses import asdict

from auditor.auditing.outcome import Outcome
from auditor.auditing.plan import Plan
from auditor.claims import PrivacyClaim
from auditor.proofs import attempt
from auditor.results.result import Judgement, ProofFound
from auditor.verdict import Verdict

# For an attempt beside an audit, and for one in its place.
SECONDS, SECONDS_ALONE = 10.0, 60.0
PROOF = "proof"


def tried_proof(plan: Plan) -> ProofFound | None:
    """Return how an attempt at a proof ended; None where none is asked for, or there is nothing to be tried.

    It is kept in the plan's store, so that a run that is resumed or replayed reports the same.
    """
    prove = plan.settings.prove
    if not prove or plan.source.command is not None or not isinstance(plan.claim, PrivacyClaim):
        return None
    seconds = SECONDS_ALONE if prove == "only" else SECONDS
    return ProofFound(**plan.store.recall(PROOF, lambda: asdict(_found(plan, seconds))))


def _found(plan: Plan, seconds: float) -> ProofFound:
    proof = attempt(plan.source.drawer(), plan.claim, plan.domain, seconds)
    return ProofFound(proof.value, str(proof.scope), proof.rule, proof.reason, proof.pairs)


def proof_alone(plan: Plan) -> Outcome:
    """Return the outcome of an audit that is a proof only: no violation where the claim is proved, else no answer."""
    proof = tried_proof(plan)
    if proof is None:
        why = "only privacy claims of Python mechanisms can be proved; without `prove: only`, outputs are drawn"
        return Outcome(plan, Judgement(Verdict.INCONCLUSIVE, why))
    if proof.proved:
        return Outcome(
            plan, Judgement(Verdict.NO_VIOLATION_FOUND, "the claim is proved; no outputs were drawn"), proof=proof
        )
    return Outcome(plan, Judgement(Verdict.INCONCLUSIVE, f"not proved: {proof.reason}"), proof=proof)
