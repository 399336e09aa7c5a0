"""Faults in the local model: hashing, unary encoding, Hadamard responses, memoised answers, bucketing, shared noise."""

import math
from typing import Any

import numpy as np

import auditor
from benchmarks._faults import Fault, Mechanism, Rng

EPSILON = auditor.PureDP(1.0)
TRUE = math.exp(1.0)
BUCKETS, BITS, ROWS = 8, 16, 16
HADAMARD = np.array([[1 - 2 * ((row & column).bit_count() % 2) for column in range(ROWS)] for row in range(ROWS)])


def _kept_or_other(true: Any, keep: float, choices: int, size: int, rng: Rng) -> Any:
    """Return the true choice with probability `keep`, otherwise a uniform choice among the others."""
    other = (true + rng.integers(1, choices, size)) % choices
    return np.where(rng.random(size) < keep, true, other)


def local_hashing(keep: float) -> Mechanism:
    def report(value: int, size: int, rng: Rng) -> Any:
        seeds = rng.integers(0, 256, size, dtype=np.uint64)
        mixed = (np.uint64(value + 1) * (2 * seeds + 1) * np.uint64(2654435761)) & np.uint64(0xFFFFFFFF)
        bucket = (mixed >> np.uint64(29)).astype(int)
        return np.column_stack([seeds.astype(int), _kept_or_other(bucket, keep, BUCKETS, size, rng)])

    return report


def unary_encoding(epsilon_of_bit: float) -> Mechanism:
    def report(value: int, size: int, rng: Rng) -> Any:
        flipped = rng.random((size, BITS)) < 1 / (1 + math.exp(epsilon_of_bit))
        return ((np.arange(BITS) == value) ^ flipped).astype(int)

    return report


def hadamard_response(positive_rows: bool) -> Mechanism:
    def report(value: int, size: int, rng: Rng) -> Any:
        rows = rng.choice(np.flatnonzero(HADAMARD[:, value] > 0) if positive_rows else ROWS, size)
        signs = np.where(rng.random(size) < 1 / (1 + TRUE), -1, 1)
        return np.column_stack([rows, signs * HADAMARD[rows, value]])

    return report


def over_fifty(seeded_by_age: bool) -> Mechanism:
    """Memoise a randomised response with ε = 1, and flip it again in each report by randomised response with ε = 3."""

    def report(age: int, size: int, rng: Rng) -> Any:
        # The permanent response has a generator of its own, so that it is the same each time.
        drawn = np.random.default_rng(age).random() if seeded_by_age else rng.random(size)
        permanent = (age > 50) ^ (drawn < 1 / (1 + TRUE))
        return (permanent ^ (rng.random(size) < 1 / (1 + math.exp(3.0)))).astype(int)

    return report


def decade_of_age(near: bool) -> Mechanism:
    def report(age: int, size: int, rng: Rng) -> Any:
        keep = TRUE / (TRUE + 9)
        if not near:
            return _kept_or_other(age // 10, keep, 10, size, rng)
        lie = np.abs(age // 10 + rng.choice([-1, 1], size))
        return np.where(rng.random(size) < keep, age // 10, np.where(lie > 9, 8, lie))

    return report


def two_answers(one_draw: bool) -> Mechanism:
    """Report whether a person's number is at least 50, and whether it is odd, with ε/2 for each answer."""

    def report(number: int, size: int, rng: Rng) -> Any:
        flipped = rng.random((size, 1 if one_draw else 2)) < 1 / (1 + math.exp(0.5))
        return (np.array([number >= 50, number % 2 == 1]) ^ flipped).astype(int)

    return report


_HUNDRED = auditor.Value(range=(0, 99))

REPORTS = {
    "report: local hashing keeps as with two buckets": Fault(
        local_hashing(TRUE / (TRUE + 1)), local_hashing(TRUE / (TRUE + BUCKETS - 1)), EPSILON, _HUNDRED, (0, 50),
        "With 8 buckets the true one has chance 0.731, and each other (1 − 0.731)/7 = 0.038: a loss of 2.9.",
        "The seed is uniform, and the true bucket has e times the chance of each other.",
    ),
    "report: unary encoding with the budget on each bit": Fault(
        unary_encoding(1.0), unary_encoding(0.5), EPSILON, auditor.Value(range=(0, BITS - 1)), (3, 9),
        "Two bits differ, each with a loss of 1: a loss of 2.",
        "Two bits differ, each with a loss of 1/2.",
    ),
    "report: a Hadamard row is chosen by the value": Fault(
        hadamard_response(True), hadamard_response(False), EPSILON, auditor.Value(range=(1, ROWS - 1)), (3, 9),
        "A row in which the value has −1 is never reported; two values differ in half of the rows: an infinite loss.",
        "The row is uniform, and its sign is flipped with chance 1/(1 + e).",
    ),
    "report: a memoised response seeded by the value": Fault(
        over_fifty(True), over_fifty(False), EPSILON, _HUNDRED, (20, 80),
        "The permanent response is a function of the age; ages that differ in it have only the second flip, of ε = 3.",
        "The permanent response has ε = 1, and what follows is post-processing.",
    ),
    "report: a lie is next to the truth": Fault(
        decade_of_age(True), decade_of_age(False), EPSILON, _HUNDRED, (15, 85),
        "Decade 1 answers 0, 1 or 2, and decade 8 answers 7, 8 or 9: an infinite loss.",
        "The true decade has e times the chance of each of the nine others.",
    ),
    "report: two answers with one draw": Fault(
        two_answers(True), two_answers(False), EPSILON, _HUNDRED, (20, 21),
        "Both answers are flipped or neither, so whether they are equal is exact: an infinite loss.",
        "Two answers with their own draws, each of ε = 1/2.",
    ),
}  # fmt: skip
