"""A folder with every kind of file that this program writes, for tests that corrupt them, and a limit of time for readers."""

import contextlib
import io
import signal
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from auditor.cli import main
from auditor.foreign_code import Stopped

MECHANISM = """
def noisy(value, rng):
    return value + rng.laplace()
"""
CONFIGURATION = """
version: 1
samples: 500
execution: {workers: 1, isolate: false}
audits:
  - name: one
    mechanism: theirs.py:noisy
    claim: {epsilon: 1.0}
    neighbours: {pairs: [{left: 0, right: 1}]}
"""
REPORT, MANIFEST, OUTPUTS = "reports/audit/report.json", "kept/audit/manifest.json", "kept/audit/outputs.sqlite"
PROOF, CONFIG = "proofs/audit/proof-1.json", "audit.yaml"
# A copy of the project without the room of the prover writes and checks no certificates.
HAS_PROVER = find_spec("dp_prover") is not None
PROVE = ("prove",) if HAS_PROVER else ()


def make_honest_files(folder: Path) -> None:
    (folder / "theirs.py").write_text(MECHANISM, encoding="utf-8")
    (folder / CONFIG).write_text(CONFIGURATION, encoding="utf-8")
    np.save(folder / "inside.npy", np.arange(20.0))
    np.save(folder / "outside.npy", np.arange(20.0) - 3)
    with contextlib.chdir(folder), contextlib.redirect_stdout(io.StringIO()):
        assert main(["run", CONFIG, "--record", "kept", "--quiet"]) == 0
        assert main(["run", CONFIG, "--quiet"]) == 0
        if HAS_PROVER:
            assert main(["prove", CONFIG, "--out", "proofs"]) in (0, 4)


@contextlib.contextmanager
def in_time(seconds: int = 30) -> Iterator[None]:
    """Raise if the block takes longer than some processor seconds, or ten times as many by the clock."""

    def late(*_: object) -> None:
        raise Stopped

    # Other programs may use the machine, so the clock alone says little.
    before = [signal.signal(number, late) for number in (signal.SIGALRM, signal.SIGPROF)]
    signal.alarm(10 * seconds)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.setitimer(signal.ITIMER_PROF, 0)
        for number, handler in zip((signal.SIGALRM, signal.SIGPROF), before, strict=True):
            signal.signal(number, handler)
