"""Run a page: every block of a document, one after the other, in one folder, as a reader would.

A block with a title is a file of that name; ``sh`` is commands; ``console`` is commands after ``$``, with what they print;
``python`` is a script; ``text`` is no code. A comment before a block says what is special about it: ``exits 1``;
``not run: why``; ``result:NAME`` for what was printed when a committed report was made. What is shown
of the output must be what is printed, numbers aside, which may differ with the libraries' versions; … stands for anything.
"""

import contextlib
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from auditor.cli import main

PROJECT = Path(__file__).parents[2]
PAGES = {
    page.relative_to(PROJECT).with_suffix("").as_posix(): page
    for page in (PROJECT / "README.md", *sorted((PROJECT / "docs").rglob("*.md")))
}
# Pages that take minutes together, which tests/long runs.
LONG = {"docs/tutorial"} | {
    f"docs/how-to/{name}"
    for name in ("frame", "cluster", "release", "proof", "paper", "session", "once", "many", "leaks")
}
STAND_INS = Path(__file__).parent / "stand_ins"
_BLOCK = re.compile(
    r'^(?:<!-- (?P<note>[^\n]*?) -->\n+)?```(?P<language>\w+)(?: title="(?P<title>[^"\n]+)")?\n(?P<text>.*?)^```$',
    re.DOTALL | re.MULTILINE,
)
_NUMBER = re.compile(r"[-−+]?(?:\d[\d,_]*(?:\.\d+)?(?:e[-+]?\d+)?|∞)")
# Lines that are printed where an audit takes long, so only on some machines.
_HOW_LONG = re.compile(r"^  .*: (?:about .* if no other audit runs|.*, about .* left in it)\n", re.MULTILINE)
_NOTES = re.compile(r"exits [123]|not run: .{10,}|result:[\w-]+")


@dataclass(frozen=True, slots=True)
class Block:
    """A block of code of a page, and what the comment before it says."""

    language: str
    text: str
    title: str
    note: str


@dataclass(frozen=True, slots=True)
class Command:
    """A command line, and what the page shows of its output."""

    line: str
    shown: str


def blocks_of(text: str) -> list[Block]:
    """List the blocks of a page. Raises ValueError for one that has no language, or a note that means nothing."""
    found = [Block(m["language"], m["text"], m["title"] or "", m["note"] or "") for m in _BLOCK.finditer(text)]
    if len(found) * 2 != len(re.findall(r"^ *```", text, re.MULTILINE)):
        raise ValueError("a block has no language, or stands in a list")
    for block in found:
        if block.note and not _NOTES.fullmatch(block.note):
            raise ValueError(f"the note {block.note!r} means nothing")
        if not block.title and block.language not in {"sh", "console", "python", "text"} and not skipped(block):
            raise ValueError(f"nothing is done with {block.language}: {block.text[:80]!r}")
    return found


def skipped(block: Block) -> bool:
    """Whether a block says why it is not run."""
    return block.note.startswith("not run: ")


def commands_of(block: Block) -> list[Command]:
    """List the commands of a ``sh`` or a ``console`` block."""
    if block.language == "sh":
        return [Command(line, "") for line in block.text.splitlines() if line]
    parts = re.split(r"^\$ ", block.text, flags=re.MULTILINE)
    assert parts[0] == "", "a console block begins with a command"
    return [Command(*part.partition("\n")[::2]) for part in parts[1:]]


def run_page(text: str, folder: Path) -> None:
    """Run the blocks of a page in a folder, which is the working folder; compare what is printed with what is shown."""
    told = ""  # by the last block of Python
    for block in blocks_of(text):
        if skipped(block):
            continue
        if block.language == "text" and not block.title and told:
            assert alike(block.text, told), f"Python prints:\n{told}"
            told = ""
        status = int(block.note.removeprefix("exits ")) if block.note.startswith("exits ") else 0
        if block.title:
            (folder / block.title).parent.mkdir(parents=True, exist_ok=True)
            (folder / block.title).write_text(block.text, encoding="utf-8")
        elif block.language == "python":
            with contextlib.redirect_stdout(io.StringIO()) as printed:
                exec(compile(block.text, "a block", "exec"), {"__name__": "__main__"})
            told = printed.getvalue()
        elif block.language in {"sh", "console"}:
            for command in commands_of(block):
                ended, printed = _run(command.line)
                assert ended == status, f"{command.line}: {printed}"
                if command.shown:
                    assert alike(command.shown, printed), f"{command.line} prints:\n{printed}"


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


def alike(shown: str, printed: str) -> bool:
    """Whether what is shown is what was printed, whatever the numbers and the line breaks; … is anything.

    >>> alike("ε ≥ 0.9 … 3 s", "ε ≥ 0.87, in 4 s"), alike("no violation", "a violation")
    (True, False)
    >>> alike("a: refuted", "  a: about 20 s if no other audit runs\\n  a: refuted"), alike("b", "  a: about 20 s\\n  b")
    (True, False)
    """
    shown, printed = (_HOW_LONG.sub("", text) for text in (shown, printed))
    parts = [re.escape(" ".join(_NUMBER.sub("#", part).split())) for part in shown.split("…")]
    return (
        re.fullmatch(r"\s*.*\s*".join(parts).strip(), " ".join(_NUMBER.sub("#", printed).split()), re.DOTALL)
        is not None
    )


@contextlib.contextmanager
def session(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Work in a folder, and leave nothing imported from there."""
    monkeypatch.chdir(folder)
    monkeypatch.setattr(sys, "path", [str(folder), *sys.path])
    before = set(sys.modules)
    yield
    for name in set(sys.modules) - before:
        file = getattr(sys.modules[name], "__file__", None)
        if file is not None and Path(file).is_relative_to(folder):
            del sys.modules[name]


def does_what_it_shows(name: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run a page. Some draw without a seed: they audit a claim of 1 at ε = 0.83 or less, with false alarms below 1e-6.

    A copy of the project without a room has its page, and cannot run it.
    """
    text = PAGES[name].read_text(encoding="utf-8")
    for room, word in (("dp_prover", "import dp_prover"), ("auditor.libraries", "-m auditor.libraries")):
        if word in text:
            pytest.importorskip(room)
    # Libraries that the page calls and the tests do without.
    if (STAND_INS / PAGES[name].stem).is_dir():
        shutil.copytree(STAND_INS / PAGES[name].stem, folder, dirs_exist_ok=True)
    with session(folder, monkeypatch):
        run_page(text, folder)
