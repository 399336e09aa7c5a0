"""Faults in thresholding and key selection: thresholds too low or without noise, off by one, ties, noise reused or redrawn."""

import math
from typing import Any

import numpy as np

import auditor
from benchmarks._faults import Fault, Mechanism, Rng, threshold_for, with_laplace

KEYS = ["ache", "cold", "cough", "fever", "rash", "other"]
EPSILON = auditor.PureDP(1.0)
DELTA, LARGER_DELTA = 1e-5, 1e-3
RELEASED = auditor.ApproximateDP(1.0, DELTA)
LEVEL = 5  # the threshold of the sparse vector technique


def _counts(records: Any) -> Any:
    return np.array([list(records).count(key) for key in KEYS])


def _above(noisy: Any, threshold: float, tested: Any = None) -> list[dict[str, float]]:
    """Return, for each row, the keys whose tested value exceeds the threshold, with their noisy values."""
    tested = noisy if tested is None else tested
    return [
        {key: float(number) for key, number, test in zip(KEYS, row, tests, strict=True) if test > threshold}
        for row, tests in zip(noisy, tested, strict=True)
    ]


def _noisy_of_keys(records: Any, size: int, rng: Rng, scale: float) -> Any:
    """Return noisy counts of the keys in the data, and −∞ for all other keys."""
    counts = _counts(records)
    return np.where(counts > 0, with_laplace(counts, size, rng, scale), -math.inf)


def keys_above(threshold: float) -> Mechanism:
    def release(records: Any, size: int, rng: Rng) -> Any:
        return _above(_noisy_of_keys(records, size, rng, 1.0), threshold)

    return release


def frequent_keys(by_true_count: bool) -> Mechanism:
    def release(records: Any, size: int, rng: Rng) -> Any:
        noisy = _noisy_of_keys(records, size, rng, 1.0)
        if by_true_count:
            return _above(noisy, 10, np.broadcast_to(_counts(records) + 0.5, noisy.shape))
        return _above(noisy, threshold_for(1.0, DELTA))

    return release


def whole_counts(threshold: int) -> Mechanism:
    def release(records: Any, size: int, rng: Rng) -> Any:
        first, second = rng.geometric(1 - math.exp(-1.0), (2, size, len(KEYS)))
        counts = _counts(records)
        return _above(np.where(counts > 0, counts + first - second, -math.inf), threshold)

    return release


def most_frequent(ties_are_true: bool) -> Mechanism:
    def release(records: Any, size: int, rng: Rng) -> Any:
        counts = _counts(records)
        if ties_are_true and np.count_nonzero(counts == counts.max()) > 1:
            return ["tie"] * size
        return [KEYS[key] for key in np.argmax(counts + rng.gumbel(0.0, 1.0, (size, len(KEYS))), axis=1)]

    return release


def tested_and_released(is_split: bool) -> Mechanism:
    def release(records: Any, size: int, rng: Rng) -> Any:
        scale = 2.0 if is_split else 1.0
        tested, released = (_noisy_of_keys(records, size, rng, scale) for _ in range(2))
        return _above(released, threshold_for(1 / scale, LARGER_DELTA), tested)

    return release


def all_and_seniors(one_noise: bool) -> Mechanism:
    def release(ages: Any, size: int, rng: Rng) -> Any:
        noise = rng.laplace(0.0, 2.0, (size, 1 if one_noise else 2))
        return np.array([len(ages), np.sum(ages >= 65)]) + noise

    return release


def yes_in_a_sample(with_replacement: bool) -> Mechanism:
    def release(answers: Any, size: int, rng: Rng) -> Any:
        number, yes = len(answers), int(np.sum(answers))
        if with_replacement:
            hits = rng.binomial(20, yes / number, size)
        else:
            hits = rng.hypergeometric(yes, number - yes, min(20, number), size)
        return hits + rng.laplace(0.0, 1.0, size)

    return release


def sparse_vector(noise_on_queries: bool) -> Mechanism:
    def release(records: Any, size: int, rng: Rng) -> Any:
        level = LEVEL + rng.laplace(0.0, 2.0 if noise_on_queries else 1.0, (size, 1))
        if not noise_on_queries:
            return (_counts(records) > level).astype(int)
        above = with_laplace(_counts(records), size, rng, 4.0) > level
        return (above & (np.cumsum(above, axis=1) == 1)).astype(int)  # it stops at the first

    return release


RECORDS = auditor.Records(choices=KEYS, size=(0, 30), container="list")

THRESHOLDS = {
    "threshold: a logarithm to base 10": Fault(
        keys_above(1 + math.log10(1 / (2 * DELTA))), keys_above(threshold_for(1.0, DELTA)), RELEASED, RECORDS,
        ([], ["rash"]),
        "The threshold is 5.7, not 11.8: a key of one record appears with chance 0.0046, and δ is 0.00001.",
        "A key of one record appears with chance δ; a key of both data sets has noise of scale 1.",
    ),
    "threshold: compared before the noise": Fault(
        frequent_keys(True), frequent_keys(False), RELEASED, RECORDS, (["rash"] * 9, ["rash"] * 10),
        "A key of 10 records always appears, a key of 9 never: δ is 1.",
        "The noisy count is compared; a key of one record appears with chance δ.",
    ),
    "threshold: off by one": Fault(
        whole_counts(4), whole_counts(5), auditor.ApproximateDP(1.0, 0.005), RECORDS, ([], ["rash"]),
        "1 + noise ≥ 5 instead of > 5: a key of one record appears with chance e^−4/(1 + e^−1) = 0.0134; δ is 0.005.",
        "1 + noise > 5 has chance e^−5/(1 + e^−1) = 0.0049; a key of both data sets has geometric noise for ε = 1.",
    ),
    "threshold: a tie of true counts is shown": Fault(
        most_frequent(True), most_frequent(False), EPSILON, RECORDS,
        (["ache"] * 3 + ["rash"] * 3, ["ache"] * 3 + ["rash"] * 4),
        "Counts of 3 and 3 answer “tie”, counts of 3 and 4 never do: an infinite loss.",
        "The exponential mechanism: one weight e^count changes by a factor of e, so each chance by at most e.",
    ),
    "threshold: tested with one noise, released with another": Fault(
        tested_and_released(False), tested_and_released(True), auditor.ApproximateDP(1.0, LARGER_DELTA), RECORDS,
        (["rash"] * 5, ["rash"] * 6),
        "Counts 5 and 6: above 7.2 with chance 0.055 or 0.15, and the other noisy count above 6 with 0.18 or 0.5; each "
        "rises by a factor of e: a loss of 2.",
        "Each noise has scale 2, and the threshold is that of ε/2 and δ.",
    ),
    "threshold: one noise for two counts": Fault(
        all_and_seniors(True), all_and_seniors(False), EPSILON, auditor.Records((0, 100), size=(0, 30), integer=True),
        (np.array([20, 70]), np.array([20, 70, 30])),
        "The difference of the counts is exact: an infinite loss.",
        "A person moves two counts by 1, each with its own noise of scale 2.",
    ),
    "threshold: a sample has a row more than once": Fault(
        yes_in_a_sample(True), yes_in_a_sample(False), EPSILON,
        auditor.Records(choices=[0, 1], size=(10, 30), relation="substitute"),
        (np.zeros(10, dtype=int), np.array([1] + [0] * 9)),
        "One “yes” of 10 is drawn a binomial number of 20 times: far out the chances differ by (1 + (e − 1)/10)^20, "
        "a loss of 3.2.",
        "Each row is drawn at most once, so a row moves the count by at most 1.",
    ),
    "threshold: a sparse vector without noise on the queries": Fault(
        sparse_vector(False), sparse_vector(True), EPSILON, RECORDS,
        (["ache"] * 5 + ["rash"] * 5, ["ache"] * 5 + ["rash"] * 6),
        "Counts of 5 and 5 are never on two sides of one noisy threshold, counts of 5 and 6 are: an infinite loss.",
        "AboveThreshold of Dwork and Roth: scale 2 on the threshold, 4 on each query, and a stop at the first.",
    ),
}  # fmt: skip
