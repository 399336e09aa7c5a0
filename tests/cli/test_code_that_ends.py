"""Code of a user's that calls sys.exit(0): no command may end with the status of success for it."""

from pathlib import Path

import pytest

from auditor.cli import main

pytestmark = pytest.mark.usefixtures("without_plots")

CODE = """
import sys

import auditor


def noisy(dataset, size, rng):
    return rng.laplace(0, 1, size)


def made(dataset, rng):
    return rng.laplace(0, 1, len(dataset))


def ends(*given):
    sys.exit(0)
"""
LISTED = "neighbours: {pairs: [{left: 0, right: 1}]}"
CANARIES = "method: one-run\n    neighbours: {domain: canaries, "
PLACES = {
    "claim": "mechanism: own.py:noisy\n    claim: {from: own.py:ends}\n    " + LISTED,
    "valid": "mechanism: own.py:noisy\n    claim: {epsilon: 1}\n    valid: own.py:ends\n    "
    "neighbours: {domain: records, record: {low: 0, high: 1}, size: {low: 0, high: 2}}",
    "generator": "mechanism: own.py:noisy\n    claim: {epsilon: 1}\n    neighbours: {generator: own.py:ends}",
    "strategy": "mechanism: own.py:noisy\n    claim: {epsilon: 1}\n    neighbours: {strategy: own.py:ends}",
    "canaries": f"mechanism: own.py:made\n    claim: {{epsilon: 1}}\n    {CANARIES}canaries: own.py:ends, score: own.py:ends}}",
    "records": f"mechanism: own.py:made\n    claim: {{epsilon: 1}}\n    {CANARIES}canaries: [1], records: own.py:ends, "
    "score: own.py:ends}",
}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("command", ["check", "run"])
def test_no_command_ends_with_success(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], place: str, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("own.py").write_text(CODE, encoding="utf-8")
    text = f"version: 1\nsamples: 2_000\nexecution: {{workers: 1}}\naudits:\n  - name: one\n    {PLACES[place]}\n"
    Path("own.yaml").write_text(text, encoding="utf-8")
    assert main([command, "own.yaml"]) == 2
    assert "SystemExit" in (told := capsys.readouterr().err) or "sys.exit(0)" in told
    assert "own." in told
