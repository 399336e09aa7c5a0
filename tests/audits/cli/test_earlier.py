"""An earlier violation is counted first: still there, smaller or gone; and what a stale or forged report cannot do."""

import json
import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from auditor.auditing import earlier, ledger, recount, rounds
from auditor.auditing.consistent import read_report
from auditor.auditing.earlier import as_text, from_text
from auditor.auditing.outcome import settle
from auditor.auditing.plan import Plan
from auditor.cli import main, report_runs, run_command
from auditor.cli.options import all_commands
from auditor.events.event import Event

MECHANISM = """
import os

def noisy_count(records, size, rng):
    return len(records) + rng.laplace(scale=float(os.environ["SCALE"]), size=size)
"""
CONFIGURATION = """
version: 1
samples: 3_000
prove: false
planted: 0
execution: {workers: 1, isolate: false}
audits:
  - name: count
    mechanism: mine.py:noisy_count
    claim: {epsilon: 1.0}
    neighbours: {domain: records, record: {low: 0, high: 10}, size: {low: 0, high: 6}, relation: add_remove}
"""
REPORT, RUNS = "reports/audit/report.json", "reports/audit/runs.sqlite"


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """Run the configuration with noise of a scale, and return the entry of its audit."""
    monkeypatch.chdir(tmp_path)
    Path("audit.yaml").write_text(CONFIGURATION, encoding="utf-8")
    Path("mine.py").write_text(MECHANISM, encoding="utf-8")

    def runs(scale: float, *options: str, status: int | None = None, out: str = "reports") -> Any:
        monkeypatch.setenv("SCALE", str(scale))
        assert main(["run", "audit.yaml", "--out", out, *options]) in ((0, 1) if status is None else (status,))
        return json.loads(Path(out, "audit", "report.json").read_text(encoding="utf-8"))["audits"][0]

    return runs


def spoil(change: Callable[[Any], None]) -> None:
    whole = json.loads(Path(REPORT).read_text(encoding="utf-8"))
    change(whole["audits"][0])
    Path(REPORT).write_text(json.dumps(whole), encoding="utf-8")


@pytest.mark.parametrize(
    ("scale", "state", "status"),
    [(0.2, "is still there", 1), (0.5, "is smaller", 1), (1.5, "is gone", 0)],
    ids=["unchanged", "improved", "fixed"],
)
def test_a_run_says_what_came_of_a_violation(
    run: Callable[..., Any], capsys: pytest.CaptureFixture[str], scale: float, state: str, status: int
) -> None:
    first = run(0.2, "--samples", "10000", status=1)
    assert "earlier" not in first
    capsys.readouterr()
    again = run(scale, "--samples", "10000", status=status)
    assert f"The violation of the earlier report {state}: on its pair and event, ε is " in again["earlier"]
    assert " ".join(again["earlier"].split()) in " ".join(capsys.readouterr().out.split())
    assert again["earlier"] in Path("reports/audit/summary.md").read_text(encoding="utf-8").replace("\\", "")
    assert again["outputs"]["recount"] >= 2_500
    assert read_report(REPORT).audits[0].earlier == again["earlier"]
    if status:
        assert again["bound"]["value"] > 1


@pytest.mark.parametrize("scale", [0.3, 0.99, 3.0], ids=str)
def test_the_rounds_have_the_whole_level_whatever_an_earlier_report_says(
    run: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, scale: float
) -> None:
    counted = list[Any]()

    def settled(ended: Any, *rest: Any) -> Any:
        counted.extend(audit.answer for audit in ended)
        return settle(ended, *rest)

    run(0.3, status=1)
    monkeypatch.setattr(report_runs, "settle", settled)
    fresh = run(scale, out="elsewhere")
    again = run(scale)
    apart, after = ([(one.share, one.counts, one.bound(0.001)) for one in found.counted] for found in counted)
    assert apart == after
    assert math.fsum(share for share, *_ in after) <= 1 + 1e-12
    assert {**again, "earlier": 0, "outputs": 0} == {**fresh, "earlier": 0, "outputs": 0}
    assert {**again["outputs"], "recount": 0} == {**fresh["outputs"], "recount": 0}


def nearly(run: Callable[..., Any], scale: float) -> tuple[str, ...]:
    """Return options with which the p-value of a violation lies between 80 % and 100 % of its level."""
    [*_, audit] = (
        json.loads(Path("first/audit/report.json").read_text(encoding="utf-8"))["audits"]
        if (run(scale, "--samples", "4000", "--confidence", "0.93", out="first"))
        else []
    )
    return "--samples", "4000", "--confidence", repr(1 - 1.1 * audit["budget"]["p_value"])


@pytest.mark.parametrize("strong", [False, True], ids=["alone", "beside a refuted claim"])
def test_a_run_repeated_ends_as_it_did(run: Callable[..., Any], strong: bool) -> None:
    """The p-value of the violation is between 80 % and 100 % of its level; beside a refuted claim Holm's step-down decides."""
    if strong:
        [audit] = CONFIGURATION.split("audits:\n")[1:]
        beside = audit.replace("name: count", "name: strong").replace("noisy_count", "strong")
        Path("audit.yaml").write_text(CONFIGURATION.replace(audit, beside + audit), encoding="utf-8")
        more = "def strong(records, size, rng):\n    return len(records) + rng.laplace(scale=0.1, size=size)\n"
        Path("mine.py").write_text(MECHANISM + more, encoding="utf-8")
    options = nearly(run, 0.88)
    for _ in range(4):
        run(0.88, *options, status=1)
        *_, audit = json.loads(Path(REPORT).read_text(encoding="utf-8"))["audits"]
        assert audit["verdict"] == "violation"
        assert 0.8 < audit["budget"]["p_value"] / audit["budget"]["allowed_error"] < 1


def test_the_command_that_reproduces_a_violation_does(run: Callable[..., Any]) -> None:
    first = run(0.3, status=1)
    assert first["reproduce"] == "auditor run audit.yaml --only count --seed 0"
    assert run(0.3, "--only", "count", "--seed", "0", status=1, out="elsewhere") == first
    again = run(0.3, "--only", "count", "--seed", "0", status=1)
    assert "is still there" in again.pop("earlier")
    assert again["outputs"].pop("recount")
    assert again == first


def test_without_a_red_report_nothing_changes(run: Callable[..., Any]) -> None:
    green = run(1.5, status=0)
    assert run(1.5, status=0) == green
    assert run(1.5, status=0, out="elsewhere") == green


def test_a_violation_that_was_expected_is_not_red(run: Callable[..., Any]) -> None:
    Path("audit.yaml").write_text(CONFIGURATION + "    expect: violation\n", encoding="utf-8")
    once = run(0.3, status=0)
    assert run(0.3, status=0) == once


STALE: dict[str, tuple[Callable[[Any], None], str]] = {
    "no neighbours": (
        lambda entry: entry["pair"].update(left=[], right=[1.0, 2.0, 3.0]),
        "its pair is not in the domain",
    ),
    "outside the domain": (lambda entry: entry["pair"].update(left=[], right=[11.0]), "its pair is not in the domain"),
    "no rule": (lambda entry: entry["event"].update(rule=None), "not looked at first"),
    "invented counts": (lambda entry: entry["event"]["counts"].update(left=[500, 500]), "contradicts itself"),
    "spoilt": (lambda entry: entry.pop("seed"), "not looked at"),
}


def test_a_report_that_does_not_fit_costs_nothing_and_is_named(
    run: Callable[..., Any], capsys: pytest.CaptureFixture[str]
) -> None:
    fresh = run(1.5, status=0, out="empty")
    run(0.3, status=1)
    red = Path(REPORT).read_bytes()
    for name, (change, why) in STALE.items():
        Path(REPORT).write_bytes(red)
        Path(RUNS).unlink()  # otherwise the violation is found there
        spoil(change)
        capsys.readouterr()
        assert run(1.5, status=0) == fresh, name
        assert why in capsys.readouterr().err, name


def test_a_violation_of_another_claim_is_not_looked_at(
    run: Callable[..., Any], capsys: pytest.CaptureFixture[str]
) -> None:
    run(0.3, status=1)
    Path("audit.yaml").write_text(CONFIGURATION.replace("epsilon: 1.0", "epsilon: 4.0"), encoding="utf-8")
    assert "earlier" not in run(0.3, status=0)
    assert (
        "count: the violation of the earlier report is not looked at first: its claim is ε = 1, but the claim is now ε = 4"
        in (capsys.readouterr().err)
    )


def test_a_rule_about_what_is_not_there_costs_no_audit(run: Callable[..., Any]) -> None:
    run(0.3, status=1)

    def change(entry: Any) -> None:
        entry["event"]["rule"] = json.loads(json.dumps(entry["event"]["rule"]).replace('"output"', '"output[7]"'))

    spoil(change)
    recount = run(1.5, status=0)["earlier"]
    assert re.search(r"is gone: on its pair and event, in [\d,]+ outputs there is none to guess at\.", recount)


def test_a_rule_that_raises_is_no_pass_and_no_alarm(run: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    class Raises(Event):
        def count(self, sample: Any) -> Any:
            raise IndexError("nothing there")

    run(0.3, status=1)
    monkeypatch.setattr(earlier, "frozen_test", Raises.of)
    assert run(1.5, status=3)["earlier"] == (
        "The violation of the earlier report was not tried: its event does not fit the outputs (IndexError: nothing there)."
    )


def test_a_pair_on_which_nothing_is_wrong_raises_no_alarm(run: Callable[..., Any]) -> None:
    """The event is counted on a pair of the domain that does not break the claim, and raises no alarm there."""
    run(0.3, status=1)
    spoil(lambda entry: entry["pair"].update(left=[1.0], right=[1.0, 2.0]))
    printed = run(1.5, status=0)
    assert "earlier" in printed


def test_a_limit_of_seconds_holds_for_the_second_look_however_many_samples_are_allowed(
    run: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A trial says that 600 outputs fit. Without a limit the recount would draw 400,000 before it looks at the time."""
    run(0.2, status=1)
    monkeypatch.setattr(recount, "outputs_at_first", lambda *_: 600.0)
    monkeypatch.setattr(rounds, "outputs_at_first", lambda *_: 400.0)
    monkeypatch.setattr(rounds.Rounds, "_cost", lambda _: (0.0, 1e-3))
    monkeypatch.setattr(ledger.Ledger, "elapsed", lambda _: 0.5)
    audit = run(0.2, "--seconds", "1", "--samples", "1000000000", status=1)
    assert "is still there" in audit["earlier"]
    assert 600 <= audit["outputs"]["recount"] < 4000


@pytest.mark.parametrize("fits", [0, 39, 40, 60], ids=str)
def test_what_was_red_and_was_not_counted_again_is_no_pass(
    fits: int, run: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The violation is recounted not at all, or in too few outputs to settle it, since more do not fit into the time."""
    run(0.8, "--samples", "20000", status=1)
    with monkeypatch.context() as limited:
        limited.setattr(recount, "outputs_at_first", lambda *_: float(fits))
        # The audit itself has few outputs, and misses the violation too.
        limited.setattr(rounds, "outputs_at_first", lambda *_: 100.0)
        limited.setattr(rounds.Rounds, "_cost", lambda _: (10.0, 1.0))
        for _ in range(
            2
        ):  # the second run still counts the violation first, although the run in between gave no answer
            audit = run(0.8, "--seconds", "1", "--samples", "20000", status=3)
            assert audit["verdict"] == "inconclusive"
            assert not audit["passed"]
            assert "raise `seconds`" in audit["stop_reason"]
            assert "✗" in capsys.readouterr().out
            assert read_report(REPORT).audits[0].verdict == "inconclusive"
    assert "is still there" in run(0.8, "--samples", "20000", status=1)["earlier"]


def test_fewer_samples_do_not_settle_what_was_red(run: Callable[..., Any]) -> None:
    run(0.8, "--samples", "20000", status=1)
    for _ in range(2):
        assert "raise `samples`" in run(0.8, "--samples", "100", status=3)["stop_reason"]
    assert "is gone" in run(3.0, "--samples", "2000", status=0)["earlier"]


def test_a_proof_alone_does_not_settle_what_was_red(run: Callable[..., Any]) -> None:
    run(0.3, status=1)
    Path("audit.yaml").write_text(CONFIGURATION.replace("prove: false", "prove: only"), encoding="utf-8")
    audit = run(0.3, status=3)
    assert "set `prove: true`" in audit["stop_reason"]


def test_what_cannot_be_counted_again_is_a_pass_only_after_as_many_outputs(
    run: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The method of two intervals has no rule that could be recounted."""
    Path("audit.yaml").write_text(CONFIGURATION.replace("audits:", "method: two-intervals\naudits:"), encoding="utf-8")
    first = run(0.8, "--samples", "20000", status=1)
    fixed = run(1.5, "--samples", "20000", out="elsewhere", status=0)
    red = Path(REPORT).read_bytes()
    with monkeypatch.context() as limited:
        limited.setattr(rounds, "outputs_at_first", lambda *_: 100.0)
        limited.setattr(rounds.Rounds, "_cost", lambda _: (10.0, 1.0))
        audit = run(0.8, "--seconds", "1", "--samples", "20000", status=3)
        assert f"it was shown by {first['outputs']['bound']:,} outputs, and " in audit["stop_reason"]
        assert "raise `seconds`" in audit["stop_reason"]
    Path(REPORT).write_bytes(red)
    assert run(1.5, "--samples", "20000", status=0) == fixed


def test_a_run_of_another_audit_does_not_wash_a_violation(run: Callable[..., Any]) -> None:
    [audit] = CONFIGURATION.split("audits:\n")[1:]
    Path("audit.yaml").write_text(CONFIGURATION + audit.replace("count", "other"), encoding="utf-8")
    Path("mine.py").write_text(MECHANISM + MECHANISM.replace("noisy_count", "noisy_other"), encoding="utf-8")
    run(0.3, status=1)
    run(0.3, "--only", "other", status=1)
    assert "is still there" in run(0.3, "--only", "count", status=1)["earlier"]


# --- No other stream moves ---

SAME = "pair", "event", "smallest", "exact", "tried"


@pytest.mark.parametrize("scale", [0.3, 1.5], ids=["unrepaired", "repaired"])
def test_a_run_draws_the_same_outputs_whatever_an_earlier_report_says(run: Callable[..., Any], scale: float) -> None:
    Path("audit.yaml").write_text(CONFIGURATION.replace("planted: 0", "planted: 40"), encoding="utf-8")
    fresh = run(scale, out="elsewhere")
    run(0.3, status=1)
    for _ in range(2):
        again = run(scale, status=int(scale < 1))
        assert "earlier" in again or scale > 1
        assert {key: again[key] for key in SAME} == {key: fresh[key] for key in SAME}


def test_the_recount_draws_from_streams_of_its_own_for_each_earlier_finding(
    run: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    counts = list[Any]()
    compared = earlier.Earlier.compared

    def kept(before: Any, after: Any) -> Any:
        counts.append(after)
        return compared(before, after)

    first = run(0.3, status=1)
    red = Path(REPORT).read_bytes()
    monkeypatch.setattr(earlier.Earlier, "compared", kept)
    run(0.3, status=1)
    Path(REPORT).write_bytes(red)
    run(0.3, status=1)
    run(0.3, "--out", "others", "--seed", "5")
    Path(REPORT).write_bytes(Path("others/audit/report.json").read_bytes())
    run(0.3, status=1)
    again, same, other = counts
    assert again == same
    assert again != other
    assert [list(side) for side in again.tables()[0:2]] != [
        first["event"]["counts"]["left"],
        first["event"]["counts"]["right"],
    ]


@pytest.fixture
def missed(run: Callable[..., Any]) -> Any:
    """Leave a red report: one of 5,000 numbers is counted ten times, which only the given pair shows, and the search does not try
    that pair. A scale of 2 or more mends the fault.
    """
    rare = "    hits = sum(abs(r - 7.31) < 1e-9 for r in records) * (float(os.environ['SCALE']) < 2)\n    return 10 * hits + "
    Path("mine.py").write_text(MECHANISM.replace("    return ", rare), encoding="utf-8")
    domain = re.search(r"neighbours: (.*)", CONFIGURATION)
    assert domain is not None
    pairs = CONFIGURATION.replace(domain[1], "{pairs: [{left: [], right: [7.31]}], relation: add_remove}")
    Path("audit.yaml").write_text(pairs, encoding="utf-8")
    run(1.5, status=1)
    Path("audit.yaml").write_text(CONFIGURATION, encoding="utf-8")
    return run(1.5, out="elsewhere", status=0)


def stays_red(run: Callable[..., Any], *options: str) -> None:
    audit = run(1.5, *options, status=3)
    assert (audit["verdict"], audit["passed"]) == ("inconclusive", False)
    assert "is still there: on its pair and event, ε is " in audit["earlier"]
    assert "is still there; mend the mechanism, or raise `samples` to 12,000" in audit["stop_reason"]
    assert read_report(REPORT).audits[0].verdict == "inconclusive"


def test_a_violation_that_the_search_misses_is_no_pass_until_it_is_mended(
    run: Callable[..., Any], missed: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    for _ in range(3):
        stays_red(run)
    assert f"to forget all earlier runs, remove {REPORT} and {RUNS}" in capsys.readouterr().err
    assert "is gone" in run(2.0, status=0)["earlier"]
    assert run(1.5, status=0) == missed


def test_no_option_lets_a_violation_be_forgotten(run: Callable[..., Any], missed: Any) -> None:
    for options in (["--record", "kept"], ["--seed", "0"], ["--resume"], ["--only", "count"], [], ["--seed", "7"]):
        stays_red(run, *options)
    assert main(["replay", "kept", "--check", REPORT]) == 1  # the recording is not of the last run
    assert main(["replay", "kept"]) == 3
    replayed = json.loads(Path("replays/audit/report.json").read_text(encoding="utf-8"))["audits"][0]
    assert "is still there" in replayed["earlier"]
    assert main(["replay", "kept", "--check", "replays/audit/report.json"]) == 0
    again = run(1.5, out="third", status=0)
    assert again == missed


def test_a_replay_is_no_answer_of_a_run(
    run: Callable[..., Any], missed: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    red = Path(REPORT).read_bytes()
    run(3.0, "--record", "kept", out="elsewhere", status=0)
    assert main(["replay", "kept", "--out", "reports"]) == 2
    assert "reports/audit holds the reports of runs" in capsys.readouterr().err
    assert Path(REPORT).read_bytes() == red
    assert main(["replay", "kept"]) == 0
    assert Path(REPORT).read_bytes() == red
    assert main(["replay", "kept", "--json", REPORT]) == 0
    stays_red(run)


@pytest.mark.parametrize("left", ["nothing", "garbage", "half", "foreign", "green", "a forged pair", "another version"])
def test_a_report_that_does_not_fit_hides_none_in_the_store(
    run: Callable[..., Any], missed: Any, capsys: pytest.CaptureFixture[str], left: str
) -> None:
    red = Path(REPORT).read_text(encoding="utf-8")
    whole = json.loads(red)
    words = "looked at"
    match left:
        case "nothing":
            Path(REPORT).unlink()
            words = ""
        case "garbage":
            Path(REPORT).write_bytes(b"\xff\x00garbage")
        case "half":
            Path(REPORT).write_text(red[: len(red) // 2], encoding="utf-8")
        case "foreign":
            Path(REPORT).write_text(json.dumps({**whole, "name": "other"}), encoding="utf-8")
        case "green":
            Path(REPORT).write_bytes(Path("elsewhere/audit/report.json").read_bytes())
            words = ""
        case "a forged pair":
            spoil(lambda entry: entry["pair"].update(left=[], right=[11.0]))
            words = "its pair is not in the domain"
        case _:
            Path(REPORT).write_text(json.dumps({**whole, "version": 99}), encoding="utf-8")
    capsys.readouterr()
    for _ in range(2):
        stays_red(run)
    assert words in capsys.readouterr().err


def test_a_report_without_its_store_is_remembered(run: Callable[..., Any], missed: Any) -> None:
    Path(RUNS).unlink()
    for _ in range(3):
        stays_red(run)
    Path(RUNS).unlink()
    Path(REPORT).unlink()
    assert run(1.5, status=0) == missed


def test_a_claim_that_is_weaker_for_a_while_washes_nothing(run: Callable[..., Any], missed: Any) -> None:
    Path("audit.yaml").write_text(CONFIGURATION.replace("epsilon: 1.0", "epsilon: 4.0"), encoding="utf-8")
    run(1.5, status=0)
    Path("audit.yaml").write_text(CONFIGURATION, encoding="utf-8")
    stays_red(run)


def test_outputs_of_the_recount_are_none_of_the_bound(run: Callable[..., Any]) -> None:
    run(0.3, status=1)
    again = run(1.5, status=0)
    fresh = run(1.5, status=0, out="elsewhere")
    assert again["outputs"].pop("recount") > 0
    assert again["outputs"] == fresh["outputs"]
    assert run(1.5, "--baseline", REPORT, status=0, out="elsewhere") == fresh


def test_resume_after_the_end_is_the_same_run(run: Callable[..., Any], capsys: pytest.CaptureFixture[str]) -> None:
    first = run(0.3, status=1)
    again = run(0.3, "--resume", status=1)
    assert "no run was interrupted, so this is the run from its start" in capsys.readouterr().err
    assert {key: again[key] for key in SAME} == {key: first[key] for key in SAME}
    green = run(1.5, status=0, out="elsewhere")
    assert run(1.5, "--resume", status=0, out="elsewhere") == green


def test_a_run_that_is_resumed_looks_at_what_it_began_with(
    run: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    run(0.3, status=1)
    [red] = read_report(REPORT).audits
    assert from_text(as_text(red)).event == red.event
    begun = list[Plan]()

    def stop(plans: Any, listener: Any) -> Any:
        begun.extend(plans)
        raise KeyboardInterrupt

    monkeypatch.setattr(report_runs, "run_all", stop)
    for options in ([], ["--resume"]):
        with pytest.raises(KeyboardInterrupt):
            run_command.run(all_commands().parse_args(["run", "audit.yaml", *options]))
        Path(REPORT).unlink(missing_ok=True)  # as if the interrupted run had overwritten it with a green report
    one, other = (plan.earlier for plan in begun)
    assert one is not None
    assert other is not None
    assert one.digest == other.digest


def test_a_recording_has_the_recount(run: Callable[..., Any]) -> None:
    run(0.3, status=1)
    assert "is gone" in run(1.5, "--record", "kept", status=0)["earlier"]
    assert main(["replay", "kept", "--check", REPORT]) == 0
    assert main(["replay", "kept", "--out", "again"]) == 0
    assert Path("again/audit/report.json").read_bytes() == Path(REPORT).read_bytes()
