"""A proof beside the audit by sampling, or in its place."""

from dataclasses import asdict
from typing import Any

from auditor.auditing.outcome import Outcome
from auditor.auditing.plan import Plan
from auditor.blackbox.host import hosted
from auditor.claims import PrivacyClaim
from auditor.neighbours.canaries import Canaries
from auditor.neighbours.pair import Pair, plain
from auditor.proofs import Proof, Scope, attempt
from auditor.proofs.targets import CLAIMS
from auditor.results.result import Judgement, ProofFound
from auditor.verdict import Verdict

# For an attempt beside an audit, for one in its place, and for a brief one. A brief one looks at the clock between steps, and is
# killed when it is LATE.
SECONDS, SECONDS_ALONE, SECONDS_BRIEFLY, LATE = 10.0, 60.0, 3.0, 4.0
BRIEFLY = "briefly"
PROOF = "proof"


def tried_proof(plan: Plan) -> tuple[ProofFound | None, tuple[Pair, ...]]:
    """Return how an attempt at a proof ended, and the pair on which it failed, which the search tries first.

    There is none where none is asked for, or where there is nothing to be tried. It is kept in the plan's store, so that a run
    that is resumed or replayed reports the same.
    """
    prove = plan.settings.prove
    if prove in (False, BRIEFLY) or plan.source.command is not None or not isinstance(plan.claim, PrivacyClaim):
        return None, ()
    kept = plan.store.recall(PROOF, lambda: _found(plan, SECONDS_ALONE if prove == "only" else SECONDS))
    pair = plan.domain.moved(*kept["failed"]) if kept["failed"] else None
    return ProofFound(**kept["found"]), (pair,) if pair is not None else ()


def brief_proof(plan: Plan) -> ProofFound | None:
    """Return the proof for all data sets that a few seconds find after an audit, in another process; None if they find none.

    It changes nothing else, because it depends on the clock whether it ends in time. So no pair of a failed attempt goes to the
    search. There is no attempt under ``seconds``, nor where the mechanism is to run in this process only.
    """
    if plan.settings.prove != BRIEFLY:
        return None
    nothing: dict[str, Any] = {}
    kept = plan.store.recall(PROOF, lambda: _found_elsewhere(plan), nothing)
    return ProofFound(**kept["found"]) if kept else None


def _found_elsewhere(plan: Plan) -> dict[str, Any]:
    if plan.source.command is not None or plan.settings.seconds is not None or not plan.settings.execution.isolate:
        return {}
    if not isinstance(plan.claim, CLAIMS) or isinstance(plan.domain, Canaries):
        return {}
    try:
        proof = hosted(plan.source, LATE).apply(attempt, plan.claim, plan.domain, SECONDS_BRIEFLY)
    except Exception:  # of the mechanism, of its process, or of what cannot be sent there: the audit is done, and stays
        return {}
    return {"found": asdict(_said(proof))} if proof.proved and proof.scope is Scope.DOMAIN else {}


def _found(plan: Plan, seconds: float) -> dict[str, Any]:
    proof = attempt(plan.source.drawer(), plan.claim, plan.domain, seconds)
    failed = None
    if proof.pair is not None and plan.domain.moves() is not None:
        left = plain(proof.pair.left)
        failed = [left, [b - a for a, b in zip(left, plain(proof.pair.right), strict=True)]]
    return {"found": asdict(_said(proof)), "failed": failed}


def _said(proof: Proof) -> ProofFound:
    return ProofFound(proof.value, str(proof.scope), proof.rule, proof.reason, proof.pairs)


def proof_alone(plan: Plan, proof: ProofFound | None) -> Outcome:
    """Return the outcome of an audit that is a proof only: no violation where the claim is proved, else no answer."""
    if proof is None:
        why = "only privacy claims of Python mechanisms can be proved; without `prove: only`, outputs are drawn"
        return Outcome(plan, Judgement(Verdict.INCONCLUSIVE, why))
    if proof.proved:
        return Outcome(plan, Judgement(Verdict.NO_VIOLATION_FOUND, "the claim is proved; no outputs were drawn"))
    return Outcome(plan, Judgement(Verdict.INCONCLUSIVE, f"not proved: {proof.reason}"))
