"""summary.md: a table of the audits, then a paragraph on each."""

import re
from collections.abc import Iterable, Mapping

from auditor.accountants.outcome import AccountantResult
from auditor.errors import visible
from auditor.report.accountant_words import (
    ACCOUNTANT_COLUMNS,
    NOT_SAMPLED,
    accountant_columns,
    accountant_facts,
    accountant_finding,
    states_words,
)
from auditor.report.compare import in_all
from auditor.report.pair_table import DIFFERS, pair_tables
from auditor.report.phrases import (
    COLUMNS,
    OWN_RANDOMNESS,
    closing_line,
    code_parts,
    ended,
    expected_words,
    finding_parts,
    in_columns,
    spent_words,
    urgent_first,
)
from auditor.results.result import AuditResult, Comparison, RunResult


def to_markdown(result: RunResult) -> str:
    """Return the summary of a run."""
    lines = [f"# {escape(result.name)}", "", escape(closing_line(result)) + ".", ""]
    if result.compared is not None:
        lines += [*changes_in_markdown(result.compared), ""]
    if result.audits or not result.accountants:
        lines += [*_headings(COLUMNS), *(_row(audit, in_columns(audit)) for audit in urgent_first(result.audits))]
    if result.accountants:
        lines += [""] if result.audits else []
        lines += _headings(ACCOUNTANT_COLUMNS)
        lines += [_row(one, accountant_columns(one)) for one in urgent_first(result.accountants)]
    for audit in urgent_first(result.audits):
        lines += ["", f"## {escape(audit.name)}", "", *_paragraph(audit)]
    for one in urgent_first(result.accountants):
        lines += ["", f"## {escape(one.name)}", "", *_on_accountant(one)]
    return "\n".join(lines) + "\n"


def changes_in_markdown(compared: Comparison) -> list[str]:
    """Return a comparison: how many changes there are of each kind, and a line for each."""
    lines = [f"- **{change.kind}**: {escape(change.audit)}: {message(change.what)}" for change in compared.changes]
    return [escape(in_all(compared)), "", *lines]


def escape(text: str) -> str:
    """Keep text from being read as Markdown or HTML, in one line.

    >>> escape("a|b_c <i>")
    'a\\\\|b\\\\_c \\\\<i\\\\>'
    """
    return visible(text).translate({ord(c): "\\" + c for c in "\\`*_[]|<>&~$"})


def message(text: str) -> str:
    """Return a message of the auditor. What stands between backticks is code.

    >>> message("raise `max_outputs` to a*b")
    'raise `max_outputs` to a\\\\*b'
    """
    return "".join(_code(part) if is_code else escape(part) for part, is_code in code_parts(text))


def _headings(columns: Iterable[str]) -> list[str]:
    headings = ("", *columns, "verdict", "expected")
    return [f"| {' | '.join(headings)} |".replace("|  |", "| |"), "|-" * len(headings) + "|"]


def _row(audit: AuditResult | AccountantResult, columns: Mapping[str, str]) -> str:
    mark = "✓" if audit.passed else "✗"
    cells = (*columns.values(), ended(audit, expected=False), expected_words(audit))
    return f"| {mark} | " + " | ".join(escape(cell) for cell in cells) + " |"


def _on_accountant(one: AccountantResult) -> list[str]:
    return [
        f"It states {escape(states_words(one))}: **{ended(one, expected=False)}**.",
        "",
        escape(accountant_finding(one)),
        "",
        *(f"- {escape(fact.text)}" for fact in one.facts),
        *([""] if one.facts else []),
        *(f"{name}: {escape(text)}.  " for name, text in accountant_facts(one)[1:]),
        "",
        f"{NOT_SAMPLED}.",
    ]


def _paragraph(audit: AuditResult) -> list[str]:
    again = ["", f"Reproduce: {_code(audit.reproduce)}"] if audit.reproduce else []
    return [
        f"{_code(audit.mechanism)} claims {escape(str(audit.claim))}: **{ended(audit, expected=False)}**.",
        "",
        " ".join(message(words) if is_message else escape(words) for words, is_message in finding_parts(audit)),
        "",
        *_rows(audit),
        *(line for warning in audit.warnings for line in (f"**Warning**: {message(warning)}.", "")),
        f"Outputs: {spent_words(audit.outputs)}; seed {audit.seed}"
        + ("." if audit.reproducible else f"; {escape(OWN_RANDOMNESS)}."),
        *again,
    ]


def _rows(audit: AuditResult) -> list[str]:
    """Return tables of pairs of frames; rows that differ are bold."""
    rows = list[str]()
    for caption, table in pair_tables(audit):
        lines = list[str]()
        for mark, cells in (("", table.columns), *table.lines):
            bold = "**" if mark in DIFFERS else ""
            lines.append(f"| {' | '.join(f'{bold}{escape(cell)}{bold}' for cell in (mark, *cells))} |")
        heading, *body = lines
        rows += [f"{caption[:1].upper()}{caption[1:]}:", "", heading, "|-" * (1 + len(table.columns)) + "|", *body, ""]
    return rows


def _code(text: str) -> str:
    """Return text as inline code, between more backticks than it holds in a row."""
    fence = "`" * (1 + max((len(run) for run in re.findall("`+", text)), default=0))
    apart = " " if "`" in text else ""
    shown = visible(text).replace("##[", "##\\x5b")  # which GitHub obeys wherever it stands in a log
    return f"{fence}{apart}{shown}{apart}{fence}"
