"""What the tests of a folder may do: `unit` starts no process and no whole audit, `audits` starts no process.

Settings have the defaults that ship. So a test of these two that runs a mechanism asks for `workers=1, isolate=False` itself;
tests/processes/blackbox shows that this changes no output. Outside `unit` plots have no lines, except in tests that look at
them.
"""

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from auditor.report import plots

TESTS = Path(__file__).parents[1]
PROJECT = TESTS.parent
AN_AUDIT = "auditor.auditing.flow.reserve_host"
STARTS = {
    "subprocess.Popen._execute_child": "a process; it belongs to tests/processes",
    "auditor.blackbox.forking.begin": "a process; it belongs to tests/processes",
    "auditor.blackbox.process.Process.send": "a process; it belongs to tests/processes",
    "auditor.blackbox.workers.Processes.submit": "a worker process; it belongs to tests/processes",
    # What `carry_out` looks up in its own module, so that no test escapes that has imported `carry_out` itself.
    AN_AUDIT: "a whole audit; it belongs to tests/audits",
}
# Lines of plots take two thirds of the time of a short run.
LOOK_AT_LINES = ("test_html.py", "test_browser.py", "test_notebooks_at_length.py", "test_studies_at_length.py")


def refused(patch: pytest.MonkeyPatch, name: str) -> None:
    """Make a function raise an error that names the folder the test belongs to."""

    def refuses(*_: Any, **__: Any) -> None:
        raise AssertionError(f"this test starts {STARTS[name]}")

    patch.setattr(name, refuses)


def without_lines(name: str, title: str, description: str, height: float, draw: object) -> object:
    """As `svg`, without drawing anything."""
    return plots._embedded('<svg viewBox="0 0 1 1"></svg>', name, title, description)


@contextlib.contextmanager
def rules_for(test: Path) -> Iterator[None]:
    """Apply the rules of the folder that a test is in."""
    folder = test.relative_to(TESTS).parts[0] if test.is_relative_to(TESTS) else ""
    with pytest.MonkeyPatch.context() as patch:
        if folder != "unit" and test.name not in LOOK_AT_LINES:
            patch.setattr(plots, "svg", without_lines)
        if folder in ("unit", "audits"):
            for name in STARTS:
                if folder == "unit" or name != AN_AUDIT:
                    refused(patch, name)
        yield
