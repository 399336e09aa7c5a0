"""The command line: exit statuses, printed text, and report.json, which contains everything a reader needs."""

import io
import re
import shlex
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from command_line import (
    ALL,
    BROKEN,
    FAILING,
    KNOWN,
    MECHANISM,
    MECHANISMS,
    MISSED,
    SOUND,
    Folder,
    audit,
    config,
    parsed,
)
from rich.console import Console

import auditor
from auditor.auditing.plan import Plan, Progress
from auditor.blackbox.batches import Phase
from auditor.blackbox.mechanism import PythonSource
from auditor.bounds.divergences import Wager, divergence_bound
from auditor.bounds.evidence import Counts, GuessCounts, ScoreCounts
from auditor.bounds.guesses import guess_epsilon, guess_mu
from auditor.bounds.intervals import clopper_pearson_lower, clopper_pearson_upper, two_intervals_epsilon
from auditor.claims import PureDP
from auditor.cli import INSTEAD, main, progress
from auditor.neighbours.domains import Pairs


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Folder]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    (tmp_path / "mechanisms_of_the_test.py").write_text(MECHANISMS, encoding="utf-8")
    yield Folder(tmp_path)


# --- Exit statuses ---

STATUSES: list[tuple[str, list[str], int]] = [
    ("a sound mechanism", [SOUND], 0),
    ("an expected violation", [KNOWN], 0),
    ("both", [SOUND, KNOWN], 0),
    ("an unexpected violation", [BROKEN], 1),
    ("an expected violation not found", [MISSED], 1),
    ("one of several not as expected", [SOUND, BROKEN, KNOWN], 1),
    ("no answer", [FAILING], 3),
    ("no answer beside sound ones", [SOUND, FAILING, KNOWN], 3),
    ("a violation is worse than no answer", [FAILING, BROKEN], 1),
    ("a mechanism that ends the program", [audit("leaving", "leaving")], 3),
]


@pytest.mark.parametrize(("audits", "status"), [s[1:] for s in STATUSES], ids=[s[0] for s in STATUSES])
def test_the_exit_status_tells_whether_all_ended_as_expected(folder: Folder, audits: list[str], status: int) -> None:
    assert folder.run(config(*audits)) == status
    assert folder.report()["passed"] == (status == 0)


@pytest.mark.parametrize("order", [[0, 1, 3], [3, 1, 0], [1, 3], [0, 3], [0]])
def test_of_several_configurations_the_worst_status_counts(folder: Folder, order: list[int]) -> None:
    text = {0: config(SOUND), 1: config(BROKEN), 3: config(FAILING)}
    files = [folder.write(f"status{status}.yaml", text[status]) for status in order]
    assert main(["run", *files]) == (1 if 1 in order else max(order))
    assert all(folder.report(f"status{status}")["audits"] for status in order)


@pytest.mark.parametrize(
    ("function", "why"), [("short", "the first axis of the result must be size"), ("seeded", "repeats itself")]
)
def test_a_mechanism_that_cannot_be_audited_costs_its_own_audit_only(
    folder: Folder, capsys: pytest.CaptureFixture[str], function: str, why: str
) -> None:
    assert folder.run(config(audit("refused", function), SOUND)) == 3
    refused, sound = folder.report()["audits"]
    assert (refused["verdict"], sound["verdict"]) == ("inconclusive", "no_violation_found")
    assert why in refused["stop_reason"]
    assert why in " ".join(capsys.readouterr().out.split())


def test_a_defect_of_the_auditor_is_no_answer_and_no_violation(
    folder: Folder, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """An uncaught exception would end with Python's own status, 1, which says that a violation was found."""
    with monkeypatch.context() as patched:
        patched.setattr("auditor.auditing.parallel.carry_out", lambda *_, **__: 1 / 0)
        assert folder.run(config(SOUND)) == 3
    [entry] = folder.report()["audits"]
    assert entry["verdict"] == "inconclusive"
    assert "the audit ended in an error, ZeroDivisionError: division by zero (" in entry["stop_reason"]
    monkeypatch.setattr("auditor.cli.report_runs.settle", lambda *_: 1 / 0)
    assert folder.run(config(SOUND)) == 3
    errors = capsys.readouterr().err
    assert "ZeroDivisionError" in errors
    assert "internal error (above); no verdict" in errors


BAD: list[tuple[str, Callable[[Folder], list[str]], str]] = [
    ("no file", lambda f: ["nowhere.yaml"], "there is no file nowhere.yaml"),
    ("a mechanism", lambda f: ["some.py:count"], "some.py:count is a mechanism, not a configuration; `auditor init"),
    ("not YAML", lambda f: [f.write("a.yaml", "[")], "line 2: this is not YAML"),
    ("an unknown key", lambda f: [f.write("a.yaml", config(SOUND, more="sampels: 5"))], 'did you mean "samples"'),
    (
        "no file",
        lambda f: [f.write("a.yaml", config(SOUND).replace("of_the_test", "x"))],
        'a.yaml, line 8, audit "sound": there is no file',
    ),
    (
        "no program",
        lambda f: [f.write("a.yaml", config(SOUND).replace(MECHANISM, "{command: [nodde, -x]}"))],
        'a.yaml, line 8, audit "sound": command "nodde -x": the program nodde was not found',
    ),
    ("no function", lambda f: [f.write("a.yaml", config(SOUND).replace(":laplace", ":laplase"))], '"laplace"'),
    ("a parameter", lambda f: [f.write("a.yaml", config(SOUND).replace("{}", "{skale: 1}"))], "'skale'"),
    (
        "an audit",
        lambda f: [f.write("a.yaml", config(SOUND)), "--only", "sund"],
        'is called "sund"; did you mean "sound"',
    ),
    ("few samples", lambda f: [f.write("a.yaml", config(SOUND)), "--samples", "5"], "samples is 5"),
    ("a negative seed", lambda f: [f.write("a.yaml", config(SOUND)), "--seed", "-1"], "seed is -1"),
    ("no workers", lambda f: [f.write("a.yaml", config(SOUND)), "--workers", "0"], "workers is 0"),
    ("two of one name", lambda f: [f.write("a.yaml", config(SOUND)), str(f.path / "a.yaml")], 'are called "a"'),
    (
        "out is a file",
        lambda f: [f.write("a.yaml", config(SOUND)), "--out", f.write("f", "")],
        "reports cannot go to f",
    ),
    (
        "the report is a folder",
        lambda f: [f.write("a.yaml", config(SOUND)), "--out", str(f.folder("o/a/report.json").parents[1])],
        "o/a/report.json is a folder; remove it",
    ),
]


@pytest.mark.parametrize(("arguments", "why"), [b[1:] for b in BAD], ids=[b[0] for b in BAD])
def test_bad_input_is_status_2_told_in_one_line_without_a_traceback(
    folder: Folder, capsys: pytest.CaptureFixture[str], arguments: Callable[[Folder], list[str]], why: str
) -> None:
    assert main(["run", *arguments(folder)]) == 2
    errors = capsys.readouterr().err
    assert errors.startswith("auditor: ")
    assert why in errors.replace(f"{folder.path}/", "")
    assert "Traceback" not in errors


@pytest.mark.parametrize(
    "arguments",
    [[], ["rum"], ["run"], ["run", "a.yaml", "--smaples", "5"], ["run", "a.yaml", "--samples", "many"], ["check"]],
)
def test_a_command_line_that_cannot_be_read_is_status_2(arguments: list[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == 2


@pytest.mark.parametrize(("arguments", "why"), [b[1:] for b in BAD[:-3]], ids=[b[0] for b in BAD[:-3]])
def test_bad_input_writes_nothing_over_an_existing_report(
    folder: Folder, arguments: Callable[[Folder], list[str]], why: str
) -> None:
    """This includes the reports of valid configurations on the same command line."""
    old = [folder.path / "reports" / name / file for name in ("a", "good") for file in ("report.json", "summary.md")]
    for file in old:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("old", encoding="utf-8")
    bad = arguments(folder)
    assert main(["run", folder.write("good.yaml", config(SOUND)), *bad]) == 2
    assert {file.read_text(encoding="utf-8") for file in old} == {"old"}


# --- report.json ---

# The keys of the contract, and those beyond it: a new one is added here, so that none appears or vanishes unnoticed.
TOP = {"version", "auditor", "passed", "verdict", "audits"}
TOP_BEYOND = {"name", "confidence", "budget"}
ENTRY = {"name", "verdict", "expected", "passed", "claim", "bound", "pair", "event", "outputs", "power", "seed"}
ENTRY |= {"stop_reason", "reproducible"}
ENTRY_BEYOND = {"mechanism", "weak", "budget", "exact", "smallest", "reproduce", "warnings", "tried", "illustration"}
EVENT_BEYOND = {"guess", "looks_at", "form", "opposite", "rule"}
KINDS: dict[type, set[str]] = {
    int: {"version", "seed"},
    bool: {"passed", "weak", "reproducible"},
    str: {"auditor", "verdict", "expected", "name", "stop_reason"},
    dict: {"claim"},
}


def test_report_json_has_exactly_the_keys_of_the_contract(folder: Folder) -> None:
    folder.run(config(SOUND, KNOWN, FAILING))
    report = folder.report()
    assert set(report) == TOP | TOP_BEYOND
    assert (report["version"], report["auditor"], report["name"]) == (1, auditor.__version__, "some")
    for entry in report["audits"]:
        # A pair is not a domain, so a brief attempt reports no proof.
        assert set(entry) == ENTRY | ENTRY_BEYOND
        assert set(entry["outputs"]) == {"search", "selection", "bound", "shrink"}
    for part in (report, *report["audits"]):
        assert all(isinstance(part[key], kind) for kind, keys in KINDS.items() for key in keys & set(part))
    sound, expected, failing = report["audits"]
    for entry in (sound, expected):
        assert set(entry["bound"]) == {"quantity", "value", "confidence", "method", "side"}
        assert set(entry["pair"]) == {"left", "right", "relation"}
        assert set(entry["event"]) == {"description", "counts"} | EVENT_BEYOND
        assert set(entry["event"]["counts"]) == {"left", "right"}
        assert set(entry["power"]) == {"80%", "95%"}
        assert entry["claim"] == {"epsilon": 1.0}
        assert all(isinstance(n, int) for side in entry["event"]["counts"].values() for n in side)
    assert [failing[key] for key in ("bound", "event", "power")] == [None] * 3
    assert (
        failing["stop_reason"]
        == "the mechanism failed on every call: raises ValueError: 'no such luck'; data sets arrive as int"
    )
    assert [entry["verdict"] for entry in report["audits"]] == ["no_violation_found", "violation", "inconclusive"]
    assert report["verdict"] == "violation"


def guess_counts(event: dict[str, Any]) -> GuessCounts:
    """Reassemble the counts of a report from its content alone."""
    events = [event, event["opposite"]] if event["opposite"] else [event]
    by_side = {part["guess"]: Counts(*part["counts"]["left"], *part["counts"]["right"]) for part in events}
    trials = (event["counts"]["left"][1], event["counts"]["right"][1])
    none = Counts(0, trials[0], 0, trials[1])
    return GuessCounts(by_side.get("left", none), by_side.get("right", none), one_tailed=len(by_side) == 1)


def recomputed(entry: dict[str, Any]) -> float:
    """Return the bound of an audit from its entry in report.json alone."""
    claim, bound, event = entry["claim"], entry["bound"], entry["event"]
    alpha, delta = (1 - bound["confidence"]) * entry["budget"].get("share", 1), claim.get("delta", 0.0)
    if "probability" in claim:
        hits, trials = event["counts"]["left"]
        limits = (clopper_pearson_lower(hits, trials, alpha), clopper_pearson_upper(hits, trials, alpha))
        return min(map(float, limits), key=lambda limit: abs(limit - bound["value"]))
    if "values" in event and "order" in event:
        wager = Wager(event["order"], tuple(event["values"]), event["swapped"], event["stake"], event["tilt"])
        counts = ScoreCounts(tuple(event["counts"]["left"]), tuple(event["counts"]["right"]))
        divergence = divergence_bound(wager, counts, alpha)
        return divergence / event["order"] if "rho" in claim else divergence
    counts_of_guesses = guess_counts(event)
    if bound["method"] == "two-intervals":
        left = event["guess"] == "left"
        return two_intervals_epsilon(
            counts_of_guesses.left if left else counts_of_guesses.right.swap_sides(), delta, alpha
        )
    if "mu" in claim:
        return guess_mu(counts_of_guesses, alpha)
    return guess_epsilon(counts_of_guesses, delta, alpha)


CLAIMS = [
    ("laplace", "{epsilon: 1.0}", "fixed"),
    ("laplace", "{epsilon: 1.0, delta: 0.01}", "fixed"),
    ("laplace", "{epsilon: 1.0}", "two-intervals"),
    ("laplace", "{epsilon: 1.0, delta: 0.01}", "two-intervals"),
    ("gaussian", "{mu: 1.0}", "fixed"),
    ("gaussian", "{rho: 0.5}", "fixed"),
    ("gaussian", "{order: 2, epsilon: 1.0}", "fixed"),
    ("coin", "{probability: 0.5, at_most: true}", "fixed"),
    ("coin", "{probability: 0.9, at_most: true}", "fixed"),
    ("coin", "{probability: 0.9, at_least: true}", "fixed"),
]


@pytest.mark.parametrize(("function", "claim", "method"), CLAIMS, ids=[f"{c} {m}" for _, c, m in CLAIMS])
def test_every_bound_can_be_recomputed_from_its_report(folder: Folder, function: str, claim: str, method: str) -> None:
    """From integers, the confidence and the round's share; alpha is 1 − confidence up to one rounding."""
    neighbours = f"{{pairs: [{{left: {len(claim) % 2}, right: {1 - len(claim) % 2}}}]}}"  # the guess is left or right
    other = audit("another, that shares the budget", "laplace")
    text = config(audit("a", function, claim, neighbours=neighbours), other, more=f"method: {method}")
    if method == "two-intervals":
        text = text.replace(other, "")
    folder.run(text)
    entry = folder.report()["audits"][0]
    assert entry["bound"]["value"] > 0 or "probability" in claim
    assert recomputed(entry) == pytest.approx(entry["bound"]["value"], rel=1e-6, abs=1e-9)


def test_an_audit_draws_the_same_whichever_others_run_with_it(folder: Folder) -> None:
    folder.run(config(*ALL))
    together = {entry["name"]: entry["event"] for entry in folder.report()["audits"]}
    folder.run(config(*ALL), "--only", "mixed", "--out", "elsewhere")
    [alone] = folder.report(out="elsewhere")["audits"]
    assert alone["pair"] is not None
    assert alone["event"]["counts"]["left"][1] == together["mixed"]["counts"]["left"][1]


def test_json_stays_standard_with_infinite_numbers_and_nan(folder: Folder) -> None:
    neighbours = "{pairs: [{left: .nan, right: -.inf}]}"
    folder.run(config(audit("a", "nothing", "{epsilon: 50}", neighbours=neighbours)))
    [entry] = folder.report()["audits"]
    assert entry["pair"] == {"left": "NaN", "right": "-Infinity", "relation": "as_given"}
    assert entry["power"] == {"80%": "Infinity", "95%": "Infinity"}


@pytest.mark.parametrize("name", ["a[/]b", "[bold]a", "a|b", "<i>", "`x`", "Ünï ✓", "a\\", "[/red]", "no"])
def test_any_name_is_printed_and_kept_as_it_is(folder: Folder, capsys: pytest.CaptureFixture[str], name: str) -> None:
    assert folder.run(config(audit(f"'{name}'", "laplace", parameters="{scale: 0.3}"))) == 1
    assert folder.report()["audits"][0]["name"] == name
    assert capsys.readouterr().out.count(name) >= 3


# --- Options ---


def test_a_part_of_names_means_all_that_have_it_unless_it_is_a_name(folder: Folder) -> None:
    text = config(SOUND, SOUND.replace("name: sound", "name: sound too"), BROKEN, KNOWN)
    for asked, run in ((["Sound"], ["sound", "sound too"]), (["sound"], ["sound"]), (["sound", "known"],) * 2):
        assert folder.run(text, *(word for name in asked for word in ("--only", name))) == 0
        assert [audit["name"] for audit in folder.report()["audits"]] == run


def test_traceback_may_stand_behind_the_command(folder: Folder, capsys: pytest.CaptureFixture[str]) -> None:
    file = str(folder.write("a.yaml", config(SOUND)))
    for arguments in (["--traceback", "run", file], ["run", file, "--traceback"]):
        assert main([*arguments, "--only", "nothing like it"]) == 2
        assert "Traceback" in capsys.readouterr().err
    assert main(["run", file, "--only", "nothing like it"]) == 2
    assert "Traceback" not in capsys.readouterr().err


def test_only_leaves_configurations_without_such_an_audit_alone(folder: Folder) -> None:
    files = [folder.write("one.yaml", config(SOUND)), folder.write("two.yaml", config(BROKEN))]
    assert main(["run", *files, "--only", "sound"]) == 0
    assert not (folder.path / "reports" / "two").exists()


def test_samples_out_and_seed_overrule_the_file(folder: Folder) -> None:
    assert folder.run(config(SOUND), "--samples", "500", "--out", "elsewhere", "--seed", "8") == 0
    [entry] = folder.report(out="elsewhere")["audits"]
    assert (entry["outputs"]["bound"], entry["seed"]) == (500, 8)
    assert not (folder.path / "reports").exists()


def test_quiet_says_why_there_is_no_answer(folder: Folder, capsys: pytest.CaptureFixture[str]) -> None:
    folder.run(config(SOUND, FAILING), "--quiet")
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 2
    assert lines[1].startswith("failing: no answer: ")
    assert "no such luck" in lines[1]


def test_every_audit_of_a_file_tells_the_command_that_repeats_it(folder: Folder) -> None:
    folder.run(config(SOUND, KNOWN, FAILING))
    first = folder.report()["audits"]
    commands = [entry["reproduce"] for entry in first]
    assert all(command.startswith("auditor run ") for command in commands)
    assert main([*shlex.split(commands[0])[1:], "--out", "again"]) == 0
    [again] = folder.report(out="again")["audits"]
    assert again["event"] == first[0]["event"]


def test_json_on_standard_output_leaves_nothing_else_there(folder: Folder, capsys: pytest.CaptureFixture[str]) -> None:
    for more in ([], ["--quiet"]):
        assert folder.run(config(SOUND, BROKEN), "--json", "-", *more) == 1
        shown = capsys.readouterr()
        assert parsed(shown.out) == folder.report()
        assert "1 of 2 audits did NOT end as expected" in shown.err


def test_json_goes_to_a_file_as_well(folder: Folder, capsys: pytest.CaptureFixture[str]) -> None:
    assert folder.run(config(SOUND), "--json", "a.json") == 0
    assert parsed((folder.path / "a.json").read_text(encoding="utf-8")) == folder.report()
    assert "every audit ended as expected" in capsys.readouterr().out


def test_json_of_several_configurations_is_refused(folder: Folder, capsys: pytest.CaptureFixture[str]) -> None:
    files = [folder.write(name, config(SOUND)) for name in ("a.yaml", "b.yaml")]
    assert main(["run", *files, "--json", "-"]) == 2
    assert "--json takes the report of one configuration; this run has 2" in capsys.readouterr().err
    assert not (folder.path / "reports" / "a" / "report.json").exists()


@pytest.mark.parametrize("data", ["\ud800", "a\x1b[31mb", "<i>"])
def test_data_that_no_file_can_hold_costs_no_result(folder: Folder, data: str) -> None:
    folder.write("data_of_the_test.py", f"def pairs():\n    yield {data!a}, 'x'\n")
    neighbours = "{generator: data_of_the_test.py:pairs}"
    assert folder.run(config(audit("a", "nothing", neighbours=neighbours))) == 0
    assert folder.report()["audits"][0]["pair"]["left"] == data
    page = (folder.path / "reports" / "some" / "report.html").read_text(encoding="utf-8")
    assert data not in page


def test_a_name_that_no_file_can_hold_is_bad_input(folder: Folder, capsys: pytest.CaptureFixture[str]) -> None:
    assert folder.run(config(audit('"\\ud800"', "laplace"))) == 2
    assert "line 7: this is not YAML: found invalid Unicode character escape code" in capsys.readouterr().err


# --- Stored reports ---


def test_show_prints_what_run_printed(folder: Folder, capsys: pytest.CaptureFixture[str]) -> None:
    folder.run(config(SOUND, KNOWN, FAILING))
    printed = capsys.readouterr().out
    (folder.path / "mechanisms_of_the_test.py").unlink()
    assert main(["show", "reports/some/report.json"]) == 0
    shown = capsys.readouterr().out
    assert shown.strip()
    for beside in ("", "/report.html", "/summary.md"):
        assert main(["show", f"reports/some{beside}"]) == 0
        assert capsys.readouterr().out == shown
    assert shown.split("   audit", 1)[1].splitlines()[:-1] == printed.split("   audit", 1)[1].splitlines()[:-2]


def test_show_writes_the_page_and_the_summary_that_run_wrote(
    folder: Folder, capsys: pytest.CaptureFixture[str]
) -> None:
    folder.run(config(*ALL))
    beside = folder.path / "reports" / "some"
    assert main(["show", str(beside / "report.json"), "--html", "page.html", "--markdown", "summary.md"]) == 0
    # Seconds are rounded in the file, and printed as whole numbers.
    assert Path("page.html").read_text(encoding="utf-8") == (beside / "report.html").read_text(encoding="utf-8")
    assert Path("summary.md").read_text(encoding="utf-8") == (beside / "summary.md").read_text(encoding="utf-8")
    capsys.readouterr()
    assert main(["show", str(beside / "report.json"), "--markdown", "-"]) == 0
    assert capsys.readouterr().out == (beside / "summary.md").read_text(encoding="utf-8")


# --- Progress ---


def progress_plans(*names: str) -> list[Plan]:
    return [Plan(name, PythonSource("m"), PureDP(1.0), Pairs([(0, 1)]), 0.001) for name in names]


@pytest.mark.parametrize(("terminal", "width"), [(True, 120), (True, 60), (False, 120)])
def test_progress_tells_phase_and_rate_on_a_terminal_only_and_no_bound(terminal: bool, width: int) -> None:
    written = io.StringIO()
    console = Console(file=written, force_terminal=terminal, width=width, color_system=None)
    line = progress.ProgressLines(console, progress_plans("an [audit]", "another"))
    with line:
        for done in (258_000, 267_000):
            line.show(Progress("an [audit]", Phase.BOUND, done, 300_000))
        line.refresh()
    shown = ["1/2 an [audit]", "267k of 300k", *(["bound"] if width > 60 else [])]
    assert [part in written.getvalue() for part in shown] == [terminal] * len(shown)
    assert "≥" not in written.getvalue()


def test_without_a_terminal_progress_is_a_line_a_minute(monkeypatch: pytest.MonkeyPatch) -> None:
    time_now = 0.0
    monkeypatch.setattr(progress.time, "monotonic", lambda: time_now)
    written = io.StringIO()
    line = progress.ProgressLines(Console(file=written, width=120), progress_plans("some [audit]"))
    with line:
        line.show(Progress("some [audit]", Phase.CHECK, 0, 0, seconds=200.4))
        for time_now in (0.0, 9.0):
            line.show(Progress("some [audit]", Phase.SEARCH, round(430 * time_now), 4000))
        for time_now in (0.0, 4.0, 6.0, 30.0, 90.0, 100.0, 160.0):
            line.show(Progress("some [audit]", Phase.BOUND, round(20 * time_now), 4000))
    assert written.getvalue().splitlines() == [
        "  some [audit]: about 200 s if no other audit runs",
        "  some [audit]: bound, 120 of 4k, about 194 s left in it",
        "  some [audit]: bound, 2k of 4k, about 110 s left in it",
        "  some [audit]: bound, 3k of 4k, about 40 s left in it",
    ]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_terminal_gets_lines_that_break_between_words_and_a_file_gets_them_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    missing, terminal = tmp_path / "no such file.yaml", Terminal()
    assert main(["check", str(missing)]) == 2
    whole = capsys.readouterr().err.rstrip("\n")
    monkeypatch.setenv("COLUMNS", "30")
    monkeypatch.setattr("sys.stderr", terminal)
    assert main(["check", str(missing)]) == 2
    lines = terminal.getvalue().splitlines()
    assert len(lines) > 2
    assert " ".join(lines) == whole


def test_the_version_is_that_of_the_package(capsys: pytest.CaptureFixture[str]) -> None:
    from importlib.metadata import version

    with pytest.raises(SystemExit):
        main(["--version"])
    assert capsys.readouterr().out.strip() == f"auditor {auditor.__version__}" == f"auditor {version('dp-auditor')}"


def test_plan_foresees_without_drawing_anything(folder: Folder, capsys: pytest.CaptureFixture[str]) -> None:
    text = config(audit("query", "total", "{sensitivity: 1}"), audit("'pair[/]'", "interrupted"))
    assert main(["plan", folder.write("some.yaml", text)]) == 0
    shown = capsys.readouterr().out
    for part in ("2,000", "80%", "95%", "one counterexample refutes the claim", "pair[/]"):
        assert part in shown


def test_options_of_a_command_are_told_their_place(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["init", "awk", "-f", "count.awk"])
    assert ended.value.code == 2
    assert 'options of a command go behind "--": auditor init -- awk -f count.awk' in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["run", "a.yaml", "--smaples", "5"])
    assert "unrecognized arguments: --smaples 5\n" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "instead"),
    [
        (["plan", "a.yaml", "--stages"], "report.html and report.json list the stages of a search"),
        (["run", "a.yaml", "--html", "page.html"], "`auditor show REPORT.json --html FILE`"),
        (["run", "a.yaml", "--markdown=page.md"], "`auditor show REPORT.json --markdown FILE`"),
    ],
)
def test_an_option_that_is_gone_names_what_to_do_instead(
    arguments: list[str], instead: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2
    errors = capsys.readouterr().err
    assert "unrecognized arguments: --" in errors
    assert instead in errors


@pytest.mark.parametrize("command", INSTEAD)
def test_a_command_that_is_gone_is_unknown_and_named_with_what_serves(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--traceback", command, "a.yaml"])
    assert ended.value.code == 2
    assert f'there is no command "{command}"; write {INSTEAD[command]}' in capsys.readouterr().err


def test_any_name_of_a_file_and_a_folder_is_printed_as_it_is(
    folder: Folder, capsys: pytest.CaptureFixture[str]
) -> None:
    file = folder.write("a[b].yaml", config(SOUND))
    assert main(["run", file, "--out", "[red]x"]) == 0
    shown = capsys.readouterr().out
    assert "a[b]: every audit ended as expected" in shown
    assert "report: [red]x/a[b]/report.html" in shown


def test_several_files_end_with_a_total_and_where_their_reports_are(
    folder: Folder, capsys: pytest.CaptureFixture[str]
) -> None:
    files = [folder.write("one.yaml", config(SOUND, KNOWN)), folder.write("two.yaml", config(SOUND))]
    assert main(["run", *files, "--quiet"]) == 0
    last = capsys.readouterr().out.splitlines()[-1]
    assert re.fullmatch(
        r"all 2 configurations, 3 audits: every audit ended as expected \(\d+ s\); reports: reports", last
    )


def test_json_over_a_folder_is_told(folder: Folder, capsys: pytest.CaptureFixture[str]) -> None:
    assert folder.run(config(SOUND), "--json", ".") == 2
    assert "--json . is a folder; give another name" in capsys.readouterr().err
