"""Every file that a command reads, corrupted at random: each is read, or refused by a usage error, in time.

Files are corrupted as data, in a few places of a file that this program wrote, and as bytes. The long run has 20,000 examples
of each.
"""

import contextlib
import io
from pathlib import Path

import pytest
from honest_files import CONFIG, PROOF, REPORT, in_time
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from spoilt_files import FORMATS, fuzz, make_files_to_spoil

from auditor.cli import main
from auditor.cli.options import all_commands


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("fuzzed")
    make_files_to_spoil(folder)
    return folder


@pytest.mark.parametrize("name", FORMATS)
def test_a_spoilt_file_is_read_or_refused(name: str, folder: Path) -> None:
    examples = 60 if name == "report" else 20  # the report with the most kinds of places
    assert fuzz(name, folder, examples).total() >= examples


def options() -> st.SearchStrategy[list[str]]:
    """Draw command lines: a command, its files, and options with words of any kind."""
    words = st.sampled_from(
        ["-1", "0", "1", "100", "1e400", "nan", "inf", "9" * 30, "-", "x", "one", "\x1b[2J", "a\nb", "", "é"]
    )
    files = {
        "REPORT.json": REPORT, "OLD.json": REPORT, "NEW.json": REPORT, "DIR": "kept", "CONFIG": CONFIG, "INSIDE": "inside.npy",
        "OUTSIDE": "outside.npy", "MECHANISM": "theirs.py:noisy", "FILE": PROOF,
    }  # fmt: skip
    [commands] = [one.choices for one in all_commands()._actions if isinstance(one.choices, dict)]

    @st.composite
    def line(draw: st.DrawFn) -> list[str]:
        name = draw(st.sampled_from(sorted(commands)))
        given, named = list[str](), list[str]()
        for action in commands[name]._actions:
            if not action.option_strings:
                file = files.get(str(action.metavar), "mechanisms")
                given.append(file if draw(st.integers(0, 5)) else draw(words))
            elif "--help" not in action.option_strings and (action.required or draw(st.integers(0, 3)) == 0):
                value = draw(st.sampled_from([*map(str, action.choices)])) if action.choices else draw(words)
                named += [action.option_strings[-1], *([] if action.nargs == 0 else [value])]
        return [name, *given, *named]

    return line()


@settings(suppress_health_check=[*HealthCheck])
@given(line=options())
def test_any_command_line_ends_in_a_status(line: list[str], folder: Path) -> None:
    said = io.StringIO()
    with in_time(60), contextlib.chdir(folder), contextlib.redirect_stderr(said), contextlib.redirect_stdout(said):
        try:
            status = main(line)
        except SystemExit as ended:
            status = ended.code  # type: ignore[assignment]
    assert status in (0, 1, 2, 3, 4, 5), (line, said.getvalue())
    assert "internal error" not in said.getvalue(), line
