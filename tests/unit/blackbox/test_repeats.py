"""Repeated random streams: copies are refused, independent outputs of any kind are not."""

import itertools
import math
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from auditor.blackbox import repeats
from auditor.blackbox.canonical import from_batch, from_list
from auditor.blackbox.mechanism import PythonSource
from auditor.blackbox.repeats import SHOWN, RepeatGuard, shown_keys
from auditor.errors import MechanismError
from auditor.neighbours.pair import Pair

PAIR = Pair(0.0, 1.0)


def guard_batches(function: Callable[..., Any], batches: int = 6, size: int = 600) -> RepeatGuard:
    """Let the guard see batches of a mechanism that gets a new generator for each."""
    mechanism, guard = PythonSource("m", function=function).drawer(), RepeatGuard()
    for number in range(batches):
        rng = np.random.default_rng([7, number])
        sample = mechanism.draw(PAIR, rng.random(size) < 0.5, rng)
        guard.look(shown_keys(sample.left), shown_keys(sample.right), f"batch {number}")
    return guard


# --- What the guard refuses ---


def seeded(value: float, size: int, rng: Any) -> Any:
    return np.random.default_rng(0).laplace(value, 1.0, size)


def seeded_response(value: float, size: int, rng: Any) -> Any:
    """Two values only."""
    return np.random.default_rng(0).random(size) < (0.3 if value else 0.7)


def seeded_vectors(value: float, size: int, rng: Any) -> Any:
    return np.random.default_rng(0).normal(value, 1.0, (size, 3))


def seeded_words(value: float, size: int, rng: Any) -> Any:
    return [["yes", "no", None][i] for i in np.random.default_rng(0).integers(3, size=size)]


def seeded_rarely(value: float, size: int, rng: Any) -> Any:
    """One output in 20 is 1: a single pair of batches shows fewer than six of them."""
    return np.random.default_rng(3).random(size) < 0.05


class ShortPeriod:
    """A generator with period 1,000 that continues from batch to batch."""

    def __init__(self) -> None:
        self.stream, self.at = np.random.default_rng(0).laplace(size=1_000), 0

    def __call__(self, value: float, size: int, rng: Any) -> Any:
        self.at += size
        return value + self.stream[np.arange(self.at - size, self.at) % 1_000]


REPEATING = [seeded, seeded_response, seeded_vectors, seeded_words, seeded_rarely]


@pytest.mark.parametrize("function", REPEATING, ids=lambda function: function.__name__)
def test_a_mechanism_that_seeds_itself_is_refused(function: Callable[..., Any]) -> None:
    with pytest.raises(
        MechanismError, match=r"repeats itself: .* batch \d.* are not independent.*`rng` that is passed in"
    ):
        guard_batches(function)


def test_a_short_period_is_refused_wherever_a_batch_begins_in_it() -> None:
    with pytest.raises(MechanismError, match="32 outputs in a row"):
        guard_batches(ShortPeriod(), batches=20)


def test_a_batch_that_begins_as_a_remembered_one_is_refused_however_late() -> None:
    """No window starts in the repeated outputs, except the first."""
    guard, rng, none = RepeatGuard(), np.random.default_rng(1), np.zeros(0, np.uint64)
    keys = rng.integers(2**64, size=10_000, dtype=np.uint64)
    repeated = keys[keys * repeats.ODD >= repeats.ONE_IN][: repeats.WINDOWS[0]]

    def look(number: int, first: Any) -> None:
        guard.look(np.concatenate([first, rng.integers(2**64, size=40, dtype=np.uint64)]), none, f"batch {number}")

    look(0, repeated)
    while guard.remembers:
        look(1, none)
    with pytest.raises(MechanismError, match="of the batch 2 are identical to outputs of the batch 0"):
        look(2, repeated)


def test_the_second_copy_is_told_from_the_first_by_name() -> None:
    with pytest.raises(
        MechanismError, match="of the batch 1 are identical to outputs of the batch 0, in the same order"
    ):
        guard_batches(seeded, size=100)  # with one call on each side


def test_copies_on_the_two_sides_of_one_batch_are_refused() -> None:
    with pytest.raises(MechanismError, match="of the batch 0 are identical to outputs of the batch 0"):
        guard_batches(lambda value, size, rng: np.random.default_rng(0).random(size), batches=1)


# --- What it accepts ---


def grouped(value: float, size: int, rng: np.random.Generator) -> Any:
    """Drawn as counts, and expanded by value."""
    return np.repeat([0, 1, 2], rng.multinomial(size, [0.1, 0.2, 0.7]))


class Spent:
    """A constant, until the budget is spent."""

    calls = 0

    def __call__(self, value: float, size: int, rng: Any) -> Any:
        self.calls += 1
        return np.full(size, value if self.calls < 7 else np.nan)


def fails(value: float, size: int, rng: np.random.Generator) -> Any:
    raise ValueError(rng.random())


HONEST: dict[str, Callable[..., Any]] = {
    "continuous": lambda value, size, rng: rng.laplace(value, 1.0, size),
    "a fair coin": lambda value, size, rng: rng.random(size) < 0.5,
    "randomised response": lambda value, size, rng: rng.random(size) < (0.3 if value else 0.7),
    "a rare event": lambda value, size, rng: rng.random(size) < 0.004,
    "geometric": lambda value, size, rng: rng.geometric(0.6, size) - rng.geometric(0.6, size),
    "a constant": lambda value, size, rng: np.full(size, value),
    "nan only": lambda value, size, rng: np.full(size, np.nan),
    "none only": lambda value, size, rng: [None] * size,
    "mostly one value": lambda value, size, rng: np.where(rng.random(size) < 0.9, 0.0, rng.random(size)),
    "grouped by value": grouped,
    "a constant that is spent": Spent(),
    "failing, each time with another message": fails,
    "words": lambda value, size, rng: [["yes", "no", None][i] for i in rng.integers(3, size=size)],
}


@pytest.mark.parametrize("function", HONEST.values(), ids=HONEST)
@pytest.mark.parametrize("size", [1, 70, 600])
def test_honest_mechanisms_pass(function: Callable[..., Any], size: int) -> None:
    guard_batches(function, batches=60, size=size)


def test_the_bits_of_a_window_bound_its_probability_whatever_the_distribution() -> None:
    """All 3⁶ windows under 200 distributions: no distribution gives a window more than 2^−bits."""
    windows = np.array([*itertools.product(range(3), repeat=6)])
    bits = np.array([repeats._bits(window) for window in windows.astype(np.uint64)])
    likely = np.random.default_rng(5).dirichlet([0.7, 0.7, 0.7], 200)
    assert (np.log2(likely)[:, windows].sum(axis=2) + bits).max() <= 1e-9
    counts = Counter({0: 3, 1: 3})
    assert repeats._bits(np.array([0, 1, 0, 1, 0, 1], np.uint64)) == pytest.approx(counts.total())


@pytest.mark.parametrize("certain", [5.0, 7.0])
def test_windows_are_refused_no_oftener_than_proved(monkeypatch: pytest.MonkeyPatch, certain: float) -> None:
    """Fair coins and few required bits: over 2,000 audits of 8 batches the rate stays below 2^−c · (e − 1) · Σ 1/t.

    False-failure rate below 1e-9: the true rate is at most a fortieth of the proved one.
    """
    monkeypatch.setattr(repeats, "CERTAIN", certain)
    monkeypatch.setattr(repeats, "WINDOWS", (8,))
    refused, audits, batches, rng = 0, 2_000, 8, np.random.default_rng(5)
    for _ in range(audits):
        guard = RepeatGuard()
        try:
            for _ in range(batches):
                left, right = rng.integers(2, size=(2, 8)).astype(np.uint64)
                guard.look(left, right, "batch")
        except MechanismError:
            refused += 1
    proved = 2**-certain * (math.e - 1) * sum(1 / t for t in range(1, 2 * batches + 1))
    assert refused <= proved * audits


# --- Keys ---


def test_an_output_has_one_key_whatever_stands_beside_it() -> None:
    """Columns, and the numbers of atoms, depend on the batch; keys do not."""
    outputs = [1, 1.0, None, "a", [1, 2], {"a": 1}, float("nan"), True, -0.0, 0.0, 2**70]
    together = shown_keys(from_list(outputs)).tolist()
    alone = [int(shown_keys(from_list([output, 0.5]))[0]) for output in outputs]
    assert together == alone
    assert len(set(together)) == len(outputs)


def test_arrays_and_lists_are_looked_at_as_far_as_shown() -> None:
    values = np.random.default_rng(5).normal(size=1_000)
    keys = shown_keys(from_batch(values, 1_000))
    assert len(keys) == SHOWN == len(set(keys.tolist()))
    assert shown_keys(from_list([])).tolist() == []


# --- Calls with a few outputs, which show no window twice ---


@pytest.mark.parametrize("values", [2, 3])
@pytest.mark.parametrize("starts", [[0, 2, 4, 6], [0, 1, 2, 5, 7], [0, 3, 6]])
@pytest.mark.parametrize("period", [1, 2])
def test_the_odds_of_calls_that_begin_alike_are_fair(values: int, starts: list[int], period: int) -> None:
    """Over all orders of any outputs, 2 to the power of the bits has a mean of at most 1."""
    odds = dict[tuple[int, ...], list[float]]()
    for keys in itertools.product(range(values), repeat=8):
        bits = repeats.bits_of_beginnings(np.array(keys, np.uint64), starts, [i % period for i in range(len(starts))])
        odds.setdefault(tuple(sorted(keys)), []).append(2**bits)
    assert max(map(max, odds.values())) > 4
    assert max(map(np.mean, odds.values())) <= 1 + 1e-9


def test_calls_that_begin_alike_are_sure_from_few_and_a_constant_is_none() -> None:
    sizes = [1, 2, 3] * 30
    starts = [0, *itertools.accumulate(sizes[:-1])]
    keys = np.concatenate([np.arange(size) for size in sizes]).astype(np.uint64)
    assert repeats.bits_of_beginnings(keys, starts, [0] * 90) > 100
    assert repeats.bits_of_beginnings(np.zeros_like(keys), starts, [0] * 90) < 0


def response(rng: np.random.Generator, value: float, size: int) -> Any:
    return rng.random(size) < (0.7 if value else 0.3)


@pytest.mark.parametrize("values", [2, 1_000])
def test_independent_calls_are_refused_no_oftener_than_proved(monkeypatch: pytest.MonkeyPatch, values: int) -> None:
    """With 2 bits instead of 64, over 1,000 audits of 8 batches: by Ville's inequality at most 0.41 · 2⁻² of them.

    False-failure rate below 1e-9: the true rate is a third of that, or less.
    """
    monkeypatch.setattr(repeats, "CERTAIN", 2.0)
    refused, rng = 0, np.random.default_rng(5)
    for _ in range(1_000):
        guard = RepeatGuard()
        try:
            for _ in range(8):
                sides, labels = rng.integers(values, size=(2, 12)).astype(np.uint64), rng.permutation(24) < 12
                for calls, single in ((np.arange(24) // 3, False), (np.arange(24), True)):
                    guard.look_at_calls([*sides], labels, calls, single, "batch")
        except MechanismError:
            refused += 1
    assert refused <= 100
