"""The refusals that a folder imposes on one test reach no later test of another folder."""

import os
import subprocess
import sys

from pages import PROJECT


def test_modules_bind_what_is_refused_before_any_test_is_refused_it() -> None:
    """A module first imported by a test of `unit` would keep the refusal, and so would each later test."""
    binds = "import carry_out", "import (carry_out"
    modules = {
        ".".join(file.relative_to(PROJECT).with_suffix("").parts)
        for file in (PROJECT / "auditor").rglob("*.py")
        if any(each in file.read_text(encoding="utf-8") for each in binds)
    }
    assert len(modules) > 1
    code = "import sys, folders; print(*sys.modules)"
    paths = os.pathsep.join(map(str, (PROJECT, PROJECT / "tests" / "helpers")))
    run = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": paths},
    )
    assert modules - {*run.stdout.split()} == set()
