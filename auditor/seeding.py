"""The global generators of Python, NumPy and torch, seeded for a block: many libraries draw their noise from them alone."""

import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from importlib import import_module
from typing import Any

import numpy as np

from auditor.errors import InvalidInputError

# The most words of 32 bits that NumPy's and Python's global generators are seeded with.
WORDS = 8


class Seeds:
    """Seeds for generators that are handed in, all derived from the block's ``rng``. Each call returns another one."""

    def __init__(self, words: list[int]) -> None:
        self._rng = np.random.default_rng(words)

    def words(self, count: int) -> list[int]:
        """Return ``count`` random integers of 32 bits each."""
        return [int(word) for word in self._rng.integers(0, 2**32, count)]

    def integer(self) -> int:
        """Return an integer of 63 bits, for a generator of a library's own: ``torch.Generator().manual_seed(seeds.integer())``."""
        high, low = self.words(2)
        return ((high << 32) | low) >> 1

    def generator(self) -> np.random.Generator:
        """Return a NumPy generator."""
        return np.random.default_rng(self.words(WORDS))

    def jax_key(self) -> Any:
        """Return a key of jax, for functions that take one."""
        random = import_module("jax.random")
        high, low = self.words(2)
        # Without 64-bit types jax drops the upper half of a longer seed.
        return random.fold_in(random.key(high), low)


@contextmanager
def seeded(rng: np.random.Generator) -> Iterator[Seeds]:
    """Seed the global generators of Python's ``random``, NumPy and torch for a block, and restore what they were before.

    A library that draws noise from global generators then repeats its outputs, as the seed of an audit asks for. What a library
    takes from the system (``secrets``, ``numpy.random.default_rng()`` without a seed) stays random.

    Args:
        rng: the generator of a call, as a mechanism gets it. The block takes the same number of draws from it in any case.

    Yields an object with seeds for generators that a library takes as arguments: ``jax_key()`` for jax, ``generator()`` for
    NumPy, ``integer()`` for others.

    torch is seeded if it has been imported before the block, so import it at the top of the module. Global generators belong
    to the whole process: do not use the block in several threads at once (``backend="threading"``).

    Raises InvalidInputError if ``rng`` is no generator of NumPy.

    >>> import random
    >>> with seeded(np.random.default_rng(7)) as seeds:
    ...     first = random.random(), np.random.normal(), seeds.integer()
    >>> with seeded(np.random.default_rng(7)) as seeds:
    ...     first == (random.random(), np.random.normal(), seeds.integer())
    True
    """
    if not isinstance(rng, np.random.Generator):
        raise InvalidInputError(
            f"rng is {rng!r}; it must be a numpy.random.Generator, such as the rng that a mechanism gets"
        )
    seeds = Seeds([int(word) for word in rng.integers(0, 2**32, WORDS)])
    for_python, for_numpy, for_torch = seeds.words(WORDS), seeds.words(WORDS), seeds.integer()
    with ExitStack() as stack:
        python = import_module("random")
        stack.callback(python.setstate, python.getstate())
        python.seed(b"".join(word.to_bytes(4, "little") for word in for_python))
        stack.callback(np.random.set_state, np.random.get_state())  # noqa: NPY002 - the global generator is meant
        np.random.seed(for_numpy)  # noqa: NPY002
        if (torch := sys.modules.get("torch")) is not None and hasattr(torch, "default_generator"):
            _seed_torch(torch, for_torch, stack)
        yield seeds


def _seed_torch(torch: Any, seed: int, stack: ExitStack) -> None:
    """Seed torch's generators of the processor and of devices, and restore them at the end.

    ``torch.manual_seed`` does this too, but where a device is not in use it keeps each call with its traceback for later.
    """
    processor = torch.default_generator
    stack.callback(processor.set_state, processor.get_state())
    processor.manual_seed(seed)
    if torch.cuda.is_available():
        if torch.cuda.is_initialized():
            stack.callback(torch.cuda.set_rng_state_all, torch.cuda.get_rng_state_all())
        torch.cuda.manual_seed_all(seed)
    mps = getattr(torch, "mps", None)
    if mps is not None and torch.backends.mps.is_available():
        stack.callback(mps.set_rng_state, mps.get_rng_state())
        mps.manual_seed(seed)
