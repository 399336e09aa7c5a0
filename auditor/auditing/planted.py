"""Faults that are planted in a mechanism from outside: its outputs on some data sets get another shift, key or digits, or are null.

What code treats apart is a fact of the data set (:mod:`auditor.neighbours.facts`). A fault shows on data sets with that fact and on
no others. So neighbours of which one has the fact lose without limit, and the share of the outputs that show it is known.
"""

import zlib
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from auditor.blackbox.canonical import from_list
from auditor.blackbox.outputs import ABSENT, NUMBER, OutputColumn, Outputs, concatenate
from auditor.blackbox.sample import Sample
from auditor.events.features import varies
from auditor.events.vectors import LARGEST
from auditor.neighbours.domains import Domain
from auditor.neighbours.facts import Fact, facts_of
from auditor.neighbours.pair import Pair, distinct

Mask = NDArray[np.bool_]
T = TypeVar("T")
# Pairs that show which facts tell neighbours apart, in addition to the corners; no outputs are drawn on them. A fact that tells a
# smaller share of them apart, such as one value of a million, is found by luck only.
PAIRS_LOOKED_AT, LEAST_APART = 300, 0.005
# How far a planted shift goes, in ranges of the middle half of the outputs.
SHIFTED = 10.0


@dataclass(frozen=True, slots=True)
class Effect:
    """What happens to outputs, in words, and the share of them that it happens to."""

    words: str
    share: float
    change: Callable[[Outputs, Mask], Outputs | None]  # None if such outputs cannot be changed so


def _is_null(outputs: Outputs, hit: Mask) -> Outputs:
    return _replaced(outputs, hit, from_list([None] * int(hit.sum())))


def _shifts(outputs: Outputs, hit: Mask) -> Outputs | None:
    column = _first_numbers(outputs)
    if column is None:
        return None
    numbers = column.numbers[np.isfinite(column.numbers)]
    low, high = np.quantile(numbers, [0.25, 0.75]) if len(numbers) else (0.0, 0.0)
    with np.errstate(over="ignore"):  # infinity is far too
        shifted = column.numbers + min(SHIFTED * max(high - low, 1.0), LARGEST)
    return _with(outputs, replace(column, numbers=np.where(hit, shifted, column.numbers)))


def _rounds(outputs: Outputs, hit: Mask) -> Outputs | None:
    column = _first_numbers(outputs)
    if column is None or np.array_equal(column.numbers, np.rint(column.numbers)):
        return None
    # Larger numbers are whole.
    hit = hit & (np.abs(column.numbers) < 2.0**52)
    numbers = column.numbers.copy()
    numbers[hit] = np.round(numbers[hit], 2) + 0.0
    return _with(outputs, replace(column, numbers=numbers))


def _loses_a_part(outputs: Outputs, hit: Mask) -> Outputs | None:
    if sum(column.codes is None for column in outputs.columns) < 2:
        return None
    column = outputs.columns[-1] if outputs.columns[-1].codes is None else _first_numbers(outputs)
    if column is None:
        return None
    codes = np.where(hit, 0, NUMBER).astype(np.int32)
    return _with(outputs, OutputColumn(column.name, np.where(hit, 0.0, column.numbers), codes, (ABSENT,)))


EFFECTS = (
    Effect("the answer is shifted", 1.0, _shifts),
    Effect("1 of 10 answers is null", 0.1, _is_null),
    Effect("the answer has two decimals", 1.0, _rounds),
    Effect("a part is missing from half of the answers", 0.5, _loses_a_part),
    Effect("1 of 100 answers is null", 0.01, _is_null),
    Effect("1 of 1,000 answers is shifted", 0.001, _shifts),
)


@dataclass(frozen=True, slots=True)
class PlantedFault:
    """A fact of data sets, and what happens to outputs on those that have it."""

    fact: Fact
    effect: Effect

    def __str__(self) -> str:
        return f"{self.effect.words} on data with {self.fact}"

    def touched(self, pair: Pair, known: "KnownFacts") -> tuple[bool, bool]:
        """Return on which sides of a pair the fault shows."""
        left, right = pair.texts()
        return self.fact in known.of(pair.left, left), self.fact in known.of(pair.right, right)


@dataclass(frozen=True, slots=True)
class KnownFacts:
    """The facts of data sets, by their texts. Those of each are found once, for all faults."""

    found: dict[str, frozenset[Fact]] = field(default_factory=dict)

    def of(self, dataset: Any, text: str) -> frozenset[Fact]:
        """Return the facts of a data set."""
        if text not in self.found:
            self.found[text] = facts_of(dataset)
        return self.found[text]


@dataclass(frozen=True, slots=True)
class Planted(Generic[T]):
    """Observes outputs as if the fault were in the mechanism; a class, since it travels to the workers."""

    fault: PlantedFault
    sides: tuple[bool, bool]
    observe: Callable[[Sample], T]

    def __call__(self, sample: Sample) -> T:
        left, right = (
            self._changed(outputs) if touched else outputs
            for outputs, touched in zip((sample.left, sample.right), self.sides, strict=True)
        )
        return self.observe(replace(sample, left=left, right=right))

    def _changed(self, outputs: Outputs) -> Outputs:
        # The same outputs are changed in the same way, in whatever worker.
        seed = zlib.crc32(b"".join(column.numbers.tobytes() for column in outputs.columns[:2]))
        hit = np.random.default_rng(seed).random(outputs.size) < self.fault.effect.share
        changed = self.fault.effect.change(outputs, hit) if hit.any() else outputs
        return outputs if changed is None else changed


def planted_faults(
    domain: Domain, outputs: Outputs, rng: np.random.Generator, most: int, allowed: Sequence[Effect] = EFFECTS
) -> list[PlantedFault]:
    """Return ``most`` faults at most, of as many kinds as the domain has, by ``allowed`` effects that change such outputs.

    Each is of a fact that tells some neighbours of the domain apart. Kinds of facts take turns, and so do effects.
    """
    hit = np.ones(outputs.size, np.bool_)
    effects = [allowed[i] for i in rng.permutation(len(allowed)) if allowed[i].change(outputs, hit) is not None]
    if not effects:
        return []
    pairs = distinct([*domain.corners(), *(domain.random(rng) for _ in range(PAIRS_LOOKED_AT))])
    # Sorted, since the order of sets differs between processes.
    apart = Counter(fact for pair in pairs for fact in sorted(facts_of(pair.left) ^ facts_of(pair.right), key=str))
    by_kind = defaultdict[str, list[Fact]](list)
    # In random order, those first that tell many pairs apart: code speaks of ends of ranges rather than of numbers in between.
    for fact in sorted(apart, key=lambda fact: rng.exponential() / apart[fact]):
        if apart[fact] >= LEAST_APART * len(pairs):
            by_kind[fact.kind].append(fact)
    turns = [by_kind[kind] for kind in sorted(by_kind)]
    found = [fact for turn in range(most) for of_kind in turns for fact in of_kind[turn : turn + 1]]
    order = rng.permutation(len(found[:most]))
    return [PlantedFault(found[place], effects[i % len(effects)]) for i, place in enumerate(order)]


def _first_numbers(outputs: Outputs) -> OutputColumn | None:
    numeric = (c for c in outputs.columns if c.codes is None and c.name.startswith("output"))
    return next((c for c in numeric if varies(c)), None)


def _with(outputs: Outputs, column: OutputColumn) -> Outputs:
    columns = tuple(column if one.name == column.name else one for one in outputs.columns)
    return Outputs(outputs.size, columns)


def _replaced(outputs: Outputs, hit: Mask, others: Outputs) -> Outputs:
    """Return outputs of which some rows are others; each stays in its place, since halves are cut by place."""
    both = concatenate([outputs, others])
    rows = np.arange(outputs.size)
    rows[hit] = outputs.size + np.arange(others.size)
    return both[rows]
