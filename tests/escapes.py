"""Faults as people write them, each with the domain and the claim that its author would state, and a sound twin.

A pair is given only where the case says so. Nothing is tuned for a case: the audit runs at its defaults.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import auditor
from auditor.claims import PrivacyClaim
from auditor.neighbours.domains import Domain, Pairs
from auditor.neighbours.records import Records

Rng = np.random.Generator
Mechanism = Callable[..., Any]


@dataclass(frozen=True, slots=True)
class Escape:
    """A faulty mechanism and its sound twin, both with one claim on one domain."""

    faulty: Mechanism
    sound: Mechanism
    claim: PrivacyClaim
    domain: Domain
    settings: dict[str, Any] = field(default_factory=dict)

    def audit(self, mechanism: Mechanism, seed: int, **settings: Any) -> auditor.AuditResult:
        return auditor.audit(mechanism, self.claim, self.domain, seed=seed, **{**self.settings, **settings})


def _laplace(answer: Any, size: int, rng: Rng, scale: float = 1.0) -> Any:
    answer = np.asarray(answer, dtype=float)
    return answer + rng.laplace(0.0, scale, (size, *answer.shape))


# A histogram of keys, where keys with a small noisy count are left out.


def histogram_above(threshold: float) -> Mechanism:
    def release(records: Any, rng: Rng) -> dict[str, float]:
        counts = {key: float(np.count_nonzero(records == key)) for key in sorted(set(records.tolist()))}
        noisy = {f"key {key:g}": count + rng.laplace() for key, count in counts.items()}
        return {key: count for key, count in noisy.items() if count > threshold}

    return release


KEYS_DELTA = 0.005


def threshold_for(delta: float) -> float:
    """Return the threshold that a count of 1 with Laplace noise of scale 1 exceeds with probability delta."""
    return 1 - math.log(2 * delta)


# A raw answer, now and then.


def count_released_raw(once_in: int) -> Mechanism:
    def release(records: Any, size: int, rng: Rng) -> Any:
        noisy = _laplace(len(records), size, rng)
        return np.where(rng.random(size) < 1 / once_in, float(len(records)), noisy) if once_in else noisy

    return release


# Noise that is cut off.


def count_truncated_at(scales: float) -> Mechanism:
    def release(records: Any, size: int, rng: Rng) -> Any:
        tail = math.exp(-scales) / 2
        u = rng.uniform(tail, 1 - tail, size)
        return len(records) + np.where(u < 0.5, np.log(2 * u), -np.log(2 * (1 - u)))

    return release


# Keys in the order of the true counts.


def counts_in_order(of_noisy: bool) -> Mechanism:
    def release(records: Any, rng: Rng) -> dict[str, float]:
        counts = {key: float(np.count_nonzero(records == i)) for i, key in enumerate("abcd")}
        noisy = {key: count + rng.laplace() for key, count in counts.items()}
        shown = noisy if of_noisy else counts
        return {key: noisy[key] for key in sorted(noisy, key=lambda key: -shown[key])}

    return release


# Decimals that depend on the answer.


def rounded_count(fixed: bool) -> Mechanism:
    def release(records: Any, size: int, rng: Rng) -> Any:
        decimals = 3 if fixed or len(records) < 5 else 4
        return np.round(_laplace(len(records), size, rng), decimals)

    return release


# One of four bins has no noise.


def four_bins(bare: bool) -> Mechanism:
    def release(records: Any, size: int, rng: Rng) -> Any:
        noisy = _laplace(np.bincount(np.asarray(records, dtype=int), minlength=4)[:4], size, rng)
        if bare:
            noisy[:, 2] = np.rint(noisy[:, 2] * 0 + np.count_nonzero(np.asarray(records) == 2))
        return noisy

    return release


# Each record is how many rows a person has; one sum, released above a threshold.


def rows_released(limit: float) -> Mechanism:
    def release(rows: Any, rng: Rng) -> dict[str, float]:
        total = float(np.minimum(rows, limit).sum()) + limit_of(limit) * rng.laplace()
        return {"rows": total} if total > 100 else {}

    return release


def limit_of(limit: float) -> float:
    return limit if math.isfinite(limit) else 10.0


# Noise by the number of people.


def uneven_scale(factor: float) -> Mechanism:
    def release(records: Any, size: int, rng: Rng) -> Any:
        return _laplace(len(records), size, rng, factor if len(records) % 2 else 1.0)

    return release


# One value, or one order, is special.


def special_value(special: int | None) -> Mechanism:
    def release(records: Any, size: int, rng: Rng) -> Any:
        raised = 10.0 if special is not None and special in records else 0.0
        return _laplace(len(records) + raised, size, rng)

    return release


def special_order(special: bool) -> Mechanism:
    def release(records: Any, size: int, rng: Rng) -> Any:
        records = np.asarray(records)
        beside = bool(np.any((records[:-1] == 37) & (records[1:] == 21)))
        return _laplace(len(records) + (10.0 if special and beside else 0.0), size, rng)

    return release


# A slope that jumps on one far point: clipped to the data's own range.


def slope(clipped: bool) -> Mechanism:
    def release(records: Any, size: int, rng: Rng) -> Any:
        x, y = np.asarray(records)[:, 0], np.asarray(records)[:, 1]
        spread = float(((x - x.mean()) ** 2).sum()) if len(x) else 0.0
        found = float(((x - x.mean()) * (y - y.mean())).sum()) / spread if spread > 0 else 0.0
        # The author takes a slope to change by at most 20/n when one of n points does.
        scale = 20.0 / max(1, len(x))
        return _laplace(np.clip(found, -10.0, 10.0), size, rng, 20.0 if clipped else scale)

    return release


# A variance by the mean of squares less the square of the mean.


def variance(stable: bool) -> Mechanism:
    def release(records: Any, size: int, rng: Rng) -> Any:
        x = np.asarray(records, dtype=float)
        n = len(x)
        found = float(np.var(x - BASE)) if stable else float(np.sum(x * x) / n - (np.sum(x) / n) ** 2)
        return _laplace(found, size, rng, 1.0 / n)

    return release


def positive_count(again: bool) -> Mechanism:
    """Draw the noise again until the count is not negative; or write 0 instead."""

    def release(records: Any, size: int, rng: Rng) -> Any:
        noisy = _laplace(len(records), size, rng)
        while again and np.any(noisy < 0):
            noisy = np.where(noisy < 0, _laplace(len(records), size, rng), noisy)
        return np.maximum(noisy, 0.0)

    return release


def gaussian_count(sigma: float) -> Mechanism:
    def release(records: Any, size: int, rng: Rng) -> Any:
        return len(records) + rng.normal(0.0, sigma, size)

    return release


PEOPLE = Records((0.0, 1.0), size=(0, 10))
E1 = auditor.PureDP(1.0)
BASE = 2**50

ESCAPES = {
    "threshold too low for δ": Escape(
        histogram_above(threshold_for(0.013)),
        histogram_above(threshold_for(KEYS_DELTA)),
        auditor.ApproximateDP(1.0, KEYS_DELTA),
        Records((0, 20), integer=True, size=(0, 10)),
    ),
    "raw answer once in a thousand": Escape(count_released_raw(1000), count_released_raw(0), E1, PEOPLE),
    "raw answer once in 20,000": Escape(
        count_released_raw(20_000), count_released_raw(0), auditor.ApproximateDP(1.0, 1e-6), PEOPLE
    ),
    "noise cut off at 7 scales": Escape(count_truncated_at(7.0), count_truncated_at(700.0), E1, PEOPLE),
    "keys in the order of the counts": Escape(
        counts_in_order(False), counts_in_order(True), E1, Records((0, 3), integer=True, size=(0, 10))
    ),
    "decimals by the answer": Escape(rounded_count(False), rounded_count(True), E1, PEOPLE),
    "one of four bins is bare": Escape(
        four_bins(True), four_bins(False), E1, Records((0, 3), integer=True, size=(0, 5))
    ),
    "rows a person without a limit": Escape(
        rows_released(math.inf), rows_released(10.0), E1, Records((0, 100), integer=True, size=(0, 10))
    ),
    "scale by parity": Escape(uneven_scale(1.15), uneven_scale(1.0), E1, Pairs([([0.0] * 3, [0.0] * 4)])),
    "one value of a hundred": Escape(
        special_value(37), special_value(None), E1, Records((0, 99), integer=True, size=(0, 10))
    ),
    "one order of thousands": Escape(
        special_order(True), special_order(False), E1, Records((0, 63), integer=True, size=(0, 30))
    ),
    "slope and a far point": Escape(
        slope(False), slope(True), E1, Records((0.0, 1.0), size=(2, 100), columns=2, relation="substitute")
    ),
    "variance far from zero": Escape(
        variance(False),
        variance(True),
        E1,
        Records((float(BASE), BASE + 1.0), size=(1024, 1024), relation="substitute"),
    ),
    "negative counts are drawn again": Escape(
        positive_count(True), positive_count(False), E1, Records((0.0, 1.0), size=(0, 20))
    ),
    "Gaussian noise too small": Escape(
        gaussian_count(3.0), gaussian_count(6.0), auditor.ApproximateDP(1.0, 1e-6), PEOPLE
    ),
}
