"""`auditor prove` and `auditor check-proof`: proofs of the claims of a configuration, and their certificates."""

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING

from auditor.cli.common import (
    AS_EXPECTED,
    UNEXPECTED,
    Commands,
    add_configs,
    load_all,
    make_folder,
    naming,
    open_console,
    write_to,
)
from auditor.errors import InvalidInputError

if TYPE_CHECKING:
    from auditor.auditing import Plan
    from auditor.proofs import Proof

SECONDS = 30.0


def add_commands(commands: Commands) -> None:
    """Add both to the command line."""
    prove_parser = commands.add_parser(
        "prove", help="prove the claims of a configuration's Python mechanisms, where that can be done"
    )
    add_configs(prove_parser)
    prove_parser.add_argument("--seconds", type=float, default=SECONDS, metavar="S", help="for each audit")
    prove_parser.add_argument("--out", type=Path, metavar="DIR", help="write certificates to DIR/<config name>/")
    prove_parser.set_defaults(command=_prove)
    check_parser = commands.add_parser(
        "check-proof", help="check certificates, without the mechanism and without the prover"
    )
    check_parser.add_argument("certificates", nargs="+", type=Path, metavar="FILE")
    check_parser.set_defaults(command=_check)


def _prove(options: argparse.Namespace) -> int:
    from rich.markup import escape
    from rich.table import Table

    from auditor.verdict import Verdict

    console = open_console()
    status = AS_EXPECTED
    for configuration in load_all(options):
        table = Table(
            title=escape(configuration.name), box=None, pad_edge=False, header_style="bold", title_justify="left"
        )
        for heading in ("audit", "claim", "proof"):
            table.add_column(heading, overflow="fold")
        for number, plan in enumerate(configuration.plans, 1):
            with naming(configuration, plan):
                proof = _attempt(plan, options.seconds)
            words = "– only privacy claims of Python mechanisms are tried" if proof is None else str(proof)
            table.add_row(escape(plan.name), str(plan.claim), escape(words))
            if proof is None:
                continue
            # A proof is about real numbers. So a violation that is expected may be one of floating point, beside a proof.
            if not proof.proved and plan.expect is not Verdict.VIOLATION:
                status = UNEXPECTED
            if options.out is not None and proof.certificate is not None:
                folder = options.out / configuration.name
                make_folder(folder)
                write_to(str(folder / f"proof-{number}.json"), json.dumps(proof.certificate, indent=1) + "\n")
        console.print(table)
    return status


def _attempt(plan: "Plan", seconds: float) -> "Proof | None":
    from auditor.claims import PrivacyClaim
    from auditor.proofs import attempt

    if plan.source.command is not None or not isinstance(plan.claim, PrivacyClaim):
        return None
    return attempt(plan.source.drawer(), plan.claim, plan.domain, seconds)


def _check(options: argparse.Namespace) -> int:
    from auditor.proofs.checker import check

    for file in options.certificates:
        try:
            proof = json.loads(file.read_text(encoding="utf-8"))
        except OSError as error:
            raise InvalidInputError(f"{file} cannot be read: {error.strerror}") from None
        except ValueError as error:
            raise InvalidInputError(f"{file} is not JSON: {error}") from None
        try:
            check(proof)
        except (ValueError, LookupError, TypeError, ArithmeticError, AttributeError) as error:
            print(f"{file}: refused: {type(error).__name__}: {error}")
            return UNEXPECTED
        claim = ", ".join(f"{name} = {value:g}" for name, value in proof["claim"].items())
        print(f"{file}: holds: {proof['mechanism']}, {claim}, over the reals, for {proof['scope']}: {proof['domain']}")
    return AS_EXPECTED
