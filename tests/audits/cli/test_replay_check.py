"""Everything in a report follows from the recorded outputs: a forgery anywhere in it is detected."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from plain_data import changed, leaves

from auditor.auditing import flow
from auditor.auditing.consistent import read_report
from auditor.cli import main, replay_check
from auditor.config.recordings import MANIFEST
from auditor.errors import InvalidInputError
from auditor.events.observed import ObservedRule
from auditor.results.reader import frozen_test, not_as_reported

MECHANISMS = """
import numpy as np

def laplace(side, size, rng):
    return rng.laplace(2.0 * side, 1.0, size)

def vectors(side, size, rng):
    return rng.laplace(side * np.array([1.0, -1.0, 0.5]), 1.0, (size, 3))

def labels(side, size, rng):
    first = rng.random(size) < (0.8 if side else 0.2)
    return [["a", "b"] if one else ["b", "a"] for one in first.tolist()]

def sums(side, size, rng):
    return np.cumsum(rng.laplace(0.7 * side, 1.0, (size, 6)), axis=1)

def odd(side, rng):
    return [None, float("nan"), float("inf"), "1.50", {"b": 1, "a": side}][rng.integers(5)]

def rounded(side, size, rng):
    return np.round(rng.laplace(0, 1.0, size), 3 if side else 4)

def coin(side, size, rng):
    return rng.random(size) < 0.5

def total(data):
    return sum(data)

def without_threes(data):
    return len(data) - 2 * (3 in data)

def kept(dataset, rng):
    return [value in dataset for value in range(40)] + rng.normal(0, 0.3, 40)

def own_place(output, canary):
    return float(output[canary])
"""
DATA = """
def one_pair():
    yield 1, 0
"""

CONFIGURATION = """
version: 1
seed: 5
samples: 2_000
execution: {workers: 1, isolate: false}

audits:
"""
AUDITS = {
    "epsilon": ("laplace", "{epsilon: 1.0}", ""),
    "two intervals": ("laplace", "{epsilon: 1.0}", "method: two-intervals"),
    "delta": ("laplace", "{epsilon: 1.0, delta: 0.001}", ""),
    "profile": ("laplace", "{profile: [[0.5, 0.3], [1.0, 0.001]]}", ""),
    "gaussian": ("laplace", "{mu: 1.0}", ""),
    "concentrated": ("laplace", "{rho: 0.5}", ""),
    "rényi": ("vectors", "{order: 2.0, epsilon: 0.5}", ""),
    "vectors": ("vectors", "{epsilon: 1.0}", ""),
    "labels": ("labels", "{epsilon: 1.0}", ""),
    "sums": ("sums", "{epsilon: 1.0}", ""),
    "odd": ("odd", "{epsilon: 1.0}", ""),
    "rounded": ("rounded", "{epsilon: 1.0}", ""),
    "bits": ("laplace", "{epsilon: 1.0}", "events: [bits]"),
    "probability": ("coin", "{probability: 0.4, at_most: true}", "neighbours: {pairs: [{left: 1, right: 1}]}"),
    "canaries": (
        "kept",
        "{epsilon: 0.1}",
        "method: one-run, neighbours: {domain: canaries, canaries: ["
        + ", ".join(map(str, range(40)))
        + "], score: 'mechanisms_recounted.py:own_place'}",
    ),
    "query": ("total", "{sensitivity: 1.0}", "neighbours: {pairs: [{left: [1, 3], right: [1, 1]}]}"),
    "monotone": (
        "without_threes",
        "{monotone: true}",
        "neighbours: {pairs: [{left: [1], right: [1, 3]}], relation: add_remove}",
    ),
}


def recorded(folder: Path, neighbours: str) -> Path:
    """Record audits of every kind in a folder; their reports go there, too."""
    (folder / "mechanisms_recounted.py").write_text(MECHANISMS)
    (folder / "data_recounted.py").write_text(DATA)
    text = CONFIGURATION
    for name, (mechanism, claim, more) in AUDITS.items():
        text += f"  - {{name: {name}, mechanism: 'mechanisms_recounted.py:{mechanism}', claim: {claim}"
        text += "" if "neighbours" in more else f", neighbours: {neighbours}"
        text += f", {more}}}\n" if more else "}\n"
    (folder / "every.yaml").write_text(text)
    status = main(
        ["run", str(folder / "every.yaml"), "--record", str(folder / "kept"), "--out", str(folder), "--quiet"]
    )
    assert status == 1
    return folder


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return recorded(tmp_path_factory.mktemp("recorded"), "{pairs: [{left: 1, right: 0}]}")


@pytest.fixture(scope="module")
def by_code(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """As ``recorded``, with data sets that code makes."""
    return recorded(tmp_path_factory.mktemp("by_code"), "{generator: 'data_recounted.py:one_pair'}")


def forged(folder: Path, tmp_path: Path, forge: Callable[[Any, dict[str, Any]], Any]) -> str:
    """Write a changed report: the run is changed, and the audits that are named."""
    report = json.loads((folder / "every" / "report.json").read_text())
    forge(report, {audit["name"]: audit for audit in report["audits"]})
    file = tmp_path / "report.json"
    file.write_text(json.dumps(report))
    return str(file)


def other(value: Any) -> Any:
    """Return another value of the same type, as near as possible; the same value if the type has no other."""
    match value:
        case bool():
            return not value
        case int():
            return value + 1
        case float():
            # A number near 0 has no other value at this relative distance.
            return value * (1 + 1e-9) if abs(value) > 1e-300 else value + 1e-9
        case str():
            return value + "x"
        case []:
            return ["x"]
    return 0


def test_all_that_a_report_says_is_made_again(recording: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["replay", str(recording / "kept"), "--check", str(recording / "every" / "report.json")]) == 0
    assert capsys.readouterr().out.splitlines() == [f"{name}: as reported" for name in AUDITS]


def test_every_value_of_every_audit_is_compared(recording: Path) -> None:
    """Each value is changed in turn. The comparison reads the file itself and not what a reader returns."""
    report = json.loads((recording / "every" / "report.json").read_text())
    for audit in report["audits"]:
        ways = [way for way, _ in leaves(audit)]
        assert len(ways) > 30
        for way, value in leaves(audit):
            [line] = not_as_reported(changed(audit, way, other(value)), audit)
            assert line.startswith(str(way[0])), (audit["name"], way)
        for key in audit:
            without = {other: value for other, value in audit.items() if other != key}
            assert len([*not_as_reported(without, audit)]) == len([*not_as_reported(audit, without)]) == 1


def test_every_value_of_the_run_is_compared(
    recording: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    # The test above shows what a replay gives, so the replay is carried out once.
    expected, carry_out = dict[str, Any](), flow.carry_out

    def once(plan: Any, **options: Any) -> Any:
        if plan.name not in expected:
            expected[plan.name] = carry_out(plan, **options)
        return expected[plan.name]

    monkeypatch.setattr(replay_check, "carry_out", once)

    def told(forge: Callable[[Any, dict[str, Any]], Any]) -> tuple[int, list[str]]:
        status = main(["replay", str(recording / "kept"), "--check", forged(recording, tmp_path, forge)])
        return status, [line for line in capsys.readouterr().out.splitlines() if "NOT" in line]

    whole = json.loads((recording / "every" / "report.json").read_text())
    for way, value in leaves({key: value for key, value in whole.items() if key != "audits"}):
        status, lines = told(lambda run, _, way=way, value=value: run.update(changed(run, way, other(value))))
        refused = way[0] in ("version", "auditor", "name")  # they say what the comparison is with
        assert status == (2 if refused else 1), way
        assert refused or [line.split(":")[0] for line in lines] == ["the run"]
    # A verdict reversed consistently, with everything that follows from it.
    status, lines = told(lambda run, by: by["epsilon"].update(verdict="no_violation_found", passed=True))
    assert (status, len(lines)) == (1, 2)
    status, lines = told(lambda run, by: run.update(audits=run["audits"][1:]))
    assert (status, lines[0]) == (1, "epsilon: NOT as reported: the recording has this audit, but the report does not")
    status, lines = told(lambda run, by: run["audits"].append({**by["epsilon"], "name": "more"}))
    assert (status, "more: NOT as reported: it was not recorded" in lines) == (1, True)
    status, lines = told(lambda run, by: run["audits"].append(by["epsilon"]))
    assert (status, "the run: NOT as reported: two audits have one name" in lines) == (1, True)
    status, lines = told(lambda run, by: by["odd"].update(mechanism="\x1b[2J\nodd: as reported"))
    assert (status, len(lines), "\x1b" in lines[0]) == (1, 1, False)


def test_where_code_makes_the_data_sets_a_report_is_checked_if_the_code_may_run(
    by_code: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(by_code)  # the folder that holds the code
    check = ["replay", str(by_code / "kept"), "--check"]
    honest = str(by_code / "every" / "report.json")
    assert main([*check, honest]) == 2
    assert "data_recounted.py (SHA-256" in capsys.readouterr().err
    assert main([*check, honest, "--run-code"]) == 0
    assert capsys.readouterr().out.splitlines() == [f"{name}: as reported" for name in AUDITS]
    report = forged(by_code, tmp_path, lambda run, by: by["epsilon"]["tried"].update(pairs=2))
    assert main([*check, report, "--run-code"]) == 1
    assert "epsilon: NOT as reported: tried.pairs" in capsys.readouterr().out


def test_only_the_recording_of_the_report_is_read(recording: Path, by_code: Path, tmp_path: Path) -> None:
    """The code of another recording in the same folder needs no permission."""
    for name, folder in (("every", recording), ("coded", by_code)):
        shutil.copytree(folder / "kept" / "every", tmp_path / "kept" / name)
    coded = tmp_path / "kept" / "coded"
    (coded / "every.yaml").rename(coded / "coded.yaml")
    manifest = (coded / MANIFEST).read_text(encoding="utf-8").replace("every.yaml", "coded.yaml")
    (coded / MANIFEST).write_text(manifest, encoding="utf-8")
    check = ["replay", str(tmp_path / "kept"), "--check", str(recording / "every" / "report.json")]
    assert main(check) == 0


def test_a_report_with_rules_stays_small(recording: Path) -> None:
    report = json.loads((recording / "every" / "report.json").read_text())
    for audit in report["audits"]:
        event = audit["event"] or {}
        for rule in [event.get("rule"), *(point["rule"] for point in event.get("points", ()))]:
            assert len(json.dumps(rule)) < 20_000


def test_the_sequences_of_a_few_labels_are_listed(recording: Path) -> None:
    audits = {audit.name: audit for audit in read_report(recording / "every" / "report.json").audits}
    event = audits["labels"].event
    assert isinstance(event, ObservedRule)
    assert "'a'" in event.description


def test_a_report_without_rules_is_read_and_has_no_test(recording: Path, tmp_path: Path) -> None:
    report = json.loads((recording / "every" / "report.json").read_text())
    first = report["audits"][0]
    first["event"]["rule"] = None
    file = tmp_path / "report.json"
    file.write_text(json.dumps(report))
    event = read_report(file).audits[0].event
    assert event is not None
    with pytest.raises(InvalidInputError, match='lacks "feature"'):
        frozen_test(event)


@pytest.mark.parametrize(
    ("spoil", "why"),
    [
        (lambda rule: rule.pop("feature"), 'lacks "feature"'),
        (lambda rule: rule["feature"].update(kind="spell"), "of kind 'spell'"),
        (lambda rule: rule["feature"].pop("name"), "spoilt"),
        (lambda rule: rule["cells"].update(edges=["a"]), "spoilt"),
    ],
)
def test_a_spoilt_rule_is_named(recording: Path, tmp_path: Path, spoil: Any, why: str) -> None:
    report = json.loads((recording / "every" / "report.json").read_text())
    spoil(report["audits"][0]["event"]["rule"])
    file = tmp_path / "report.json"
    file.write_text(json.dumps(report))
    with pytest.raises(InvalidInputError, match=why):
        read_report(file)
