"""Parallel sampling: outputs do not depend on who draws them, streams are separate, and a hidden fair coin orders the sides."""

import itertools
import time
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sampled import PAIR, as_drawn, draw, sampler
from scipy.stats import binom

from auditor.blackbox.batches import Batch, Phase
from auditor.blackbox.sample import Sample
from auditor.blackbox.sampling import Execution
from auditor.errors import InvalidInputError
from auditor.neighbours.pair import Pair, Relation


def sides(size: int, phase: Phase, seed: int) -> list[int]:
    [one] = sampler(seed=seed).map(
        [Batch(PAIR, size, phase, (0, 0))], lambda sample: [sample.left.size, sample.right.size]
    )
    return list(one)


@pytest.mark.parametrize("size", [8, 16, 17, 1_000])
def test_a_look_has_half_of_its_outputs_on_either_side(size: int) -> None:
    assert [sides(size, Phase.SEARCH, seed=seed) for seed in range(5)] == [[(size + 1) // 2, size // 2]] * 5


def test_batches_come_in_order_however_long_each_takes() -> None:
    def slow_at_first(dataset: float, size: int, rng: np.random.Generator) -> Any:
        time.sleep(0.02 if size > 20 else 0)
        return np.full(size, size)

    drawer = sampler(slow_at_first, workers=2, backend="threading")
    batches = [Batch(PAIR, size, Phase.BOUND, (i,)) for i, size in enumerate([99, 98, 10, 9, 8, 7])]
    assert [len(left) + len(right) for left, right in drawer.map(batches, as_drawn)] == [99, 98, 10, 9, 8, 7]


def test_a_batch_is_the_same_in_any_order_and_any_company() -> None:
    batches = list(sampler().batches(PAIR, 230, Phase.BOUND))
    alone = [next(iter(sampler().map([batch], as_drawn))) for batch in batches]
    backwards = list(sampler().map(batches[::-1], as_drawn))[::-1]
    assert alone == backwards == draw(sampler())


@given(st.integers(0, 10_000), st.integers(1, 3000))
def test_batches_add_up_to_the_outputs_asked_for(outputs: int, batch: int) -> None:
    batches = list(sampler(batch=batch).batches(PAIR, outputs, Phase.SELECTION))
    assert sum(b.size for b in batches) == outputs
    assert all(0 < b.size <= batch for b in batches)
    assert len({b.number for b in batches}) == len(batches)


# --- Addresses ---


def first_output(name: str, seed: int, phase: Phase, number: tuple[int, ...]) -> float:
    """Return the first number of the stream that a mechanism gets at an address."""
    batch = Batch(PAIR, 1, phase, number)
    [stream] = sampler(lambda dataset, rng: float(rng.random()), name, seed).map([batch], as_drawn)
    return (stream[0] + stream[1])[0]


def test_different_addresses_have_different_streams() -> None:
    names, seeds = ["a", "b", "", "a "], [0, 1, 2**32, 2**63]
    numbers = [(0,), (1,), (0, 0), (0, 1), (1, 0), (2**32 - 1,)]
    addresses = list(itertools.product(names, seeds, Phase, numbers))
    streams = {first_output(*address) for address in addresses}
    assert len(streams) == len(addresses)


def test_a_pair_is_no_part_of_the_stream_so_that_neighbours_are_compared_on_equal_terms() -> None:
    """Both sides of a batch, and any pair at the same address, are drawn with the same random numbers."""
    drawer = sampler(lambda dataset, rng: dataset + rng.random())
    (left, right), (same_left, same_right) = (
        draw(drawer, 50, pair=pair)[0] for pair in (Pair(0.0, 0.0), Pair(10.0, 10.0))
    )
    assert [x + 10 for x in left] == pytest.approx(same_left)
    assert [x + 10 for x in right] == pytest.approx(same_right)


def test_streams_look_independent_of_each_other() -> None:
    """For correlations of 200 streams with the next one: the largest exceeds 5.7 standard errors with probability below 1e-5."""

    def many(sample: Sample) -> Any:
        return np.concatenate(as_drawn(sample))

    drawer = sampler(lambda dataset, size, rng: rng.random(size), batch=2000)
    streams = np.array(list(drawer.map(drawer.batches(Pair(0, 0), 2000 * 200, Phase.BOUND), many)))
    scaled = (streams - streams.mean(1, keepdims=True)) / streams.std(1, keepdims=True)
    correlations = (scaled[1:] * scaled[:-1]).mean(1)
    assert np.abs(correlations).max() < 5.7 / np.sqrt(2000)


# --- The coin ---


def test_the_coin_is_fair_and_independent_from_trial_to_trial() -> None:
    """Each of the two limits is exceeded by chance with probability below 1e-6."""
    n = 40_000

    def order(dataset: float, rng: np.random.Generator) -> float:
        asked.append(dataset)
        return 0.0

    asked: list[float] = []
    draw(sampler(order, batch=1000), n)
    sides = np.array(asked)
    low, high = binom.ppf(5e-7, n, 0.5), binom.isf(5e-7, n, 0.5)
    assert low <= sides.sum() <= high
    changes = np.count_nonzero(np.diff(sides))
    assert binom.ppf(5e-7, n - 1, 0.5) <= changes <= binom.isf(5e-7, n - 1, 0.5)


@pytest.mark.parametrize("skip", [0, 1])
def test_the_mechanism_s_stream_does_not_tell_the_labels(skip: int) -> None:
    """A mechanism that takes its generator for the coin names the side no more often than by guessing.

    The limit is exceeded by chance with probability below 1e-6.
    """
    n = 4000
    right_guesses = 0

    def peeking(dataset: float, rng: np.random.Generator) -> float:
        nonlocal right_guesses
        rng.random(skip)
        right_guesses += (rng.random() < 0.5) == (dataset == PAIR.left)
        return 0.0

    draw(sampler(peeking, batch=1), n)
    assert binom.ppf(5e-7, n, 0.5) <= right_guesses <= binom.isf(5e-7, n, 0.5)


def test_a_mechanism_is_told_its_data_set_the_size_and_a_generator_only() -> None:
    recorded: list[dict[str, Any]] = []

    def recording(dataset: Any, **keywords: Any) -> Any:
        recorded.append(keywords)
        return np.zeros(keywords.get("size", 1))

    draw(sampler(lambda dataset, size, rng: recording(dataset, size=size, rng=rng)), 100)
    assert all(set(keywords) == {"size", "rng"} for keywords in recorded)


def test_a_data_set_alone_is_always_the_left_one() -> None:
    [(left, right)] = draw(sampler(), 50, pair=Pair(5.0, None, Relation.ALONE))
    assert (len(left), len(right)) == (50, 0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"workers": 0}, "workers is 0; it must be at least 1, or −1"),
        ({"batch": 0}, "batch is 0; it must be at least 1"),
        ({"backend": "lokey"}, 'backend is "lokey"; it must be one of loky, threading, dask'),
        ({"timeout": 0}, "timeout is 0; it must be a finite number above 0"),
        ({"timeout": float("nan")}, "timeout is nan"),
        ({"timeout": 1.0, "isolate": False}, "timeout is 1.0, but isolate is false; leave out isolate"),
        ({"backend": "dask", "address": "a:1", "isolate": False}, "backend is dask, but isolate is false"),
    ],
)
def test_options_out_of_range_are_told(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        Execution(**options)
    assert message in str(caught.value)
