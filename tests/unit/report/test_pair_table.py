"""A pair of frames is shown as a table, with the rows that differ marked, in every form of a report."""

import io
from typing import Any

import pytest
from made_results import violation
from rich.console import Console

from auditor.neighbours.pair import Pair, Relation, data_words, pair_words
from auditor.report.html import to_html
from auditor.report.markdown import to_markdown
from auditor.report.pair_table import BOTH, LEFT, RIGHT, pair_table
from auditor.report.phrases import failure_text
from auditor.report.terminal import print_result
from auditor.results.result import RunResult


def rows(*cities: Any) -> list[dict[str, Any]]:
    return [{"user": i, "city": city} for i, city in enumerate(cities)]


NULL = Pair(rows("a", "b"), rows("a", "b", None), Relation.ADD_REMOVE)


def marks(left: list[Any], right: list[Any]) -> list[str]:
    table = pair_table(Pair(left, right))
    assert table is not None
    return [mark for mark, _ in table.lines]


@pytest.mark.parametrize("place", [0, 1, 2])
def test_the_row_that_differs_is_marked_wherever_it_stands(place: int) -> None:
    whole = rows("a", "b", "c")
    less = whole[:place] + whole[place + 1 :]
    wanted = [RIGHT if i == place else BOTH for i in range(3)]
    assert marks(less, whole) == wanted
    assert marks(whole, less) == [LEFT if mark == RIGHT else mark for mark in wanted]


def test_many_rows_are_counted() -> None:
    table = pair_table(Pair(rows(*"a" * 100), rows(*"a" * 101)))
    assert table is not None
    assert [mark for mark, _ in table.lines] == [BOTH, BOTH, "… 96 more", BOTH, BOTH, RIGHT]


def shown(pair: Pair = NULL, seconds: float | None = 1.0) -> RunResult:
    return RunResult("frames", 0.999, [violation(pair=pair, seconds=seconds)], seconds)


def test_every_form_of_a_report_marks_the_row() -> None:
    [audit] = shown().audits
    text = io.StringIO()
    print_result(shown(), Console(file=text, width=100))
    row = next(line for line in text.getvalue().splitlines() if "null" in line and "only" in line)
    assert row.split() == ["right", "only", "2", "null"]
    assert "| **right only** | **2** | **null** |" in to_markdown(shown())
    page = to_html(shown())
    assert '<tr class="differs"><th scope="row">right only</th><td>2</td><td>null</td></tr>' in page
    assert page.count('class="differs"') == 1
    assert "right only  2     null" in failure_text(audit)


def test_text_in_a_frame_is_escaped() -> None:
    run = shown(Pair(rows(), rows("<b>|[red]"), Relation.ADD_REMOVE))
    assert "<b>" not in to_html(run).split("<main>")[-1]
    assert "\\<b\\>\\|\\[red\\]" in to_markdown(run)
    text = io.StringIO()
    print_result(run, Console(file=text, width=100))
    assert "'<b>|[red]'" in text.getvalue()


def test_a_row_that_is_replaced_is_shown_on_both_sides() -> None:
    assert marks(rows("a", "b"), rows("a", None)) == [BOTH, LEFT, RIGHT]


@pytest.mark.parametrize("pair", [Pair([1], [1, 2]), Pair(0, 1), Pair([{"a": 1}], [{"b": 1}]), Pair([], []), None])
def test_what_is_no_frame_has_no_table(pair: Pair | None) -> None:
    assert pair_table(pair) is None


def test_a_single_data_set_has_a_table_without_marks() -> None:
    table = pair_table(Pair(rows("a"), None, Relation.ALONE))
    assert table is not None
    assert table.lines == ((BOTH, ("0", "'a'")),)


def test_an_empty_side_is_a_frame() -> None:
    assert marks([], rows("a")) == [RIGHT]


def test_many_rows_are_a_number_and_the_columns_in_a_sentence() -> None:
    assert pair_words(Pair(rows(), rows("a"))) == "[] and [{'user': 0, 'city': 'a'}]"
    assert data_words(rows(*"a" * 20)) == "20 rows of user, city"
