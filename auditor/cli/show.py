"""`auditor show`: a stored report, rendered again without its mechanisms."""

import argparse
from pathlib import Path

from auditor.cli.common import AS_EXPECTED, STANDARD_OUTPUT, Commands, open_console, write_to


def add_commands(commands: Commands) -> None:
    """Add it to the command line."""
    parser = commands.add_parser("show", help="show a stored report again, as a table, a page, Markdown or JUnit's XML")
    parser.add_argument("report", type=Path, metavar="REPORT.json")
    for form, label in (("html", "a page"), ("markdown", "Markdown"), ("junit", "JUnit's XML")):
        parser.add_argument(
            f"--{form}", metavar="FILE", help=f"write {label} to FILE instead ({STANDARD_OUTPUT} for standard output)"
        )
    parser.set_defaults(command=_show)


def _show(options: argparse.Namespace) -> int:
    from auditor.results.reader import read_report

    # The folder, or another file that `auditor run` wrote there, means the report in it.
    beside = options.report if options.report.is_dir() else options.report.parent
    is_meant = options.report.is_dir() or options.report.suffix in (".html", ".md")
    result = read_report(beside / "report.json" if is_meant else options.report)
    if options.html is not None:
        from auditor.report.html import to_html

        write_to(options.html, to_html(result))
    if options.markdown is not None:
        from auditor.report.markdown import to_markdown

        write_to(options.markdown, to_markdown(result))
    if options.junit is not None:
        from auditor.report.junit import to_junit

        write_to(options.junit, to_junit([result]))
    if options.html is None and options.markdown is None and options.junit is None:
        from auditor.report.terminal import print_result

        print_result(result, open_console())
    return AS_EXPECTED
