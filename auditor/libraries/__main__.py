"""``python -m auditor.libraries NAME``: audit everything that a library's constructors make."""

import argparse
import sys
from pathlib import Path

from auditor.cli import main
from auditor.cli.common import make_folder, say
from auditor.cli.options import add_ending, add_settings
from auditor.cli.run_command import carried_out
from auditor.errors import InvalidInputError
from auditor.libraries.building import NotBuilt, SweptObject, build_objects
from auditor.libraries.library_table import load_table
from auditor.libraries.sweep_files import write_objects, write_table


def sweep_parser() -> argparse.ArgumentParser:
    """Return the options of a sweep: a library, its table, and the options of `auditor run`."""
    arguments = argparse.ArgumentParser(
        "python -m auditor.libraries",
        description="audit what the constructors of a library make, each at its own claim",
    )
    arguments.add_argument("library", metavar="LIBRARY", help="the library's module, such as opendp")
    arguments.add_argument(
        "--examples", type=Path, metavar="FILE", help="a table of constructors, arguments and examples for the library"
    )
    add_settings(arguments)
    arguments.add_argument("--resume", action="store_true", help="continue a sweep that was interrupted")
    add_ending(arguments)
    arguments.add_argument("--traceback", action="store_true", help="show the full traceback of an error")
    arguments.set_defaults(command=sweep, only=None, baseline=[], record=None)
    return arguments


def sweep(options: argparse.Namespace) -> int:
    """Build the objects of a library, audit them, and write the table of results."""
    table = load_table(options.library, options.examples)
    built = list(build_objects(table))
    objects = [made for made in built if isinstance(made, SweptObject)]
    left_out = [omitted for omitted in built if isinstance(omitted, NotBuilt)]
    if not objects:
        why = (
            "; ".join(f"{omitted.constructor}: {omitted.reason}" for omitted in left_out[:3])
            or "it has no public constructors"
        )
        raise InvalidInputError(f"nothing of {table.library} can be audited: {why}; name objects by --examples")
    say(f"{table.library} {table.release}: {len(objects)} objects to audit; {len(left_out)} are left out")
    folder = options.out / f"{table.library}-sweep"
    make_folder(folder)
    configs = [write_objects(table, objects, folder)]
    status, [result] = carried_out(argparse.Namespace(**vars(options), configs=configs))
    write_table(table, objects, left_out, result, folder)
    say(f"table: {folder / 'sweep.md'}")
    return status


if __name__ == "__main__":  # the process that builds objects imports this module, too
    sys.exit(main(parser=sweep_parser()))
