"""The throughput of an audit relative to its mechanism: outputs of all phases per second, against processes that only sample."""

import statistics
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from joblib import Parallel, cpu_count, delayed

import auditor
from benchmarks._shapes import laplace, one_dict, one_float, one_list, randomised_response, strings, tuples, vector

REPEATS = 3
BATCH = 16_384


# Each with a number of outputs for the bound that makes an audit last three seconds or more. A shorter audit spends a
# larger part of its time on starting processes and on learning from the selection, which hardly grow with the outputs.
MECHANISMS: dict[str, tuple[Callable[..., Any], int]] = {
    "Laplace noise, batch": (laplace, 200_000_000),
    "randomised response, batch": (randomised_response, 750_000_000),
    "10 numbers with Laplace noise, batch": (vector, 20_000_000),
    "a float a call": (one_float, 8_000_000),
    "a dict with a count and a list of keys a call": (one_dict, 1_000_000),
    "a list of 3 numbers a call": (one_list, 2_500_000),
    "a list of strings, batch": (strings, 40_000_000),
    "a list of tuples of 2 numbers, batch": (tuples, 15_000_000),
}


def _draw(mechanism: Callable[..., Any], outputs: int) -> None:
    rng = np.random.default_rng(0)
    if "size" in mechanism.__code__.co_varnames[: mechanism.__code__.co_argcount]:
        for _ in range(0, outputs, BATCH):
            mechanism(1, BATCH, rng)
    else:
        for _ in range(outputs):
            mechanism(1, rng)


def _drawn(mechanism: Callable[..., Any], outputs: int, processes: Parallel) -> float:
    """Return the outputs per second of one sampling process per core."""
    each = outputs // cpu_count()
    started = time.perf_counter()
    processes(delayed(_draw)(mechanism, each) for _ in range(cpu_count()))
    return outputs / (time.perf_counter() - started)


def _audited(mechanism: Callable[..., Any], outputs: int) -> float:
    """Return the outputs per second of an audit, including search and selection."""
    started = time.perf_counter()
    result = auditor.audit(mechanism, auditor.PureDP(1.0), [(1, 0)], samples=outputs, seed=1, shrink=False)
    return sum(result.outputs.to_dict().values()) / (time.perf_counter() - started)


def measure() -> Iterator[dict[str, Any]]:
    """Yield the figures after each mechanism."""
    figures = dict[str, Any]()
    with Parallel(cpu_count()) as processes:
        for name, (mechanism, outputs) in MECHANISMS.items():
            _drawn(mechanism, outputs // 20, processes)  # start-up
            _audited(mechanism, outputs // 20)
            # They take turns within each repeat, so that both run under the same load.
            rates = [(_drawn(mechanism, outputs, processes), _audited(mechanism, outputs)) for _ in range(REPEATS)]
            figures[name] = {
                "drawn (outputs/s)": round(statistics.median(drawn for drawn, _ in rates)),
                "audited (outputs/s)": round(statistics.median(audited for _, audited in rates)),
                "share": round(statistics.median(audited / drawn for drawn, audited in rates), 2),
            }
            yield figures
