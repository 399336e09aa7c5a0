"""`auditor prove` and `auditor check-proof`: proofs of the claims of a configuration, and their certificates."""

import argparse
import json

from auditor.auditing import Plan
from auditor.blackbox.command import Program
from auditor.claims import PrivacyClaim, Unclaimed
from auditor.cli.common import load_all, make_folder, naming, open_console, say, write_to
from auditor.cli.options import AS_EXPECTED, PROVED_FOR_PAIRS, UNEXPECTED
from auditor.door import outcome, told
from auditor.errors import InvalidInputError, visible
from auditor.prover import GROUP, Attempted, Prover, Status, prover
from auditor.report.terminal import escaped, table_for
from auditor.strangers import read_json
from auditor.verdict import Verdict

MOST_BYTES, MOST_LETTERS = 200_000_000, 500  # of a certificate, and of a text of it


def prove(options: argparse.Namespace) -> int:
    """Try to prove the claims of configurations."""
    console, asked = open_console(), _prover()
    status = AS_EXPECTED
    for configuration in load_all(options):
        table = table_for(("audit", "claim", "proof"), configuration.name)
        for number, plan in enumerate(configuration.plans, 1):
            with naming(configuration, plan):
                proof = _attempt(asked, plan, options.seconds)
            ended, words = Status.NOT_PROVED, "– only privacy claims of Python mechanisms are tried"
            if isinstance(proof, BaseException):  # of the prover
                words = f"not proved: the attempt ended in an error, {told(proof)}"
            elif proof is not None:
                ended, words = proof.status, str(proof)
            table.add_row(escaped(plan.name), str(plan.claim), escaped(words))
            if proof is None:
                continue
            # A proof is about real numbers. So a violation that is expected may be one of floating point, next to a proof.
            if ended != Status.PROVED and plan.expect is not Verdict.VIOLATION:
                is_for_pairs = ended == Status.PROVED_FOR_PAIRS and status != UNEXPECTED
                status = PROVED_FOR_PAIRS if is_for_pairs else UNEXPECTED
            if options.out is not None and not isinstance(proof, BaseException) and proof.certificate is not None:
                folder = options.out / configuration.name
                make_folder(folder)
                write_to(str(folder / f"proof-{number}.json"), json.dumps(proof.certificate, indent=1) + "\n")
        console.print(table)
    return status


def _attempt(asked: Prover, plan: Plan, seconds: float) -> Attempted | BaseException | None:
    if (
        isinstance(plan.source, Program)
        or not isinstance(plan.claim, PrivacyClaim)
        or isinstance(plan.claim, Unclaimed)
    ):
        return None
    mechanism = plan.source.drawer()
    ended: Attempted | BaseException = outcome(asked.attempt, mechanism, plan.claim, plan.domain, seconds)
    return ended


def check_proof(options: argparse.Namespace) -> int:
    """Check certificates."""
    asked = _prover()
    for file in options.certificates:
        certificate = read_json(file, MOST_BYTES, "a certificate")
        try:
            words = asked.checked(certificate, options.retrace)
        except ValueError as error:
            say(f"{file}: refused: {visible(error, MOST_LETTERS)}")
            return UNEXPECTED
        say(f"{file}: holds: {words}")
    return AS_EXPECTED


def _prover() -> Prover:
    if (asked := prover()) is None:
        raise InvalidInputError(f"no prover is installed; dp-auditor has one, at its entry point of the group {GROUP}")
    return asked
