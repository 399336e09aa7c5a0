"""A configuration is a file, and never a pipe."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from honest_files import PROVE, in_time

from auditor.cli import main

TOLD = "can be read only once; copy the text into a file"


@pytest.mark.parametrize("command", ["run", "check", "plan", *PROVE])
def test_a_configuration_is_a_file(tmp_path: Path, command: str, capsys: pytest.CaptureFixture[str]) -> None:
    os.mkfifo(tmp_path / "fifo.yaml")
    with in_time():
        assert main([command, str(tmp_path / "fifo.yaml")]) == 2
    assert TOLD in capsys.readouterr().err


def test_a_configuration_does_not_come_through_a_pipe(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "auditor", "run", "/dev/stdin"]
    ended = subprocess.run(command, check=False, input="version: 1", capture_output=True, text=True, cwd=tmp_path)
    assert ended.returncode == 2
    assert TOLD in ended.stderr
