"""`auditor compare`, and what `auditor run` does for a release: a baseline, JUnit's XML, and what GitHub shows of a run."""

import argparse
import math
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from auditor.cli.common import AS_EXPECTED, UNEXPECTED, Commands, open_console
from auditor.errors import InvalidInputError, visible

if TYPE_CHECKING:
    from auditor.report.compare import Change
    from auditor.results.result import RunResult


def add_commands(commands: Commands) -> None:
    """Add it to the command line."""
    parser = commands.add_parser(
        "compare", help="compare two reports: changes for the worse and for the better; fails if something got worse"
    )
    parser.add_argument("old", type=Path, metavar="OLD.json")
    parser.add_argument("new", type=Path, metavar="NEW.json")
    add_may_rise(parser)
    parser.add_argument("--strict", action="store_true", help="fail as well if something could not be compared")
    parser.set_defaults(command=_compare)


def add_may_rise(parser: argparse.ArgumentParser) -> None:
    """Let a command take how far a loss may rise."""
    parser.add_argument(
        "--may-rise",
        type=_share,
        default=0.0,
        metavar="SHARE",
        help="let the loss on the earlier event rise by this share of the claim; by default 0, so any rise beyond chance fails. "
        "inf lets any rise pass, and reports it",
    )


def _share(text: str) -> float:
    try:
        share = float(text)
    except ValueError:
        share = math.nan
    if not share >= 0:
        raise argparse.ArgumentTypeError(f"it is {text!r}; it must be a number of at least 0, or inf")
    return share


def _compare(options: argparse.Namespace) -> int:
    from auditor.auditing.consistent import read_report
    from auditor.report.compare import compare, failing

    changes = compare(read_report(options.old), read_report(options.new), may_rise=options.may_rise)
    show_changes(changes, str(options.old))
    failures = failing(changes, options.strict)
    annotate_failures(failures, str(options.new))
    return UNEXPECTED if failures else AS_EXPECTED


def show_changes(changes: "Sequence[Change]", baseline: str) -> None:
    """Print a line for each change since ``baseline``, and a line with the number of changes of each kind.

    On GitHub, both are added to the summary of the step.
    """
    from auditor.report.compare import in_all
    from auditor.report.github import summary_of

    worse = any(change.kind == "worse" for change in changes)
    styles = {"worse": "bold red", "better": "green", "note": "yellow", "not compared": "yellow"}
    lines = [(f"{change.kind:<6}  {change.audit}: {change.what}", styles[change.kind]) for change in changes]
    lines.append((in_all(changes, baseline), "bold red" if worse else "green"))
    console = open_console()
    for line, style in lines:
        console.print(visible(line), style=style, highlight=False, markup=False, soft_wrap=True)
    if _on_github():
        _write_for_github([], summary_of(changes, baseline))


def annotate_failures(failures: "Sequence[Change]", file: str) -> None:
    """On GitHub, print an annotation of ``file`` for each change that fails the command."""
    from auditor.report.github import annotations_of

    if _on_github():
        print(*annotations_of(failures, file), sep="\n", flush=True)


def read_baselines(files: Sequence[Path], names: Sequence[str]) -> "dict[str, tuple[Path, RunResult]]":
    """Read the baselines of a run, by the names of its configurations.

    Raises InvalidInputError unless there is exactly one for each configuration, whose events can be compared.
    """
    from auditor.auditing.consistent import read_report
    from auditor.report.compare import FALSE_RISE, shown

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


def annotate(result: "RunResult", file: str) -> None:
    """On GitHub, print annotations, which it reads from either stream, and add the run to the summary of the step."""
    if _on_github():
        from auditor.report.github import annotations
        from auditor.report.markdown import to_markdown

        _write_for_github(annotations(result, file), to_markdown(result))


def _on_github() -> bool:
    return os.environ.get("GITHUB_ACTIONS") == "true"


def _write_for_github(annotations: Sequence[str], text: str) -> None:
    for line in annotations:
        print(line, flush=True)
    if summary := os.environ.get("GITHUB_STEP_SUMMARY"):
        with Path(summary).open("a", encoding="utf-8") as lines:
            lines.write(text + "\n")
