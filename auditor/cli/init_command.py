"""`auditor init`: write a first configuration."""

import argparse

from auditor.cli.common import say, write_to
from auditor.cli.options import AS_EXPECTED, BAD_INPUT
from auditor.config.accountant_scaffold import scaffold_accountants
from auditor.config.scaffold import scaffold
from auditor.errors import InvalidInputError


def init(options: argparse.Namespace) -> int:
    """Write a first configuration."""
    if options.out.exists() and not options.force:
        raise InvalidInputError(
            f"{options.out} exists already; give another name by `-o`, or `--force` to overwrite it"
        )
    write = scaffold_accountants if options.accountant else scaffold
    text, audits = write(options.mechanism, options.out)
    write_to(str(options.out), text)
    say(f"written: {options.out}")
    for audit in audits:
        for note in audit.notes:
            say(f"  {audit.name}: {note}")
        if audit.guessed:
            say(f"  {audit.name}: guessed, so set it: {', '.join(audit.guessed)}")
    problems = [audit for audit in audits if audit.problem]
    for audit in problems:
        say(f"  {audit.name}: it does not pass `auditor check` yet: {audit.problem}")
    say(f"next: auditor {'check' if problems else 'run'} {options.out}")
    return BAD_INPUT if problems else AS_EXPECTED
