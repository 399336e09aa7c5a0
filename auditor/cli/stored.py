"""`auditor show` and `auditor scores`: a stored report, rendered again without its mechanisms, and bounds from stored scores."""

import argparse
import json
from pathlib import Path

from auditor.auditing.consistent import read_report
from auditor.cli.common import open_console, write_to
from auditor.cli.options import AS_EXPECTED
from auditor.door import Door
from auditor.report.formats import FORMATS
from auditor.report.terminal import print_result
from auditor.scores import audit_scores, read_scores


def show(options: argparse.Namespace) -> int:
    """Print a report, or write it in other forms."""
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
        print_result(result, open_console())
    return AS_EXPECTED


def scores(options: argparse.Namespace) -> int:
    """Print the bounds from scores."""
    proved = audit_scores(
        read_scores(options.inside),
        read_scores(options.outside),
        options.origin,
        delta=options.delta,
        confidence=options.confidence,
        guesses=options.guesses,
    )
    print(json.dumps(proved.to_dict(), indent=1, ensure_ascii=False) if options.json else proved)
    return AS_EXPECTED
