"""What GitHub shows of a run: annotations are lines on standard output, and the summary of a step is Markdown."""

from collections.abc import Sequence

from auditor.errors import visible
from auditor.report.compare import Change, in_all
from auditor.report.markdown import escape
from auditor.report.plain_text import failure_text, headline
from auditor.results.result import RunResult


def annotations(result: RunResult, file: str) -> list[str]:
    """Return a workflow command for each audit that did not end as expected, and for each warning of the others.

    They are shown on ``file``, the configuration.
    """
    lines = []
    for audit in result.audits:
        title = f"{audit.name}: {headline(audit)}"
        if audit.passed:
            lines += [_command("warning", file, title, visible(warning)) for warning in audit.warnings]
        else:
            lines.append(_command("error", file, title, failure_text(audit)))
    return lines


def annotations_of(failures: Sequence[Change], file: str) -> list[str]:
    """Return a workflow command for each change that fails the command."""
    return [_command("error", file, f"{change.audit}: {change.kind}", visible(change.what)) for change in failures]


def summary_of(changes: Sequence[Change], baseline: str) -> str:
    """Return a comparison in Markdown: how many changes there are of each kind, and a line for each."""
    lines = [f"- **{change.kind}**: {escape(change.audit)}: {escape(change.what)}" for change in changes]
    return "\n".join([f"{escape(in_all(changes, baseline))}", "", *lines, ""])


def _command(level: str, file: str, title: str, message: str) -> str:
    return f"::{level} file={_property(visible(file))},title={_property(visible(title))}::{_data(message)}"


def _data(text: str) -> str:
    """Escape a message, so that it is one line, and no command of its own.

    >>> _data("100 %\\n::error::x")
    '100 %25%0A::error::x'
    """
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
