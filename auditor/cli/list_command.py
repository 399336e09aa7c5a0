"""`auditor list`: the specimens, and what reports found of them."""

import argparse
from pathlib import Path

from auditor.cli.common import AS_EXPECTED, Commands, open_console, say
from auditor.errors import InvalidInputError


def add_commands(commands: Commands) -> None:
    """Add it to the command line."""
    parser = commands.add_parser("list", help="list the specimens, with document, claim, and whether it holds")
    parser.add_argument(
        "package", nargs="?", default="mechanisms", help="the package of specimens (default: mechanisms)"
    )
    parser.add_argument(
        "--reports",
        type=Path,
        metavar="DIR",
        help="add the findings of the reports in DIR, and write the list to DIR/README.md",
    )
    parser.set_defaults(command=_list)


def _list(options: argparse.Namespace) -> int:
    from rich.table import Table

    from auditor.report.terminal import escaped
    from auditor.specimens import list_specimens

    specimens = list_specimens(options.package)
    if options.reports is not None:
        if not options.reports.is_dir():
            raise InvalidInputError(f"--reports is {options.reports}; there is no such folder")
        from auditor.report.specimen_table import specimen_table
        from auditor.results.files import write_whole

        write_whole(options.reports / "README.md", specimen_table(specimens, options.reports))
        say(f"written: {options.reports / 'README.md'}")
        return AS_EXPECTED
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("row", "document", "mechanism", "where", "claim", "holds"):
        # A name that is broken over two lines cannot be copied.
        table.add_column(heading, overflow="fold", no_wrap=heading == "mechanism")
    for name, statement in specimens:
        holds = "[green]yes[/]" if statement.holds else "[red]no[/]"
        cells = (str(statement.row), statement.document, name, statement.where, statement.claim)
        table.add_row(*map(escaped, cells), holds)
    open_console().print(table)
    return AS_EXPECTED
