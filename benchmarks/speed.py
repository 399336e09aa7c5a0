"""How long a user waits: for an audit with a million Laplace outputs per side, and for ``auditor --help``."""

import statistics
import subprocess
import sys
import time
from typing import Any

import numpy as np

import auditor

REPEATS = 7


def laplace(value: float, size: int, rng: np.random.Generator) -> Any:
    return rng.laplace(value, 1.0, size)


def _seconds(action: Any) -> float:
    started = time.perf_counter()
    action()
    return time.perf_counter() - started


def _audit() -> None:
    auditor.audit(laplace, auditor.PureDP(1.0), [(0.0, 1.0)], samples=2_000_000, seed=1)


def _spread(action: Any) -> dict[str, float]:
    times = [_seconds(action) for _ in range(REPEATS)]
    return {"min": min(times), "median": statistics.median(times), "max": max(times)}


def measure() -> dict[str, Any]:
    _audit()  # start-up: imports, and the workers
    return {
        "audit of a million Laplace outputs a side, given the pair, after start-up (s)": _spread(_audit),
        "auditor --help (s)": _spread(
            lambda: subprocess.run([sys.executable, "-m", "auditor", "--help"], check=True, capture_output=True)
        ),
        "import auditor (s)": _spread(lambda: subprocess.run([sys.executable, "-c", "import auditor"], check=True)),
        "python itself (s)": _spread(lambda: subprocess.run([sys.executable, "-c", "pass"], check=True)),
    }
