"""The command line. Only here is anything printed, and only here does the program end.

Each module adds its commands to the parser. Libraries are imported inside the commands, so that ``auditor --help`` answers at
once.
"""

import argparse
import io
import sys
import traceback
from collections.abc import Sequence

from auditor import __version__
from auditor.cli import planning, release, run, self_check, show, specimens
from auditor.cli.common import BAD_INPUT, INTERRUPTED, NO_ANSWER
from auditor.errors import AuditorError


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return the exit status.

    0: every audit ended as expected. 1: an unexpected violation, or an expected one not found. 2: the configuration
    or the command line is wrong. 3: no answer, and nothing worse.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal that has no ε must not cost a result
    options = _parser().parse_args(arguments)
    try:
        status: int = options.command(options)
    except AuditorError as error:
        if options.traceback:
            traceback.print_exc()
        print(f"auditor: {error}", file=sys.stderr)
        return BAD_INPUT
    except Exception:  # whose own exit status, 1, would say that a violation was found
        traceback.print_exc()
        print("auditor: no answer, because of the error above, which is a defect of the auditor", file=sys.stderr)
        return NO_ANSWER
    except KeyboardInterrupt:
        print("auditor: interrupted; reports of finished configurations are written", file=sys.stderr)
        return INTERRUPTED
    return status


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="auditor",
        description="Audit differential-privacy claims of black-box mechanisms. Bounds are proved, with stated confidence.",
        epilog="exit status: 0 as expected, 1 not as expected, 2 wrong configuration or command line, 3 no answer",
    )
    parser.add_argument("--version", action="version", version=f"auditor {__version__}")
    parser.add_argument("--traceback", action="store_true", help="show the full traceback of an error")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    for module in (run, show, planning, release, self_check, specimens):
        module.add_commands(commands)
    return parser
