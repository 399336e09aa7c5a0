"""Run a page as a reader would: every block of the document in turn, in one folder.

A block with a title is a file of that name; ``sh`` holds commands; ``console`` holds commands after ``$`` with their output;
``python`` is a script; ``text`` is not code. A comment before a block marks exceptions: ``exits 1``; ``not run: why``;
``numbers vary: why``; ``result:NAME`` for the output on a committed report. The output shown must equal the output printed,
numbers included, since they follow from a seed; … stands for anything. Only times, line breaks and the order of audits that end
side by side may differ. ``python docs/made.py`` writes today's output into the pages.
"""

import contextlib
import difflib
import functools
import io
import itertools
import os
import re
import shlex
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from folders import PROJECT
from rich.console import Console

from auditor.auditing.consistent import read_report
from auditor.cli import main
from auditor.report.terminal import print_result

PAGES = {
    page.relative_to(PROJECT).with_suffix("").as_posix(): page
    for page in (PROJECT / "README.md", *sorted((PROJECT / "docs").rglob("*.md")))
}
# Pages that wait for a clock, or train: tests/long runs them.
LONG = {"docs/how-to/cluster", "docs/how-to/once"}
STAND_INS = Path(__file__).parent / "stand_ins"
_BLOCK = re.compile(
    r'^(?:<!-- (?P<note>[^\n]*?) -->\n+)?```(?P<language>\w+)(?: title="(?P<title>[^"\n]+)")?\n(?P<text>.*?)^```$',
    re.DOTALL | re.MULTILINE,
)
_NUMBER = re.compile(r"[-−+]?(?:\d[\d,_]*(?:\.\d+)?(?:e[-+]?\d+)?|∞)")
# What differs from machine to machine: how long something took, lines that are printed where an audit takes long, and
# the order of the lines of audits that end.
_TIME = re.compile(r"(?<![\w.,])\d[\d,.]*(?:e[-+]\d+)? ?(?:s|min|h)\b")
_HOW_LONG = re.compile(r"^  .*: (?:about .* if no other audit runs|.*, about .* left in it)\n", re.MULTILINE)
_ENDED = re.compile(r"(?:^  \S.*, TIME\n){2,}", re.MULTILINE)
_NOTES = re.compile(r"exits [123]|not run: .{10,}|numbers vary: .{10,}|result:[\w-]+")
WIDTH = 160  # what a command prints without a terminal


@dataclass(frozen=True, slots=True)
class Block:
    """A block of code on a page, its comment, and the position of its text."""

    language: str
    text: str
    title: str
    note: str
    start: int


@dataclass(frozen=True, slots=True)
class Command:
    """A command line, the output that the page shows, and the position of that."""

    line: str
    shown: str
    start: int


@dataclass(frozen=True, slots=True)
class Output:
    """An output as the page shows it, its position, and what the code printed."""

    name: str
    shown: str
    start: int
    printed: str
    numbers_vary: bool = False

    def alike(self) -> bool:
        """Whether the page shows what was printed."""
        return alike(self.shown, self.printed, numbers_vary=self.numbers_vary)

    def renewed(self) -> str:
        """Return what the page should show: see `renewed`."""
        return renewed(self.shown, self.printed, numbers_vary=self.numbers_vary)


def blocks_of(text: str) -> list[Block]:
    """List the blocks of a page. Raises ValueError for a block without a language, or with an unknown comment."""
    found = [
        Block(m["language"], m["text"], m["title"] or "", m["note"] or "", m.start("text"))
        for m in _BLOCK.finditer(text)
    ]
    if len(found) * 2 != len(re.findall(r"^ *```", text, re.MULTILINE)):
        raise ValueError("a block has no language, or stands in a list")
    for block in found:
        if block.note and not _NOTES.fullmatch(block.note):
            raise ValueError(f"the note {block.note!r} means nothing")
        if not block.title and block.language not in {"sh", "console", "python", "text"} and not skipped(block):
            raise ValueError(f"nothing is done with {block.language}: {block.text[:80]!r}")
    return found


def skipped(block: Block) -> bool:
    """Whether a block states why it is not run."""
    return block.note.startswith("not run: ")


def named_test(block: Block) -> str:
    """Return the test file that runs a block for a library that it needs, as its note says; an empty text if there is none."""
    named = re.search(r"(tests/\S+\.py) runs it", block.note)
    return named[1] if named else ""


def commands_of(block: Block) -> list[Command]:
    """List the commands of a ``sh`` or a ``console`` block."""
    if block.language == "sh":
        return [Command(line, "", block.start) for line in block.text.splitlines() if line]
    parts = re.split(r"^\$ ", block.text, flags=re.MULTILINE)
    assert parts[0] == "", "a console block begins with a command"
    commands, start = list[Command](), block.start
    for part in parts[1:]:
        line, _, shown = part.partition("\n")
        start += len(f"$ {line}\n")
        commands.append(Command(line, shown, start))
        start += len(shown)
    return commands


def run_page(text: str, folder: Path, by: str = "") -> None:
    """Run the blocks of a page with the given working folder, and compare printed with shown output; see `outputs_of`."""
    for output in outputs_of(text, folder, by):
        assert output.alike(), f"{output.name} prints:\n{output.printed}\n`python docs/made.py` writes it into the page"


def shows_output(text: str) -> bool:
    """Whether a page shows the output of something that can be run."""
    blocks = [block for block in blocks_of(text) if not skipped(block)]
    after_python = any(
        (before.language, after.language) == ("python", "text")
        for before, after in itertools.pairwise(block for block in blocks if not block.title)
    )
    return after_python or any(
        block.note.startswith("result:") or any(command.shown for command in commands_of(block))
        for block in blocks
        if block.language == "console" or block.note.startswith("result:")
    )


def first_example() -> tuple[str, str]:
    """Return the README's first Python block and its output, which the README's picture shows."""
    blocks = blocks_of(PAGES["README"].read_text(encoding="utf-8"))
    place = next(place for place, block in enumerate(blocks) if block.language == "python")
    return blocks[place].text, blocks[place + 1].text


def outputs_of(text: str, folder: Path, by: str = "") -> Iterator[Output]:
    """Run the blocks of a page with the given working folder. Yield each output that the page shows.

    With the name of a test file in ``by``, these are the blocks that it runs for a library that they need, all in one session.

    Raises AssertionError if a command's exit status differs from the page.
    """
    by_python = ""  # what the last block of Python printed
    known: dict[str, Any] = {"__name__": "__main__"}
    for block in blocks_of(text):
        if named_test(block) != by or (not by and skipped(block)):
            continue
        vary = block.note.startswith("numbers vary: ")
        if block.language == "text" and not block.title and by_python:
            yield Output("Python", block.text, block.start, by_python, vary)
            by_python = ""
        elif block.note.startswith("result:"):
            name = block.note.removeprefix("result:")
            yield Output(name, block.text, block.start, _printed_of(PROJECT / "reports" / name, block.text))
        status = int(block.note.removeprefix("exits ")) if block.note.startswith("exits ") else 0
        if block.title:
            (folder / block.title).parent.mkdir(parents=True, exist_ok=True)
            (folder / block.title).write_text(block.text, encoding="utf-8")
        elif block.language == "python":
            with contextlib.redirect_stdout(io.StringIO()) as printed:
                exec(compile(block.text, "a block", "exec"), known if by else dict(known))
            by_python = printed.getvalue()
        elif block.language in {"sh", "console"}:
            for command in commands_of(block):
                ended, printed_by_command = _run(command.line)
                assert ended == status, f"{command.line}: {printed_by_command}"
                if command.shown:
                    yield Output(command.line, command.shown, command.start, printed_by_command, vary)


def _printed_of(report: Path, shown: str) -> str:
    """Return what is printed of a committed report, of the audits that are named in what is shown."""
    result, printed = read_report(report / "report.json"), io.StringIO()
    some = [audit for audit in result.audits if f"  {audit.name} " in shown]
    print_result(replace(result, audits=some), Console(file=printed, width=WIDTH))
    return printed.getvalue()


def _run(line: str) -> tuple[int, str]:
    words = shlex.split(line, comments=True)
    if words[0] == "auditor" and not {"|", ">", "&&"} & set(words):
        return _run_here(words[1:])
    if words[0] == "pytest":
        # Named, for an installation from before the plugin was there.
        line = shlex.join(
            [sys.executable, "-m", "pytest", "-p", "auditor.pytest_plugin", "-p", "no:cacheprovider", *words[1:]]
        )
    done = subprocess.run(
        ["bash", "-c", line],
        env={
            **os.environ,
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
            "PYTHONPATH": str(PROJECT),
            "PYTHONDONTWRITEBYTECODE": "1",
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout


def _run_here(arguments: list[str]) -> tuple[int, str]:
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
        status = main(arguments)
    return status, printed.getvalue()


def alike(shown: str, printed: str, *, numbers_vary: bool = False) -> bool:
    """Whether the shown output is the printed one, except for times, line breaks and what … replaces.

    >>> alike("ε ≥ 0.87 … 3 s", "ε ≥ 0.87, in 4 s"), alike("ε ≥ 0.9, 3 s", "ε ≥ 0.87, 3 s")
    (True, False)
    >>> alike("ε ≥ 0.9", "ε ≥ 0.87", numbers_vary=True), alike("no violation", "a violation", numbers_vary=True)
    (True, False)
    >>> alike("a: refuted", "  a: about 20 s if no other audit runs\\n  a: refuted"), alike("b", "  a: about 20 s\\n  b")
    (True, False)
    >>> alike("  a: 7 outputs, 1.0 s\\n  b: 9 outputs, 2.0 s\\n", "  b: 9 outputs, 3.0 s\\n  a: 7 outputs, 4.0 s\\n")
    True
    """
    wanted, seen = (_lasting(text, numbers_vary=numbers_vary) for text in (shown, printed))
    parts = [re.escape(" ".join(part.split())) for part in wanted.split("…")]
    return re.fullmatch(r"\s*.*\s*".join(parts).strip(), " ".join(seen.split()), re.DOTALL) is not None


def _lasting(text: str, *, numbers_vary: bool) -> str:
    """Return an output without the parts that differ between machines."""
    text = _TIME.sub("TIME", _HOW_LONG.sub("", text))
    text = _ENDED.sub(lambda lines: "".join(sorted(lines[0].splitlines(keepends=True))), text)
    return _NUMBER.sub("#", text) if numbers_vary else text


def renewed(shown: str, printed: str, *, numbers_vary: bool = False) -> str:
    """Return what a page should show of what was printed. It is what is shown, if that is true.

    Else lines of … stay, and stand for the lines between the printed lines that are most like those around them.

    >>> renewed("ε ≥ 0.9\\n", "\\nε ≥ 0.87  \\n")
    'ε ≥ 0.87\\n'
    >>> renewed("a.yaml\\n…\\n✓  a  ε ≥ 0.9 …\\n…\\n", "a.yaml\\n  a: 7 outputs, 2 s\\n✓  a  ε ≥ 0.87  violation\\nend, 3 s\\n")
    'a.yaml\\n…\\n✓  a  ε ≥ 0.87  violation\\n…\\n'
    >>> renewed("a 3 s\\nb 1\\n", "a 4 s\\nb 2\\n")
    'a 3 s\\nb 2\\n'
    """
    if alike(shown, printed, numbers_vary=numbers_vary):
        return shown
    old, new = shown.splitlines(), _tidy(printed)
    if "…" not in old:
        # Only so that a time does not change with each run.
        kept = {_TIME.sub("TIME", line): line for line in old}
        return "".join(f"{kept.get(_TIME.sub('TIME', line), line)}\n" for line in new)
    return "".join(f"{line}\n" for line in _aligned(old, new))


def _tidy(printed: str) -> list[str]:
    lines = [line.rstrip() for line in _HOW_LONG.sub("", printed).strip("\n").splitlines()]
    return [
        part
        for line in lines
        for part in textwrap.wrap(line, WIDTH, break_long_words=False, break_on_hyphens=False) or [""]
    ]


def _aligned(old: list[str], new: list[str]) -> list[str]:
    """Return the new lines, with … for those that the old lines leave out, by the cheapest alignment of the two.

    A line costs as much as it differs from its partner; a line without a partner costs 1, or nothing if … stands for it.
    """

    @functools.cache
    def best(i: int, j: int, left_out: bool) -> tuple[float, tuple[str, ...]]:
        """Return the cost and the lines from old line i and new line j on; ``left_out``: after a line of …."""
        if i == len(old):
            rest = new[j:]
            return (0.0, ()) if left_out else (float(len(rest)), tuple(rest))
        if old[i] == "…":
            cost, lines = best(i + 1, j, True)
            return cost, ("…", *lines)
        ways = list[tuple[float, tuple[str, ...]]]()
        if j < len(new):
            # First, since of equal costs the first is taken: what was shown is not lost.
            cost, lines = best(i + 1, j + 1, False)
            line = old[i] if alike(old[i], new[j]) else new[j]
            ways.append((cost + _difference(old[i], new[j]), (line, *lines)))
            cost, lines = best(i, j + 1, left_out)
            ways.append((cost, lines) if left_out else (cost + 1.0, (new[j], *lines)))
        cost, lines = best(i + 1, j, left_out)
        ways.append((cost + 1.0, lines))
        return min(ways, key=lambda way: way[0])

    return list(best(0, 0, False)[1])


def _difference(old: str, new: str) -> float:
    """Return a distance between two lines from 0 to 1, in which words weigh most, then numbers."""
    if alike(old, new):
        return 0.0
    words = [_NUMBER.sub("#", line).split() for line in (old, new)]
    return 1.0 - 0.9 * difflib.SequenceMatcher(None, *words, autojunk=False).ratio()


@contextlib.contextmanager
def session(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Change to a folder, and forget modules imported from there afterwards."""
    monkeypatch.chdir(folder)
    monkeypatch.setattr(sys, "path", [str(folder), *sys.path])
    before = set(sys.modules)
    yield
    for name in set(sys.modules) - before:
        file = getattr(sys.modules[name], "__file__", None)
        if file is not None and Path(file).is_relative_to(folder):
            del sys.modules[name]


def does_what_it_shows(name: str, folder: Path, monkeypatch: pytest.MonkeyPatch, by: str = "") -> None:
    """Run a page. Unseeded ones audit a claim of 1 at ε = 0.83 or less, with false alarms below 1e-6.

    With the name of a test file in ``by``, run the blocks that it runs for a library, as their notes say.
    A copy of the project without a room has that room's page, and cannot run it.
    """
    text = PAGES[name].read_text(encoding="utf-8")
    for room, word in (("dp_prover", "import dp_prover"), ("auditor.libraries", "-m auditor.libraries")):
        if word in text:
            pytest.importorskip(room)
    with prepared(name, folder, monkeypatch):
        run_page(text, folder, by)


@contextlib.contextmanager
def prepared(name: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Change to a folder with the libraries that a page uses and the tests do not."""
    if (STAND_INS / PAGES[name].stem).is_dir():
        shutil.copytree(STAND_INS / PAGES[name].stem, folder, dirs_exist_ok=True)
    with session(folder, monkeypatch):
        yield
