"""`auditor compare`: what changed between two reports."""

import argparse

from auditor.auditing.consistent import read_report
from auditor.cli.common import STATUS, add_to_summary, annotate, show_changes, warn
from auditor.report.ci import annotations_of
from auditor.report.compare import compare
from auditor.report.markdown import changes_in_markdown
from auditor.results.result import Comparison
from auditor.verdict import End


def compare_reports(options: argparse.Namespace) -> int:
    """Print what changed between two reports."""
    changes = compare(read_report(options.old), read_report(options.new), may_rise=options.may_rise)
    comparison = Comparison(str(options.old), changes, options.strict)
    show_changes(comparison)
    annotate(lambda: annotations_of(comparison.failures, str(options.new)))
    missing = add_to_summary(lambda: "\n".join([*changes_in_markdown(comparison), ""]))
    for why in missing:
        warn(why)
    return STATUS[End.UNEXPECTED if comparison.failures else End.NO_ANSWER if missing else End.AS_EXPECTED]
