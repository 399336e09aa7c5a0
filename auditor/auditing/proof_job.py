"""A proof as a job of its own beside the sampling of an audit, or in its place."""

import threading
from collections.abc import Callable
from dataclasses import asdict, replace
from typing import Any

from auditor.auditing.calculated import with_proof
from auditor.auditing.ledger import Ledger
from auditor.auditing.outcome import Audit
from auditor.auditing.plan import Plan
from auditor.auditing.recount import PROOF_ONLY, not_recounted
from auditor.blackbox.host import hosted
from auditor.blackbox.sample import Drawer
from auditor.bounds.digits import round_to_side
from auditor.claims import Claim, PrivacyClaim
from auditor.errors import how_many
from auditor.events.observed import CalculatedEvent
from auditor.foreign_code import Stopped, describe_error, result_or_error
from auditor.interfaces import Domain
from auditor.prover import Attempted, Refuted, Scope, Status, prover
from auditor.results.reader import read_proof
from auditor.results.result import Judgement, ProofFound
from auditor.verdict import Verdict

# SECONDS of processor time for an attempt, by the setting ``prove``. After LATE times as long, its process is killed.
SECONDS: dict[Any, float] = {"briefly": 3.0, True: 10.0, "only": 60.0}
LATE = 4

# Jobs run one at a time, so that each has a processor to itself: the clock decides which proofs are found.
_ONE_AT_A_TIME = threading.Lock()


class ProofJob:
    """An attempt at a proof, which goes on while the audit draws.

    ``result`` waits for the attempt to end. It raises no error of the attempt, so that the audit keeps its verdict, but
    Stopped if a signal ended the attempt.
    """

    def __init__(self, plan: Plan) -> None:
        self._plan, self._found = plan, dict[str, Any]()
        self._thread: threading.Thread | None = None
        self._begun = self._closed = False
        self._stopped: Stopped | None = None

    def close(self) -> None:
        """Let no attempt begin from now on, since nobody waits for the result."""
        self._closed = True

    def begin(self) -> None:
        """Begin the attempt unless it has begun. The best moment is when the mechanism's process is idle."""
        plan, begun, self._begun = self._plan, self._begun, True
        if begun:
            return
        attempt = None if plan.store.recalls("proof") else result_or_error(_attempt_for, plan)
        if isinstance(attempt, BaseException):
            self._found = _failed(attempt)
        elif attempt is not None:
            self._thread = threading.Thread(target=self._run, args=(attempt,), daemon=True)
            self._thread.start()

    def _run(self, attempt: Callable[[], dict[str, Any]]) -> None:
        with _ONE_AT_A_TIME:
            if self._closed:
                return
            try:
                answer = result_or_error(attempt)  # or the error that the mechanism, its process or the prover raised
            except Stopped as stopped:  # the thread that waits raises it
                self._stopped = stopped
                return
            self._found = _failed(answer) if isinstance(answer, BaseException) else answer

    def result(self) -> ProofFound | None:
        """Return how the attempt ended. Return None without an attempt, or if a brief attempt neither proved nor refuted the claim.

        The result is kept in the plan's store, so that a resumed or replayed run reports the same.
        """
        if not self._plan.settings.prove:
            return None
        self.begin()
        kept: dict[str, Any] = self._plan.store.recall("proof", self._waited, {})
        return read_proof(kept) if kept else None

    def _waited(self) -> dict[str, Any]:
        if self._thread is not None:
            self._thread.join()
        if self._stopped is not None:
            raise self._stopped
        is_brief, status = self._plan.settings.prove == "briefly", self._found.get("status")
        return {} if is_brief and status not in (Status.PROVED, Status.REFUTED) else self._found


def _failed(error: BaseException) -> dict[str, Any]:
    why = f"the attempt ended in an error, {describe_error(error)}"
    return asdict(ProofFound(str(Status.NOT_PROVED), None, str(Scope.DOMAIN), reason=why))


def _attempt_for(plan: Plan) -> Callable[[], dict[str, Any]] | None:
    """Return the function that attempts the proof of a plan; None if no proof is to be attempted.

    The attempt runs in a process of its own, or without ``isolate`` in this one. A brief attempt is made only with
    ``isolate``, without ``seconds``, and not for canaries.
    """
    settings, source = plan.settings, plan.source
    is_brief, isolate = settings.prove == "briefly", settings.execution.isolate
    if not settings.prove or source.is_program:
        return None
    if is_brief and (settings.seconds is not None or not isolate or plan.kind == "canaries"):
        return None
    asked = prover()  # imported only if it may be asked
    if (
        asked is None
        or not plan.claim.is_stated
        or not isinstance(plan.claim, asked.CLAIMS if is_brief else PrivacyClaim)
    ):
        return None
    seconds = SECONDS[settings.prove]
    question = asked.attempt, plan.claim, plan.domain, seconds
    if isolate:
        return lambda: hosted(source, LATE * seconds).apply(_ended, *question)
    return lambda: _ended(source.drawer(), *question)


def _ended(
    mechanism: Drawer, attempt: Callable[..., Attempted], claim: Claim, domain: Domain, seconds: float
) -> dict[str, Any]:
    end = attempt(mechanism, claim, domain, seconds)
    scope = str(end.scope) if end.asked is None else f"{end.scope}, {end.asked}"
    value = None if end.value is None else float(end.value)
    refutation = None if end.refutation is None else _plain(end.refutation)
    ended = {"status": str(Status(end.status)), "bound": value, "scope": scope, "rule": end.rule}
    return ended | {"reason": end.reason, "pairs": end.pairs, "refutation": refutation}


def _plain(found: Refuted) -> dict[str, Any]:
    """Return a refutation as plain data, rounded as a report rounds, so that the report can be made again."""
    sides = (None, None) if found.chances is None else [round_to_side(found.chances[at], up=at == 1) for at in (0, 1)]
    event = asdict(CalculatedEvent(found.event, *sides))
    return {"pair": found.pair.to_dict(), "bound": round_to_side(found.value, up=False), "event": event}


def proof_alone(ledger: Ledger, proof: ProofFound | None) -> Audit:
    """Return an audit with ``prove: only``: no violation if the claim is proved, a violation if it is refuted, else no answer."""
    verdict, plan = Verdict.INCONCLUSIVE, ledger.plan
    if proof is not None and proof.refutation is not None:
        return with_proof(Audit.without_answer(ledger, ""), proof)
    if plan.earlier or plan.least:  # outputs have refuted the claim, and a proof is over the reals
        return replace(not_recounted(ledger, PROOF_ONLY), proof=proof)
    if proof is None:
        why = "only privacy claims of Python mechanisms can be proved; without `prove: only`, outputs are drawn"
    elif proof.proved:
        verdict, why = Verdict.NO_VIOLATION_FOUND, "the claim is proved; no outputs were drawn"
    elif proof.reason is None:
        why = f"the claim is proved for {how_many(proof.pairs or 0, 'pair')}, and not for all data sets of the domain"
    else:
        why = f"not proved: {proof.reason}"
    return Audit(ledger, Judgement(verdict, why), proof=proof)
