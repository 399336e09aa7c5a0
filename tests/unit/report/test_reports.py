"""Reports: data that survive a round trip, text that is shown verbatim, files that are whole or untouched."""

import io
import json
import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_results import event_of
from made_results import violation as result
from rich.console import Console

from auditor.bounds.evidence import Bound
from auditor.claims import PureDP
from auditor.errors import visible
from auditor.neighbours.pair import Pair, pair_words
from auditor.report.formats import write_reports
from auditor.report.markdown import escape, to_markdown
from auditor.report.phrases import bound_words, closing_line, finding, number, run_headline, weak_words
from auditor.report.terminal import print_result
from auditor.results.files import to_json, write_whole
from auditor.results.result import AuditResult, RunResult
from auditor.verdict import Verdict

SOUND = {"verdict": Verdict.NO_VIOLATION_FOUND, "claim": PureDP(1)}
NO_ANSWER = {"verdict": Verdict.INCONCLUSIVE, "bound": None, "event": None, "pair": None, "power": None}


def run(*audits: AuditResult, name: str = "some run") -> RunResult:
    return RunResult(name, 0.999, audits, 2.0)


# --- Data ---


@pytest.mark.parametrize(
    ("changes", "verdict", "passed"),
    [
        ([SOUND], Verdict.NO_VIOLATION_FOUND, True),
        ([SOUND, {}], Verdict.VIOLATION, False),
        ([SOUND, {"expected": Verdict.VIOLATION}], Verdict.VIOLATION, True),
        ([SOUND, NO_ANSWER], Verdict.INCONCLUSIVE, False),
        ([NO_ANSWER, {}], Verdict.VIOLATION, False),
        ([], Verdict.INCONCLUSIVE, False),
    ],
)
def test_a_run_is_as_bad_as_its_worst_audit(changes: list[dict[str, Any]], verdict: Verdict, passed: bool) -> None:
    whole = run(*(result(**change) for change in changes))
    assert (whole.verdict, whole.passed) == (verdict, passed)


def test_a_weak_pass_names_one_number_of_outputs_for_all_its_reasons() -> None:
    few, many = (
        "found few; raise `samples` to 9,000, which finds 5 of them; or a smaller domain",
        "raise `samples` to 40,000",
    )
    shown = weak_words(result(**SOUND, warnings=(f"weak: {few}", f"weak: may miss; {many}")))
    assert shown == f"found few; {many}; or a smaller domain; may miss; {many}"
    assert weak_words(result(**SOUND, warnings=(f"weak: {few}",))) == few


@pytest.mark.parametrize("expected", [Verdict.VIOLATION, Verdict.NO_VIOLATION_FOUND])
def test_no_answer_never_passes(expected: Verdict) -> None:
    assert not result(**NO_ANSWER, expected=expected).passed


JSON_OR_WORSE = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner) | st.lists(inner).map(tuple) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=10,
)
SPELLED = {"Infinity": math.inf, "-Infinity": -math.inf, "NaN": math.nan}


@given(JSON_OR_WORSE)
def test_what_is_written_is_standard_json_and_reads_back_the_same(data: Any) -> None:
    def refuse(word: str) -> None:
        raise AssertionError(word)

    def expected(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: expected(item) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [expected(item) for item in value]
        if isinstance(value, float) and not math.isfinite(value):
            return next(word for word, number in SPELLED.items() if repr(number) == repr(value))
        return value

    text = to_json(data)
    assert text.endswith("\n")
    assert repr(json.loads(text, parse_constant=refuse)) == repr(expected(data))


def test_what_cannot_be_json_is_an_error_and_not_guessed_at() -> None:
    with pytest.raises(TypeError):
        to_json({"a": object()})


# --- Text ---


def unescaped(text: str) -> str:
    return re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", text)


@given(st.text())
def test_escaped_text_is_on_one_line_and_shows_the_same(text: str) -> None:
    shown = escape(text)
    assert len(shown.splitlines()) <= 1
    assert unescaped(shown) == visible(text)


@given(st.text())
def test_escaped_text_holds_nothing_that_markdown_or_html_would_read(text: str) -> None:
    bare = re.sub(r"\\[!-/:-@\[-`{-~]", "", escape(text))
    assert not set(bare) & set("\\`*_[]|<>&~$")


@pytest.mark.parametrize("name", ["a|b", "<script>", "*a* _b_", "`x`", "[a](b)", "a\nb", "a\r# b", "a\\"])
def test_a_name_breaks_neither_table_nor_headings(name: str) -> None:
    lines = to_markdown(run(result(name=name), result(), name=name)).splitlines()
    table = [line for line in lines if line.startswith("|")]
    cells = [re.split(r"(?<!\\)(?:\\\\)*\|", line) for line in table]
    assert len(table) == 4
    assert len({len(row) for row in cells}) == 1, "as many cells in every row as in the header"
    assert [line for line in lines if line.startswith("#")] == [
        f"# {escape(name)}",
        f"## {escape(name)}",
        "## some audit",
    ]


def test_a_violation_is_told_with_pair_event_rates_bound_and_claim() -> None:
    assert finding(result()) == (
        "On the neighbours 0 and 1, the event “output ≤ 0.5” happens at rates 0.75 and 0.25, and “output > 0.5” at 0.25 "
        "and 0.75; this proves ε ≥ 0.770 with 99.90 % confidence, above the claimed ε = 0.5."
    )


def test_no_violation_is_told_with_what_would_have_been_caught() -> None:
    shown = finding(result(**SOUND))
    assert "within the claimed ε = 1" in shown
    assert "on this event, the audit detects ε = 0.650 with 95 % probability" in shown
    blind = finding(result(**SOUND, power={"80%": math.inf, "95%": math.inf}))
    assert "cannot detect any violation" in blind


def test_no_answer_is_told_with_its_reason() -> None:
    shown = result(**{**NO_ANSWER, "stop_reason": "a batch took too long"})
    assert finding(shown) == "No answer: a batch took too long."
    assert (bound_words(shown), pair_words(shown.pair)) == ("–", "–")


@pytest.mark.parametrize("confidence", [0.5, 0.9, 0.95, 0.99, 0.999, 0.9995, 1 - 1e-7, 1 - 2**-53])
def test_a_confidence_is_told_with_the_digits_that_matter(confidence: float) -> None:
    match = re.search(r"with ([0-9.]+) % confidence", finding(result(bound=Bound("epsilon", 0.77, confidence, "m"))))
    assert match is not None
    assert float(match[1]) < 100
    assert 1 - float(match[1]) / 100 == pytest.approx(1 - confidence, rel=0.06)


def test_the_closing_line_counts_what_was_not_as_expected() -> None:
    assert closing_line(run(result(**SOUND))).startswith("some run: every audit ended as expected (1 audit, ")
    assert "2 of 3 audits did NOT end as expected" in closing_line(run(result(), result(), result(**SOUND)))
    assert "a false alarm in at most 1 of 1,000 runs" in closing_line(run(result()))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ([{}], "1 claim violated: “some audit”. Not as expected: “some audit”."),
        (
            [{"expected": Verdict.VIOLATION}, SOUND],
            "1 claim violated: “some audit”; 1 claim not refuted, which does not prove privacy: “some audit”. This is what",
        ),
        ([{}] * 6, f"6 claims violated: {'“some audit”, ' * 3}“some audit” and 2 more. Not"),
        ([SOUND], "1 claim not refuted, which does not prove privacy: “some audit”. This is what was expected."),
        ([SOUND, SOUND], "2 claims not refuted, which does not prove privacy: “some audit”, “some audit”. This is"),
        (
            [SOUND, NO_ANSWER],
            "1 claim not refuted, which does not prove privacy: “some audit”; 1 audit without an answer: “some audit”. Not",
        ),
        ([NO_ANSWER], "1 audit without an answer: “some audit”. Not as expected: “some audit”."),
        ([NO_ANSWER, NO_ANSWER], "2 audits without an answer: “some audit”, “some audit”. Not"),
    ],
)
def test_the_headline_says_no_more_than_the_audits_found(changes: list[dict[str, Any]], message: str) -> None:
    assert run_headline(run(*(result(**change) for change in changes))).startswith(message)


def test_the_summary_tells_what_was_spent_and_whether_it_can_be_repeated() -> None:
    both, printed = run(result(), result(reproducible=False)), io.StringIO()
    print_result(both, Console(file=printed, width=300))
    assert printed.getvalue().count("not all randomness of the mechanism") == 1
    summary = to_markdown(both)
    assert "1,000 to search for the pair, 2,000 to select the event, 30,000 for the bound" in summary
    assert summary.count("not all randomness of the mechanism") == 1
    assert summary.count("seed 7") == 2


# --- Files ---


def test_a_report_and_its_summary_are_written_into_a_new_folder(tmp_path: Path) -> None:
    written, _ = write_reports(run(result()), tmp_path / "deep" / "er")
    assert written == tmp_path / "deep" / "er" / "report.json"
    assert json.loads(written.read_text(encoding="utf-8"))["audits"][0]["name"] == "some audit"
    assert {file.name for file in written.parent.iterdir()} == {"report.json", "report.html", "summary.md"}


def test_a_file_is_replaced_by_the_new_text(tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    for text in ("old and long", "näw"):
        write_whole(file, text)
        assert file.read_text(encoding="utf-8") == text
    assert list(tmp_path.iterdir()) == [file]
    assert file.stat().st_mode & 0o777 == 0o644


@pytest.mark.parametrize("failure", ["text", "write", "rename", "interrupt"])
def test_the_old_file_is_intact_when_writing_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failure: str
) -> None:
    file = tmp_path / "a.txt"
    file.write_text("old", encoding="utf-8")
    error: type[BaseException] = KeyboardInterrupt if failure == "interrupt" else OSError

    def refuse(*_: Any, **__: Any) -> None:
        raise error

    if failure == "text":
        error = UnicodeEncodeError
    elif failure == "rename":
        monkeypatch.setattr(Path, "replace", refuse)
    else:
        monkeypatch.setattr("auditor.results.files.os.fdopen", Broken(error))
    with pytest.raises(error):
        write_whole(file, "new \ud800" if failure == "text" else "new")
    monkeypatch.undo()
    assert file.read_text(encoding="utf-8") == "old"
    assert list(tmp_path.iterdir()) == [file], "nothing is left lying about"


class Broken:
    """Open a file that takes half of the text and then fails, as on a full disk."""

    def __init__(self, error: type[BaseException]) -> None:
        self.error = error

    def __call__(self, handle: int, *args: Any, **keywords: Any) -> "Broken":
        self.file = open(handle, *args, **keywords)  # noqa: SIM115 - a handle, closed below
        return self

    def __enter__(self) -> "Broken":
        return self

    def __exit__(self, *_: object) -> None:
        self.file.close()

    def write(self, text: str) -> None:
        self.file.write(text[: len(text) // 2])
        raise self.error


def test_numpy_numbers_of_a_pair_are_plain_numbers_in_json() -> None:
    entry = result(pair=Pair(np.array([[1, 2]]), (np.float64(0.5), np.int64(3)))).to_dict()
    assert json.loads(to_json(entry))["pair"]["left"] == [[1, 2]]
    assert json.loads(to_json(entry))["pair"]["right"] == [0.5, 3]


def test_long_data_sets_are_shortened() -> None:
    shown = pair_words(Pair(list(range(1000)), list(range(1001))))
    assert len(shown) <= 160
    assert shown.startswith("[… 988, ")
    assert "999] (1,000 in all) and" in shown
    assert shown.endswith("999, 1000] (1,001 in all)")


def test_one_thing_is_no_plural() -> None:
    assert pair_words(Pair([{"name": "x" * 200}], [])).startswith("1 row of name and ")


def test_infinite_bounds_are_told() -> None:
    assert number(math.inf) == "∞"
    assert bound_words(result(bound=Bound("epsilon", math.inf, 0.999, "m"))) == "ε ≥ ∞"


def test_an_event_about_bits_is_said_to_be_one_if_its_side_is_the_one_that_tells() -> None:
    bits = {"description": "exponent of the lowest bit of output ≤ -60", "guess": "left"}
    other = {"description": "output has no bits", "guess": "right", "counts": {"left": [0, 100], "right": [1, 100]}}
    event = event_of({**bits, "counts": {"left": [90, 100], "right": [5, 100]}, "opposite": other})
    assert "the floating-point representation tells the sides apart" in finding(result(event=event))
    likelier = {**other, "counts": {"left": [0, 100], "right": [90, 100]}}
    event = event_of({**bits, "counts": {"left": [5, 100], "right": [4, 100]}, "opposite": likelier})
    assert "floating-point" not in finding(result(event=event))
