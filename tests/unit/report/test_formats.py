"""The first words of every form of a report, and pairs as tables."""

import html
import io
import re
from collections.abc import Callable
from typing import Any

import pytest
from made_results import event_of, made
from rich.console import Console

from auditor.bounds.evidence import Bound
from auditor.claims import Claim, PureDP
from auditor.neighbours.pair import Pair, Relation
from auditor.report.ci import annotations, to_junit
from auditor.report.html import to_html
from auditor.report.markdown import to_markdown
from auditor.report.pair_table import any_table
from auditor.report.phrases import failure_text
from auditor.report.terminal import print_result
from auditor.results.result import AuditResult, RunResult, Smallest
from auditor.verdict import Verdict

BOUND = Bound("epsilon", 1.9, 0.999, "guesses")
MORE, SUBSTITUTE = Relation.ADD_REMOVE, Relation.SUBSTITUTE


def rule(left: int = 100, right: int = 400, words: str = "output['unknown'] > 3.2") -> Any:
    counts = {"left": [left, 1000], "right": [right, 1000]}
    return event_of({"description": words, "guess": "right", "counts": counts, "opposite": None})


def found(pair: Pair, event: Any = None, claim: Claim | None = None, bound: Bound = BOUND, **more: Any) -> AuditResult:
    given = {"pair": pair, "event": event or rule(), "claim": claim or PureDP(1.0), "bound": bound}
    return made(**{"verdict": Verdict.VIOLATION, **given, **more})


def user(name: int, *cities: Any) -> list[dict[str, Any]]:
    return [{"user": name, "city": city} for city in cities]


FOUR = Pair(user(1, "a"), user(1, "a") + user(2, None, None, None, "b"), MORE)


def printed(result: RunResult) -> str:
    console = Console(file=io.StringIO(), width=200)
    print_result(result, console)
    return console.file.getvalue()  # type: ignore[attr-defined]  # a StringIO


FORMS: dict[str, Callable[[RunResult], str]] = {
    "page": lambda result: re.sub("<[^>]*>", " ", re.sub("<style>.*?</style>", "", to_html(result), flags=re.DOTALL)),
    "Markdown": to_markdown,
    "JUnit": to_junit,
    "terminal": printed,
    "GitHub": lambda result: "\n".join(annotations(result, "a.yaml")),
    "failure": lambda result: failure_text(result.audits[0]),
    "in short": lambda result: str(result.audits[0]),
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_speaks_of_the_pair_of_the_verdict_first_and_then_of_the_smallest_by_name(form: str) -> None:
    smallest = Bound("epsilon", 1.2, 0.999, "guesses")
    small = Smallest(Pair([], [{"user": 77}], MORE), rule(100, 200, "output > 55"), smallest)
    text = html.unescape(FORMS[form](RunResult("run", 0.999, [found(FOUR, smallest=small)]))).replace("\\", "")
    at = re.search("smallest (pair )?that still breaks", text).start()  # type: ignore[union-attr]
    for main, second in (("1.900", "1.200"), ("output['unknown'] > 3.2", "output > 55"), ("city", "77")):
        assert text.index(main) < at, main
        assert second not in text[:at], second
        assert second in text[at:], second


def test_a_card_begins_with_what_was_found_and_shows_the_pair_next() -> None:
    page = to_html(RunResult("some run", 0.999, [found(FOUR)]))
    card = page[page.index('class="card') :]
    order = [card.index(text) for text in ("On the neighbours", "The pair that was tested", "Claim", "Counts")]
    assert order == sorted(order)


# --- Tables ---


@pytest.mark.parametrize(
    ("pair", "columns", "lines"),
    [
        (Pair([1, 2], [1, 3], SUBSTITUTE), ("record",), [("", ("1",)), ("left only", ("2",)), ("right only", ("3",))]),
        (Pair([[1, "a"]], [], MORE), ("column 1", "column 2"), [("left only", ("1", "'a'"))]),
        (Pair([3, 5], [4, 5], MORE), ("place", "left", "right"), [("differs", ("1", "3", "4")), ("", ("2", "5", "5"))]),
        (Pair({"a": 1}, {"b": 2}, MORE), ("key", "left", "right"), [("differs", ("a", "1", "0")), ("differs", ("b", "0", "2"))]),
        (Pair(0, 1, SUBSTITUTE), ("left", "right"), [("", ("0", "1"))]),
        (Pair("no", "yes", SUBSTITUTE), ("left", "right"), [("", ("no", "yes"))]),
        (Pair([1, 2], None, Relation.ALONE), ("data set",), [("", ("[1, 2]",))]),
    ],
)  # fmt: skip
def test_every_pair_has_a_table(pair: Pair, columns: tuple[str, ...], lines: list[Any]) -> None:
    table = any_table(pair)
    assert table is not None
    assert (table.columns, [*table.lines]) == (columns, lines)


def test_a_page_without_matplotlib_says_what_its_plots_need(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("auditor.report.plots.find_spec", lambda name: None)
    page = to_html(RunResult("some run", 0.999, [found(FOUR)]))
    assert "<svg" not in page
    assert "for plots: pip install 'dp-auditor[plots]', then auditor show report.json" in page


def test_rows_in_another_order_are_not_marked() -> None:
    rows = [{"user": i, "city": "abc"[i % 3]} for i in range(9)]
    other = [*reversed(rows), {"user": 9, "city": "z"}]
    table = any_table(Pair(rows, other, MORE))
    assert table is not None
    assert [mark for mark, _ in table.lines if mark in ("left only", "right only")] == ["right only"]
