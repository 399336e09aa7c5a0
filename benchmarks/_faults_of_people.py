"""Faults as they occur in practice, each with the domain and the claim that its author would state, and with a sound twin.

Each is audited with the default settings. A pair is given only where the case says so; nothing is tuned to a case.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import auditor
from auditor.claims import PrivacyClaim
from auditor.interfaces import Domain
from auditor.neighbours.domains import Pairs, Value
from auditor.neighbours.records import Records
from auditor.neighbours.totals import Totals
from benchmarks._faults import with_laplace

Rng = np.random.Generator
E1 = auditor.PureDP(1.0)
PEOPLE, ROWS = Records((0.0, 1.0), size=(0, 10)), Records((0.0, 10.0), size=(0, 10))
GRADES, BINS = (Records((0, last), integer=True, size=(0, 10)) for last in (9, 3))
ONE_MORE = Pairs([([0.0] * 3, [0.0] * 4)])
KEYS_DELTA, BASE = 0.005, 2**50


@dataclass(frozen=True, slots=True)
class Fault:
    """A faulty mechanism and its sound twin, with the same claim on the same domain."""

    faulty: Any
    sound: Any
    claim: PrivacyClaim = E1
    domain: Domain = PEOPLE
    settings: dict[str, Any] = field(default_factory=dict)

    def audit(self, mechanism: Any, seed: int = 1, **settings: Any) -> auditor.AuditResult:
        given = {"shrink": False, "name": "fault", "seed": seed, **self.settings, **settings}
        return auditor.audit(mechanism, self.claim, self.domain, **given)


def counted(change: Callable[[Any, Any, Rng], Any]) -> Any:
    """Build a mechanism that releases a noisy count after a change: ``change(records, noisy, rng)``."""
    return lambda records, size, rng: change(np.asarray(records), with_laplace(len(records), size, rng), rng)


COUNT = counted(lambda d, x, rng: x)


def changed(faulty: Callable[[Any, Any, Rng], Any], domain: Domain = PEOPLE, **more: Any) -> Fault:
    return Fault(counted(faulty), COUNT, domain=domain, **more)


def noised(answer: Callable[[Any], Any], scale: float = 1.0) -> Any:
    """Build a mechanism that releases a function of the records with noise."""
    return lambda records, size, rng: with_laplace(answer(np.asarray(records)), size, rng, scale)


def in_bins(records: Any) -> Any:
    return np.bincount(np.asarray(records, dtype=int), minlength=4)[:4]


def binned(noise: Callable[[int, Rng], Any]) -> Any:
    return lambda records, size, rng: in_bins(records) + noise(size, rng)


def four(size: int, rng: Rng) -> Any:
    return rng.laplace(size=(size, 4))


def named_bins(name: Callable[[Any], Any]) -> Any:
    def release(records: Any, size: int, rng: Rng) -> Any:
        counts = in_bins(records)
        return np.hstack([counts + four(size, rng), np.full((size, 1), name(counts))])

    return release


def histogram_above(delta: float) -> Any:
    """Suppress keys with a small noisy count; a key with a count of 1 is released with probability delta."""

    def release(records: Any, rng: Rng) -> dict[str, float]:
        keys = sorted(set(records.tolist()))
        noisy = {f"key {key:g}": np.count_nonzero(records == key) + rng.laplace() for key in keys}
        return {key: count for key, count in noisy.items() if count > 1 - math.log(2 * delta)}

    return release


def cut_off_at(scales: float) -> Any:
    def release(records: Any, size: int, rng: Rng) -> Any:
        tail = math.exp(-scales) / 2
        u = rng.uniform(tail, 1 - tail, size)
        return len(records) + np.where(u < 0.5, np.log(2 * u), -np.log(2 * (1 - u)))

    return release


def with_a_bare_bin(records: Any, size: int, rng: Rng) -> Any:
    return in_bins(records) + four(size, rng) * [1, 1, 0, 1]


def rows_released(limit: float) -> Any:
    """Each record is one person's number of rows; their sum is released if it is above a threshold."""

    def release(rows: Any, rng: Rng) -> dict[str, float]:
        total = float(np.minimum(rows, limit).sum()) + 10.0 * rng.laplace()
        return {"rows": total} if total > 100 else {}

    return release


def slope(clipped: bool) -> Any:
    """A regression slope that one outlier can move far. Its author assumes that one of n points moves it by at most 20/n."""

    def release(records: Any, size: int, rng: Rng) -> Any:
        x, y = np.asarray(records).T
        spread = float(((x - x.mean()) ** 2).sum())
        found = float(((x - x.mean()) * (y - y.mean())).sum()) / spread if spread > 0 else 0.0
        return with_laplace(np.clip(found, -10.0, 10.0), size, rng, 20.0 if clipped else 20.0 / len(x))

    return release


def variance(found: Callable[[Any], float]) -> Any:
    return lambda records, size, rng: with_laplace(
        found(np.asarray(records, dtype=float)), size, rng, 1.0 / len(records)
    )


def not_negative(records: Any, size: int, rng: Rng) -> Any:
    noisy = with_laplace(len(records), size, rng)
    while np.any(noisy < 0):
        noisy = np.where(noisy < 0, with_laplace(len(records), size, rng), noisy)
    return noisy


def truthful(p: float) -> Any:
    return lambda bit, size, rng: np.where(rng.random(size) < p, bit, 1 - bit)


def best_of(scale: float) -> Any:
    return lambda totals, size, rng: np.argmax(np.asarray(totals) + rng.exponential(scale, (size, len(totals))), axis=1)


def released_raw(once_in: int, domain: Domain = PEOPLE, **more: Any) -> Fault:
    return changed(lambda d, x, rng: np.where(rng.random(len(x)) < 1 / once_in, float(len(d)), x), domain, **more)


FAULTS = {
    "threshold too low for δ": Fault(
        histogram_above(0.013),
        histogram_above(KEYS_DELTA),
        auditor.ApproximateDP(1.0, KEYS_DELTA),
        Records((0, 20), integer=True, size=(0, 10)),
    ),
    "raw answer once in a thousand": released_raw(1000),
    "raw answer once in 20,000": released_raw(20_000, claim=auditor.ApproximateDP(1.0, 1e-6)),
    "noise cut off at 7 scales": Fault(cut_off_at(7.0), cut_off_at(700.0)),
    "one of four bins is bare": Fault(with_a_bare_bin, binned(four), domain=Records((0, 3), integer=True, size=(0, 5))),
    "rows a person without a limit": Fault(
        rows_released(math.inf), rows_released(10.0), domain=Records((0, 100), integer=True, size=(0, 10))
    ),
    "scale by parity": changed(lambda d, x, rng: x + 0.15 * (x - len(d)) * (len(d) % 2), ONE_MORE),
    "one value of a hundred": changed(
        lambda d, x, rng: x + 10.0 * np.any(d == 37), Records((0, 99), integer=True, size=(0, 10))
    ),
    "one order of thousands": changed(
        lambda d, x, rng: x + 10.0 * np.any((d[:-1] == 37) & (d[1:] == 21)),
        Records((0, 63), integer=True, size=(0, 30)),
    ),
    "slope and a far point": Fault(
        slope(False), slope(True), domain=Records((0.0, 1.0), size=(2, 100), columns=2, relation="substitute")
    ),
    "variance far from zero": Fault(
        variance(lambda x: float(np.sum(x * x) / len(x) - (np.sum(x) / len(x)) ** 2)),
        variance(lambda x: float(np.var(x - BASE))),
        domain=Records((float(BASE), BASE + 1.0), size=(1024, 1024), relation="substitute"),
    ),
    "negative counts are drawn again": Fault(
        not_negative, counted(lambda d, x, rng: np.maximum(x, 0.0)), domain=Records((0.0, 1.0), size=(0, 20))
    ),
    "negative answers replaced by the count": changed(lambda d, x, rng: np.where(x < 0, float(len(d)), x)),
    "no noise at one size": changed(lambda d, x, rng: np.full_like(x, 7.0) if len(d) == 7 else x),
    "a record released once in 300": changed(
        lambda d, x, rng: np.where(rng.random(len(x)) < 1 / 300, d[0] if len(d) else -1.0, x)
    ),
    "capped six above the count": changed(lambda d, x, rng: np.minimum(x, len(d) + 6.0)),
    "a fixed answer for the empty data, once in 200": changed(
        lambda d, x, rng: np.where((rng.random(len(x)) < 1 / 200) & (len(d) == 0), 0.0, x)
    ),
    "two values together weigh five": changed(lambda d, x, rng: x + 4.0 * (np.any(d == 3) and np.any(d == 8)), GRADES),
    "the last record weighs its value": changed(lambda d, x, rng: x + (d[-1] if len(d) else 0.0), GRADES),
    "three equal records stop the noise": changed(
        lambda d, x, rng: np.full_like(x, len(d)) if len(d) and np.unique(d, return_counts=True)[1].max() > 2 else x,
        BINS,
    ),
    "records above nine are not clipped": Fault(
        noised(lambda d: np.where(d > 9, d, np.minimum(d, 1)).sum()), noised(lambda d: np.minimum(d, 1).sum()), E1, ROWS
    ),
    "a sum of rows up to ten with noise for one": Fault(
        noised(lambda d: d.sum()), noised(lambda d: d.sum(), 10.0), E1, ROWS
    ),
    "equal pairs are counted": Fault(
        noised(lambda d: sum(n * (n - 1) / 2 for n in np.unique(d, return_counts=True)[1])),
        noised(lambda d: len(np.unique(d))),
        domain=GRADES,
    ),
    "two bins share their noise": Fault(
        binned(lambda size, rng: rng.laplace(size=(size, 3))[:, [0, 1, 1, 2]]), binned(four), E1, BINS
    ),
    "the fullest bin is named": Fault(named_bins(np.argmax), named_bins(lambda counts: 0), E1, BINS),
    "uniform noise": Fault(lambda d, size, rng: len(d) + rng.uniform(-50, 50, size), COUNT),
    "Gaussian noise for pure ε": Fault(lambda d, size, rng: len(d) + rng.normal(0, 1.5, size), COUNT),
    "half of the noise above five records": changed(lambda d, x, rng: x - (x - len(d)) / 2 * (len(d) > 5)),
    "truthful a little too often": Fault(truthful(0.78), truthful(0.731), domain=Value(values=[0, 1])),
    "the best of ten with noise for half the sensitivity": Fault(
        best_of(0.5), best_of(2.0), domain=Totals(cells=10, values=(-10, 10), contribution={"linf": 1})
    ),
}
