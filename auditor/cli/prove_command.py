"""`auditor prove` and `auditor check-proof`: proofs of the claims of a configuration, and their certificates."""

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

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
from auditor.errors import visible
from auditor.strangers import read_json

if TYPE_CHECKING:
    from auditor.auditing import Plan
    from dp_prover import Proof

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
    from auditor.report.terminal import escaped
    from auditor.verdict import Verdict

    console = open_console()
    status = AS_EXPECTED
    for configuration in load_all(options):
        table = table_for(configuration.name, ("audit", "claim", "proof"))
        for number, plan in enumerate(configuration.plans, 1):
            with naming(configuration, plan):
                proof = _attempt(plan, options.seconds)
            words = "– only privacy claims of Python mechanisms are tried" if proof is None else str(proof)
            table.add_row(escaped(plan.name), str(plan.claim), escaped(words))
            if proof is None:
                continue
            # A proof is about real numbers. So a violation that is expected may be one of floating point, next to a proof.
            if not proof.proved and plan.expect is not Verdict.VIOLATION:
                status = PROVED_FOR_PAIRS if proof.holds and status != UNEXPECTED else UNEXPECTED
            if options.out is not None and proof.certificate is not None:
                folder = options.out / configuration.name
                make_folder(folder)
                write_to(str(folder / f"proof-{number}.json"), json.dumps(proof.certificate, indent=1) + "\n")
        console.print(table)
    return status


def _attempt(plan: "Plan", seconds: float) -> "Proof | None":
    from auditor.blackbox.sources import ProgramSource
    from auditor.claims import PrivacyClaim
    from dp_prover import attempt

    if isinstance(plan.source, ProgramSource) or not isinstance(plan.claim, PrivacyClaim):
        return None
    return attempt(plan.source.drawer(), plan.claim, plan.domain, seconds)


def _check(options: argparse.Namespace) -> int:
    from dp_prover.checker import check_certificate
    from dp_prover.retrace import retraced

    for file in options.certificates:
        proof = read_json(file, MOST_BYTES, "a certificate")
        try:
            check_certificate(proof)
        except (ValueError, LookupError, TypeError, ArithmeticError, AttributeError, RecursionError) as error:
            say(f"{file}: refused: {type(error).__name__}: {_shown(error)}")
            return UNEXPECTED
        claim = ", ".join(f"{name} = {repr(value).removesuffix('.0')}" for name, value in proof["claim"].items())
        given = f" with {_shown(proof['parameters'])}" if proof["parameters"] else ""
        where = f"{_domain_words(proof)}{_script_words(proof)}"
        what = f"{_shown(proof['mechanism'])}{given}, {claim}, over the reals, for {_shown(where)}"
        if options.retrace:
            wrong = retraced(proof)
            if wrong is not None:
                say(f"{file}: refused: {wrong}")
                return UNEXPECTED
            what = f"{what}; the function was read again and has the same paths"
        say(f"{file}: holds: {what}")
    return AS_EXPECTED


def _shown(text: object) -> str:
    return visible(text, MOST_LETTERS)


def _script_words(proof: Any) -> str:
    """Return for which scripts of a session a certificate holds."""
    if "asked" not in proof:
        return ""
    rounds = proof["asked"]["rounds"]
    if all(len(steps) == 1 for steps in rounds):
        return f"; asked one script of {len(rounds)} questions"
    return f"; asked any script of up to {len(rounds)} questions, one of {max(map(len, rounds))} each time"


def _domain_words(proof: Any) -> str:
    """Return for which data sets a certificate holds, from the data that it was checked with."""
    domain = proof["domain"]
    if "pairs" in domain:
        count = len(domain["pairs"])
        return "the pair given only" if count == 1 else f"these {count:,} pairs only"
    if "values" in domain:
        shown = f"one of {len(domain['values']):,} values; any two are neighbours"
    elif "records" in domain:
        low, high = domain["size"]
        shown = f"{low} to {high} records of {len(domain['records']):,} values; {domain['relation']}"
    else:
        [(kind, reach)] = domain["relation"].items()
        ends = sorted({(low, high) for low, high in zip(domain["low"], domain["high"], strict=True)})
        numbers = "integers" if domain["integer"] else "numbers"
        each = " or ".join(f"{low} to {high}" for low, high in ends)
        how = {"l1": f"by at most {reach} in L1", "linf": f"by at most {reach} each"}.get(kind, f"by {kind} {reach}")
        shown = f"{len(domain['low'])} {numbers} from {each}; neighbours differ {how}"
    arrays = " or ".join(f"an {one}" for one in domain.get("forms", ()) if one != "value")
    return f"all data sets of the domain: {shown}{f'; each as {arrays}' if arrays else ''}"
