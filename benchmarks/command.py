"""Programs in other languages: how fast an audit draws outputs, against how fast the program can write them."""

import statistics
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from auditor.blackbox.batches import Phase
from auditor.blackbox.command import Command, Program
from auditor.blackbox.sample import Sample
from auditor.blackbox.sampling import PIECES, Execution, Sampler
from auditor.neighbours.pair import Pair

FOLDER = Path(__file__).parent.parent / "examples" / "node"
COMMAND = ["node", "laplace.js"]
PAIR = Pair([1, 2, 3], [1, 2])
PARAMETERS = {"scale": 1.0}
OUTPUTS, REPEATS = 30 * 65_536, 7


def _alone() -> float:
    """Return how many outputs per second the program writes by itself, given the audit's requests, with its output discarded."""
    asked = Program(Command(COMMAND, str(FOLDER)), PARAMETERS)._asked(PAIR.left)
    rng = np.random.default_rng(0)
    size = OUTPUTS // PIECES // 2
    requests = b"".join(asked % (size, rng.integers(2**53)) for _ in range(2 * PIECES))
    with tempfile.TemporaryFile() as file:
        file.write(requests)
        file.seek(0)
        started = time.perf_counter()
        subprocess.run(COMMAND, cwd=FOLDER, stdin=file, stdout=subprocess.DEVNULL, check=True)
        return OUTPUTS / (time.perf_counter() - started)


def _size(sample: Sample) -> int:
    return sample.size


def _drawn(workers: int) -> float:
    """Return how many outputs per second an audit draws, including the start of the program."""
    command = Command(COMMAND, str(FOLDER))
    sampler = Sampler(Program(command, PARAMETERS), "speed", 0, Execution(workers=workers))
    started = time.perf_counter()
    drawn = sum(sampler.map(sampler.batches(PAIR, OUTPUTS, Phase.BOUND), _size))
    seconds = time.perf_counter() - started
    sampler.source.close()
    return drawn / seconds


def measure() -> dict[str, Any]:
    # They take turns within each repeat, so that both run under the same load.
    rates = [(_alone(), _drawn(1), _drawn(-1)) for _ in range(REPEATS)]
    alone, one_worker, all_cores = (statistics.median(rate[i] for rate in rates) for i in range(3))
    return {
        "node program < requests > /dev/null (outputs/s)": round(alone),
        "drawn by an audit with one worker (outputs/s)": round(one_worker),
        "drawn by an audit with a worker for each core (outputs/s)": round(all_cores),
        "ratio, one worker": round(statistics.median(b / a for a, b, _ in rates), 3),
        "ratio, a worker for each core": round(statistics.median(c / a for a, _, c in rates), 3),
    }
