"""What was drawn is counted from states: against generators that are asked for so many words."""

import os
import random
import secrets
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditor.blackbox.randomness import STATE, Position, draws_from_here, words_between


@given(st.integers(0, 2**64), st.integers(0, 200), st.lists(st.sampled_from([1, 2]), max_size=9))
def test_words_of_pcg64_are_counted_to_the_half(seed: int, first: int, later: list[int]) -> None:
    """A draw of 32 bits takes a half of a word, and the other half is kept for the next such draw."""
    rng = np.random.default_rng(seed)
    rng.bit_generator.random_raw(first)
    before = Position.of_generator(rng)
    for halves in later:
        if halves == 1:
            rng.integers(0, 2**32, dtype=np.uint32)
        else:
            rng.bit_generator.random_raw()
    assert words_between(before, Position.of_generator(rng)) == sum(later)


@pytest.mark.parametrize("words", [0, 1, 2, 10**6, 2**70])
def test_many_words_are_counted_as_fast(words: int) -> None:
    rng = np.random.default_rng(5)
    before = Position.of_generator(rng)
    rng.bit_generator.advance(words)  # type: ignore[attr-defined]
    assert words_between(before, Position.of_generator(rng)) == 2 * words


@pytest.mark.parametrize("draws", [0, 1, 311, 312, 313, 623, 624, 1000, 5000])
@pytest.mark.parametrize("seed", [1, 2])
def test_words_of_the_global_generators_are_counted(draws: int, seed: int) -> None:
    """A float of 53 bits takes two words of 32."""
    random.seed(seed)
    np.random.seed(seed)  # noqa: NPY002
    random.random()
    drawn = draws_from_here(None)
    for _ in range(draws):
        random.random()
    np.random.random(draws // 2)  # noqa: NPY002
    assert drawn() == {"random": 2 * draws, "numpy.random": 2 * (draws // 2), "system": 0}


def test_a_generator_that_is_seeded_anew_or_is_of_another_kind_is_not_known() -> None:
    rng, drawn = np.random.Generator(np.random.Philox(1)), draws_from_here(np.random.Generator(np.random.Philox(1)))
    rng.random()
    assert drawn()["rng"] == -1
    drawn = draws_from_here(None)
    random.seed(os.getpid())
    random.random()
    assert drawn()["random"] == -1
    far = Position.of_random()
    assert words_between(far, Position("MT19937", tuple(range(STATE)), 3)) == -1
    one, other = (Position.of_generator(np.random.default_rng(seed)) for seed in (1, 2))
    assert words_between(one, other) == -1


@pytest.mark.parametrize(
    ("draw", "calls"),
    [
        (lambda: os.urandom(5), 1),
        (lambda: secrets.token_bytes(5), 1),
        (lambda: secrets.randbits(70), 1),
        (lambda: random.SystemRandom().random(), 1),
        (lambda: [random.SystemRandom().random() for _ in range(7)], 7),
        (lambda: None, 0),
    ],
)
def test_calls_for_the_systems_randomness_are_counted(draw: Callable[[], Any], calls: int) -> None:
    drawn = draws_from_here(np.random.default_rng(0))
    draw()
    assert drawn() == {"rng": 0, "random": 0, "numpy.random": 0, "system": calls}


def test_looking_draws_nothing() -> None:
    rng = np.random.default_rng(3)
    draws_from_here(rng)()
    assert rng.random() == np.random.default_rng(3).random()
