"""`auditor prove` and `auditor check-proof`: proofs of the claims of a configuration, and their certificates."""

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING

from auditor.cli.common import (
    AS_EXPECTED,
    PROVED_FOR_PAIRS,
    UNEXPECTED,
    Commands,
    add_configs,
    load_all,
    make_folder,
    naming,
    open_console,
    say,
    table_for,
    write_to,
)
from auditor.door import outcome, told
from auditor.errors import InvalidInputError, visible
from auditor.strangers import read_json

if TYPE_CHECKING:
    from auditor.auditing import Plan
    from auditor.prover import Attempted, Prover

SECONDS = 30.0
MOST_BYTES, MOST_LETTERS = 200_000_000, 500  # of a certificate, and of a text of it


def add_commands(commands: Commands) -> None:
    """Add both to the command line."""
    prove_parser = commands.add_parser("prove", help="try to prove the claims of a configuration's Python mechanisms")
    add_configs(prove_parser)
    prove_parser.add_argument("--seconds", type=float, default=SECONDS, metavar="S", help="time limit for each audit")
    prove_parser.add_argument("--out", type=Path, metavar="DIR", help="write certificates to DIR/<config name>/")
    prove_parser.set_defaults(command=_prove)
    check_parser = commands.add_parser(
        "check-proof", help="check certificates, without the mechanism and without the prover"
    )
    check_parser.add_argument("certificates", nargs="+", type=Path, metavar="FILE")
    check_parser.add_argument(
        "--retrace",
        action="store_true",
        help="read the function again, which imports its module, and compare the paths",
    )
    check_parser.set_defaults(command=_check)


def _prove(options: argparse.Namespace) -> int:
    from auditor.prover import Status
    from auditor.report.terminal import escaped
    from auditor.verdict import Verdict

    console, asked = open_console(), _prover()
    status = AS_EXPECTED
    for configuration in load_all(options):
        table = table_for(configuration.name, ("audit", "claim", "proof"))
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


def _attempt(asked: "Prover", plan: "Plan", seconds: float) -> "Attempted | BaseException | None":
    from auditor.blackbox.sources import ProgramSource
    from auditor.claims import PrivacyClaim, Unclaimed

    if (
        isinstance(plan.source, ProgramSource)
        or not isinstance(plan.claim, PrivacyClaim)
        or isinstance(plan.claim, Unclaimed)
    ):
        return None
    mechanism = plan.source.drawer()
    ended: Attempted | BaseException = outcome(asked.attempt, mechanism, plan.claim, plan.domain, seconds)
    return ended


def _check(options: argparse.Namespace) -> int:
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


def _prover() -> "Prover":
    from auditor.prover import GROUP, prover

    if (asked := prover()) is None:
        raise InvalidInputError(f"no prover is installed; dp-auditor has one, at its entry point of the group {GROUP}")
    return asked
