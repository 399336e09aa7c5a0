"""How close an audit comes to the speed of bare sampling: by workers, by numbers of outputs, and on a local cluster.

Every figure is a ratio of times measured one after the other in this run, or follows arithmetically from such ratios.
"""

import functools
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

import auditor
from auditor.auditing.ledger import Ledger
from auditor.auditing.plan import Plan
from auditor.auditing.tally import Tally, count_in_parts
from auditor.blackbox.audit_store import AuditStore, Mode
from auditor.blackbox.batches import Batch, DrawnBatch, Phase, draw_all
from auditor.blackbox.encoding import encode
from auditor.blackbox.mechanism import PythonSource
from auditor.blackbox.sampling import A_SECOND, Execution
from auditor.blackbox.store import Store
from auditor.blackbox.workers import close_all
from auditor.methods import method_for
from auditor.neighbours.domains import Pairs
from auditor.neighbours.pair import Pair

LAPLACE, REPEATS = 10**8, 3
SIZES = tuple(10**k for k in range(5, 10))
MEMORY = (10**7, 10**9)
PYTHON, CLUSTER = 10**6, 10**7
BATCH = Execution().batch
CLAIM, PAIR = auditor.PureDP(1.0), Pair(0.0, 1.0)


def laplace(value: float, size: int, rng: np.random.Generator) -> Any:
    return rng.laplace(value, 1.0, size)


def ten_microseconds(value: float, rng: np.random.Generator) -> float:
    total = 0
    for i in range(250):
        total += i
    return float(rng.laplace(value, 1.0))


def one_microsecond(value: float, size: int, rng: np.random.Generator) -> Any:
    for _ in range(100):
        noise = rng.standard_normal(size)
    return value + noise


def mere_drawing(outputs: int) -> None:
    rng = np.random.default_rng(0)
    for _ in range(outputs // BATCH):
        rng.laplace(0.0, 1.0, BATCH)


def seconds(action: Callable[[], Any]) -> float:
    started = time.perf_counter()
    action()
    return time.perf_counter() - started


def audit(mechanism: Any, samples: int, **options: Any) -> Any:
    return auditor.audit(mechanism, CLAIM, [(PAIR.left, PAIR.right)], samples=samples, seed=1, shrink=False, **options)


def per_second(mechanism: Any, samples: int, **options: Any) -> float:
    """Return the outputs of all phases that an audit processes per second."""
    started = time.perf_counter()
    spent = audit(mechanism, samples, **options).outputs
    return float((spent.search + spent.selection + spent.bound) / (time.perf_counter() - started))


def against_mere_drawing() -> dict[str, Any]:
    ratios = []
    with ProcessPoolExecutor(2) as two:
        list(two.map(mere_drawing, [BATCH] * 2))
        for _ in range(REPEATS):
            drawing = LAPLACE / seconds(lambda: list(two.map(mere_drawing, [LAPLACE // 2] * 2)))
            ratios.append(per_second(laplace, LAPLACE, workers=2) / drawing)
    return {
        "outputs": LAPLACE,
        "rate of an audit / rate at which two processes merely draw": [round(ratio, 3) for ratio in sorted(ratios)],
        "median": round(statistics.median(ratios), 3),
        "drawn by": audit(laplace, LAPLACE, workers=2).drawn_by,
    }


def peak_memory(samples: int) -> float:
    """Return the peak memory in megabytes of the auditor's process and of its largest worker, for both cases."""
    text = (
        "import resource, benchmarks.scaling as s\n"
        f"s.audit(s.laplace, {samples}, workers=2)\n"
        "s.close_all()\n"
        "own, worker = (resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))\n"
        "print((own + 2 * worker) / 1024)"
    )
    shown = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True)
    return round(float(shown.stdout), 1)


def flatness() -> dict[str, Any]:
    """Return the seconds per output for each number of outputs, relative to the largest number."""
    each = {samples: 1 / per_second(laplace, samples, workers=2) for samples in SIZES}
    shares = [audit(laplace, samples, workers=2).outputs for samples in SIZES[:2]]
    domain = auditor.Totals(contributions=[[1]], people=(0, 50))
    searched = auditor.audit(laplace_of_totals, CLAIM, domain, samples=SIZES[1], shrink=False).outputs
    return {
        "cost of an output / that at the most outputs": {
            f"{n:.0e}": round(each[n] / each[SIZES[-1]], 2) for n in SIZES
        },
        "selection / bound": [round(spent.selection / spent.bound, 3) for spent in shares],
        "(search + selection) / bound, on a domain": round((searched.search + searched.selection) / searched.bound, 3),
    }


def laplace_of_totals(totals: Any, size: int, rng: np.random.Generator) -> Any:
    return rng.laplace(float(np.sum(totals)), 1.0, size)


def on_a_cluster() -> float:
    """Return how much longer an audit takes on two local workers of a Dask cluster than on two processes."""
    from distributed import LocalCluster

    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        there = {"backend": "dask", "address": cluster.scheduler_address}
        audit(one_microsecond, 10**5, **there)  # start-up
        ratios = []
        for _ in range(REPEATS):
            on_cluster = per_second(one_microsecond, CLUSTER, **there)
            ratios.append(per_second(one_microsecond, CLUSTER, workers=2, backend="loky") / on_cluster - 1)
        close_all()
    return round(statistics.median(ratios), 3)


def on_paper(outputs: float = 1e12, workers: int = 1000, day: float = 86_400.0) -> dict[str, Any]:
    """Extrapolate from the cost of a batch how much of a day the counting machine would need for this many outputs."""
    source = PythonSource("laplace", function=laplace)
    sample = audit_sample(source)
    test = method_for(CLAIM, "fixed", 1e-3, 10**6).learn(sample).test
    batches = [Batch(PAIR, BATCH, Phase.BOUND, (i,)) for i in range(2000)]
    drawn, _, took = draw_all(source, 0, "", functools.partial(count_in_parts, test), batches)
    drawing, tally = Ledger(Plan("paper", source, CLAIM, Pairs([(0.0, 1.0)]), 1e-3), lambda progress: None), Tally()

    def merge() -> None:
        for batch, sides in zip(batches, drawn, strict=True):
            drawing.guard.look(sides.left, sides.right, batch.label)
            tally.add(*sides.seen)

    each = seconds(merge) / len(batches)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "runs.sqlite"
        store = Store(path)
        store.begin({}, resume=False)
        kept = AuditStore(Mode.RESUME, store, "paper")
        note = {"tally": (vars(tally), drawing.guard.state())}
        keys = [(batch, DrawnBatch(sides.left, sides.right, None)) for batch, sides in zip(batches, drawn, strict=True)]
        kept.keep(keys[:1000], note)
        commit = min(seconds(lambda: kept.keep(notes=note)) for _ in range(5))
        store.close()
        state = path.stat().st_size
    number = outputs / BATCH
    return {
        "outputs": outputs,
        "workers": workers,
        "batches": round(number),
        "seconds that an output may take": day * workers / outputs,
        "tasks a second, which are two messages each": A_SECOND,
        "batches a second": round(number / day, 1),
        "time to merge a batch (µs)": round(each * 1e6, 1),
        "share of the day that one core merges": round(each * number / day, 4),
        "share of the day that it commits": round(commit * min(A_SECOND, number / day), 4),
        "bytes from workers a second": round(len(encode(drawn[0].seen)) + 2 * drawn[0].left.nbytes)
        * round(number / day),
        "stored state (bytes), whatever the number of outputs": state,
        "of which the tally": len(encode(note)),
        "drawing / merging of the same batches": round(took / (each * len(batches))),
    }


def audit_sample(source: PythonSource) -> Any:
    mechanism = source.drawer()
    rng = np.random.default_rng(0)
    return mechanism.draw(PAIR, rng.random(BATCH) < 0.5, rng)


def measure() -> dict[str, Any]:
    audit(laplace, 10**6, workers=2)  # start-up: imports, and the workers
    one_worker = statistics.median(
        per_second(ten_microseconds, PYTHON, workers=1, isolate=False) for _ in range(REPEATS)
    )
    two = statistics.median(per_second(ten_microseconds, PYTHON, workers=2) for _ in range(REPEATS))
    figures = {
        "Laplace by NumPy": against_mere_drawing(),
        "pure Python, 10 µs an output: two workers / one": round(two / one_worker, 3),
        "flatness": flatness(),
        "peak memory (MB)": {f"{samples:.0e}": peak_memory(samples) for samples in MEMORY},
        "the documents' configurations (s)": round(seconds(documents), 1),
        "longer on Dask than by two processes, 1 µs an output": on_a_cluster(),
        "a day's run on paper": on_paper(),
    }
    close_all()
    return figures


def documents() -> None:
    files = sorted(map(str, (Path(__file__).parent.parent / "configs").glob("00*.yaml")))
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "auditor", "run", *files, "--workers", "2", "--out", folder]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
