"""A proof in addition to the audit by sampling, or in its place."""

from dataclasses import asdict
from typing import Any

from auditor.auditing.outcome import Seen
from auditor.auditing.plan import Plan
from auditor.blackbox.host import hosted
from auditor.blackbox.mechanism import PythonSource
from auditor.blackbox.sources import ProgramSource
from auditor.claims import PrivacyClaim
from auditor.results.result import Judgement, ProofFound
from auditor.verdict import Verdict
from dp_prover import Proof, attempt
from dp_prover.proof import Scope, Status
from dp_prover.targets import CLAIMS

# For an attempt together with an audit, for one in its place, and for a brief one. A brief one looks at the clock between steps. It
# is killed when it is LATE.
SECONDS, SECONDS_ALONE, SECONDS_BRIEFLY, LATE = 10.0, 60.0, 3.0, 4.0
BRIEFLY = "briefly"
PROOF = "proof"


def proof_of(plan: Plan) -> ProofFound | None:
    """Return how an attempt at a proof ended; None if none is asked for, or if the prover cannot try the claim.

    Of a brief attempt only a proof for all data sets is returned. The result is kept in the plan's store, and a resumed or
    replayed run reports the same.
    """
    prove, source = plan.settings.prove, plan.source
    if not prove or isinstance(source, ProgramSource) or not isinstance(plan.claim, PrivacyClaim):
        return None
    nothing: dict[str, Any] | None = {} if prove == BRIEFLY else None
    kept = plan.store.recall(
        PROOF, lambda: _found_briefly(plan, source) if prove == BRIEFLY else _found(plan, source), nothing
    )
    return ProofFound(**kept) if kept else None


def _found(plan: Plan, source: PythonSource) -> dict[str, Any]:
    seconds = SECONDS_ALONE if plan.settings.prove == "only" else SECONDS
    try:
        return asdict(_said(attempt(source.drawer(), plan.claim, plan.domain, seconds)))
    except (Exception, SystemExit) as error:  # of the mechanism or of the prover: the audit is done, and stays
        why = f"the attempt ended in an error, {type(error).__name__}: {error}"
        return asdict(ProofFound(str(Status.NOT_PROVED), None, str(Scope.DOMAIN), reason=why))


def _found_briefly(plan: Plan, source: PythonSource) -> dict[str, Any]:
    """Try a proof for a few seconds in another process. The clock decides whether the attempt ends in time.

    There is no attempt under ``seconds``, or if the mechanism runs in this process only.
    """
    if plan.settings.seconds is not None or not plan.settings.execution.isolate:
        return {}
    if not isinstance(plan.claim, CLAIMS) or plan.kind == "canaries":
        return {}
    try:
        proof = hosted(source, LATE).apply(attempt, plan.claim, plan.domain, SECONDS_BRIEFLY)
    except Exception:  # of the mechanism, of its process, or of what cannot be sent there: the audit is done, and stays
        return {}
    return asdict(_said(proof)) if proof.proved else {}


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
