"""What `auditor run` shows while it works: phase, rate, time left and the bound so far; nothing where nobody watches."""

import time
from types import TracebackType
from typing import TYPE_CHECKING

from auditor.auditing import Progress
from auditor.claims import Claim
from auditor.report.words import SYMBOL, number

if TYPE_CHECKING:
    from rich.console import Console

# Seconds between two looks at the bound, which takes some milliseconds.
LOOK = 0.25


class ProgressLine:
    """A line that changes in its place while the context is open; none where the console is no terminal."""

    def __init__(self, console: "Console", audit: str, claim: Claim, place: str) -> None:
        from rich.markup import escape
        from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as Bars
        from rich.table import Column

        self._symbol = SYMBOL.get(claim.quantity, claim.quantity)
        self._bars = Bars(
            # Where there is little room, it is the name that gives way.
            TextColumn(f"[dim]{escape(place)}[/] {escape(audit)}", table_column=Column(ratio=1, no_wrap=True)),
            TextColumn("{task.description}"),
            BarColumn(bar_width=12),
            TextColumn("{task.fields[done]}"),
            TimeRemainingColumn(compact=True, table_column=Column(width=5)),
            TextColumn("{task.fields[bound]}"),
            console=console,
            expand=True,
            transient=True,
            disable=not console.is_terminal or console.quiet,
        )
        self._task = self._bars.add_task("starting", total=None, done="", bound="")
        self._phase: object = None
        self._looked = 0.0

    def __enter__(self) -> "ProgressLine":
        self._bars.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._bars.stop()

    def refresh(self) -> None:
        """Draw the line now, as it is drawn ten times a second anyway."""
        self._bars.refresh()

    def show(self, progress: Progress) -> None:
        """Take in what an audit tells."""
        if self._bars.disable:
            return
        if progress.phase != self._phase:
            self._phase = progress.phase
            self._bars.reset(self._task, total=progress.planned, description=progress.phase.name.lower())
        [task] = self._bars.tasks
        rate = f", {_short(task.speed)}/s" if task.speed else ""
        told = f"{_short(progress.done)} of {_short(progress.planned)}{rate}"
        self._bars.update(self._task, completed=progress.done, total=progress.planned, done=told)
        if progress.bound is not None and time.monotonic() - self._looked > LOOK:
            self._looked = time.monotonic()
            self._bars.update(self._task, bound=f"{self._symbol} ≥ {number(progress.bound())}")


def _short(outputs: float) -> str:
    """Write a number of outputs in at most five signs.

    >>> _short(950), _short(65_536), _short(1_250_000)
    ('950', '66k', '1.2M')
    """
    if outputs < 1000:
        return f"{outputs:.0f}"
    return f"{outputs / 1000:.0f}k" if outputs < 999_500 else f"{outputs / 1e6:.1f}M"
