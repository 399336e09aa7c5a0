"""The forms of a report. `auditor run` and `auditor show` write the forms in FORMATS."""

import contextlib
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from auditor.errors import AuditorError
from auditor.foreign_code import ForeignCode

if TYPE_CHECKING:
    from auditor.results.result import RunResult


@dataclass(frozen=True, slots=True)
class Format:
    """A form of a report: the option of `auditor show`, its name, its writer, and its file next to report.json."""

    option: str
    noun: str
    write: "Callable[[RunResult], str]"
    file: str | None = None


def _loaded_late(name: str) -> "Callable[[RunResult], str]":
    """Return a function that loads and calls the one of this name. Loading waits, so that `auditor --help` is quick."""
    return lambda result: str(pkgutil.resolve_name(name)(result))


FORMATS = [
    Format("html", "a page", _loaded_late("auditor.report.html:to_html"), "report.html"),
    Format("markdown", "Markdown", _loaded_late("auditor.report.markdown:to_markdown"), "summary.md"),
    Format("junit", "JUnit's XML", _loaded_late("auditor.report.ci:to_junit")),
]


def write_reports(result: "RunResult", folder: Path) -> tuple[Path, list[str]]:
    """Write report.json and the files next to it. The folder is made if it is missing.

    The files show the numbers of report.json, with the same digits. Returns the path of report.json, and a message for
    each file that could not be made, or not be read back. A failure of a plot, or of an extension's form, costs that file only.
    """
    from auditor.results.files import to_json, write_whole
    from auditor.results.reader import parsed_report

    folder.mkdir(parents=True, exist_ok=True)
    report = folder / "report.json"
    write_whole(report, to_json(result.to_dict()))
    failed = list[str]()
    try:
        written = replace(parsed_report(report)[0], seconds=result.seconds)
    except AuditorError as error:  # a defect, which must not take the verdicts from all other files
        failed.append(f"{error}; please report it")
        written = result
    for form in FORMATS:
        if form.file is not None:
            try:
                with ForeignCode(f"{folder / form.file} is missing: what makes {form.noun}"):
                    text = form.write(written)
                write_whole(folder / form.file, text)
            except (AuditorError, OSError) as error:
                why = f"it cannot be written: {error.strerror}" if isinstance(error, OSError) else ""
                failed.append(f"{folder / form.file} is missing: {why}" if why else str(error))
                with contextlib.suppress(OSError):  # a file of an earlier run would be taken for this one
                    (folder / form.file).unlink()
    return report, failed
