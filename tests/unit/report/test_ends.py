"""The end of a run: exit status and every form of a report agree in each situation."""

import io
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from html.parser import HTMLParser
from typing import Any
from xml.etree import ElementTree

import pytest
from made_results import made, violation
from rich.console import Console

from auditor.bounds.evidence import Bound
from auditor.claims import PureDP, Unclaimed
from auditor.cli.common import STATUS
from auditor.neighbours.pair import Pair, Relation
from auditor.report.ci import annotations, to_junit
from auditor.report.html import to_cards, to_html
from auditor.report.markdown import to_markdown
from auditor.report.phrases import closing_line, closing_line_of_all, run_headline
from auditor.report.terminal import print_result
from auditor.results.files import to_json
from auditor.results.reader import run_from_text
from auditor.results.result import AuditResult, Change, ChangeKind, Comparison, ProofFound, RunResult
from auditor.verdict import End, Verdict

V = Verdict
WITHIN = {"claim": PureDP(1.0), "bound": Bound("epsilon", 0.77, 0.999, "guesses"), "verdict": V.NO_VIOLATION_FOUND}
WEAK = {**WITHIN, "warnings": ("weak: the audit may miss much; raise `samples` to 800",)}
SILENT = {"verdict": V.INCONCLUSIVE, "bound": None, "event": None, "pair": None, "stop_reason": "it took too long"}
PROVED = ProofFound("proved", 0.9, "all data sets of the domain")


def sound(**changes: Any) -> AuditResult:
    return violation(**{**WITHIN, **changes})


def change(kind: str, audit: str = "some audit") -> Change:
    return Change(ChangeKind(kind), audit, f"what is {kind}")


@dataclass(frozen=True)
class Situation:
    """Audits and changes, which of the audits did not end as expected, and the exit status."""

    audits: Sequence[AuditResult]
    ends: Sequence[End]
    status: int
    changes: Sequence[Change] | None = None
    strict: bool = False
    failed_changes: int = field(default=0)


def one(audit: AuditResult, end: End, status: int, **more: Any) -> Situation:
    return Situation([audit], [end], status, **more)


GOOD, SILENCE, FAINT, BAD = End.AS_EXPECTED, End.NO_ANSWER, End.WEAK, End.UNEXPECTED
EARLIER = "The violation of the earlier report"
TABLE = {
    "a pass": one(sound(), GOOD, 0),
    "a pass, strict": one(sound(), GOOD, 0, strict=True),
    "a weak pass": one(sound(**WEAK), GOOD, 0),
    "a weak pass, strict": one(sound(**WEAK), FAINT, 1, strict=True),
    "a proved claim": one(sound(proof=PROVED), GOOD, 0, strict=True),
    "a proved claim is never weak": one(sound(**{**WEAK, "proof": PROVED}), GOOD, 0, strict=True),
    "a violation": one(violation(), BAD, 1),
    "a violation, strict": one(violation(), BAD, 1, strict=True),
    "an expected violation": one(violation(expected=V.VIOLATION), GOOD, 0),
    "an expected violation, strict": one(violation(expected=V.VIOLATION), GOOD, 0, strict=True),
    "an expected violation that was not found": one(sound(expected=V.VIOLATION), BAD, 1),
    "an expected violation that was not found, weak, strict": one(sound(**WEAK, expected=V.VIOLATION), BAD, 1, strict=True),
    "no answer": one(violation(**SILENT), SILENCE, 3),
    "no answer, strict": one(violation(**SILENT), SILENCE, 3, strict=True),
    "no answer where a violation is expected": one(violation(**SILENT, expected=V.VIOLATION), SILENCE, 3),
    "an earlier violation that was not counted again": one(
        violation(**SILENT, earlier=f"{EARLIER} was not tried: its outputs take too long."), SILENCE, 3
    ),
    "an earlier violation that is gone": one(sound(earlier=f"{EARLIER} is gone."), GOOD, 0),
    "an earlier violation that is still there": one(violation(earlier=f"{EARLIER} is still there."), BAD, 1),
    "the seconds ran out": one(sound(**WEAK, stop_reason="1 seconds were over: 40 of 1,000 outputs drawn"), GOOD, 0),
    "the seconds ran out, strict": one(sound(**WEAK, stop_reason="1 seconds were over"), FAINT, 1, strict=True),
    "no claim": one(sound(claim=Unclaimed(), verdict=V.MEASURED, expected=V.MEASURED), GOOD, 0),
    "no claim, strict": one(sound(claim=Unclaimed(), verdict=V.MEASURED, expected=V.MEASURED), GOOD, 0, strict=True),
    "no claim and no answer": one(violation(**SILENT, claim=Unclaimed(), expected=V.MEASURED), SILENCE, 3),
    "no audit": Situation([], [], 3),
    "several, one without an answer": Situation([sound(), violation(**SILENT, name="b")], [GOOD, SILENCE], 3),
    "several, one bad, one without an answer": Situation(
        [violation(), violation(**SILENT, name="b")], [BAD, SILENCE], 1
    ),
    "several, one weak, one without an answer, strict": Situation(
        [sound(**WEAK), violation(**SILENT, name="b")], [FAINT, SILENCE], 1, strict=True
    ),
    "nothing changed": one(sound(), GOOD, 0, changes=[]),
    "worse than the baseline": one(sound(), GOOD, 1, changes=[change("worse")], failed_changes=1),
    "worse twice": one(sound(), GOOD, 1, changes=[change("worse")] * 2, failed_changes=2),
    "worse and no answer": one(violation(**SILENT), SILENCE, 1, changes=[change("worse")], failed_changes=1),
    "better than the baseline": one(sound(), GOOD, 0, changes=[change("better")], strict=True),
    "new since the baseline": one(sound(), GOOD, 0, changes=[change("note")], strict=True),
    "missing since the baseline": one(sound(), GOOD, 1, changes=[change("worse", "gone")], failed_changes=1),
    "not compared": one(sound(), GOOD, 0, changes=[change("not compared")]),
    "not compared, strict": one(
        sound(), GOOD, 1, changes=[change("not compared")] * 2, strict=True, failed_changes=2
    ),
    "an audit called like a change": one(
        sound(name="some audit: worse"), GOOD, 1, changes=[change("worse")] * 2, failed_changes=2
    ),
}  # fmt: skip


def run_of(situation: Situation) -> RunResult:
    audits = [replace(audit, strict=situation.strict) for audit in situation.audits]
    compared = None
    if situation.changes is not None:
        compared = Comparison("old.json", situation.changes, situation.strict)
    return RunResult("run", 0.999, audits, 2.0, compared=compared)


class Text(HTMLParser):
    """The text of a page's body, and the badges on its cards."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.parts, self.skips = list[str](), 0
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.skips += tag in ("style", "details")

    def handle_endtag(self, tag: str) -> None:
        self.skips -= tag in ("style", "details")

    def handle_data(self, data: str) -> None:
        if not self.skips:
            self.parts.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.parts).split())


Form = Callable[[RunResult], tuple[list[bool], bool]]


def terminal(run: RunResult) -> tuple[list[bool], bool]:
    """Return for each audit, and for the run, whether the terminal shows it as expected."""
    printed = io.StringIO()
    print_result(run, Console(file=printed, width=400))
    lines = printed.getvalue().splitlines()
    marks = {audit.name: [line[0] for line in lines if re.match(f"[✓✗]  {audit.name} ", line)] for audit in run.audits}
    for audit in run.audits:
        [line] = [line for line in lines if re.match(f"[✓✗]  {audit.name} ", line)]
        assert ("(expected: " in line) == (not audit.passed)
    return [marks[audit.name] == ["✓"] for audit in run.audits], lines[-1].startswith(
        "run: every audit ended as expected ("
    )


def markdown(run: RunResult) -> tuple[list[bool], bool]:
    text = to_markdown(run)
    rows = [[cell.strip() for cell in line.split("|")] for line in text.splitlines() if re.match(r"\| [✓✗]", line)]
    marks = {row[2]: row[1] for row in rows}
    for row in rows:
        said, wanted = row[-3], row[-2]
        assert (row[1] == "✓") == (said.removesuffix(" (weak)") == wanted.removesuffix(", not weak") and (
            "(weak)" not in said or "not weak" not in wanted
        ))  # fmt: skip
    return [marks[audit.name] == "✓" for audit in run.audits], "every audit ended as expected (" in text.replace(
        "\\", ""
    )


def html(run: RunResult) -> tuple[list[bool], bool]:
    page = to_html(run)
    cards = [re.search(rf'<section class="card ([^"]*)" id="audit-\d+">\s*<header><h2>{audit.name}</h2>(.*?)</header>', page)
             for audit in run.audits]  # fmt: skip
    assert all(cards)
    shown = [card is not None and "unexpected" not in card[1] for card in cards]
    assert shown == [card is not None and "as expected</small>" in card[2] for card in cards]
    alone = to_cards(run.audits)
    assert [alone.count("as expected</small>")] == [sum(shown)]
    headline = re.search(r'<p class="headline ([^"]*)">(.*?)</p>', page)
    assert headline is not None
    is_good = "unexpected" not in headline[1]
    if run.audits:
        assert is_good == headline[2].endswith("This is what was expected.")
    return shown, is_good


def junit(run: RunResult) -> tuple[list[bool], bool]:
    [suite] = ElementTree.fromstring(to_junit(run).encode())
    cases = suite.findall("testcase")
    names = [case.attrib["name"] for case in cases]
    assert len(set(names)) == len(names)
    failures, errors = len(suite.findall("testcase/failure")), len(suite.findall("testcase/error"))
    assert (str(failures), str(errors), str(len(cases))) == tuple(
        suite.attrib[key] for key in ("failures", "errors", "tests")
    )
    passed = {case.attrib["name"]: case.find("failure") is None and case.find("error") is None for case in cases}
    silent = [case.attrib["name"] for case in cases if case.find("error") is not None]
    none = ["no audit was run"] if not run.audits else []
    assert silent == [audit.name for audit in run.audits if audit.verdict is V.INCONCLUSIVE] + none
    return [passed[audit.name] for audit in run.audits], not failures and not errors


def github(run: RunResult) -> tuple[list[bool], bool]:
    errors = [line for line in annotations(run, "a.yaml") if line.startswith("::error")]
    titled = [re.search("title=(.*?)::", line) for line in errors]
    shown = [match[1].replace("%3A", ":") for match in titled if match]
    good = [
        not any(title.startswith(f"{audit.name}: {audit.verdict.replace('_', ' ')}") for title in shown)
        for audit in run.audits
    ]
    return good, not errors


def json(run: RunResult) -> tuple[list[bool], bool]:
    whole = run.to_dict()
    return [audit["passed"] for audit in whole["audits"]], whole["passed"]


FORMS: dict[str, Form] = {
    "terminal": terminal, "markdown": markdown, "html": html, "junit": junit, "github": github, "json": json
}  # fmt: skip


@pytest.mark.parametrize("name", TABLE)
def test_every_form_says_what_the_end_means(name: str) -> None:
    situation = TABLE[name]
    run = run_of(situation)
    assert [audit.end for audit in run.audits] == situation.ends
    assert STATUS[run.end] == situation.status
    assert len(run.failures) == situation.failed_changes
    shown = [end is GOOD for end in situation.ends], situation.status == 0
    for form, says in FORMS.items():
        assert says(run) == shown, form
    # A report that was read back says the same, as `auditor show` prints it.
    stored = run_from_text(to_json(run.to_dict()))
    assert stored.compared == run.compared
    for form, says in FORMS.items():
        assert says(stored) == shown, f"{form} of the stored report"
    assert to_json(stored.to_dict()) == to_json(run.to_dict())
    assert closing_line(run).startswith("run: every audit ended as expected (") == shown[1]
    assert closing_line_of_all([run, run]).split(": ", 1)[1].startswith("every audit ended as expected (") == shown[1]


@pytest.mark.parametrize("name", [name for name in TABLE if TABLE[name].changes])
def test_every_form_names_the_changes(name: str) -> None:
    situation = TABLE[name]
    run = run_of(situation)
    printed = closing_line(run)
    number = situation.failed_changes
    assert (f"{number} change{'s' * (number > 1)} since old.json fail" in printed) == (number > 0)
    for change_ in situation.changes or ():
        assert change_.what in to_markdown(run)
        assert change_.what in Text(to_html(run)).text
        assert (change_.what in to_junit(run)) == (change_ in run.failures)


def test_a_report_without_strict_and_baseline_is_as_before() -> None:
    whole = run_of(TABLE["a weak pass"]).to_dict()
    assert "compared" not in whole
    assert "strict" not in whole["audits"][0]


# --- A pass with a proof ---


@pytest.mark.parametrize(
    ("audits", "message"),
    [
        ([sound(proof=PROVED)], "1 claim proved, over the reals: “some audit”. This is what was expected."),
        ([sound(proof=PROVED), sound(proof=PROVED)], "2 claims proved, over the reals: “some audit”, “some audit”. This is"),
        (
            [sound(proof=PROVED), sound(name="b")],
            "1 claim proved, over the reals: “some audit”; 1 claim not refuted, which does not prove privacy: “b”. This",
        ),
        (
            [sound(proof=PROVED), violation(**SILENT, name="b")],
            "1 claim proved, over the reals: “some audit”; 1 audit without an answer: “b”.",
        ),
        ([sound(proof=replace(PROVED, status="proved_for_pairs", pairs=2))], "1 claim not refuted, which does not prove privacy"),
    ],
)  # fmt: skip
def test_a_headline_says_what_is_proved(audits: list[AuditResult], message: str) -> None:
    assert run_headline(RunResult("run", 0.999, audits)).startswith(message)


def test_the_page_of_a_proved_claim_does_not_say_that_nothing_is_proved() -> None:
    page = to_html(RunResult("run", 0.999, [sound(proof=PROVED)]))
    assert "does not prove privacy" not in page
    assert "is not a proof of privacy, unless the audit says that its claim is proved." in page
    assert "pairs that the search did not reach" not in page
    assert "is not a proof of privacy. " in to_html(RunResult("run", 0.999, [made(**WITHIN)]))


# --- Code in messages ---

CODED = "raise `samples` to 8, or leave `a_b*c` out; a lone ` and <b>"


@pytest.mark.parametrize(
    "changes",
    [{"warnings": (CODED,)}, {"earlier": CODED}, {**SILENT, "stop_reason": CODED}],
    ids=["warning", "earlier", "reason"],
)
def test_what_a_message_writes_between_backticks_is_code(changes: dict[str, Any]) -> None:
    audit = sound(**changes) if "verdict" not in changes else violation(**changes)
    page, text = to_html(RunResult("run", 0.999, [audit])), to_markdown(RunResult("run", 0.999, [audit]))
    assert "raise <code>samples</code> to 8, or leave <code>a_b*c</code> out; a lone ` and &lt;b&gt;" in page
    assert page.count("`") == page.count("a lone `")
    assert "raise `samples` to 8, or leave `a_b*c` out; a lone \\` and \\<b\\>" in text


def test_backticks_of_data_stay_as_they_are() -> None:
    audit = violation(pair=Pair(["`x`"], ["`y`"], Relation.SUBSTITUTE))
    page, text = to_html(RunResult("run", 0.999, [audit])), to_markdown(RunResult("run", 0.999, [audit]))
    assert "<code>x</code>" not in page
    assert "`x`" in Text(page).text
    assert "\\`x\\`" in text
