"""Data sets that are totals over people: sums of what each contributes, or a vector with a limit on what one person changes."""

import itertools
import math
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypedDict, Unpack, cast

import numpy as np

from auditor.errors import InvalidInputError, require_number
from auditor.neighbours.domains import MOST_CORNERS, Domain, require_memory, retried
from auditor.neighbours.limits import any_of, counts, ends
from auditor.neighbours.numbers import Number, Range, one_changed
from auditor.neighbours.pair import Arrays, Pair, Relation, relation_named

TotalsVector = tuple[Number, ...]
Crowd = TotalsVector  # how many people there are of each kind
Swap = tuple[int | None, int]  # the kind that leaves or None, and the kind that arrives


@dataclass(frozen=True)
class TotalsOfPeople(Domain):
    """Totals over people: how many people of each kind there are decides the data set."""

    contributions: tuple[TotalsVector, ...]
    people: Range
    relation: Relation
    kind: int | None = None  # the only kind that ever moves, for group-wise claims

    def groups(self) -> "list[TotalsOfPeople]":
        """Return a domain for each contribution, in which only people of that kind come and go."""
        return [replace(self, kind=kind) for kind in range(len(self.contributions))]

    def __str__(self) -> str:
        added = " or ".join(map(_in_words, self.contributions))
        moved = "" if self.kind is None else f"; only people who add {_in_words(self.contributions[self.kind])} move"
        return f"totals over people who each add {added}, {self.people.low:,} to {self.people.high:,} people of each kind{moved}"

    def limits(self) -> dict[str, Any]:
        moving = self.contributions if self.kind is None else [self.contributions[self.kind]]
        added = {"contributions": any_of(self.contributions), "moving": any_of(moving)}
        return {**added, "people": counts(self.people), "relation": str(self.relation)}

    def corners(self) -> list[Pair]:
        return list(dict.fromkeys(self.each_corner()))

    def each_corner(self) -> Iterator[Pair]:
        """Yield the corners, some of them more than once."""
        marks = self.people.ladder()
        kinds = len(self.contributions)
        if len(marks) ** kinds * kinds <= 2 * MOST_CORNERS:
            crowds = list(itertools.product(marks, repeat=kinds))
        else:
            crowds = [(mark,) * kinds for mark in marks]
            for i, mark, rest in itertools.product(range(kinds), marks, (self.people.low, self.people.high)):
                crowds.append(tuple(mark if j == i else rest for j in range(kinds)))
        yield from filter(None, itertools.starmap(self._pair, itertools.product(dict.fromkeys(crowds), self._moves())))

    def step(self, pair: Pair, way: int) -> Pair | None:
        crowd, move = pair.origin
        return self._pair(_moved_people(crowd, move, way), move)

    @retried
    def random(self, rng: np.random.Generator) -> Pair | None:
        crowd = tuple(self.people.draw(rng) for _ in self.contributions)
        return self._pair(crowd, self._random_move(rng))

    @retried
    def mutate(self, pair: Pair, rng: np.random.Generator) -> Pair | None:
        crowd, move = list(pair.origin[0]), pair.origin[1]
        kind = rng.integers(len(crowd))
        crowd[kind] = self.people.near(crowd[kind], rng)
        return self._pair(tuple(crowd), move if rng.random() < 0.75 else self._random_move(rng))

    def between(self, one: Pair, other: Pair) -> Pair | None:
        (crowd, move), (crowd_of_other, _) = one.origin, other.origin
        half = tuple((a + b) // 2 for a, b in zip(crowd, crowd_of_other, strict=True))
        return None if half in (crowd, crowd_of_other) else self._pair(half, move)

    def simpler(self, pair: Pair) -> Iterator[Pair]:
        crowd, move = pair.origin
        low = self.people.low
        at_once = [(n,) * len(crowd) for n in (low, low + 1)] + [tuple(low + (n - low) // 2 for n in crowd)]
        one_by_one = one_changed(crowd, lambda people: [n for n in self.people.simpler(people) if n < people])
        yield from filter(None, (self._pair(fewer, move) for fewer in itertools.chain(at_once, one_by_one)))

    def _moves(self) -> list[Swap]:
        kinds = range(len(self.contributions))
        grows = self.relation is Relation.ADD_REMOVE
        moves: list[Swap] = [(None, kind) for kind in kinds] if grows else list(itertools.permutations(kinds, 2))
        return [move for move in moves if self.kind is None or self.kind in move]

    def _random_move(self, rng: np.random.Generator) -> Swap:
        moves = self._moves()
        return moves[rng.integers(len(moves))]

    def _pair(self, crowd: Crowd, move: Swap) -> Pair | None:
        moved = _moved_people(crowd, move)
        if not all(people in self.people for people in (*crowd, *moved)):
            return None
        grows = self.relation is Relation.ADD_REMOVE
        return Pair(self._totals(crowd), self._totals(moved), self.relation, Arrays(), grows, (crowd, move))

    def _totals(self, crowd: Crowd) -> TotalsVector:
        cells = zip(*self.contributions, strict=True)
        return tuple(sum(n * c for n, c in zip(crowd, cell, strict=True)) for cell in cells)


def _moved_people(crowd: Crowd, move: Swap, way: int = 1) -> Crowd:
    """Return the people of each kind after a move, or (way −1) before it."""
    leaves, arrives = move
    return tuple(people + way * ((kind == arrives) - (kind == leaves)) for kind, people in enumerate(crowd))


class VectorOfTotals(Domain):
    """Vectors of numbers of which one person moves a part. The origin of a pair is its left vector, and the move."""

    values: Range

    @abstractmethod
    def _pair(self, vector: TotalsVector, move: TotalsVector) -> Pair | None:
        """Return the pair of a vector and the moved one; None if it is not in this domain."""

    def between(self, one: Pair, other: Pair) -> Pair | None:
        (vector, move), (vector_of_other, _) = one.origin, other.origin
        integer = self.values.integer
        half = tuple((a + b) // 2 if integer else a / 2 + b / 2 for a, b in zip(vector, vector_of_other, strict=True))
        return None if half in (vector, vector_of_other) else self._pair(half, move)

    def simpler(self, pair: Pair) -> Iterator[Pair]:
        vector, move = pair.origin
        values, integer = self.values, self.values.integer
        zero = min(values.high, max(values.low, 0 if integer else 0.0))
        vectors = [(zero,) * len(vector), tuple(zero if m == 0 else v for v, m in zip(vector, move, strict=True))]
        vectors += one_changed(vector, values.simpler)
        # Where no number of it grows, a contribution is legal in any norm.
        moves = one_changed(move, lambda m: Range(min(m, 0), max(m, 0), integer).simpler(m))
        yield from filter(None, (self._pair(changed, move) for changed in vectors))
        yield from filter(None, (self._pair(vector, smaller) for smaller in moves))


@dataclass(frozen=True)
class TotalsInCells(VectorOfTotals):
    """A vector of numbers of which one person changes at most ``reach``, in the L1, the L2 or the maximum norm."""

    cells: int
    values: Range
    norm: str
    reach: Number

    def __str__(self) -> str:
        numbers, norm = (
            "integers" if self.values.integer else "numbers",
            {"l1": "L1", "l2": "L2", "linf": "the maximum norm"}[self.norm],
        )
        each = f"{self.cells} {numbers} from {self.values.low:g} to {self.values.high:g}"
        return f"{each}, which one person moves by at most {self.reach:g} in {norm}"

    def limits(self) -> dict[str, Any]:
        return {
            "cells": self.cells,
            "values": ends(self.values),
            "norm": self.norm,
            "contribution": {"high": self.reach},
        }

    def corners(self) -> list[Pair]:
        marks, (low, high) = self.values.ladder(), (self.values.low, self.values.high)
        alike: list[TotalsVector] = [(mark,) * self.cells for mark in marks]
        uneven = [(mark,) + (low,) * (self.cells - 1) for mark in marks]
        uneven += [(high,) * (self.cells - 1) + (mark,) for mark in marks]
        moves = self._moves()
        # Where one cell is unlike the rest, two kinds of moves matter: of that cell alone, and of all alike.
        few = [move for move in moves if move[0] != 0][:4]
        tried = [*itertools.product(alike, moves), *itertools.product(uneven, few)]
        pairs = {
            frozenset((pair.left, pair.right)): pair for pair in filter(None, itertools.starmap(self._pair, tried))
        }
        return list(pairs.values())[:MOST_CORNERS]

    def step(self, pair: Pair, way: int) -> Pair | None:
        move: TotalsVector = pair.origin[1]
        if way == 1:
            return self._pair(pair.right, move)
        found = self._pair(self._moved(pair.left, tuple(-m for m in move)), move)
        return None if found is None else replace(found, right=pair.left)

    @retried
    def random(self, rng: np.random.Generator) -> Pair | None:
        few = [self.values.draw(rng) for _ in range(2)]
        vector = tuple(few[rng.integers(2)] if rng.random() < 0.5 else self.values.draw(rng) for _ in range(self.cells))
        return self._pair(vector, self._random_move(self._moves()[0], rng))

    @retried
    def mutate(self, pair: Pair, rng: np.random.Generator) -> Pair | None:
        vector, move = list(pair.left), pair.origin[1]
        kind, cell = rng.integers(4), int(rng.integers(self.cells))
        if kind == 0:
            return self._pair(tuple(vector), self._random_move(move, rng))
        value = self.values.near(vector[cell], rng)
        # One cell, all from one on, or all of them: the worst vectors often hold few values.
        first, last = ((cell, cell + 1), (cell, self.cells), (0, self.cells))[kind - 1]
        vector[first:last] = [value] * (last - first)
        return self._pair(tuple(vector), move)

    def _random_move(self, near: TotalsVector, rng: np.random.Generator) -> TotalsVector:
        """Return one of the usual moves, or one near another: in the maximum norm, each cell moves independently."""
        moves = self._moves()
        if self.norm != "linf" or rng.random() < 0.5:
            return moves[rng.integers(len(moves))]
        cell = int(rng.integers(self.cells))
        step = (self.reach, 0, -self.reach)[rng.integers(3)]
        return (*near[:cell], step, *near[cell + 1 :])

    def moved(self, data: Sequence[Number], by: Sequence[Number]) -> Pair | None:
        """Return the pair of a vector and the vector moved by the given amounts; None if it is not in this domain."""
        return self._pair(tuple(data), tuple(by))

    def _moves(self) -> list[TotalsVector]:
        """List what one person can change, at full reach: one cell, all cells alike, or cells of opposite signs."""
        k, s = self.cells, self.reach
        places = sorted({0, k // 2, k - 1})
        one_cell = [tuple(sign * s if j == i else 0 for j in range(k)) for i in places for sign in (1, -1)]
        if k == 1:
            return one_cell
        if self.norm == "linf":
            patterns = [
                [1] * k,  # all alike
                [-1] + [1] * (k - 1),  # one against the rest
                [1] * (k - 1) + [-1],
                [1] * (k // 2) + [-1] * (k - k // 2),  # two halves
                [1 if j % 2 == 0 else -1 for j in range(k)],
            ]
            spread: list[TotalsVector] = [
                tuple(sign * s * way for way in pattern) for pattern in patterns for sign in (1, -1)
            ]
        elif self.norm == "l2":
            spread = [move for several in {2, k} for move in self._of_length(several)]
        elif self.values.integer:
            half = int(s) // 2
            spread = [(half, *([0] * (k - 2)), int(s) - half), (half, *([0] * (k - 2)), half - int(s))] if half else []
        else:
            part = s / k if Fraction(s / k) * k <= s else math.nextafter(s / k, 0)
            spread = [(part,) * k, tuple(part if j % 2 == 0 else -part for j in range(k))]
        return list(dict.fromkeys(one_cell + spread))

    def _of_length(self, several: int) -> list[TotalsVector]:
        """Return moves of the first cells alike, or with signs that alternate, as long in L2 as the reach allows."""
        longest = Fraction(self.reach) ** 2 / several
        part: Number = math.isqrt(math.floor(longest)) if self.values.integer else math.sqrt(longest)
        while Fraction(part) ** 2 > longest:  # the root may be rounded up
            part = math.nextafter(part, 0)
        rest = (0,) * (self.cells - several)
        signs = [(1,) * several, (-1,) * several, tuple((-1) ** i for i in range(several))]
        return [(*(sign * part for sign in way), *rest) for way in signs] if part else []

    def _moved(self, vector: TotalsVector, move: TotalsVector) -> TotalsVector:
        return tuple(v + m if self.values.integer else _added(v, m) for v, m in zip(vector, move, strict=True))

    def _pair(self, vector: TotalsVector, move: TotalsVector) -> Pair | None:
        moved = self._moved(vector, move)
        if moved == vector or not all(v in self.values for v in (*vector, *moved)):
            return None
        return Pair(vector, moved, Relation.AS_GIVEN, Arrays(), origin=(vector, move))


def _in_words(vector: Sequence[Number]) -> str:
    return f"({', '.join(f'{number:g}' for number in vector)})"


def _added(value: float, step: float) -> float:
    """Add a step. Rounding must not lengthen it: the pair would no longer be neighbouring."""
    moved = value + step
    # fsum rounds once, at the end. So its sign is right.
    excess = math.fsum((moved, -value, -step))
    too_far = excess > 0 if step > 0 else excess < 0
    return math.nextafter(moved, value) if too_far else moved


class CellTotals(TypedDict, total=False):
    """The second form of Totals: a vector of numbers, each in a range, and how far one person moves it."""

    cells: int
    values: Sequence[Number]
    contribution: dict[str, Number]
    integer: bool


if TYPE_CHECKING:
    # To type checkers, a domain that has all methods.
    _Totals = TotalsInCells
else:
    _Totals = Domain


class Totals(_Totals):
    """Totals over people, in one of two forms.

    Args:
        contributions: the vectors one person can add, all of one length.
        people: [low, high], how many people of each kind there may be.
        relation: "add_remove" or "substitute" (a person of another kind instead).

    Keyword Args:
        cells (int): instead, the length of a vector of totals,
        values (Sequence[int | float]): the [low, high] of each of its numbers,
        contribution (dict[str, int | float]): and how far one person moves it, {"l1": s}, {"l2": s} or {"linf": s}.
        integer (bool): whether those numbers are integers, as they are by default.

    Raises InvalidInputError if the two forms are mixed, a range is empty, or no pair is possible.

    >>> isinstance(Totals([(1, 1), (0, 1)], (0, 10)), Totals)
    True
    """

    if TYPE_CHECKING:
        # Where tools look for the signature.
        def __init__(
            self,
            contributions: Sequence[Sequence[Number]] | None = None,
            people: Sequence[int] | None = None,
            *,
            relation: str = Relation.ADD_REMOVE,
            **second: Unpack[CellTotals],
        ) -> None: ...

    def __new__(
        cls,
        contributions: Sequence[Sequence[Number]] | None = None,
        people: Sequence[int] | None = None,
        *,
        relation: str = Relation.ADD_REMOVE,
        **second: Unpack[CellTotals],
    ) -> "Totals":
        if contributions is not None and people is not None and not second:
            return cast(Totals, _people(contributions, people, relation_named(relation)))
        if contributions is None and people is None and second.keys() >= {"cells", "values", "contribution"}:
            return cast(Totals, _cells(**second))
        raise InvalidInputError(
            "a totals domain needs either contributions and people, or cells, values and contribution; not a mixture"
        )


Totals.register(TotalsOfPeople)
Totals.register(TotalsInCells)


def groups(domain: object, claims: int) -> Sequence[Domain]:
    """Split a domain for group-wise claims: a domain for each contribution of totals over people.

    Raises InvalidInputError for any other domain, and unless there is one claim for each contribution.
    """
    if not isinstance(domain, TotalsOfPeople):
        raise InvalidInputError(
            "a list of claims needs the domain totals with contributions, one claim for each of them"
        )
    if claims != len(domain.contributions):
        raise InvalidInputError(
            f"there are {claims} claims for {len(domain.contributions)} contributions; give one claim for each"
        )
    return domain.groups()


def _people(contributions: Sequence[Sequence[Number]], people: Sequence[int], relation: Relation) -> Domain:
    vectors = tuple(tuple(vector) for vector in contributions)
    counts = Range.of("people", people)
    low, high = counts.low, counts.high
    if low < 0 or not counts.has_integer_ends:
        raise InvalidInputError(f"people goes from {low!r} to {high!r}; a number of people is an integer from 0 up")
    if not vectors or len({len(v) for v in vectors}) != 1 or not vectors[0]:
        raise InvalidInputError(f"contributions are {contributions!r}; they must be vectors of one length")
    for number in itertools.chain(*vectors):
        require_number("a number in contributions", number, -math.inf, math.inf)
    domain = TotalsOfPeople(vectors, counts, relation)
    if not any(domain.each_corner()):
        raise InvalidInputError(
            f"a totals domain with people from {low} to {high} and {len(vectors)} contributions has no pairs under "
            f"{relation}; widen people, or give a second contribution"
        )
    return domain


def _cells(cells: int, values: Sequence[Number], contribution: dict[str, Number], integer: bool = True) -> Domain:
    ends = Range.of("values", values)
    if not isinstance(cells, int) or cells < 1:
        raise InvalidInputError(f"cells is {cells!r}; it must be an integer of at least 1")
    require_memory("cells", f"is {cells:,}", cells)
    if len(contribution) != 1 or not set(contribution) <= {"l1", "l2", "linf"}:
        raise InvalidInputError(f"contribution is {contribution!r}; it must be {{l1: s}}, {{l2: s}} or {{linf: s}}")
    [(norm, reach)] = contribution.items()
    require_number(f"contribution {norm}", reach, 0, math.inf, low_open=True)
    if not integer:
        ends, reach = Range(float(ends.low), float(ends.high), integer=False), float(reach)
    elif not (ends.has_integer_ends and isinstance(reach, int)):
        raise InvalidInputError(
            f"values {list(values)!r} and contribution {contribution!r} must all be integers, unless integer: false"
        )
    domain = TotalsInCells(cells, ends, norm, reach)
    if not domain.corners():
        raise InvalidInputError(
            f"contribution {contribution!r} does not fit between {ends.low!r} and {ends.high!r}; widen values"
        )
    return domain
