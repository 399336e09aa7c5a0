"""The forms in which a report can be had. `auditor run` and `auditor show` know each that is named in FORMATS."""

import pkgutil
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from auditor.results.result import RunResult


@dataclass(frozen=True, slots=True)
class Format:
    """A form of a report: its option of `auditor show`, what it is, and the file next to report.json, if it has one there."""

    option: str
    noun: str
    write: "Callable[[RunResult], str]"
    file: str | None = None


def _loaded_late(name: str) -> "Callable[[RunResult], str]":
    """Return the function of that name. It is loaded when it is called, so that `auditor --help` is quick."""
    return lambda result: str(pkgutil.resolve_name(name)(result))


FORMATS = [
    Format("html", "a page", _loaded_late("auditor.report.html:to_html"), "report.html"),
    Format("markdown", "Markdown", _loaded_late("auditor.report.markdown:to_markdown"), "summary.md"),
    Format("junit", "JUnit's XML", _loaded_late("auditor.report.junit:to_junit")),
]


def write_reports(result: "RunResult", folder: Path) -> Path:
    """Write report.json and the files next to it, and return the path of report.json. The folder is made if it is missing.

    The files show the numbers of report.json, with the digits that it has.
    """
    from auditor.results.files import to_json, write_whole
    from auditor.results.reader import read_report

    folder.mkdir(parents=True, exist_ok=True)
    report = folder / "report.json"
    write_whole(report, to_json(result.to_dict()))
    written = replace(read_report(report), seconds=result.seconds)
    for form in FORMATS:
        if form.file is not None:
            write_whole(folder / form.file, form.write(written))
    return report
