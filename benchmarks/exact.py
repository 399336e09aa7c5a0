"""Exact intervals for Gaussian noise: do they contain the value of another method, how wide are they, what do they cost?

500 settings of the subsampled Gaussian are drawn log-uniformly: sampling rate 1e-4 to 1, σ .3 to 30, 1 to 10,000 steps, δ 1e-9
to 1e-3; and 100 without sampling, whose ε has a closed form, with δ down to 1e-30. The value of another method (``_other_ways``)
lies inside if δ at the lower end is at least the δ asked for, and δ at the upper end at most that, in the worse direction.

For a comparison with the PLD accountant of dp-accounting, install that package. Both are measured in the same run, by the
processor's time of one thread, and short calls by the mean of several. Each runs in a process of its own; the accountant's ends
after LIMIT seconds or at MEMORY bytes: then the ratio is one to LIMIT, and the true one is smaller. The memory is what a process
grows by.

The committed figures were measured in parts: the first 400 settings with sampling, and the other 100; of those without sampling
every third one, then 35 others, and 31 without the accountant, which needs half a minute and gigabytes for some.
"""

import json
import math
import multiprocessing
import os
import resource
import statistics
import time
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection
from typing import Any

import numpy as np

from auditor.exact import Gaussian, Interval, Poisson, Process, epsilon_interval
from benchmarks._other_ways import contour_delta, gaussian_delta, recursive_delta

SETTINGS, WITHOUT_SAMPLING, SEED = 500, 100, 72
# The relative errors of δ: by the contour integral, which is used from SHORTEST steps on; by the recursion over fewer steps, which
# needs no spline; by that over the few steps more at which the integral may not converge; and by decimals, as a float.
NEAR, SHORTEST = 5e-5, 3
NEAR_OF_ONE_OR_TWO = 1e-9
NEAR_OF_FEW, FEW = 2e-3, 6
NEAR_OF_DECIMALS = 1e-15
LIMIT, MEMORY = 30, 6 * 2**30
SHORT = 0.05  # seconds, in which a call is repeated
CHUNK = 25
Setting = tuple[float, float, int, float]


def drawn() -> list[Setting]:
    """Return the settings: rate, σ, steps, δ."""
    rng = np.random.default_rng(SEED)
    logs = rng.uniform([-4, math.log10(0.3), 0, -9], [0, math.log10(30), 4, -3], (SETTINGS, 4))
    sampled = [(10**q, 10**s, max(1, round(10**t)), 10**d) for q, s, t, d in logs.tolist()]
    logs = rng.uniform([math.log10(0.3), 0, -30], [math.log10(30), 4, -3], (WITHOUT_SAMPLING, 3))
    return [*sampled, *((1.0, 10**s, max(1, round(10**t)), 10**d) for s, t, d in logs.tolist())]


def process(setting: Setting) -> Process:
    rate, sigma, steps, _ = setting
    return Process(Gaussian(sigma), sampling=Poisson(rate) if rate < 1 else None, steps=steps)


def other_delta(setting: Setting, epsilon: float) -> tuple[float, float]:
    """Return δ at ε by a method other than the auditor's, in the worse direction, and its relative error.

    δ is NaN if no method converges for one of the directions, of which any might be the worse one.
    """
    rate, sigma, steps, _ = setting
    if rate == 1:
        return float(gaussian_delta(math.sqrt(steps) / sigma, epsilon)), NEAR_OF_DECIMALS
    values, near = [], NEAR if steps >= SHORTEST else NEAR_OF_ONE_OR_TWO
    for added in (False, True):
        value = contour_delta(rate, sigma, steps, epsilon, added=added) if steps >= SHORTEST else math.nan
        if math.isnan(value) and steps <= FEW:
            value = recursive_delta(rate, sigma, steps, epsilon, added=added)
            near = NEAR_OF_FEW if steps >= SHORTEST else near
        values.append(value)
    return float(np.max(values)), near  # not `max`, which may drop a NaN


def is_inside(setting: Setting, interval: Interval) -> bool | None:
    """Return whether the other method agrees that the exact ε lies in the interval, to within its error; None if it gives no
    answer.
    """
    delta = setting[3]
    at_high, near = other_delta(setting, interval.high)
    at_low, near_at_low = other_delta(setting, interval.low) if interval.low > 0 else (math.inf, 0.0)
    if math.isnan(at_high) or math.isnan(at_low):
        return None
    return at_high <= delta * (1 + near) and at_low >= delta * (1 - near_at_low)


def account(setting: Setting) -> None:
    """Compute ε by the PLD accountant. Raises ImportError if its package is missing."""
    from dp_accounting import GaussianDpEvent, PoissonSampledDpEvent
    from dp_accounting.pld import PLDAccountant

    rate, sigma, steps, delta = setting
    accountant, event = PLDAccountant(), GaussianDpEvent(sigma)
    accountant.compose(PoissonSampledDpEvent(rate, event) if rate < 1 else event, steps)
    accountant.get_epsilon(delta)


def _measured(call: Callable[[], object], answer: Connection) -> None:
    """Send the processor's seconds and the megabytes of a call; nothing if it is stopped at a limit."""
    resource.setrlimit(resource.RLIMIT_CPU, (LIMIT, LIMIT))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    before, first, calls = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time(), 0
    started = first
    while not calls or time.process_time() - first < SHORT:
        if calls == 1:  # the first call also fills caches
            started = time.process_time()
        call()
        calls += 1
    taken = (time.process_time() - started) / max(1, calls - 1)
    answer.send((taken, (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024))


def in_process(call: Callable[[], object]) -> tuple[float, float] | None:
    """Return the processor's seconds and the megabytes of a call in a process of its own; None if it was stopped at a limit."""
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    child = context.Process(target=_measured, args=(call, sender))
    child.start()
    sender.close()
    try:
        measured: tuple[float, float] = receiver.recv()
    except EOFError:
        return None
    finally:
        child.join()
        receiver.close()
    return measured


def row(setting: Setting, *, compare: bool) -> dict[str, Any]:
    """Return what a setting shows; ``compare`` says whether the accountant is measured as well."""

    def compute() -> Interval:
        return epsilon_interval(process(setting), setting[3])

    interval = compute()
    measured = in_process(compute)
    assert measured is not None
    return {
        "setting": setting,
        "ends": (interval.low, interval.high),
        "width": interval.relative_width,
        "inside": is_inside(setting, interval),
        "seconds": measured[0],
        "MB": measured[1],
        "accountant": in_process(lambda: account(setting)) if compare else None,
        "compared": compare,
    }


def _spread(values: list[float]) -> dict[str, float]:
    return {"median": statistics.median(values), "worst": max(values)} if values else {}


def figures_of(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the figures of some settings."""
    compared = [each for each in rows if each["compared"]]
    stopped = [each for each in compared if each["accountant"] is None]
    ratios = [each["seconds"] / (each["accountant"] or (LIMIT, 0))[0] for each in compared]
    answered = [each["accountant"] for each in compared if each["accountant"] is not None]
    return {
        "settings": len(rows),
        "contain the value of another method": sum(each["inside"] is True for each in rows),
        "do not": [[*each["setting"], *each["ends"]] for each in rows if each["inside"] is False],
        "the other method has no answer": sum(each["inside"] is None for each in rows),
        "at most 1 % wide (share)": sum(each["width"] <= 0.01 for each in rows) / max(1, len(rows)),
        "relative width": _spread([each["width"] for each in rows]),
        "seconds": _spread([each["seconds"] for each in rows]),
        "MB": _spread([each["MB"] for each in rows]),
        "an accountant of dp-accounting": {
            "compared": len(compared),
            "stopped at a limit": len(stopped),
            "seconds": _spread([taken for taken, _ in answered]),
            "MB": _spread([megabytes for _, megabytes in answered]),
            "times as long as it": _spread(ratios),
            "share above 3": sum(ratio > 3 for ratio in ratios) / max(1, len(ratios)),
            "share above 1/1000": sum(ratio > 1e-3 for ratio in ratios) / max(1, len(ratios)),
        },
    }


def measure() -> Iterator[dict[str, Any]]:
    """Yield the figures after each CHUNK settings."""
    if os.environ.get("OPENBLAS_NUM_THREADS") != "1":
        raise SystemExit("set OPENBLAS_NUM_THREADS=1, so that no threads wait for each other on the processor")
    settings = drawn()
    try:
        account(settings[0])  # start-up
        compare = True
    except ImportError:
        compare = False
    for setting in (settings[0], settings[-1]):
        epsilon_interval(process(setting), setting[3])
    rows = []
    for number, setting in enumerate(settings, 1):
        rows.append(row(setting, compare=compare))
        if number % CHUNK == 0:
            yield {
                "Poisson sampling": figures_of([each for each in rows if each["setting"][0] < 1]),
                "closed form": figures_of([each for each in rows if each["setting"][0] == 1]),
            }


if __name__ == "__main__":
    for figures in measure():
        print(json.dumps(figures, indent=1))
