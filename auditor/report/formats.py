"""The forms in which a report can be had; whoever adds one names it here, and `auditor run` and `auditor show` know it."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from auditor.results.result import RunResult


# Each loads what it needs when it is called, so that the command line is quick to explain itself.
def _html(result: "RunResult") -> str:
    from auditor.report.html import to_html

    return to_html(result)


def _markdown(result: "RunResult") -> str:
    from auditor.report.markdown import to_markdown

    return to_markdown(result)


def _junit(result: "RunResult") -> str:
    from auditor.report.junit import to_junit

    return to_junit([result])


@dataclass(frozen=True, slots=True)
class Format:
    """A form of a report: its option of `auditor show`, what it is, and the file beside report.json, if it has one there."""

    option: str
    noun: str
    write: "Callable[[RunResult], str]"
    file: str | None = None


FORMATS = [
    Format("html", "a page", _html, "report.html"),
    Format("markdown", "Markdown", _markdown, "summary.md"),
    Format("junit", "JUnit's XML", _junit),
]


def write_reports(result: "RunResult", folder: Path) -> Path:
    """Write report.json and the files beside it into the folder, which is made if need be; return the JSON's path."""
    from auditor.results.files import to_json, write_whole

    folder.mkdir(parents=True, exist_ok=True)
    report = folder / "report.json"
    write_whole(report, to_json(result.to_dict()))
    for form in FORMATS:
        if form.file is not None:
            write_whole(folder / form.file, form.write(result))
    return report
