"""Global generators, seeded for a block. torch and jax are stand-ins here; tests/processes/libraries has the real ones."""
# ruff: noqa: NPY002 - the global generator is meant

import random
import sys
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

import auditor
from auditor.errors import InvalidInputError


def drawn(seed: int) -> tuple[object, ...]:
    with auditor.seeded(np.random.default_rng(seed)) as seeds:
        generator = seeds.generator().random()
        return random.random(), np.random.normal(), seeds.integer(), generator, seeds.words(3)


def test_a_block_repeats_with_the_same_seed_and_no_two_blocks_are_alike() -> None:
    assert drawn(7) == drawn(7)
    assert not set(map(str, drawn(7))) & set(map(str, drawn(8)))


def test_generators_go_on_after_the_block_where_they_were() -> None:
    random.seed(1)
    np.random.seed(1)
    expected = [(random.random(), np.random.random()) for _ in range(4)]
    random.seed(1)
    np.random.seed(1)
    got = []
    for _ in range(4):
        got.append((random.random(), np.random.random()))
        with pytest.raises(KeyError), auditor.seeded(np.random.default_rng(3)):
            random.random()
            np.random.random(5)
            raise KeyError
    assert got == expected


def test_blocks_may_be_nested() -> None:
    with auditor.seeded(np.random.default_rng(1)):
        outer = random.random(), np.random.random()
    with auditor.seeded(np.random.default_rng(1)):
        first = random.random()
        with auditor.seeded(np.random.default_rng(2)):
            random.random()
            np.random.random()
        assert (first, np.random.random()) == outer


class Torch(ModuleType):
    """A stand-in with the names of torch's global generator."""

    def __init__(self) -> None:
        super().__init__("torch")
        self.state = [0, 0]
        self.default_generator = self
        self.cuda = SimpleNamespace(is_available=lambda: False)
        self.backends = SimpleNamespace(mps=SimpleNamespace(is_available=lambda: False))

    def manual_seed(self, seed: int) -> None:
        self.state = [seed, 0]

    def get_state(self) -> list[int]:
        return list(self.state)

    def set_state(self, state: list[int]) -> None:
        self.state = state

    def rand(self) -> tuple[int, ...]:
        self.state[1] += 1
        return tuple(self.state)


def test_torch_is_seeded_and_restored_and_changes_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    without = drawn(5)
    torch = Torch()
    monkeypatch.setitem(sys.modules, "torch", torch)
    torch.manual_seed(11)
    torch.rand()
    assert drawn(5) == without
    numbers = []
    for _ in range(2):
        with auditor.seeded(np.random.default_rng(5)):
            numbers.append(torch.rand())
    assert numbers[0] == numbers[1] != (11, 1)
    assert torch.rand() == (11, 2)


def test_keys_of_jax_differ_and_repeat(monkeypatch: pytest.MonkeyPatch) -> None:
    jax = ModuleType("jax.random")
    jax.key = lambda word: ("key", word)  # type: ignore[attr-defined]
    jax.fold_in = lambda key, word: (*key, word)  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "jax.random", jax)
    with auditor.seeded(np.random.default_rng(5)) as seeds:
        keys = [seeds.jax_key() for _ in range(100)]
    with auditor.seeded(np.random.default_rng(5)) as seeds:
        assert [seeds.jax_key() for _ in range(100)] == keys
    assert len(set(keys)) == 100
    assert all(0 <= word < 2**32 for key in keys for word in key[1:])


def test_the_generator_moves_on_so_that_calls_of_one_stream_differ() -> None:
    rng = np.random.default_rng(0)
    numbers = []
    for _ in range(3):
        with auditor.seeded(rng):
            numbers.append(np.random.random())
    assert len(set(numbers)) == 3


@pytest.mark.parametrize("rng", [7, None, np.random.RandomState(1)])
def test_anything_but_a_generator_is_refused(rng: object) -> None:
    with pytest.raises(InvalidInputError, match="it must be a numpy"), auditor.seeded(rng):  # type: ignore[arg-type]
        pass
