"""`auditor show`, `compare` and `scores`, which read stored reports and scores, and run no mechanism.

For `auditor run`, the module also reads baselines, and gives GitHub what it shows of a run.
"""

import argparse
import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path

from auditor.auditing.consistent import read_report
from auditor.claims import Tradeoff
from auditor.cli.common import STATUS, open_console, warn, write_to
from auditor.cli.log_guard import on_github, tell_runner
from auditor.cli.options import AS_EXPECTED, UNEXPECTED
from auditor.errors import InvalidInputError, visible
from auditor.foreign_code import ForeignCode
from auditor.report.ci import annotations_of
from auditor.report.compare import FALSE_RISE, compare, in_all, shown
from auditor.report.formats import FORMATS
from auditor.report.markdown import changes_in_markdown
from auditor.report.terminal import print_result
from auditor.results.result import Comparison, RunResult
from auditor.scores import audit_scores, read_scores
from auditor.verdict import End


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


def scores(options: argparse.Namespace) -> int:
    """Print the bounds from scores."""
    proved = audit_scores(
        read_scores(options.inside),
        read_scores(options.outside),
        options.origin,
        delta=options.delta,
        confidence=options.confidence,
        guesses=options.guesses,
        claim=Tradeoff.from_file(options.tradeoff) if options.tradeoff else None,
    )
    print(json.dumps(proved.to_dict(), indent=1, ensure_ascii=False) if options.json else proved)
    return UNEXPECTED if proved.violated else AS_EXPECTED


def compared(options: argparse.Namespace) -> int:
    """Print what changed between two reports."""
    changes = compare(read_report(options.old), read_report(options.new), may_rise=options.may_rise)
    found = Comparison(str(options.old), changes, options.strict)
    show_changes(found)
    annotate(lambda: annotations_of(found.failures, str(options.new)))
    missing = add_to_summary(lambda: "\n".join([*changes_in_markdown(found), ""]))
    for why in missing:
        warn(why)
    return STATUS[End.UNEXPECTED if found.failures else End.NO_ANSWER if missing else End.AS_EXPECTED]


def show_changes(compared: Comparison) -> None:
    """Print a line for each change since a baseline, and a line with the number of changes of each kind."""
    styles = {"worse": "bold red", "better": "green", "note": "yellow", "not compared": "yellow"}
    lines = [(f"{change.kind:<6}  {change.audit}: {change.what}", styles[change.kind]) for change in compared.changes]
    lines.append((in_all(compared), "bold red" if compared.failures else "green"))
    console = open_console()
    for line, style in lines:
        console.print(visible(line), style=style, markup=False, soft_wrap=not console.is_terminal)


def read_baselines(files: Sequence[Path], names: Sequence[str]) -> dict[str, tuple[Path, RunResult]]:
    """Return the baselines of a run, each with its file, by the names of the configurations.

    If there are any, each configuration needs exactly one. Raises InvalidInputError otherwise, and if events are not comparable.
    """
    found: dict[str, tuple[Path, RunResult]] = {}
    for file in files:
        report = read_report(file)
        for audit in report.audits:
            shown(audit, FALSE_RISE)  # an error is raised now, and not after hours
        if report.name not in names:
            raise InvalidInputError(f'baseline {file} is a report of "{report.name}"; the run is of {", ".join(names)}')
        if report.name in found:
            raise InvalidInputError(f'baselines {found[report.name][0]} and {file} are both of "{report.name}"')
        found[report.name] = file, report
    missing = [name for name in names if name not in found]
    if files and missing:
        raise InvalidInputError(f'"{missing[0]}" has no baseline; give its report.json by --baseline as well')
    return found


def annotate(lines: Callable[[], list[str]]) -> None:
    """On GitHub, print annotations to standard output or error, since it reads both."""
    for line in lines() if on_github() else ():
        tell_runner(line)


def add_to_summary(text: Callable[[], str]) -> list[str]:
    """On GitHub, add a text to the step's summary. Return why it is missing there, if it is."""
    summary = os.environ.get("GITHUB_STEP_SUMMARY") if on_github() else None
    if not summary:
        return []
    try:
        with Path(summary).open("a", encoding="utf-8") as lines:
            lines.write(text() + "\n")
    except OSError as error:
        return [f"{summary} lacks the summary of this run: it cannot be written: {error.strerror}"]
    return []
