"""`auditor init --accountant`: a first configuration from signatures, and one call of each function in a process of its own."""

from pathlib import Path

import pytest

from auditor.cli import main

CODE = """
import math


def loose(sigma, steps, delta):
    return 1.5 * steps / sigma**2 + 2 * math.sqrt(steps * math.log(1 / delta)) / sigma


def textbook(epsilon, delta):
    return math.sqrt(2 * math.log(1.25 / delta)) / epsilon


def of_training(noise_multiplier, q, num_steps, target_delta, flag=True):
    return 3.0
"""


def test_init_writes_accountants_from_their_signatures(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "theirs.py").write_text(CODE, encoding="utf-8")
    names = ["theirs.py:loose", "theirs.py:textbook", "theirs.py:of_training"]
    assert main(["init", "--accountant", *names, "-o", "first.yaml"]) == 0
    printed = capsys.readouterr().out
    assert "loose: at sigma = 3, steps = 30, delta = 1e-06: stated " in printed
    assert "textbook: at epsilon = 1, delta = 1e-06: the target is 1, exact at most" in printed
    assert "of_training: guessed, so set it: states, process, target_delta, delta" in printed
    written = (tmp_path / "first.yaml").read_text(encoding="utf-8")
    assert "process: {noise: gaussian, scale: sigma, steps: steps}" in written
    assert (
        "process: {noise: gaussian, scale: noise_multiplier, steps: num_steps, sampling: poisson, rate: q}" in written
    )
    assert "states: noise" in written and main(["check", "first.yaml"]) == 0
    assert main(["init", "--accountant", *names, "-o", "first.yaml"]) == 2  # it is not overwritten
    assert main(["init", "--accountant", "theirs.py", "-o", "third.yaml"]) == 2
    assert not (tmp_path / "third.yaml").exists()
