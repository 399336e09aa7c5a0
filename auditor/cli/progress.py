"""The progress that `auditor run` shows: phase, rate and time left. Without a terminal, it prints a few lines.

Progress shows no bound, since the level of a bound (Holm) is known only when all audits of a file have ended.
"""

import time
from collections.abc import Sequence

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, TaskID, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bars
from rich.table import Column

from auditor.auditing.plan import Plan, Progress
from auditor.blackbox.batches import Phase
from auditor.errors import duration, visible

# Without a terminal, LINE seconds are between two lines on a phase of an audit.
LINE = 60.0
# The first line on a phase is printed after FIRST seconds, if at least FIRST seconds are left.
FIRST = 5.0


class ProgressLines(Bars):
    """A line for each audit under way, which changes in place. Without a terminal, some lines are printed instead."""

    def __init__(self, console: Console, plans: Sequence[Plan]) -> None:
        super().__init__(
            # A narrow terminal has no bar, and the name is cut.
            TextColumn("[dim]{task.fields[place]}[/] {task.fields[audit]}", table_column=Column(ratio=1, no_wrap=True)),
            TextColumn("{task.description}"),
            *([BarColumn(bar_width=12)] if console.width >= 80 else []),
            TextColumn("{task.fields[done]}"),
            TimeRemainingColumn(compact=True, table_column=Column(width=5)),
            console=console,
            expand=True,
            transient=True,
            disable=not console.is_terminal or console.quiet,
        )
        self._places = {plan.name: f"{number}/{len(plans)}" for number, plan in enumerate(plans, start=1)}
        self._bars = dict[str, TaskID]()
        # Without a terminal: for each audit, its phase, when the phase began, and when the next line is due.
        self._phases = dict[str, tuple[Phase, float, float]]()

    def begin(self, audit: str, what: str) -> None:
        """Add a line for an audit that has no phases, and says only ``what`` it does."""
        if not self.disable:
            name = escape(visible(audit))
            self._bars[audit] = self.add_task(what, total=None, place="", audit=name, done="")

    def end(self, audit: str) -> None:
        """Remove the line of an audit."""
        if audit in self._bars:
            self.remove_task(self._bars.pop(audit))

    def show(self, progress: Progress) -> None:
        """Show the progress of an audit. May be called from any thread."""
        if progress.seconds:
            line = f"  {visible(progress.audit)}: about {duration(progress.seconds)} if no other audit runs"
            self.console.print(line, markup=False)
            return
        if self.disable:
            self._print(progress)
            return
        phase = progress.phase.name.lower()
        if progress.audit not in self._bars:
            place, name = self._places[progress.audit], escape(visible(progress.audit))
            self._bars[progress.audit] = self.add_task(phase, place=place, audit=name, done="")
        bar = self._bars[progress.audit]
        task = next(task for task in self.tasks if task.id == bar)
        if task.description != phase:
            self.reset(bar, total=progress.planned, description=phase)
        rate = f", {_short(task.speed)}/s" if task.speed else ""
        drawn = f"{_short(progress.done)} of {_short(progress.planned)}{rate}"
        self.update(bar, completed=progress.done, total=progress.planned, done=drawn)

    def _print(self, progress: Progress) -> None:
        """Print how far an audit is, and for how long this phase may go on, once in LINE seconds."""
        now = time.monotonic()
        phase, began, due = self._phases.get(progress.audit, (None, now, now))
        if phase is not progress.phase:
            self._phases[progress.audit] = progress.phase, now, now + FIRST
            return
        if now < due or not progress.done:
            return
        left = (now - began) * (progress.planned / progress.done - 1)
        if left < FIRST and due == began + FIRST:  # the first line on the phase would be the last one
            return
        self._phases[progress.audit] = progress.phase, began, now + LINE
        drawn = f"{_short(progress.done)} of {_short(progress.planned)}"
        line = f"  {visible(progress.audit)}: {progress.phase.name.lower()}, {drawn}, about {duration(left)} left in it"
        self.console.print(line, markup=False)


def _short(outputs: float) -> str:
    """Write a number of outputs in a few characters.

    >>> _short(950), _short(65_536), _short(1_250_000)
    ('950', '66k', '1.2M')
    """
    if outputs < 1000:
        return f"{outputs:.0f}"
    return f"{outputs / 1000:.0f}k" if outputs < 999_500 else f"{outputs / 1e6:.1f}M"
