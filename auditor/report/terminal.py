"""What `auditor run` prints: a table, then what was found, in words."""

import rich.markup
from rich.console import Console
from rich.table import Table

from auditor.report.markup import visible
from auditor.report.phrases import bound_words, closing_line, exact_words, finding, verdict_words
from auditor.results.result import RunResult


def print_result(result: RunResult, console: Console) -> None:
    """Print a run as a table, a sentence on each violation and each surprise, and a closing line."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("", "audit", "claim", "proved", "exact", "verdict"):
        table.add_column(heading, overflow="fold")
    for audit in result.audits:
        mark = "[green]✓[/]" if audit.passed else "[bold red]✗[/]"
        surprise = "" if audit.passed else f" (expected: {verdict_words(audit.expected)})"
        cells = (
            audit.name,
            str(audit.claim),
            bound_words(audit),
            exact_words(audit),
            verdict_words(audit.verdict) + surprise,
        )
        table.add_row(mark, *(escape(cell) for cell in cells))
    console.print(table)
    for audit in result.audits:
        if audit.verdict != "no_violation_found" or not audit.passed:
            console.print()
            console.print(f"[bold]{escape(audit.name)}[/]: {escape(finding(audit))}", highlight=False)
            if audit.reproduce:
                console.print(f"reproduce: {visible(audit.reproduce)}", highlight=False, markup=False, soft_wrap=True)
        for warning in audit.warnings:
            console.print()
            console.print(f"[bold]{escape(audit.name)}[/]: [yellow]warning[/]: {escape(warning)}.", highlight=False)
    console.print()
    console.print(
        visible(closing_line(result, timed=True)),
        style="green" if result.passed else "bold red",
        highlight=False,
        markup=False,
    )


def escape(text: str) -> str:
    """Keep text from being read as rich's markup, or by the terminal."""
    return rich.markup.escape(visible(text))
