"""Audits of mechanisms that run once, in processes: failures, programs, and the way from YAML to a report."""

import json
import math
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from canaries_once import one_run, own_place

import auditor
from auditor.cli import main
from auditor.config.load import load_configuration
from auditor.errors import InvalidInputError, MechanismError


def raises(dataset: Any, rng: np.random.Generator) -> Any:
    raise ValueError("no such luck")


def dies(dataset: Any, rng: np.random.Generator) -> Any:
    os._exit(3)


def nan_for_the_third(output: Any, canary: int) -> float:
    return math.nan if canary == 2 else 1.0


def test_a_run_that_fails_has_no_answer() -> None:
    for mechanism, why in ((raises, "run 1 failed: ValueError: no such luck"), (dies, "run 1 failed: ended with exit")):
        result = one_run(auditor.GaussianDP(1.0), mechanism, isolate=True)
        assert result.verdict == "inconclusive" and why in result.stop_reason
    result = one_run(auditor.GaussianDP(1.0), score=nan_for_the_third)
    assert result.verdict == "inconclusive" and "the score of canary 2 is NaN" in result.stop_reason


FILES = {
    "train.py": """
import numpy as np

def train(records, rng, sigma=1.0):
    return np.bincount(records.astype(int), minlength=300)[:300] + rng.normal(0, sigma, 300)
""",
    "attack.py": """
import numpy as np

def canaries():
    return np.arange(300)

def others():
    return np.full(50, 299)

def score(model, canary):
    return model[canary]
""",
    "once.yaml": """
version: 1
method: one-run
audits:
  - name: sound
    mechanism: train.py:train
    claim: {mu: 1.0}
    neighbours: &canaries {domain: canaries, canaries: attack.py:canaries, score: attack.py:score, records: attack.py:others,
                           runs: 4, guesses: [1200, 600], apart: true}
  - name: too little noise
    mechanism: train.py:train
    parameters: {sigma: 0.4}
    claim: {mu: 1.0}
    neighbours: *canaries
    expect: violation
""",
}


def written(folder: Path) -> Path:
    for name, text in FILES.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder / "once.yaml"


def test_a_configuration_is_checked_planned_run_recorded_and_replayed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    file = str(written(tmp_path))
    assert main(["check", file]) == 0
    (tmp_path / "first.yaml").write_text(
        FILES["once.yaml"].partition("  - name: too little noise")[0], encoding="utf-8"
    )
    assert main(["plan", "first.yaml"]) == 0
    assert "canaries" in capsys.readouterr().out
    assert main(["run", file, "--out", "made", "--record", "kept", "--quiet"]) in (0, 1)
    report = json.loads((tmp_path / "made/once/report.json").read_text())
    verdicts = [audit["verdict"] for audit in report["audits"]]
    assert verdicts[0] == "no_violation_found" and verdicts[1] == "violation"
    assert len(report["audits"][0]["event"]["guesses"]) == 2
    (tmp_path / "train.py").unlink()
    kept = next((tmp_path / "kept").iterdir()) if (tmp_path / "kept").is_dir() else tmp_path / "kept"
    assert main(["replay", str(kept), "--out", "again", "--quiet"]) == 2
    assert "attack.py (SHA-256" in capsys.readouterr().err
    assert main(["replay", str(kept), "--out", "again", "--quiet", "--run-code"]) in (0, 1)
    assert json.loads((tmp_path / "again/once/report.json").read_text()) == report
    assert main(["show", "made/once/report.json"]) == 0
    shown = capsys.readouterr().out
    assert "surest guesses on 300 canaries are right" in shown


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("score: attack.py:score", "score: attack.py:scores", "line 8.*attack.py has no scores; did you mean"),
        ("guesses: [1200, 600]", "guesses: [1201]", "line 8.*integers from 1 to 1,200"),
        ("runs: 4, ", "runs: 0, ", "line 8.*runs is 0"),
        ("canaries: attack.py:canaries", "canaries: []", "line 8.*there are no canaries"),
        ("apart: true", "apert: true", "line 9.*unknown key .apert. in neighbours .canaries.; did you mean"),
        ("method: one-run", "method: fixed", "go together"),
    ],
)
def test_what_is_wrong_in_a_configuration_is_named_with_its_line(
    old: str, new: str, words: str, tmp_path: Path
) -> None:
    file = written(tmp_path)
    file.write_text(file.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")
    with pytest.raises((InvalidInputError, MechanismError), match=words):
        load_configuration(file)


def test_a_program_is_scored_here(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(
        "import json, random, sys\n"
        "for line in sys.stdin:\n"
        "    asked = json.loads(line)\n"
        "    random.seed(asked['seed'])\n"
        "    for _ in range(asked['size']):\n"
        "        print(json.dumps([(i in asked['dataset']) + random.gauss(0, 0.3) for i in range(80)]), flush=True)\n"
    )
    domain = auditor.Canaries(list(range(80)), own_place)
    program = auditor.Command([sys.executable, "program.py"], str(tmp_path))
    result = auditor.audit(program, auditor.PureDP(0.1), domain, method="one-run", seed=1)
    assert result.verdict == "violation"
