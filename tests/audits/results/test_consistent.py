"""Every reader that decides refuses a report that contradicts itself, and names the place, the value and what follows instead."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from every_kind import every_kind

from auditor.auditing.consistent import read_report, recounted
from auditor.cli import main
from auditor.errors import InvalidInputError
from auditor.results.files import to_json

Report = dict[str, Any]


def honest(*names: str) -> Report:
    """Return a report of some audits, or of all."""
    run = every_kind()
    some = replace(run, audits=[audit for audit in run.audits if audit.name in names or not names])
    report: Report = json.loads(to_json(recounted(some).to_dict()))
    return report


def at(name: str, *way: Any, value: Any) -> tuple[Report, Report]:
    """Return a report of one audit (of two, without a name), and a copy with another value at a place; `...` deletes the value."""
    report, edited = (honest(*([name] if name else ["sound", "broken"])) for _ in range(2))
    inner = edited["audits"][0] if name else edited
    for step in way[:-1]:
        inner = inner[step]
    inner[way[-1]] = value
    if value is ...:
        del inner[way[-1]]
    return report, edited


PASS, FOUND = "no_violation_found", "violation"
EDITS: dict[str, tuple[Callable[[], tuple[Report, Report]], str]] = {
    "a bound beyond all": (lambda: at("sound", "bound", "value", value=1e308), "bound.value: reported 1e+308, made again 0."),
    "no bound": (lambda: at("sound", "bound", value=None), "bound: reported null"),
    "a bound below nought": (lambda: at("sound", "bound", "value", value=-1.0), "bound.value: reported -1.0"),
    "a claim of nought": (lambda: at("sound", "claim", value={"epsilon": 0.0}), 'audit "sound", '),
    "a claim of more": (lambda: at("broken", "claim", "epsilon", value=30.0), "audit"),
    "a quantity": (lambda: at("sound", "bound", "quantity", value="mu"), "bound.quantity: reported"),
    "a method": (lambda: at("sound", "bound", "method", value="two-intervals"), "made again"),
    "a method of nobody": (lambda: at("sound", "bound", "method", value="oracle"), "bound.method: reported"),
    "a side": (lambda: at("probability", "bound", "side", value="lower"), "bound.side"),
    "a confidence of one": (lambda: at("sound", "bound", "confidence", value=1.0), "bound.confidence"),
    "a confidence of less": (lambda: at("sound", "bound", "confidence", value=0.5), "bound.confidence"),
    "the level of an audit": (lambda: at("sound", "budget", "allowed_error", value=1e-300), "contradicts itself"),
    "no level": (lambda: at("sound", "budget", "allowed_error", value=None), "allowed_error: reported null"),
    "a p-value": (lambda: at("sound", "budget", "p_value", value=0.5), "p_value: reported 0.5"),
    "the confidence of the file": (lambda: at("", "confidence", value=0.5), "contradicts itself"),
    "what the file allows": (lambda: at("", "budget", "allowed_error", value=0.5), "budget.allowed_error"),
    "how many share it": (lambda: at("", "budget", "audits", value=1), "budget.audits: reported 1"),
    "that an audit passed": (lambda: at("broken", "passed", value=True), "passed: reported true, made again false"),
    "that the run passed": (lambda: at("", "passed", value=True), "passed: reported true, made again false"),
    "the verdict of the run": (lambda: at("", "verdict", value=PASS), "verdict: reported"),
    "a verdict": (lambda: at("broken", "verdict", value=PASS), 'audit "broken", verdict'),
    "no answer": (lambda: at("broken", "verdict", value="inconclusive"), "verdict"),
    "an answer without counts": (lambda: at("failing", "verdict", value=PASS), "verdict"),
    "what was expected": (lambda: at("broken", "expected", value=FOUND), "passed"),
    "that a pass is not weak": (lambda: at("mixed", "weak", value=False), "weak: reported"),
    "no power": (lambda: at("sound", "power", value=None), "power: reported null"),
    "a huge power": (lambda: at("sound", "power", "80%", value=1e300), "power.80%"),
    "hits": (lambda: at("sound", "event", "counts", "left", 0, value=1), "made again"),
    "no event": (lambda: at("sound", "event", value=None), "budget."),
    "no outputs": (lambda: at("sound", "outputs", value={}), "outputs.search: not in the report"),
    "fewer outputs than counted": (lambda: at("sound", "outputs", "bound", value=1), "outputs.bound: reported 1, made again 2000"),
    "more canaries than there are": (lambda: at("canaries", "event", "canaries", value=10**12), "canaries; at most"),
    "runs without outputs": (lambda: at("canaries", "outputs", "bound", value=0), "outputs.bound"),
    "right guesses": (lambda: at("canaries", "event", "guesses", 0, 1, value=0), "made again"),
    "canaries that are apart": (lambda: at("canaries", "event", "apart", value=True), "made again"),
    "cells of a score": (lambda: at("concentrated", "event", "counts", "left", 0, value=10**6), "made again"),
    "the stake of a wager": (lambda: at("rényi", "event", "stake", value=0.0), "made again"),
    "a wager without end": (lambda: at("rényi", "event", "values", 0, value=1e308), "contradicts itself"),
    "a point of a profile": (lambda: at("profile", "event", "points", 0, "counts", "left", value=[0, 1]), "contradicts itself"),
    "the μ that is proved": (lambda: at("gaussian", "bound", "value", value=1.0), "bound.value"),
    "a further bound": (lambda: at("approximate", "bound", "also", value={}), "bound.also"),
    "what confirms a claim": (lambda: at("probability", "event", "confirmed", value=False), "event.confirmed"),
    "answers": (lambda: at("query", "event", "values", "left", value=3.0), "made again"),
    "a difference": (lambda: at("query", "bound", "value", value=0.5), "bound.value"),
    "a bound of another kind": (lambda: at("query", "claim", value={"epsilon": 1.0}), "its event cannot test a claim"),
    "an event of another kind": (lambda: at("sound", "claim", value={"rho": 1.0}), "its counts prove nothing"),
    "a violation of another kind": (lambda: at("broken", "claim", value={"sensitivity": 1.0}), "has no method"),
    "faults, none of them": (lambda: at("sound", "tried", "planted", value={"found": [], "missed": []}), "no fault"),
    "a key more": (lambda: at("", "further", value=1), "further: reported 1, not in the report made again"),
    "a key less": (lambda: at("sound", "tried", "pairs", value=...), "lacks"),
}  # fmt: skip


def test_an_honest_report_of_every_kind_is_read(tmp_path: Path) -> None:
    file = tmp_path / "report.json"
    file.write_text(json.dumps(honest()), encoding="utf-8")
    assert read_report(file).to_dict() == every_kind().to_dict()


@pytest.mark.parametrize("edit", EDITS)
def test_an_edit_is_refused(tmp_path: Path, edit: str) -> None:
    file, (make, why) = tmp_path / "edited.json", EDITS[edit]
    report, edited = make()
    file.write_text(json.dumps(edited), encoding="utf-8")
    assert edited != report
    with pytest.raises(InvalidInputError) as caught:
        read_report(file)
    assert why in str(caught.value), caught.value


def test_all_that_decide_refuse_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    old, new = tmp_path / "old.json", tmp_path / "new.json"
    for file, report in zip((old, new), at("sound", "bound", "value", value=-1.0), strict=True):
        file.write_text(json.dumps(report), encoding="utf-8")
    for command in (["compare", "--strict", str(old), str(new)], ["show", str(new), "--junit", "-"]):
        assert main(command) == 2
        printed = capsys.readouterr()
        assert printed.out == ""
        assert printed.err.startswith(f"auditor: {new} ")


def test_limits_that_are_gone_are_not_compared(tmp_path: Path) -> None:
    old, new = tmp_path / "old.json", tmp_path / "new.json"
    for one, other in ((old, new), (new, old)):
        for file, gone in ((one, {}), (other, ...)):
            edited = honest("sound")
            if gone is not ...:
                edited["audits"][0]["tried"].pop("limits")
            file.write_text(json.dumps(edited), encoding="utf-8")
        assert main(["compare", str(old), str(new)]) == 0
        assert main(["compare", "--strict", str(old), str(new)]) == 1
