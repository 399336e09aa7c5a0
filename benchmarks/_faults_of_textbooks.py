"""Faults that library bug reports, textbooks and papers warn about; the comment above each cites its source."""

import math
from typing import Any

import numpy as np
import pandas as pd

import auditor
from benchmarks._faults import Fault, Mechanism, Rng, by_key, with_laplace

EPSILON = auditor.PureDP(1.0)
HALF = auditor.ZeroConcentratedDP(0.5)
CITIES = ["Bern", "Lima", "Oslo", "Rome"]
DELTA, LARGER_DELTA = 1e-5, 1e-3
LEVEL, LARGEST = 20, 99


# Mironov 2012, section 3: noise computed from few random bits takes few values, and the answer shows through.
def own_value(from_few_bits: bool) -> Mechanism:
    def report(value: int, size: int, rng: Rng) -> Any:
        if from_few_bits:
            uniform = rng.integers(1, 2**15 + 1, size) / 2**15
            return value - LARGEST * rng.choice([-1, 1], size) * np.log(uniform)
        first, second = rng.geometric(1 - math.exp(-1 / LARGEST), (2, size))
        return value + first - second

    return report


# Haney et al. 2022, "Precision-based attacks"; IBM/differential-privacy-library issue 94.
def count(in_single_precision: bool) -> Mechanism:
    def release(records: Any, size: int, rng: Rng) -> Any:
        noise = rng.laplace(0.0, 1.0, size)
        if in_single_precision:
            return np.float32(len(records)) + noise.astype(np.float32)
        return np.round((len(records) + noise) * 1024) / 1024

    return release


# Casacuberta et al. 2022, "Widespread underestimation of sensitivity": a sum that wraps around.
def total_of_integers(kind: Any) -> Mechanism:
    def release(values: Any, size: int, rng: Rng) -> Any:
        return with_laplace(np.sum(values.astype(kind), dtype=kind), size, rng, 1000.0)

    return release


# Lyu, Su and Li 2017, algorithm 6 (Chen et al. 2015): it answers “above” as often as it likes.
def questions_above(stops: bool) -> Mechanism:
    def release(rows: Any, size: int, rng: Rng) -> Any:
        level = LEVEL + rng.laplace(0.0, 2.0, (size, 1))
        above = with_laplace(rows.sum(axis=0), size, rng, 4.0 if stops else 2.0) > level
        return (above & (np.cumsum(above, axis=1) == 1) if stops else above).astype(int)

    return release


# Ding et al. 2018, "Detecting violations", noisy max that returns the value; Dwork and Roth, section 3.3.
def largest(value: bool) -> Mechanism:
    def release(totals: Any, size: int, rng: Rng) -> Any:
        if value:
            return with_laplace(totals, size, rng, 2.0).max(axis=1)
        return np.argmax(np.asarray(totals) + rng.gumbel(0.0, 2.0, (size, len(totals))), axis=1)

    return release


# Durfee and Rogers 2019; Qiao, Su and Zhang 2021: noise drawn once for k choices must be scaled for k.
def best_five(scale: float) -> Mechanism:
    def release(totals: Any, size: int, rng: Rng) -> Any:
        noisy = np.asarray(totals) + rng.gumbel(0.0, scale, (size, len(totals)))
        return np.argsort(-noisy, axis=1)[:, :5]

    return release


# Nissim, Raskhodnikova and Smith 2007; Vadhan, section 3.1: noise for the local sensitivity is not private.
def median(local: bool) -> Mechanism:
    def release(values: Any, size: int, rng: Rng) -> Any:
        ordered, middle = np.sort(values), len(values) // 2
        nearby = max(ordered[middle + 1] - ordered[middle], ordered[middle] - ordered[middle - 1])
        return with_laplace(ordered[middle], size, rng, nearby if local else 100.0)

    return release


# Vadhan, section 3.1; Karwa et al. 2011: an edge is in as many triangles as its ends have common neighbours.
def triangles(scale: float) -> Mechanism:
    def release(rows: list[dict[str, Any]], size: int, rng: Rng) -> Any:
        joined = np.zeros((8, 8))
        for row in rows:
            if row["a"] != row["b"]:
                joined[row["a"], row["b"]] = joined[row["b"], row["a"]] = 1
        return with_laplace(np.trace(joined @ joined @ joined) / 6, size, rng, scale)

    return release


# opendp/smartnoise-sdk issue 201: columns are clamped, and an expression of them has the bounds of a column.
def turnover(scale: float) -> Mechanism:
    def release(rows: list[dict[str, Any]], size: int, rng: Rng) -> Any:
        return with_laplace(sum(min(row["price"], 100) * row["number"] for row in rows), size, rng, scale)

    return release


# IBM/differential-privacy-library issue 104: the sensitivity of a sum of squares takes the lower bound twice.
def sum_of_squares(bounds: tuple[float, float]) -> Mechanism:
    def release(values: Any, size: int, rng: Rng) -> Any:
        return with_laplace((values**2).sum(), size, rng, max(abs(bound) for bound in bounds) ** 2)

    return release


# Near and Abuah, chapter on vectors: the Laplace mechanism needs the L1 norm.
def vector(scale: float) -> Mechanism:
    def release(rows: Any, size: int, rng: Rng) -> Any:
        norms = np.linalg.norm(rows, axis=1, keepdims=True)
        return with_laplace((rows / np.maximum(norms, 1)).sum(axis=0), size, rng, scale)

    return release


# Bun and Steinke 2016, proposition 1.6; Near and Abuah: ρ = Δ²/(2σ²), not Δ/(2σ²).
def stars(sigma: float) -> Mechanism:
    def release(values: Any, size: int, rng: Rng) -> Any:
        return values.sum() + rng.normal(0.0, sigma, size)

    return release


# Abadi et al. 2016, algorithm 1; tensorflow/privacy issues 46 and 135: clipping after the mean over a batch.
def mean_gradient(clip_mean: bool) -> Mechanism:
    def clipped(vectors: Any) -> Any:
        return vectors / np.maximum(np.linalg.norm(vectors, axis=-1, keepdims=True), 1)

    def release(rows: Any, size: int, rng: Rng) -> Any:
        mean = clipped(rows.mean(axis=0)) if clip_mean else clipped(rows).mean(axis=0)
        return mean + rng.normal(0.0, 2 / len(rows) * math.sqrt(2 * math.log(1.25 / DELTA)), (size, 2))

    return release


# Abowd et al. 2022, on the census of 2020: exact totals are outside the guarantee.
def cities_that_add_up(exactly: bool) -> Mechanism:
    def release(df: pd.DataFrame, size: int, rng: Rng) -> Any:
        scale = 1.0 if exactly else 2.0
        noisy = with_laplace([(df["city"] == city).sum() for city in CITIES], size, rng, scale)
        total = len(df) if exactly else with_laplace(len(df), size, rng, scale)
        return by_key(CITIES, noisy + ((total - noisy.sum(axis=1)) / len(CITIES))[:, None])

    return release


# Drechsler 2023, "Differential privacy for government agencies": weights raise the sensitivity.
def weighted_share(as_without_weights: bool) -> Mechanism:
    def release(df: pd.DataFrame, size: int, rng: Rng) -> Any:
        weight = df["weight"].astype(float)
        yes = (weight * df["yes"].astype(float)).sum()
        if as_without_weights:
            return with_laplace(yes / weight.sum(), size, rng, 1 / len(df))
        return with_laplace(yes, size, rng, 100.0) / np.maximum(with_laplace(weight.sum(), size, rng, 98.0), 1)

    return release


# Dwork and Lei 2009; Vadhan, section 3.2; Dwork and Roth, section 7.3: the distance that is tested needs noise.
def most_frequent_if_stable(noise_on_distance: bool) -> Mechanism:
    def release(records: Any, size: int, rng: Rng) -> Any:
        counts = [list(records).count(city) for city in CITIES]
        second, first = sorted(counts)[-2:]
        distance = first - second - 1 + rng.laplace(0.0, 1.0, size) * noise_on_distance
        return np.where(distance > -math.log(2 * LARGER_DELTA), CITIES[int(np.argmax(counts))], "unstable").tolist()

    return release


# Kairouz, Liu and Steinke 2021: each client adds its part of the noise, and fewer clients take part than expected.
def total_of_clients(noise_of_clients: bool) -> Mechanism:
    def release(values: Any, size: int, rng: Rng) -> Any:
        return values.sum() + rng.normal(0.0, math.sqrt(len(values) / 50) if noise_of_clients else 1.0, size)

    return release


# Haney et al. 2017, on noise in proportion to employment counts: a zero stays a zero.
def jobs(in_proportion: bool) -> Mechanism:
    def report(value: int, size: int, rng: Rng) -> Any:
        return value + (rng.laplace(0.0, 0.1, size) * value if in_proportion else rng.laplace(0.0, 100.0, size))

    return report


# Acharya et al. 2018, "INSPECTRE": the entropy has a sensitivity of about log(n)/n, not 1/n.
def entropy(with_logarithm: bool) -> Mechanism:
    def release(records: Any, size: int, rng: Rng) -> Any:
        number = len(records)
        shares = np.array([share for city in CITIES if (share := list(records).count(city) / number) > 0])
        scale = (2 * (math.log(number) + 1) if with_logarithm else 1) / number
        return with_laplace(-(shares * np.log(shares)).sum(), size, rng, scale)

    return release


# Desfontaines, Lochbihler and Basin 2019, "Cardinality estimators do not preserve privacy".
def hashed(ids: Any) -> Any:
    return (np.asarray(ids, dtype=np.int64) + 1) * 2654435761 % 2**32 / 2**32


def visitors(from_sketch: bool) -> Mechanism:
    def release(ids: Any, size: int, rng: Rng) -> Any:
        number = 1 / hashed(ids).min() - 1 if from_sketch else len(np.unique(ids))
        return with_laplace(number, size, rng, 1.0)

    return release


def _frame(columns: dict[str, Any], low: int, high: int, **given: Any) -> auditor.Frame:
    return auditor.Frame(columns, size=(low, high), **given)


_CITIES: dict[str, Any] = {"choices": CITIES, "container": "list"}
_STAR = [{"a": end, "b": other} for end in (0, 1) for other in range(2, 8)]
_BY_HASH = sorted(range(200), key=lambda one: float(hashed(one)))
_POINTS = np.zeros((19, 2))

TEXTBOOKS = {
    "textbook: noise from fifteen random bits": Fault(
        own_value(True), own_value(False), EPSILON, auditor.Value(range=(0, LARGEST)), (40, 41),
        "Each value has its own 65,536 possible answers: an infinite loss.",
        "Geometric noise for a sensitivity of 99, on integers.",
    ),
    "textbook: noise in single precision": Fault(
        count(True), count(False), EPSILON, auditor.Records((0, 1), size=(0, 50)), (np.empty(0), np.zeros(1)),
        "A sum with 1 that is below 1/2 is a multiple of 2^−24; with 0 it seldom is: an infinite loss.",
        "Rounding to a fixed grid after the noise.",
    ),
    "textbook: a sum wraps around": Fault(
        total_of_integers(np.int16), total_of_integers(np.int64), EPSILON,
        auditor.Records((0, 1000), integer=True, size=(0, 100)), (np.full(32, 1000), np.full(33, 1000)),
        "32,000 and 1000 more is −32,536: a loss of 64.",
        "A value moves the sum by at most 1000.",
    ),
    "textbook: a sparse vector that does not stop": Fault(
        questions_above(False), questions_above(True), EPSILON,
        auditor.Records((0, 1), integer=True, columns=12, size=(10, 50)),
        (np.ones((20, 12), dtype=int), np.vstack([np.ones((20, 12), dtype=int), [1] * 6 + [0] * 6])),
        "Six of twelve sums at the level rise by 1; “six below, six above” is e^2.7 times as likely without the row.",
        "AboveThreshold: scales 2 and 4, and a stop at the first.",
    ),
    "textbook: the largest noisy total is the answer": Fault(
        largest(True), largest(False), EPSILON, auditor.Totals(cells=8, values=(0, 50), contribution={"linf": 1}),
        ([20] * 8, [21] * 8),
        "All eight below 20: chance 2^−8, or e^−4 of that: a loss of 4.",
        "The exponential mechanism with weights e^(total/2).",
    ),
    "textbook: five choices paid as one": Fault(
        best_five(2.0), best_five(10.0), EPSILON, auditor.Totals(cells=10, values=(0, 30), contribution={"linf": 1}),
        ([10] * 10, [9] * 5 + [11] * 5),
        "The first five are the best with chance 1/252, or e^−3.7 of that.",
        "Five steps of the exponential mechanism, each with ε/5.",
    ),
    "textbook: noise for the local sensitivity": Fault(
        median(True), median(False), EPSILON,
        auditor.Records((0, 100), integer=True, size=(10, 60), relation="substitute"),
        (np.array([0] * 7 + [100] * 3), np.array([0] * 6 + [100] * 4)),
        "The median 0 has no noise, or noise of scale 100: an infinite loss.",
        "The median moves by at most 100, which is the scale.",
    ),
    "textbook: a friendship is held to close one triangle": Fault(
        triangles(1.0), triangles(6.0), EPSILON,
        _frame({key: {"type": "integer", "low": 0, "high": 7} for key in "ab"}, 0, 40),
        (_STAR, [*_STAR, {"a": 0, "b": 1}]),
        "Two people with six common friends: six triangles, with noise of scale 1.",
        "Eight people: an edge is in at most six triangles.",
    ),
    "textbook: a product has the bounds of a column": Fault(
        turnover(100.0), turnover(1000.0), EPSILON,
        _frame(
            {"price": {"type": "number", "low": 0, "high": 100}, "number": {"type": "integer", "low": 1, "high": 10}},
            0, 40,
        ),
        ([], [{"price": 100.0, "number": 10}]),
        "Ten at 100 move the sum by 1000, with noise of scale 100: a loss of 10.",
        "A row is at most 100 × 10.",
    ),
    "textbook: the lower bound twice": Fault(
        sum_of_squares((1, 1)), sum_of_squares((1, 10)), EPSILON, auditor.Records((1, 10), size=(0, 50)),
        (np.empty(0), np.array([10.0])),
        "A value of 10 moves the sum by 100, with noise of scale 1: a loss of 100.",
        "A square is at most 100.",
    ),
    "textbook: Laplace noise for an L2 norm": Fault(
        vector(1.0), vector(4.0), EPSILON, auditor.Records((-1, 1), columns=16, size=(0, 50)),
        (np.empty((0, 16)), np.full((1, 16), 0.25)),
        "Sixteen numbers of 1/4 have L2 norm 1 and L1 norm 4: a loss of 4.",
        "An L2 norm of 1 in 16 dimensions is an L1 norm of at most 4.",
    ),
    "textbook: the sensitivity is not squared": Fault(
        stars(math.sqrt(8)), stars(8.0), HALF, auditor.Records((0, 8), integer=True, size=(0, 50)),
        (np.empty(0, dtype=int), np.array([8])),
        "ρ = 64/(2 · 8) = 4.",
        "ρ = 64/(2 · 64) = 1/2.",
    ),
    "textbook: the mean gradient is clipped": Fault(
        mean_gradient(True), mean_gradient(False), auditor.ApproximateDP(1.0, DELTA),
        auditor.Records((-10, 10), columns=2, size=(10, 50), relation="substitute"),
        (np.vstack([_POINTS, [[-10.0, -10.0]]]), np.vstack([_POINTS, [[10.0, 10.0]]])),
        "One row of 20 moves the mean by 1.41, with σ = 0.48: μ = 2.9, and ε is above 11 at this δ.",
        "A clipped row moves the mean by 2/n.",
    ),
    "textbook: noisy counts add up to the true total": Fault(
        cities_that_add_up(True), cities_that_add_up(False), EPSILON,
        _frame({"city": {"type": "categorical", "choices": CITIES}}, 10, 60, form="pandas"),
        (pd.DataFrame({"city": ["Bern"] * 10}), pd.DataFrame({"city": ["Bern"] * 11})),
        "The sum of the counts is 10 or 11: an infinite loss.",
        "Counts and total have noise of scale 2 each.",
    ),
    "textbook: a weighted share with the noise of a plain one": Fault(
        weighted_share(True), weighted_share(False), EPSILON,
        _frame(
            {"weight": {"type": "number", "low": 1, "high": 50}, "yes": {"type": "boolean"}},
            10, 60, relation="substitute", form="pandas",
        ),
        (
            pd.DataFrame({"weight": [1.0] * 10, "yes": [False] * 10}),
            pd.DataFrame({"weight": [1.0] * 9 + [50.0], "yes": [False] * 9 + [True]}),
        ),
        "One of ten has a weight of 50 of 59: the share moves by 0.85, with noise of scale 0.1.",
        "Half of ε for the weight of “yes” (moves by 50), half for the weight of all (moves by 49).",
    ),
    "textbook: the distance to instability has no noise": Fault(
        most_frequent_if_stable(False), most_frequent_if_stable(True), auditor.ApproximateDP(1.0, LARGER_DELTA),
        auditor.Records(**_CITIES, size=(0, 50)), (["Rome"] * 7, ["Rome"] * 8),
        "Ahead by 7 is unstable, ahead by 8 never is: δ is 1.",
        "If one record changes the most frequent, the distance is at most 0, and it is released with chance δ.",
    ),
    "textbook: fewer clients bring less noise": Fault(
        total_of_clients(True), total_of_clients(False), HALF, auditor.Records((0, 1), size=(10, 100)),
        (np.zeros(10), np.array([0.0] * 10 + [1.0])),
        "Ten of 50 clients bring a variance of 0.2: ρ is at least 1/(2 · 0.22) = 2.3.",
        "The variance is 1, whoever comes.",
    ),
    "textbook: noise in proportion to the value": Fault(
        jobs(True), jobs(False), EPSILON, auditor.Value(range=(0, 100)), (0, 100),
        "0 stays 0: an infinite loss.",
        "Noise of scale 100 for values 0 … 100.",
    ),
    "textbook: entropy with noise of scale 1/n": Fault(
        entropy(False), entropy(True), EPSILON, auditor.Records(**_CITIES, size=(10, 100), relation="substitute"),
        (["Rome"] * 100, ["Rome"] * 99 + ["Bern"]),
        "One of 100 moves the entropy from 0 to 0.056, with noise of scale 0.01: a loss of 5.6.",
        "Two counts move by 1, which moves the entropy by at most (log n + 1)/n.",
    ),
    "textbook: distinct visitors from a sketch": Fault(
        visitors(True), visitors(False), EPSILON, auditor.Records((0, 199), integer=True, size=(10, 100)),
        (np.array(_BY_HASH[-10:]), np.array([*_BY_HASH[-10:], _BY_HASH[0]])),
        "The smallest hash is above 0.9 or below 0.01: the estimate moves by more than 100, with noise of scale 1.",
        "One visitor moves the number of distinct ones by 1.",
    ),
}  # fmt: skip
