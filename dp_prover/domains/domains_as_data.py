"""Domains as data: all data sets at once as number vectors, or a list of them, and which of them are neighbours.

A certificate records this, and the checker derives from it what a proof must cover.
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
from dp_prover.domains.data_sets import without_form, written_data
from dp_prover.errors import NotProvedError
from dp_prover.numbers.moves import Box, Hull, hull, unit_vectors

MOST_PAIRS = 2_000  # that are compared one by one
MOST_SETS = 400  # whose pairs are searched for neighbours
MOST_STEPS = 729  # integer differences
RANDOM = 24  # random pairs of a domain, drawn to learn the types of its data sets


@dataclass(frozen=True, slots=True)
class Vectors:
    """Number vectors between ``low`` and ``high``. ``relation`` says how neighbours differ; see CERTIFICATES.md."""

    low: tuple[Fraction, ...]
    high: tuple[Fraction, ...]
    integer: bool
    relation: Mapping[str, Any]

    def data(self) -> dict[str, Any]:
        """Return the domain as JSON."""
        low, high = ([str(end) for end in ends] for ends in (self.low, self.high))
        return {"low": low, "high": high, "integer": self.integer, "relation": dict(self.relation)}

    def sets(self) -> list[Box | Hull]:
        """Return sets that contain x' − x for all neighbours x, x'."""
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
        """Return all integer differences if there are few: shifts of integer noise cannot be averaged over a hull."""
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
        vectors = itertools.product(range(-ends, ends + 1), repeat=size)
        points = [step for step in vectors if kind == "linf" or sum(map(abs, step)) <= ends]
        return Hull(tuple(points), alone=True)


def largest_change(relation: Mapping[str, Any]) -> Fraction:
    """Return the largest change of one value by one person, under a relation of ``Vectors``."""
    [(kind, reach)] = relation.items()
    ends = itertools.chain(*reach) if kind == "steps" else reach if kind == "each" else [reach]
    return max(abs(Fraction(end)) for end in ends)


@dataclass(frozen=True, slots=True)
class Listing:
    """Data sets one by one. ``pairs`` holds the indices of two neighbours and the pair, in one direction. The checker lists the
    data sets of ``data`` itself.
    """

    data: Mapping[str, Any]
    sets: int
    pairs: Sequence[tuple[int, int, Pair]]

    @property
    def is_whole(self) -> bool:
        """Whether the pairs are all pairs of the domain."""
        return "pairs" not in self.data


@singledispatch
def vectors_of(domain: Domain) -> Vectors | None:
    """Return a domain of number vectors as data; None for other domains."""
    return None


@vectors_of.register
def _(domain: TotalsOfPeople) -> Vectors | None:
    if type(domain) is not TotalsOfPeople:  # a subclass may hold other data sets
        return None
    # Each kind of person contributes between its minimum and its maximum headcount.
    fewest, most = Fraction(domain.people.low), Fraction(domain.people.high)
    cells = [
        [sorted((fewest * Fraction(c), most * Fraction(c))) for c in cell]
        for cell in zip(*domain.contributions, strict=True)
    ]
    integer = all(isinstance(number, int) for vector in domain.contributions for number in vector)
    # Data sets are sums of floats, which rounding may carry beyond the exact ends.
    size = max((abs(end) for cell in cells for ends in cell for end in ends), default=Fraction(0))
    room = Fraction(0) if integer else len(cells[0]) * size / 2**50
    low = tuple(sum((end for end, _ in cell), Fraction(0)) - room for cell in cells)
    high = tuple(sum((end for _, end in cell), Fraction(0)) + room for cell in cells)
    return Vectors(low, high, integer, {"steps": [list(map(str, step)) for step in _steps(domain)]})


def _steps(domain: TotalsOfPeople) -> list[tuple[Fraction, ...]]:
    """Return the changes of the totals when a person is added or substituted."""
    vectors = [tuple(map(Fraction, vector)) for vector in domain.contributions]
    kinds = range(len(vectors))
    if domain.relation is Relation.ADD_REMOVE:
        return [vectors[kind] for kind in kinds if domain.kind in (None, kind)]
    swaps = [pair for pair in itertools.combinations(kinds, 2) if domain.kind is None or domain.kind in pair]
    return [tuple(b - a for a, b in zip(vectors[i], vectors[j], strict=True)) for i, j in swaps]


@vectors_of.register
def _(domain: TotalsInCells) -> Vectors | None:
    if domain.norm == "l2" or type(domain) is not TotalsInCells:
        return None
    low, high = ((Fraction(end),) * domain.cells for end in (domain.values.low, domain.values.high))
    return Vectors(low, high, domain.values.integer, {domain.norm: str(Fraction(domain.reach))})


@singledispatch
def moved(domain: Domain, data: Sequence[Number], by: Sequence[Number]) -> Pair | None:
    """Return the pair of a vector and the same vector moved ``by`` a difference; None unless both are in the domain."""
    return None


@moved.register
def _(domain: TotalsInCells, data: Sequence[Number], by: Sequence[Number]) -> Pair | None:
    return domain.moved(data, by)


def listing_of(domain: Domain) -> Listing:
    """Return all pairs of a domain if there are few, and its corners otherwise.

    The domain itself makes the data sets, as it hands them to a mechanism. Raises NotProvedError if it makes one that is missing
    from the list.
    """
    listing = _every(domain)
    if listing is not None and 0 < len(listing.pairs) <= MOST_PAIRS:
        texts = {text for _, _, pair in listing.pairs for text in texts_of_pair(pair)}
        if any(text not in texts for pair in some_pairs(domain) for text in texts_of_pair(pair)):
            raise NotProvedError(
                "the domain has data sets of other types than its description says; give a list of pairs"
            )
        return listing
    corners = domain.corners()
    data = {"pairs": [[without_form(written_data(pair.dataset(side))) for side in get_args(Side)] for pair in corners]}
    return Listing(data, 2 * len(corners), [(2 * at, 2 * at + 1, pair) for at, pair in enumerate(corners)])


def some_pairs(domain: Domain) -> list[Pair]:
    """Return a domain's corners and a few random pairs."""
    rng = np.random.default_rng(0)
    pairs = list(domain.corners())
    with contextlib.suppress(InvalidInputError):  # hardly any pair fits into the ranges
        pairs += [domain.random(rng) for _ in range(RANDOM)]
    return pairs


def texts_of_pair(pair: Pair) -> tuple[str, str]:
    """Return both data sets of a pair as JSON, in the form in which mechanisms receive them."""
    left, right = (json.dumps(written_data(pair.dataset(side))) for side in get_args(Side))
    return left, right


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
    data = {"values": [without_form(written_data(value)) for value in domain.values]}
    return Listing(data, len(domain.values), [(i, j, Pair(a, b, Relation.SUBSTITUTE)) for (i, a), (j, b) in pairs])


@_every.register
def _(domain: Records) -> Listing | None:
    if type(domain) is not Records:
        return None
    records = domain.all_records(MOST_SETS)
    low, high = map(int, domain.size)
    if domain.distance > 1 or not records or sum(len(records) ** n for n in range(low, high + 1)) > MOST_SETS:
        return None
    sets = [rows for n in range(low, high + 1) for rows in itertools.product(records, repeat=n)]
    if len({repr(record) for record in records}) != len(records):
        return None
    pairs = [
        (i, j, domain.as_received(a, b))
        for (i, a), (j, b) in itertools.combinations(enumerate(sets), 2)
        if _are_neighbours(a, b, Relation(domain.relation))
    ]
    data = {"records": plain(records), "size": [low, high], "relation": str(domain.relation)}
    return Listing(data, len(sets), pairs)


def _are_neighbours(left: Sequence[Any], right: Sequence[Any], relation: Relation) -> bool:
    """Whether two lists differ by one record: replaced in one place, or present in the longer list only."""
    if relation is Relation.SUBSTITUTE:
        return len(left) == len(right) and sum(a != b for a, b in zip(left, right, strict=True)) == 1
    short, long = sorted((left, right), key=len)
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
        (i, j, left, tuple(b - a for a, b in zip(left, right, strict=True)))
        for (i, left), (j, right) in itertools.combinations(enumerate(sets), 2)
    )
    moves = ((i, j, domain.moved(left, by)) for i, j, left, by in steps if size(map(abs, by)) <= domain.reach)
    pairs = [(i, j, pair) for i, j, pair in moves if pair is not None]
    vectors = vectors_of(domain)
    assert vectors is not None
    return Listing(vectors.data(), len(sets), pairs)
