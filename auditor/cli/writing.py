"""`auditor init` and `auditor schema`: what helps to write a configuration."""

import argparse
import json
from pathlib import Path

from auditor.cli.common import AS_EXPECTED, BAD_INPUT, Commands, say, write_to
from auditor.errors import InvalidInputError


def add_commands(commands: Commands) -> None:
    """Add both to the command line."""
    init_parser = commands.add_parser("init", help="write a first configuration for a mechanism, by looking at it")
    init_parser.add_argument(
        "mechanism",
        nargs="+",
        metavar="MECHANISM",
        help="file.py:function or module:object, one or more; or a command, after `--` if its arguments begin with a dash",
    )
    init_parser.add_argument(
        "-o", "--out", type=Path, default=Path("audit.yaml"), metavar="FILE", help="default: audit.yaml"
    )
    init_parser.add_argument("--force", action="store_true", help="overwrite an existing file")
    init_parser.set_defaults(command=_init)

    schema_parser = commands.add_parser(
        "schema",
        help="print the JSON Schema of configurations, for completion in editors",
        description="Print the JSON Schema of configurations. Keep it in a file, and name the file in the first line of a "
        "configuration. Editors with a YAML language server then complete and check it:  "
        "# yaml-language-server: $schema=schema.json",
    )
    schema_parser.set_defaults(command=_schema)


def _init(options: argparse.Namespace) -> int:
    from auditor.config.scaffold import scaffold

    if options.out.exists() and not options.force:
        raise InvalidInputError(
            f"{options.out} exists already; give another name by `-o`, or `--force` to overwrite it"
        )
    text, audits = scaffold(options.mechanism, options.out)
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


def _schema(options: argparse.Namespace) -> int:
    from auditor.config.json_schema import json_schema

    print(json.dumps(json_schema(), indent=1, ensure_ascii=False))
    return AS_EXPECTED
