"""`auditor sweep`: audit everything that a library's constructors make."""

import argparse
from pathlib import Path

from auditor.cli.common import Commands, add_settings, make_folder, say
from auditor.cli.run_command import add_ending, carried_out
from auditor.errors import InvalidInputError


def add_commands(commands: Commands) -> None:
    """Add it to the command line."""
    parser = commands.add_parser("sweep", help="audit what the constructors of a library make, each at its own claim")
    parser.add_argument("library", metavar="LIBRARY", help="the library's module, such as opendp")
    parser.add_argument(
        "--examples", type=Path, metavar="FILE", help="a table of constructors, arguments and examples for the library"
    )
    add_settings(parser)
    parser.add_argument("--resume", action="store_true", help="continue a sweep that was interrupted")
    add_ending(parser)
    parser.set_defaults(command=_sweep, only=None, baseline=[], budget=None, record=None)


def _sweep(options: argparse.Namespace) -> int:
    from auditor.sweeps.building import NotBuilt, SweptObject, swept_objects
    from auditor.sweeps.library_table import table_of
    from auditor.sweeps.sweep_files import write_sweep
    from auditor.sweeps.sweep_table import write_table

    table = table_of(options.library, options.examples)
    built = list(swept_objects(table))
    objects = [one for one in built if isinstance(one, SweptObject)]
    left_out = [one for one in built if isinstance(one, NotBuilt)]
    if not objects:
        why = "; ".join(f"{one.constructor}: {one.reason}" for one in left_out[:3]) or "it has no public constructors"
        raise InvalidInputError(f"nothing of {table.library} can be audited: {why}; --examples names objects")
    say(f"{table.library} {table.release}: {len(objects)} objects to audit; {len(left_out)} are left out")
    folder = options.out / f"{table.library}-sweep"
    make_folder(folder)
    configs = [write_sweep(table, objects, folder)]
    status, [result] = carried_out(argparse.Namespace(**vars(options), configs=configs))
    write_table(table, objects, left_out, result, folder)
    say(f"table: {folder / 'sweep.md'}")
    return status
