"""What the tests of a folder may do: `unit` starts no process and no whole audit, `audits` starts no process.

In both mechanisms run in the process of the test, with one worker, and no faults are planted, unless a test asks for
something else. This changes no output, as tests/processes/blackbox shows. Outside `unit`, plots have no lines, except
in tests that look at them.
"""

import contextlib
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from auditor.auditing.plan import Settings
from auditor.blackbox.sampling import Execution
from auditor.report import plots

TESTS = Path(__file__).parents[1]
STARTS = {
    "subprocess.Popen._execute_child": "a process; it belongs to tests/processes",
    "auditor.blackbox.process.Process.send": "a process; it belongs to tests/processes",
    "auditor.blackbox.workers.Processes.submit": "a worker process; it belongs to tests/processes",
    "auditor.auditing.flow.carry_out": "a whole audit; it belongs to tests/audits",
    "auditor.auditing.parallel.carry_out": "a whole audit; it belongs to tests/audits",
}
CHECKED = Execution.__post_init__
# Lines of plots take two thirds of the time of a short run.
LOOK_AT_LINES = ("test_html.py", "test_browser.py", "test_notebooks_at_length.py", "test_studies_at_length.py")


def refused(patch: pytest.MonkeyPatch, name: str) -> None:
    """Let a function raise an error that says where the test belongs."""

    def refuses(*_: Any, **__: Any) -> None:
        raise AssertionError(f"this test starts {STARTS[name]}")

    patch.setattr(name, refuses)


def in_this_process(execution: Execution) -> None:
    """Do what `Execution` does, with other defaults."""
    if execution.backend == "loky" and execution.timeout is None:
        object.__setattr__(execution, "isolate", False)
        if execution.workers == -1:
            object.__setattr__(execution, "workers", 1)
    CHECKED(execution)


def without_faults() -> tuple[Any, ...]:
    """Return the defaults of `Settings`, but no faults are planted: that takes two fifths of the time of an audit that passes."""
    kept = zip(fields(Settings), Settings.__init__.__defaults__ or (), strict=True)
    return tuple(0 if field.name == "planted" else default for field, default in kept)


def without_lines(name: str, title: str, description: str, height: float, draw: object) -> object:
    """Return what `svg` does, but nothing is drawn."""
    return plots._embedded('<svg viewBox="0 0 1 1"></svg>', name, title, description)


@contextlib.contextmanager
def rules_for(test: Path) -> Iterator[None]:
    """Hold the rules of the folder in which a test is."""
    folder = test.relative_to(TESTS).parts[0] if test.is_relative_to(TESTS) else ""
    with pytest.MonkeyPatch.context() as patch:
        if folder != "unit" and test.name not in LOOK_AT_LINES:
            patch.setattr(plots, "svg", without_lines)
        if folder in ("unit", "audits"):
            patch.setattr(Execution, "__post_init__", in_this_process)
            patch.setattr(Settings.__init__, "__defaults__", without_faults())
            for name in STARTS:
                if folder == "unit" or not name.endswith("carry_out"):
                    refused(patch, name)
        yield
