"""What a domain holds, as data: all its data sets at once as vectors of numbers, or a list of them, and who is whose neighbour.

A certificate holds this data, and its checker derives from it what a proof must cover.
"""

import contextlib
import itertools
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import singledispatch
from typing import Any, get_args

import numpy as np

from auditor.errors import InvalidInputError
from auditor.interfaces import Domain
from auditor.neighbours.domains import Pairs, Value
from auditor.neighbours.numbers import Number
from auditor.neighbours.pair import Pair, Relation, Side, plain
from auditor.neighbours.records import Records
from auditor.neighbours.totals import TotalsInCells, TotalsOfPeople
from dp_prover.domains.data_sets import bare, written_data
from dp_prover.errors import NotProvedError
from dp_prover.numbers.moves import Box, Hull, hull, unit_vectors

MOST_PAIRS = 2_000  # of a domain whose pairs are listed one by one
MOST_SETS = 400  # of which each is compared with each
MOST_STEPS = 729  # differences of integers
RANDOM = 24  # pairs that a domain draws, to see of which types its data sets are


@dataclass(frozen=True, slots=True)
class Vectors:
    """Data sets x of numbers from ``low`` to ``high``. ``relation`` says how neighbours differ; see CERTIFICATES.md."""

    low: tuple[Fraction, ...]
    high: tuple[Fraction, ...]
    integer: bool
    relation: Mapping[str, Any]

    def data(self) -> dict[str, Any]:
        """Return it as JSON."""
        low, high = ([str(end) for end in ends] for ends in (self.low, self.high))
        return {"low": low, "high": high, "integer": self.integer, "relation": dict(self.relation)}

    def sets(self) -> list[Box | Hull]:
        """Return sets that hold x' − x for all neighbours x, x'."""
        [(kind, reach)] = self.relation.items()
        size = len(self.low)
        if kind == "steps":
            return [hull([tuple(map(Fraction, step)) for step in reach], alone=True)]
        if kind == "l1":
            return [hull(list(unit_vectors(size, Fraction(reach))), alone=self.integer and Fraction(reach) == 1)]
        low, high = (-Fraction(reach), Fraction(reach)) if kind == "linf" else map(Fraction, reach)
        boxes = [Box((low,) * size, (high,) * size)]
        return list(boxes) if low == -high else [*boxes, Box((-high,) * size, (-low,) * size)]

    def steps(self) -> Hull | None:
        """Return all differences of integers if these are few. Noise that moves by integers only has no mixtures."""
        [(kind, reach)] = self.relation.items()
        if kind == "steps":
            [steps] = self.sets()
            assert isinstance(steps, Hull)
            return steps
        if not self.integer or kind == "each":
            return None
        ends, size = int(reach), len(self.low)
        if kind == "l1" and ends == 1:
            return hull(list(unit_vectors(size, 1)), alone=True)
        if (2 * ends + 1) ** size > MOST_STEPS:
            return None
        every = itertools.product(range(-ends, ends + 1), repeat=size)
        points = [step for step in every if kind == "linf" or sum(map(abs, step)) <= ends]
        return Hull(tuple(points), alone=True)


def moved_by(relation: Mapping[str, Any]) -> Fraction:
    """Return by how much one person changes a number at most. The relation is that of ``Vectors``."""
    [(kind, reach)] = relation.items()
    ends = itertools.chain(*reach) if kind == "steps" else reach if kind == "each" else [reach]
    return max(abs(Fraction(end)) for end in ends)


@dataclass(frozen=True, slots=True)
class Listing:
    """Data sets one by one. ``pairs`` holds the numbers of two data sets and the pair, in one direction. A checker lists
    ``data``.
    """

    data: Mapping[str, Any]
    sets: int
    pairs: Sequence[tuple[int, int, Pair]]

    @property
    def is_whole(self) -> bool:
        """Whether these are all data sets of the domain."""
        return "pairs" not in self.data


@singledispatch
def vectors_of(domain: Domain) -> Vectors | None:
    """Return a domain as data if its data sets are vectors of numbers; None for other domains."""
    return None


@vectors_of.register
def _(domain: TotalsOfPeople) -> Vectors | None:
    if type(domain) is not TotalsOfPeople:  # a class derived from it may hold other data sets
        return None
    # Each kind of people adds to a total between its least and its largest number of people.
    fewest, most = Fraction(domain.people.low), Fraction(domain.people.high)
    cells = [
        [sorted((fewest * Fraction(c), most * Fraction(c))) for c in cell]
        for cell in zip(*domain.contributions, strict=True)
    ]
    integer = all(isinstance(number, int) for vector in domain.contributions for number in vector)
    # Data sets are sums of floats, which may be rounded beyond the exact ends.
    size = max((abs(end) for cell in cells for ends in cell for end in ends), default=Fraction(0))
    room = Fraction(0) if integer else len(cells[0]) * size / 2**50
    low = tuple(sum((end for end, _ in cell), Fraction(0)) - room for cell in cells)
    high = tuple(sum((end for _, end in cell), Fraction(0)) + room for cell in cells)
    return Vectors(low, high, integer, {"steps": [list(map(str, step)) for step in _steps(domain)]})


def _steps(domain: TotalsOfPeople) -> list[tuple[Fraction, ...]]:
    """Return how totals move when a person comes or is exchanged."""
    vectors = [tuple(map(Fraction, vector)) for vector in domain.contributions]
    kinds = range(len(vectors))
    if domain.relation is Relation.ADD_REMOVE:
        return [vectors[kind] for kind in kinds if domain.kind in (None, kind)]
    swaps = [pair for pair in itertools.combinations(kinds, 2) if domain.kind is None or domain.kind in pair]
    return [tuple(b - a for a, b in zip(vectors[one], vectors[other], strict=True)) for one, other in swaps]


@vectors_of.register
def _(domain: TotalsInCells) -> Vectors | None:
    if domain.norm == "l2" or type(domain) is not TotalsInCells:
        return None
    low, high = ((Fraction(end),) * domain.cells for end in (domain.values.low, domain.values.high))
    return Vectors(low, high, domain.values.integer, {domain.norm: str(Fraction(domain.reach))})


@singledispatch
def moved(domain: Domain, data: Sequence[Number], by: Sequence[Number]) -> Pair | None:
    """Return the pair of a vector and the vector moved by the given amounts; None unless it is known to be in the domain."""
    return None


@moved.register
def _(domain: TotalsInCells, data: Sequence[Number], by: Sequence[Number]) -> Pair | None:
    return domain.moved(data, by)


def listing_of(domain: Domain) -> Listing:
    """Return all data sets of a domain one by one if they are few. Otherwise return the pairs to try first.

    The data sets are those that the domain itself makes, as it hands them to a mechanism.
    """
    found = _every(domain)
    if found is not None and 0 < len(found.pairs) <= MOST_PAIRS:
        _require_all(domain, found)
        return found
    some = domain.corners()
    data = {"pairs": [[bare(written_data(pair.dataset(side))) for side in get_args(Side)] for pair in some]}
    return Listing(data, 2 * len(some), [(2 * at, 2 * at + 1, pair) for at, pair in enumerate(some)])


def _require_all(domain: Domain, listing: Listing) -> None:
    """Raise NotProvedError if a data set that the domain hands to a mechanism is not listed with its types."""
    known = {text for _, _, pair in listing.pairs for text in texts_of_pair(pair)}
    if any(text not in known for pair in some_pairs(domain) for text in texts_of_pair(pair)):
        raise NotProvedError("the domain has data sets of other types than its description says; give a list of pairs")


def some_pairs(domain: Domain) -> list[Pair]:
    """Return the corners of a domain, and random pairs of it."""
    rng = np.random.default_rng(0)
    found = list(domain.corners())
    with contextlib.suppress(InvalidInputError):  # hardly any pair fits into the ranges
        found += [domain.random(rng) for _ in range(RANDOM)]
    return found


def texts_of_pair(pair: Pair) -> tuple[str, str]:
    """Return both data sets of a pair, as mechanisms receive them, as texts that tell all types."""
    one, other = (json.dumps(written_data(pair.dataset(side))) for side in get_args(Side))
    return one, other


@singledispatch
def _every(domain: Domain) -> Listing | None:
    return None


@_every.register
def _(domain: Pairs) -> None:
    return None


@_every.register
def _(domain: Value) -> Listing | None:
    if type(domain) is not Value or not domain.is_complete or math.comb(len(domain.values), 2) > MOST_PAIRS:
        return None
    pairs = itertools.combinations(enumerate(domain.values), 2)
    data = {"values": [bare(written_data(value)) for value in domain.values]}
    return Listing(data, len(domain.values), [(i, j, Pair(a, b, Relation.SUBSTITUTE)) for (i, a), (j, b) in pairs])


@_every.register
def _(domain: Records) -> Listing | None:
    if type(domain) is not Records:
        return None
    records = domain.all_records(MOST_SETS)
    low, high = map(int, domain.size)
    if domain.distance > 1 or not records or sum(len(records) ** n for n in range(low, high + 1)) > MOST_SETS:
        return None
    sets = [one for n in range(low, high + 1) for one in itertools.product(records, repeat=n)]
    if len({repr(record) for record in records}) != len(records):
        return None
    pairs = [
        (i, j, domain.as_received(one, other))
        for (i, one), (j, other) in itertools.combinations(enumerate(sets), 2)
        if _are_neighbours(one, other, Relation(domain.relation))
    ]
    data = {"records": plain(records), "size": [low, high], "relation": str(domain.relation)}
    return Listing(data, len(sets), pairs)


def _are_neighbours(one: Sequence[Any], other: Sequence[Any], relation: Relation) -> bool:
    """Whether two lists differ by one record: at one place, or by one that only the longer has."""
    if relation is Relation.SUBSTITUTE:
        return len(one) == len(other) and sum(a != b for a, b in zip(one, other, strict=True)) == 1
    short, long = sorted((one, other), key=len)
    return len(long) == len(short) + 1 and any((*long[:at], *long[at + 1 :]) == short for at in range(len(long)))


@_every.register
def _(domain: TotalsInCells) -> Listing | None:
    values = domain.values
    if (
        type(domain) is not TotalsInCells
        or domain.norm == "l2"
        or not values.integer
        or (int(values.high) - int(values.low) + 1) ** domain.cells > MOST_SETS
    ):
        return None
    sets: list[tuple[Number, ...]] = list(
        itertools.product(range(int(values.low), int(values.high) + 1), repeat=domain.cells)
    )
    size = sum if domain.norm == "l1" else max
    steps = (
        (i, j, one, tuple(b - a for a, b in zip(one, other, strict=True)))
        for (i, one), (j, other) in itertools.combinations(enumerate(sets), 2)
    )
    moves = ((i, j, domain.moved(one, by)) for i, j, one, by in steps if size(map(abs, by)) <= domain.reach)
    pairs = [(i, j, pair) for i, j, pair in moves if pair is not None]
    vectors = vectors_of(domain)
    assert vectors is not None
    return Listing(vectors.data(), len(sets), pairs)
