"""`--seconds` ends an audit whose calls hang, within a few seconds."""

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from auditor.cli import main

HANGS = """
import time

def hangs(data, rng):
    time.sleep(600)

def in_batches(data, size, rng):
    time.sleep(600 if size > 200 else 0)
    return data + rng.laplace(scale=2.0, size=size)
"""
PROGRAM = """
import sys, time
for line in sys.stdin:
    time.sleep(600)
"""
CONFIGURATION = """
version: 1
samples: 100_000
prove: false
execution: {workers: WORKERS}
audits:
  - name: slow
    mechanism: MECHANISM
    claim: {epsilon: 1.0}
    neighbours: {pairs: [{left: 0, right: 1}]}
"""


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., tuple[int, float, Any]]:
    """Run an audit under a limit of two seconds; return the exit status, the seconds it took, and its entry."""
    monkeypatch.chdir(tmp_path)
    Path("theirs.py").write_text(HANGS, encoding="utf-8")
    Path("program.py").write_text(PROGRAM, encoding="utf-8")

    def runs(mechanism: str, workers: int, *options: str) -> tuple[int, float, Any]:
        text = CONFIGURATION.replace("MECHANISM", mechanism).replace("WORKERS", str(workers))
        Path("audit.yaml").write_text(text, encoding="utf-8")
        began = time.monotonic()
        status = main(["run", "audit.yaml", "--seconds", "2", *options])
        took = time.monotonic() - began
        whole = json.loads(Path("reports/audit/report.json").read_text(encoding="utf-8"))
        return status, took, whole["audits"][0]

    return runs


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("mechanism", ["theirs.py:hangs", "theirs.py:in_batches", "{command: [python3, program.py]}"])
def test_a_mechanism_that_hangs_is_ended(run: Callable[..., Any], mechanism: str, workers: int) -> None:
    status, took, audit = run(mechanism, workers, "--record", "kept")
    assert (status, audit["verdict"]) == (3, "inconclusive")
    assert took < 20  # ten times the usual time, on a machine with other load
    assert "seconds" in audit["stop_reason"]
    assert main(["replay", "kept", "--check", "reports/audit/report.json"]) == 0
