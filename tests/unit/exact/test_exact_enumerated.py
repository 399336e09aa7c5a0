"""Intervals against sums over all outputs, in fractions or by binomial weights: no grid, no transform."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.special import gammaln, logsumexp

from auditor.exact import (
    Composition,
    DiscreteGaussian,
    DiscreteLaplace,
    ExponentialMechanism,
    Poisson,
    Process,
    RandomizedResponse,
    Table,
    delta_interval,
    epsilon_interval,
    mu_interval,
    renyi_interval,
)
from auditor.exact.process import ProcessRelation

Rows = tuple[list[Fraction], list[Fraction]]


def enumerated(steps: list[Rows], epsilon: float) -> float:
    """Return δ of a sequence of tables by its definition: over all sequences of outputs, Σ max(0, P − e^ε Q)."""
    growth = Fraction(math.exp(epsilon))
    total = Fraction(0)
    for outputs in itertools.product(*(range(len(p)) for p, _ in steps)):
        p = math.prod((step[0][o] for step, o in zip(steps, outputs, strict=True)), start=Fraction(1))
        q = math.prod((step[1][o] for step, o in zip(steps, outputs, strict=True)), start=Fraction(1))
        total += max(Fraction(0), p - growth * q)
    return float(total)


def sampled(rows: Rows, rate: Fraction) -> Rows:
    return [(1 - rate) * q + rate * p for p, q in zip(*rows, strict=True)], rows[1]


def floats(row: list[Fraction]) -> tuple[float, ...]:
    return tuple(map(float, row))


# Sixteenths, so that floats are exact.
TABLES = [
    ([8, 5, 3], [5, 8, 3]),
    ([1, 15], [2, 14]),
    ([9, 4, 2, 1], [4, 4, 4, 4]),
    ([8, 8, 0], [7, 8, 1]),
    ([6, 6, 4, 0], [6, 5, 0, 5]),
    ([16], [16]),
]
EPSILONS = [0.0, 0.05, 0.3, 1.0, 2.5]


def rows_of(table: tuple[list[int], list[int]]) -> Rows:
    return [Fraction(n, 16) for n in table[0]], [Fraction(n, 16) for n in table[1]]


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("rate", [Fraction(1), Fraction(1, 4)])
@pytest.mark.parametrize("steps", [1, 2, 5])
def test_a_table_is_enumerated_in_each_direction(
    table: tuple[list[int], list[int]], rate: Fraction, steps: int
) -> None:
    rows = rows_of(table)
    mixed = sampled(rows, rate)
    swapped = (mixed[1], mixed[0])
    noise = Table(floats(rows[0]), floats(rows[1]))
    for epsilon in EPSILONS:
        removed, added = (enumerated([pair] * steps, epsilon) for pair in (mixed, swapped))
        wanted: dict[ProcessRelation, float] = {"remove": removed, "add": added, "add_remove": max(removed, added)}
        for relation, exact in wanted.items():
            asked = Process(noise, relation=relation, sampling=Poisson(float(rate)), steps=steps)
            interval = delta_interval(asked, epsilon)
            assert interval.low <= exact * (1 + 1e-12) and exact <= interval.high * (1 + 1e-12)
            assert interval.high - interval.low <= 0.02 * exact + 1e-9


def test_different_tables_are_composed() -> None:
    first, second = rows_of(TABLES[0]), rows_of(TABLES[2])
    parts = (Process(Table(floats(first[0]), floats(first[1])), relation="remove", steps=3),)
    parts += (Process(Table(floats(second[0]), floats(second[1])), relation="remove", steps=2),)
    for epsilon in EPSILONS:
        exact = enumerated([first] * 3 + [second] * 2, epsilon)
        interval = delta_interval(Composition(parts), epsilon)
        assert interval.low <= exact <= interval.high and interval.high - interval.low <= 0.02 * exact + 1e-9


def trinomial(truth: float, values: int, steps: int, epsilon: float) -> float:
    """Return δ of randomised response by its counts: a true answers, b of the other value, and the rest of neither value."""
    wrong = (1 - truth) / (values - 1)
    step = math.log(truth / wrong)
    logs = []
    for a in range(steps + 1):
        for b in range(steps + 1 - a):
            c = steps - a - b
            if c and values == 2:
                continue
            loss = (a - b) * step
            if loss <= epsilon:
                continue
            weight = gammaln(steps + 1) - gammaln(a + 1) - gammaln(b + 1) - gammaln(c + 1)
            weight += a * math.log(truth) + b * math.log(wrong) + (c * math.log((values - 2) * wrong) if c else 0.0)
            logs.append(weight + math.log(-math.expm1(epsilon - loss)))
    return float(np.exp(logsumexp(logs))) if logs else 0.0


@pytest.mark.parametrize(("truth", "values", "steps"), [(0.6, 2, 1), (0.75, 2, 30), (0.4, 3, 60), (0.2, 10, 200)])
def test_randomised_response_is_a_sum_over_counts(truth: float, values: int, steps: int) -> None:
    asked = Process(RandomizedResponse(truth, values), relation="substitute", steps=steps)
    largest = steps * math.log(truth * (values - 1) / (1 - truth))
    for share in (0.0, 0.1, 0.37, 0.7):
        epsilon = share * largest
        exact = trinomial(truth, values, steps, epsilon)
        interval = delta_interval(asked, epsilon)
        assert interval.low <= exact * (1 + 1e-9) and exact <= interval.high * (1 + 1e-9)
        assert interval.relative_width < 1e-4
    assert epsilon_interval(asked, 0.0).high == pytest.approx(largest)


def test_tiny_deltas_keep_their_digits() -> None:
    """δ = 1e-30 of 60 answers does not drown in the error of a transform."""
    asked = Process(RandomizedResponse(0.75), relation="substitute", steps=60)
    interval = epsilon_interval(asked, 1e-30, precision=1e-6)
    assert trinomial(0.75, 2, 60, interval.low) >= 1e-30 * (1 - 1e-6)
    assert trinomial(0.75, 2, 60, interval.high) <= 1e-30 * (1 + 1e-6)
    assert interval.relative_width < 1e-3 and interval.low > 50


def weights(kind: type, scale: float) -> tuple[np.ndarray, np.ndarray]:
    k = np.arange(-400, 401)
    w = np.exp(-(k**2) / (2 * scale**2)) if kind is DiscreteGaussian else np.exp(-np.abs(k) / scale)
    return k, w / math.fsum(w)


@pytest.mark.parametrize("kind", [DiscreteGaussian, DiscreteLaplace])
@pytest.mark.parametrize(("scale", "shift", "rate"), [(1.0, 1, 1.0), (2.5, 3, 1.0), (2.0, 1, 0.2)])
def test_integer_noise_is_summed_over_integers(kind: type, scale: float, shift: int, rate: float) -> None:
    _, w = weights(kind, scale)
    p, q = np.r_[np.zeros(shift), w], np.r_[w, np.zeros(shift)]
    p = rate * p + (1 - rate) * q
    for epsilon in (0.0, 0.2, 0.9, 2.0):
        exact = max(
            math.fsum(np.maximum(0, p - math.exp(epsilon) * q)), math.fsum(np.maximum(0, q - math.exp(epsilon) * p))
        )
        interval = delta_interval(Process(kind(scale), sensitivity=shift, sampling=Poisson(rate)), epsilon)
        assert interval.low <= exact + 1e-14 and exact <= interval.high + 1e-14
        assert interval.high - interval.low <= 1e-9
    # The distribution of two steps is one of pairs of integers.
    p2, q2 = np.multiply.outer(p, p), np.multiply.outer(q, q)
    for epsilon in (0.1, 1.0):
        exact = max(
            float(np.maximum(0, p2 - math.exp(epsilon) * q2).sum()),
            float(np.maximum(0, q2 - math.exp(epsilon) * p2).sum()),
        )
        interval = delta_interval(Process(kind(scale), sensitivity=shift, sampling=Poisson(rate), steps=2), epsilon)
        assert interval.low <= exact + 1e-13 and exact <= interval.high + 1e-13
        assert interval.high - interval.low <= 0.02 * exact + 1e-9


def test_the_exponential_mechanism_is_the_worst_of_all_utilities() -> None:
    """Two candidates with any gap of utilities: a grid of gaps comes close to the curve, and no gap exceeds it."""
    weight = 0.4
    for epsilon in (0.0, 0.1, 0.3, 0.7):
        worst = 0.0
        for gap in np.linspace(-12, 12, 4_001):
            p = 1 / (1 + math.exp(-(gap + 2 * weight)))  # one utility rises by 1, the other falls by 1
            q = 1 / (1 + math.exp(-gap))
            growth = math.exp(epsilon)
            worst = max(worst, max(0, p - growth * q) + max(0, (1 - p) - growth * (1 - q)))
        interval = delta_interval(Process(ExponentialMechanism(weight)), epsilon)
        assert worst <= interval.high and interval.low <= worst + 1e-6


@pytest.mark.parametrize("order", [1.01, 1.5, 2.0, 7.3, 64.0])
@pytest.mark.parametrize("rate", [1.0, 0.25])
def test_renyi_of_a_table_is_its_definition(order: float, rate: float) -> None:
    rows = rows_of(TABLES[2])
    mixed = sampled(rows, Fraction(rate))
    pairs = [tuple(map(np.array, map(floats, pair))) for pair in (mixed, (mixed[1], mixed[0]))]
    exact = max(float(logsumexp(order * np.log(p) + (1 - order) * np.log(q))) / (order - 1) for p, q in pairs)
    noise = Table(floats(rows[0]), floats(rows[1]))
    interval = renyi_interval(Process(noise, sampling=Poisson(rate), steps=3), order)
    assert interval.low <= 3 * exact * (1 + 1e-12) and 3 * exact <= interval.high * (1 + 1e-12)
    assert interval.relative_width < 1e-4


def test_mu_of_randomised_response_is_the_largest_over_all_thresholds() -> None:
    """Φ(μ/2 − ε/μ) − … best meets a curve of two straight lines at its corner: μ = 2Φ⁻¹(truth)."""
    from scipy.special import ndtri

    interval = mu_interval(Process(RandomizedResponse(0.75), relation="substitute"))
    exact = 2 * float(ndtri(0.75))
    assert interval.low <= exact <= interval.high and interval.relative_width < 0.01
