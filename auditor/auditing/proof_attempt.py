"""A proof in addition to the audit by sampling, or in its place."""

from dataclasses import asdict
from typing import Any

from auditor.auditing.outcome import Seen
from auditor.auditing.plan import Hints, Plan
from auditor.blackbox.canonical import from_batch, from_list
from auditor.blackbox.host import hosted
from auditor.blackbox.mechanism import PythonSource
from auditor.blackbox.outputs import concatenate
from auditor.blackbox.sources import ProgramSource
from auditor.claims import PrivacyClaim
from auditor.events.features import Where, like
from auditor.events.written import read_rule, written
from auditor.neighbours.pair import Arrays, plain
from auditor.proofs import Proof, attempt
from auditor.proofs.targets import CLAIMS
from auditor.results.result import Judgement, ProofFound
from auditor.verdict import Verdict

# For an attempt together with an audit, for one in its place, and for a brief one. A brief one looks at the clock between steps. It
# is killed when it is LATE.
SECONDS, SECONDS_ALONE, SECONDS_BRIEFLY, LATE = 10.0, 60.0, 3.0, 4.0
BRIEFLY = "briefly"
PROOF = "proof"


def tried_proof(plan: Plan) -> tuple[ProofFound | None, Hints]:
    """Return how an attempt at a proof ended, and the pair and the event on which it failed.

    There is no proof if none is asked for, or if the prover cannot try the claim. The result is kept in the plan's store, and a
    resumed or replayed run reports the same.
    """
    prove = plan.settings.prove
    source = plan.source
    if prove in (False, BRIEFLY) or isinstance(source, ProgramSource) or not isinstance(plan.claim, PrivacyClaim):
        return None, Hints()
    kept = plan.store.recall(PROOF, lambda: _found(plan, source, SECONDS_ALONE if prove == "only" else SECONDS))
    pair = plan.domain.moved(*kept["failed"]) if kept["failed"] else None
    features = read_rule({"event": kept.get("event", [])}, "event")[0]
    return ProofFound(**kept["found"]), Hints((pair,) if pair else (), features)


def brief_proof(plan: Plan) -> ProofFound | None:
    """Try a proof for a few seconds after an audit, in another process. Return a proof for all data sets, or None.

    The clock decides whether the attempt ends in time. So it changes nothing else: the search gets no pair of a failed attempt.
    There is no attempt under ``seconds``, or if the mechanism runs in this process only.
    """
    if plan.settings.prove != BRIEFLY:
        return None
    nothing: dict[str, Any] = {}
    kept = plan.store.recall(PROOF, lambda: _found_elsewhere(plan), nothing)
    return ProofFound(**kept["found"]) if kept else None


def _found_elsewhere(plan: Plan) -> dict[str, Any]:
    source = plan.source
    if isinstance(source, ProgramSource) or plan.settings.seconds is not None or not plan.settings.execution.isolate:
        return {}
    if not isinstance(plan.claim, CLAIMS) or plan.kind == "canaries":
        return {}
    try:
        proof = hosted(source, LATE).apply(attempt, plan.claim, plan.domain, SECONDS_BRIEFLY)
    except Exception:  # of the mechanism, of its process, or of what cannot be sent there: the audit is done, and stays
        return {}
    return {"found": asdict(_said(proof))} if proof.proved else {}


def _found(plan: Plan, source: PythonSource, seconds: float) -> dict[str, Any]:
    mechanism = source.drawer()
    proof = attempt(mechanism, plan.claim, plan.domain, seconds)
    failed, event = None, tuple[Where, ...]()
    if proof.pair is not None and isinstance(proof.pair.form, Arrays):
        left = plain(proof.pair.left)
        failed = [left, [b - a for a, b in zip(left, plain(proof.pair.right), strict=True)]]
    if proof.outputs is not None:
        batches = [from_batch(one, 1) if mechanism.batched else from_list([one]) for one in proof.outputs]
        event = like(concatenate(batches))
    return {"found": asdict(_said(proof)), "failed": failed, **(written(event=event) or {})}


def _said(proof: Proof) -> ProofFound:
    scope = str(proof.scope) if proof.asked is None else f"{proof.scope}, {proof.asked}"
    return ProofFound(str(proof.status), proof.value, scope, proof.rule, proof.reason, proof.pairs)


def proof_alone(plan: Plan, proof: ProofFound | None) -> Seen:
    """Return the result of an audit with ``prove: only``: no violation if the claim is proved, else no answer."""
    verdict = Verdict.INCONCLUSIVE
    if proof is None:
        why = "only privacy claims of Python mechanisms can be proved; without `prove: only`, outputs are drawn"
    elif proof.proved:
        verdict, why = Verdict.NO_VIOLATION_FOUND, "the claim is proved; no outputs were drawn"
    elif proof.reason is None:
        why = f"the claim is proved for {proof.pairs:,} pairs, and not for all data sets of the domain"
    else:
        why = f"not proved: {proof.reason}"
    return Seen(Judgement(verdict, why), plan.settings.sizes)
