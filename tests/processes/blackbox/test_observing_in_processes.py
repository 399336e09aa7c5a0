"""Side outputs of a call, in processes: each kind is observed, and the process is left unchanged."""

import os
import subprocess
import sys
from typing import Any

import pytest

from auditor.blackbox.observing import ObservedCall


def seen(function: Any, *what: str, dataset: Any = 3, **given: Any) -> dict[str, Any]:
    return ObservedCall(function, "f", tuple(what))(dataset, **given)  # type: ignore[arg-type]


def test_descriptors_children_and_pythons_own_streams_are_standard_output(capfd: pytest.CaptureFixture[str]) -> None:
    def writes_below(dataset: Any) -> int:
        os.write(1, b"one ")
        subprocess.run([sys.executable, "-c", "print('child')"], check=True)
        print("own", file=sys.__stderr__)
        return 0

    shown = seen(writes_below, "stdout")["stdout"]
    assert [word in shown for word in ("one ", "child", "own")] == [True, True, True]
    os.write(1, b"after")
    assert capfd.readouterr().out == "after"
