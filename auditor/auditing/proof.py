"""A proof beside the audit by sampling, or in its place."""

from dataclasses import asdict
from typing import Any

from auditor.auditing.outcome import Outcome
from auditor.auditing.plan import Plan
from auditor.claims import PrivacyClaim
from auditor.neighbours.pair import Pair, plain
from auditor.proofs import attempt
from auditor.results.result import Judgement, ProofFound
from auditor.verdict import Verdict

# For an attempt beside an audit, and for one in its place.
SECONDS, SECONDS_ALONE = 10.0, 60.0
PROOF = "proof"


def tried_proof(plan: Plan) -> tuple[ProofFound | None, tuple[Pair, ...]]:
    """Return how an attempt at a proof ended, and the pair on which it failed, which the search tries first.

    There is none where none is asked for, or where there is nothing to be tried. It is kept in the plan's store, so that a run
    that is resumed or replayed reports the same.
    """
    prove = plan.settings.prove
    if not prove or plan.source.command is not None or not isinstance(plan.claim, PrivacyClaim):
        return None, ()
    kept = plan.store.recall(PROOF, lambda: _found(plan, SECONDS_ALONE if prove == "only" else SECONDS))
    pair = plan.domain.moved(*kept["failed"]) if kept["failed"] else None
    return ProofFound(**kept["found"]), (pair,) if pair is not None else ()


def _found(plan: Plan, seconds: float) -> dict[str, Any]:
    proof = attempt(plan.source.drawer(), plan.claim, plan.domain, seconds)
    found = ProofFound(proof.value, str(proof.scope), proof.rule, proof.reason, proof.pairs)
    failed = None
    if proof.pair is not None and plan.domain.moves() is not None:
        left = plain(proof.pair.left)
        failed = [left, [b - a for a, b in zip(left, plain(proof.pair.right), strict=True)]]
    return {"found": asdict(found), "failed": failed}


def proof_alone(plan: Plan, proof: ProofFound | None) -> Outcome:
    """Return the outcome of an audit that is a proof only: no violation where the claim is proved, else no answer."""
    if proof is None:
        why = "only privacy claims of Python mechanisms can be proved; without `prove: only`, outputs are drawn"
        return Outcome(plan, Judgement(Verdict.INCONCLUSIVE, why))
    if proof.proved:
        return Outcome(plan, Judgement(Verdict.NO_VIOLATION_FOUND, "the claim is proved; no outputs were drawn"))
    return Outcome(plan, Judgement(Verdict.INCONCLUSIVE, f"not proved: {proof.reason}"))
