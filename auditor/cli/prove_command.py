"""`auditor prove`: try to prove the claims of configurations."""

import argparse
import json

from auditor.claims import PrivacyClaim
from auditor.cli.common import installed_prover, load_all, make_folder, naming, open_console, write_to
from auditor.cli.options import AS_EXPECTED, PROVED_FOR_PAIRS, UNEXPECTED
from auditor.foreign_code import describe_error, result_or_error
from auditor.prover import Attempted, Status
from auditor.report.terminal import escaped, table_for
from auditor.verdict import Verdict


def prove(options: argparse.Namespace) -> int:
    """Try to prove the claims of configurations."""
    console, prover = open_console(), installed_prover()
    status = AS_EXPECTED
    for configuration in load_all(options):
        table = table_for(("audit", "claim", "proof"), configuration.name)
        for place, plan in enumerate(configuration.plans, 1):
            claim = plan.claim
            if plan.source.is_program or not isinstance(claim, PrivacyClaim) or not claim.is_stated:
                table.add_row(escaped(plan.name), str(claim), "– only privacy claims of Python mechanisms are tried")
                continue
            proof: Attempted | BaseException
            with naming(configuration, plan):
                proof = result_or_error(prover.attempt, plan.source.drawer(), claim, plan.domain, options.seconds)
            if isinstance(proof, BaseException):  # an error of the prover itself
                ended, words = Status.NOT_PROVED, f"not proved: the attempt ended in an error, {describe_error(proof)}"
            else:
                ended, words = proof.status, str(proof)
            table.add_row(escaped(plan.name), str(claim), escaped(words))
            # If a violation is expected, a proof is not wrong: it is about real numbers, the violation about floating point.
            if ended != Status.PROVED and plan.expect is not Verdict.VIOLATION:
                is_for_pairs = ended == Status.PROVED_FOR_PAIRS and status != UNEXPECTED
                status = PROVED_FOR_PAIRS if is_for_pairs else UNEXPECTED
            if options.out is not None and not isinstance(proof, BaseException) and proof.certificate is not None:
                folder = options.out / configuration.name
                make_folder(folder)
                write_to(str(folder / f"proof-{place}.json"), json.dumps(proof.certificate, indent=1) + "\n")
        if configuration.plans:
            console.print(table)
        if configuration.accountants:
            names = ", ".join(escaped(plan.name) for plan in configuration.accountants)
            console.print(
                f"{configuration.name}: nothing to prove of what accountants state ({names}); "
                f"`auditor run {configuration.file}` compares it with exact numbers"
            )
    return status
