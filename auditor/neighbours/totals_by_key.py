"""Totals by key: a dict of numbers of which one person changes a few. A key whose total is 0 is absent."""

import itertools
import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from auditor.door import outcome
from auditor.errors import InvalidInputError, require_number
from auditor.neighbours.domains import MOST_CORNERS, require_memory, retried
from auditor.neighbours.limits import any_of, ends
from auditor.neighbours.numbers import Number, Range
from auditor.neighbours.pair import Pair, Relation, distinct
from auditor.neighbours.totals import TotalsVector as Amounts
from auditor.neighbours.totals import VectorOfTotals

# Limits on what one person changes: keys, the total change in L1 or L2, and the change of one key.
LIMITS = ("l0", "l1", "l2", "linf")


class TotalsByKey(VectorOfTotals):
    """A dict of totals, of which one person changes at most a few, each by a limited amount.

    Args:
        keys: the possible keys.
        values: [low, high], the ends of each total; low is at most 0. The totals are integers if both ends are.
        contribution: how far one person moves them: {"l0": k, "linf": m}, k keys by at most m each; with "l1" or "l2" as well, a
            limit on the whole change in that norm.

    Raises InvalidInputError for an empty range, equal keys, and limits that no change keeps.

    >>> str(TotalsByKey(["a", "b"], (0, 9), contribution={"l0": 1, "linf": 2}))
    'totals by 2 keys, integers from 0 to 9, of which one person moves 1 by at most 2'
    """

    def __init__(self, keys: Sequence[Any], values: Sequence[Number], *, contribution: Mapping[str, Number]) -> None:
        self.keys, self.contribution = tuple(keys), dict(contribution)
        require_memory("keys", f"has {len(self.keys):,}", len(self.keys))
        found = outcome(dict.fromkeys, self.keys)  # a list is no key of a dict, and 1 and True are the same key
        if not self.keys or not isinstance(found, dict) or len(found) != len(self.keys):
            raise InvalidInputError(
                f"keys are {list(keys)!r}; there must be one or more words or numbers, each once only"
            )
        if not {"l0", "linf"} <= contribution.keys() <= {*LIMITS}:
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
                f"values are {list(values)!r}; 0 must be among them, since it is the total of an absent key"
            )
        self._corners = self._list_corners()
        if not self._corners:
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

    def _list_corners(self) -> list[Pair]:
        n, marks = len(self.keys), self.values.ladder()
        zero = self._zero
        # Nothing but what one person brings comes first, then few keys, then all keys alike.
        bases = [(zero,) * n, *(((mark,) + (zero,) * (n - 1)) for mark in marks), *((mark,) * n for mark in marks)]
        tried = itertools.product(dict.fromkeys(bases), self._moves())
        return distinct(filter(None, itertools.starmap(self._pair, tried)))[:MOST_CORNERS]

    def _moves(self) -> list[Amounts]:
        """List what one person can change, at full reach: as many keys as allowed and one key, up and down."""
        n, found = len(self.keys), list[Amounts]()
        for several in dict.fromkeys((min(n, int(self.contribution["l0"])), 1)):
            part = self._part(several)
            for way, first in itertools.product((1, -1), dict.fromkeys((0, n - several))):
                found.append(tuple(way * part if first <= i < first + several else 0 for i in range(n)))
        return [move for move in dict.fromkeys(found) if any(move)]

    def _part(self, several: int) -> Number:
        """Return by how much each of several keys can move."""
        c = self.contribution
        limits = [Fraction(c["linf"])]
        limits += [Fraction(c["l1"]) / several] if "l1" in c else []
        limits += [Fraction(math.sqrt(Fraction(c["l2"]) ** 2 / several))] if "l2" in c else []
        part: Number = math.floor(min(limits)) if self.values.integer else float(min(limits))
        # What was rounded up is a little too large.
        while not self._allows((part,) * several):
            part = part - 1 if self.values.integer else math.nextafter(part, 0)
        return part

    def _allows(self, move: Sequence[Number]) -> bool:
        """Whether one person can change totals by so much."""
        c, sizes = self.contribution, [abs(Fraction(step)) for step in move if step]
        return (
            len(sizes) <= c["l0"]
            and max(sizes, default=Fraction(0)) <= c["linf"]
            and ("l1" not in c or sum(sizes) <= c["l1"])
            and ("l2" not in c or sum(size**2 for size in sizes) <= Fraction(c["l2"]) ** 2)
        )

    def step(self, pair: Pair, way: int) -> Pair | None:
        cells, move = pair.origin
        if way == 1:
            return self._pair(_added(cells, move), move)
        before = _added(cells, tuple(-step for step in move))
        # A sum of floats may be rounded: then no pair ends here.
        return self._pair(before, move) if _added(before, move) == cells else None

    @retried
    def random(self, rng: np.random.Generator) -> Pair | None:
        cells = [self._draw(rng) for _ in self.keys]
        return self._pair(tuple(cells), self._random_move(rng))

    @retried
    def mutate(self, pair: Pair, rng: np.random.Generator) -> Pair | None:
        cells, move = list(pair.origin[0]), pair.origin[1]
        if rng.random() < 0.25:
            return self._pair(tuple(cells), self._random_move(rng))
        place = rng.integers(len(cells))
        cells[place] = self.values.near(cells[place], rng)
        return self._pair(tuple(cells), move)

    def _draw(self, rng: np.random.Generator) -> Number:
        return self._zero if rng.random() < 0.3 else self.values.draw(rng)

    def _random_move(self, rng: np.random.Generator) -> Amounts:
        moves = self._moves()
        move = list(moves[rng.integers(len(moves))])
        order = rng.permutation(len(move))
        signs = rng.choice((-1, 1), len(move)) if rng.random() < 0.5 else [1] * len(move)
        return tuple(int(sign) * move[i] for i, sign in zip(order, signs, strict=True))

    def _pair(self, cells: Amounts, move: Amounts) -> Pair | None:
        moved = _added(cells, move)
        change = [Fraction(b) - Fraction(a) for a, b in zip(cells, moved, strict=True)]
        # Checked on what came out, since a sum of floats is rounded.
        if moved == cells or not self._allows(change) or not all(cell in self.values for cell in (*cells, *moved)):  # type: ignore[arg-type]
            return None
        return Pair(self._dict(cells), self._dict(moved), Relation.AS_GIVEN, origin=(cells, move))

    def _dict(self, cells: Amounts) -> dict[Any, Number]:
        return {key: cell for key, cell in zip(self.keys, cells, strict=True) if cell}


def _added(cells: Amounts, move: Amounts) -> Amounts:
    return tuple(cell + step for cell, step in zip(cells, move, strict=True))
