"""GitHub must obey only those lines of the log that this program writes as workflow commands.

GitHub obeys a line of the log that begins with two colons, and one that holds "##[". Text of mechanisms and files gets to the
start of a line if a long line is wrapped. So on GitHub everything is printed through a guard.
"""

import contextlib
import os
import re
import sys
from collections.abc import Iterator
from typing import Any, TextIO

from auditor.errors import BLANK, without_commands

# The start of a line which the next letters may make a command.
_UNDECIDED = re.compile(f"{BLANK}:?")


class GuardedLog:
    """A text stream whose lines are no commands, however they are cut into writes; ``unguarded`` is the stream behind it."""

    def __init__(self, stream: TextIO) -> None:
        self.unguarded, self._before = stream, ""  # the part of the last line that decides how it goes on

    def write(self, text: str) -> int:
        """Write text, without commands."""
        whole = self._before + text
        self.unguarded.write(without_commands(whole)[len(self._before) :])
        line = re.split("[\r\n]", whole)[-1]
        self._before = line if _UNDECIDED.fullmatch(line) else "." + line[-2:]
        return len(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.unguarded, name)


def on_github() -> bool:
    """Whether GitHub reads what is printed."""
    return os.environ.get("GITHUB_ACTIONS") == "true"


@contextlib.contextmanager
def guarded_log() -> Iterator[None]:
    """On GitHub, guard what is printed to standard output and to standard error."""
    with contextlib.ExitStack() as opened:
        if on_github():
            out, err = (stream and GuardedLog(stream) for stream in (sys.stdout, sys.stderr))
            opened.enter_context(contextlib.redirect_stdout(out))
            opened.enter_context(contextlib.redirect_stderr(err))
        yield


def tell_runner(command: str) -> None:
    """Print a line that GitHub is to obey."""
    print(command, file=getattr(sys.stdout, "unguarded", sys.stdout), flush=True)
