"""The output of `auditor run`: a table, then in words what was found."""

import math
from collections.abc import Iterable, Sequence

import rich.markup
from rich.console import Console
from rich.table import Table

from auditor.accountants.outcome import AccountantResult
from auditor.auditing.reach import reach_of
from auditor.errors import visible
from auditor.report.accountant_words import ACCOUNTANT_COLUMNS, NOT_SAMPLED, accountant_columns, accountant_finding
from auditor.report.pair_table import DIFFERS, pair_tables
from auditor.report.phrases import (
    COLUMNS,
    OWN_RANDOMNESS,
    accepted_words,
    closing_line,
    ended,
    finding,
    in_columns,
    reach_words,
    urgent_first,
)
from auditor.results.result import AuditResult, RunResult

# Outputs are few if noise has to be FEW times too small before they show it. The terminal then says what more outputs take.
FEW = 1.2


def table_for(headings: Iterable[str], title: str = "", style: str = "bold") -> Table:
    """Return an empty table, whose long cells are folded; ``style`` is the headings' style."""
    table = Table(title=escaped(title) or None, box=None, pad_edge=False, header_style=style, title_justify="left")
    for heading in headings:
        table.add_column(escaped(heading), overflow="fold")
    return table


def print_result(result: RunResult, console: Console) -> None:
    """Print a run as a table, a sentence on each violation and each surprise, and a closing line."""
    if result.audits or not result.accountants:
        table = table_for(("", *COLUMNS, "verdict"))
        for audit in urgent_first(result.audits):
            table.add_row(_mark(audit), *map(escaped, in_columns(audit).values()), ended(audit))
        console.print(table)
    for audit in urgent_first(result.audits):
        name = f"[bold]{escaped(audit.name)}[/]"
        if audit.verdict != "no_violation_found" or not audit.passed:
            console.print(f"\n{name}: {escaped(finding(audit))}")
            _print_rows(audit, console)
            if audit.reproduce:
                console.print(f"reproduce: {visible(audit.reproduce)}", markup=False, soft_wrap=True)
        else:
            for words in (audit.earlier, _of_few_outputs(audit), accepted_words(audit)):
                if words:
                    console.print(f"\n{name}: {escaped(words)}")
        if not audit.reproducible:
            console.print(f"\n{name}: {escaped(OWN_RANDOMNESS)}.")
        for warning in audit.warnings:
            console.print(f"\n{name}: [yellow]warning[/]: {escaped(warning)}.")
    _print_accountants(result.accountants, console)
    console.print()
    style = "green" if result.passed else "bold red"
    console.print(visible(closing_line(result, timed=True)), style=style, markup=False)


def _of_few_outputs(audit: AuditResult) -> str:
    """Say what a pass could show, and what the next step takes, if its outputs are few."""
    reach = reach_of(audit)
    return reach_words(audit, timed=True) if reach is not None and FEW <= reach.scale < math.inf else ""


def _mark(audit: AuditResult | AccountantResult) -> str:
    return "[green]✓[/]" if audit.passed else "[bold red]✗[/]"


def _print_accountants(accountants: Sequence[AccountantResult], console: Console) -> None:
    """Print the table of accountants, then on each what was found, and its facts."""
    if not accountants:
        return
    table = table_for(("", *ACCOUNTANT_COLUMNS, "verdict"))
    for one in urgent_first(accountants):
        table.add_row(_mark(one), *map(escaped, accountant_columns(one).values()), ended(one))
    console.print(table)
    for one in urgent_first(accountants):
        console.print(f"\n[bold]{escaped(one.name)}[/]: {escaped(accountant_finding(one))}")
        for fact in one.facts:
            console.print(f"- {escaped(fact.text)}")
    console.print(f"\n{NOT_SAMPLED}.", style="dim")


def _print_rows(audit: AuditResult, console: Console) -> None:
    """Print pairs of frames, with the rows that differ marked."""
    for caption, shown in pair_tables(audit):
        console.print(f"{caption}:", style="dim")
        table = table_for(("", *shown.columns), style="dim")
        for mark, cells in shown.lines:
            table.add_row(*map(escaped, (mark, *cells)), style="bold red" if mark in DIFFERS else None)
        console.print(table)


def escaped(text: str) -> str:
    """Return text without markup for rich, and without commands or line breaks for the terminal."""
    return rich.markup.escape(visible(text))
