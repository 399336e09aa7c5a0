"""`auditor show`: a stored report, rendered again without its mechanisms."""

import argparse
from pathlib import Path

from auditor.cli.common import AS_EXPECTED, STANDARD_OUTPUT, Commands, open_console, write_to
from auditor.door import Door
from auditor.report.formats import FORMATS


def add_commands(commands: Commands) -> None:
    """Add it to the command line."""
    parser = commands.add_parser("show", help="show a stored report again, as a table, a page, Markdown or JUnit's XML")
    parser.add_argument("report", type=Path, metavar="REPORT.json")
    for form in FORMATS:
        what = f"write {form.noun} to FILE instead ({STANDARD_OUTPUT} for standard output)"
        parser.add_argument(f"--{form.option}", metavar="FILE", help=what)
    parser.set_defaults(command=_show)


def _show(options: argparse.Namespace) -> int:
    from auditor.auditing.consistent import read_report

    # The folder, or another file that `auditor run` wrote there, means the report in it.
    near = options.report if options.report.is_dir() else options.report.parent
    written = {Path(form.file).suffix for form in FORMATS if form.file is not None}
    is_meant = options.report.is_dir() or options.report.suffix in written
    result = read_report(near / "report.json" if is_meant else options.report)
    asked = [form for form in FORMATS if getattr(options, form.option) is not None]
    for form in asked:
        with Door(f"what makes {form.noun}"):
            text = form.write(result)
        write_to(getattr(options, form.option), text)
    if not asked:
        from auditor.report.terminal import print_result

        print_result(result, open_console())
    return AS_EXPECTED
