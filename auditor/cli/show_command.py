"""`auditor show`: print a stored report, or write it in other forms."""

import argparse
from pathlib import Path

from auditor.auditing.consistent import read_report
from auditor.cli.common import open_console, write_to
from auditor.cli.options import AS_EXPECTED
from auditor.foreign_code import ForeignCode
from auditor.report.formats import FORMATS
from auditor.report.terminal import print_result


def show(options: argparse.Namespace) -> int:
    """Print a report, or write it in other forms."""
    # A folder, or another file that `auditor run` wrote to the folder, stands for the report in the folder.
    near = options.report if options.report.is_dir() else options.report.parent
    written = {Path(form.file).suffix for form in FORMATS if form.file is not None}
    is_meant = options.report.is_dir() or options.report.suffix in written
    result = read_report(near / "report.json" if is_meant else options.report)
    asked = [form for form in FORMATS if getattr(options, form.option) is not None]
    for form in asked:
        with ForeignCode(f"what makes {form.noun}"):
            text = form.write(result)
        write_to(getattr(options, form.option), text)
    if not asked:
        print_result(result, open_console())
    return AS_EXPECTED
