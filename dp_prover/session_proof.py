"""Proves a claim of a session for all scripts at once, through an analyst who asks at random; see ``analyst``."""

from dataclasses import replace

from auditor.blackbox.mechanism import Mechanism
from auditor.claims import ApproximateDP, Claim, PureDP
from auditor.neighbours.pair import Pair
from auditor.neighbours.scripts import NO_QUESTION, ScriptStep
from auditor.prover import Scope
from auditor.sessions.dialogues import Dialogues
from dp_prover.errors import NotProvedError
from dp_prover.interfaces import Names
from dp_prover.language.analyst import RandomAnalyst, analyst_for, analyst_of, with_analyst
from dp_prover.language.trace import follow, numbers
from dp_prover.models.run import TracedRun
from dp_prover.proof import Proof
from dp_prover.proving import Attempt


def prove_session(mechanism: Mechanism, claim: Claim, domain: Dialogues) -> Proof:
    """Try to prove a claim on the transcripts of all scripts of a domain.

    Several scripts require pure ε, which implies (ε, δ).
    """
    try:
        waits = _says_something(mechanism, domain)
        asked = with_analyst(mechanism, lambda session: analyst_for(session, domain, waits))
    except NotProvedError as error:
        return Proof(mechanism.name, claim, None, Scope.DOMAIN, reason=str(error))
    analyst = analyst_of(asked)
    assert analyst is not None
    wanted = PureDP(claim.epsilon) if analyst.chooses and isinstance(claim, ApproximateDP) else claim
    proof = Attempt(asked, wanted, domain.base, pure=analyst.chooses).prove()
    pair = None if proof.pair is None else _with_script(proof, proof.pair, analyst, domain)
    return replace(proof, claim=claim, pair=pair, event=None, outputs=None, asked=_words(analyst))


def _says_something(mechanism: Mechanism, domain: Dialogues) -> bool:
    """Whether a session reports its spent or remaining budget, so that a round without a question is informative."""
    if domain.fixed is not None:
        return False

    def first(session: object) -> RandomAnalyst:
        steps = analyst_for(session, domain, waits=False).rounds  # type: ignore[arg-type]
        return RandomAnalyst(session, tuple((first_step,) for first_step, *_ in steps), domain.meter)  # type: ignore[arg-type]

    asked = with_analyst(mechanism, first)
    dataset = numbers(domain.base.corners()[0].dataset("left"))
    try:
        path = follow(asked, dataset, TracedRun(Names(), ()))
    except NotProvedError:
        return False  # the attempt says why
    return isinstance(path.output[1], dict)


def _with_script(proof: Proof, pair: Pair, analyst: RandomAnalyst, domain: Dialogues) -> Pair | None:
    """Return the pair on which a proof failed, with its script; None if the script is unknown."""
    if proof.outputs is None:
        return None
    steps: list[ScriptStep] = [step for step in analyst.script(proof.outputs[0][0]) if step.ask is not NO_QUESTION]
    return domain.with_script(pair, tuple(steps)) if steps else None


def _words(analyst: RandomAnalyst) -> str:
    count = len(analyst.rounds)
    until = "" if analyst.meter is None else f", until {analyst.meter.at:g} is spent"
    if analyst.chooses:
        return f"and all scripts of up to {count} questions, adaptive ones included{until}"
    return f"and this script of {count} questions{until}"
