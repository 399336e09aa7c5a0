"""Detect repeated outputs, which come from a mechanism that seeds itself, or from copies of one random state.

Every bound assumes independent outputs. Copies of one output would count as several outputs, and the bound would be invalid.
The docstring of RepeatGuard proves that it hardly ever refuses independent outputs.
"""

import functools
import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from auditor.blackbox.outputs import ABSENT, OutputColumn, Outputs
from auditor.errors import MechanismError, how_many

Keys = NDArray[np.uint64]
Calls = NDArray[np.intp]

SIDES = True, False  # whether an output is on the left
SHOWN = 256  # outputs at the start of each side of a batch that the guard looks at
# Lengths of windows at the start of a batch. Windows elsewhere have the first length.
WINDOWS = (32, 64, 128, 256)
ONE_IN = np.uint64(2**64 // 32)  # a window starts at one in 32 outputs, chosen by their keys and not by their places
REMEMBERED = 1_000  # batches whose windows are kept, to compare later batches with
CERTAIN = 64  # bits of evidence against independent outputs, which are enough to refuse a mechanism
LONGEST = 128  # the longest period, in calls, after which a mechanism may begin anew

# 2⁶⁴ over the golden ratio, made odd: Knuth's multiplicative hash.
ODD = np.uint64(0x9E3779B97F4A7C15)
ADVICE = (
    "repeated outputs are not independent, and bounds would be invalid. Draw all randomness, anew for each output, from the `rng` "
    "that is passed in (a program: from the seed of each request). Seed nothing inside. If the mechanism has entropy of its own, "
    "leave `rng` out of its signature; then one worker runs it"
)


def shown_keys(outputs: Outputs, most: int = SHOWN) -> Keys:
    """Return a key for each of the first outputs. Equal outputs have equal keys in any process and any batch.

    Different outputs have equal keys with probability 2⁻⁶⁴. Return no keys if all are one exception (a failed batch).
    """
    n = min(outputs.size, most)
    keys: Keys = np.zeros(n, np.uint64)
    for column in outputs.columns:
        keys += _mixed(column, n)
    if _constant(keys) and outputs[:n].failure():
        return keys[:0]
    return keys


def bits_of_beginnings(keys: Keys, starts: Sequence[int], groups: Sequence[int]) -> float:
    """Return −log₂ of the chance that the calls of each group, which begin at ``starts``, have equal first outputs.
    Return −∞ if the first outputs differ in a group, and 0 if no group has two calls.

    The outputs of a side are exchangeable, so all arrangements of the outputs that are left are equally likely. Any
    value may be the common value of a group at a place. Agreement on exactly n outputs has the weight 2⁻ⁿ. So 2 to the
    power of the result has an expectation of at most 1.
    """
    ends, bits, left = [*starts[1:], len(keys)], 0.0, keys
    for place in range(len(keys)):
        members = dict[int, list[int]]()
        for start, end, group in zip(starts, ends, groups, strict=True):
            if start + place < end:
                members.setdefault(group, []).append(start + place)
        several = [keys[at] for at in members.values() if len(at) > 1]
        if not several or not all(map(_constant, several)):
            return -math.inf if several and place == 0 else bits
        bits -= 1
        for same in several:
            values, counts = np.unique(left, return_counts=True)
            often, others = int(counts[values == same[0]][0]), len(left) - len(same)
            all_ways, these = math.comb(len(left), often), math.comb(others, often - len(same))
            bits += math.log2(all_ways) - math.log2(these) - math.log2(np.count_nonzero(counts >= len(same)))
            left = np.concatenate([left[left != same[0]], np.full(often - len(same), same[0])])
    return bits


def _constant(keys: Keys) -> bool:
    return len(keys) > 0 and bool(keys[0] == keys[-1]) and bool((keys == keys[0]).all())


def _mixed(column: OutputColumn, n: int) -> Keys | np.uint64:
    place = _named(column.name)
    if (atom := column.only_atom) is not None:
        # A place that an output does not have is not part of its key, since other batches may have no such column.
        return np.uint64(0) if atom == ABSENT else _mix(np.array([_named(atom)]) ^ place)[0]
    mixed = _mix(column.numbers[:n].view(np.uint64) ^ place)
    if column.codes is None:
        return mixed
    codes = column.codes[:n]
    used, which = np.unique(codes, return_inverse=True)
    atoms = [column.atoms[code] if code >= 0 else ABSENT for code in used.tolist()]
    of_atoms = _mix(np.array([_named(atom) for atom in atoms]) ^ place)
    of_atoms[[atom == ABSENT for atom in atoms]] = 0
    return np.where(codes >= 0, of_atoms[which], mixed)


def _mix(keys: Keys) -> Keys:
    keys = keys * ODD
    keys ^= keys >> np.uint64(32)
    return keys * ODD


@functools.lru_cache(maxsize=1 << 16)
def _named(name: str) -> np.uint64:
    digest = hashlib.blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return np.uint64(int.from_bytes(digest, "big"))


class _Repeat(NamedTuple):
    """A window that was seen again: its entropy in bits, how often it was seen without overlap, and where last."""

    bits: float
    times: int
    batch: int
    start: int
    where: str


@dataclass
class RepeatGuard:
    """Looks at the first outputs of all batches of an audit, and refuses a mechanism that repeats itself.

    A mechanism whose outputs are independent, and identically distributed on each data set, is refused with probability below
    2⁻⁵⁷ for up to 10¹² batches. This holds for any outputs: many values or few, text, or one constant.

    *Windows.* Let a window s have w outputs, whose values occur n₁, n₂, … times. Its probability P(s) is at most
    2^−h(s) with h(s) = Σ nᵢ log₂(w/nᵢ), since no distribution makes s likelier than the frequencies in s. Let B windows
    not overlap. All of them equal one s with h(s)·(B − 1) ≥ c with probability at most Σₛ P(s)·2^−h(s)(B−1) ≤ 2^−c. Let
    t be the number of windows so far and c = 64 + B log₂(t). Then the sum of these probabilities over all choices of B
    windows is below 2⁻⁶⁴ · Σₜ (e − 1)/t. A constant has h = 0 and is never refused.

    *Calls.* A call is compared with the beginning of the call p calls before. For each side and p, the sum of
    ``bits_of_beginnings`` over batches ever reaches c with probability at most 2^−c (Ville's inequality). With
    c = 64 + 2 log₂(p) + 3, the sum over all p, both sides, and calls for many outputs or for one, is below 2⁻⁶⁴.
    """

    windows: int = 0
    batches: int = 0  # each side of a batch counts
    # For each window: its batch, its start, and the batch in words.
    seen: dict[bytes, tuple[int, int, str]] = field(default_factory=dict)
    heads: set[int] = field(default_factory=set)  # the first keys of the windows in ``seen``
    repeats: dict[bytes, _Repeat] = field(default_factory=dict)
    # The bits of each period that no call has contradicted, by side, and by whether each output has a call of its own.
    periods: dict[tuple[bool, bool], dict[int, float]] = field(
        default_factory=lambda: {
            (side, single): dict.fromkeys(range(1, LONGEST + 1), 0.0) for side in SIDES for single in (True, False)
        }
    )

    @property
    def remembers(self) -> bool:
        """Whether the windows of the next batch are kept, for comparison with later batches."""
        return self.batches < 2 * REMEMBERED

    def look(self, left: Keys, right: Keys, where: str) -> None:
        """Look at a batch. Raises MechanismError that says what was repeated.

        ``left`` and ``right`` are the ``shown_keys`` of the sides, and ``where`` is the batch in words.
        """
        for keys in (left, right):
            remembers, batch, self.batches = self.remembers, self.batches, self.batches + 1
            starts = np.flatnonzero(keys[1 : max(1, 1 + len(keys) - WINDOWS[0])] * ODD < ONE_IN)[:8] + 1
            at_start = [(0, width) for width in WINDOWS if width <= len(keys)]
            self.windows += len(at_start) + len(starts)
            heads = keys[starts].tolist() + keys[:1].tolist()
            if remembers or not self.heads.isdisjoint(heads):
                content = keys.tobytes()
                self.heads.update(heads if remembers else ())
                for start, width in [*at_start, *((start, WINDOWS[0]) for start in starts.tolist())]:
                    window = content[8 * start : 8 * (start + width)]
                    if window in self.seen:
                        self._again(window, batch, start, where)
                    elif remembers:
                        self.seen[window] = batch, start, where

    def awaits(self, calls: int, outputs: int) -> bool:
        """Whether a batch of so many calls, or outputs with a call each, can contradict a period that is left."""
        return any(
            min(bits, default=math.inf) < (outputs if single else calls) for (_, single), bits in self.periods.items()
        )

    def look_at_calls(
        self, sides: Sequence[Keys], labels: NDArray[np.bool_], calls: Calls, single: bool, where: str
    ) -> None:
        """Look at the calls of a batch. Raises MechanismError if each call begins like the call one period before.

        ``sides`` are the ``shown_keys`` of left and right. For each of the first outputs, ``labels`` says whether it is
        on the left, and ``calls`` is the number of its call. ``single`` says that each output has a call of its own.
        """
        for side, shown in zip(SIDES, sides, strict=True):
            bits, numbers = self.periods[side, single], calls[labels == side][: len(shown)]
            keys = shown[: len(numbers)]
            if not bits or not len(keys) or _constant(keys):
                continue
            numbers, starts = np.unique(numbers, return_index=True)
            first = keys[starts]
            for period in [period for period in bits if period <= numbers[-1]]:
                groups, example = numbers % period, np.zeros(period, np.uint64)
                example[groups] = first
                if (example[groups] != first).any():
                    del bits[period]
                    continue
                bits[period] += bits_of_beginnings(keys, starts.tolist(), groups.tolist())
                if bits[period] >= CERTAIN + 2 * math.log2(period) + 3:
                    raise MechanismError(
                        f"the mechanism repeats itself: on the {'left' if side else 'right'} data set, each call up to the {where} "
                        f"begins with the same outputs as {how_many(period, 'call')} before; {ADVICE}"
                    )

    def state(self) -> dict[str, Any]:
        """Return plain data from which ``restore`` restores all but ``seen`` and ``heads``."""
        return {
            "windows": self.windows,
            "batches": self.batches,
            "repeats": {window.hex(): repeat for window, repeat in self.repeats.items()},
            "periods": [[*key, [*bits.items()]] for key, bits in self.periods.items()],
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Restore a state. The guard must have looked at the remembered batches before, which restores ``seen``."""
        self.windows, self.batches = state["windows"], state["batches"]
        self.periods = {(side, single): dict(bits) for side, single, bits in state["periods"]}
        self.repeats = {bytes.fromhex(window): _Repeat(*repeat) for window, repeat in state["repeats"].items()}

    def _again(self, window: bytes, batch: int, start: int, where: str) -> None:
        """Count a window that was seen again without overlap. Raises MechanismError if it was seen too often."""
        repeat = self.repeats.get(window)
        if repeat is None:
            repeat = self.repeats[window] = _Repeat(_bits(np.frombuffer(window, np.uint64)), 1, *self.seen[window])
        width = len(window) // 8
        if repeat.batch == batch and start < repeat.start + width:
            return
        before = repeat.where
        repeat = self.repeats[window] = repeat._replace(times=repeat.times + 1, batch=batch, start=start, where=where)
        if repeat.bits * (repeat.times - 1) >= CERTAIN + repeat.times * math.log2(self.windows):
            raise MechanismError(
                f"the mechanism repeats itself: {width} outputs in a row of the {where} are identical to outputs of the "
                f"{before}, in the same order ({how_many(repeat.times, 'time')} so far); {ADVICE}"
            )


def _bits(window: Keys) -> float:
    """Return h, −log₂ of the largest probability that independent, identically distributed outputs can give a window.

    It is 0 if equal outputs all stand together, since a mechanism may draw counts, and write them out value by value.
    """
    counts = np.unique(window, return_counts=True)[1]
    runs = 1 + np.count_nonzero(window[1:] != window[:-1])
    if runs == len(counts) < len(window):
        return 0.0
    return float(counts @ np.log2(len(window) / counts))
