"""What one test is refused by its folder, no later test of another folder is."""

import os
import subprocess
import sys

from pages import PROJECT


def test_modules_bind_what_is_refused_before_any_test_is_refused_it() -> None:
    """A module that a test of `unit` were the first to import would keep the refusal, and with it each later test."""
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
