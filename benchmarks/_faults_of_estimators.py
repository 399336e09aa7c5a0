"""Faults in estimators: data-dependent bounds, underestimated sensitivity, stopping rules, binning, clustering, tree splits."""

from typing import Any

import numpy as np

import auditor
from benchmarks._faults import Fault, Mechanism, Rng, with_laplace

EPSILON = auditor.PureDP(1.0)
STEPS = 10
CENTRES = np.array([[0.25, 0.25], [0.75, 0.75]])


def mean_in_bounds(of_data: bool) -> Mechanism:
    def release(values: Any, size: int, rng: Rng) -> Any:
        low, high = (values.min(), values.max()) if of_data else (0.0, 100.0)
        return with_laplace(np.clip(values, low, high).mean(), size, rng, (high - low) / len(values))

    return release


# The ridge-regression slope of y on x, for x and y in −1 … 1.


def ridge_slope(penalty_grows: bool) -> Mechanism:
    def release(rows: Any, size: int, rng: Rng) -> Any:
        x, y = rows[:, 0], rows[:, 1]
        penalty = 0.25 * (len(rows) if penalty_grows else 1)
        return with_laplace((x @ y) / (x @ x + penalty), size, rng, 16 / len(rows))

    return release


# The mean by noisy gradient steps, until the gradient is small.


def mean_by_steps(stops_by_noisy: bool) -> Mechanism:
    def release(values: Any, rng: Rng) -> list[float]:
        mean, weight, taken, is_small = float(np.mean(values)), 0.0, 0, False
        while taken < STEPS and not is_small:
            noisy = weight - mean + rng.laplace(0.0, STEPS / len(values))
            weight -= noisy
            taken += 1
            is_small = abs(noisy if stops_by_noisy else weight - mean) < 0.05
        return [taken, weight]

    return release


def spread(noise_on_variance: bool) -> Mechanism:
    def release(values: Any, size: int, rng: Rng) -> Any:
        if noise_on_variance:
            return np.sqrt(np.maximum(with_laplace(np.var(values), size, rng, 100.0**2 / len(values)), 0))
        return with_laplace(np.std(values), size, rng, 100.0 / len(values))

    return release


# The median by the exponential mechanism.


def median(among_data: bool) -> Mechanism:
    def release(values: Any, size: int, rng: Rng) -> Any:
        candidates = np.unique(values) if among_data else np.arange(101)
        below = np.searchsorted(np.sort(values), candidates)
        weights = np.exp(-np.abs(below - len(values) / 2) / 2)
        return rng.choice(candidates, size, p=weights / weights.sum())

    return release


# One step of k-means in the unit square.


def cluster_means(empty_stays: bool) -> Mechanism:
    def release(points: Any, size: int, rng: Rng) -> Any:
        nearest = np.argmin([((points - centre) ** 2).sum(axis=1) for centre in CENTRES], axis=0)
        found = []
        for cluster, start in enumerate(CENTRES):
            mine = points[nearest == cluster]
            number = with_laplace(len(mine), size, rng, 2.0)
            means = with_laplace(mine.sum(axis=0), size, rng, 4.0) / np.maximum(number, 1)[:, None]
            found.append(np.tile(start, (size, 1)) if empty_stays and not len(mine) else means)
        return np.hstack(found)

    return release


# The best split of a decision tree by the exponential mechanism.


def best_split(by_share: bool) -> Mechanism:
    def release(rows: Any, size: int, rng: Rng) -> Any:
        x, label = np.asarray(rows, dtype=float).T
        splits = np.arange(1, 10)
        right = []  # the rows of a side that its majority labels correctly, as a number or as a share
        for split in splits:
            sides = [label[x < split], label[x >= split]]
            most = [max(np.sum(side == 0), np.sum(side == 1)) for side in sides]
            right.append(sum(m / max(len(side), 1) if by_share else m for m, side in zip(most, sides, strict=True)))
        # One row was assumed to change the two shares by at most 2/n in total.
        exponents = np.array(right) * (len(rows) / 4 if by_share else 0.5)
        weights = np.exp(exponents - exponents.max())
        return rng.choice(splits, size, p=weights / weights.sum())

    return release


def histogram(range_of_data: bool) -> Mechanism:
    def release(values: Any, size: int, rng: Rng) -> Any:
        counts = np.histogram(values, bins=10, range=None if range_of_data else (0, 100))[0]
        return with_laplace(counts, size, rng, 1.0)

    return release


def _substituted(record: tuple[float, float], size: tuple[int, int], **given: Any) -> auditor.Records:
    return auditor.Records(record, size=size, relation="substitute", **given)


ESTIMATORS = {
    "estimator: mean within the bounds of the data": Fault(
        mean_in_bounds(True), mean_in_bounds(False), EPSILON, _substituted((0, 100), (2, 30)),
        (np.zeros(10), np.array([0.0] * 9 + [100.0])),
        "Ten zeros get no noise, and nine zeros with 100 get noise of scale 10: an infinite loss.",
        "One value of n moves the mean by at most 100/n, which is the scale.",
    ),
    "estimator: the penalty of a regression does not grow": Fault(
        ridge_slope(False), ridge_slope(True), EPSILON, _substituted((-1, 1), (5, 30), columns=2),
        (np.array([[0.0, 0.0]] * 29 + [[1.0, 1.0]]), np.array([[0.0, 0.0]] * 29 + [[1.0, -1.0]])),
        "29 rows of zeros and (1, 1) or (1, −1): slopes 0.8 and −0.8, with noise of scale 16/30: a loss of 3.",
        "With penalty n/4 a slope w has |w| ≤ 1, so a row moves it by at most 2(1 + |w|)/(n/4) ≤ 16/n, the scale.",
    ),
    "estimator: steps stop by the true gradient": Fault(
        mean_by_steps(False), mean_by_steps(True), EPSILON, _substituted((0, 1), (10, 30)),
        (np.zeros(10), np.array([0.0] * 9 + [1.0])),
        "Before the last step it stops only within 0.05 of the true mean, which is 0 or 0.1: an infinite loss.",
        "Ten steps, each with a gradient that moves by 1/n and noise of scale 10/n; to stop by it is post-processing.",
        samples=20_000,
    ),
    "estimator: standard deviation with the noise of a mean": Fault(
        spread(False), spread(True), EPSILON, _substituted((0, 100), (5, 30)),
        (np.zeros(30), np.array([0.0] * 29 + [100.0])),
        "30 zeros, or one of them 100: deviations 0 and 17.9, with noise of scale 100/30: a loss of 5.4.",
        "One value of n moves the variance by at most 100²/n, which is the scale.",
    ),
    "estimator: the median is chosen among the data": Fault(
        median(True), median(False), EPSILON, _substituted((0, 100), (1, 30), integer=True),
        (np.array([50] * 9), np.array([50] * 8 + [60])),
        "60 can only be the answer if it is in the data: an infinite loss.",
        "The candidates are fixed, one value moves a rank by at most 1, and weights are exp(−distance/2).",
    ),
    "estimator: an empty cluster keeps its centre": Fault(
        cluster_means(True), cluster_means(False), EPSILON, auditor.Records((0, 1), columns=2, size=(0, 30)),
        (np.empty((0, 2)), np.array([[0.1, 0.1]])),
        "A cluster without points answers with its exact centre: an infinite loss.",
        "A point is in one cluster; half of ε for its sum (2 in L1, scale 4), half for the number (1, scale 2).",
    ),
    "estimator: a split is scored by shares": Fault(
        best_split(True), best_split(False), EPSILON,
        auditor.Records(
            columns=[{"low": 0, "high": 9, "integer": True}, {"choices": [0, 1]}], size=(10, 30), relation="substitute"
        ),
        (np.array([[8, 1]] * 30), np.array([[8, 1]] * 29 + [[0, 1]])),
        "A row that moves from 8 to 0 makes a pure left side: scores of splits 1 … 8 rise by 1, times 30/4. Split 9 "
        "has chance 1/9 or 1/(1 + 8e^7.5): a loss of 7.4.",
        "A row moves the number of rows labelled rightly by at most 1, and weights are exp(number/2).",
    ),
    "estimator: a histogram over the range of the data": Fault(
        histogram(True), histogram(False), EPSILON, auditor.Records((0, 100), size=(0, 30)),
        (np.array([float(i) for i in range(10)]), np.array([float(i) for i in range(10)] + [100.0])),
        "Values 0 … 9 fill ten bins; with a 100 all but one fall into the first: counts move by 17, a loss of 17.",
        "The bins are fixed, so a value is in one count.",
    ),
}  # fmt: skip
