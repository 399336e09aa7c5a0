"""System features that only Linux has are optional: without them the outputs are the same, if perhaps slower."""

import ctypes
import fcntl
import os
import sys
from pathlib import Path

import pytest

import auditor
from auditor.blackbox.process import CHUNK, Process, keep_memory

ECHO = "import sys; data = sys.stdin.buffer.read(); sys.stdout.buffer.write(data)"


def echoed(sent: bytes) -> bytes:
    """Send bytes through a process that returns them when its input ends."""
    process = Process([sys.executable, "-c", ECHO])
    try:
        process.send(sent, last=True)
        received = b""
        while len(received) < len(sent):
            received += process.receive(None)
        return received
    finally:
        process.kill()


def test_an_answer_longer_than_a_pipe_comes_where_pipes_cannot_be_resized(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(fcntl, "F_SETPIPE_SZ", raising=False)
    sent = os.urandom(3 * CHUNK)
    assert echoed(sent) == sent


def test_a_kernel_that_refuses_a_larger_pipe_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Linux refuses it to a user who has reached the limit on pages of pipes."""

    def refuses(*_: object) -> None:
        raise PermissionError

    monkeypatch.setattr(fcntl, "fcntl", refuses)
    assert echoed(b"some bytes") == b"some bytes"


class CLibrary:
    """A library of C without mallopt, as on macOS and on Alpine Linux."""


def test_memory_is_kept_only_where_the_c_library_can(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ctypes, "CDLL", lambda name: CLibrary())
    keep_memory()


NOISY = """
import json, random, sys
for line in sys.stdin:
    asked = json.loads(line)
    rng = random.Random(asked["seed"])
    for _ in range(asked["size"]):
        print(asked["dataset"] + rng.expovariate(4) - rng.expovariate(4))
    sys.stdout.flush()
"""


def test_an_audit_needs_no_name_that_linux_alone_has(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The noise is four times too small, so that the bound misses the claim with probability far below 1e-6."""
    monkeypatch.delattr(fcntl, "F_SETPIPE_SZ", raising=False)
    for name in ("sched_getaffinity", "pidfd_open", "memfd_create", "pipe2", "posix_fallocate", "eventfd"):
        monkeypatch.delattr(os, name, raising=False)
    file = tmp_path / "noisy.py"
    file.write_text(NOISY)
    command = auditor.Command([sys.executable, "-S", str(file)])
    result = auditor.audit(command, auditor.PureDP(1.0), [(0, 1)], samples=2_000, seed=1, workers=1)
    assert result.verdict == "violation"
