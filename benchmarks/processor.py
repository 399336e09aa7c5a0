"""The share of mere drawing in the processor's time of whole audits, from the command line to the reports.

``python -m benchmarks processor [ROOT ...]`` measures each build whose root is given, one after the other in each repeat; by
default this build. Processor's time hardly depends on what else the machine does, unlike seconds on the clock. The time of all
descendants counts, also of those that outlive their parents.
"""

import contextlib
import ctypes
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import _shapes

REPEATS, BATCH = 3, 16_384
PROJECT = Path(__file__).parent.parent
SHAPES = Path(_shapes.__file__)
SUBREAPER = 36  # PR_SET_CHILD_SUBREAPER of Linux: descendants whose parents have ended become children of this process
# The mechanism, outputs of the bound, workers, and whether a call gives many outputs.
AUDITS: dict[str, tuple[Callable[..., Any], int, int, bool]] = {
    "Laplace noise, batch, 2 workers": (_shapes.laplace, 200_000_000, 2, True),
    "10 numbers with Laplace noise, batch, 2 workers": (_shapes.vector, 10_000_000, 2, True),
    "a float a call, 1 worker": (_shapes.one_float, 1_000_000, 1, False),
    "a dict with a count and a list of keys a call, 1 worker": (_shapes.one_dict, 100_000, 1, False),
}
# An audit with so few outputs costs its start and its reports, and not much more.
FEW = 1_000


def _drawn(mechanism: Callable[..., Any], outputs: int, batched: bool) -> float:
    """Return the processor's seconds of mere drawing, in this process."""
    rng, began = np.random.default_rng(0), time.process_time()
    if batched:
        for _ in range(0, outputs, BATCH):
            mechanism(1, BATCH, rng)
    else:
        for _ in range(outputs):
            mechanism(1, rng)
    return time.process_time() - began


def _audited(root: Path, mechanism: Callable[..., Any], outputs: int, workers: int) -> tuple[float, int]:
    """Return the processor's seconds of an audit by the build at a root, and the number of outputs that it drew."""
    audit = {
        "name": "a",
        "mechanism": f"{SHAPES}:{mechanism.__name__}",
        "claim": {"epsilon": 1.0},
        "neighbours": {"pairs": [{"left": 1, "right": 0}]},
    }
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "audit.yaml")
        plan = {"version": 1, "seed": 1, "samples": outputs, "shrink": False, "prove": False, "audits": [audit]}
        file.write_text(json.dumps(plan), encoding="utf-8")
        before = _spent()
        subprocess.run(
            [sys.executable, "-m", "auditor", "run", str(file), "--quiet", "--workers", str(workers), "--out", folder],
            env=os.environ | {"PYTHONPATH": str(root)},
            cwd=folder,
            stdout=subprocess.DEVNULL,
            check=True,
        )
        with contextlib.suppress(ChildProcessError):
            while True:
                os.wait()
        [report] = Path(folder).rglob("report.json")
        [result] = json.loads(report.read_text(encoding="utf-8"))["audits"]
        return _spent() - before, sum(result["outputs"].values())


def _spent() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def measure(*roots: str) -> Iterator[dict[str, Any]]:
    """Yield the figures after each mechanism."""
    with contextlib.suppress(AttributeError):  # of another system than Linux
        ctypes.CDLL(None).prctl(SUBREAPER, 1, 0, 0, 0)
    figures = dict[str, Any]()
    for name, (mechanism, outputs, workers, batched) in AUDITS.items():
        rows: dict[str, list[tuple[float, ...]]] = {root: [] for root in roots or [str(PROJECT)]}
        for _ in range(REPEATS):
            for root, row in rows.items():
                start, _ = _audited(Path(root), mechanism, FEW, workers)
                drawn = _drawn(mechanism, outputs, batched)
                whole, count = _audited(Path(root), mechanism, outputs, workers)
                drawing = drawn * count / outputs
                row.append((drawing, whole, drawing / whole, drawing / (whole - start)))
        figures[name] = {
            root: {
                key: round(statistics.median(column), 2)
                for key, column in zip(
                    ("drawing (s)", "audit (s)", "share", "share after start"), zip(*row, strict=True), strict=True
                )
            }
            for root, row in rows.items()
        }
        yield figures
