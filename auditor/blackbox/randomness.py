"""How much randomness a call draws: words of generators, from their states before and after, and calls for the system's.

A state says where a generator stands in its sequence. So what a library draws is counted without a look into the library. Nothing
here draws from the generators that it looks at.
"""

import functools
import os
import random
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

# The multiplier of PCG64's linear congruential generator of 128 bits (O'Neill 2014).
MULTIPLIER, BITS_128 = 0x2360ED051FC65DA44385DF649FCCF645, (1 << 128) - 1
# Words of a Mersenne Twister's state, and how many states ahead are looked at: some 600,000 words.
STATE, MOST_STATES = 624, 1_000


def draws_from_here(rng: Any) -> Callable[[], dict[str, int]]:
    """Return what says how much was drawn since this call, by source.

    "rng", if there is one, "random" and "numpy.random" count 32-bit words, as ``words_between`` does. "system" counts the calls of
    os.urandom by this thread, on which ``random.SystemRandom`` and ``secrets`` rest.
    """
    handed = Position.of_generator(rng) if isinstance(rng, np.random.Generator) else None
    own, numpys = Position.of_random(), Position.of_numpy()
    system = _counted_system()
    before = system.calls

    def drawn() -> dict[str, int]:
        found = {
            "random": words_between(own, Position.of_random()),
            "numpy.random": words_between(numpys, Position.of_numpy()),
            "system": system.calls - before,
        }
        return found if handed is None else {"rng": words_between(handed, Position.of_generator(rng)), **found}

    return drawn


class _SystemCalls(threading.local):
    """How often the calling thread asked the system for random bytes."""

    calls = 0

    def through(self, function: Callable[[int], bytes]) -> Callable[[int], bytes]:
        """Return the function, which then counts its calls."""

        @functools.wraps(function)
        def counted(size: int) -> bytes:
            self.calls += 1
            return function(size)

        return counted


@functools.cache
def _counted_system() -> _SystemCalls:
    """Count calls of os.urandom from now on, in this process. ``random`` calls it by a name of its own."""
    system = _SystemCalls()
    counted = system.through(os.urandom)
    for module, name in ((os, "urandom"), (random, "_urandom")):
        setattr(module, name, counted)
    return system


@dataclass(frozen=True, slots=True)
class Position:
    """Where a generator stands: its kind, and the numbers of its state. ``known`` is False for a generator of another kind."""

    kind: str
    state: tuple[int, ...]
    place: int
    known: bool = True

    @classmethod
    def of_generator(cls, rng: np.random.Generator) -> Self:
        """Return the position of a generator of NumPy; known for PCG64, which the auditor hands in."""
        state: Mapping[str, Any] = rng.bit_generator.state
        if state["bit_generator"] != "PCG64":
            return cls(str(state["bit_generator"]), (), 0, known=False)
        inside = state["state"]
        return cls("PCG64", (inside["state"], inside["inc"]), state["has_uint32"])

    @classmethod
    def of_random(cls) -> Self:
        """Return the position of Python's own ``random``."""
        state = random.getstate()
        return cls("MT19937", state[1][:-1], state[1][-1])

    @classmethod
    def of_numpy(cls) -> Self:
        """Return the position of ``numpy.random`` itself."""
        state: Any = np.random.get_state()  # noqa: NPY002 - that others draw from it is what is looked at
        return cls("MT19937", tuple(state[1].tolist()), state[2])


def words_between(before: Position, after: Position) -> int:
    """Return the number of 32-bit words drawn between two positions of one generator.

    −1 if it is not known: the generator was seeded anew, is of another kind, or went too far.
    """
    if not (before.known and after.known) or before.kind != after.kind:
        return -1
    if before == after:
        return 0
    if before.kind == "MT19937":
        return _twisted(before, after)
    if before.state[1] != after.state[1]:
        return -1
    # A word of 64 bits serves two draws of 32 bits; half of it may be left.
    return 2 * _steps(before.state[0], after.state[0], before.state[1]) + before.place - after.place


def _steps(state: int, wanted: int, plus: int) -> int:
    """Return the steps of x → a·x + c mod 2¹²⁸ between two states, bit by bit from the lowest (Brown 1994)."""
    multiplier, bit, steps = MULTIPLIER, 1, 0
    while state != wanted:
        if (state ^ wanted) & bit:
            state = (state * multiplier + plus) & BITS_128
            steps |= bit
        bit = (bit << 1) & BITS_128
        plus = ((multiplier + 1) * plus) & BITS_128
        multiplier = (multiplier * multiplier) & BITS_128
    return steps


def _twisted(before: Position, after: Position) -> int:
    if before.state == after.state:
        return after.place - before.place if after.place >= before.place else -1
    twister = np.random.MT19937(0)
    twister.state = {"bit_generator": "MT19937", "state": {"key": np.array(before.state), "pos": STATE}}
    wanted = np.array(after.state, np.uint32)
    for states in range(1, MOST_STATES + 1):
        # The first word after the last of a state makes the next state.
        twister.random_raw(1, output=False)
        if np.array_equal(twister.state["state"]["key"], wanted):
            return states * STATE + after.place - before.place
        twister.random_raw(STATE - 1, output=False)
    return -1
