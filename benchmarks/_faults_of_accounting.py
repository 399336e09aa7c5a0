"""Privacy-accounting faults: unsplit budgets, overlapping partitions, missing subsampling, ignored δ, adaptive budgets, refunds."""

import math
from typing import Any

import numpy as np

import auditor
from benchmarks._faults import Fault, Mechanism, Rng, with_laplace

EPSILON = auditor.PureDP(1.0)
DELTA = 1e-5
# The ε at which a random tenth of the rows may be released if ε = 1 is claimed, by amplification: log(1 + (e − 1)/0.1).
AMPLIFIED = math.log(1 + 10 * (math.e - 1))
CITIES = ["Bern", "Bonn", "Lima", "Oslo", "Rome", "Wien"]
TRIES, TARGET, EPOCHS, PEOPLE = 10, 10, 4, 20


def three_totals(scale: float) -> Mechanism:
    def release(rows: Any, size: int, rng: Rng) -> Any:
        return with_laplace(rows.sum(axis=0), size, rng, scale)

    return release


def by_age(overlap: bool) -> Mechanism:
    def release(ages: Any, size: int, rng: Rng) -> Any:
        at_least = np.array([np.sum(ages >= age) for age in (18, 40, 65)])
        return with_laplace(at_least if overlap else at_least - [*at_least[1:], 0], size, rng, 1.0)

    return release


def yes_in_a_tenth(at_random: bool) -> Mechanism:
    def release(answers: Any, size: int, rng: Rng) -> Any:
        tenth, yes = len(answers) // 10, int(np.sum(answers))
        found = rng.hypergeometric(yes, len(answers) - yes, tenth, size) if at_random else np.sum(answers[:tenth])
        return found + rng.laplace(0.0, 1 / AMPLIFIED, size)

    return release


def count(sigma: float) -> Mechanism:
    def release(records: Any, size: int, rng: Rng) -> Any:
        return len(records) + rng.normal(0.0, sigma, size)

    return release


def budget_by_cities(seen_only: bool) -> Mechanism:
    def release(records: Any, size: int, rng: Rng) -> Any:
        counts = np.array([list(records).count(city) for city in CITIES])
        shares = max(np.count_nonzero(counts), 1) if seen_only else len(CITIES)
        return with_laplace(counts, size, rng, shares)

    return release


def tries_until_enough(refund: bool) -> Mechanism:
    """Release the number of attempts and the first noisy count above the target, or the last one if none is above."""

    def release(records: Any, size: int, rng: Rng) -> Any:
        noisy = with_laplace(np.full(TRIES, len(records)), size, rng, 1.0 if refund else TRIES)
        passed = noisy > TARGET
        passed[:, -1] = True  # the last try counts in any case
        tries = np.argmax(passed, axis=1)
        return np.column_stack([tries + 1, noisy[np.arange(size), tries]])

    return release


def four_totals(sigma: float) -> Mechanism:
    def release(rows: Any, size: int, rng: Rng) -> Any:
        return rows.sum(axis=0) + rng.normal(0.0, sigma, (size, 4))

    return release


def descent(sigma: float) -> Mechanism:
    """Release the weights after each of four epochs of clipped gradient descent on (w − x)²/2, averaged over a public count."""

    def release(values: Any, size: int, rng: Rng) -> Any:
        weights = [np.zeros(size)]
        for _ in range(EPOCHS):
            gradient = np.clip(weights[-1][:, None] - values, -1, 1).sum(axis=1) + rng.normal(0.0, sigma, size)
            weights.append(weights[-1] - gradient / PEOPLE)
        return np.column_stack(weights[1:])

    return release


_NAMES = auditor.Records(choices=CITIES, size=(0, 30), container="list")

ACCOUNTING = {
    "accounting: three totals, each with the whole budget": Fault(
        three_totals(1.0), three_totals(3.0), EPSILON, auditor.Records((0, 1), columns=3, size=(0, 30)),
        (np.empty((0, 3)), np.ones((1, 3))),
        "A row of ones moves three totals by 1, with noise of scale 1: a loss of 3.",
        "A row moves the totals by at most 3 in L1, which is the scale.",
    ),
    "accounting: parallel composition of groups that overlap": Fault(
        by_age(True), by_age(False), EPSILON, auditor.Records((0, 100), size=(0, 30), integer=True),
        (np.array([], dtype=int), np.array([70])),
        "A person of 70 is in the groups from 18, from 40 and from 65: a loss of 3.",
        "The groups 18 … 39, 40 … 64 and from 65 are disjoint.",
    ),
    "accounting: amplification without sampling": Fault(
        yes_in_a_tenth(False), yes_in_a_tenth(True), EPSILON,
        auditor.Records(choices=[0, 1], size=(10, 50), relation="substitute"),
        (np.zeros(10, dtype=int), np.array([1] + [0] * 9)),
        "The first tenth of the rows is no random sample: a row in it has a loss of log(1 + 10(e − 1)) = 2.9.",
        "At most a tenth without replacement, so ε is log(1 + 0.1(e^2.9 − 1)) = 1.",
    ),
    "accounting: Gaussian noise without its δ": Fault(
        count(1.0), count(math.sqrt(2 * math.log(1.25 / DELTA))), auditor.ApproximateDP(1.0, DELTA),
        auditor.Records((0, 10), size=(0, 30)), (np.zeros(3), np.zeros(4)),
        "σ = 1/ε leaves out the factor for δ: at ε = 1 the δ of μ = 1 is 0.127, and at ε = 2 it is 0.021.",
        "σ = √(2 log(1.25/δ))/ε, by Dwork and Roth, for ε ≤ 1.",
    ),
    "accounting: the budget is split by what is there": Fault(
        budget_by_cities(True), budget_by_cities(False), EPSILON, _NAMES, (["Bern"], ["Bern", "Rome"]),
        "One city has noise of scale 1, two have 2: an L1 norm of the noise above 14 has chance 0.0055 or 0.30, a loss of 4.",
        "The scale is 6, whatever the cities of the data; a record moves one count by 1.",
    ),
    "accounting: tries that fail are refunded": Fault(
        tries_until_enough(True), tries_until_enough(False), EPSILON, auditor.Records((0, 1), size=(0, 30)),
        (np.zeros(9), np.zeros(10)),
        "Counts 9 and 10 pass 10 with chance 0.18 or 0.5: eight failures have chance 0.196 or 0.0039, a loss of 3.9.",
        "Ten tries, each with noise of scale 10.",
    ),
    "accounting: ρ adds up as a root of squares": Fault(
        four_totals(math.sqrt(2.0)), four_totals(2.0), auditor.ZeroConcentratedDP(0.5),
        auditor.Records((0, 1), columns=4, size=(0, 30)), (np.empty((0, 4)), np.ones((1, 4))),
        "Each of four totals has ρ = 1/(2·2) = 0.25, which was added as √(4·0.25²) = 0.5: ρ is 1.",
        "Each of four totals has ρ = 1/(2·4), together 0.5.",
    ),
    "accounting: four epochs are paid as one": Fault(
        descent(1.0), descent(2.0), auditor.GaussianDP(1.0), auditor.Records((-10, 10), size=(0, 30)),
        (np.empty(0), np.array([10.0])),
        "A value of 10 moves the gradient of each of four epochs by 1, with σ = 1: μ = √4 = 2.",
        "Each of four epochs has μ = 1/2, together √(4/4) = 1.",
    ),
}  # fmt: skip
