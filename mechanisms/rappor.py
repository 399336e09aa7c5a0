"""RAPPOR on a Bloom filter (Erlingsson, Pihur & Korolova 2014): a word is hashed to a few bits, which are then randomised."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mechanisms.exact.distributions import Product
from mechanisms.exact.pair import each, truth
from mechanisms.specimens import specimen
from mechanisms.truths.discrete import bernoulli

Bits = NDArray[np.bool_]
WORD = 0xFFFFFFFF


def _rotated(word: int, by: int) -> int:
    return (word << by | word >> (32 - by)) & WORD


def murmur3(data: bytes, seed: int) -> int:
    """Return the 32-bit MurmurHash3 of ``data`` (Appleby 2011, in the public domain), from 0 to 2³² − 1.

    >>> hex(murmur3(b"", 1)), hex(murmur3(b"test", 0))
    ('0x514e28b7', '0xba6bd213')
    """

    def scrambled(block: bytes) -> int:
        return _rotated(int.from_bytes(block, "little") * 0xCC9E2D51 & WORD, 15) * 0x1B873593 & WORD

    whole = len(data) // 4 * 4
    state = seed
    for start in range(0, whole, 4):
        state = (_rotated(state ^ scrambled(data[start : start + 4]), 13) * 5 + 0xE6546B64) & WORD
    state ^= scrambled(data[whole:]) ^ len(data)
    state = (state ^ state >> 16) * 0x85EBCA6B & WORD
    state = (state ^ state >> 13) * 0xC2B2AE35 & WORD
    return state ^ state >> 16


def bloom_filter(value: Any, bits: int, hashes: int) -> Bits:
    """Return the Bloom filter of a value: the bits that its hashes with seeds 0 to ``hashes`` − 1 name.

    As in DP-Sniper a value is hashed as it is written, and a hash is a signed number before its remainder is taken.

    >>> np.flatnonzero(bloom_filter(0, 20, 4)).tolist(), np.flatnonzero(bloom_filter(1, 20, 4)).tolist()
    ([0, 11, 18], [3, 10, 13])
    """
    chosen = [murmur3(str(value).encode(), seed) for seed in range(hashes)]
    bloom = np.zeros(bits, np.bool_)
    bloom[[(word - (word >> 31 << 32)) % bits for word in chosen]] = True
    return bloom


def _noisy(value: Any, bits: int, hashes: int, chances: tuple[float, float]) -> Product:
    """Return the output distribution; ``chances`` are the probabilities of a 1 for clear bits and for set bits."""
    coins = [bernoulli(math.log(p), math.log1p(-p)) for p in chances]
    return Product(tuple(coins[int(bit)] for bit in bloom_filter(value, bits, hashes)))


def _permanent(f: float) -> tuple[float, float]:
    """Return the probabilities of a 1 after the permanent response, for bits that are clear and for bits that are set."""
    return f / 2, 1 - f / 2


def _instantaneous(f: float, p: float, q: float) -> tuple[float, float]:
    """Return p* and q*, the probabilities of a 1 after both responses (Erlingsson et al. 2014, Lemma 1)."""
    off, on = _permanent(f)
    return off * q + (1 - off) * p, on * q + (1 - on) * p


@truth(each(lambda value, bits, hashes, f: _noisy(value, bits, hashes, _permanent(f))))
@specimen(35, "Erlingsson et al. 2014", "ε of Theorem 1", "one value; any two values", holds=True)
@specimen(36, "Erlingsson et al. 2014", "half of it", "the same, bits of one filter counted", holds=False)
def one_time_rappor(value: Any, size: int, rng: np.random.Generator, *, bits: int, hashes: int, f: float) -> Bits:
    """Return the Bloom filter, each bit with probability f/2 set, f/2 cleared, else as it is (Section 3, one-time form).

    Two filters of h bits each differ in up to 2h bits, which makes ε = 2h ln((1 − f/2)/(f/2)) (Theorem 1). Half of that
    would be enough if only the h bits of one filter mattered.
    """
    return rng.random((size, bits)) < np.where(bloom_filter(value, bits, hashes), 1 - f / 2, f / 2)


@truth(each(lambda value, bits, hashes, f, p, q: _noisy(value, bits, hashes, _instantaneous(f, p, q))))
@specimen(37, "Erlingsson et al. 2014", "ε of Theorem 2", "one value; any two values; one report", holds=True)
@specimen(38, "Erlingsson et al. 2014", "half of it", "the same, bits of one filter counted", holds=False)
def rappor(
    value: Any, size: int, rng: np.random.Generator, *, bits: int, hashes: int, f: float, p: float, q: float
) -> Bits:
    """Return one report: permanent response, then a 1 with probability q where a bit is set and p where not (Section 3).

    With p* and q* the chances of a 1 given the true bit, a report is h ln(q*(1 − p*)/(p*(1 − q*)))-private (Theorem 2).
    """
    permanent = one_time_rappor(value, size, rng, bits=bits, hashes=hashes, f=f)
    return rng.random((size, bits)) < np.where(permanent, q, p)
