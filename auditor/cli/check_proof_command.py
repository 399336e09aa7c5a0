"""`auditor check-proof`: check certificates, without the mechanism."""

import argparse

from auditor.cli.common import installed_prover, say
from auditor.cli.options import AS_EXPECTED, UNEXPECTED
from auditor.errors import visible
from auditor.untrusted_files import read_json


def check_proof(options: argparse.Namespace) -> int:
    """Check certificates."""
    prover = installed_prover()
    for file in options.certificates:
        certificate = read_json(file, 200_000_000, "a certificate")
        try:
            words = prover.checked(certificate, options.retrace)
        except ValueError as error:
            say(f"{file}: refused: {visible(error, 500)}")
            return UNEXPECTED
        say(f"{file}: holds: {words}")
    return AS_EXPECTED
