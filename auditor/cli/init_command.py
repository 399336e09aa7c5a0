"""`auditor init`: write a first configuration."""

import argparse

from auditor.cli.common import say, write_to
from auditor.cli.options import AS_EXPECTED, BAD_INPUT
from auditor.config.accountant_scaffold import scaffold_accountants
from auditor.config.scaffold import scaffold
from auditor.config.starting import Starter, starter
from auditor.errors import InvalidInputError


def init(options: argparse.Namespace) -> int:
    """Write a first configuration."""
    if options.out.exists() and not options.force:
        raise InvalidInputError(
            f"{options.out} exists already; give another name by `-o`, or `--force` to overwrite it"
        )
    kinds = [kind for kind in ("step", "round") if getattr(options, kind) is not None]
    if len(kinds) + bool(options.mechanism) != 1:
        raise InvalidInputError("give either mechanisms, or `--step`, or `--round`: one of these")
    if kinds:
        return _write_starter(starter(kinds[0], getattr(options, kinds[0]), options.out), options)
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


def _write_starter(made: Starter, options: argparse.Namespace) -> int:
    """Write a starter's two files. Nothing is imported."""
    if made.wrapper.exists() and not options.force:
        raise InvalidInputError(f"{made.wrapper} exists already; move it, or use `--force` to overwrite it")
    if not options.out.parent.is_dir():
        raise InvalidInputError(f"the folder {options.out.parent} for {options.out.name} does not exist; make it first")
    write_to(str(made.wrapper), made.wrapper_text)
    write_to(str(options.out), made.text)
    say(f"written: {made.wrapper} and {options.out}")
    say(f"next: put your own objects into {made.wrapper.name}, then: auditor run {options.out}")
    return AS_EXPECTED
