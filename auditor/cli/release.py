"""`auditor compare`, and what `auditor run` does for a release: a baseline, JUnit's XML, and what GitHub shows of a run."""

import argparse
import os
from collections.abc import Sequence
from pathlib import Path

from auditor.auditing.consistent import read_report
from auditor.cli.common import open_console
from auditor.cli.options import AS_EXPECTED, UNEXPECTED
from auditor.errors import InvalidInputError, visible
from auditor.report.ci import annotations, annotations_of, summary_of
from auditor.report.compare import FALSE_RISE, Change, compare, failing, in_all, shown
from auditor.report.markdown import to_markdown
from auditor.results.result import RunResult


def compared(options: argparse.Namespace) -> int:
    """Print what changed between two reports."""
    changes = compare(read_report(options.old), read_report(options.new), may_rise=options.may_rise)
    show_changes(changes, str(options.old))
    failures = failing(changes, options.strict)
    annotate_failures(failures, str(options.new))
    return UNEXPECTED if failures else AS_EXPECTED


def show_changes(changes: Sequence[Change], baseline: str) -> None:
    """Print a line for each change since ``baseline``, and a line with the number of changes of each kind.

    On GitHub, both are added to the summary of the step.
    """
    worse = any(change.kind == "worse" for change in changes)
    styles = {"worse": "bold red", "better": "green", "note": "yellow", "not compared": "yellow"}
    lines = [(f"{change.kind:<6}  {change.audit}: {change.what}", styles[change.kind]) for change in changes]
    lines.append((in_all(changes, baseline), "bold red" if worse else "green"))
    console = open_console()
    for line, style in lines:
        console.print(visible(line), style=style, highlight=False, markup=False, soft_wrap=True)
    if _on_github():
        _write_for_github([], summary_of(changes, baseline))


def annotate_failures(failures: Sequence[Change], file: str) -> None:
    """On GitHub, print an annotation of ``file`` for each change that fails the command."""
    if _on_github():
        print(*annotations_of(failures, file), sep="\n", flush=True)


def read_baselines(files: Sequence[Path], names: Sequence[str]) -> dict[str, tuple[Path, RunResult]]:
    """Read the baselines of a run, by the names of its configurations.

    Raises InvalidInputError unless there is exactly one for each configuration, whose events can be compared.
    """
    found: dict[str, tuple[Path, RunResult]] = {}
    for file in files:
        report = read_report(file)
        for audit in report.audits:
            shown(audit, FALSE_RISE)  # now, and not after hours
        if report.name not in names:
            raise InvalidInputError(f'baseline {file} is a report of "{report.name}"; the run is of {", ".join(names)}')
        if report.name in found:
            raise InvalidInputError(f'baselines {found[report.name][0]} and {file} are both of "{report.name}"')
        found[report.name] = file, report
    missing = [name for name in names if name not in found]
    if files and missing:
        raise InvalidInputError(f'"{missing[0]}" has no baseline; give its report.json by --baseline as well')
    return found


def annotate(result: RunResult, file: str) -> None:
    """On GitHub, print annotations, which it reads from either stream, and add the run to the summary of the step."""
    if _on_github():
        _write_for_github(annotations(result, file), to_markdown(result))


def _on_github() -> bool:
    return os.environ.get("GITHUB_ACTIONS") == "true"


def _write_for_github(annotations: Sequence[str], text: str) -> None:
    for line in annotations:
        print(line, flush=True)
    if summary := os.environ.get("GITHUB_STEP_SUMMARY"):
        with Path(summary).open("a", encoding="utf-8") as lines:
            lines.write(text + "\n")
