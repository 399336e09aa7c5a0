"""Formulas of documents 000, 001 and 003 against their definitions by enumeration, and their guarantees by exact computation."""

import itertools
import math
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pytest
from scipy.stats import dlaplace

from mechanisms import (
    propose_test_release,
    queries,
    sample_and_aggregate,
    shifted_inverse,
    smooth_sensitivity,
)
from mechanisms.exact.divergences import exact_delta
from mechanisms.exact.known_continuous import laplace
from mechanisms.local_sensitivity import local_sensitivity_of_ratio, ratio_formula
from mechanisms.truths import continuous
from mechanisms.truths.continuous import test_then_release

del test_then_release

Multiset = tuple[int, ...]

# Document 003 --------------------------------------------------------------------------------------------------------

LOW = -2
VALUES = (LOW, -1, 0, 1, 3)
MULTISETS: list[Multiset] = [x for n in range(5) for x in itertools.combinations_with_replacement(VALUES, n)]
COUNTS = np.array([[x.count(value) for value in VALUES] for x in MULTISETS])


def subsets(x: Multiset) -> Iterable[Multiset]:
    return itertools.chain.from_iterable(itertools.combinations(x, n) for n in range(len(x) + 1))


def maximum(x: Multiset) -> int:
    return max(x, default=LOW)


def monotonised(x: Multiset) -> int:
    return max(sum(part) for part in subsets(x))


# f by its definition, its loss in mechanisms, and Y, which begins with the least value of f (for the sum with 0, below
# which some data sets have no subset).
FUNCTIONS: dict[str, tuple[Callable[[Multiset], int], Any, range]] = {
    "max": (maximum, shifted_inverse.loss_of_max, range(LOW, 5)),
    "sum": (sum, shifted_inverse.loss_of_sum, range(13)),
    "monotonised sum": (monotonised, shifted_inverse.loss_of_monotonised_sum, range(13)),
}


def array(x: Iterable[int]) -> np.ndarray:
    return np.array(list(x), np.int64)


def losses(name: str, strictly: bool) -> np.ndarray:
    """Return the loss of each multiset (rows) at each y (columns)."""
    _, loss, ys = FUNCTIONS[name]
    return np.stack([loss(array(x), array(ys), strictly) for x in MULTISETS])


@pytest.mark.parametrize("strictly", [False, True])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_losses_are_the_fewest_removals(name: str, strictly: bool) -> None:
    f, _, ys = FUNCTIONS[name]

    def fewest(x: Multiset, y: int) -> float:
        enough = (part for part in subsets(x) if (f(part) < y if strictly else f(part) <= y))
        return min((len(x) - len(part) for part in enough), default=math.inf)

    np.testing.assert_array_equal(losses(name, strictly), [[fewest(x, y) for y in ys] for x in MULTISETS])


@pytest.mark.parametrize("k", range(6))
def test_down_sensitivity_is_the_largest_change_by_removals(k: int) -> None:
    for x in MULTISETS:
        for f, computed in (
            (sum, shifted_inverse.down_sensitivity_of_sum(array(x), k=k)),
            (maximum, shifted_inverse.down_sensitivity_of_max(array(x), k, LOW)),
        ):
            assert computed == max(abs(f(x) - f(part)) for part in subsets(x) if len(x) - len(part) <= k)


# Document 001 --------------------------------------------------------------------------------------------------------

U = 1.0


DELTA = 1e-3


@pytest.mark.parametrize(("u", "b"), [(1.0, 0.01), (1.0, 0.02), (1.0, 0.3), (100.0, 7.0), (1.0, 1.0), (1.0, 2.0)])
def test_steps_are_those_of_the_printed_loop(u: float, b: float) -> None:
    for n in range(160):
        k = 0
        while n - k + 1 != 0 and abs(u / (n - k + 1)) < b:
            k += 1
        assert propose_test_release.steps_as_printed(n, u, b) == k


def ptr_chance(n: int, b: float, epsilon: float, corrected: bool) -> tuple[float, float]:
    """Return the probability that the test passes, and the noise of the release, after Definition 18 and its correction."""
    if corrected:
        each, steps = epsilon / 2, propose_test_release.steps_corrected(n, U, b)
        threshold = math.log(1 / (2 * DELTA)) / each
    else:
        each, steps = epsilon, propose_test_release.steps_as_printed(n, U, b)
        threshold = math.log(2 / DELTA) / (2 * epsilon)
    excess = each * (threshold - steps)
    return math.exp(-excess) / 2 if excess > 0 else 1 - math.exp(excess) / 2, b / each


@pytest.mark.parametrize("corrected", [True, False])
def test_propose_test_release_refuses_as_often_as_written_above(corrected: bool) -> None:
    """Binomial(10⁵, p) within 5.5 standard deviations: false failures have probability below 1e-7 in all."""
    mechanism = propose_test_release.ptr_corrected if corrected else propose_test_release.ptr_as_printed
    rng, trials = np.random.default_rng(20240904), 100_000
    for n in (0, 3, 13, 17):
        out = mechanism(np.zeros(n), trials, rng, u=U, b=0.1, epsilon=1.0, delta=DELTA)
        chance, scale = ptr_chance(n, 0.1, 1.0, corrected)
        released = out[~np.isnan(out)]
        assert abs(len(released) - trials * chance) <= 5.5 * math.sqrt(trials * chance * (1 - chance)) + 1
        # The mean of |noise| is the scale, and so is its standard deviation.
        assert abs(np.abs(released).mean() / scale - 1) <= 7 / math.sqrt(len(released))


def largest_step(center: Callable[..., float]) -> float:
    """Return how far one record moves the mean of k = 4 chunk answers, each clipped to [20, 80]."""
    bases = [x for n in range(1, 8) for x in itertools.product((30.0, 500.0), repeat=n)]
    return max(
        abs(center(np.array(x), 4, 20.0, 80.0) - center(np.array([*x[:at], record, *x[at:]]), 4, 20.0, 80.0))
        for x in bases
        for at in range(len(x) + 1)
        for record in (0.0, 500.0)
    )


def test_one_record_moves_the_corrected_aggregate_by_1_in_k_of_the_range_and_the_printed_one_further() -> None:
    assert largest_step(sample_and_aggregate.center_corrected) <= 60 / 4 + 1e-9
    assert largest_step(sample_and_aggregate.center_as_printed) > 1.5 * 60 / 4


# Document 000 --------------------------------------------------------------------------------------------------------


def test_local_sensitivity_of_the_ratio_against_its_neighbours() -> None:
    """The formula is exact for 0 < a < b. At a = 0 and a = b it counts a person who is not there: 1/(b − 1)."""
    for b in range(2, 30):
        for a in range(b + 1):
            neighbours = [(a + i, b + j) for i, j in ((1, 1), (0, 1), (-1, -1), (0, -1)) if 0 <= a + i <= b + j]
            truth = max(abs(a / b - c / d) for c, d in neighbours)
            expected = truth if 0 < a < b else 1 / (b - 1)
            assert ratio_formula(np.array([a, b])) == pytest.approx(expected)
            assert local_sensitivity_of_ratio(np.array([a, b])) == pytest.approx(truth)
            assert truth <= expected + 1e-12


@pytest.mark.parametrize("a", [0.1, 1.0, 3.0])
def test_discrete_laplace_tail(a: float) -> None:
    """It exceeds the document's e^(−aT), and by nearly a factor of 2 for large a."""
    for t in range(1, 8):
        tail = 2 * float(dlaplace.sf(t - 1, a))
        assert queries.tail_probability(a, t) == pytest.approx(tail)
        assert tail > math.exp(-a * t)


MONOTONE = ["max", "monotonised sum"]


DISTANCE = np.abs(COUNTS[:, None] - COUNTS[None]).sum(axis=2)


def log_chances(x: Iterable[int], name: str, shifted: str, high: int, epsilon: float) -> np.ndarray:
    _, loss, ys = FUNCTIONS[name]
    chances = shifted_inverse.chances(array(x), loss, low=ys[0], high=high, epsilon=epsilon, beta=0.5, shifted=shifted)
    with np.errstate(divide="ignore"):
        return np.log(chances)


def _accurate(x: np.ndarray, low: int, high: int, epsilon: float, beta: float, shifted: str) -> float:
    chance = shifted_inverse.chances(
        x, shifted_inverse.loss_of_max, low=low, high=high, epsilon=epsilon, beta=beta, shifted=shifted
    )
    y, f = np.arange(low, high + 1), max(x.tolist(), default=low)
    reach = shifted_inverse.down_sensitivity_of_max(x, 2 * shifted_inverse.tau_of(len(y), epsilon, beta), low)
    return float(chance[(y <= f) & (y >= f - reach)].sum())


def smooth_release(n: int, centre: float, epsilon: float, smoothed: Callable[[int, float, float], float]) -> Any:
    beta = epsilon / (2 * math.log(2 / DELTA))
    return laplace(centre, 2 * smoothed(n, U, beta) / epsilon)


# Under its own name pytest would collect it as a test.
released_with = continuous.test_then_release


def ptr_release(n: int, centre: float, b: float, epsilon: float, corrected: bool) -> Any:
    chance, scale = ptr_chance(n, b, epsilon, corrected)
    return released_with(chance, laplace(centre, scale))


def test_the_documents_counterexample_for_the_sum() -> None:
    """DS^k(x) = k and DS^k(x') = n for x = (1, …, 1), x' = (1, …, 1, −n), and the loss at 0 goes from n to 0."""
    n = 6
    x, y = array([1] * n), array([1] * n + [-n])
    for k in range(1, n + 1):
        assert shifted_inverse.down_sensitivity_of_sum(x, k=k) == k
        assert shifted_inverse.down_sensitivity_of_sum(y, k=k) == n
    assert (queries.sum_loss(x, y=0), queries.sum_loss(y, y=0)) == (n, 0)


@pytest.mark.parametrize("shifted", ["absolute", "footnote_4"])
@pytest.mark.parametrize("name", MONOTONE)
def test_outputs_are_private_where_f_is_monotone(name: str, shifted: str) -> None:
    """Checked exactly: no ratio of probabilities on neighbours exceeds e^ε, and some approach e^(ε/2)."""
    epsilon = 2.0  # so that four records reach τ
    logs = np.stack([log_chances(x, name, shifted, FUNCTIONS[name][2][-1], epsilon) for x in MULTISETS])
    possible = np.isfinite(logs)
    assert (possible == possible[0]).all()
    left, right = np.nonzero(DISTANCE == 1)
    largest = (logs[left] - logs[right])[:, possible[0]].max()
    assert 0.4 * epsilon < largest <= epsilon + 1e-12


@pytest.mark.parametrize("shifted", ["absolute", "footnote_4"])
def test_outputs_are_not_private_for_the_sum(shifted: str) -> None:
    ones = [1] * 20
    left, right = (log_chances(x, "sum", shifted, high=20, epsilon=1.0) for x in (ones, [*ones, -20]))
    assert np.abs(left - right).max() > 3


@pytest.mark.parametrize(
    "records", [[], [3], [0] * 5, [1] * 12, [1] * 40, [10] * 11, list(range(11)) * 3, [0] * 30 + [10]]
)
def test_theorem_4_holds_with_the_loss_of_footnote_4(records: list[int]) -> None:
    """The sum of the probabilities of f(x) ≥ M(x) ≥ f(x) − DS^2τ(x); and ŷ, the least value that τ removals attain, has ℓ* ≤ 0."""
    low, high, epsilon, beta = 0, 10, 1.0, 0.1
    x, ys = array(records), np.arange(low, high + 1)
    tau = shifted_inverse.tau_of(len(ys), epsilon, beta)
    assert tau == 10  # ⌈2 ln 110⌉
    assert _accurate(x, low, high, epsilon, beta, "footnote_4") >= 1 - beta
    reached = max(records, default=low) - shifted_inverse.down_sensitivity_of_max(x, tau, low)
    assert shifted_inverse.footnote_4(shifted_inverse.loss_of_max, x, ys, tau)[reached - low] <= 0


def test_theorem_4_fails_without_footnote_4() -> None:
    """On 2τ ones, |ℓ − τ| = τ everywhere: outputs are uniform, and 9 of 11 exceed the maximum 1."""
    tau = shifted_inverse.tau_of(11, 1.0, 0.1)
    assert _accurate(array([1] * 2 * tau), 0, 10, 1.0, 0.1, "absolute") == pytest.approx(2 / 11)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 2.7])
@pytest.mark.parametrize("n", [1, 2, 3, 10, 199, 200, 208])
def test_corrected_smooth_sensitivity_is_private(n: int, epsilon: float) -> None:
    """Checked exactly for n and n − 1 records, whose means are as far apart as possible, or equal."""
    for apart in (0.0, U / n):
        left = smooth_release(n, apart, epsilon, smooth_sensitivity.smoothed_corrected)
        right = smooth_release(n - 1, 0.0, epsilon, smooth_sensitivity.smoothed_corrected)
        delta = exact_delta(left, right, epsilon)
        assert delta.value - delta.error <= DELTA


def test_smooth_sensitivity_as_printed_is_not_private_at_small_epsilon() -> None:
    left, right = (smooth_release(n, 0.0, 0.1, smooth_sensitivity.smoothed_as_printed) for n in (199, 200))
    delta = exact_delta(left, right, 0.1)
    assert delta.value - delta.error > 100 * DELTA


@pytest.mark.parametrize("b", [0.1, 0.095])
def test_corrected_propose_test_release_is_private_and_the_printed_one_is_not(b: float) -> None:
    """Checked exactly for n and n − 1 records whose means are u/n apart: few records, the edge near u/b, the threshold, many."""
    epsilon = 1.0
    deltas: dict[bool, list[float]] = {True: [], False: []}
    for n, corrected in itertools.product([1, 2, 5, *range(9, 24), 40], (True, False)):
        left, right = (ptr_release(m, centre, b, epsilon, corrected) for m, centre in ((n, U / n), (n - 1, 0.0)))
        for p, q in ((left, right), (right, left)):
            delta = exact_delta(p, q, epsilon)
            deltas[corrected].append(delta.value - delta.error)
    assert max(deltas[True]) <= DELTA
    assert max(deltas[False]) > 10 * DELTA
