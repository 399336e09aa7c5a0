"""Thirty further faults of the kinds of :mod:`escapes`, each with its domain only, its claim, and a sound twin.

All release a count, a sum or a histogram with Laplace noise for ε = 1, and one thing beside it.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from escapes import E1, PEOPLE, Escape, Mechanism, Rng

from auditor.neighbours.domains import Domain, Value
from auditor.neighbours.records import Records
from auditor.neighbours.totals import Totals

GRADES = Records((0, 9), integer=True, size=(0, 10))
BINS = Records((0, 3), integer=True, size=(0, 10))
ROWS = Records((0.0, 10.0), size=(0, 10))


def noisy_count(change: Callable[[Any, Any, Rng], Any]) -> Mechanism:
    """Return a noisy count, changed: ``change(records, noisy, rng)``."""

    def release(records: Any, size: int, rng: Rng) -> Any:
        return change(np.asarray(records), len(records) + rng.laplace(size=size), rng)

    return release


def noisy_one(change: Callable[[Any, float], Any]) -> Mechanism:
    """Return a noisy count, one a call, changed: ``change(records, noisy)``."""

    def release(records: Any, rng: Rng) -> Any:
        return change(np.asarray(records), float(len(records) + rng.laplace()))

    return release


def noisy_sum(value: Callable[[Any], float], bound: float = 1.0) -> Mechanism:
    def release(records: Any, size: int, rng: Rng) -> Any:
        return float(value(np.asarray(records))) + rng.laplace(0.0, bound, size)

    return release


def noisy_bins(noise: Callable[[int, Rng], Any]) -> Mechanism:
    def release(records: Any, size: int, rng: Rng) -> Any:
        return np.bincount(np.asarray(records, dtype=int), minlength=4)[:4] + noise(size, rng)

    return release


def named_bins(name: Callable[[Any], Any]) -> Mechanism:
    def release(records: Any, size: int, rng: Rng) -> Any:
        counts = np.bincount(np.asarray(records, dtype=int), minlength=4)[:4]
        return np.hstack([counts + four(size, rng), np.full((size, 1), name(counts))])

    return release


def count_with(noise: Callable[[int, int, Rng], Any]) -> Mechanism:
    def release(records: Any, size: int, rng: Rng) -> Any:
        return len(records) + noise(len(records), size, rng)

    return release


def truthful(p: float) -> Mechanism:
    def release(bit: Any, size: int, rng: Rng) -> Any:
        return np.where(rng.random(size) < p, bit, 1 - bit)

    return release


def best_of(scale: float) -> Mechanism:
    def release(totals: Any, size: int, rng: Rng) -> Any:
        return np.argmax(np.asarray(totals) + rng.exponential(scale, (size, len(totals))), axis=1)

    return release


def _same(records: Any, noisy: Any, rng: Rng | None = None) -> Any:
    return noisy


COUNT, ONE = noisy_count(_same), noisy_one(_same)


def laplace(n: int, size: int, rng: Rng) -> Any:
    return rng.laplace(size=size)


def four(size: int, rng: Rng) -> Any:
    return rng.laplace(size=(size, 4))


def changed(faulty: Callable[[Any, Any, Rng], Any], domain: Domain = PEOPLE) -> Escape:
    return Escape(noisy_count(faulty), COUNT, E1, domain)


def written(faulty: Callable[[Any, float], Any], sound: Callable[[Any, float], Any], domain: Domain = PEOPLE) -> Escape:
    return Escape(noisy_one(faulty), noisy_one(sound), E1, domain)


MORE = {
    "negative answers replaced by the count": changed(lambda d, x, rng: np.where(x < 0, float(len(d)), x)),
    "no noise at one size": changed(lambda d, x, rng: np.full_like(x, 7.0) if len(d) == 7 else x),
    "a record released once in 300": changed(
        lambda d, x, rng: np.where(rng.random(len(x)) < 1 / 300, d[0] if len(d) else -1.0, x)
    ),
    "the parity released once in 500": changed(lambda d, x, rng: np.where(rng.random(len(x)) < 1 / 500, len(d) % 2, x)),
    "capped six above the count": changed(lambda d, x, rng: np.minimum(x, len(d) + 6.0)),
    "floored six below the count": changed(lambda d, x, rng: np.maximum(x, len(d) - 6.0)),
    "nan where the data are empty": changed(lambda d, x, rng: x if len(d) else np.full_like(x, np.nan)),
    "a fixed answer for the empty data, once in 200": changed(
        lambda d, x, rng: np.where((rng.random(len(x)) < 1 / 200) & (len(d) == 0), 0.0, x)
    ),
    "one value of ten weighs five": changed(lambda d, x, rng: x + 4.0 * np.any(d == 6), GRADES),
    "two values together weigh five": changed(lambda d, x, rng: x + 4.0 * (np.any(d == 3) and np.any(d == 8)), GRADES),
    "the last record weighs its value": changed(lambda d, x, rng: x + (d[-1] if len(d) else 0.0), GRADES),
    "three equal records stop the noise": changed(
        lambda d, x, rng: np.full_like(x, len(d)) if len(d) and np.unique(d, return_counts=True)[1].max() > 2 else x,
        BINS,
    ),
    "records above nine are not clipped": Escape(
        noisy_sum(lambda d: np.where(d > 9, d, np.minimum(d, 1)).sum()),
        noisy_sum(lambda d: np.minimum(d, 1).sum()),
        E1,
        ROWS,
    ),
    "a sum of rows up to ten with noise for one": Escape(
        noisy_sum(lambda d: d.sum()), noisy_sum(lambda d: d.sum(), 10.0), E1, ROWS
    ),
    "equal pairs are counted": Escape(
        noisy_sum(lambda d: sum(n * (n - 1) / 2 for n in np.unique(d, return_counts=True)[1])),
        noisy_sum(lambda d: len(np.unique(d))),
        E1,
        GRADES,
    ),
    "the largest record once in 100": changed(
        lambda d, x, rng: np.where(rng.random(len(x)) < 0.01, d.max(initial=0.0), x)
    ),
    "two bins share their noise": Escape(
        noisy_bins(lambda size, rng: rng.laplace(size=(size, 3))[:, [0, 1, 1, 2]]), noisy_bins(four), E1, BINS
    ),
    "the third bin has a third of the noise": Escape(
        noisy_bins(lambda size, rng: four(size, rng) * [1, 1, 1 / 3, 1]), noisy_bins(four), E1, BINS
    ),
    "the fullest bin is named": Escape(named_bins(np.argmax), named_bins(lambda counts: 0), E1, BINS),
    "noise on one side only": Escape(
        count_with(lambda n, size, rng: rng.exponential(size=size)), count_with(laplace), E1, PEOPLE
    ),
    "uniform noise": Escape(
        count_with(lambda n, size, rng: rng.uniform(-50, 50, size)), count_with(laplace), E1, PEOPLE
    ),
    "Gaussian noise for pure ε": Escape(
        count_with(lambda n, size, rng: rng.normal(0, 1.5, size)), count_with(laplace), E1, PEOPLE
    ),
    "half of the noise above five records": Escape(
        count_with(lambda n, size, rng: rng.laplace(0, 0.5 if n > 5 else 1.0, size)), count_with(laplace), E1, PEOPLE
    ),
    "whole numbers where the count is even": written(lambda d, x: round(x) if len(d) % 2 == 0 else x, lambda d, x: x),
    "words below three records": written(lambda d, x: "few" if len(d) < 3 else x, lambda d, x: "few" if x < 3 else x),
    "a key is missing where nothing was counted": written(
        lambda d, x: {"count": x, "any": True} if len(d) else {"count": x}, lambda d, x: {"count": x, "any": True}
    ),
    "as many entries as records": written(lambda d, x: [x] * min(len(d), 3), lambda d, x: [x] * 3),
    "one decimal less below five records": written(
        lambda d, x: f"{x:.{2 if len(d) < 5 else 3}f}", lambda d, x: f"{x:.3f}"
    ),
    "truthful a little too often": Escape(truthful(0.78), truthful(0.731), E1, Value(values=[0, 1])),
    "the best of ten with noise for half the sensitivity": Escape(
        best_of(0.5), best_of(2.0), E1, Totals(cells=10, values=(-10, 10), contribution={"linf": 1})
    ),
}
