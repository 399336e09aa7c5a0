"""Data sets of totals over people: sums of each person's contributions; or a vector, a dict by keys, or one number with
a limit on the change by one person.
"""

import copy
import functools
import itertools
import math
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from auditor.errors import InvalidInputError, require_number
from auditor.foreign_code import result_or_error
from auditor.interfaces import Domain
from auditor.neighbours.domains import MOST_CORNERS, require_memory, retried
from auditor.neighbours.limits import any_of, counts, ends
from auditor.neighbours.numbers import Number, Range, arrangements, blocks_changed, one_changed, with_value
from auditor.neighbours.pair import Arrays, Pair, Relation, distinct, relation_named

TotalsVector = tuple[Number, ...]


class VectorOfTotals(Domain):
    """Vectors of numbers. A move adds a vector of changes. The origin of a pair: left vector, right vector, move."""

    values: Range  # the range of each number

    @abstractmethod
    def _full_moves(self) -> list[TotalsVector]:
        """Return the moves to try first, by as much as a person can move. A move holds what is added to each number."""

    def _moves(self) -> list[TotalsVector]:
        """Return the moves to try first, and some of them shorter: noise in steps of the limit hides no other moves."""
        full = self._full_moves()
        first, *rest = [self._shorter(move) for move in full if move[0]][:4] or [[]]
        return list(dict.fromkeys([*full[:2], *first, *full[2:], *itertools.chain.from_iterable(rest)]))

    @abstractmethod
    def _shown(self, vector: TotalsVector, moved: TotalsVector) -> Pair:
        """Return the pair of data sets that two vectors represent."""

    def _moved(self, vector: TotalsVector, move: TotalsVector) -> TotalsVector:
        return tuple(v + m for v, m in zip(vector, move, strict=True))

    def _pair(self, vector: TotalsVector, move: TotalsVector) -> Pair | None:
        """Return the pair of a vector and the moved vector; None if the pair is not in this domain."""
        return self._made(vector, self._moved(vector, move), move)

    def _made(self, vector: TotalsVector, moved: TotalsVector, move: TotalsVector) -> Pair | None:
        if moved == vector or not all(number in self.values for number in (*vector, *moved)):
            return None
        return replace(self._shown(vector, moved), origin=(vector, moved, move))

    def _usual_move(self, rng: np.random.Generator) -> TotalsVector:
        moves = self._moves()
        return moves[rng.integers(len(moves))]

    def _shortened(self, move: TotalsVector, rng: np.random.Generator) -> TotalsVector:
        """Return the move or, in one case of three, a shorter one."""
        longest = max(map(abs, move))
        if rng.random() < 2 / 3 or not longest:
            return move
        step = Range(0, longest, self.values.integer).draw(rng)
        # No number is larger than that of an allowed move, so the shorter move is allowed in any norm.
        return tuple(_times(number, step, longest) for number in move)

    def _shorter(self, move: TotalsVector) -> list[TotalsVector]:
        """Return the move with steps of 1, and of a length off the grid of the limits, in place of its longest."""
        longest = max(map(abs, move))
        steps = Range(0, longest, self.values.integer).off_grid()
        return [tuple(_times(number, step, longest) for number in move) for step in steps]

    def step(self, pair: Pair, way: int) -> Pair | None:
        vector, moved, move = pair.origin
        if way == 1:
            return self._pair(moved, move)
        return self._made(self._moved(vector, tuple(-m for m in move)), vector, move)

    def between(self, one: Pair, other: Pair) -> Pair | None:
        (vector, _, move), (vector_of_other, _, _) = one.origin, other.origin
        integer = self.values.integer
        half = tuple((a + b) // 2 if integer else a / 2 + b / 2 for a, b in zip(vector, vector_of_other, strict=True))
        if half not in (vector, vector_of_other):
            return self._pair(half, move)
        # The vectors are next to each other, and what changes from one to the other may be no change by ``move``.
        step = self._across(vector, vector_of_other) or self._across(vector_of_other, vector)
        return None if step is None or step.key() in (one.key(), other.key()) else step

    def _across(self, vector: TotalsVector, moved: TotalsVector) -> Pair | None:
        """Return the pair of two vectors; None if one person cannot move the first to the second."""
        change = [Fraction(b) - Fraction(a) for a, b in zip(vector, moved, strict=True)]
        move = tuple(b - a for a, b in zip(vector, moved, strict=True))
        return self._made(vector, moved, move) if self._allows(change) else None

    @abstractmethod
    def _allows(self, move: Sequence[Number | Fraction]) -> bool:
        """Whether one person can change a vector by this move."""

    def simpler(self, pair: Pair) -> Iterator[Pair]:
        vector, _, move = pair.origin
        values, integer = self.values, self.values.integer
        zero = values.nearest(0 if integer else 0.0)
        zeros = (zero,) * len(vector)
        unmoved = tuple(zero if m == 0 else v for v, m in zip(vector, move, strict=True))
        vectors = itertools.chain([zeros, unmoved], blocks_changed(vector, zero), one_changed(vector, values.simpler))
        # A move whose numbers are not larger than those of an allowed move is allowed in any norm.
        moves = one_changed(move, lambda m: Range(min(m, 0), max(m, 0), integer).simpler(m))
        yield from filter(None, (self._pair(changed, move) for changed in vectors))
        yield from filter(None, (self._pair(vector, smaller) for smaller in moves))


class TotalsOfPeople(VectorOfTotals):
    """Totals over people. The vector that represents a data set holds the number of people of each kind."""

    kind: int | None = None  # the only kind of people that is added or removed, for group-wise claims

    def __init__(self, contributions: Sequence[Sequence[Number]], people: Sequence[int], relation: str) -> None:
        self.relation = relation_named(relation)
        self._grows = self.relation is Relation.ADD_REMOVE
        self.contributions = tuple(tuple(vector) for vector in contributions)
        self.people = self.values = Range.of("people", people)
        self._corners = dict[int | None, list[Pair]]()
        low, high = self.people.low, self.people.high
        if low < 0 or not self.people.has_integer_ends:
            raise InvalidInputError(f"people goes from {low!r} to {high!r}; a number of people is an integer from 0 up")
        if len(set(map(len, self.contributions))) != 1 or not self.contributions[0]:
            raise InvalidInputError(f"contributions are {contributions!r}; they must be vectors of one length")
        for number in itertools.chain(*self.contributions):
            require_number("a number in contributions", number, -math.inf, math.inf)
        if not any(self._each_corner()):
            raise InvalidInputError(
                f"a totals domain with people from {low} to {high} and {len(self.contributions)} contributions has no pairs "
                f"under {self.relation}; widen people, or give a second contribution"
            )

    def __str__(self) -> str:
        added = " or ".join(map(_in_words, self.contributions))
        moved = "" if self.kind is None else f"; only people who add {_in_words(self.contributions[self.kind])} move"
        return f"totals over people who each add {added}, {self.people.low:,} to {self.people.high:,} people of each kind{moved}"

    def limits(self) -> dict[str, Any]:
        moving = self.contributions if self.kind is None else [self.contributions[self.kind]]
        added = {"contributions": any_of(self.contributions), "moving": any_of(moving)}
        return {**added, "people": counts(self.people), "relation": str(self.relation)}

    def corners(self) -> list[Pair]:
        # By kind, since the domains of all kinds are copies of one.
        if self.kind not in self._corners:
            self._corners[self.kind] = list(dict.fromkeys(self._each_corner()))
        return list(self._corners[self.kind])

    def _each_corner(self) -> Iterator[Pair]:
        """Yield the corners; some repeat."""
        marks = self.people.ladder()
        kinds = len(self.contributions)
        if len(marks) ** kinds * kinds <= 2 * MOST_CORNERS:
            crowds = list(itertools.product(marks, repeat=kinds))
        else:
            crowds = [(mark,) * kinds for mark in marks]
            for i, mark, rest in itertools.product(range(kinds), marks, (self.people.low, self.people.high)):
                crowds.append(tuple(mark if j == i else rest for j in range(kinds)))
        yield from filter(None, itertools.starmap(self._pair, itertools.product(dict.fromkeys(crowds), self._moves())))

    @retried
    def random(self, rng: np.random.Generator) -> Pair | None:
        crowd = tuple(self.people.draw(rng) for _ in self.contributions)
        return self._pair(crowd, self._usual_move(rng))

    @retried
    def mutate(self, pair: Pair, rng: np.random.Generator) -> Pair | None:
        crowd, move = list(pair.origin[0]), pair.origin[2]
        kind = rng.integers(len(crowd))
        crowd[kind] = self.people.near(crowd[kind], rng)
        return self._pair(tuple(crowd), move if rng.random() < 0.75 else self._usual_move(rng))

    def simpler(self, pair: Pair) -> Iterator[Pair]:
        crowd, _, move = pair.origin
        low = self.people.low
        at_once = [(n,) * len(crowd) for n in (low, low + 1)] + [tuple(low + (n - low) // 2 for n in crowd)]
        one_by_one = one_changed(crowd, lambda people: [n for n in self.people.simpler(people) if n < people])
        tried = itertools.chain(at_once, blocks_changed(crowd, low), one_by_one)
        yield from filter(None, (self._pair(fewer, move) for fewer in tried))

    def _full_moves(self) -> list[TotalsVector]:
        kinds = range(len(self.contributions))
        swaps = [(None, kind) for kind in kinds] if self._grows else itertools.permutations(kinds, 2)
        moves = [tuple((kind == arrives) - (kind == leaves) for kind in kinds) for leaves, arrives in swaps]
        return [move for move in moves if self.kind is None or move[self.kind]]

    def _allows(self, move: Sequence[Number | Fraction]) -> bool:
        return tuple(move) in self._full_moves()

    def _shown(self, vector: TotalsVector, moved: TotalsVector) -> Pair:
        return Pair(self._totals(vector), self._totals(moved), self.relation, Arrays(), self._grows)

    def _totals(self, crowd: TotalsVector) -> TotalsVector:
        cells = zip(*self.contributions, strict=True)
        return tuple(sum(n * c for n, c in zip(crowd, cell, strict=True)) for cell in cells)


class VectorWithinReach(VectorOfTotals):
    """Vectors of numbers. One person changes a vector by at most ``reach`` in the L1, the L2 or the maximum norm."""

    def __init__(
        self, cells: int, values: Sequence[Number], contribution: dict[str, Number], integer: bool = True
    ) -> None:
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
        self.cells, self.values, self.norm, self.reach = cells, ends, norm, reach
        if not any(itertools.starmap(self._pair, itertools.product(self._alike(), self._full_moves()))):
            raise InvalidInputError(
                f"contribution {contribution!r} does not fit between {ends.low!r} and {ends.high!r}; widen values"
            )

    def corners(self) -> list[Pair]:
        return list(self._corners)

    @functools.cached_property
    def _corners(self) -> list[Pair]:
        marks, (low, high) = self.values.ladder(), (self.values.low, self.values.high)
        uneven = [(mark,) + (low,) * (self.cells - 1) for mark in marks]
        uneven += [(high,) * (self.cells - 1) + (mark,) for mark in marks]
        # If one cell differs from the rest, two kinds of moves matter: of this cell alone, and of all cells equally.
        few = [move for move in self._full_moves() if move[0] != 0][:4]
        alike, moves = self._alike(), self._moves()
        tried = [*itertools.product(alike, moves), *itertools.product(uneven, few)]
        pairs = filter(None, itertools.starmap(self._pair, tried))
        # Short moves come in addition to those at full reach. No move of all cells is left out.
        most = max(MOST_CORNERS + len(alike) * (len(moves) - len(self._full_moves())), len(alike) * len(moves))
        return list({frozenset((pair.left, pair.right)): pair for pair in pairs}.values())[:most]

    def _alike(self) -> list[TotalsVector]:
        return [(mark,) * self.cells for mark in self.values.ladder()]

    @retried
    def random(self, rng: np.random.Generator) -> Pair | None:
        few = [self.values.draw(rng) for _ in range(2)]
        vector = tuple(few[rng.integers(2)] if rng.random() < 0.5 else self.values.draw(rng) for _ in range(self.cells))
        return self._pair(vector, self._random_move(self._full_moves()[0], rng))

    @retried
    def mutate(self, pair: Pair, rng: np.random.Generator) -> Pair | None:
        vector, move = list(pair.origin[0]), pair.origin[2]
        kind, cell = rng.integers(4), int(rng.integers(self.cells))
        if kind == 0:
            return self._pair(tuple(vector), self._random_move(move, rng))
        value = self.values.near(vector[cell], rng)
        # One cell, all cells from one on, or all cells get the value, since the worst vectors often have few values.
        first, last = ((cell, cell + 1), (cell, self.cells), (0, self.cells))[kind - 1]
        vector[first:last] = [value] * (last - first)
        return self._pair(tuple(vector), move)

    def _random_move(self, near: TotalsVector, rng: np.random.Generator) -> TotalsVector:
        """Return a usual or a shorter move or, in the maximum norm, ``near`` with another step for a random cell."""
        if self.norm != "linf" or rng.random() < 0.5:
            return self._shortened(self._usual_move(rng), rng)
        cell = int(rng.integers(self.cells))
        step = (self.reach, 0, -self.reach)[rng.integers(3)]
        return with_value(near, cell, step)

    def _full_moves(self) -> list[TotalsVector]:
        """Return moves at full reach: of one cell, of all cells equally, or of cells with opposite signs."""
        k, s = self.cells, self.reach
        places = sorted({0, k // 2, k - 1})
        one_cell = [tuple(sign * s if j == i else 0 for j in range(k)) for i in places for sign in (1, -1)]
        if k == 1:
            return one_cell
        if self.norm == "linf":
            spread: list[TotalsVector] = arrangements(s, -s, k)
        elif self.norm == "l2":
            spread = [move for several in {2, k} for move in self._of_length(several)]
        elif self.values.integer:
            half = int(s) // 2
            spread = [(half, *([0] * (k - 2)), int(s) - half), (half, *([0] * (k - 2)), half - int(s))] if half else []
        else:
            part = s / k if Fraction(s / k) * k <= s else math.nextafter(s / k, 0)
            spread = [(part,) * k, tuple(part if j % 2 == 0 else -part for j in range(k))]
        return list(dict.fromkeys(one_cell + spread))

    def _allows(self, move: Sequence[Number | Fraction]) -> bool:
        return _is_within(move, {self.norm: self.reach})

    def _of_length(self, several: int) -> list[TotalsVector]:
        """Return moves of the first ``several`` cells, with equal or alternating signs, of the largest L2 norm."""
        longest = Fraction(self.reach) ** 2 / several
        part: Number = math.isqrt(math.floor(longest)) if self.values.integer else math.sqrt(longest)
        while Fraction(part) ** 2 > longest:  # the root may be rounded up
            part = math.nextafter(part, 0)
        rest = (0,) * (self.cells - several)
        signs = [(1,) * several, (-1,) * several, tuple((-1) ** i for i in range(several))]
        return [(*(sign * part for sign in way), *rest) for way in signs] if part else []

    def _moved(self, vector: TotalsVector, move: TotalsVector) -> TotalsVector:
        return tuple(v + m if self.values.integer else _added(v, m) for v, m in zip(vector, move, strict=True))


def _is_within(move: Sequence[Number | Fraction], limits: Mapping[str, Number]) -> bool:
    """Whether a move is within limits by norm: l0, l1, l2 or linf."""
    sizes = [abs(Fraction(step)) for step in move if step]
    size = {"l0": len(sizes), "l1": sum(sizes), "l2": sum(size**2 for size in sizes), "linf": max(sizes, default=0)}
    powers = {name: Fraction(most) ** (2 if name == "l2" else 1) for name, most in limits.items()}
    return all(size[name] <= most for name, most in powers.items())


def _times(number: Number, step: Number, longest: Number) -> Number:
    """Return a number times step / longest, rounded towards 0 if all are integers."""
    if isinstance(number, int) and isinstance(step, int) and isinstance(longest, int):
        size = abs(number) * step // longest
        return size if number > 0 else -size
    return number * (step / longest)


def _in_words(vector: Sequence[Number]) -> str:
    return f"({', '.join(f'{number:g}' for number in vector)})"


def _added(value: float, step: float) -> float:
    """Add a step. Rounding must not lengthen the step, since the pair would no longer be neighbouring."""
    moved = value + step
    # fsum rounds once, at the end, so the sign of the result is right.
    excess = math.fsum((moved, -value, -step))
    too_far = excess > 0 if step > 0 else excess < 0
    return math.nextafter(moved, value) if too_far else moved


class TotalsInCells(VectorWithinReach):
    """Totals in the form of a vector."""

    def __str__(self) -> str:
        numbers = "integers" if self.values.integer else "numbers"
        norm = {"l1": "L1", "l2": "L2", "linf": "the maximum norm"}[self.norm]
        each = f"{self.cells} {numbers} from {self.values.low:g} to {self.values.high:g}"
        return f"{each}, which one person moves by at most {self.reach:g} in {norm}"

    def limits(self) -> dict[str, Any]:
        contribution = {"norm": self.norm, "contribution": {"high": self.reach}}
        return {"cells": self.cells, "values": ends(self.values), **contribution}

    def moved(self, data: Sequence[Number], by: Sequence[Number]) -> Pair | None:
        """Return the pair of a vector and this vector moved by ``by``; None if the pair is not in this domain."""
        return self._pair(tuple(data), tuple(by))

    def _shown(self, vector: TotalsVector, moved: TotalsVector) -> Pair:
        return Pair(vector, moved, Relation.AS_GIVEN, Arrays())


if TYPE_CHECKING:
    # Type checkers need a base class that is not abstract.
    _Totals = TotalsInCells
else:
    _Totals = Domain


class Totals(_Totals):
    """Totals over people. Give contributions and people, or cells, values and contribution.

    Args:
        contributions: the vectors that one person can add, all of one length. Each vector is a kind of people.
        people: [low, high], how many people of each kind there may be.
        relation: "add_remove" or "substitute" (a person of another kind instead).
        cells: the length of a vector of totals.
        values: [low, high], the range of each number of the vector.
        contribution: how far one person moves the vector: {"l1": s}, {"l2": s} or {"linf": s}.
        integer: whether the numbers of the vector are integers (the default).

    Raises InvalidInputError if the two forms are mixed, a range is empty, or no pair is possible.

    >>> isinstance(Totals([(1, 1), (0, 1)], (0, 10)), Totals)
    True
    """

    def __new__(
        cls,
        contributions: Sequence[Sequence[Number]] | None = None,
        people: Sequence[int] | None = None,
        *,
        relation: str = Relation.ADD_REMOVE,
        cells: int | None = None,
        values: Sequence[Number] | None = None,
        contribution: dict[str, Number] | None = None,
        integer: bool | None = None,
    ) -> "Totals":
        no_people = contributions is None and people is None and relation == Relation.ADD_REMOVE
        no_cells = all(given is None for given in (cells, values, contribution, integer))
        if contributions is not None and people is not None and no_cells:
            return cast(Totals, TotalsOfPeople(contributions, people, relation))
        if no_people and cells is not None and values is not None and contribution is not None:
            return cast(Totals, TotalsInCells(cells, values, contribution, integer is None or integer))
        raise InvalidInputError(
            "a totals domain needs either contributions and people, or cells, values and contribution; not a mixture. A relation "
            "goes with contributions"
        )


Totals.register(TotalsOfPeople)
Totals.register(TotalsInCells)


def groups(domain: object, claims: int) -> Sequence[Domain]:
    """Split totals over people for group-wise claims: one domain for each contribution, in which only this kind moves.

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
    copies = [copy.copy(domain) for _ in domain.contributions]
    for kind, group in enumerate(copies):
        group.kind = kind
    return copies


class TotalsByKey(VectorOfTotals):
    """A dict of totals. One person changes few totals, each by a limited amount.

    Args:
        keys: the possible keys.
        values: [low, high], the range of each total, which must contain 0. Totals are integers if both ends are.
        contribution: how far one person moves the totals: {"l0": k, "linf": m}, k keys by at most m each. A further
            "l1" or "l2" limits the whole change in this norm.

    Raises InvalidInputError for an empty range, equal keys, and limits that allow no change.

    >>> str(TotalsByKey(["a", "b"], (0, 9), contribution={"l0": 1, "linf": 2}))
    'totals by 2 keys, integers from 0 to 9, of which one person moves 1 by at most 2'
    """

    def __init__(self, keys: Sequence[Any], values: Sequence[Number], *, contribution: Mapping[str, Number]) -> None:
        self.keys, self.contribution = tuple(keys), dict(contribution)
        require_memory("keys", f"has {len(self.keys):,}", len(self.keys))
        # A list cannot be a key, and 1 and True are the same key.
        distinct_keys = result_or_error(dict.fromkeys, self.keys)
        if not self.keys or not isinstance(distinct_keys, dict) or len(distinct_keys) != len(self.keys):
            raise InvalidInputError(
                f"keys are {list(keys)!r}; there must be one or more words or numbers, each once only"
            )
        if not {"l0", "linf"} <= contribution.keys() <= {"l0", "linf", "l1", "l2"}:
            raise InvalidInputError(
                f"contribution is {dict(contribution)!r}; it must be {{l0: k, linf: m}}, with l1 or l2 as well if these are limited"
            )
        for name, number in contribution.items():
            require_number(f"contribution {name}", number, 0, math.inf, low_open=True)
        if not isinstance(contribution["l0"], int):
            raise InvalidInputError(
                f"contribution l0 is {contribution['l0']!r}; it must be a number of keys, an integer"
            )
        given = Range.of("values", values)
        integer = given.has_integer_ends
        self.values = given if integer else Range(float(given.low), float(given.high), integer=False)
        self._zero: Number = 0 if integer else 0.0
        if 0 not in self.values:
            raise InvalidInputError(
                f"values are {list(values)!r}; 0 must be among the values: an absent key has the total 0"
            )
        self._corners = self._by(self._moves())
        if not self._by(self._full_moves()):
            raise InvalidInputError(f"no two dicts of {self} are neighbours; widen values, or contribution")

    def __str__(self) -> str:
        numbers, c = "integers" if self.values.integer else "numbers", self.contribution
        more = "".join(f", and in all by {c[name]:g} in {name.upper()}" for name in ("l1", "l2") if name in c)
        return (
            f"totals by {len(self.keys)} keys, {numbers} from {self.values.low:g} to {self.values.high:g}, of which one person "
            f"moves {c['l0']:g} by at most {c['linf']:g}{more}"
        )

    def limits(self) -> dict[str, Any]:
        contribution = {name: {"high": number} for name, number in self.contribution.items()}
        return {"keys": any_of(self.keys), "values": ends(self.values), "contribution": contribution}

    def corners(self) -> list[Pair]:
        return list(self._corners)

    def _by(self, moves: Sequence[TotalsVector]) -> list[Pair]:
        """Return the first pairs by these moves."""
        n, marks = len(self.keys), self.values.ladder()
        zero = self._zero
        # First all keys have 0, then one key has another value, then all keys have the same value.
        bases = [(zero,) * n, *(((mark,) + (zero,) * (n - 1)) for mark in marks), *((mark,) * n for mark in marks)]
        tried = itertools.product(dict.fromkeys(bases), moves)
        # Short moves come in addition to those at the limit.
        most = MOST_CORNERS + len(bases) * (len(moves) - len(self._full_moves()))
        return distinct(itertools.starmap(self._pair, tried), most)

    def _full_moves(self) -> list[TotalsVector]:
        """Return moves at full reach, up and down: of as many keys as allowed, and of one key."""
        n, moves = len(self.keys), list[TotalsVector]()
        for several in dict.fromkeys((min(n, int(self.contribution["l0"])), 1)):
            part = self._part(several)
            for way, first in itertools.product((1, -1), dict.fromkeys((0, n - several))):
                moves.append(tuple(way * part if first <= i < first + several else 0 for i in range(n)))
        return [move for move in dict.fromkeys(moves) if any(move)]

    def _part(self, several: int) -> Number:
        """Return by how much each of ``several`` keys can move at once."""
        c = self.contribution
        limits = [Fraction(c["linf"])]
        limits += [Fraction(c["l1"]) / several] if "l1" in c else []
        limits += [Fraction(math.sqrt(Fraction(c["l2"]) ** 2 / several))] if "l2" in c else []
        part: Number = math.floor(min(limits)) if self.values.integer else float(min(limits))
        # A part that was rounded up may be a little too large.
        while not self._allows((part,) * several):
            part = part - 1 if self.values.integer else math.nextafter(part, 0)
        return part

    def _allows(self, move: Sequence[Number | Fraction]) -> bool:
        return _is_within(move, self.contribution)

    @retried
    def random(self, rng: np.random.Generator) -> Pair | None:
        cells = tuple(self._zero if rng.random() < 0.3 else self.values.draw(rng) for _ in self.keys)
        return self._pair(cells, self._random_move(rng))

    @retried
    def mutate(self, pair: Pair, rng: np.random.Generator) -> Pair | None:
        cells, move = list(pair.origin[0]), pair.origin[2]
        if rng.random() < 0.25:
            return self._pair(tuple(cells), self._random_move(rng))
        place = rng.integers(len(cells))
        cells[place] = self.values.near(cells[place], rng)
        return self._pair(tuple(cells), move)

    def _random_move(self, rng: np.random.Generator) -> TotalsVector:
        move = self._shortened(self._usual_move(rng), rng)
        order = rng.permutation(len(move))
        signs = rng.choice((-1, 1), len(move)) if rng.random() < 0.5 else [1] * len(move)
        return tuple(int(sign) * move[i] for i, sign in zip(order, signs, strict=True))

    def _made(self, vector: TotalsVector, moved: TotalsVector, move: TotalsVector) -> Pair | None:
        # A sum of floats is rounded, so the actual change is checked, and ``move`` from ``vector`` must give ``moved``.
        change = [Fraction(b) - Fraction(a) for a, b in zip(vector, moved, strict=True)]
        is_move = moved == self._moved(vector, move) and self._allows(change)
        return super()._made(vector, moved, move) if is_move else None

    def _shown(self, vector: TotalsVector, moved: TotalsVector) -> Pair:
        return Pair(self._dict(vector), self._dict(moved), Relation.AS_GIVEN)

    def _dict(self, cells: TotalsVector) -> dict[Any, Number]:
        return {key: cell for key, cell in zip(self.keys, cells, strict=True) if cell}


class OneNumber(VectorWithinReach):
    """One number of a range. Two numbers are neighbours if they are at most ``distance`` apart.

    Args:
        range: the ends [low, high]. If both ends and the distance are integers, so are the numbers.
        distance: how far apart two neighbours may be.

    Raises InvalidInputError for an empty range, and if no two numbers of it are neighbours.

    >>> str(OneNumber((0, 9), 2))
    'one integer from 0 to 9; two at most 2 apart are neighbours'
    """

    def __init__(self, range: Sequence[Number], distance: Number) -> None:
        integer = all(isinstance(number, int) for number in (*range, distance))
        if not integer and any(isinstance(number, int) for number in range):
            range = [float(number) for number in range]
        Range.of("range", range, integer)  # raises errors that name ``range``
        super().__init__(1, range, {"l1": distance}, integer)
        self.distance = distance

    def __str__(self) -> str:
        numbers = "integer" if self.values.integer else "number"
        return f"one {numbers} from {self.values.low:g} to {self.values.high:g}; two at most {self.distance:g} apart are neighbours"

    def limits(self) -> dict[str, Any]:
        return {"value": ends(self.values), "distance": {"high": self.distance}}

    def random(self, rng: np.random.Generator) -> Pair:
        return self._from(self.values.draw(rng), rng)

    def _from(self, number: Number, rng: np.random.Generator) -> Pair:
        """Return a number and a neighbour at the full distance, or, in one case of three, nearer; no further than an end."""
        [step] = self._shortened((self.distance,), rng)
        for way in (step, -step) if rng.random() < 0.5 else (-step, step):
            # If a step goes past an end, the step to the end is taken, which rounding does not make longer.
            nearer = min(way, self.values.high - number) if way > 0 else max(way, self.values.low - number)
            if pair := self._pair((number,), (nearer,)):
                return pair
        return self.corners()[0]

    def _shown(self, vector: TotalsVector, moved: TotalsVector) -> Pair:
        return Pair(vector[0], moved[0], Relation.AS_GIVEN)
