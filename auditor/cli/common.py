"""The common parts of several commands: exit statuses, the console, configurations and their overrides."""

import argparse
import contextlib
import os
import sys
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args, get_origin

from auditor.defaults import RunKeywords, settings
from auditor.door import OF_THE_MACHINE, Door
from auditor.errors import InvalidInputError, MechanismError, did_you_mean, visible

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from auditor.auditing import Plan
    from auditor.config import Configuration

AS_EXPECTED, UNEXPECTED, BAD_INPUT, NO_ANSWER, INTERRUPTED, TERMINATED = 0, 1, 2, 3, 130, 143
PROVED_FOR_PAIRS = 4  # by `auditor prove`: not for all data sets of a domain
NOT_ALL_CHECKED = 5  # by `auditor replay --check`: nothing differs, and what needs code was not made again
NOBODY_READS = 141  # as of a command that SIGPIPE ends

Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"


def add_configs(parser: argparse.ArgumentParser) -> None:
    """Let a command take configuration files."""
    parser.add_argument("configs", nargs="+", type=Path, metavar="CONFIG")


def add_only(parser: argparse.ArgumentParser, verb: str) -> None:
    """Let a command take some of the audits; see ``selected``."""
    only = f"{verb} this audit only, or those with NAME in their names (may be repeated)"
    parser.add_argument("--only", action="append", metavar="NAME", help=only)


# The settings that are options, with their types: those of the command line replace those of a file.
OPTIONS = {name: (kind, about) for name, kind, about in settings(RunKeywords) if about.option}


def add_settings(parser: argparse.ArgumentParser, *names: str) -> None:
    """Add options for settings to a command: the settings named, by default all settings that have an option."""
    for name in names or OPTIONS:
        kind, about = OPTIONS[name]
        said = about.text[0].lower() + about.text[1:].rstrip(".")
        if kind is bool:
            parser.add_argument(f"--{name}", action=argparse.BooleanOptionalAction, default=None, help=said)
        elif get_origin(kind) is Literal:
            parser.add_argument(f"--{name}", choices=get_args(kind), help=said)
        else:
            read = next(one for one in (int, float, str) if one in (get_args(kind) or (kind,)))
            parser.add_argument(f"--{name}", type=read, metavar=about.option, help=said)


def open_console(quiet: bool = False) -> "Console":
    """Return a console: as wide as the terminal, or 160 columns wide."""
    from rich.console import Console

    console = Console(quiet=quiet)
    # A log has no width.
    return console if console.is_terminal else Console(quiet=quiet, width=160)


def table_for(title: str, headings: Iterable[str]) -> "Table":
    """Return an empty table with a title, whose long cells are folded."""
    from rich.table import Table

    from auditor.report.terminal import escaped

    table = Table(title=escaped(title), box=None, pad_edge=False, header_style="bold", title_justify="left")
    for heading in headings:
        table.add_column(heading, overflow="fold")
    return table


STANDARD_OUTPUT = "-"


def say(text: object) -> None:
    """Print one line, without what a terminal takes for a command."""
    print(visible(text), flush=True)


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

    Raises InvalidInputError if there cannot be such a file, and OSError if the machine refuses.
    """
    from auditor.results.files import write_whole

    if target == STANDARD_OUTPUT:
        print(text, end="")
        return
    try:
        write_whole(Path(target), text)
    except OSError as error:
        if error.errno in OF_THE_MACHINE:
            raise
        raise InvalidInputError(f"{target} cannot be written: {error.strerror}") from None


def load_all(options: argparse.Namespace) -> "list[Configuration]":
    """Read all configurations. Raises InvalidInputError if two have one name: reports are named after them."""
    from auditor.config.load import load_configuration

    given = {name: getattr(options, name, None) for name in OPTIONS}
    overrides: Any = {name: value for name, value in given.items() if value is not None}
    configurations = [load_configuration(file, **overrides) for file in options.configs]
    names = [configuration.name for configuration in configurations]
    for name in names:
        if names.count(name) > 1:
            raise InvalidInputError(
                f'two of the configurations are called "{name}"; their reports would overwrite each other'
            )
    return configurations


def selected(configurations: "list[Configuration]", only: list[str] | None) -> "list[Configuration]":
    """Return the configurations with the audits of these names, or parts of names. Configurations without such audits are left
    out.
    """
    known = [plan.name for configuration in configurations for plan in configuration.plans]
    chosen = set(known) if not only else set[str]()
    for name in only or ():
        # A name means that audit alone, also where it is a part of others.
        meant = {name} & set(known) or {audit for audit in known if name.lower() in audit.lower()}
        if not meant:
            raise InvalidInputError(f'no audit is called "{name}"; {did_you_mean(name, known)}')
        chosen |= meant
    found = [replace(c, plans=tuple(plan for plan in c.plans if plan.name in chosen)) for c in configurations]
    return [configuration for configuration in found if configuration.plans]


@contextlib.contextmanager
def naming(configuration: "Configuration", plan: "Plan") -> Iterator[None]:
    """Let errors of a mechanism, and of any other code of the user's, name the file and the audit."""
    try:
        with contextlib.chdir("."), Door("a first look"):
            yield
    except MechanismError as error:
        raise InvalidInputError(f'{configuration.file}, audit "{plan.name}": {error}') from None


def make_folder(folder: Path) -> None:
    """Make a folder for reports. Raises InvalidInputError if its name cannot be one, and OSError if the machine refuses."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        if error.errno in OF_THE_MACHINE:
            raise
        raise InvalidInputError(f"reports cannot go to {folder}: {error}") from None
