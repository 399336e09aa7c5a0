"""Every count that a report states is that of its own rules on the outputs that were recorded."""

import json
from pathlib import Path
from typing import Any

import pytest

from auditor.cli import main
from auditor.errors import InvalidInputError
from auditor.events.observed import ObservedRule
from auditor.results.reader import read_report
from auditor.results.recount import frozen_test

PROJECT = Path(__file__).parent.parent.parent

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
"""

CONFIGURATION = """
version: 1
seed: 5
samples: 5_000
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
    "sequential": ("laplace", "{epsilon: 0.5}", "method: sequential"),
    "probability": ("coin", "{probability: 0.4, at_most: true}", "neighbours: {pairs: [{left: 1, right: 1}]}"),
    "query": ("total", "{sensitivity: 1.0}", "neighbours: {pairs: [{left: [1, 3], right: [1, 1]}]}"),
}


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a recording of audits of every kind, and their report."""
    folder = tmp_path_factory.mktemp("recorded")
    (folder / "mechanisms_recounted.py").write_text(MECHANISMS)
    text = CONFIGURATION
    for name, (mechanism, claim, more) in AUDITS.items():
        text += f"  - {{name: {name}, mechanism: 'mechanisms_recounted.py:{mechanism}', claim: {claim}"
        text += "" if "neighbours" in more else ", neighbours: {pairs: [{left: 1, right: 0}]}"
        text += f", {more}}}\n" if more else "}\n"
    (folder / "every.yaml").write_text(text)
    status = main(
        ["run", str(folder / "every.yaml"), "--record", str(folder / "kept"), "--out", str(folder), "--quiet"]
    )
    assert status == 1
    return folder


def test_every_count_is_that_of_the_rule_in_the_report(recording: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["recount", str(recording / "every" / "report.json"), str(recording / "kept")]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert {line.split(":")[0] for line in lines} == {*AUDITS} - {"query"}
    assert all(line.endswith(" as reported") and "NOT" not in line for line in lines)
    assert any(line.startswith("sequential: counts on the smallest pair") for line in lines)


def test_this_notices_a_count_and_an_edge_that_were_changed(
    recording: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    report = json.loads((recording / "every" / "report.json").read_text())
    by_name = {audit["name"]: audit for audit in report["audits"]}
    by_name["epsilon"]["event"]["counts"]["left"][0] -= 1
    by_name["vectors"]["event"]["rule"]["cells"]["edges"][0] += 0.01
    file = tmp_path / "report.json"
    file.write_text(json.dumps(report))
    assert main(["recount", str(file), str(recording / "kept")]) == 1
    changed = [line.split(":")[0] for line in capsys.readouterr().out.splitlines() if "NOT" in line]
    assert changed == ["epsilon", "vectors", "vectors"]


def test_this_notices_a_bound_and_a_p_value_that_were_changed(
    recording: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    report = json.loads((recording / "every" / "report.json").read_text())
    by_name = {audit["name"]: audit for audit in report["audits"]}
    by_name["epsilon"]["bound"]["value"] += 1e-9
    by_name["delta"]["budget"]["p_value"] /= 2
    by_name["gaussian"]["power"]["95%"] += 1e-9
    file = tmp_path / "report.json"
    file.write_text(json.dumps(report))
    assert main(["recount", str(file), str(recording / "kept")]) == 1
    changed = [line for line in capsys.readouterr().out.splitlines() if "NOT" in line]
    assert [line.split(":")[0] for line in changed] == ["epsilon", "delta", "gaussian"]
    assert [line.split(": ")[1] for line in changed] == ["bound", "p_value", "power"]


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


def test_a_report_without_rules_is_read_and_cannot_be_recounted(recording: Path, tmp_path: Path) -> None:
    report = json.loads((recording / "every" / "report.json").read_text())
    first = report["audits"][0]
    del first["event"]["rule"]
    file = tmp_path / "report.json"
    file.write_text(json.dumps(report))
    event = read_report(file).audits[0].event
    assert event is not None
    with pytest.raises(InvalidInputError, match='lacks "feature"'):
        frozen_test(event)
    assert main(["recount", str(file), str(recording / "kept")]) == 2


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


@pytest.mark.statistical
@pytest.mark.parametrize("name", sorted(path.stem for path in (PROJECT / "configs").glob("*.yaml")))
def test_every_audit_of_make_audit_can_be_recounted(name: str, tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    main(["run", str(PROJECT / "configs" / f"{name}.yaml"), "--record", str(kept), "--out", str(tmp_path), "--quiet"])
    assert main(["recount", str(tmp_path / name / "report.json"), str(kept)]) == 0
