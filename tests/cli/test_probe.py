"""`auditor probe`: faults that are planted in a mechanism, and what the search of its audit finds of them."""

from pathlib import Path

import pytest

from auditor.cli import main

MECHANISMS = """
def count(records, size, rng):
    return len(records) + rng.laplace(size=size)

def broken(records, size, rng):
    return len(records) + rng.laplace(scale=0.3, size=size)

def on_the_claim(records, size, rng):
    return len(records) + rng.normal(size=size)

def crashes(records, size, rng):
    import os
    os._exit(1)
"""
AUDITS = """
version: 1
seed: 1
execution: {workers: 1}
audits:
  - {name: few values, mechanism: m.py:count, claim: {epsilon: 1.0}, samples: 40_000, neighbours: &few
      {domain: records, record: {choices: [a, b]}, size: {low: 0, high: 3}, relation: add_remove}}
  - {name: many values, mechanism: m.py:count, claim: {epsilon: 1.0}, samples: 1_000,
      neighbours: {domain: records, record: {low: 0, high: 1_000, integer: true}, size: {low: 0, high: 50}, relation: add_remove}}
  - {name: broken, mechanism: m.py:broken, claim: {epsilon: 1.0}, samples: 20_000, neighbours: *few}
  - {name: given, mechanism: m.py:count, claim: {epsilon: 1.0}, samples: 20_000, neighbours: {pairs: [{left: [], right: [a]}]}}
  - {name: query, mechanism: m.py:count, claim: {sensitivity: 1.0}, neighbours: *few}
  - {name: rho, mechanism: m.py:on_the_claim, claim: {rho: 0.5}, samples: 40_000, neighbours: *few}
  - {name: mu, mechanism: m.py:on_the_claim, claim: {mu: 1.0}, samples: 40_000, neighbours: *few}
  - {name: at delta, mechanism: m.py:on_the_claim, claim: {epsilon: 1.0, delta: 0.127}, samples: 400_000, neighbours: *few}
  - {name: far, mechanism: m.py:on_the_claim, claim: {order: 4.0, epsilon: 2.0}, samples: 40_000, neighbours: *few}
  - {name: crash, mechanism: m.py:crashes, claim: {epsilon: 1.0}, samples: 1_000, neighbours: *few}
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "m.py").write_text(MECHANISMS)
    (tmp_path / "audits.yaml").write_text(AUDITS)
    return tmp_path / "audits.yaml"


def found(row: str) -> tuple[int, int]:
    words = row.split()
    at = words.index("of")
    return int(words[at - 1]), int(words[at + 1])


def test_a_probe_says_what_each_search_would_see(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A small search among many values sees less than a large one among two. Same seed, same words."""
    asked = ["probe", str(file), "--planted", "8"]
    for name in ("values", "broken", "given", "query"):
        asked += ["--only", name]
    assert main(asked) == 0
    told = capsys.readouterr().out
    rows = {row[:6].strip(): row for row in told.splitlines()}
    few, many = found(rows["few va"]), found(rows["many v"])
    assert few[0] / few[1] > many[0] / many[1]
    assert few[1] == 8
    assert "likely violates its claim" in rows["broken"]
    assert "one pair is given" in rows["given"]
    assert "has no search" in rows["query"]
    assert main(asked) == 0
    assert capsys.readouterr().out == told


@pytest.mark.parametrize(("name", "status"), [("few values", 0), ("many values", 1)])
def test_a_weak_search_can_be_an_exit_status(name: str, status: int, file: Path) -> None:
    assert main(["probe", str(file), "--only", name, "--strict", "--planted", "8"]) == status
    assert main(["probe", str(file), "--only", name, "--planted", "8"]) == 0


@pytest.mark.parametrize("name", ["rho", "mu", "at delta", "far"])
def test_a_mechanism_that_loses_just_what_is_claimed_is_not_accused(
    name: str, file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["probe", str(file), "--only", name, "--planted", "2"]) == 0
    assert "likely violates" not in capsys.readouterr().out


def test_a_mechanism_that_always_fails_is_named(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["probe", str(file), "--only", "crash"]) == 2
    told = capsys.readouterr().err
    assert 'audit "crash": the mechanism failed on every call' in told
    assert "Traceback" not in told
