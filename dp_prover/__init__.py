"""Proofs of differential privacy for ordinary Python functions, over the reals."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from auditor.blackbox.mechanism import Mechanism, PythonSource
from auditor.claims import Claim
from auditor.interfaces import Domain
from auditor.neighbours.domains import Pairs
from auditor.neighbours.epochs import loader_of
from auditor.prover import Scope, Status
from auditor.sessions.dialogues import Dialogues
from auditor.sessions.session_mechanism import SessionMechanism
from dp_prover.certificates.certified import checked
from dp_prover.clock import seconds_left, within_seconds
from dp_prover.numbers.targets import CLAIMS
from dp_prover.proof import Proof
from dp_prover.proving import Attempt
from dp_prover.refuting.attempt import refuted
from dp_prover.session_proof import prove_session

__all__ = ["CLAIMS", "SECONDS", "Proof", "Scope", "Status", "attempt", "checked", "prove"]

SECONDS = 30.0
# A refutation is tried for this share of the seconds; for AT_LEAST seconds, if the attempt at a proof has left them.
OF_SECONDS, AT_LEAST = 0.25, 3.0


def prove(
    mechanism: Callable[..., Any] | str,
    claim: Claim,
    neighbours: Domain | Sequence[tuple[Any, Any]],
    *,
    parameters: Mapping[str, Any] | None = None,
    seconds: float = SECONDS,
) -> Proof:
    """Try to prove a claim of a Python mechanism, over the reals, or to refute it by calculation.

    Args:
        mechanism: ``f(dataset, rng)`` or ``f(dataset, size, rng)``, or its name, "module:function". Under Dialogues it returns a
            session.
        claim: such as ``PureDP(1.0)``.
        neighbours: a domain, or a list of (left, right) pairs.
        parameters: keyword arguments of the mechanism.
        seconds: the attempt's budget of processor time. A quarter of it is added for a refutation.

    Raises MechanismError when the mechanism cannot be called.

    >>> import auditor, dp_prover
    >>> def count(totals, size, rng):
    ...     return totals[0] + rng.laplace(0.0, 1.0, size)
    >>> one = auditor.Totals(cells=1, values=(0, 100), contribution={"l1": 1})
    >>> print(dp_prover.prove(count, auditor.PureDP(1.0), one))
    proved: ε ≤ 1.0000, over the reals, for all data sets of the domain
    """
    if callable(mechanism):
        name = getattr(mechanism, "__qualname__", type(mechanism).__qualname__)
        source = PythonSource(name, parameters or {}, function=mechanism)
    else:
        source = PythonSource(mechanism, parameters or {})
    domain = Pairs(list(neighbours)) if isinstance(neighbours, Sequence) else neighbours
    if isinstance(domain, Dialogues):
        source = replace(source, through=(SessionMechanism,))
    return attempt(source.drawer(), claim, domain, seconds)


def attempt(mechanism: Mechanism, claim: Claim, domain: Domain, seconds: float) -> Proof:
    """Try within a budget of processor seconds, then try to refute what is not proved; see :func:`prove`."""
    if loader_of(domain) is not None:
        reason = "the batches of an epoch are drawn at random, which is not modelled"
        return Proof(mechanism.name, claim, None, Scope.DOMAIN, reason=reason)
    with within_seconds(seconds):
        if isinstance(domain, Dialogues):
            return prove_session(mechanism, claim, domain)
        proof = Attempt(mechanism, claim, domain).prove()
        left = seconds_left()
    if proof.holds:
        return proof
    with within_seconds(max(seconds * OF_SECONDS, min(left, AT_LEAST))):
        found = refuted(mechanism, claim, domain, first=proof.pair)
    if found is None:
        return proof
    refutation, certificate = found
    return replace(proof, refutation=refutation, certificate=certificate)
