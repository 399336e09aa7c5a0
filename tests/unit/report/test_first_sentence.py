"""The page begins with a sentence about the data; the same pairs as tables."""

import html
import io
import re
from collections.abc import Callable
from typing import Any

import pytest
from made_results import event_of, made
from rich.console import Console

from auditor.bounds.evidence import Bound
from auditor.claims import Claim, Probability, PureDP, Sensitivity
from auditor.events.histogram import Histogram
from auditor.neighbours.pair import Pair, Relation
from auditor.report.ci import annotations, to_junit
from auditor.report.first_sentence import first_sentence, unit_words
from auditor.report.html import to_html
from auditor.report.markdown import to_markdown
from auditor.report.pair_table import any_table
from auditor.report.phrases import failure_text
from auditor.report.terminal import print_result
from auditor.results.result import AuditResult, Illustration, RunResult, Smallest
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
TAIL = "makes “output['unknown'] > 3.2” 4 times as likely: ε is at least 1.900, claimed ε = 1."
CHANGES = {
    "a person with several rows": (FOUR, "One user with four rows"),
    "on the left": (Pair(FOUR.right, FOUR.left, MORE), "One user with four rows"),
    "a person with one row": (Pair([], user(3, "a"), MORE), "One user with one row"),
    "rows of several": (Pair([], user(1, "a", "a") + user(2, "a"), MORE), "Adding three rows"),
    "a row without a person": (Pair([], [{"age": 3, "pay": 1.5}], MORE), "One more row (age 3, pay 1.5)"),
    "a row that is replaced": (
        Pair(user(1, "a"), user(1, None), SUBSTITUTE),
        "A change of one row (city null in place of 'a')",
    ),
    "a person who is replaced": (
        Pair(user(1, "a"), user(2, "b", "b"), SUBSTITUTE),
        "One user with two rows in place of one user with one row",
    ),
    "a record": (Pair([1.0, 2.0], [1.0, 2.0, 0.1234567891], MORE), "One more record (0.123457)"),
    "records": (Pair([1], [1, 5, 5, 5], MORE), "Adding three records (all 5)"),
    "a record that is replaced": (Pair([1, 2], [1, 3], SUBSTITUTE), "A change of one record (3 in place of 2)"),
    "another order": (Pair([1, 2], [2, 1]), "Another order of the records"),
    "numbers of totals": (Pair([3, 5], [4, 5], MORE), "One person, who changes number 1 by 1,"),
    "numbers by key": (Pair({"a": 1}, {"a": 2, "b": 1}, MORE), "One person, who changes 'a' by 1 and 'b' by 1,"),
    "the first key": (Pair({}, {"a": 1}, MORE), "One person, who changes 'a' by 1,"),
    "a value": (Pair(0, 1, SUBSTITUTE), "The value 1 in place of 0"),
    "a text": (Pair("no", "yes", SUBSTITUTE), "The value 'yes' in place of 'no'"),
}  # fmt: skip


@pytest.mark.parametrize(("pair", "words"), CHANGES.values(), ids=CHANGES)
def test_the_change_is_said_in_words_of_the_data(pair: Pair, words: str) -> None:
    """The event is more likely on the right, and so less likely with what is on the left only."""
    left_has_more = words == "One user with four rows" and pair.left is FOUR.right
    tail = TAIL.replace("times as", "times less") if left_has_more else TAIL
    assert first_sentence(found(pair)) == f"{words} {tail}"


@pytest.mark.parametrize(
    ("event", "words"),
    [
        (rule(0, 10), "makes “output['unknown'] > 3.2” appear, never seen otherwise:"),
        (rule(10, 0), "makes “output['unknown'] > 3.2” disappear:"),
        (rule(400, 100), "makes “output['unknown'] > 3.2” 4 times less likely:"),
        (rule(400, 401), "hardly changes the outputs:"),
        (rule(1, 2, "summed evidence of all places > 1"), "shows in the outputs, in many parts together:"),
        (rule(1, 2, "output is " + "a" * 90), f"makes “output is {'a' * 50} …” 2 times as likely:"),
    ],
)
def test_the_effect_is_that_of_the_event(event: Any, words: str) -> None:
    assert f"One user with four rows {words}" in first_sentence(found(FOUR, event))


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


def test_a_pass_says_what_would_be_noticed() -> None:
    passed = found(Pair([], [1], MORE), verdict=Verdict.NO_VIOLATION_FOUND, power={"80%": 1.9, "95%": 2.0})
    assert first_sentence(passed) == (
        "No violation of ε = 1 found. Nearest to one: one more record (1) makes “output['unknown'] > 3.2” 4 times as likely; "
        "ε is at least 1.900. There, ε = 2.000 would be noticed."
    )


def test_queries_and_probabilities_have_sentences_of_their_own() -> None:
    answers = event_of({"description": "the query answers 2 and 0", "values": {"left": 2, "right": 0}})
    moved = found(Pair([], [-2], MORE), answers, Sensitivity(1.0), Bound("sensitivity", 2.0, 1.0, "counterexample"))
    assert first_sentence(moved) == (
        "One more record (-2) moves the answer from 2 to 0: sensitivity is at least 2.000, claimed sensitivity 1."
    )
    report = event_of({"description": "the event", "counts": {"left": [5, 100]}, "confirmed": False})
    rare = found(
        Pair([1, 2], None, Relation.ALONE),
        report,
        Probability(0.9, at_least=True),
        Bound("probability", 0.1, 0.999, "rate", side="upper"),
    )
    assert first_sentence(rare).startswith(
        "On [1, 2] the event happens in 5 of 100 trials: probability is at most 0.100"
    )


def test_the_unit_of_privacy_is_the_person_whose_rows_they_are() -> None:
    assert unit_words(FOUR) == "one user with all rows, added or removed"
    assert (
        unit_words(Pair(user(1, "a"), user(2, "b", "b"), SUBSTITUTE)) == "one user with all rows, replaced by another"
    )
    assert unit_words(Pair([{"age": 1}], [], MORE)) == "one record or person, added or removed"
    assert unit_words(Pair([1], [], MORE)) == "one record or person, added or removed"


def test_no_answer_says_why() -> None:
    assert first_sentence(made(verdict=Verdict.INCONCLUSIVE, stop_reason="it crashes")) == "No answer: it crashes."


def test_the_page_begins_with_it_and_shows_the_pair_next() -> None:
    page = to_html(RunResult("some run", 0.999, [found(FOUR)]))
    card = page[page.index('class="card') :]
    order = [card.index(text) for text in ("One user with four rows", "The pair that was tested", "Claim", "In full")]
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


def test_a_shift_is_that_of_the_middles_of_the_outputs() -> None:
    """A half of each side lies below 0.5 and below 4.5; so the change is 4, and −4 where the left side has more."""
    edges = tuple(float(i) for i in range(7))
    left, right = (0, 10, 0, 0, 0, 0, 0, 0), (0, 0, 0, 0, 0, 10, 0, 0)
    for pair, expected in ((FOUR, "4"), (Pair(FOUR.right, FOUR.left, MORE), "−4")):
        shown = Illustration(histograms=[Histogram("output['unknown']", (10, 10), edges, left, right)])
        words = f"One user with four rows shifts output['unknown'] by about {expected}: "
        assert first_sentence(found(pair, illustration=shown)).startswith(words)


def test_rows_in_another_order_are_not_marked() -> None:
    rows = [{"user": i, "city": "abc"[i % 3]} for i in range(9)]
    other = [*reversed(rows), {"user": 9, "city": "z"}]
    table = any_table(Pair(rows, other, MORE))
    assert table is not None
    assert [mark for mark, _ in table.lines if mark in ("left only", "right only")] == ["right only"]
