"""Exact intervals for the subsampled Gaussian: do they contain the value of another method, how wide are they, how long do they
take?

500 settings are drawn log-uniformly: sampling rate 1e-4 to 1, σ .3 to 30, 1 to 10,000 steps, δ 1e-9 to 1e-3. The value of
another method (``_other_ways``) lies inside if δ at the lower end is at least the δ asked for, and δ at the upper end at most
that. For a comparison with the PLD accountant of dp-accounting, install that package; both are timed in the same run. Settings
on which that accountant would take minutes (ε in the hundreds) are not timed.
"""

import math
import statistics
import time
import tracemalloc
from typing import Any

import numpy as np

from auditor.exact import Gaussian, Interval, Poisson, Process, epsilon_interval
from benchmarks._other_ways import contour_delta, recursive_delta

SETTINGS, SEED = 500, 72
Setting = tuple[float, float, int, float]


def drawn() -> list[Setting]:
    rng = np.random.default_rng(SEED)
    logs = rng.uniform([-4, math.log10(0.3), 0, -9], [0, math.log10(30), 4, -3], (SETTINGS, 4))
    return [(10**q, 10**s, max(1, round(10**t)), 10**d) for q, s, t, d in logs.tolist()]


def process(setting: Setting) -> Process:
    rate, sigma, steps, _ = setting
    return Process(Gaussian(sigma), sampling=Poisson(rate), steps=steps)


def other_delta(setting: Setting, epsilon: float) -> float:
    """Return δ at ε by a method other than the auditor's, in the worse direction.

    NaN if that method does not converge for the direction in which the record is removed; if it does not for the other one, that
    direction is left out.
    """
    rate, sigma, steps, _ = setting
    values = []
    for added in (False, True):
        short = recursive_delta(rate, sigma, steps, epsilon, added=added) if steps <= 6 else math.nan
        value = short if steps <= 6 else contour_delta(rate, sigma, steps, epsilon, added=added)
        values.append(value)
    largest = values[0] if math.isnan(values[1]) else max(values)
    return math.nan if math.isnan(values[0]) else largest


def is_held(setting: Setting, interval: Interval) -> bool | None:
    """Return whether the other method agrees that the exact ε lies in the interval; None if that method gives no answer.

    The relative error of δ is below 1e-4 for the contour integral, and up to 2e-3 for the recursion at small σ, which moves ε
    by about 1e-4.
    """
    delta, near = setting[3], 2e-3 if setting[2] <= 6 else 1e-4
    at_high = other_delta(setting, interval.high)
    at_low = other_delta(setting, interval.low) if interval.low > 0 else math.inf
    if math.isnan(at_high) or math.isnan(at_low):
        return None
    return at_high <= delta * (1 + near) and at_low >= delta * (1 - near)


def seconds(call: Any) -> float:
    started = time.perf_counter()
    call()
    return time.perf_counter() - started


def accountant_seconds(setting: Setting) -> float | None:
    """Return the seconds that an accountant of dp-accounting takes, or None if it is missing or would take too long."""
    rate, sigma, steps, delta = setting
    if steps * rate / sigma**2 > 300 or (sigma < 0.4 and steps > 3_000):
        return None
    try:
        import dp_accounting
        from dp_accounting.pld import PLDAccountant
    except ImportError:
        return None

    def account() -> None:
        accountant = PLDAccountant()
        accountant.compose(dp_accounting.PoissonSampledDpEvent(rate, dp_accounting.GaussianDpEvent(sigma)), steps)
        accountant.get_epsilon(delta)

    return seconds(account)


def measure() -> dict[str, Any]:
    settings = drawn()
    epsilon_interval(process(settings[0]), settings[0][3])  # start-up
    accountant_seconds(settings[0])
    inside: list[bool | None] = []
    widths, times, ratios, outside = [], [], [], []
    for setting in settings:
        interval = epsilon_interval(process(setting), setting[3])
        times.append(seconds(lambda setting=setting: epsilon_interval(process(setting), setting[3])))
        widths.append(interval.relative_width)
        inside.append(is_held(setting, interval))
        if inside[-1] is False:
            outside.append([*setting, interval.low, interval.high])
        if (other := accountant_seconds(setting)) is not None:
            ratios.append(times[-1] / other)
    tracemalloc.start()
    epsilon_interval(process(settings[int(np.argmax(times))]), settings[int(np.argmax(times))][3])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    closed = Process(Gaussian(1.0), steps=1_000)
    closed_time = min(seconds(lambda: epsilon_interval(closed, 1e-10)) for _ in range(200))
    return {
        "settings": len(settings),
        "hold the value of another way": inside.count(True),
        "do not": inside.count(False),
        "no other way has an answer": inside.count(None),
        "outside": outside,
        "at most 1 % wide (share)": sum(width <= 0.01 for width in widths) / len(widths),
        "widest": max(widths),
        "seconds": {"median": statistics.median(times), "worst": max(times)},
        "memory of the slowest (MB)": peak / 1e6,
        "closed form (s)": closed_time,
        "times as long as an accountant of dp-accounting": {
            "timed": len(ratios),
            "median": statistics.median(ratios) if ratios else None,
            "worst": max(ratios, default=None),
            "share above 3": sum(ratio > 3 for ratio in ratios) / len(ratios) if ratios else None,
        },
    }


if __name__ == "__main__":
    print(measure())
