"""A configuration is a file, and no pipe."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from honest_files import PROVE


@pytest.mark.parametrize("given", ["pipe", "fifo"])
@pytest.mark.parametrize("command", ["run", "check", "plan", *PROVE])
def test_a_configuration_is_a_file(tmp_path: Path, given: str, command: str) -> None:
    os.mkfifo(tmp_path / "fifo.yaml")
    name = "/dev/stdin" if given == "pipe" else str(tmp_path / "fifo.yaml")
    ended = subprocess.run(
        [sys.executable, "-m", "auditor", command, name],
        check=False,
        input="version: 1",
        capture_output=True,
        text=True,
        cwd=tmp_path,
    )
    assert ended.returncode == 2
    assert "can be read only once; copy the text into a file" in ended.stderr
