"""The common parts of several commands: printing, writing files, GitHub's pages, configurations and the prover."""

import argparse
import contextlib
import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from rich.console import Console

from auditor.accountants.auditing import AccountantPlan
from auditor.auditing.plan import Plan
from auditor.cli.log_guard import on_github, tell_runner
from auditor.cli.options import AS_EXPECTED, NO_ANSWER, OPTIONS, STANDARD_OUTPUT, UNEXPECTED
from auditor.config.load import Configuration, load_configuration
from auditor.errors import InvalidInputError, MachineError, MechanismError, did_you_mean, fitted, visible
from auditor.foreign_code import OF_THE_MACHINE, ForeignCode
from auditor.prover import GROUP, Prover, prover
from auditor.report.compare import in_all
from auditor.results.files import write_whole
from auditor.results.result import Comparison
from auditor.verdict import End

# The exit status of a run, by its end.
STATUS = {End.AS_EXPECTED: AS_EXPECTED, End.NO_ANSWER: NO_ANSWER, End.WEAK: UNEXPECTED, End.UNEXPECTED: UNEXPECTED}


class _Console(Console):
    """A console that raises BrokenPipeError if the reader of the output is gone. A console of rich ends the program."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


def open_console(quiet: bool = False) -> Console:
    """Return a console as wide as the terminal. Without a terminal it has 160 columns."""
    console = _Console(quiet=quiet, highlight=False)
    if not console.is_terminal:
        console.width = 160
    return console


def say(text: object) -> None:
    """Print one line, with control characters escaped."""
    print(fitted(visible(text), sys.stdout), flush=True)


def warn(text: object) -> None:
    """Print one line to standard error, after the program's name."""
    print(fitted(visible(f"auditor: {text}"), sys.stderr), file=sys.stderr)


@contextlib.contextmanager
def all_to_stderr() -> Iterator[None]:
    """Send all printed text of this process and its children to standard error, since mechanisms may print."""
    sys.stdout.flush()
    kept = os.dup(1)
    os.dup2(2, 1)
    try:
        with contextlib.redirect_stdout(sys.stderr):
            yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)


def write_to(target: str, text: str) -> None:
    """Write text to a file, or to standard output.

    Raises InvalidInputError if the name is not possible, and OSError if the machine refuses (OF_THE_MACHINE).
    """
    if target == STANDARD_OUTPUT:
        print(text, end="")
        return
    try:
        write_whole(Path(target), text)
    except OSError as error:
        if error.errno in OF_THE_MACHINE:
            raise
        raise InvalidInputError(f"{target} cannot be written: {error.strerror}") from None


def load_all(options: argparse.Namespace) -> list[Configuration]:
    """Read all configurations. Raises InvalidInputError if two have one name, since reports are named after them."""
    overrides: Any = {name: value for name in OPTIONS if (value := getattr(options, name, None)) is not None}
    configurations = [load_configuration(file, **overrides) for file in options.configs]
    names = [configuration.name for configuration in configurations]
    for name in names:
        if names.count(name) > 1:
            raise InvalidInputError(
                f'two of the configurations are called "{name}"; their reports would overwrite each other'
            )
    return configurations


def selected(configurations: list[Configuration], only: list[str] | None) -> list[Configuration]:
    """Return the configurations with the audits that ``only`` names, in full or in part. Leave out configurations without any."""
    names = [name for configuration in configurations for name in configuration.names]
    chosen = set(names) if not only else set[str]()
    for name in only or ():
        # A full name selects that audit alone, even if it is a part of other names.
        meant = {name} & set(names) or {audit for audit in names if name.lower() in audit.lower()}
        if not meant:
            raise InvalidInputError(f'no audit is called "{name}"; {did_you_mean(name, names)}')
        chosen |= meant
    chosen_parts = [
        replace(
            c,
            plans=tuple(plan for plan in c.plans if plan.name in chosen),
            accountants=tuple(plan for plan in c.accountants if plan.name in chosen),
        )
        for c in configurations
    ]
    return [configuration for configuration in chosen_parts if configuration.plans or configuration.accountants]


@contextlib.contextmanager
def naming(configuration: Configuration, plan: Plan | AccountantPlan) -> Iterator[None]:
    """Let errors of a mechanism, and of other user code, name the file, the line and the audit."""
    try:
        with contextlib.chdir("."), ForeignCode("a first look"):
            try:
                yield
            except OSError as error:
                if error.errno in OF_THE_MACHINE:  # such as too many open files
                    raise MachineError(error.strerror) from None
                raise
    except MechanismError as error:
        line = configuration.lines[plan.name]
        raise InvalidInputError(f'{configuration.file}, line {line}, audit "{plan.name}": {error}') from None


def make_folder(folder: Path) -> None:
    """Make a folder for reports.

    Raises InvalidInputError if its name is not possible, or if report.json in it is a folder. Raises OSError as ``write_to``.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        if error.errno in OF_THE_MACHINE:
            raise
        raise InvalidInputError(f"reports cannot go to {folder}: {error}") from None
    if (report := folder / "report.json").is_dir():
        raise InvalidInputError(f"{report} is a folder; remove it, or name another folder by --out")


def show_changes(compared: Comparison) -> None:
    """Print a line for each change since a baseline, and a line with the number of changes of each kind."""
    styles = {"worse": "bold red", "better": "green", "note": "yellow", "not compared": "yellow"}
    lines = [(f"{change.kind:<6}  {change.audit}: {change.what}", styles[change.kind]) for change in compared.changes]
    lines.append((in_all(compared), "bold red" if compared.failures else "green"))
    console = open_console()
    for line, style in lines:
        console.print(visible(line), style=style, markup=False, soft_wrap=not console.is_terminal)


def annotate(lines: Callable[[], list[str]]) -> None:
    """On GitHub, print annotations to standard output or error, since it reads both."""
    for line in lines() if on_github() else ():
        tell_runner(line)


def add_to_summary(text: Callable[[], str]) -> list[str]:
    """On GitHub, add a text to the step's summary. Return why it is missing there, if it is."""
    summary = os.environ.get("GITHUB_STEP_SUMMARY") if on_github() else None
    if not summary:
        return []
    try:
        with Path(summary).open("a", encoding="utf-8") as lines:
            lines.write(text() + "\n")
    except OSError as error:
        return [f"{summary} lacks the summary of this run: it cannot be written: {error.strerror}"]
    return []


def installed_prover() -> Prover:
    """Return the prover. Raises InvalidInputError if none is installed."""
    if (installed := prover()) is None:
        raise InvalidInputError(f"no prover is installed; dp-auditor has one, at its entry point of the group {GROUP}")
    return installed
