"""A proof for a session: for all scripts of a list of questions at once, by an analyst who asks at random; see ``analyst``."""

from dataclasses import replace

from auditor.blackbox.mechanism import Mechanism
from auditor.claims import ApproximateDP, Claim, PureDP
from auditor.neighbours.pair import Pair
from auditor.neighbours.scripts import NO_QUESTION, ScriptStep
from auditor.prover import Scope
from auditor.sessions.dialogues import Dialogues
from dp_prover.errors import NotProvedError
from dp_prover.interfaces import Names
from dp_prover.language.analyst import RandomAnalyst, analyst_for, analyst_of, asking
from dp_prover.language.trace import followed, numbers
from dp_prover.models.run import TracedRun
from dp_prover.proof import Proof
from dp_prover.proving import Attempt


def prove_session(mechanism: Mechanism, claim: Claim, domain: Dialogues) -> Proof:
    """Return a proof of a claim on the transcripts of all scripts of a domain, or why there is none.

    Several scripts need a proof of pure ε, which is one of (ε, δ) as well.
    """
    try:
        waits = _says_something(mechanism, domain)
        asked = asking(mechanism, lambda session: analyst_for(session, domain, waits))
    except NotProvedError as error:
        return Proof(mechanism.name, claim, None, Scope.DOMAIN, reason=str(error))
    analyst = analyst_of(asked)
    assert analyst is not None
    wanted = PureDP(claim.epsilon) if analyst.chooses and isinstance(claim, ApproximateDP) else claim
    found = Attempt(asked, wanted, domain.base, pure=analyst.chooses).prove()
    pair = None if found.pair is None else _with_script(found, found.pair, analyst, domain)
    return replace(found, claim=claim, pair=pair, event=None, outputs=None, asked=_words(analyst))


def _says_something(mechanism: Mechanism, domain: Dialogues) -> bool:
    """Whether a session says what was spent or is left, so that a round without a question shows something."""
    if domain.fixed is not None:
        return False

    def first(session: object) -> RandomAnalyst:
        steps = analyst_for(session, domain, waits=False).rounds  # type: ignore[arg-type]
        return RandomAnalyst(session, tuple((some[0],) for some in steps), domain.meter)  # type: ignore[arg-type]

    asked = asking(mechanism, first)
    dataset = numbers(domain.base.corners()[0].dataset("left"))
    try:
        path = followed(asked, dataset, TracedRun(Names(), ()))
    except NotProvedError:
        return False  # the attempt says why
    return isinstance(path.output[1], dict)


def _with_script(found: Proof, pair: Pair, analyst: RandomAnalyst, domain: Dialogues) -> Pair | None:
    """Return the pair on which a proof failed with the script on which it failed; None if that is not known."""
    if found.outputs is None:
        return None
    steps: list[ScriptStep] = [step for step in analyst.script(found.outputs[0][0]) if step.ask is not NO_QUESTION]
    return domain.with_script(pair, tuple(steps)) if steps else None


def _words(analyst: RandomAnalyst) -> str:
    count = len(analyst.rounds)
    until = "" if analyst.meter is None else f", until {analyst.meter.at:g} is spent"
    if analyst.chooses:
        return f"and all scripts of up to {count} questions, adaptive ones included{until}"
    return f"and this script of {count} questions{until}"
